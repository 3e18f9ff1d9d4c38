import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { Drift } from '../../../../engine/venues/drift/drift.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

function openTable() {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const clock = new ManualClock()
  const metrics = new Metrics()
  const venue = { key: 'a', name: 'venue_a' } as const
  const drift = new Drift({ venue, clock, log: pino({ level: 'info' }, stream), metrics })
  return { drift, lines, clock, metrics }
}

test('logs a drift entry once, counts its repetitions and retains the first sample text', () => {
  const { drift, lines, clock, metrics } = openTable()
  drift.note('gamma.version', 'v3', '0x0177')
  clock.advance(1_000)
  drift.note('gamma.version', 'v3', 'another')
  const [entry, ...others] = drift.entries()
  assert.equal(others.length, 0)
  assert.equal(entry?.count, 2)
  assert.equal((entry?.lastMs ?? 0) - (entry?.firstMs ?? 0), 1_000)
  assert.equal(entry?.sample, '0x0177')
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /^drift venue_a gamma\.version=v3 first=\d\d:\d\d:\d\d count=1 sample="0x0177"$/,
  )
  const [count] = metrics.counts('venue_drift_total').values()
  assert.equal(count?.value, 2)
})

test('limits the number of names in the drift table, counts further names as `other`, and truncates texts', () => {
  const { drift } = openTable()
  for (let at = 0; at < 10_000; at += 1) drift.note('message', `kind_${at}`, 'x'.repeat(5_000))
  drift.note('message', 'y'.repeat(5_000))
  drift.note('field', { a: 1 })
  const entries = drift.entries()
  assert.equal(entries.length, 66)
  assert.equal(
    entries.find(({ kind, name }) => kind === 'message' && name === 'other')?.count,
    9_937,
  )
  assert.equal(entries.find(({ kind }) => kind === 'field')?.name, 'other')
  assert.ok(entries.every(({ name, sample }) => name.length <= 60 && sample.length <= 200))
})

test('logs the drift table every hour, even when it is empty', () => {
  const { drift, lines, clock } = openTable()
  drift.start()
  drift.start()
  clock.advance(3_600_000)
  assert.deepEqual(lines, ['drift venue_a: none'])
  drift.note('rtds', 'silent', '', 'notice')
  clock.advance(3_600_000)
  assert.equal(lines.length, 3)
  assert.match(lines[2] ?? '', /rtds=silent notice/)
  drift.stop()
  clock.advance(3_600_000)
  assert.equal(lines.length, 3)
})

test('identifies an unexpected HTTP response in the drift table by its path with ids replaced', () => {
  const { drift } = openTable()
  drift.odd('/trade-api/v2/markets/KXNFLGAME-26NOV23-KC/orderbook', 'status 410', 'gone')
  drift.odd('/trade-api/v2/markets/KXFED-26DEC/orderbook', 'status 410', 'gone')
  drift.odd('/events/slug/will-it-rain-tomorrow', 'html', '<html>')
  drift.odd('/v2/trades', 'sunset', 'Sat, 24 Oct 2026')
  assert.deepEqual(
    drift.entries().map(({ kind, name, weight, count }) => [kind, name, weight, count]),
    [
      ['http', '/trade-api/v2/markets/:id/orderbook status 410', 'loss', 2],
      ['http', '/events/slug/:id html', 'loss', 1],
      ['http', '/v2/trades sunset', 'notice', 1],
    ],
  )
})

test('reports an optional path once when the venue refuses every request, and not when a request succeeds', () => {
  const { drift } = openTable()
  const note = (count: number, isRefused: boolean) => {
    for (let at = 0; at < count; at += 1) drift.expected(`/events/slug/a-b-${100 + at}`, isRefused)
  }
  note(49, true)
  note(1, false)
  note(49, true)
  drift.expected('/public-profile', true)
  assert.deepEqual(drift.entries(), [])
  note(60, true)
  const [found, ...others] = drift.entries()
  assert.deepEqual(others, [])
  assert.deepEqual(
    [found?.kind, found?.name, found?.weight, found?.count],
    ['http', '/events/slug/:id refuses everything', 'notice', 1],
  )
  for (let at = 0; at < 10_000; at += 1)
    drift.expected(`/of/${'x'.repeat(at % 20)}${at % 90}`, true)
  assert.ok(drift.entries().length <= 65)
})
