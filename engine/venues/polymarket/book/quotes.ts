// Parses Polymarket's prices, sizes and times as integers, in prices of the first token. Inexact values are rejected.

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

interface ReadLevels {
  readonly levels: Level[]
  readonly best: PriceMicros | null
}

/** The years 2020 and 2100. Times outside them are invalid. */
const TIME_LOW_MS = 1_577_836_800_000
const TIME_HIGH_MS = 4_102_444_800_000

export function readBookSummary(body: BookMessage): { venueTimeMs: TimeMs; top: TopOfBook } | null {
  const venueTimeMs = readTime(body.timestamp)
  const bids = readLevels(body.bids, true, true)
  const asks = readLevels(body.asks, true, false)
  if (venueTimeMs === null || bids === null || asks === null) return null
  return { venueTimeMs, top: { bid: bids.best, ask: asks.best } }
}

/** Parses milliseconds in decimal text. Returns null for invalid text and for times outside the accepted range. */
export function readTime(text: string): TimeMs | null {
  const value = Number(text)
  return value >= TIME_LOW_MS && value <= TIME_HIGH_MS ? timeMs(value) : null
}

/** Levels in prices of the first token, without empty levels. Null if a level cannot be parsed. */
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
  // A bid for one token at p is an ask for the other token at 1 − p.
  const side = (entry.side === 'BUY') === isFirst ? 'bid' : 'ask'
  return { side, price: isFirst ? stated : complement(stated), size }
}

export function hasLevel(changes: readonly LevelChange[], wanted: LevelChange): boolean {
  for (const change of changes) {
    if (change.side === wanted.side && change.price === wanted.price) return true
  }
  return false
}

/** Best prices of an entry, in prices of the first token. Null: absent. Undefined: unreadable. */
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

/** The venue writes an empty side as '', null, a bid of 0, or an ask of 0 or 1. */
function readBest(text: string | null, empty: number): PriceMicros | null | undefined {
  if (text === null || text === '') return null
  const price = parsePrice(text)
  if (price === null) return undefined
  return price === 0 || price === empty ? null : price
}
