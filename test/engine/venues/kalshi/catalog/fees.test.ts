import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { Query } from '../../../../../engine/fetch.ts'
import { isRecord } from '../../../../../engine/json-record.ts'
import {
  CURVE_ZERO,
  FEES_UNKNOWN,
  feeCurve,
  feeOf,
  feesAt,
  type MarketFees,
} from '../../../../../engine/market/fees.ts'
import { formatTime, priceMicros, sizeMicros, timeMs } from '../../../../../engine/units.ts'
import { KalshiFees, termsOf } from '../../../../../engine/venues/kalshi/catalog/fees.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import { NOON } from '../../../../support/worlds/builders.ts'
import { RECORDED, rowsOfFile } from '../../../../support/worlds/recordings.ts'

const HOUR_MS = 3_600_000
const signal = new AbortController().signal
const at = (ms: number) => formatTime(timeMs(ms))
const HUNDRED = { price: priceMicros(370_000), size: sizeMicros(100_000_000) }

type Row = Record<string, unknown>

/** The test sets the responses. An Error makes the request fail. */
class Venue {
  seriesChanges: Row[] | Error = []
  eventPages: Row[][] | Error = [[]]
  readonly clock = new ManualClock(NOON)
  readonly requested: string[] = []
  readonly #counts = venueCounters('b')
  readonly fees = new KalshiFees({
    http: this,
    clock: this.clock,
    counters: this.#counts.counters,
  })

  async getJson(path: string, query: Query = {}): Promise<unknown> {
    this.requested.push(path)
    assert.equal(query.show_historical, true)
    if (path === '/series/fee_changes') {
      if (this.seriesChanges instanceof Error) throw this.seriesChanges
      return { series_fee_change_arr: this.seriesChanges }
    }
    assert.equal(path, '/events/fee_changes')
    if (this.eventPages instanceof Error) throw this.eventPages
    const page = Number(query.cursor ?? 0)
    const isLast = page + 1 >= this.eventPages.length
    return { event_fee_changes: this.eventPages[page], cursor: isLast ? '' : String(page + 1) }
  }

  read = () => this.fees.read(signal)

  /** Fees of a market of event S-1 in series S. By default the series row is read at the current time. */
  of(
    series: Row,
    event: Row = {},
    market: Row = {},
    readAtMs: number = this.clock.nowMs(),
  ): MarketFees {
    return this.fees.of(
      market,
      { ticker: 'S-1', row: event },
      { ticker: 'S', terms: termsOf(series), readAtMs },
    )
  }

  troubles = () => this.#counts.countOf('troubles', 'fee_changes')
}

async function opened(set: Partial<Pick<Venue, 'seriesChanges' | 'eventPages'>> = {}) {
  const venue = Object.assign(new Venue(), set)
  await venue.read()
  return venue
}

const QUADRATIC = { fee_type: 'quadratic', fee_multiplier: 1 }
const seriesChange = (sinceMs: number, type: unknown, multiplier: unknown) => ({
  ...{ id: 'c', series_ticker: 'S', fee_type: type, fee_multiplier: multiplier },
  scheduled_ts: at(sinceMs),
})
const eventChange = (sinceMs: number, type: unknown, multiplier: unknown, event = 'S-1') => ({
  ...{ id: 'e', event_ticker: event, fee_type_override: type, fee_multiplier_override: multiplier },
  scheduled_ts: at(sinceMs),
})

test('computes the fees of a market from the fee type and multiplier of its series', async () => {
  const venue = await opened()
  const { now, next, waivedUntilMs } = venue.of(QUADRATIC)
  assert.deepEqual([next, waivedUntilMs], [null, null])
  assert.deepEqual(now, {
    kind: 'quadratic',
    taker: feeCurve(70_000, 1),
    maker: CURVE_ZERO,
    rounding: { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 },
    rebateMicros: null,
    source: 'series.fee_type',
    sinceMs: null,
  })
  assert.equal(feeOf(now, 'taker', HUNDRED), 1_640_000)
  const dollars: readonly (readonly [string, number, number, number])[] = [
    ['quadratic', 0.5, 820_000, 0],
    ['quadratic', 0, 0, 0],
    ['quadratic_with_maker_fees', 1, 1_640_000, 410_000],
    ['quadratic_with_maker_fees', 0.5, 820_000, 210_000],
    ['quadratic_with_combo_maker_fees', 1, 1_640_000, 820_000],
  ]
  for (const [type, multiplier, taker, maker] of dollars) {
    const model = venue.of({ fee_type: type, fee_multiplier: multiplier }).now
    assert.equal(feeOf(model, 'taker', HUNDRED), taker, type)
    assert.equal(feeOf(model, 'maker', HUNDRED), maker, type)
  }
  const waived = venue.of(QUADRATIC, {}, { fee_waiver_expiration_time: at(NOON + 5_000) })
  assert.equal(waived.waivedUntilMs, NOON + 5_000)
  assert.equal(feeOf(waived.now, 'taker', HUNDRED), 1_640_000)
})

test('returns no fee curve for a flat, unknown or unreadable fee type, and no source without fee fields', async () => {
  const venue = await opened()
  assert.equal(venue.of({ fee_type: 'flat', fee_multiplier: 1 }).now.kind, 'flat')
  for (const row of [
    { fee_type: 'flat', fee_multiplier: 1 },
    { fee_type: 'cubic', fee_multiplier: 1 },
    { fee_type: 7, fee_multiplier: 1 },
    { fee_type: 'quadratic' },
    { fee_type: 'quadratic', fee_multiplier: 'much' },
    { fee_type: 'quadratic', fee_multiplier: -1 },
    { fee_type: 'quadratic', fee_multiplier: 1e6 },
    { fee_type: 'quadratic', fee_multiplier: 50 },
    { fee_multiplier: 1 },
  ]) {
    const { now } = venue.of(row)
    assert.deepEqual([now.taker, now.maker], [null, null], JSON.stringify(row))
    assert.equal(now.source, 'series.fee_type')
  }
  assert.equal(venue.of({}).now.source, null)
})

test('replaces each fee field of a series by the field of the market’s event, if present', async () => {
  const venue = await opened()
  const shown = { fee_type_override: null, fee_multiplier_override: null }
  assert.equal(venue.of(QUADRATIC, shown).now.source, 'series.fee_type')
  const half = venue.of(QUADRATIC, { ...shown, fee_multiplier_override: 0.5 }).now
  assert.deepEqual(
    [half.taker, half.source],
    [feeCurve(70_000, 1, 500_000), 'event.fee_type_override'],
  )
  const withMaker = venue.of(QUADRATIC, {
    ...shown,
    fee_type_override: 'quadratic_with_maker_fees',
  })
  assert.deepEqual(withMaker.now.maker, feeCurve(17_500, 1))
  const both = { fee_type_override: 'flat', fee_multiplier_override: 2 }
  assert.equal(venue.of({}, both).now.kind, 'flat')
  assert.equal(venue.of(QUADRATIC, { ...shown, fee_type_override: 'cubic' }).now.kind, 'unknown')
})

test('returns unknown fees until fee overrides are read, unless the event’s row contains them', async () => {
  const venue = await opened({ eventPages: new Error('gone') })
  assert.equal(venue.of(QUADRATIC), FEES_UNKNOWN)
  assert.equal(venue.of(QUADRATIC, { fee_type_override: null }).now.kind, 'quadratic')
  venue.fees.note('S-1', { type: null, multiplier: 0.5 })
  assert.deepEqual(venue.of(QUADRATIC).now.taker, feeCurve(70_000, 1, 500_000))
})

test('applies announced fee changes at their scheduled time, and lists them as upcoming before', async () => {
  const venue = await opened({
    seriesChanges: [
      seriesChange(NOON - HOUR_MS * 24, 'quadratic', 1),
      seriesChange(NOON + 2 * HOUR_MS, 'quadratic', 2),
      seriesChange(NOON + HOUR_MS, 'quadratic', 0.5),
    ],
  })
  const fees = venue.of(QUADRATIC)
  assert.equal(fees.now.sinceMs, NOON - HOUR_MS * 24)
  assert.equal(fees.next?.sinceMs, NOON + HOUR_MS)
  assert.equal(fees.next?.source, 'series.fee_changes')
  assert.equal(feeOf(feesAt(fees, NOON + HOUR_MS - 1), 'taker', HUNDRED), 1_640_000)
  assert.equal(feeOf(feesAt(fees, NOON + HOUR_MS), 'taker', HUNDRED), 820_000)
  // The series row is older than the change, so the change applies.
  venue.clock.advance(HOUR_MS + 1)
  const later = venue.of(QUADRATIC, {}, {}, NOON)
  assert.deepEqual(later.now.taker, feeCurve(70_000, 1, 500_000))
  assert.equal(later.now.sinceMs, NOON + HOUR_MS)
  assert.equal(later.next?.sinceMs, NOON + 2 * HOUR_MS)
})

test('reads fee changes that begin or end a fee override of an event from all pages of the list', async () => {
  const venue = await opened({
    eventPages: [
      [eventChange(NOON - HOUR_MS, 'quadratic', 0), { event_ticker: 'S-9' }],
      [eventChange(NOON + HOUR_MS, null, null), eventChange(NOON, 'flat', 1, 'S-2')],
    ],
  })
  const { now, next } = venue.of(QUADRATIC)
  assert.deepEqual([now.taker?.multiplierMicros, now.sinceMs], [0, NOON - HOUR_MS])
  assert.equal(now.source, 'events.fee_changes')
  assert.deepEqual([next?.taker, next?.sinceMs], [feeCurve(70_000, 1), NOON + HOUR_MS])
  // An announced change to the current fees is not an upcoming change.
  const same = await opened({ eventPages: [[eventChange(NOON + HOUR_MS, 'quadratic', 1)]] })
  assert.equal(same.of(QUADRATIC).next, null)
})

test('prefers an announced fee change to an older row of the series, and a newer row to the fee change', async () => {
  const venue = await opened({ seriesChanges: [seriesChange(NOON - 60_000, 'quadratic', 0.5)] })
  assert.equal(venue.of(QUADRATIC).now.taker?.multiplierMicros, 500_000)
  venue.clock.advance(HOUR_MS)
  assert.equal(venue.of(QUADRATIC).now.taker?.multiplierMicros, 1_000_000)
})

test('retains known fee changes when the venue’s answer is empty, shortened or failed', async () => {
  const eventPages = [
    [...Array(30).keys()].map((n) => eventChange(NOON - HOUR_MS, 'flat', 1, `S-${n}`)),
  ]
  const venue = await opened({ eventPages })
  const kind = () => venue.of(QUADRATIC).now.kind
  assert.equal(kind(), 'flat')
  for (const answer of [[[]], [[eventChange(NOON, 'flat', 1, 'S-2')]], new Error('503')]) {
    venue.eventPages = answer
    venue.clock.advance(HOUR_MS)
    await venue.read()
    assert.equal(kind(), 'flat')
  }
  assert.equal(venue.troubles(), 1)
  const count = venue.requested.length
  await venue.read()
  assert.equal(venue.requested.length, count, 'a failed request is repeated after minutes')
  venue.clock.advance(300_000)
  venue.eventPages = eventPages.map((rows) =>
    rows.filter(({ event_ticker }) => event_ticker !== 'S-1'),
  )
  await venue.read()
  assert.equal(kind(), 'quadratic', 'a complete list may lack one change')
})

test('applies a fee override from the socket at once and until a later REST answer differs', async () => {
  const venue = await opened()
  const shown = { fee_type_override: null, fee_multiplier_override: null }
  venue.clock.advance(1_000)
  venue.fees.note('S-1', { type: 'quadratic', multiplier: 0.5 })
  const { now } = venue.of(QUADRATIC, shown)
  assert.equal(now.taker?.multiplierMicros, 500_000)
  assert.deepEqual([now.source, now.sinceMs], ['socket.event_fee_update', NOON + 1_000])
  assert.equal(venue.of(QUADRATIC).now.taker?.multiplierMicros, 500_000)
  venue.clock.advance(HOUR_MS)
  assert.equal(venue.of(QUADRATIC, shown).now.taker?.multiplierMicros, 1_000_000)
  assert.equal(venue.of(QUADRATIC).now.taker?.multiplierMicros, 500_000)
  venue.fees.note('S-1', { type: null, multiplier: null })
  assert.equal(venue.of(QUADRATIC).now.taker?.multiplierMicros, 1_000_000)
})

const FIELDS = `${RECORDED}/fixtures/kalshi-2026-autumn/series_fee_fields.json`

test('converts the fees of every recorded series to a fee model', async (t) => {
  if (!existsSync(FIELDS)) {
    t.diagnostic(`RECORDED DATA ABSENT: ${FIELDS} (set SHARED_DATA)`)
    t.skip(`RECORDED DATA ABSENT: ${FIELDS} (set SHARED_DATA)`)
    return
  }
  const [file] = rowsOfFile(FIELDS)
  const payloads = isRecord(file) && isRecord(file.payloads) ? file.payloads : {}
  const venue = await opened()
  const read = Object.entries(payloads).map(([ticker, payload]) => {
    const row = isRecord(payload) ? payload.series : null
    assert.ok(isRecord(row), ticker)
    const { kind, taker, maker } = venue.of(row).now
    const makerRate = maker?.rateMicros
    return `${ticker} ${kind} ${taker?.multiplierMicros} ${makerRate}`
  })
  assert.deepEqual(read.sort(), [
    'KXATPDOUBLES quadratic 1000000 0',
    'KXMLBGAME quadratic 500000 17500',
    'KXMLBSPREAD quadratic 500000 0',
    'KXWNBAGAME quadratic 1000000 17500',
  ])
})
