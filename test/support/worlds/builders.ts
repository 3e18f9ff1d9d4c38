import { MarketActor } from '../../../actors/market/market.ts'
import type { MarketParts } from '../../../actors/market/parts.ts'
import type {
  BookChangeEvent,
  BookSnapshotEvent,
  Level,
  LevelChange,
  TradeEvent,
  Update,
} from '../../../engine/events.ts'
import { nativeEventId, nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import type { EventListing, MarketListing, MarketRef } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Publisher } from '../../../engine/publisher.ts'
import { priceMicros, sizeMicros, timeMs, USD_ZERO, usdMicros } from '../../../engine/units.ts'
import { venueTable } from '../../../engine/venues/venues.ts'
import { marketSummary } from './stored.ts'

export const NAMES = venueTable({ a: 'venue_a', b: 'venue_b' })
export const NOON = timeMs(Date.UTC(2026, 10, 20, 12))

export const level = (price: number, size: number): Level => ({
  price: priceMicros(Math.round(price * 1e6)),
  size: sizeMicros(Math.round(size * 1e6)),
})

export const bid = (price: number, size: number): LevelChange => ({
  side: 'bid',
  ...level(price, size),
})
export const ask = (price: number, size: number): LevelChange => ({
  side: 'ask',
  ...level(price, size),
})

/** An open market of venue a with tokens `<name>-yes` and `<name>-no`. */
export function listing(name: string, set: Partial<MarketListing> = {}): MarketListing {
  return {
    venue: 'a',
    nativeId: nativeMarketId(name),
    slug: `slug-${name}`,
    question: `Will ${name} happen?`,
    description: `Rules of ${name}.`,
    status: 'open',
    isUnopened: false,
    outcomes: [
      { label: 'Yes', id: outcomeId(`${name}-yes`) },
      { label: 'No', id: outcomeId(`${name}-no`) },
    ],
    event: nativeEventId(set.eventSlug ?? `event-${name}`),
    eventSlug: `event-${name}`,
    category: 'Politics',
    tags: ['Politics'],
    image: null,
    url: null,
    createdAtMs: NOON,
    openAtMs: null,
    closeAtMs: null,
    tickMicros: priceMicros(10_000),
    lastPrice: null,
    bestBid: null,
    bestAsk: null,
    volume24h: USD_ZERO,
    volumeTotal: usdMicros(5_000_000),
    openInterest: null,
    previousPrice: null,
    figuresAtMs: null,
    dayFiguresAtMs: null,
    settlementPrice: null,
    fees: FEES_UNKNOWN,
    orderSizeMin: null,
    otherPayout: null,
    resolutionStatus: 'none',
    settledAtMs: null,
    native: { conditionId: name },
    ...set,
  }
}

export function eventListing(name: string, set: Partial<EventListing> = {}): EventListing {
  return {
    venue: 'a',
    nativeId: nativeEventId(`event-${name}`),
    slug: `event-${name}`,
    title: `All about ${name}`,
    description: null,
    series: null,
    category: 'Politics',
    tags: [],
    image: null,
    startAtMs: null,
    endAtMs: null,
    isMutuallyExclusive: false,
    winnerAmong: null,
    native: {},
    ...set,
  }
}

export function marketRef(name: string, number = 1): MarketRef {
  const nativeId = nativeMarketId(name)
  return { id: NAMES.marketId('a', nativeId), number, venue: 'a', platform: 'venue_a', nativeId }
}

export function snapshot(
  name: string,
  bids: readonly Level[],
  asks: readonly Level[],
  set: Partial<BookSnapshotEvent> = {},
): BookSnapshotEvent {
  return {
    kind: 'bookSnapshot',
    venue: 'a',
    outcome: outcomeId(`${name}-yes`),
    venueTimeMs: NOON,
    receivedAtMs: NOON,
    bids,
    asks,
    isInOrder: true,
    ...set,
  }
}

export function change(
  name: string,
  changes: readonly LevelChange[],
  set: Partial<BookChangeEvent> = {},
): BookChangeEvent {
  return {
    kind: 'bookChange',
    venue: 'a',
    outcome: outcomeId(`${name}-yes`),
    venueTimeMs: NOON,
    receivedAtMs: NOON,
    mode: 'absolute',
    changes,
    top: null,
    ...set,
  }
}

export function trade(name: string, id: string, set: Partial<TradeEvent> = {}): TradeEvent {
  return {
    kind: 'trade',
    venue: 'a',
    outcome: outcomeId(`${name}-yes`),
    market: nativeMarketId(name),
    nativeId: id,
    venueTimeMs: NOON,
    receivedAtMs: NOON,
    price: priceMicros(400_000),
    size: sizeMicros(10_000_000),
    side: 'buy',
    maker: null,
    taker: '0xtaker',
    txHash: `0x${id}`,
    isBlock: false,
    source: 'stream',
    ...set,
  }
}

/** `updates` are in publishing order. */
export function recordingPublisher(): { publisher: Publisher; updates: Update[] } {
  const publisher = new Publisher({ epoch: 'test', log: silentLog, metrics: new Metrics() })
  const updates: Update[] = []
  publisher.watch({ name: 'recorder', onUpdate: (update) => updates.push(update) })
  return { publisher, updates }
}

/** Dependencies of a MarketActor. They record its requests. */
export function marketParts(
  set: Pick<MarketParts, 'publisher' | 'storage'> & Partial<MarketParts>,
): {
  parts: MarketParts
  resyncs: string[]
  ignored: string[]
  losses: number[]
  checks: string[]
} {
  const resyncs: string[] = []
  const ignored: string[] = []
  const losses: number[] = []
  const checks: string[] = []
  const parts: MarketParts = {
    run: 1,
    nowMs: () => NOON,
    retentionDays: 30,
    venue: () => ({
      delay: { isBehind: false, changeCount: 0 },
      requestResync: (_, reason) => resyncs.push(reason),
      checkAgain: ({ nativeId }) => checks.push(nativeId),
      isCovered: () => true,
      backFillTrades: (fromMs) => losses.push(fromMs),
    }),
    changed: () => undefined,
    volumeUnit: (venue) => NAMES.of(venue).volumeUnit,
    ignored: (reason) => ignored.push(reason),
    ...set,
  }
  return { parts, resyncs, ignored, losses, checks }
}

/** The returned function opens the actor of the stored market `m`. It may be called again. */
export function storedMarket(
  set: Pick<MarketParts, 'publisher' | 'storage'> & Partial<MarketParts>,
  changes: Parameters<typeof listing>[1] = {},
) {
  const watching = marketParts(set)
  const listed = listing('m', changes)
  const summary = marketSummary(listed)
  const ref = marketRef('m', set.storage.markets.put(listed))
  const open = () => new MarketActor(ref, summary, watching.parts)
  return { ...watching, summary, open }
}
