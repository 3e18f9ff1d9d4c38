// Polymarket's texts of prices, sizes and times to our integers, turned to the market's first token
// where they speak of the second. Nothing is rounded: what does not fit is refused.

import type { Level, LevelChange, TopOfBook } from '../../../events.ts'
import {
  complement,
  PRICE_ONE,
  type PriceMicros,
  parsePrice,
  parseSize,
  type TimeMs,
  timeMs,
} from '../../../units.ts'
import type { BookMessage, PriceChangeEntry, WireLevel } from '../messages.ts'

/** A book's levels read, and its best prices; null: a level could not be read. */
interface ReadLevels {
  readonly levels: Level[]
  readonly best: PriceMicros | null
}

/** 2020 and 2100: a time outside is no time of this venue. */
const TIME_LOW_MS = 1_577_836_800_000
const TIME_HIGH_MS = 4_102_444_800_000

/** Time and best prices of a book quoted for its own token; null when it cannot be read. */
export function readBookSummary(body: BookMessage): { venueTimeMs: TimeMs; top: TopOfBook } | null {
  const venueTimeMs = readTime(body.timestamp)
  const bids = readLevels(body.bids, true, true)
  const asks = readLevels(body.asks, true, false)
  if (venueTimeMs === null || bids === null || asks === null) return null
  return { venueTimeMs, top: { bid: bids.best, ask: asks.best } }
}

/** Milliseconds as decimal text; null when it is none or not of this century's venue. */
export function readTime(text: string): TimeMs | null {
  const value = Number(text)
  return value >= TIME_LOW_MS && value <= TIME_HIGH_MS ? timeMs(value) : null
}

/** Levels quoted for the first token; empty levels are left out; null when one cannot be read. */
export function readLevels(
  wire: readonly WireLevel[],
  isFirst: boolean,
  isHighBest: boolean,
): ReadLevels | null {
  const levels: Level[] = []
  let best: PriceMicros | null = null
  for (const { price: priceText, size: sizeText } of wire) {
    const stated = parsePrice(priceText)
    const size = parseSize(sizeText)
    if (stated === null || size === null) return null
    if (size === 0) continue
    const price = isFirst ? stated : complement(stated)
    if (best === null || (isHighBest ? price > best : price < best)) best = price
    levels.push({ price, size })
  }
  return { levels, best }
}

export function readChange(
  entry: WireLevel & { readonly side: 'BUY' | 'SELL' },
  isFirst: boolean,
): LevelChange | 'price' | 'size' {
  const stated = parsePrice(entry.price)
  if (stated === null) return 'price'
  const size = parseSize(entry.size)
  if (size === null) return 'size'
  // A bid for one token at p is an offer of the other at 1 − p.
  const side = (entry.side === 'BUY') === isFirst ? 'bid' : 'ask'
  return { side, price: isFirst ? stated : complement(stated), size }
}

export function hasLevel(changes: readonly LevelChange[], wanted: LevelChange): boolean {
  for (const change of changes) {
    if (change.side === wanted.side && change.price === wanted.price) return true
  }
  return false
}

/** The best prices an entry names, for the first token; null: not said; undefined: unreadable. */
export function readTop(entry: PriceChangeEntry, isFirst: boolean): TopOfBook | null | undefined {
  if (entry.best_bid === undefined || entry.best_ask === undefined) return null
  const bid = readBest(entry.best_bid, 0)
  const ask = readBest(entry.best_ask, PRICE_ONE)
  if (bid === undefined || ask === undefined) return undefined
  if (isFirst) return { bid, ask }
  return {
    bid: ask === null ? null : complement(ask),
    ask: bid === null ? null : complement(bid),
  }
}

/** '' and null mean an empty side, and so do a bid of 0 and an ask of 0 or 1. */
function readBest(text: string | null, empty: number): PriceMicros | null | undefined {
  if (text === null || text === '') return null
  const price = parsePrice(text)
  if (price === null) return undefined
  return price === 0 || price === empty ? null : price
}
