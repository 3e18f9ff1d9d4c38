// Markets and trades in the format of venue A. Fields that the venue no longer sends are derived. Fields that the
// stream updates are current.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../actors/views.ts'
import type { Trade } from '../../engine/events.ts'
import { takerPrice, takerSide } from '../../engine/market/taker.ts'
import { formatTime, MICROS, type TimeMs, toDecimal } from '../../engine/units.ts'
import { choice } from '../schemas.ts'
import { outcomePrice } from './render.ts'

/** Nested lists are JSON text. */
export const VenueAMarketSchema = Type.Object({
  id: Type.String({ description: "Gamma's own number" }),
  question: Type.String(),
  conditionId: Type.String(),
  slug: Type.String(),
  outcomes: Type.String({ description: 'a JSON-encoded array of labels' }),
  outcomePrices: Type.String({ description: 'a JSON-encoded array of decimal strings' }),
  volume: Type.String(),
  liquidity: Type.String(),
  active: Type.Boolean(),
  closed: Type.Boolean(),
  startDate: Type.String(),
  endDate: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  new: Type.Boolean(),
  featured: Type.Boolean(),
  archived: Type.Boolean(),
  version: Type.String({ description: "v1, or v2 for a market of the venue's second protocol" }),
  clobTokenIds: Type.String({
    description:
      'a JSON-encoded array of the ids under which the outcomes trade, of either version',
  }),
  positionIds: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'the same ids of a market of version v2; null of one of v1',
  }),
  tokens: Type.Array(
    Type.Object({ token_id: Type.String(), outcome: Type.String(), price: Type.Number() }),
  ),
  neg_risk: Type.Boolean(),
})

export const VenueATradeSchema = Type.Object({
  id: Type.String(),
  condition_id: Type.String(),
  token_id: Type.String(),
  market_slug: Type.String(),
  question: Type.String(),
  outcome: Type.String(),
  outcome_index: Type.Integer(),
  side: choice(['buy', 'sell'] as const),
  price: Type.Number(),
  size: Type.Number(),
  size_usd: Type.Number(),
  timestamp: Type.Integer({ description: 'Unix seconds' }),
  timestamp_ms: Type.Integer(),
  maker: Type.Union([Type.String(), Type.Null()]),
  taker: Type.Union([Type.String(), Type.Null()]),
  tx_hash: Type.Union([Type.String(), Type.Null()]),
})

export function venueAMarket(view: MarketView) {
  const { native } = view.details()
  const { summary, volumeTotal } = view
  const first = view.price().price
  const prices = summary.outcomes.map((_, index) => outcomePrice(first, index))
  const labels = summary.outcomes.map(({ label }) => label)
  const tokens = summary.outcomes.map(({ id }) => String(id))
  const isOver = summary.status !== 'open' && !summary.isUnopened
  const version = text(native.version, 'v1')
  const isV1 = version === 'v1'
  const created = text(native.createdAt, iso(summary.createdAtMs))
  return {
    id: text(native.id, ''),
    question: summary.question,
    conditionId: String(summary.nativeId),
    slug: summary.slug,
    outcomes: text(native.outcomes, JSON.stringify(labels)),
    outcomePrices: JSON.stringify(prices.map((price) => toDecimal(price))),
    volume: volumeTotal === null ? text(native.volume, '0') : toDecimal(volumeTotal),
    liquidity: text(native.liquidity, decimalOf(native.liquidityNum)),
    active: flag(native.active, !summary.isUnopened),
    closed: native.closed === true || isOver,
    startDate: text(native.startDate, iso(summary.openAtMs)),
    endDate: text(native.endDate, iso(summary.closeAtMs)),
    createdAt: created,
    updatedAt: text(native.updatedAt, created),
    new: flag(native.new, false),
    featured: flag(native.featured, false),
    archived: flag(native.archived, false),
    version,
    // Rows of other protocol versions may have token ids of version 1, which are not traded.
    clobTokenIds: text(isV1 ? native.clobTokenIds : null, JSON.stringify(tokens)),
    positionIds: isV1 ? null : tokens,
    tokens: summary.outcomes.map(({ id, label }, index) => ({
      token_id: String(id),
      outcome: label,
      price: (prices[index] ?? first) / MICROS,
    })),
    neg_risk: flag(native.negRisk, false),
  }
}

/** Price and side are those of the traded token. */
export function venueATrade(view: MarketView, trade: Trade) {
  const { summary } = view
  const { outcomeIndex, timeMs } = trade
  const outcome = summary.outcomes[outcomeIndex]
  return {
    id: trade.nativeId,
    condition_id: String(summary.nativeId),
    token_id: outcome === undefined ? '' : String(outcome.id),
    market_slug: summary.slug,
    question: summary.question,
    outcome: outcome?.label ?? '',
    outcome_index: outcomeIndex,
    side: takerSide(trade),
    price: takerPrice(trade) / MICROS,
    size: trade.size / MICROS,
    size_usd: trade.usd / MICROS,
    timestamp: Math.floor(timeMs / 1000),
    timestamp_ms: timeMs,
    maker: trade.maker,
    taker: trade.taker,
    tx_hash: trade.txHash,
  }
}

function text(value: unknown, otherwise: string): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : otherwise
}

function decimalOf(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : '0'
}

function flag(value: unknown, otherwise: boolean): boolean {
  return typeof value === 'boolean' ? value : otherwise
}

/** The venue uses a time in year 1 for an unknown time. */
export function iso(time: TimeMs | null): string {
  return time === null ? '0001-01-01T00:00:00Z' : formatTime(time)
}
