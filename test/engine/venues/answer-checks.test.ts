import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import {
  asList,
  listIn,
  pagesOf,
  reachesBack,
  SuspectAnswerError,
  SuspectAnswers,
  suspectListReason,
} from '../../../engine/venues/answer-checks.ts'
import { quietDrift } from '../../support/fakes/quiet-drift.ts'

test('rejects a venue’s list that is not an array, and reads null as an empty list', () => {
  assert.deepEqual(listIn({ trades: [1] }, 'trades', 'trades'), [1])
  assert.deepEqual(listIn({ trades: null }, 'trades', 'trades'), [])
  const shape = { name: 'SuspectAnswerError', kind: 'trades', reason: 'shape' }
  for (const answer of [null, [], 'x', {}, { trades: {} }, { error: 'x' }]) {
    assert.throws(() => listIn(answer, 'trades', 'trades'), shape)
  }
  for (const answer of [null, {}, 'x', { error: 'x' }]) {
    assert.throws(() => asList(answer, 'trades'), shape)
  }
})

test('stops paging at the last page, at a repeated cursor or at the page limit', async () => {
  const read = async (next: (page: number) => string | null, rowsOf = (page: number) => [page]) => {
    const rows: unknown[] = []
    let page = 0
    const fetchPage = async () => {
      page += 1
      return { rows: rowsOf(page), next: next(page) }
    }
    const list = { kind: 'trades', name: 'x', pagesMax: 50 } as const
    try {
      for await (const some of pagesOf(fetchPage, list)) rows.push(...some)
      return { count: rows.length, reason: null }
    } catch (error) {
      assert.ok(error instanceof SuspectAnswerError)
      return { count: rows.length, reason: error.reason }
    }
  }
  assert.deepEqual(await read((page) => (page < 3 ? `${page}` : null)), { count: 3, reason: null })
  assert.deepEqual(await read(() => 'same'), { count: 2, reason: 'cursor' })
  assert.deepEqual(await read((page) => `${page % 3}`), { count: 4, reason: 'cursor' })
  assert.deepEqual(await read((page) => `${page}`), { count: 50, reason: 'endless' })
  const empty = await read(
    (page) => `${page}`,
    () => [],
  )
  assert.deepEqual(empty, { count: 0, reason: 'endless' })
})

test('treats a venue’s list as suspect when it is empty or lacks more than a few expected items', () => {
  assert.equal(suspectListReason({ received: 0, missing: 0, expected: 0 }), 'empty')
  assert.equal(suspectListReason({ received: 0, missing: 9, expected: 9 }), 'empty')
  assert.equal(suspectListReason({ received: 90, missing: 10, expected: 100 }), null)
  assert.equal(suspectListReason({ received: 89, missing: 11, expected: 100 }), 'shorter')
  assert.equal(suspectListReason({ received: 9_500, missing: 500, expected: 10_000 }), null)
  assert.equal(suspectListReason({ received: 9_499, missing: 501, expected: 10_000 }), 'shorter')
  assert.equal(reachesBack([5, 4], 5), true)
  assert.equal(reachesBack([6, 5], 5), false)
  assert.equal(reachesBack([], 5), false)
})

test('counts suspect venue answers by venue, kind and reason, and limits their log lines', () => {
  const metrics = new Metrics()
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const reasons = new SuspectAnswers({ metrics, log, venue: 'b' })
  for (let time = 0; time < 1_000; time += 1) {
    reasons.note(new SuspectAnswerError('prices', 'empty', 'KX-1'))
  }
  reasons.note(new SuspectAnswerError('trades', 'shorter', 'since 5'), 7)
  const counts = [...metrics.counts('venue_answers_doubted_total')]
  assert.deepEqual(
    counts.map(([labels, { value }]) => [labels, value]),
    [
      ['{"venue":"b","kind":"prices","reason":"empty"}', 1_000],
      ['{"venue":"b","kind":"trades","reason":"shorter"}', 7],
    ],
  )
  assert.ok(lines.length < 12, `${lines.length} lines`)
  assert.ok(lines[0]?.includes('KX-1'))
})

test('records a response with an unexpected shape as drift, and a response with missing items not as drift', () => {
  const drift = quietDrift()
  const reasons = new SuspectAnswers({ metrics: new Metrics(), log: silentLog, venue: 'b', drift })
  for (const reason of ['empty', 'shorter', 'older', 'shape', 'cursor', 'endless'] as const) {
    reasons.note(new SuspectAnswerError('prices', reason, 'KX-1'))
  }
  assert.deepEqual(
    drift.entries().map(({ kind, name }) => [kind, name]),
    [
      ['answer', 'prices shape'],
      ['answer', 'prices cursor'],
      ['answer', 'prices endless'],
    ],
  )
})
