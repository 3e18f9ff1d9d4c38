// `npm test` behind the checks: every test file but those of live venues, three processes at a time. Some tests hold
// times and the work of several processes against each other, and a machine that does other things as well makes one
// of them fail now and then: a file in which something failed is run once more, alone, and both are said. What fails
// twice fails. Files may be given by name. Not for: long loops (`npm run test:long`), where nothing is run again.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
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

/** Runs files and prints what came of them; those in which something failed. */
async function failing(files: string[], concurrency: number): Promise<string[]> {
  const failed = new Set<string>()
  const stream = run({ files, concurrency })
  stream.on('test:fail', ({ file, todo, skip }) => {
    const isExcused =
      (todo !== undefined && todo !== false) || (skip !== undefined && skip !== false)
    if (file !== undefined && !isExcused) failed.add(file)
  })
  const report = stream.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await finished(report)
  return [...failed]
}

const given = process.argv.slice(2)
const files = given.length > 0 ? given : testFiles()
let failed = await failing(files, CONCURRENCY)
if (failed.length > 0 && failed.length <= AGAIN_MAX) {
  process.stdout.write(
    `\nFailed, and run again alone:\n${failed.map((file) => `  ${file}\n`).join('')}`,
  )
  const first = failed
  failed = await failing(first, 1)
  const passed = first.filter((file) => !failed.includes(file))
  for (const file of passed) process.stdout.write(`Failed once and passed alone: ${file}\n`)
}
for (const file of failed) process.stdout.write(`FAILED: ${file}\n`)
if (failed.length > 0) process.exitCode = 1
