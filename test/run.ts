// Runs the test files of a lane. The file name shows what a test needs: `x.test.ts` nothing, `x.process.test.ts` other
// processes or seconds of CPU time, `x.browser.test.ts` a browser, `x.long.test.ts` minutes. test/README.md describes the lanes.
// Files of the same kind share processes, which run compiled code, because imports take most of a file's time.

import { execFile, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { type StopTimer, systemClock } from '../engine/clock.ts'
import {
  type Arguments,
  type CommandSpec,
  helpOf,
  readArguments,
  UsageError,
} from '../engine/process/command-line.ts'
import { compile } from './compile.ts'

const LANES: Readonly<Record<string, readonly Kind[]>> = {
  '': ['process', 'plain'],
  '--quick': ['plain'],
  '--long': ['long', 'browser', 'process', 'plain'],
  '--long --reduced': ['long', 'browser'],
}
type Kind = 'plain' | 'process' | 'browser' | 'long'

const OPTIONS = ['quick', 'long', 'reduced'] as const
type Option = (typeof OPTIONS)[number]
const COMMAND: CommandSpec<Option> = {
  name: 'npm test',
  about:
    'Runs npm run check and all tests that need neither minutes nor a browser, or another lane.',
  usage: ['[PATH ...]', '--quick [PATH ...]', '--long [--reduced] [PATH ...]'],
  positionals: {
    PATH: 'a test file, a folder, or a path prefix: runs only these, without npm run check',
  },
  positionalCounts: [0, Number.POSITIVE_INFINITY],
  options: {
    quick: { takes: null, means: 'only tests that start no process (npm run test:quick)' },
    long: { takes: null, means: 'all files with full counts; takes hours (npm run test:long)' },
    reduced: {
      takes: null,
      means: 'with --long: the files that npm test skips, with reduced counts',
    },
  },
  examples: ['', 'test/actors/market', '--long --reduced'],
  notes: ['Exit codes: 0 all passed, 1 something failed, 2 bad arguments.'],
}

const CONCURRENCY = 3
/** Processes for plain files: one per core, because each process imports the tree again. */
const GROUPS_MAX = 2
const GROUP_FILES_MIN = 12
/** A multiple of the concurrency. */
const HEAVY_GROUPS_MAX = 2 * CONCURRENCY
const HEAVY_GROUP_FILES_MIN = 4
const SLOWEST_PRINTED = 12
const NAME = 'twinbook-tests-'
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES_MIN = 4_294_967_296
/** The slowest files start first. */
const LONGEST: readonly string[] = [
  'test/golden/answers.process.test.ts',
  'test/contract/recorded-streams.process.test.ts',
  'test/storage/contract/storage.process.test.ts',
  'test/engine/app/main.process.test.ts',
  'test/engine/matching/offline/corpus-matching.process.test.ts',
]
/** The run ends when no test makes progress for this time, multiplied by the load per core. */
const STALL_MS = 60_000
const STALL_CHECK_MS = 1_000
/** Options of the processes that run tests. */
const PROCESS_OPTIONS = ['--max-semi-space-size=64', '--enable-source-maps']
const OUTPUT_LIMIT = { maxBuffer: 64 * 1_024 * 1_024 }

/** null for files that are no tests, and for tests of live venues. */
function kindOf(path: string): Kind | null {
  const [, term = 'plain'] = /^[^.]+(?:\.(\w+))?\.test\.ts$/.exec(path.split('/').at(-1) ?? '') ?? [
    null,
    '',
  ]
  const isKind = (text: string): text is Kind =>
    LANES['--long']?.some((kind) => kind === text) ?? false
  return isKind(term) ? term : null
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(2)
}

function readOrEnd(): Arguments<Option> {
  try {
    const given = readArguments(COMMAND, process.argv.slice(2))
    if (given !== 'help') return given
    process.stdout.write(helpOf(COMMAND))
    process.exit(0)
  } catch (error) {
    if (error instanceof UsageError) fail(error.message)
    throw error
  }
}

/** The slowest files of each kind are first. `locations` restricts the files. */
function selectFiles(variant: string, locations: readonly string[]): readonly string[] {
  const all = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .map((path) => join('test', path))
    .sort()
    .sort((one, two) => Number(LONGEST.includes(two)) - Number(LONGEST.includes(one)))
  const kinds = LANES[variant] ?? []
  const inLane = kinds.flatMap((kind) => all.filter((path) => kindOf(path) === kind))
  if (locations.length === 0) return inLane
  return [
    ...new Set(
      locations.flatMap((path) => {
        const wanted = relative('', path)
        // A file named in full runs in any lane.
        const found = all.includes(wanted)
          ? [wanted]
          : inLane.filter((file) => file.startsWith(wanted))
        if (found.length === 0) fail(`no test file of this lane starts with ${path}`)
        return found
      }),
    ),
  ]
}

/** The compiled file of a source. */
const compiledOf = (path: string, folder: string): string =>
  join(folder, path.replace(/\.ts$/, '.mjs'))

/**
 * Writes modules to `folder` that import compiled files which may share a process. Returns them, then the other compiled
 * files.
 */
function grouped(files: readonly string[], folder: string): string[] {
  const isLong = process.env.TEST_LONG === '1'
  const [light, heavy, single]: [string[], string[], string[]] = [[], [], []]
  for (const path of files) {
    const kind = kindOf(path)
    // With full counts a heavy file takes minutes and gets a separate process.
    if (kind === 'plain') light.push(path)
    else if (kind === 'process' && !isLong) heavy.push(path)
    else single.push(path)
  }
  const lightCount = Math.min(GROUPS_MAX, Math.ceil(light.length / GROUP_FILES_MIN))
  const heavyCount = Math.min(HEAVY_GROUPS_MAX, Math.ceil(heavy.length / HEAVY_GROUP_FILES_MIN))
  const modules = [...split(light, lightCount), ...split(heavy, heavyCount)].map((own, index) => {
    const module = join(folder, `group-${index + 1}.test.mjs`)
    const lines = own.map((path) => `import ${JSON.stringify(compiledOf(path, folder))}\n`)
    writeFileSync(filesOfGroup(module), lines.join(''))
    // In a whole lane, cheap-hooks.ts must run before another module loads node:test.
    const hooks = locations.length === 0 ? [compiledOf('test/cheap-hooks.ts', folder)] : []
    const parts = [...hooks, filesOfGroup(module)]
    writeFileSync(module, parts.map((path) => `await import(${JSON.stringify(path)})\n`).join(''))
    return module
  })
  return [...modules, ...single.map((path) => compiledOf(path, folder))]
}

/** The module that imports the files of a group. */
const filesOfGroup = (module: string): string => module.replace('.test.mjs', '.mjs')

/** Round robin, because the files of one folder take similar times. */
function split(files: readonly string[], groupCount: number): readonly (readonly string[])[] {
  return Array.from({ length: groupCount }, (_, group) =>
    files.filter((_file, index) => index % groupCount === group),
  )
}

/** Returns a folder in memory if there is space, because flushes to a busy disk are slow. */
function openFolder(): string {
  const disk = tmpdir()
  if (!existsSync(MEMORY_FOLDER)) return mkdtempSync(join(disk, NAME))
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  if (bavail * bsize < MEMORY_BYTES_MIN) return mkdtempSync(join(disk, NAME))
  const made = mkdtempSync(join(MEMORY_FOLDER, NAME))
  const cache = `tsx-${process.getuid?.()}`
  if (existsSync(join(disk, cache))) symlinkSync(join(disk, cache), join(made, cache))
  process.env.TMPDIR = made
  return made
}

function check(): Promise<{ readonly isGood: boolean; readonly output: string }> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', 'check'], OUTPUT_LIMIT, (error, stdout, stderr) =>
      resolve({ isGood: error === null, output: stdout + stderr }),
    )
  })
}

function endWhenStalled(stream: ReturnType<typeof run>, end: AbortController): StopTimer {
  const running = new Set<string>()
  let movedAtMs = systemClock.monotonicMs()
  const move = () => {
    movedAtMs = systemClock.monotonicMs()
  }
  const nameOf = ({ file, name }: { readonly file?: string; readonly name: string }) =>
    `${file ?? ''} ${name}`
  const leave = (test: Parameters<typeof nameOf>[0]) => {
    move()
    running.delete(nameOf(test))
  }
  stream.on('test:dequeue', (test) => {
    move()
    running.add(nameOf(test))
  })
  stream.on('test:pass', leave)
  stream.on('test:fail', leave)
  stream.on('test:diagnostic', move)
  stream.on('test:stdout', move)
  stream.on('test:stderr', move)
  const stop = systemClock.every(STALL_CHECK_MS, () => {
    const [load = 0] = loadavg()
    const limitMs = STALL_MS * Math.max(1, load / availableParallelism())
    if (systemClock.monotonicMs() - movedAtMs < limitMs) return
    stop()
    const names = [...running].map((name) => `  ${name}\n`).join('')
    process.stdout.write(
      `No progress for ${Math.round(limitMs / 1_000)} s; running tests:\n${names}`,
    )
    end.abort()
  })
  return stop
}

/** Runs compiled files and prints the results. Returns the sources with failed tests. */
async function runFiles(files: string[], folder: string): Promise<string[]> {
  const failed = new Set<string>()
  const secondsOf = new Map<string, number>()
  const end = new AbortController()
  const sourceOf = (file: string) =>
    file.startsWith(join(folder, 'test')) ? relative(folder, file).replace(/\.mjs$/, '.ts') : file
  // `run` starts its processes with the options of this process.
  process.execArgv = PROCESS_OPTIONS
  const stream = run({ files, concurrency: CONCURRENCY, signal: end.signal })
  const stopWatch = process.env.TEST_LONG === '1' ? () => {} : endWhenStalled(stream, end)
  const note = (file: string | undefined, nesting: number, details: { duration_ms: number }) => {
    if (nesting > 0 || file === undefined) return
    const source = sourceOf(file)
    secondsOf.set(source, (secondsOf.get(source) ?? 0) + details.duration_ms / 1_000)
  }
  stream.on('test:pass', ({ file, nesting, details }) => note(file, nesting, details))
  stream.on('test:fail', ({ file, nesting, details, todo, skip }) => {
    note(file, nesting, details)
    const isExcused =
      (todo !== undefined && todo !== false) || (skip !== undefined && skip !== false)
    if (!isExcused) failed.add(sourceOf(file ?? 'unknown file'))
  })
  const report = stream.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await finished(report)
  stopWatch()
  // Only SIGKILL ends a test in an endless loop.
  if (end.signal.aborted) spawnSync('pkill', ['-KILL', '-P', String(process.pid)])
  const slowest = [...secondsOf].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_PRINTED)
  const lines = slowest.map(([file, seconds]) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}\n`)
  process.stdout.write(`Slowest files:\n${lines.join('')}`)
  return [...failed]
}

const given = readOrEnd()
const locations = given.positionals
const variant = OPTIONS.filter((option) => given.has(option))
  .map((option) => `--${option}`)
  .join(' ')
if (LANES[variant] === undefined)
  fail(`${variant}: lanes are --quick, --long, and --long --reduced`)
if (variant === '--long') process.env.TEST_LONG = '1'
const files = selectFiles(variant, locations)
const checked =
  variant === '' && locations.length === 0 ? check() : Promise.resolve({ isGood: true, output: '' })
// The long lane would fill the memory, and its crash tests need a real disk.
const folder = variant === '--long' ? mkdtempSync(join(tmpdir(), NAME)) : openFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
await compile(process.cwd(), folder)
const failed = await runFiles(grouped(files, folder), folder)
const { isGood, output: findings } = await checked
process.stdout.write(findings)
if (!isGood) {
  process.stdout.write('FAILED: npm run check\n')
  process.exitCode = 1
}
for (const file of failed) {
  process.stdout.write(`FAILED: ${file}\n`)
  // A crashed group process does not report which of its files ran.
  if (file.startsWith(folder)) process.stdout.write(readFileSync(filesOfGroup(file), 'utf8'))
}
if (failed.length > 0) process.exitCode = 1
