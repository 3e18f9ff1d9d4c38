// Runs test files by lane. A file's name says what it needs: `x.test.ts` nothing, `x.process.test.ts` a process of its own, since
// it starts others or takes seconds of processor, `x.browser.test.ts` pages in a browser, `x.long.test.ts` minutes. `npm test` runs the first two behind
// `npm run check`, `--quick` the first alone, `--long` all of them with full counts (TEST_LONG=1), `--long --reduced` the
// last two with reduced counts. Words that are no option name files, folders or prefixes: only these run, without the
// checks. Files that need nothing share processes, since half of a light file's time goes for its start. What fails has
// failed: nothing is run again. Not for: live venues (`npm run test:live`).

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

/** Which kinds of files a lane runs, by its options. */
const LANES: Readonly<Record<string, readonly Kind[]>> = {
  '': ['process', 'plain'],
  '--quick': ['plain'],
  '--long': ['long', 'browser', 'process', 'plain'],
  '--long --reduced': ['long', 'browser'],
}
type Kind = 'plain' | 'process' | 'browser' | 'long'

const CONCURRENCY = 3
/** Processes that light files share; more would load the same modules once more. */
const GROUPS_MAX = 4
const GROUP_FILES_MIN = 12
const SLOWEST_TOLD = 12
/** A file that takes longer hangs, and is ended; full counts take hours. */
const HANG_MS = 1_800_000

/** What a test file needs, as its name says; null where the file is no test, or one of live venues. */
function kindOf(path: string): Kind | null {
  const [, word = 'plain'] = /^[^.]+(?:\.(\w+))?\.test\.ts$/.exec(path.split('/').at(-1) ?? '') ?? [
    null,
    '',
  ]
  const isKind = (text: string): text is Kind =>
    LANES['--long']?.some((kind) => kind === text) ?? false
  return isKind(word) ? word : null
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}

/** The files of a lane, those that take longest first; of named places only what they name. */
function chosenFiles(lane: string, places: readonly string[]): readonly string[] {
  const all = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .map((path) => join('test', path))
    .sort()
  const kinds = LANES[lane] ?? []
  const inLane = kinds.flatMap((kind) => all.filter((path) => kindOf(path) === kind))
  // The checks run it by itself.
  if (places.length === 0) return inLane.filter((path) => path !== 'test/tidy.test.ts')
  return [
    ...new Set(
      places.flatMap((place) => {
        const wanted = relative('', place)
        // A file that is named whole runs, whatever its lane.
        const found = all.includes(wanted)
          ? [wanted]
          : inLane.filter((path) => path.startsWith(wanted))
        if (found.length === 0) fail(`no test file of this lane begins with ${place}`)
        return found
      }),
    ),
  ]
}

/** Modules in `folder` that import the files which may share a process, and the other files. */
function grouped(files: readonly string[], folder: string): string[] {
  const light = files.filter((path) => kindOf(path) === 'plain')
  const modules = files.filter((path) => kindOf(path) !== 'plain')
  const groupCount = Math.min(GROUPS_MAX, Math.ceil(light.length / GROUP_FILES_MIN))
  for (let group = 0; group < groupCount; group += 1) {
    const module = join(folder, `group-${group + 1}.test.mts`)
    // Dealt out like cards, so that the files of one folder, which are alike in length, are in many groups.
    const own = light.filter((_, index) => index % groupCount === group)
    writeFileSync(
      module,
      own.map((path) => `import ${JSON.stringify(join(process.cwd(), path))}\n`).join(''),
    )
    modules.push(module)
  }
  return modules
}

/** Runs files and prints what came of them; the places of the tests that failed. */
async function failing(files: string[]): Promise<string[]> {
  const failed = new Set<string>()
  const secondsOf = new Map<string, number>()
  const limit = process.env.TEST_LONG === '1' ? {} : { timeout: HANG_MS }
  const stream = run({ files, concurrency: CONCURRENCY, ...limit })
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
  const slowest = [...secondsOf].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_TOLD)
  const lines = slowest.map(([file, seconds]) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}\n`)
  process.stdout.write(`Slowest files:\n${lines.join('')}`)
  return [...failed]
}

const words = process.argv.slice(2)
const options = words.filter((word) => word.startsWith('--'))
const places = words.filter((word) => !word.startsWith('--'))
const lane = options.join(' ')
if (LANES[lane] === undefined) fail(`${lane}: options are --quick, --long, and --long --reduced`)
if (lane === '--long') process.env.TEST_LONG = '1'
const files = chosenFiles(lane, places)
if (lane === '' && places.length === 0) {
  const { status } = spawnSync('npm', ['run', '--silent', 'check'], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'twinbook-tests-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const failed = await failing(grouped(files, folder))
for (const place of failed) {
  process.stdout.write(`FAILED: ${place}\n`)
  // Where a process ended before its time, nobody knows which of its files it was.
  if (place.startsWith(folder)) process.stdout.write(readFileSync(place, 'utf8'))
}
if (failed.length > 0) process.exitCode = 1
