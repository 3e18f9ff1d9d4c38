import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { VenueEvent } from '../../../../engine/events.ts'
import { timeMs } from '../../../../engine/units.ts'
import { mapMessage, mapTrade, type Refusal } from '../../../../engine/venues/kalshi/map.ts'
import type {
  DataMessage,
  LifecycleMessage,
  TradeMessage,
} from '../../../../engine/venues/kalshi/messages.ts'
import { parseFrame } from '../../../../engine/venues/kalshi/parse.ts'

const NOW = timeMs(1_790_000_000_000)

function map(message: DataMessage): { events: VenueEvent[]; refusal: Refusal | null } {
  const events: VenueEvent[] = []
  const refusal = mapMessage(message, NOW, (event) => events.push(event))
  return { events, refusal }
}

const delta = (more: object): DataMessage => ({
  kind: 'orderbookDelta',
  sid: 1,
  seq: 2,
  ticker: 'T',
  price: '0.4400',
  delta: '10.00',
  side: 'yes',
  timeMs: 1_789_999_999_900,
  ...more,
})
const trade = (more: object = {}): TradeMessage => ({
  kind: 'trade',
  sid: 1,
  seq: 2,
  tradeId: 'id-1',
  ticker: 'T',
  yesPrice: '0.3600',
  noPrice: '0.6400',
  count: '12.50',
  taker: 'yes',
  timeMs: 1_789_999_999_900,
  block: false,
  ...more,
})
const lifecycle = (change: string, more: object = {}): DataMessage => {
  const base = {
    sid: 1,
    seq: 1,
    ticker: 'T',
    openAtMs: null,
    closeAtMs: null,
    timeMs: null,
    priceRanges: null,
  }
  const message = { kind: 'lifecycle' as const, ...base, result: null, settlementValue: null }
  switch (change) {
    case 'created':
    case 'activated':
    case 'deactivated':
    case 'determined':
    case 'settled':
    case 'metadata_updated':
      return { ...message, change, ...more }
    default:
      return assert.fail(change)
  }
}

describe('conversion of Kalshi messages', () => {
  it('builds one book in Yes prices from both sides: a bid for No at p is an ask at 1 - p', () => {
    const { events } = map({
      kind: 'orderbookSnapshot',
      sid: 1,
      seq: 1,
      ticker: 'T',
      yes: [['0.4400', '10.00']],
      no: [
        ['0.5400', '3.00'],
        ['0.0010', '7.25'],
      ],
    })
    const book = events[0]
    assert.ok(book?.kind === 'bookSnapshot')
    assert.deepEqual(book.bids, [{ price: 440_000, size: 10_000_000 }])
    assert.deepEqual(book.asks, [
      { price: 460_000, size: 3_000_000 },
      { price: 999_000, size: 7_250_000 },
    ])
    assert.deepEqual([book.outcome, book.isInOrder], ['T', true])
  })

  it('converts a delta of the Yes side or the No side to a change of the Yes book', () => {
    const yes = map(delta({ delta: '-4.00' })).events[0]
    assert.ok(yes?.kind === 'bookChange')
    assert.equal(yes.mode, 'difference')
    assert.deepEqual(yes.changes, [{ side: 'bid', price: 440_000, size: -4_000_000 }])
    assert.deepEqual([yes.venueTimeMs, yes.receivedAtMs], [1_789_999_999_900, NOW])
    const no = map(delta({ side: 'no' })).events[0]
    assert.ok(no?.kind === 'bookChange')
    assert.deepEqual(no.changes, [{ side: 'ask', price: 560_000, size: 10_000_000 }])
  })

  for (const [name, more] of [
    ['a price above 1', { price: '1.0001' }],
    ['a negative price', { price: '-0.1' }],
    ['a price with seven decimals', { price: '0.1234567' }],
    ['a price that is no number', { price: '0x1' }],
    ['a size above the safe integers', { delta: '9007199254740993' }],
    ['an infinite size', { delta: 'Infinity' }],
    ['more than a thousand million contracts', { delta: '1000000001' }],
    ['less than minus a thousand million contracts', { delta: '-1000000001' }],
  ] as const) {
    it(`refuses a book delta with ${name}`, () => {
      const { events, refusal } = map(delta(more))
      assert.deepEqual([events.length, refusal?.kind], [0, 'rejected'])
    })
  }

  it('omits levels at price 0 or 1 from a book and includes all other levels', () => {
    const book: DataMessage = {
      ...{ kind: 'orderbookSnapshot', sid: 1, seq: 1, ticker: 'T' },
      yes: [['0.4000', '10.00']],
      no: [
        ['0.5000', '10.00'],
        ['1.0000', '2.00'],
      ],
    }
    let published = 0
    const events: VenueEvent[] = []
    const refusal = mapMessage(
      book,
      NOW,
      (event) => events.push(event),
      undefined,
      () => {
        published += 1
      },
    )
    const [read] = events
    assert.ok(refusal === null && read?.kind === 'bookSnapshot')
    assert.deepEqual(read.bids, [{ price: 400_000, size: 10_000_000 }])
    assert.deepEqual(read.asks, [{ price: 500_000, size: 10_000_000 }])
    assert.equal(published, 1)
    for (const price of ['1.0000', '0']) {
      const { events: changes, refusal: ignored } = map(delta({ price }))
      assert.deepEqual([changes.length, ignored?.kind], [0, 'ignored'], price)
    }
  })

  it('converts a trade whose taker bought No to a buy of the second outcome at the price of No', () => {
    const yes = mapTrade(trade(), NOW, 'stream')
    assert.ok(yes.kind === 'trade')
    const expected = ['T', 'buy', 360_000, 12_500_000, 'id-1']
    assert.deepEqual([yes.outcome, yes.side, yes.price, yes.size, yes.nativeId], expected)
    const no = mapTrade(trade({ taker: 'no' }), NOW, 'backfill')
    assert.ok(no.kind === 'trade')
    assert.deepEqual([no.outcome, no.side, no.price], ['T:no', 'buy', 640_000])
    assert.deepEqual([no.market, no.source], ['T', 'backfill'])
    const unstated = mapTrade(trade({ taker: 'no', noPrice: null }), NOW, 'stream')
    assert.ok(unstated.kind === 'trade')
    assert.equal(unstated.price, 640_000)
    assert.equal(mapTrade(trade({ count: '0.00' }), NOW, 'stream').kind, 'rejected')
  })

  it('converts lifecycle messages to statuses, and reports markets whose listing must be requested', () => {
    const published = (message: DataMessage) =>
      map(message).events.map((event) =>
        event.kind === 'marketStatus' ? `${event.status} ${event.settlementPrice}` : event.kind,
      )
    assert.deepEqual(published(lifecycle('created')), ['marketSeen'])
    assert.deepEqual(published(lifecycle('metadata_updated')), ['marketSeen'])
    assert.deepEqual(published(lifecycle('activated')), ['open null'])
    assert.deepEqual(published(lifecycle('deactivated')), ['closed null'])
    assert.deepEqual(published(lifecycle('determined', { result: 'yes' })), [
      'closed 1000000',
      'marketSeen',
    ])
    const settled = (more: object) => published(lifecycle('settled', more))[0]
    assert.equal(settled({ result: 'yes' }), 'resolved 1000000')
    assert.equal(settled({ result: 'no' }), 'resolved 0')
    assert.equal(settled({ result: 'scalar', settlementValue: '0.5000' }), 'resolved 500000')
    assert.equal(settled({}), 'resolved null')
  })

  it('reports the resolution status when a market is determined, settled or reactivated', () => {
    const stated = (change: LifecycleMessage['change']) => {
      const [event] = map(lifecycle(change, { result: 'no' })).events
      return event?.kind === 'marketStatus' ? event.resolutionStatus : event?.kind
    }
    assert.equal(stated('determined'), 'proposed')
    assert.equal(stated('settled'), 'resolved')
    assert.equal(stated('activated'), 'none')
    assert.equal(stated('deactivated'), undefined)
  })

  it('reads a settlement value in text form as dollars and an integer as cents', () => {
    const payout = (more: object) => {
      const msg = { market_ticker: 'KXTEST-26NOV26-A', event_type: 'settled', ...more }
      const message = parseFrame(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, msg }))
      assert.ok(message.kind === 'lifecycle')
      const [event] = map(message).events
      assert.ok(event?.kind === 'marketStatus' && event.status === 'resolved')
      return event.settlementPrice
    }
    assert.equal(payout({ settlement_value: 1 }), 10_000)
    assert.equal(payout({ settlement_value: 100 }), 1_000_000)
    assert.equal(payout({ settlement_value: 37, result: 'scalar' }), 370_000)
    assert.equal(payout({ settlement_value: '0.3700', result: 'scalar' }), 370_000)
    assert.equal(payout({ settlement_value: '1.0000' }), 1_000_000)
    // The number may be in dollars or cents, so only the result is reliable.
    assert.equal(payout({ settlement_value: 1, result: 'yes' }), 1_000_000)
    assert.equal(payout({ settlement_value: 0, result: 'no' }), 0)
    for (const none of [{ settlement_value: 101 }, { settlement_value: 0.5 }, { result: 'void' }]) {
      assert.equal(payout(none), null)
    }
    assert.equal(payout({ result: '' }), null)
  })

  it('ignores messages of combination markets without counting them as refused', () => {
    assert.deepEqual(map(delta({ ticker: 'KXMVENFL-1' })).refusal, {
      kind: 'ignored',
      reason: 'combo',
    })
  })

  it('reads last price, volume and open interest from a ticker message with the venue’s time', () => {
    const at = {
      kind: 'ticker' as const,
      sid: 1,
      ticker: 'T',
      timeMs: NOW - 50,
      tradesToMs: NOW - 40,
    }
    const ticker = { ...at, price: '0.4100', volume: '1000.50', openInterest: '12.00' }
    const event = map(ticker).events[0]
    assert.ok(event?.kind === 'figures')
    const { lastPrice, volumeTotal, openInterest, tradesToMs, volume24h, previousPrice } = event
    assert.deepEqual([lastPrice, volumeTotal, openInterest], [410_000, 1_000_500_000, 12_000_000])
    assert.deepEqual([tradesToMs, volume24h, previousPrice], [NOW - 40, null, null])
    const untraded = { ...ticker, price: '0.0000', volume: null, openInterest: null }
    assert.equal(map(untraded).refusal?.reason, 'never_traded')
    const first = map({ ...ticker, price: '0.0000' }).events[0]
    assert.ok(first?.kind === 'figures' && first.lastPrice === null)
    assert.equal(map({ ...ticker, volume: '-1' }).refusal?.reason, 'ticker_numbers')
  })
})
