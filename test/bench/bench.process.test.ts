import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { BENCHES } from '../../bench/benches.ts'
import { check, newTimes, record, timeInRotation, timesRow } from '../../bench/harness.ts'
import { outcomeText } from '../../bench/report/report.ts'
import { smallState } from '../support/rigs/small-bench.ts'

const FOLDER = new URL('../../bench/', import.meta.url)
const SUFFIX = '.bench.ts'

test('lists each bench under its file name, with the question that the bench answers and the work that the bench excludes', () => {
  const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  const names = all.filter((file) => file.endsWith(SUFFIX)).map((file) => basename(file, SUFFIX))
  assert.deepEqual(BENCHES.map(({ name }) => name).sort(), names.sort())
  for (const { name, question, excludes } of BENCHES) {
    assert.match(question, /\?$/, name)
    assert.notEqual(excludes, '', name)
  }
})

test('prints durations of a bench as percentiles of a histogram, and no mean', () => {
  const times = newTimes()
  for (let micros = 1; micros <= 1_000; micros += 1) record(times, micros / 1_000)
  const state = { hash: '0123456789abcdef', checked: 'nothing', isRepeatable: true }
  const bench = { name: 'made up', question: 'why?', excludes: 'all' }
  const result = { rows: [timesRow('thousand', times)], state }
  const text = outcomeText({ kind: 'done', bench, tookMs: 1, result })
  assert.match(text, /\| thousand \| 1000 \| 500 µs \| 900 µs \| 990 µs \| (999 µs|1.00 ms) \|/)
  assert.doesNotMatch(text, /mean|average/i)
})

test('runs two compared implementations alternately on the same operations, and does not time the warm-up', () => {
  const seen: string[] = []
  const contestant = (name: string) => ({
    times: newTimes(),
    batch: (from: number, count: number) => seen.push(`${name} ${from}+${count}`),
    beforeBatch: () => seen.push(`before ${name}`),
  })
  const [one, other] = [contestant('one'), contestant('other')]
  timeInRotation([one, other], { operationCount: 25, batchCount: 10 })
  assert.deepEqual(
    seen,
    ['one 0+10', 'other 0+10', 'other 10+10', 'one 10+10', 'one 20+5', 'other 20+5'].flatMap(
      (what) => [`before ${what.split(' ', 1)[0]}`, what],
    ),
  )
  assert.equal(one.times.totalCount, 2)
  assert.equal(other.times.totalCount, 2)
})

test('throws without printing figures when the final state of a bench is wrong', () => {
  check(true, 'right')
  assert.throws(() => check(false, 'two books differ'), /wrong state: two books differ/)
})

test('reaches the same checked final state in two small runs of the storage bench, and prints nothing', async (t) => {
  const bench = BENCHES.find(({ name }) => name === 'storage') ?? assert.fail('no storage')
  const { hash } = await smallState(bench, t)
  assert.equal((await smallState(bench, t)).hash, hash)
})
