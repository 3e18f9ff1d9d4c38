import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VenueEvent } from '../../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import { timeMs } from '../../../../engine/units.ts'
import { Tracks } from '../../../../engine/venues/polymarket/book/tracks.ts'
import { PolymarketMap } from '../../../../engine/venues/polymarket/map.ts'
import { parseFrame } from '../../../../engine/venues/polymarket/parse.ts'

const AT = timeMs(1_795_000_000_000)
const FIRST = '111'
const SECOND = '222'

/** The market's tokens are 111 and 222. `feed` returns the new events. */
function openMap() {
  const tracks = new Tracks()
  const events: VenueEvent[] = []
  const rejections: string[] = []
  const ticks: string[] = []
  const map = new PolymarketMap({
    tracks,
    emit: (event) => events.push(event),
    onRejected: (reason, track) => rejections.push(`${reason} ${track?.nativeId ?? ''}`.trim()),
    onBook: () => {},
    onLastTrade: () => {},
    onTick: (track) => ticks.push(track.nativeId),
    onFees: () => {},
  })
  const track = tracks.add({
    nativeId: nativeMarketId('0xabc'),
    outcomes: [outcomeId(FIRST), outcomeId(SECOND)],
    status: 'open',
    openAtMs: null,
    closeAtMs: null,
  })
  assert.ok(track !== null)
  tracks.cover(track.nativeId)
  const feed = (message: unknown): readonly VenueEvent[] => {
    events.length = 0
    const parsed = parseFrame(JSON.stringify(message))
    assert.equal(parsed.kind, 'messages')
    if (parsed.kind !== 'messages') return []
    for (const one of parsed.messages) {
      assert.notEqual(one.kind, 'rejected', JSON.stringify(one))
      if (one.kind !== 'rejected') map.map(one, AT)
    }
    return [...events]
  }
  return { feed, rejections, ticks, track }
}

const book = (asset: string, timestamp: number, bids: unknown[], asks: unknown[]) => ({
  event_type: 'book',
  asset_id: asset,
  market: '0xabc',
  timestamp: String(timestamp),
  hash: `h${asset}`,
  bids,
  asks,
})
const level = (price: string, size: string) => ({ price, size })
const entry = (asset: string, side: 'BUY' | 'SELL', price: string, size: string, more = {}) => ({
  asset_id: asset,
  side,
  price,
  size,
  ...more,
})
const change = (entries: unknown[], timestamp = 1_795_000_000_001) => ({
  event_type: 'price_change',
  market: '0xabc',
  timestamp: String(timestamp),
  price_changes: entries,
})

test('merges the price entries of a market’s two tokens into one change of the first token’s book', () => {
  const { feed } = openMap()
  const [event, ...rest] = feed(
    change([
      entry(FIRST, 'BUY', '0.51', '150', { best_bid: '0.51', best_ask: '0.52', hash: 'x' }),
      entry(SECOND, 'SELL', '0.49', '150', { best_bid: '0.48', best_ask: '0.49', hash: 'y' }),
    ]),
  )
  assert.equal(rest.length, 0)
  assert.deepEqual(event, {
    kind: 'bookChange',
    venue: 'a',
    venueTimeMs: 1_795_000_000_001,
    receivedAtMs: AT,
    outcome: FIRST,
    mode: 'absolute',
    changes: [{ side: 'bid', price: 510_000, size: 150_000_000 }],
    top: { bid: 510_000, ask: 520_000 },
  })
})

test('converts price entries that name the second token to the first token’s side and price', () => {
  const { feed } = openMap()
  const [event] = feed(
    change([entry(SECOND, 'BUY', '0.3', '7', { best_bid: '0.3', best_ask: '' })]),
  )
  assert.ok(event?.kind === 'bookChange')
  assert.equal(event.outcome, FIRST)
  assert.deepEqual(event.changes, [{ side: 'ask', price: 700_000, size: 7_000_000 }])
  assert.deepEqual(event.top, { bid: null, ask: 700_000 })
})

test('includes a book level that the second token has and the first token lacks', () => {
  const { feed } = openMap()
  const [event] = feed(
    change([
      entry(FIRST, 'BUY', '0.51', '1'),
      entry(SECOND, 'SELL', '0.49', '1'),
      entry(SECOND, 'BUY', '0.40', '0'),
    ]),
  )
  assert.ok(event?.kind === 'bookChange')
  assert.deepEqual(event.changes, [
    { side: 'bid', price: 510_000, size: 1_000_000 },
    { side: 'ask', price: 600_000, size: 0 },
  ])
  assert.equal(event.top, null)
})

test('reads absent best prices as unknown, and null, empty, 0 or 1 as an empty side', () => {
  const { feed } = openMap()
  const topOf = (more: object) => {
    const [event] = feed(change([entry(FIRST, 'BUY', '0.5', '1', more)]))
    assert.ok(event?.kind === 'bookChange')
    return event.top
  }
  assert.equal(topOf({}), null)
  assert.equal(topOf({ best_bid: '0.5' }), null)
  assert.deepEqual(topOf({ best_bid: '0.5', best_ask: '' }), { bid: 500_000, ask: null })
  assert.deepEqual(topOf({ best_bid: '0.5', best_ask: null }), { bid: 500_000, ask: null })
  assert.deepEqual(topOf({ best_bid: '0', best_ask: '1' }), { bid: null, ask: null })
  assert.deepEqual(topOf({ best_bid: '0.5', best_ask: '0' }), { bid: 500_000, ask: null })
})

test('emits the first of two simultaneous copies of a book, and corrects it by the first token’s copy', () => {
  const { feed } = openMap()
  const time = 1_795_000_000_100
  const own = (size: string) => book(FIRST, time, [level('0.4', size)], [level('0.6', '0')])
  const matchedMarket = (size: string) => book(SECOND, time, [], [level('0.6', size)])
  const sizes = (events: readonly VenueEvent[]) =>
    events.map((event) => (event.kind === 'bookSnapshot' ? event.bids[0]?.size : null))
  assert.deepEqual(sizes(feed([own('1'), matchedMarket('1')])), [1_000_000])
  assert.deepEqual(sizes(feed([matchedMarket('2'), own('2')])), [2_000_000, 2_000_000])
  assert.deepEqual(
    sizes(feed([own('3'), own('4'), matchedMarket('3'), matchedMarket('4')])),
    [3_000_000, 4_000_000],
  )
  assert.deepEqual(
    sizes(feed([matchedMarket('5'), matchedMarket('6'), own('5'), own('6')])),
    [5_000_000, 6_000_000, 6_000_000],
  )
  const [event] = feed(book(SECOND, time + 1, [level('0.1', '2')], [level('0.35', '3')]))
  assert.ok(event?.kind === 'bookSnapshot')
  assert.deepEqual(event.bids, [{ price: 650_000, size: 3_000_000 }])
  assert.deepEqual(event.asks, [{ price: 900_000, size: 2_000_000 }])
  assert.equal(event.outcome, FIRST)
  assert.equal(event.isInOrder, true)
})

test('includes a level that the first of two simultaneous books contains and the second lacks', () => {
  const time = 1_795_000_000_100
  const own = book(FIRST, time, [level('0.4', '1')], [level('0.6', '5')])
  const poorer = book(SECOND, time, [], [level('0.6', '1')])
  const asksAfter = (frames: unknown) => {
    const { feed } = openMap()
    let asks: readonly unknown[] = []
    for (const event of feed(frames)) if (event.kind === 'bookSnapshot') asks = event.asks
    return asks
  }
  const complete = [{ price: 600_000, size: 5_000_000 }]
  assert.deepEqual(asksAfter([poorer, own]), complete)
  assert.deepEqual(asksAfter([own, poorer]), complete)
  // An unreadable book of the second token must not block the first token's book.
  assert.deepEqual(asksAfter([book(SECOND, time, [level('7', '1')], []), own]), complete)
})

test('ignores a copy of a book that arrives after a newer change', () => {
  const time = 1_795_000_000_100
  const own = book(FIRST, time, [level('0.4', '1')], [level('0.6', '5')])
  const matchedMarket = book(SECOND, time, [level('0.4', '5')], [level('0.6', '1')])
  const sold = change([entry(FIRST, 'SELL', '0.6', '0')], time)
  const ticked = {
    ...{ event_type: 'tick_size_change', asset_id: FIRST, market: '0xabc' },
    ...{ old_tick_size: '0.01', new_tick_size: '0.001', timestamp: String(time) },
  }
  for (const between of [sold, ticked]) {
    const { feed } = openMap()
    feed([matchedMarket, between])
    assert.deepEqual(feed(own), [], between.event_type)
  }
})

test('skips a copy of a book with an older timestamp until a new subscription resets the check', () => {
  const { feed, track } = openMap()
  const time = 1_795_000_000_100
  feed(book(FIRST, time, [level('0.4', '1')], []))
  assert.equal(feed(book(SECOND, time - 5, [], [])).length, 0)
  feed(book(SECOND, time, [], []))
  track.reset()
  assert.equal(feed(book(SECOND, time - 5, [], [])).length, 1)
})

test('refuses a price that is impossible or has more than six decimals, and reports the market of the price', () => {
  const { feed, rejections } = openMap()
  assert.equal(feed(change([entry(FIRST, 'BUY', '0.1234567', '1')])).length, 0)
  assert.equal(feed(change([entry(FIRST, 'BUY', '1.5', '1')])).length, 0)
  assert.equal(feed(change([entry(FIRST, 'BUY', '0.5', '1e300')])).length, 0)
  assert.equal(feed(book(FIRST, 1_795_000_000_100, [level('-0.1', '1')], [])).length, 0)
  assert.equal(feed(book(FIRST, 9e17, [], [])).length, 0)
  assert.deepEqual(rejections, [
    'price 0xabc',
    'price 0xabc',
    'size 0xabc',
    'price 0xabc',
    'timestamp 0xabc',
  ])
})

test('converts the last price to a price of the first token without changing the book', () => {
  const { feed } = openMap()
  const message = { event_type: 'last_trade_price', price: '0.3', timestamp: '1795000000200' }
  const [own] = feed({ ...message, asset_id: FIRST })
  const [other] = feed({ ...message, asset_id: SECOND })
  const [unknown] = feed({ ...message, asset_id: '999' })
  assert.ok(own?.kind === 'lastPrice' && own.price === 300_000 && own.outcome === FIRST)
  assert.ok(other?.kind === 'lastPrice' && other.price === 700_000 && other.outcome === FIRST)
  assert.ok(unknown?.kind === 'lastPrice' && unknown.price === 300_000)
  assert.equal(unknown.outcome, '999')
})

test('reports a tick size change once for the two tokens of a market, and requests a snapshot', () => {
  const { feed, ticks } = openMap()
  const tick = (asset: string, to: string, time: number) => ({
    event_type: 'tick_size_change',
    asset_id: asset,
    market: '0xabc',
    old_tick_size: '0.01',
    new_tick_size: to,
    timestamp: String(time),
  })
  const time = 1_795_000_000_300
  const events = feed([tick(FIRST, '0.001', time), tick(SECOND, '0.001', time)])
  assert.deepEqual(
    events.map((event) => event.kind === 'tickSize' && event.tickMicros),
    [1_000],
  )
  assert.equal(feed(tick(FIRST, '0.01', time + 10)).length, 1)
  assert.equal(feed(tick(FIRST, '0.001', time + 60_000)).length, 1)
  assert.equal(ticks.length, 3)
})

test('reports new and resolved markets, whether or not they are watched', () => {
  const { feed } = openMap()
  const resolved = {
    event_type: 'market_resolved',
    market: '0xelse',
    assets_ids: ['7', '8'],
    timestamp: '1795000000400',
  }
  const priceOf = (message: object) => {
    const [event] = feed(message)
    assert.ok(event?.kind === 'marketStatus' && event.status === 'resolved')
    return event.settlementPrice
  }
  assert.equal(priceOf({ ...resolved, winning_asset_id: '7' }), 1_000_000)
  assert.equal(priceOf({ ...resolved, winning_asset_id: '8' }), 0)
  assert.equal(priceOf(resolved), null)
  assert.equal(feed(resolved)[1]?.kind, 'marketSeen')
  const [seen] = feed({ event_type: 'new_market', market: '0xnew', timestamp: '1795000000500' })
  assert.ok(seen?.kind === 'marketSeen' && seen.market === '0xnew')
})

test('skips the second token’s copy of a change in the format of 2025', () => {
  const { feed } = openMap()
  const old = (asset: string, side: 'BUY' | 'SELL', price: string) => ({
    event_type: 'price_change',
    asset_id: asset,
    timestamp: '1750216816861',
    hash: 'h',
    changes: [{ price, side, size: '150.0' }],
  })
  const [event] = feed(old(FIRST, 'BUY', '0.32'))
  assert.ok(event?.kind === 'bookChange')
  assert.deepEqual(event.changes, [{ side: 'bid', price: 320_000, size: 150_000_000 }])
  assert.equal(event.top, null)
  assert.equal(feed(old(SECOND, 'SELL', '0.68')).length, 0)
})
