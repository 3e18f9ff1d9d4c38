// `npm test` behind the checks: every test file but those of live venues, three processes at a time. Some tests hold
// times and the work of several processes against each other, and a machine that does other things as well makes one
// of them fail now and then: a file in which something failed is run once more, alone, and both are said. What fails
// twice fails. Files whose tests leave nothing at the root (no hooks, no processes, no settings of V8) share a process by
// the dozen, since half of a light file's time goes for its start. Files may be given by name; `--quick` leaves all others out than those that share
// a process. Not for: long loops (`npm run test:long`), where nothing is run again.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const CONCURRENCY = 3
const GROUP_FILES = 12
/** What a file that shares its process may not have: root hooks, processes, browsers, timings, V8's settings. */
const APART =
  /^(?:before|after|beforeEach|afterEach)\(|setFlagsFromString|startProcess|child_process|browser-test|loop-delay|process\.(?:env|on|once|emit|exit)\b|memoryUsage/m
const SLOWEST_TOLD = 12
/** More files than these are no accident: nothing is run again. */
const AGAIN_MAX = 4

function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && path !== 'tidy.test.ts')
    .filter((path) => !path.startsWith('live/') && !path.includes('node_modules'))
    .map((path) => join(process.cwd(), 'test', path))
    .sort()
}

/**
 * The test files of a place where a test stands: itself, or all that name it where several share their tests; none where
 * nobody knows, and then the failure stands.
 */
function filesOf(place: string, all: readonly string[]): readonly string[] {
  if (all.includes(place)) return [place]
  return all.filter((file) => readFileSync(file, 'utf8').includes(`/${basename(place)}'`))
}

/** Whether a file may share its process with others. */
function isLight(file: string): boolean {
  return !/test\/(simulation|bench)/.test(file) && !APART.test(readFileSync(file, 'utf8'))
}

/** Modules in `folder` that import the files which may share a process, and the other files. */
function grouped(files: readonly string[], folder: string): string[] {
  const light = files.filter(isLight)
  const modules = files.filter((file) => !isLight(file))
  const groupCount = Math.ceil(light.length / GROUP_FILES)
  for (let group = 0; group < groupCount; group += 1) {
    const module = join(folder, `group-${group + 1}.test.mts`)
    // Dealt out like cards, so that the files of one folder, which are alike in length, are in many groups.
    const own = light.filter((_, index) => index % groupCount === group)
    writeFileSync(module, own.map((file) => `import ${JSON.stringify(file)}\n`).join(''))
    modules.push(module)
  }
  return modules
}

/** Runs files and prints what came of them; the places of the tests that failed. */
async function failing(files: string[], concurrency: number): Promise<string[]> {
  const failed = new Set<string>()
  const secondsOf = new Map<string, number>()
  const stream = run({ files, concurrency })
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

const isQuick = process.argv.includes('--quick')
const given = process.argv.slice(2).filter((word) => word !== '--quick')
const files = [
  ...(isQuick ? testFiles().filter(isLight) : []),
  ...(given.length > 0 || isQuick ? given : testFiles()),
]
const folder = mkdtempSync(join(tmpdir(), 'twinbook-tests-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let failed = await failing(grouped(files, folder), CONCURRENCY)
const known = failed.map((place) => filesOf(place, files))
const again = [...new Set(known.flat())]
if (failed.length > 0 && again.length <= AGAIN_MAX && known.every((of) => of.length > 0)) {
  const names = again.map((file) => `  ${file}\n`).join('')
  process.stdout.write(`\nFailed, and run again alone:\n${names}`)
  failed = await failing(again, 1)
  if (failed.length === 0) process.stdout.write(`Failed once and passed alone:\n${names}`)
}
for (const place of failed) {
  process.stdout.write(`FAILED: ${place}\n`)
  // Where a process ended before its time, nobody knows which of its files it was.
  if (place.startsWith(folder)) process.stdout.write(readFileSync(place, 'utf8'))
}
if (failed.length > 0) process.exitCode = 1
