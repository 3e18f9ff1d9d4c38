import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EventListing, MarketListing } from '../../../../../engine/market/market.ts'
import { termsOf } from '../../../../../engine/venues/kalshi/catalog/fees.ts'
import {
  parseEvent,
  parseMarket,
  parseSeries,
  type Series,
} from '../../../../../engine/venues/kalshi/catalog/listing.ts'

const SERIES = new Map<string, Series>([
  ['KXNFLGAME', { ticker: 'KXNFLGAME', category: 'Sports', tags: ['Football'], fees: termsOf({}) }],
])
const EVENT = {
  event_ticker: 'KXNFLGAME-25AUG07CINPHI',
  series_ticker: 'KXNFLGAME',
  title: 'Cincinnati at Philadelphia',
  sub_title: 'CIN at PHI (Aug 7)',
  category: 'Sports',
  mutually_exclusive: true,
  markets: [],
}
const MARKET = {
  ticker: 'KXNFLGAME-25AUG07CINPHI-CIN',
  event_ticker: 'KXNFLGAME-25AUG07CINPHI',
  market_type: 'binary',
  title: 'Will Cincinnati win?',
  yes_sub_title: 'Cincinnati',
  status: 'active',
  created_time: '0001-01-01T00:00:00Z',
  open_time: '2025-08-01T12:00:00Z',
  close_time: '2025-08-21T23:00:00Z',
  expected_expiration_time: '2025-08-08T02:00:00Z',
  yes_bid_dollars: '0.4100',
  yes_ask_dollars: '0.4200',
  last_price_dollars: '0.4150',
  volume_fp: '1000.50',
  volume_24h_fp: '100.00',
  open_interest_fp: '321.25',
  rules_primary: 'If …',
  rules_secondary: '',
  price_ranges: [
    { start: '0.0000', end: '0.1000', step: '0.0010' },
    { start: '0.1000', end: '1.0000', step: '0.0100' },
  ],
  result: '',
}

function event(more: object = {}): EventListing {
  const row = parseEvent({ ...EVENT, ...more }, SERIES)
  assert.ok(row.kind === 'event')
  return row.listing
}

function market(more: object = {}, of: EventListing | null = event()): MarketListing {
  const row = parseMarket({ ...MARKET, ...more }, of)
  assert.ok(row.kind === 'market', JSON.stringify(row))
  return row.listing
}

function reason(more: object): string {
  const row = parseMarket({ ...MARKET, ...more }, event())
  assert.ok(row.kind === 'rejected')
  return row.reason
}

describe('Kalshi market listing', () => {
  it('builds the ids, slugs, links and texts of a market listing', () => {
    const listing = market()
    assert.equal(listing.nativeId, 'KXNFLGAME-25AUG07CINPHI-CIN')
    assert.equal(listing.slug, 'kxnflgame-25aug07cinphi-cin')
    assert.equal(listing.eventSlug, 'kxnflgame-25aug07cinphi')
    assert.equal(listing.url, 'https://kalshi.com/markets/kxnflgame')
    assert.ok(listing.image?.endsWith('/KXNFLGAME.webp'))
    assert.deepEqual(
      listing.outcomes.map(({ label, id }) => `${label} ${id}`),
      ['Yes KXNFLGAME-25AUG07CINPHI-CIN', 'No KXNFLGAME-25AUG07CINPHI-CIN:no'],
    )
    assert.deepEqual([listing.category, listing.tags], ['Sports', ['Football']])
    assert.equal(listing.description, 'If …')
  })

  it('builds a market’s question from the titles of event and market without repeating words', () => {
    assert.equal(market().question, 'Cincinnati at Philadelphia: Cincinnati')
    const requested = event({ title: 'Who will win?' })
    assert.equal(market({}, requested).question, 'Who will win? Cincinnati')
    assert.equal(market({ yes_sub_title: 'who will win?' }, requested).question, 'Who will win?')
    assert.equal(market({ yes_sub_title: '' }, requested).question, 'Who will win?')
    const alone = event({ event_ticker: 'KXMARS-99', title: 'Will Musk visit Mars?' })
    const only = { ticker: 'KXMARS-99', event_ticker: 'KXMARS-99', yes_sub_title: 'Mars' }
    assert.equal(market(only, alone).question, 'Will Musk visit Mars?')
    assert.equal(market({}, null).question, 'Will Cincinnati win?')
  })

  it('reports volumes in contracts, independent of the last price', () => {
    const listing = market()
    assert.equal(listing.volume24h, 100_000_000)
    assert.equal(listing.volumeTotal, 1_000_500_000)
    const fallen = market({ last_price_dollars: '0.0100' })
    assert.equal(fallen.volumeTotal, listing.volumeTotal)
    assert.equal(listing.openInterest, 321_250_000)
    assert.equal(market({ last_price_dollars: '0.0000' }).volume24h, 100_000_000)
    assert.equal(
      market({ volume_24h_fp: '99999999999999' }).volume24h,
      0,
      'an impossible volume is dropped',
    )
  })

  it('sets the minimum order to one contract without fractional trading, and detects payouts that the venue sets', () => {
    assert.equal(market().orderSizeMin, 10_000)
    assert.equal(market({ fractional_trading_enabled: true }).orderSizeMin, 10_000)
    assert.equal(market({ fractional_trading_enabled: false }).orderSizeMin, 1_000_000)
    assert.equal(market().otherPayout, 'venue', 'a game')
    const politics = event({ series_ticker: 'KXPRES', category: 'Politics' })
    assert.equal(market({}, politics).otherPayout, null)
    const named = { rules_secondary: 'It settles at the last traded price.' }
    assert.equal(market(named, politics).otherPayout, 'venue')
  })

  it('sets the close time of a game to its expected end, and of other markets to their close time', () => {
    const endMs = Date.UTC(2025, 7, 8, 2)
    const closeMs = Date.UTC(2025, 7, 21, 23)
    assert.equal(market().closeAtMs, endMs)
    const row = parseMarket(MARKET, event())
    assert.ok(row.kind === 'market')
    assert.equal(row.tradingEndsAtMs, closeMs, 'timers use the end of trading')
    const politics = event({ series_ticker: 'KXPRES', category: 'Politics' })
    assert.equal(market({}, politics).closeAtMs, closeMs)
    assert.equal(
      market().createdAtMs,
      Date.UTC(2025, 7, 1, 12),
      'year 1 means that the time is absent',
    )
  })

  it('maps every status of the venue to a market status', () => {
    const terms = ['active', 'inactive', 'closed', 'determined', 'disputed', 'amended', 'finalized']
    const expected = ['open', 'closed', 'closed', 'closed', 'closed', 'closed', 'resolved']
    assert.deepEqual(
      terms.map((status) => market({ status }).status),
      expected,
    )
    const unopened = market({ status: 'initialized' })
    assert.deepEqual([unopened.status, unopened.isUnopened], ['closed', true])
    assert.equal(reason({ status: 'dreaming' }), 'market_status')
  })

  it('takes the payout from the settlement value, otherwise from the result, and uses the time of the settlement', () => {
    const payout = (more: object) => market({ status: 'finalized', ...more }).settlementPrice
    assert.equal(payout({ result: 'yes' }), 1_000_000)
    assert.equal(payout({ result: 'no', settlement_value_dollars: '0.0000' }), 0)
    assert.equal(payout({ result: 'scalar', settlement_value_dollars: '0.3700' }), 370_000)
    assert.equal(payout({ result: 'scalar', settlement_value: 37 }), 370_000)
    for (const result of ['', 'void']) assert.equal(payout({ result }), null)
    const settled = { status: 'finalized', settlement_ts: '2025-11-20T12:00:00.5Z' }
    assert.equal(market(settled).settledAtMs, Date.UTC(2025, 10, 20, 12, 0, 0, 500))
    assert.equal(market({ ...settled, status: 'determined' }).settledAtMs, null)
  })

  it('returns a market’s resolution status, and the result unless it is disputed', () => {
    const stated = (status: string) => {
      const listing = market({ status, result: 'yes', settlement_value_dollars: '1.0000' })
      return [listing.status, listing.resolutionStatus, listing.settlementPrice]
    }
    assert.deepEqual(stated('active'), ['open', 'none', null])
    assert.deepEqual(stated('closed'), ['closed', 'none', null])
    assert.deepEqual(stated('determined'), ['closed', 'proposed', 1_000_000])
    assert.deepEqual(stated('disputed'), ['closed', 'disputed', null])
    assert.deepEqual(stated('amended'), ['closed', 'proposed', 1_000_000])
    assert.deepEqual(stated('finalized'), ['resolved', 'resolved', 1_000_000])
  })

  it('reads empty book sides, the finest tick and legacy integer fields of a market row', () => {
    const bare = market({ yes_bid_dollars: '0.0000', yes_ask_dollars: '1.0000' })
    assert.deepEqual([bare.bestBid, bare.bestAsk], [null, null])
    assert.equal(bare.tickMicros, 1_000)
    const { yes_bid_dollars: _, volume_fp: __, price_ranges: ___, ...old } = MARKET
    const row = parseMarket({ ...old, yes_bid: 41, volume: 1_000, tick_size: 1 }, event())
    assert.ok(row.kind === 'market')
    const { bestBid, volumeTotal, tickMicros } = row.listing
    assert.deepEqual([bestBid, volumeTotal, tickMicros], [410_000, 1_000_000_000, 10_000])
  })

  it('refuses combinations and scalar markets with a specific reason', () => {
    assert.equal(reason({ ticker: 'KXMVENFL-X' }), 'combo')
    assert.equal(reason({ mve_collection_ticker: 'KXMVE' }), 'combo')
    assert.equal(reason({ market_type: 'scalar' }), 'not_binary')
    assert.equal(reason({ ticker: 7 }), 'market_ticker')
    for (const row of [null, 5, [], 'x']) assert.equal(parseMarket(row, null).kind, 'rejected')
    for (const row of [null, {}, { ticker: '' }]) assert.ok('kind' in parseSeries(row))
    const bad = parseEvent({ event_ticker: 'X' }, SERIES)
    assert.ok(bad.kind === 'rejected')
  })
})
