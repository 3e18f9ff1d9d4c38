// `npm test` behind the checks: every test file but those of live venues, three processes at a time. Some tests hold
// times and the work of several processes against each other, and a machine that does other things as well makes one
// of them fail now and then: a file in which something failed is run once more, alone, and both are said. What fails
// twice fails. Files may be given by name. Not for: long loops (`npm run test:long`), where nothing is run again.

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const CONCURRENCY = 3
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

/** Runs files and prints what came of them; the places of the tests that failed. */
async function failing(files: string[], concurrency: number): Promise<string[]> {
  const failed = new Set<string>()
  const stream = run({ files, concurrency })
  stream.on('test:fail', ({ file, todo, skip }) => {
    const isExcused =
      (todo !== undefined && todo !== false) || (skip !== undefined && skip !== false)
    if (!isExcused) failed.add(file ?? 'a place that nobody knows')
  })
  const report = stream.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await finished(report)
  return [...failed]
}

const given = process.argv.slice(2)
const files = given.length > 0 ? given : testFiles()
let failed = await failing(files, CONCURRENCY)
const known = failed.map((place) => filesOf(place, files))
const again = [...new Set(known.flat())]
if (failed.length > 0 && again.length <= AGAIN_MAX && known.every((of) => of.length > 0)) {
  const names = again.map((file) => `  ${file}\n`).join('')
  process.stdout.write(`\nFailed, and run again alone:\n${names}`)
  failed = await failing(again, 1)
  if (failed.length === 0) process.stdout.write(`Failed once and passed alone:\n${names}`)
}
for (const place of failed) process.stdout.write(`FAILED: ${place}\n`)
if (failed.length > 0) process.exitCode = 1
