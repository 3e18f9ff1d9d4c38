// Checks OPERATING.md and engine/app/operating/ against the code. Uses promtool, systemd-analyze and nginx if
// installed.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { shutdownMsMax } from '../../../engine/limits.ts'

const FOLDER = 'engine/app/operating'
const RULES = `${FOLDER}/twinbook.rules.yml`
const PAGE = readFileSync('engine/app/OPERATING.md', 'utf8')
/** Words of PromQL expressions that are no metric names. */
const NOT_OURS = new Set(['and', 'or', 'unless', 'on', 'by', 'without', 'ignoring', 'offset', 'up'])

/** Skips the test if the tool is missing. */
function runTool(t: TestContext, tool: string, args: readonly string[], debianPackage: string) {
  const { error, status, stdout, stderr } = spawnSync(tool, [...args], {
    cwd: FOLDER,
    encoding: 'utf8',
  })
  if (error !== undefined) {
    t.skip(`NOT CHECKED: ${tool} is not installed (apt-get install ${debianPackage})`)
    return
  }
  assert.equal(status, 0, `${stdout}${stderr}`)
  assert.equal(stderr, '')
}

function metricsOf(query: string): readonly string[] {
  const bare = query
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
  const terms = [...bare.matchAll(/(?<![\w.])[a-z_][a-z0-9_]*\b(?!\s*\()/g)]
  return terms.map(([term]) => term).filter((term) => !NOT_OURS.has(term))
}

function ruleQueries(): readonly string[] {
  const text = readFileSync(RULES, 'utf8')
  return [...text.matchAll(/expr:\s*(?:>-\n)?([\s\S]*?)\n {8}(?:for|labels):/g)].map((match) =>
    (match[1] ?? '').replace(/\s+/g, ' '),
  )
}

function queriesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(queriesIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'expr' ? [String(inner)] : queriesIn(inner),
  )
}

/** Returns patterns, because a metric's name may contain a venue's key. */
function metricsOfCode(): readonly RegExp[] {
  const files = ['engine', 'storage', 'actors', 'http'].flatMap((capacity) =>
    readdirSync(capacity, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(capacity, path), 'utf8')),
  )
  const names = files.flatMap((text) => [
    ...text.matchAll(/\b(count|gauge|histogramMs)\(\s*['`]([a-z][^'`\n]*)['`]/gi),
    // Some names are constants that are defined before the registration.
    ...text.matchAll(/\bconst (name) = [`]([a-z]+_[a-z_]+\$\{[^`]+)[`]/g),
  ])
  return names.map(([, kind, name = '']) => {
    const suffix = kind === 'histogramMs' ? '_(?:bucket|sum|count)' : ''
    return new RegExp(`^${name.replace(/\$\{[^}]*\}/g, '(?:a|b|accounts|market)')}${suffix}$`)
  })
}

const alerts = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)

test('ships Prometheus alert rules that Prometheus loads and whose own tests pass', (t) => {
  runTool(t, 'promtool', ['check', 'rules', 'twinbook.rules.yml'], 'prometheus')
  runTool(t, 'promtool', ['test', 'rules', 'twinbook.rules.test.yml'], 'prometheus')
  runTool(t, 'promtool', ['check', 'config', 'prometheus.yml'], 'prometheus')
})

test('ships a systemd unit that systemd accepts and that allows enough time to stop', (t) => {
  const unit = readFileSync(`${FOLDER}/twinbook.service`, 'utf8')
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])
  assert.ok(seconds * 1_000 > shutdownMsMax, `TimeoutStopSec=${seconds}`)
  const start = /^ExecStart=\/usr\/bin\/node (.*)$/m.exec(unit)?.[1]
  const { flags, env } = JSON.parse(readFileSync('engine/app/node-options.json', 'utf8'))
  const allocator = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  assert.equal(start, [...flags, 'engine/app/start.mjs'].join(' '), 'the flags of `npm start`')
  assert.equal(/^Environment=(MALLOC.*)$/m.exec(unit)?.[1], allocator.join(' '))
  // systemd-analyze requires that the program exists, but Node may have another path on this machine.
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-unit-'))
  const copy = join(folder, 'twinbook.service')
  writeFileSync(copy, unit.replace('/usr/bin/node', process.execPath))
  try {
    runTool(t, 'systemd-analyze', ['--man=no', 'verify', copy], 'systemd')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('registers every metric that an alert rule or the Grafana dashboard uses', () => {
  const dashboard: unknown = JSON.parse(readFileSync(`${FOLDER}/grafana.json`, 'utf8'))
  const queries = [...ruleQueries(), ...queriesIn(dashboard)]
  assert.equal(ruleQueries().length, alerts.length)
  const existing = metricsOfCode()
  const unknown = queries
    .flatMap(metricsOf)
    .filter((name) => !existing.some((pattern) => pattern.test(name)))
  assert.deepEqual(unknown, [])
  assert.ok(queries.flatMap(metricsOf).length > queries.length, 'queries name metrics')
})

test('documents every alert that exists and no other alert', () => {
  const explained = [...PAGE.matchAll(/^\| `(Twinbook\w+)` \| (page|warn) \|/gm)]
  assert.deepEqual(explained.map(([, name]) => name).sort(), [...alerts].sort())
  const rules = readFileSync(RULES, 'utf8')
  for (const [, name, severity] of explained) {
    const rule = rules.split(`- alert: ${name}\n`)[1]?.split('- alert:')[0]
    assert.ok(rule?.includes(`severity: ${severity} `), `${name} is "${severity}"`)
  }
})

test('ships an nginx site configuration that nginx accepts', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-nginx-'))
  const certificate = join(folder, 'cert.pem')
  const key = join(folder, 'key.pem')
  try {
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
      ...['-keyout', key, '-out', certificate],
    ])
    if (made.error !== undefined) return t.skip('NOT CHECKED: openssl is not installed')
    const site = readFileSync(`${FOLDER}/nginx.conf`, 'utf8')
      .replace(/\/etc\/\S+fullchain\.pem/, certificate)
      .replace(/\/etc\/\S+privkey\.pem/, key)
    writeFileSync(join(folder, 'site.conf'), site)
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const locations = folders.map((one) => `${one}_temp_path ${folder}/${one};`).join(' ')
    const main = `pid ${folder}/pid; error_log ${folder}/log; events {} http { access_log off; ${locations} include ${folder}/site.conf; }`
    writeFileSync(join(folder, 'nginx.conf'), main)
    const args = ['-t', '-q', '-p', folder, '-e', join(folder, 'log'), '-c', 'nginx.conf']
    runTool(t, 'nginx', args, 'nginx-light')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
