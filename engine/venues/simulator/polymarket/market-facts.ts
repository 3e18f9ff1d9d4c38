// Facts about a market of venue a that are derived from the world: displayed prices, volumes, states and ids.

import { createHash } from 'node:crypto'
import { hash32 } from '../../../random.ts'
import {
  complement,
  DAY_MS,
  formatTime,
  HOUR_MS,
  MICROS,
  midPrice,
  PRICE_ONE,
  type PriceMicros,
  priceMicros,
  type TimeMs,
  timeMs,
  toNumber,
} from '../../../units.ts'
import type { SimEvent, SimMarket } from '../model.ts'
import { feeScheduleOf } from '../world/fees.ts'

/** Minimum order of every market, in contracts. */
export const ORDER_SIZE_MIN = 5

/** Legacy fee field of each market that has a fee, in basis points. The venue does not use the field. */
export const LEGACY_FEE_BPS = 1000

/** Gamma's `closed`: trading has ended. The result may be unknown. */
export function isOver(market: SimMarket): boolean {
  return market.status !== 'open' && market.status !== 'unopened'
}

/** Gamma's `active`: true from the opening on, also after the resolution. */
export function isActive(market: SimMarket): boolean {
  return market.status !== 'unopened'
}

/** Gamma's `endDate`: the start of a game, otherwise the planned close. Trading may end later. */
export function endMs({ event, listing }: SimMarket): TimeMs {
  return event.game?.startMs ?? plannedMs(event, listing.closeMs)
}

export function eventEndMs(event: SimEvent): TimeMs {
  return event.game?.startMs ?? plannedMs(event, event.endMs)
}

/** Planned end of an event. One event in four without a pair continues to trade for five days after it. */
function plannedMs({ nativeId, topic, markets, createdMs }: SimEvent, overMs: TimeMs): TimeMs {
  const isLate =
    topic !== 'crypto' &&
    hash32('late', nativeId) % 4 === 0 &&
    markets.every(({ listing }) => listing.pair === null)
  return isLate ? timeMs(Math.max(createdMs, overMs - LATE_MS)) : overMs
}

const LATE_MS = 5 * DAY_MS

/**
 * One open market in 32 of protocol v1 alternates between `proposed` and `disputed` every half hour. Otherwise null.
 */
export function oracleStatus(market: SimMarket, nowMs: TimeMs): 'proposed' | 'disputed' | null {
  const { listing, status } = market
  if (status !== 'open' || listing.isV2 || hash32('oracle', listing.nativeId) % 32 !== 0)
    return null
  return Math.floor(nowMs / (HOUR_MS / 2)) % 2 === 0 ? 'proposed' : 'disputed'
}

/** Gamma shows condition ids of protocol v2 with 31 bytes. Other hosts pad them with 00. */
export function gammaId({ listing }: SimMarket): string {
  return listing.isV2 ? listing.nativeId.slice(0, -2) : listing.nativeId
}

/** Null until the result is final, and for a void market. */
export function winnerIndex(market: SimMarket): 0 | 1 | null {
  if (market.status !== 'resolved') return null
  if (market.listing.payout === PRICE_ONE) return 0
  return market.listing.payout === 0 ? 1 : null
}

/** Exact payouts of a resolved market. Otherwise the midpoint, the last trade or the fair price. */
export function outcomePrices(market: SimMarket): readonly [PriceMicros, PriceMicros] {
  const first = firstPrice(market)
  return [first, complement(first)]
}

export function lastFirstPrice(market: SimMarket): PriceMicros | null {
  const trade = market.lastTrade
  if (trade === null) return null
  return trade.outcomeIndex === 0 ? trade.price : complement(trade.price)
}

/** Fee in basis points, the same for makers and takers. */
export function feeBps(market: SimMarket): number {
  return (feeScheduleOf(market)?.rate ?? 0) > 0 ? LEGACY_FEE_BPS : 0
}

/** Best prices of an outcome. Null: the side of the book is empty. */
export interface Quote {
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
}

export function quoteOf({ book }: SimMarket, outcomeIndex: 0 | 1): Quote {
  const { bestBid, bestAsk } = book
  if (outcomeIndex === 0) return { bid: bestBid, ask: bestAsk }
  return {
    bid: bestAsk === null ? null : complement(bestAsk),
    ask: bestBid === null ? null : complement(bestBid),
  }
}

export function spreadOf({ bid, ask }: Quote): PriceMicros | null {
  return bid === null || ask === null || ask < bid ? null : priceMicros(ask - bid)
}

/** Value of resting orders in dollars: bids at their price, asks at the complementary price. */
export function liquidityUsd(market: SimMarket): number {
  let micros = 0
  for (const level of market.book.bids) micros += (level.size / MICROS) * level.price
  for (const level of market.book.asks) micros += (level.size / MICROS) * (MICROS - level.price)
  return Math.round(micros) / MICROS
}

/** Volume of the last `windowMs` in dollars, estimated from total volume and age of the market. */
export function volumeWithin(market: SimMarket, windowMs: number, nowMs: TimeMs): number {
  const ageMs = Math.max(1, nowMs - market.listing.openMs)
  const total = toNumber(market.volumeTotal)
  const share = Math.round(total * Math.min(1, windowMs / ageMs) * MICROS) / MICROS
  return Math.max(Math.min(total, toNumber(market.volume24h)), share)
}

/** Gamma's `competitive`: 1 at a price of one half, falling to 0.8 at 0 and 1. */
export function competitiveness(market: SimMarket): number {
  const distance = toNumber(outcomePrices(market)[0]) - 0.5
  return 1 / (1 + distance * distance)
}

/** 0x and 64 hex digits, hashed from a kind and a native id. */
export function hexId(kind: string, nativeId: string): string {
  return `0x${createHash('sha256').update(`${kind}:${nativeId}`).digest('hex')}`
}

export function imageUrl(slug: string): string {
  return `https://polymarket-upload.s3.us-east-2.amazonaws.com/${slug}.png`
}

/** Gamma's second time format: "2026-01-09 06:36:50+00". */
export function spacedTime(time: TimeMs): string {
  const text = formatTime(time)
  return `${text.slice(0, 10)} ${text.slice(11, 19)}+00`
}

/** Gamma shows this id as a text on markets and as a number on events. */
export function gameId(event: SimEvent): number {
  return 20_000_000 + event.number
}

function firstPrice(market: SimMarket): PriceMicros {
  const { payout } = market.listing
  if (market.status === 'resolved') return payout
  // The venue shows a proposed result as a price at the edge of the book.
  if (market.status === 'determined') return priceMicros(Math.min(999_500, Math.max(500, payout)))
  const { bestBid, bestAsk } = market.book
  if (bestBid !== null && bestAsk !== null) return midPrice(bestBid, bestAsk)
  return lastFirstPrice(market) ?? market.fairPrice(market.updatedMs)
}
