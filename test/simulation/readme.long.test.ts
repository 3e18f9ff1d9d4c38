// Runs the commands of the README unchanged, except for ports and the folder.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { beforeAgain, read } from '../support/rigs/full-service.ts'
import { freePorts, startProcess } from '../support/rigs/processes.ts'

function blocksBelow(heading: string): readonly string[] {
  const section = readFileSync('README.md', 'utf8').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  const blocks = section?.matchAll(/^```\w+\n([\s\S]*?)^```$/gm) ?? []
  return [...blocks].map((match) => match[1] ?? '')
}

function hasShellTools(): boolean {
  try {
    execFileSync('bash', ['-c', 'command -v curl'])
    return true
  } catch {
    return false
  }
}

/** The README's next commands need a trade with a wallet. */
async function firstTrade(api: string, dataDir: string): Promise<void> {
  const key = readFileSync(join(dataDir, 'local-key'), 'utf8').trim()
  for (;;) {
    const url = `${api}/v1/venue_a/trades?limit=1`
    const { trades } = await read<{ readonly trades: readonly object[] }>(url, key)
    if (trades.length > 0) return
    await beforeAgain()
  }
}

/** Resolves with the first output line that contains the text. The test runner stops a test that hangs. */
async function lineWith(child: ChildProcess, terms: string): Promise<string> {
  const [lines, stderr]: [string[], string[]] = [[], []]
  let rest = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
  child.stdout?.setEncoding('utf8')
  const found = new Promise<string>((done, fail) => {
    child.stdout?.on('data', (text: string) => {
      const parts = `${rest}${text}`.split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      const line = lines.find((each) => each.includes(terms))
      if (line !== undefined) done(line)
    })
    const stop = (why: string) =>
      fail(new Error(`${why}: ${lines.join('\n')} ${stderr.join('').slice(-2_000)}`))
    child.once('exit', (code) => stop(`ended with ${code}`))
  })
  return found
}

test('runs the README’s webhook example until the example verifies a signed alert of a whale trade above 10,000 dollars', async (t) => {
  if (!hasShellTools()) return t.skip('needs bash and curl')
  const [receiver = '', start = '', shell = ''] = blocksBelow('A webhook in a minute')
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-readme-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const port = await freePorts(1)
  assert.ok(receiver.includes('.listen(4100,') && shell.includes('127.0.0.1:4100/'), 'one port')
  writeFileSync(join(folder, 'receive.mjs'), receiver.replace('4100', String(port)))
  const settings = [...start.matchAll(/(\w+)=(\S+) /g)].map((match) => [match[1], match[2]])
  assert.ok(settings.length === 3 && start.trimEnd().endsWith('npm start'), start)
  const engine = startProcess('engine/app/start.mjs', {
    ...Object.fromEntries(settings),
    ...{ PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn' },
  })
  let user: ChildProcess | null = null
  try {
    const [, api = ''] = await engine.line(/listens at (http:\S+)/)
    const script = shell
      .replace('http://127.0.0.1:8080', api)
      .replace('127.0.0.1:4100', `127.0.0.1:${port}`)
    // The receiver belongs to the shell's process group, so that both can be ended together.
    user = spawn('bash', ['-c', script], { cwd: folder, detached: true })
    const line = await lineWith(user, 'verified')
    const { type, data } = JSON.parse(line.slice('verified '.length))
    assert.equal(type, 'whale.alert')
    assert.ok(data.size_usd >= 10_000, String(data.size_usd))
    t.diagnostic(`a whale of ${data.size_usd} dollars came`)
  } finally {
    if (user?.pid !== undefined && user.exitCode === null) {
      process.kill(-user.pid, 'SIGKILL')
      await once(user, 'exit')
    }
    await engine.end()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('runs the commands of the README sections “First requests” and “A wallet in a minute” in order', async (t) => {
  if (!hasShellTools()) return t.skip('needs bash and curl')
  const shell = [...blocksBelow('First requests'), ...blocksBelow('A wallet in a minute')].join(
    '\n',
  )
  assert.ok(shell.includes('/pnl?') && shell.includes('/health'), shell)
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-readme-'))
  const engine = startProcess('engine/app/start.mjs', {
    ...{ PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn', SIM_MARKETS: '40' },
  })
  try {
    const [, api = ''] = await engine.line(/listens at (http:\S+)/)
    await firstTrade(api, join(folder, 'data'))
    const script = `set -euo pipefail\n${shell.replace('http://127.0.0.1:8080', api)}`
    const user = spawn('bash', ['-c', script], { cwd: folder })
    const [stdout, stderr]: [string[], string[]] = [[], []]
    user.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
    user.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
    const [code] = await once(user, 'close')
    assert.equal(code, 0, `${stdout.join('')}${stderr.join('')}`)
    const answers = stdout.join('').trim().split('\n')
    assert.equal(answers.length, 10)
    for (const answer of answers) assert.equal(typeof JSON.parse(answer), 'object', answer)
  } finally {
    await engine.end()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('prints an opened opportunity after a fresh start when the README’s stream command runs', async (t) => {
  const shell = blocksBelow('The stream')[0] ?? ''
  const [, channel = ''] = /^npm run watch -- (arbitrage) /m.exec(shell) ?? []
  assert.equal(channel, 'arbitrage')
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-readme-'))
  const settings = { PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn' }
  const engine = startProcess('engine/app/start.mjs', settings)
  let user: ChildProcess | null = null
  try {
    const [, api = ''] = await engine.line(/listens at (http:\S+)/)
    const args = ['--import', 'tsx', 'engine/app/commands/watch.ts', channel, '--url', api]
    user = spawn(process.execPath, args, { env: { PATH: process.env.PATH ?? '', ...settings } })
    const line = await lineWith(user, ' opened ')
    assert.match(line, /^[\d:]+ +venue_\S+ +opened +[\d.]+ +[\d.]+ +[\d.]+ +[^\s\d…]/)
    t.diagnostic(line)
  } finally {
    if (user !== null && user.exitCode === null) {
      user.kill('SIGKILL')
      await once(user, 'exit')
    }
    await engine.end()
    rmSync(folder, { recursive: true, force: true })
  }
})
