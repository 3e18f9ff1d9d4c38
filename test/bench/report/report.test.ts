import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aimedRow,
  type Bench,
  type BenchResult,
  check,
  newTimes,
  record,
  timesRow,
} from '../../../bench/harness.ts'
import {
  aimsText,
  conditionsNow,
  resultsJson,
  resultsText,
  runSeries,
} from '../../../bench/report/report.ts'

const STATE = { hash: '0123456789abcdef', checked: 'nothing', isRepeatable: true }
const SETTING = { isSmall: true, seconds: null, markets: null }

function madeUp(name: string, run: () => Promise<BenchResult>): Bench {
  return { name, question: `how fast is ${name}?`, excludes: 'all', run }
}

function measured(): BenchResult {
  const times = newTimes()
  for (let micros = 1; micros <= 1_000; micros += 1) record(times, micros / 1_000)
  const rows = [
    timesRow('thousand', times),
    aimedRow('share of the limit', 0.8, { atLeast: 0.75 }),
    aimedRow('seconds', 12, { atMost: 10 }, 's'),
    aimedRow('nothing measured', Number.NaN, { atLeast: 1 }),
  ]
  return { rows, state: STATE }
}

const BENCHES = [
  madeUp('first', async () => measured()),
  madeUp('broken', async () => {
    check(false, 'two books differ')
    return measured()
  }),
  madeUp('last', async () => ({ rows: [], state: STATE })),
]

test('reports the reason and no numbers when one bench fails, and runs the remaining benches', async () => {
  const reported: string[] = []
  const seen: string[] = []
  const outcomes = await runSeries(
    BENCHES,
    { ...SETTING, logLine: (line) => reported.push(line) },
    ({ bench, kind }) => seen.push(`${bench.name} ${kind}`),
  )
  assert.deepEqual(seen, ['first done', 'broken failed', 'last done'])
  assert.ok(reported.some((line) => /^broken: FAILED: .*two books differ/.test(line)))
  const text = resultsText(conditionsNow([]), outcomes)
  const section = /## broken[\s\S]*?(?=## )/.exec(text)?.[0] ?? ''
  assert.match(section, /Failed, so that there is no number: .*two books differ/)
  assert.doesNotMatch(section, /µs|ms |end state|hash/)
  assert.match(text, /## last/)
})

test('includes conditions, percentiles and every performance target in the results page and the JSON document', async () => {
  const outcomes = await runSeries(
    BENCHES,
    { ...SETTING, logLine: () => undefined },
    () => undefined,
  )
  const conditions = conditionsNow(['a remark'])
  const page = resultsText(conditions, outcomes)
  for (const term of ['machine', 'node', 'commit', 'date', 'conditions']) {
    assert.match(page, new RegExp(`^- ${term}: .`, 'm'))
  }
  const rows = aimsText(outcomes)
    .split('\n')
    .filter((line) => line.startsWith('| first'))
  assert.deepEqual(rows, [
    '| first | share of the limit | 0.80 | at least 0.75 | yes |',
    '| first | seconds | 12.0 | at most 10 | **no** |',
    '| first | nothing measured | NaN | at least 1 | **no** |',
  ])
  const document = JSON.parse(resultsJson(conditions, outcomes))
  assert.equal(document.node, process.version)
  assert.ok(document.cores > 0 && document.commit !== '' && Date.parse(document.date) > 0)
  assert.deepEqual(
    document.aims.map(({ what, met }: { what: string; met: boolean }) => [what, met]),
    [
      ['share of the limit', true],
      ['seconds', false],
      ['nothing measured', false],
    ],
  )
  const [first, broken] = document.benches
  assert.equal(first.times[0].count, 1_000)
  assert.ok(Math.abs(first.times[0].p50_ns - 500_000) < 1_000)
  assert.deepEqual(first.state, { hash: STATE.hash, checked: 'nothing', is_repeatable: true })
  assert.match(broken.failed, /two books differ/)
  assert.equal(broken.times, undefined)
})
