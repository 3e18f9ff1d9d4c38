// Converts Kalshi's stream messages to VenueEvents. Outcomes are `<ticker>` (Yes) and `<ticker>:no`. A bid for No at p
// is an ask for Yes at 1 − p, so one book in prices of Yes contains both.

import type { BookSide, Level, MarketStatusEvent, TradeEvent, VenueEvent } from '../../events.ts'
import { nativeMarketId, type OutcomeId, outcomeId } from '../../ids.ts'
import {
  complement,
  MICROS,
  PRICE_ONE,
  type PriceMicros,
  parsePrice,
  parseSize,
  parseSizeDelta,
  priceMicros,
  type SizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../units.ts'
import { isNamedCombo } from './combos.ts'
import type {
  DataMessage,
  LevelText,
  LifecycleMessage,
  OrderbookDelta,
  OrderbookSnapshot,
  TickerMessage,
  TradeMessage,
} from './messages.ts'
import { parsePriceGrid } from './price-grid.ts'

/** 'ignored': the message is valid but causes no event. 'rejected': the message is invalid. */
export interface Refusal {
  readonly kind: 'ignored' | 'rejected'
  readonly reason: string
}

type Emit = (event: VenueEvent) => void

const VENUE = 'b'
/** A billion contracts. Larger numbers are invalid, and their sums would exceed safe integers. */
const SIZE_MAX = 1_000_000_000 * MICROS

/** Maximum accepted time by which the venue's clock is ahead of the local clock. */
const CLOCK_AHEAD_MS_MAX = 10_000

const COMBO: Refusal = { kind: 'ignored', reason: 'combo' }
const BOOK_NUMBERS: Refusal = { kind: 'rejected', reason: 'book_numbers' }
const DELTA_NUMBERS: Refusal = { kind: 'rejected', reason: 'delta_numbers' }
const TRADE_NUMBERS: Refusal = { kind: 'rejected', reason: 'trade_numbers' }
const TICKER_NUMBERS: Refusal = { kind: 'rejected', reason: 'ticker_numbers' }
/** No order can rest at 0 or 1. Levels at these prices are dropped. The other levels of the snapshot are used. */
const LEVEL_AT_BOUND: Refusal = { kind: 'ignored', reason: 'level_at_bound' }
export const DELTA_OFF_GRID: Refusal = { kind: 'rejected', reason: 'delta_off_grid' }
const NO_CHANGE: Refusal = { kind: 'ignored', reason: 'no_change' }
const NEVER_TRADED: Refusal = { kind: 'ignored', reason: 'never_traded' }

export function noOutcomeOf(ticker: string): OutcomeId {
  return outcomeId(`${ticker}:no`)
}

export function tickerOf(outcome: string): string {
  return outcome.endsWith(':no') ? outcome.slice(0, -3) : outcome
}

type MayRest = (ticker: string, price: PriceMicros) => boolean

/**
 * Returns null if an event was emitted. Rejects an added order at a price that `mayRest` refuses. Accepts removals at
 * any price, because the order may be older than the price ranges.
 */
export function mapMessage(
  message: DataMessage,
  receivedAtMs: TimeMs,
  emit: Emit,
  mayRest?: MayRest,
  onBoundLevel?: (ticker: string) => void,
): Refusal | null {
  if (isNamedCombo(message.ticker)) return COMBO
  switch (message.kind) {
    case 'orderbookDelta':
      return mapDelta(message, receivedAtMs, emit, mayRest)
    case 'orderbookSnapshot':
      return mapSnapshot(message, receivedAtMs, emit, onBoundLevel)
    case 'trade': {
      const trade = mapTrade(message, receivedAtMs, 'stream')
      if (trade.kind !== 'trade') return trade
      emit(trade)
      return null
    }
    case 'ticker':
      return mapTicker(message, receivedAtMs, emit)
    case 'lifecycle':
      mapLifecycle(message, receivedAtMs, emit)
      return null
  }
}

const DENIALS: ReadonlySet<unknown> = new Set([undefined, null, false, 'false', 0])

/** Any value except an explicit denial counts as a block trade, because block trades must not appear in charts. */
export function isBlockTrade(value: unknown): boolean {
  return !DENIALS.has(value)
}

export function mapTrade(
  message: TradeMessage,
  receivedAtMs: TimeMs,
  source: TradeEvent['source'],
): TradeEvent | Refusal {
  const yes = parsePrice(message.yesPrice)
  const size = sizeOf(message.count)
  if (yes === null || size === null || size <= 0) return TRADE_NUMBERS
  const no = message.noPrice === null ? complement(yes) : parsePrice(message.noPrice)
  if (no === null) return TRADE_NUMBERS
  const isYes = message.taker === 'yes'
  return {
    kind: 'trade',
    venue: VENUE,
    venueTimeMs: timeMs(message.timeMs),
    receivedAtMs,
    outcome: isYes ? outcomeId(message.ticker) : noOutcomeOf(message.ticker),
    market: nativeMarketId(message.ticker),
    nativeId: message.tradeId,
    price: isYes ? yes : no,
    size,
    side: 'buy',
    maker: null,
    taker: null,
    txHash: null,
    isBlock: isBlockTrade(message.block),
    source,
  }
}

function mapSnapshot(
  message: OrderbookSnapshot,
  receivedAtMs: TimeMs,
  emit: Emit,
  onBoundLevel: ((ticker: string) => void) | undefined,
): Refusal | null {
  const bids = mapLevels(message.yes, 'bid')
  const asks = mapLevels(message.no, 'ask')
  if (bids === null || asks === null) return BOOK_NUMBERS
  if (hasBoundLevel(message.yes) || hasBoundLevel(message.no)) onBoundLevel?.(message.ticker)
  emit({
    kind: 'bookSnapshot',
    venue: VENUE,
    // A snapshot has no timestamp. The venue creates the snapshot when it sends it.
    venueTimeMs: receivedAtMs,
    receivedAtMs,
    outcome: outcomeId(message.ticker),
    bids,
    asks,
    isInOrder: true,
  })
  return null
}

function mapLevels(texts: readonly LevelText[], side: BookSide): Level[] | null {
  const levels: Level[] = []
  for (const text of texts) {
    const price = quotedPrice(text[0], side)
    const size = sizeOf(text[1])
    if (price === null || size === null) return null
    if (size > 0 && !isAtBound(price)) levels.push({ price, size })
  }
  return levels
}

function mapDelta(
  message: OrderbookDelta,
  receivedAtMs: TimeMs,
  emit: Emit,
  mayRest: MayRest | undefined,
): Refusal | null {
  const side = message.side === 'yes' ? 'bid' : 'ask'
  const price = quotedPrice(message.price, side)
  const size = parseSizeDelta(message.delta)
  if (price === null || size === null || Math.abs(size) > SIZE_MAX) return DELTA_NUMBERS
  if (isAtBound(price)) return LEVEL_AT_BOUND
  if (size === 0) return NO_CHANGE
  if (size > 0 && mayRest?.(message.ticker, price) === false) return DELTA_OFF_GRID
  emit({
    kind: 'bookChange',
    venue: VENUE,
    venueTimeMs: message.timeMs === null ? receivedAtMs : timeMs(message.timeMs),
    receivedAtMs,
    outcome: outcomeId(message.ticker),
    mode: 'difference',
    changes: [{ side, price, size }],
    top: null,
  })
  return null
}

/** Rejects a message with an unreadable number. Prices of 0 and 1 mean that there is no price. */
function mapTicker(message: TickerMessage, receivedAtMs: TimeMs, emit: Emit): Refusal | null {
  const price = message.price === null ? null : parsePrice(message.price)
  const volume = message.volume === null ? null : sizeOf(message.volume)
  const openInterest = message.openInterest === null ? null : sizeOf(message.openInterest)
  const isRead =
    (price !== null || message.price === null) &&
    (volume !== null || message.volume === null) &&
    (openInterest !== null || message.openInterest === null)
  if (!isRead) return TICKER_NUMBERS
  const lastPrice = price === 0 || price === PRICE_ONE ? null : price
  if (lastPrice === null && volume === null && openInterest === null) return NEVER_TRADED
  const venueTimeMs = message.timeMs === null ? receivedAtMs : timeMs(message.timeMs)
  const tradesToMs = message.tradesToMs ?? receivedAtMs
  emit({
    kind: 'figures',
    venue: VENUE,
    venueTimeMs,
    receivedAtMs,
    outcome: outcomeId(message.ticker),
    tradesToMs: timeMs(Math.min(tradesToMs, receivedAtMs + CLOCK_AHEAD_MS_MAX)),
    lastPrice,
    previousPrice: null,
    volume24h: null,
    volumeTotal: volume === null ? null : usdMicros(volume),
    openInterest,
  })
  return null
}

function mapLifecycle(message: LifecycleMessage, receivedAtMs: TimeMs, emit: Emit): void {
  const market = nativeMarketId(message.ticker)
  const stamps = { venue: VENUE, receivedAtMs, market } as const
  const statusTimeMs = message.timeMs === null ? receivedAtMs : timeMs(message.timeMs)
  const settlementPrice = settlementOf(message.settlementValue, message.result)
  const emitStatus = (
    state: Pick<MarketStatusEvent, 'status' | 'resolutionStatus' | 'settlementPrice'>,
  ) => emit({ kind: 'marketStatus', ...stamps, venueTimeMs: statusTimeMs, ...state })
  const emitSeen = () => emit({ kind: 'marketSeen', ...stamps, venueTimeMs: receivedAtMs })
  switch (message.change) {
    case 'activated':
      return emitStatus({ status: 'open', resolutionStatus: 'none', settlementPrice: null })
    case 'deactivated':
      return emitStatus({ status: 'closed', settlementPrice: null })
    case 'determined':
      // `determined` may still be disputed. Only `settled` is final, and that message often lacks the result.
      emitStatus({ status: 'closed', resolutionStatus: 'proposed', settlementPrice })
      return emitSeen()
    case 'settled':
      emitStatus({ status: 'resolved', resolutionStatus: 'resolved', settlementPrice })
      return emitSeen()
    case 'price_level_structure_updated':
      emitTickSize(message, receivedAtMs, emit)
      return emitSeen()
    case 'created':
    case 'metadata_updated':
    case 'close_date_updated':
      return emitSeen()
  }
}

/** Emits the finest step of the new price ranges. The book is unchanged, because resting orders keep their prices. */
function emitTickSize({ ticker, priceRanges }: LifecycleMessage, atMs: TimeMs, emit: Emit): void {
  const grid = parsePriceGrid({ price_ranges: priceRanges })
  if (grid === null) return
  const stamps = { venue: VENUE, venueTimeMs: atMs, receivedAtMs: atMs } as const
  const outcome = outcomeId(ticker)
  emit({ kind: 'tickSize', ...stamps, outcome, tickMicros: grid.finest, retainsBook: true })
}

/** Payout of one Yes: the venue's value, else 1 or 0 by the result; null if both are absent. */
export function settlementOf(value: string | null, result: string | null): PriceMicros | null {
  const stated = value === null ? null : parsePrice(value)
  if (stated !== null) return stated
  if (result === 'yes') return PRICE_ONE
  return result === 'no' ? priceMicros(0) : null
}

export function sizeOf(text: string): SizeMicros | null {
  const size = parseSize(text)
  return size === null || size > SIZE_MAX ? null : size
}

const isAtBound = (price: PriceMicros | null): boolean => price === 0 || price === PRICE_ONE

/** Levels are sorted by price, so only the first and the last can have a price of 0 or 1. */
function hasBoundLevel(levels: readonly LevelText[]): boolean {
  const ends = [levels[0], levels.at(-1)]
  return ends.some((level) => level !== undefined && isAtBound(parsePrice(level[0])))
}

/** Converts to a price of Yes. A bid for No becomes an ask. */
function quotedPrice(text: string, side: BookSide): PriceMicros | null {
  const price = parsePrice(text)
  if (price === null) return null
  return side === 'bid' ? price : complement(price)
}
