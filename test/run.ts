// Runs test files by lane. A file's name says what it needs: `x.test.ts` nothing, `x.process.test.ts` other processes or
// seconds of processor, `x.browser.test.ts` pages in a browser, `x.long.test.ts` minutes. `npm test` runs the first two
// beside `npm run check`, `--quick` the first alone, `--long` all of them with full counts (TEST_LONG=1), `--long --reduced`
// the last two with reduced counts. Words that are no option name files, folders or prefixes: only these run, without the
// checks. Files share processes with others of their kind, since half of a file's time goes for its start; with full counts
// only those that need nothing do. `npm test` and `npm run test:quick` give each process a young heap of 64 MB, without
// which a tenth of its time goes for collecting garbage. What fails has failed: nothing is run again.

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

/** Which kinds of files a lane runs, by its options. */
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
    'Runs the types, the lint, and the tests that need neither minutes nor a browser; or other lanes.',
  usage: ['[PATH ...]', '--quick [PATH ...]', '--long [--reduced] [PATH ...]'],
  positionals: {
    PATH: 'a test file, a folder of them, or how their paths begin: these alone, without lint',
  },
  positionalCounts: [0, Number.POSITIVE_INFINITY],
  options: {
    quick: { takes: null, means: 'only what starts no process (npm run test:quick)' },
    long: { takes: null, means: 'all files, with full counts, for hours (npm run test:long)' },
    reduced: { takes: null, means: 'with --long: what npm test leaves out, with reduced counts' },
  },
  examples: ['', 'test/actors/market', '--long --reduced'],
  notes: ['Exit codes: 0 all is green, 1 something failed, 2 bad arguments.'],
}

const CONCURRENCY = 3
/** Processes that light files share: as many as two cores run; each more imports the whole tree again, some 4 s of processor. */
const GROUPS_MAX = 2
const GROUP_FILES_MIN = 12
/** Of the files that start processes or take seconds; a multiple of those that run at once. */
const HEAVY_GROUPS_MAX = 2 * CONCURRENCY
const HEAVY_GROUP_FILES_MIN = 4
const SLOWEST_TOLD = 12
const NAME = 'twinbook-tests-'
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES_MIN = 4_294_967_296
/** Files that take longest by themselves; they start before the others of their kind. */
const LONGEST: readonly string[] = [
  'test/contract/recorded-streams.process.test.ts',
  'test/storage/contract/storage.process.test.ts',
  'test/engine/app/main.process.test.ts',
  'test/engine/matching/offline/corpus-matching.process.test.ts',
]
/** A run in which no test begins, ends or prints for so long is ended, later while the cores are busy; full counts take hours. */
const STALL_MS = 60_000
const STALL_CHECK_MS = 1_000
const WORDS_LIMIT = { maxBuffer: 64 * 1_024 * 1_024 }

/** What a test file needs, as its name says; null where the file is no test, or one of live venues. */
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

/** The files of a lane, the longest of a kind first; of named places only what they name. */
function chosenFiles(variant: string, locations: readonly string[]): readonly string[] {
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
      locations.flatMap((position) => {
        const wanted = relative('', position)
        // A file that is named whole runs, whatever its lane.
        const found = all.includes(wanted)
          ? [wanted]
          : inLane.filter((path) => path.startsWith(wanted))
        if (found.length === 0) fail(`no test file of this lane begins with ${position}`)
        return found
      }),
    ),
  ]
}

/** Modules in `folder` that import the files which may share a process, and the other files; the longest first. */
function grouped(files: readonly string[], folder: string): string[] {
  const isLong = process.env.TEST_LONG === '1'
  const [light, heavy, single]: [string[], string[], string[]] = [[], [], []]
  for (const path of files) {
    const kind = kindOf(path)
    // With full counts a heavy file takes minutes: then it shares nothing.
    if (kind === 'plain') light.push(path)
    else if (kind === 'process' && !isLong) heavy.push(path)
    else single.push(path)
  }
  const lightCount = Math.min(GROUPS_MAX, Math.ceil(light.length / GROUP_FILES_MIN))
  const heavyCount = Math.min(HEAVY_GROUPS_MAX, Math.ceil(heavy.length / HEAVY_GROUP_FILES_MIN))
  const modules = [...dealt(light, lightCount), ...dealt(heavy, heavyCount)].map((own, index) => {
    const module = join(folder, `group-${index + 1}.test.mts`)
    const lines = own.map((path) => `import ${JSON.stringify(join(process.cwd(), path))}\n`)
    writeFileSync(module, lines.join(''))
    return module
  })
  return [...modules, ...single]
}

/** Dealt out like cards, so that the files of one folder, which are alike in length, are in many groups. */
function dealt(files: readonly string[], groupCount: number): readonly (readonly string[])[] {
  return Array.from({ length: groupCount }, (_, group) =>
    files.filter((_file, index) => index % groupCount === group),
  )
}

/**
 * The folder in which all folders of tests are made: in memory where there is room, since a flush to a disk that is busy
 * takes longer than the test around it. What tsx keeps of its work stays where it is.
 */
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

/** Runs `npm run check`: what it says, and whether all is well. */
function check(): Promise<{ readonly isGood: boolean; readonly words: string }> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', 'check'], WORDS_LIMIT, (error, stdout, stderr) =>
      resolve({ isGood: error === null, words: stdout + stderr }),
    )
  })
}

/** Names the tests that are under way and ends the run when none of them makes progress. */
function endWhenStalled(stream: ReturnType<typeof run>, end: AbortController): StopTimer {
  const underWay = new Set<string>()
  let movedAtMs = systemClock.monotonicMs()
  const move = () => {
    movedAtMs = systemClock.monotonicMs()
  }
  const nameOf = ({ file, name }: { readonly file?: string; readonly name: string }) =>
    `${file ?? ''} ${name}`
  const leave = (test: Parameters<typeof nameOf>[0]) => {
    move()
    underWay.delete(nameOf(test))
  }
  stream.on('test:dequeue', (test) => {
    move()
    underWay.add(nameOf(test))
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
    const names = [...underWay].map((name) => `  ${name}\n`).join('')
    process.stdout.write(`No progress for ${Math.round(limitMs / 1_000)} s; under way:\n${names}`)
    end.abort()
  })
  return stop
}

/** Runs files and prints what came of them; the places of the tests that failed. */
async function failing(files: string[]): Promise<string[]> {
  const failed = new Set<string>()
  const secondsOf = new Map<string, number>()
  const end = new AbortController()
  const stream = run({ files, concurrency: CONCURRENCY, signal: end.signal })
  const stopWatch = process.env.TEST_LONG === '1' ? () => {} : endWhenStalled(stream, end)
  const note = (file: string | undefined, nesting: number, details: { duration_ms: number }) => {
    if (nesting > 0 || file === undefined) return
    secondsOf.set(file, (secondsOf.get(file) ?? 0) + details.duration_ms / 1_000)
  }
  stream.on('test:pass', ({ file, nesting, details }) => note(file, nesting, details))
  stream.on('test:fail', ({ file, nesting, details, todo, skip }) => {
    note(file, nesting, details)
    const isExcused =
      (todo !== undefined && todo !== false) || (skip !== undefined && skip !== false)
    if (!isExcused) failed.add(file ?? 'a place that nobody knows')
  })
  const report = stream.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await finished(report)
  stopWatch()
  // A test that spins hears no other signal, and would outlive the run.
  if (end.signal.aborted) spawnSync('pkill', ['-KILL', '-P', String(process.pid)])
  const slowest = [...secondsOf].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_TOLD)
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
const files = chosenFiles(variant, locations)
const checked =
  variant === '' && locations.length === 0 ? check() : Promise.resolve({ isGood: true, words: '' })
// Full counts would fill the memory, and are to meet a real disk.
const folder = variant === '--long' ? mkdtempSync(join(tmpdir(), NAME)) : openFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
const failed = await failing(grouped(files, folder))
const { isGood, words: findings } = await checked
process.stdout.write(findings)
if (!isGood) {
  process.stdout.write('FAILED: npm run check\n')
  process.exitCode = 1
}
for (const position of failed) {
  process.stdout.write(`FAILED: ${position}\n`)
  // Where a process ended before its time, nobody knows which of its files it was.
  if (position.startsWith(folder)) process.stdout.write(readFileSync(position, 'utf8'))
}
if (failed.length > 0) process.exitCode = 1
