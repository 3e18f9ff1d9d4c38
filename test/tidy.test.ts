// Checks of the source tree: directions of imports, cycles, forbidden calls, length of functions, documented
// configuration, and what the names of test files promise.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { VARIABLES } from '../engine/config.ts'

const ROOMS = ['engine', 'storage', 'actors', 'http', 'bench', 'test'] as const
const FUNCTION_LINES_MAX = 70
/** Functions that may be longer, as `file: name`: shrink this list, never add to it. */
const LONG_FUNCTIONS: readonly string[] = []
/** A line that opens a block or a call, but no function. */
const CALL = /\([{[]$|^ *(?:if|for|while|switch|return)\b|^ *\w+\($/

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name === 'node_modules') return []
    return statSync(path).isDirectory() ? filesUnder(path) : [path]
  })
}

const files = ROOMS.flatMap((room) => filesUnder(room)).filter((path) => path.endsWith('.ts'))
const sources = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))
const inHouse = files.filter((path) => !path.startsWith('test/') && !path.startsWith('bench/'))
const WIRING = (path: string) =>
  ['engine/engine.ts', 'engine/main.ts', 'engine/leader.ts', 'engine/gateway.ts'].includes(path) ||
  path.startsWith('engine/commands/')

/** Source without comments and string contents, line by line, so that words in prose do not count. */
function codeOf(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
}

const importsOf = new Map(
  files.map((path) => {
    const found = [...(sources.get(path) ?? '').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    return [path, found.map((match) => normalize(join(dirname(path), match[1] ?? '')))]
  }),
)

const roomOf = (path: string) => path.split('/')[0] ?? ''

test('[TIDY1] imports go only in the allowed directions between rooms', () => {
  const allowed: Record<string, readonly string[]> = {
    engine: ['engine'],
    storage: ['storage', 'engine'],
    actors: ['actors', 'storage', 'engine'],
    http: ['http', 'actors', 'engine'],
  }
  const offenders: string[] = []
  for (const path of inHouse) {
    if (WIRING(path)) continue
    for (const target of importsOf.get(path) ?? []) {
      const isPackage = target === 'package.json'
      if (!isPackage && !allowed[roomOf(path)]?.includes(roomOf(target))) {
        offenders.push(`${path} imports ${target}`)
      }
    }
  }
  assert.deepEqual(offenders, [])
})

test('[TIDY2] http looks at storage only through types that actors show', () => {
  const offenders = inHouse.filter(
    (path) =>
      path.startsWith('http/') &&
      (importsOf.get(path) ?? []).some((to) => to.startsWith('storage/')),
  )
  assert.deepEqual(offenders, [])
})

/** Folders of engine whose files every room uses, as it uses the loose ones. */
const SHARED_BY_ALL = ['engine/market/', 'engine/process/', 'engine/admin/']

test('[TIDY3] inside engine, what all rooms use imports no other folder, and venues know nothing of each other', () => {
  const offenders: string[] = []
  const isShared = (path: string) =>
    path.split('/').length === 2 || SHARED_BY_ALL.some((folder) => path.startsWith(folder))
  const areas = ['engine/venues/polymarket/', 'engine/venues/kalshi/', 'engine/venues/simulator/']
  for (const path of inHouse.filter((name) => name.startsWith('engine/') && !WIRING(name))) {
    for (const target of importsOf.get(path) ?? []) {
      const isInside = target.startsWith('engine/')
      if (isShared(path) && isInside && !isShared(target)) {
        offenders.push(`${path} imports ${target}`)
      }
      const area = areas.find((name) => path.startsWith(name))
      const other = areas.find((name) => target.startsWith(name))
      if (area !== undefined && other !== undefined && area !== other) {
        offenders.push(`${path} imports ${target}`)
      }
    }
  }
  assert.deepEqual(offenders, [])
})

test('[TIDY4] what runs in a worker thread is pure engine', () => {
  const impure = ['engine/process/log.ts', 'engine/config.ts', 'engine/clock.ts', 'engine/main.ts']
  for (const entry of inHouse.filter((path) => path.endsWith('/worker.ts'))) {
    const seen = new Set<string>()
    const waiting = [entry]
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      assert.ok(path.startsWith('engine/'), `${entry} reaches ${path}`)
      assert.ok(!impure.includes(path), `${entry} reaches ${path}`)
      waiting.push(...(importsOf.get(path) ?? []))
    }
  }
})

test('[TIDY5] there is no cycle between files, imports of types counted', () => {
  const done = new Set<string>()
  const open: string[] = []
  const cycles: string[] = []
  const visit = (path: string): void => {
    if (done.has(path)) return
    const at = open.indexOf(path)
    if (at >= 0) {
      cycles.push([...open.slice(at), path].join(' → '))
      return
    }
    open.push(path)
    for (const target of importsOf.get(path) ?? []) visit(target)
    open.pop()
    done.add(path)
  }
  for (const path of inHouse) visit(path)
  assert.deepEqual(cycles, [])
})

test('[TIDY7] time, chance, console and environment are touched only where they belong', () => {
  const rules: readonly [RegExp, string, (path: string) => boolean][] = [
    [/\bDate\.now\(|\bnew Date\(\)/, 'use the clock', (path) => CALENDARS.includes(path)],
    [/\bperformance\.now\(/, 'use the clock', (path) => CLOCKS.includes(path)],
    [/\bset(Timeout|Interval)\(/, 'use the clock', (path) => CLOCKS.includes(path)],
    [/\bMath\.random\(/, 'use the random', (path) => RANDOMS.includes(path)],
    [/\bconsole\./, 'use the log', () => false],
    [/\bprocess\.env\b/, 'use the config', (path) => ENVIRONMENT_READERS.includes(path)],
    [
      /\bprocess\.exit\(/,
      'only the process stops itself',
      (path) => WIRING(path) || path.endsWith('/child.ts'),
    ],
    [/\bnew Piscina\(/, 'use the pool', (path) => path === 'engine/pool.ts'],
    [/\.transaction\(/, 'lmdb transactions do not roll back', () => false],
  ]
  const offenders: string[] = []
  for (const path of inHouse) {
    const code = codeOf(sources.get(path) ?? '')
    for (const [pattern, instead, isAllowed] of rules) {
      if (pattern.test(code) && !isAllowed(path)) offenders.push(`${path}: ${pattern} (${instead})`)
    }
  }
  assert.deepEqual(offenders, [])
})

/** The client, the dashboard and the reference run where the engine is not: their surroundings have a file each. */
const CALENDARS = ['engine/clock.ts', 'http/dashboard/browser.ts', 'http/documents/browser/docs.ts']
const CLOCKS = [...CALENDARS, 'http/client/ambient.ts']
const RANDOMS = ['engine/random.ts', 'http/client/ambient.ts']

/** main and the commands hand the environment to loadConfig; uWebSockets.js reads its limit there. */
const ENVIRONMENT_READERS = files.filter(
  (path) =>
    path === 'engine/main.ts' || path.startsWith('engine/commands/') || path === 'http/server.ts',
)

test('[TIDY10] functions stay under 70 lines, the listed ones excepted', () => {
  const long: string[] = []
  for (const path of inHouse) {
    const lines = (sources.get(path) ?? '').split('\n')
    lines.forEach((line, start) => {
      const opened =
        /^( *)(?:export )?(?:default )?(?:async )?(?:function\*? (\w+)|(?:static |async |get |set |\*)*(#?\w+)\()/.exec(
          line,
        )
      if (opened === null || !/[{(]$/.test(line) || CALL.test(line)) return
      const indent = opened[1] ?? ''
      const length = lines
        .slice(start + 1)
        .findIndex((next) => next.replace(/[,;)]+$/, '') === `${indent}}`)
      const name = opened[2] ?? opened[3] ?? ''
      if (length > FUNCTION_LINES_MAX) long.push(`${path}: ${name}`)
    })
  }
  assert.deepEqual(long.sort(), [...LONG_FUNCTIONS].sort())
})

test('[TIDY11] nothing is left to do, unsafe or silenced', () => {
  const forbidden = [
    /\bTODO\b/,
    /\bFIXME\b/,
    /@ts-(ignore|expect-error|nocheck)/,
    /\bas any\b/,
    /biome-ignore/,
  ]
  const offenders = inHouse.flatMap((path) =>
    forbidden
      .filter((rule) => rule.test(sources.get(path) ?? ''))
      .map((rule) => `${path}: ${rule}`),
  )
  assert.deepEqual(offenders, [])
})

test('[TIDY12] brands are made only where units and ids live', () => {
  const brand =
    /\bas (PriceMicros|SizeMicros|UsdMicros|TimeMs|MarketId|OutcomeId|NativeMarketId|NativeEventId|AccountId|KeyId)\b/
  const offenders = inHouse.filter(
    (path) =>
      path !== 'engine/units.ts' &&
      path !== 'engine/ids.ts' &&
      brand.test(codeOf(sources.get(path) ?? '')),
  )
  assert.deepEqual(offenders, [])
})

test('[TIDY14] every configuration variable stands in engine/OPERATING.md with its default', () => {
  const page = readFileSync('engine/OPERATING.md', 'utf8')
  const missing = Object.entries(VARIABLES).filter(([name, { default: value }]) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`))
    return row === undefined || (value !== '' && !row.includes(`\`${value}\``))
  })
  assert.deepEqual(
    missing.map(([name]) => name),
    [],
  )
})

test('[TIDY18] no locked package asks for another Node than those of `engines`: `npm ci` says no word about it', () => {
  const lock: { packages: Record<string, { engines?: { node?: string } }> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  // The newest oldest: Node 20 is the oldest of ours.
  const refusing = Object.entries(lock.packages).filter(([, { engines }]) => {
    const alternatives = engines?.node?.split('||') ?? []
    const majors = alternatives.map((one) =>
      Number(/^\s*(?:>=|\^|~|=|v)?\s*(\d+)/.exec(one)?.[1] ?? 0),
    )
    return majors.length > 0 && Math.min(...majors) > 20
  })
  assert.deepEqual(refusing, [])
})

test('[TIDY16] the handler of dropped messages only notes and defers: a call on a socket in it ends the process', () => {
  const upgrade = codeOf(sources.get('http/ws/session/upgrade.ts') ?? '')
  const handler = /^ *dropped: (.*),$/m.exec(upgrade)?.[1] ?? ''
  assert.equal(handler, '(ws) => ws.getUserData().session?.break()')
  const session = codeOf(sources.get('http/ws/session/session.ts') ?? '')
  const body = /^ {2}break\(\): void \{\n([\s\S]*?)^ {2}\}$/m.exec(session)?.[1] ?? ''
  assert.ok(body.includes('setImmediate('), 'the work is deferred')
  const before = body.slice(0, body.indexOf('setImmediate('))
  const forbidden =
    /\b(ws|app|socket|connection)\b|\.(send|end|close|publish|subscribe|unsubscribe)\(/
  assert.ok(!forbidden.test(before), before)
})

test('[TIDY17] one door for venues and one for receivers: no other file of the engine calls out over HTTP', () => {
  // The third asks the process's own face on loopback.
  const doors = ['engine/fetch.ts', 'engine/webhooks/call.ts', 'engine/cluster/loopback.ts']
  const offenders = inHouse.filter((path) => {
    // In a browser: it asks the host it came from, and its policy lets it ask no other.
    if (['http/dashboard/api.ts', 'http/documents/browser/docs.ts'].includes(path)) return false
    if (doors.includes(path) || path.startsWith('engine/commands/')) return false
    const code = codeOf(sources.get(path) ?? '')
    const names = [...code.matchAll(/import (?:type )?\{([^}]*)\} from 'node:https?'/g)]
    const isCalling = names.some(([, list = '']) => /\b(request|get)\b/.test(list))
    const isWhole = /import (?:\* as )?\w+ from 'node:https?'/.test(code)
    return isCalling || isWhole || /(?:await|return|=|\()\s*fetch\(/.test(code)
  })
  assert.deepEqual(offenders, [])
})

test('[TIDY19] what npm runs until it is stopped takes the place of npm’s shell, which passes no signal on', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const lasting = ['start', 'cluster', 'venues', 'watch', 'record']
  // Variables may stand before it: the shell gives them to what takes its place.
  const replaces = /^(?:[A-Z_]+=\w+ )*exec node /
  const behind = lasting.filter((name) => !replaces.test(scripts[name] ?? ''))
  assert.deepEqual(behind, [])
})

const testFiles = files.filter((path) => path.endsWith('.test.ts'))
const isPlainTest = (path: string) => /^[^.]+\.test\.ts$/.test(path)

/** What a file reaches through imports of tests and benches, itself included. */
function reachedInTests(path: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next) || inHouse.includes(next)) continue
    seen.add(next)
    waiting.push(...(importsOf.get(next) ?? []))
  }
  return seen
}

/** A report names the commit, which it asks git for. */
const ASKS_GIT = 'bench/report/report.ts'

test('[TIDY20] the name of a test file says what it needs, and files without a word share a process', () => {
  const words = testFiles.filter(
    (path) => !/^[^.]+(?:\.(?:process|browser|long|live))?\.test\.ts$/.test(path),
  )
  assert.deepEqual(words, [])
  const offenders = testFiles.filter(isPlainTest).flatMap((path) => {
    const starting = [...reachedInTests(path)].filter(
      (one) =>
        one !== ASKS_GIT &&
        /from '(?:node:child_process|playwright-core)'/.test(sources.get(one) ?? ''),
    )
    const found = starting.map((one) => `${path} starts processes by ${one}`)
    // At the root of a file these hooks would run around the tests of other files too.
    const isHooked = /^(?:beforeEach|afterEach)\(/m.test(sources.get(path) ?? '')
    return isHooked ? [...found, `${path} has hooks around each test at its root`] : found
  })
  assert.deepEqual(offenders, [])
})

/** What a file of tests reads or waits for when it goes by the machine's time. */
const MACHINE_TIME =
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bhrtime\b|\bset(?:Timeout|Interval)\(|\bmonitorEventLoopDelay\b|\bsystemClock\.(?:nowMs|monotonicMs|after|every)\b/

/** Around processes and bad networks, which have no other time, and where that of a clock is made. */
const BY_MACHINE_TIME = [
  'test/engine/venues/polymarket/wallets/history.process.test.ts',
  'test/support/clients/clerk.ts',
  'test/support/clients/crowd-process.ts',
  'test/support/clients/outbox-witness.ts',
  'test/support/clients/raw-http.ts',
  'test/support/clients/raw-reader.ts',
  'test/support/fakes/own-time.ts',
  'test/support/fakes/receivers.ts',
  'test/support/fakes/rough-proxy.ts',
  'test/support/rigs/cluster.ts',
  'test/support/rigs/crowd-judge.ts',
  'test/support/rigs/planned-run.ts',
  'test/support/rigs/whole-service.ts',
  'test/support/twins/client-ledger.ts',
  'test/support/twins/ledger-judge.ts',
  'test/support/twins/wallet-truth.ts',
]

test('[TIDY21] in npm test time is a parameter: nothing reads the machine’s clock or sleeps', () => {
  const isJudged = (path: string) =>
    path.startsWith('test/') && !/\.(?:long|browser|live)\.test\.ts$|^test\/live\//.test(path)
  const offenders = files.filter((path) => {
    const source = sources.get(path) ?? ''
    const isSleeping = /^import .*\bsetTimeout\b.* from 'node:timers/m.test(source)
    return isJudged(path) && (isSleeping || MACHINE_TIME.test(codeOf(source)))
  })
  const others = ['test/screenshots.ts', 'test/tidy.test.ts']
  assert.deepEqual(offenders.filter((path) => !others.includes(path)).sort(), BY_MACHINE_TIME)
})

test('[TIDY22] what serves never imports what evaluates', () => {
  const offline = 'engine/matching/offline/'
  const offenders = inHouse
    .filter((path) => !path.startsWith(offline) && !path.startsWith('engine/commands/'))
    .flatMap((path) =>
      (importsOf.get(path) ?? [])
        .filter((target) => target.startsWith(offline))
        .map((target) => `${path} imports ${target}`),
    )
  assert.deepEqual(offenders, [])
})
