import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Query } from '../../../../../engine/fetch.ts'
import { DAY_MS, HOUR_MS } from '../../../../../engine/units.ts'
import { KalshiFees, termsOf } from '../../../../../engine/venues/kalshi/catalog/fees.ts'
import { record, records, startStub } from '../../../../support/clients/kalshi-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import { StubWorld } from '../../../../support/worlds/kalshi-world.ts'

const EVENTS = 128

/** Each event has its own series. The connector reads the fees from the simulator's pages. */
async function openWorld(t: TestContext) {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  for (let number = 0; number < EVENTS; number += 1) world.addEvent(`KXS${number}-26`)
  world.addEvent('KXMLBGAME-26')
  world.addEvent('KXNFLGAME-26')
  const venue = await startStub({ world, clock })
  t.after(() => venue.stop())
  const { counters } = venueCounters('b')
  const http = {
    getJson: async (path: string, query: Query = {}): Promise<unknown> => {
      const given = new URLSearchParams()
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) given.set(name, name === 'limit' ? '20' : String(value))
      }
      return (await venue.get(`${path}?${given}`)).body
    },
  }
  return { clock, world, venue, fees: new KalshiFees({ http, clock, counters }) }
}

type Opened = Awaited<ReturnType<typeof openWorld>>

async function rowsOf({ venue }: Opened) {
  const series = records((await venue.get('/series')).body.series)
  const events = records((await venue.get('/events')).body.events)
  return events.map((event) => {
    const own = series.find(({ ticker }) => ticker === event.series_ticker)
    return { event, series: own ?? assert.fail(String(event.series_ticker)) }
  })
}

/** Without `hasRows` the connector sees no overrides in event rows. */
function readAll(
  { fees, clock }: Opened,
  rows: Awaited<ReturnType<typeof rowsOf>>,
  hasRows: boolean,
) {
  return rows.map(({ event, series }) => {
    const ticker = String(event.event_ticker)
    const { now } = fees.of(
      {},
      { ticker, row: hasRows ? event : {} },
      { ticker: String(series.ticker), terms: termsOf(series), readAtMs: clock.nowMs() },
    )
    return (now.taker?.multiplierMicros ?? -1) / 1e6
  })
}

test('returns the same fees in market rows as in announced fee changes at every hour', async (t) => {
  const opened = await openWorld(t)
  const seen = new Set<unknown>()
  await opened.fees.read(new AbortController().signal)
  for (let hour = 0; hour < 12; hour += 1) {
    const rows = await rowsOf(opened)
    const expected = rows.map(({ event, series }) => {
      assert.equal(event.fee_type_override, null)
      const own = Number(series.fee_multiplier)
      seen.add(`series ${own}`)
      if (event.fee_multiplier_override !== null) seen.add('override')
      return Number(event.fee_multiplier_override ?? own)
    })
    assert.deepEqual(readAll(opened, rows, true), expected)
    assert.deepEqual(readAll(opened, rows, false), expected)
    opened.clock.advance(HOUR_MS)
    await opened.fees.read(new AbortController().signal)
  }
  assert.deepEqual([...seen].sort(), ['override', 'series 0', 'series 0.5', 'series 1'])
  const types = new Map(
    (await rowsOf(opened)).map(({ series }) => [series.ticker, series.fee_type]),
  )
  assert.equal(types.get('KXNFLGAME'), 'quadratic_with_maker_fees')
  assert.equal(types.get('KXS1'), 'quadratic')
})

test('lists past fee changes if the request asks for past changes, and otherwise omits them', async (t) => {
  const { venue, world } = await openWorld(t)
  const all = records((await venue.get('/series/fee_changes')).body.series_fee_change_arr)
  assert.ok(all.length > 0)
  for (const { scheduled_ts } of all) {
    const inMs = Date.parse(String(scheduled_ts)) - world.nowMs()
    assert.ok(inMs > 0 && inMs <= DAY_MS, String(scheduled_ts))
  }
  const one = String(all[0]?.series_ticker)
  const both = await venue.get(`/series/fee_changes?series_ticker=${one}&show_historical=true`)
  assert.equal(records(both.body.series_fee_change_arr).length, 2)
  const events = await venue.get('/events/fee_changes?limit=1000')
  assert.equal(records(events.body.event_fee_changes).length, EVENTS / 16)
  assert.equal(events.body.cursor, '')
  assert.equal((await venue.get('/events/fee_changes?cursor=x')).status, 400)
})

test('sends the fee change of an event once, at the scheduled minute', async (t) => {
  const { venue, clock } = await openWorld(t)
  const client = await venue.connect()
  client.send('subscribe', { channels: ['market_lifecycle_v2'] })
  await client.drain()
  const received: Record<string, unknown>[] = []
  // The clock advances in short steps, so that the client’s pongs arrive in time.
  for (let second = 0; second < HOUR_MS / 1_000; second += 9) {
    clock.advance(9_000)
    for (const message of await client.drain()) {
      if (message.type === 'event_fee_update') received.push(record(message.msg))
    }
  }
  const tickers = received.map(({ event_ticker }) => event_ticker)
  assert.deepEqual(new Set(tickers).size, EVENTS / 16)
  assert.equal(received.length, EVENTS / 16)
  for (const { event_ticker, ...fees } of received) {
    const row = record((await venue.get(`/events/${event_ticker}`)).body.event)
    const { fee_type_override, fee_multiplier_override } = row
    assert.deepEqual(fees, { fee_type_override, fee_multiplier_override })
  }
})
