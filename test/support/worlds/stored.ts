import {
  accountId,
  keyId,
  nativeEventId,
  nativeMarketId,
  outcomeId,
  type VenueKey,
} from '../../../engine/ids.ts'
import { type Bar, type BarSize, barOf } from '../../../engine/market/candle.ts'
import { CURVE_ZERO, type MarketFees } from '../../../engine/market/fees.ts'
import type { EventListing, MarketListing, MarketNumber } from '../../../engine/market/market.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type {
  AccountRecord,
  BookSnapshot,
  Checkpoint,
  EventSummary,
  KeyRecord,
  MarketSummary,
  StoredTrade,
  TradedMarket,
} from '../../../storage/contract/storage.ts'

/** 20 November 2026, noon UTC. */
export const NOON_MS = Date.UTC(2026, 10, 20, 12)

export const SOME_FEES: MarketFees = {
  now: {
    kind: 'quadratic',
    taker: { rateMicros: 70_000, exponent: 1, multiplierMicros: 500_000 },
    maker: CURVE_ZERO,
    rounding: { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 },
    rebateMicros: 200_000,
    source: 'an answer',
    sinceMs: timeMs(NOON_MS - 1_000),
  },
  next: {
    kind: 'flat',
    taker: null,
    maker: null,
    rounding: { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null },
    rebateMicros: null,
    source: null,
    sinceMs: timeMs(NOON_MS + 1_000),
  },
  waivedUntilMs: timeMs(NOON_MS + 2_000),
}

export function marketListing(id: string, changes: Partial<MarketListing> = {}): MarketListing {
  return {
    venue: 'a',
    nativeId: nativeMarketId(id),
    slug: `slug-${id}`,
    question: `Will ${id} happen?`,
    description: `The rules of ${id}.`,
    status: 'open',
    isUnopened: false,
    outcomes: [
      { label: 'Yes', id: outcomeId(`${id}-yes`) },
      { label: 'No', id: outcomeId(`${id}-no`) },
    ],
    event: nativeEventId(`event-${id}`),
    eventSlug: `event-${id}`,
    category: 'Politics',
    tags: ['Politics', 'Elections'],
    image: null,
    url: `https://example.com/${id}`,
    createdAtMs: timeMs(NOON_MS - 86_400_000),
    openAtMs: null,
    closeAtMs: timeMs(NOON_MS + 86_400_000),
    tickMicros: priceMicros(1_000),
    lastPrice: priceMicros(415_000),
    bestBid: priceMicros(410_000),
    bestAsk: null,
    volume24h: usdMicros(9_007_199_254_740_991),
    volumeTotal: null,
    openInterest: sizeMicros(0),
    previousPrice: priceMicros(405_000),
    figuresAtMs: timeMs(NOON_MS),
    dayFiguresAtMs: null,
    settlementPrice: null,
    fees: SOME_FEES,
    orderSizeMin: null,
    otherPayout: null,
    resolutionStatus: 'none',
    settledAtMs: null,
    native: { condition: id, nested: { list: [1, 0.5, null, 'x', true] }, text: 'é😀' },
    ...changes,
  }
}

export function marketSummary(listing: MarketListing): MarketSummary {
  const { description, native, ...summary } = listing
  void description
  void native
  return summary
}

export function eventListing(id: string, changes: Partial<EventListing> = {}): EventListing {
  return {
    venue: 'b',
    nativeId: nativeEventId(id),
    slug: id.toLowerCase(),
    title: `The event ${id}`,
    description: null,
    series: 'KXSERIES',
    category: null,
    tags: [],
    image: null,
    startAtMs: null,
    endAtMs: timeMs(NOON_MS),
    isMutuallyExclusive: true,
    winnerAmong: null,
    native: { event_ticker: id },
    ...changes,
  }
}

export function eventSummary(listing: EventListing): EventSummary {
  const { description, native, ...summary } = listing
  void description
  void native
  return summary
}

/** The market argument of `trades.put`. */
export function traded(number: MarketNumber, venue: VenueKey = 'a'): TradedMarket {
  return { number, venue }
}

export function trade(
  nativeId: string,
  changes: Partial<Omit<StoredTrade, 'ordinal' | 'nativeId'>> = {},
): Omit<StoredTrade, 'ordinal'> {
  return {
    nativeId,
    timeMs: timeMs(NOON_MS),
    price: priceMicros(415_000),
    size: sizeMicros(100_000_000),
    side: 'buy',
    outcomeIndex: 0,
    usd: usdMicros(41_500_000),
    maker: null,
    taker: '0x00000000000000000000000000000000000000aa',
    txHash: null,
    isBlock: false,
    receivedAtMs: timeMs(NOON_MS + 5),
    run: null,
    offset: null,
    seq: null,
    ...changes,
  }
}

/** A bar of one trade. The given values need not be consistent. */
export function bar(size: BarSize, startMs: number, changes: Partial<Bar> = {}): Bar {
  const first = { ...trade('bar', { timeMs: timeMs(startMs) }), ordinal: 0 }
  return { ...barOf(size, first), ...changes }
}

export function snapshot(atMs: number, changes: Partial<BookSnapshot> = {}): BookSnapshot {
  return {
    timeMs: timeMs(atMs),
    bids: [
      { price: priceMicros(410_000), size: sizeMicros(12_500_000) },
      { price: priceMicros(400_000), size: sizeMicros(1_000_000) },
    ],
    asks: [{ price: priceMicros(420_000), size: sizeMicros(90_000_000) }],
    bidDepth: sizeMicros(13_500_000),
    askDepth: sizeMicros(95_250_000),
    ...changes,
  }
}

export function checkpoint(changes: Partial<Checkpoint> = {}): Checkpoint {
  return {
    writtenAtMs: timeMs(NOON_MS),
    price: priceMicros(415_000),
    priceSource: 'midpoint',
    lastTradePrice: null,
    lastTradeMs: null,
    bookTimeMs: timeMs(NOON_MS - 1),
    bids: [{ price: priceMicros(410_000), size: sizeMicros(1) }],
    asks: [
      { price: priceMicros(420_000), size: sizeMicros(9_007_199_254_740_991) },
      { price: priceMicros(1_000_000), size: sizeMicros(5) },
    ],
    ...changes,
  }
}

export function account(id: string, changes: Partial<AccountRecord> = {}): AccountRecord {
  return {
    id: accountId(`acc_${id}`),
    email: `${id}@example.com`,
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    tier: 'free',
    requestsPerMinute: null,
    socketsMax: null,
    createdAtMs: timeMs(NOON_MS),
    isDisabled: false,
    tokenGeneration: 0,
    ...changes,
  }
}

export function key(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: keyId(`key_${id}`),
    accountId: accountId('acc_one'),
    hash: 'ab'.repeat(32),
    prefix: 'pmk_abcd',
    label: 'laptop',
    scopes: ['read', 'webhooks'],
    createdAtMs: timeMs(NOON_MS),
    lastUsedAtMs: null,
    ...changes,
  }
}
