import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VenueEvent } from '../../../../engine/events.ts'
import { timeMs } from '../../../../engine/units.ts'
import { Combos } from '../../../../engine/venues/kalshi/combos.ts'
import { MarketTerms } from '../../../../engine/venues/kalshi/market-terms.ts'
import { parsePriceGrid } from '../../../../engine/venues/kalshi/price-grid.ts'
import { KalshiStream } from '../../../../engine/venues/kalshi/stream.ts'
import { venueCounters } from '../../../support/fakes/venue-counters.ts'

function openStream() {
  const { counters, drift } = venueCounters('b')
  const events: VenueEvent[] = []
  const seen: string[] = []
  const combos = new Combos()
  const terms = new MarketTerms()
  const note = (term: string) => (what: unknown) => seen.push(`${term} ${what}`)
  const stream = new KalshiStream(
    {
      emit: (event) => events.push(event),
      onReply: ({ kind }) => seen.push(kind),
      onGap: note('gap'),
      onLost: (_sid, ticker) => seen.push(`lost ${ticker}`),
      onOffGrid: note('off grid'),
      combos,
      terms,
    },
    counters,
  )
  let seq = 0
  const take = (type: string, msg: object, head: object = {}) => {
    seq += 1
    const text = JSON.stringify({ type, sid: 1, seq, msg, ...head })
    stream.take({ connection: 1, receivedAtMs: timeMs(1_790_000_000_000), text })
  }
  const found = () => drift.entries().map(({ kind, name, count }) => `${kind}=${name} ${count}`)
  return { take, events, seen, combos, terms, found, drift }
}

test('records unknown messages, market changes and errors, and continues the sequence of the subscription', () => {
  const { take, seen, found, events, drift } = openStream()
  take('event_lifecycle', { event_ticker: 'E' })
  take('margin_call', { x: 1 })
  take('margin_call', { x: 2 })
  take('market_lifecycle_v2', { market_ticker: 'A', event_type: 'reborn' })
  take('ok', {}, { id: 7 })
  for (const code of [8, 6, 17, 99]) take('error', { code, msg: 'no' })
  take('market_lifecycle_v2', { market_ticker: 'A', event_type: 'created' })
  assert.deepEqual(found(), [
    'ws.type=margin_call 2',
    'ws.lifecycle=reborn 1',
    'ws.error=6 1',
    'ws.error=17 1',
    'ws.error=99 1',
  ])
  assert.ok(drift.entries().every(({ weight }) => weight === 'loss'))
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['marketSeen', 'marketSeen'],
  )
  assert.ok(!seen.some((term) => term.startsWith('gap')))
})

const block = (term: unknown) => ({
  ...{ trade_id: `id ${term}`, market_ticker: 'A', yes_price_dollars: '0.9870', count_fp: '1.00' },
  ...{ taker_outcome_side: 'yes', ts_ms: 1_790_000_000_000, is_block_trade: term },
})

test('treats a trade as a block trade unless its flag is false, and records invalid or missing flags', () => {
  const { take, events, found, drift } = openStream()
  const texts = [true, false, 'true', 1, 'yes', 'false', 0]
  for (const term of texts) take('trade', block(term))
  assert.deepEqual(
    events.map((event) => event.kind === 'trade' && event.isBlock),
    [true, false, true, true, true, false, false],
  )
  const odd = ['true', '1', 'yes', 'false', '0'].map((term) => `trade.is_block_trade=${term} 1`)
  assert.deepEqual(found(), odd)
  take('trade', block(undefined))
  take('trade', block(null))
  take('trade', block(undefined))
  drift.checkShares()
  assert.deepEqual(found(), [...odd, 'trade.field=is_block_trade missing 1'])
})

test('records event fees of a type without a known formula as drift', () => {
  const { take, found } = openStream()
  const fees = (override: object) => take('event_fee_update', { event_ticker: 'E', ...override })
  fees({ fee_type_override: null, fee_multiplier_override: null })
  fees({ fee_type_override: 'quadratic', fee_multiplier_override: 0.5 })
  assert.deepEqual(found(), [])
  fees({ fee_type_override: 'cubic', fee_multiplier_override: null })
  fees({ fee_multiplier_override: 50 })
  fees({ fee_multiplier_override: -1 })
  fees({ fees: 'none' })
  assert.deepEqual(found(), [
    'series.fee_type=cubic 1',
    'series.fee_multiplier=50 1',
    'series.fee_multiplier=-1 1',
    'series.fee_type=unsaid 1',
  ])
})

test('marks the book of a message of unknown type as suspect, or all books if the message names no ticker', () => {
  const { take, seen, found } = openStream()
  take('book_delta', { market_ticker: 'A', price_dollars: '0.4', delta_fp: '1.00', side: 'yes' })
  take('book_change', { market_ticker: 'B', price_dollars: '0.4', size: '1.00', side: 'no' })
  take('book_image', { market_ticker: 'C', no_dollars_fp: [] })
  take('market_mood', { market_ticker: 'D', mood: 'calm' })
  take('book_delta', { delta_fp: '1.00' })
  assert.deepEqual(seen, ['lost A', 'lost B', 'lost C', 'lost null'])
  assert.equal(found().length, 4)
})

test('limits the number of unknown message names in the drift table', () => {
  const { take, drift } = openStream()
  for (let at = 0; at < 500; at += 1) take(`kind_${at}`, {})
  assert.ok(drift.entries().length < 70)
  assert.equal(
    drift.entries().reduce((sum, { count }) => sum + count, 0),
    500,
  )
})

test('rejects an added order outside the market’s price ranges and requests the book, and accepts a removal there', () => {
  const { take, seen, found, events, terms } = openStream()
  const row = { price_ranges: [{ start: '0.0000', end: '1.0000', step: '0.0100' }] }
  terms.note('A', { tradingEndsAtMs: null, grid: parsePriceGrid(row), shard: 0 })
  const delta = (price: string, count: string) =>
    take('orderbook_delta', {
      ...{ market_ticker: 'A', price_dollars: price, delta_fp: count, side: 'no' },
    })
  take('orderbook_snapshot', { market_ticker: 'A', no_dollars_fp: [['0.4450', '5.00']] })
  delta('0.4400', '5.00')
  delta('0.4450', '-5.00')
  delta('0.4450', '5.00')
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['bookSnapshot', 'bookChange', 'bookChange'],
  )
  assert.deepEqual(seen, ['off grid A', 'lost A'])
  assert.deepEqual(found(), ['book.off_grid=A 1'])
})

test('recognises a combination market with a series ticker by its listing and ignores its later messages', () => {
  const { take, events, combos } = openStream()
  const ticker = 'KXNFLGAME-S2026B3D8-930882'
  const trade = () =>
    take('trade', {
      ...{ trade_id: 't', market_ticker: ticker, yes_price_dollars: '0.4', count_fp: '1.00' },
      ...{ taker_side: 'yes', ts_ms: 1_790_000_000_000 },
    })
  trade()
  assert.equal(combos.note({ ticker: 'KXNFLGAME-26NOV23', mve_collection_ticker: '' }), null)
  const row = { ticker, event_ticker: 'KXNFLGAME-S2026B3D8', mve_collection_ticker: 'KXMVE-R' }
  assert.equal(combos.note(row), ticker)
  trade()
  take('market_lifecycle_v2', { market_ticker: ticker, event_type: 'created' })
  take('market_lifecycle_v2', { market_ticker: ticker, event_type: 'reborn' })
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['trade'],
  )
  assert.ok(combos.has('KXMVEX-1') && !combos.has('KXNFLGAME-26NOV23'))
  for (let at = 0; at < 60_000; at += 1) {
    combos.note({ ticker: `S-${at}`, mve_collection_ticker: 'KXMVE-R' })
  }
  assert.ok(combos.has('S-59999') && !combos.has(ticker), 'the oldest entries are evicted')
})
