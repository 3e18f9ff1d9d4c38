// Markets and trades in the format of venue B. Best prices, figures and status are current values from the stream.
// Removed fields (`tick_size`, `response_price_units`, `liquidity_dollars`) are derived.

import { Type } from '@sinclair/typebox'
import type { CatalogView, MarketView } from '../../actors/views.ts'
import type { Trade } from '../../engine/events.ts'
import {
  complement,
  formatTime,
  MICROS,
  PRICE_ONE,
  type PriceMicros,
  priceMicros,
  SIZE_ZERO,
  toDecimal,
} from '../../engine/units.ts'
import { AsOfSchema, choice, DayAsOfSchema } from '../schemas.ts'
import { iso } from './native-venue-a.ts'

/** Prices and counts are decimal strings. */
export const VenueBMarketSchema = Type.Object({
  ticker: Type.String(),
  event_ticker: Type.String(),
  series_ticker: Type.String(),
  title: Type.String(),
  status: Type.String(),
  market_type: Type.String(),
  response_price_units: Type.String(),
  yes_bid_dollars: Type.String(),
  yes_ask_dollars: Type.String(),
  no_bid_dollars: Type.String(),
  no_ask_dollars: Type.String(),
  last_price_dollars: Type.String(),
  previous_price_dollars: Type.String(),
  liquidity_dollars: Type.String(),
  notional_value_dollars: Type.String(),
  tick_size: Type.String(),
  volume_fp: Type.String(),
  volume_24h_fp: Type.String(),
  open_interest_fp: Type.String(),
  as_of_ms: AsOfSchema,
  volume_24h_as_of_ms: DayAsOfSchema,
  open_time: Type.String(),
  close_time: Type.String(),
  expiration_time: Type.String(),
  created_time: Type.String(),
  can_close_early: Type.Boolean(),
})

export const VenueBTradeSchema = Type.Object({
  trade_id: Type.String(),
  ticker: Type.String(),
  taker_side: choice(['yes', 'no'] as const),
  yes_price: Type.Integer({ description: 'cents, rounded' }),
  no_price: Type.Integer({ description: 'cents, rounded' }),
  count: Type.Integer({ description: 'contracts, rounded' }),
  created_time: Type.String(),
  is_taker_side_yes: Type.Boolean(),
  yes_price_dollars: Type.String({ description: 'exact' }),
  no_price_dollars: Type.String({ description: 'exact' }),
  count_fp: Type.String({ description: 'exact' }),
  is_block_trade: Type.Boolean({ description: 'agreed beside the book' }),
})

const PRICE_ZERO = priceMicros(0)

type Native = ReturnType<MarketView['details']>['native']

export function venueBMarket(view: MarketView, catalog: CatalogView) {
  const { native } = view.details()
  const { summary, figures } = view
  const { bid, ask } = view.price()
  const yesBid = bid ?? PRICE_ZERO
  // The venue writes an empty side as 0.0000, but the ask of a closed market as 1.0000.
  const yesAsk = ask ?? (text(native.yes_ask_dollars) === '1.0000' ? PRICE_ONE : PRICE_ZERO)
  const eventTicker = summary.event === null ? '' : String(summary.event)
  const series = summary.event === null ? null : catalog.event('b', summary.event)?.series
  const closed = text(native.close_time) ?? iso(summary.closeAtMs)
  const expires = native.expiration_time ?? native.latest_expiration_time
  return {
    ticker: String(summary.nativeId),
    event_ticker: text(native.event_ticker) ?? eventTicker,
    series_ticker: text(native.series_ticker) ?? series ?? eventTicker.replace(/-.*$/, ''),
    title: text(native.title) ?? summary.question,
    status: statusText(view, text(native.status)),
    market_type: text(native.market_type) ?? 'binary',
    response_price_units: text(native.response_price_units) ?? 'usd_cent',
    yes_bid_dollars: dollars(yesBid),
    yes_ask_dollars: dollars(yesAsk),
    no_bid_dollars: dollars(complement(yesAsk)),
    no_ask_dollars: dollars(complement(yesBid)),
    last_price_dollars: movedPrice(native, 'last_price', figures.lastPrice),
    previous_price_dollars: movedPrice(native, 'previous_price', figures.previousPrice),
    liquidity_dollars: priceText(native, 'liquidity', null),
    notional_value_dollars: priceText(native, 'notional_value', PRICE_ONE),
    tick_size: dollars(summary.tickMicros ?? priceMicros(10_000)),
    volume_fp: toDecimal(figures.volumeTotal ?? SIZE_ZERO, 2),
    volume_24h_fp: toDecimal(figures.volume24h, 2),
    open_interest_fp: toDecimal(figures.openInterest ?? SIZE_ZERO, 2),
    as_of_ms: figures.figuresAtMs || null,
    volume_24h_as_of_ms: figures.dayFiguresAtMs || null,
    open_time: text(native.open_time) ?? iso(summary.openAtMs),
    close_time: closed,
    expiration_time: text(expires) ?? closed,
    created_time: text(native.created_time) ?? iso(summary.createdAtMs),
    can_close_early: native.can_close_early === true,
  }
}

/** The status that REST reported, unless the stream has changed it later. */
function statusText({ summary }: MarketView, stated: string | null): string {
  const { status, isUnopened } = summary
  if (isUnopened) return 'initialized'
  if (status === 'open') return 'active'
  if (status === 'resolved') return 'finalized'
  const isMoved = stated === null || ['active', 'initialized', 'finalized'].includes(stated)
  return isMoved ? 'closed' : stated
}

/** `side` is the taker's side in the outcome Yes, also for trades of No. */
export function venueBTrade(view: MarketView, trade: Trade) {
  const { price, size, side, timeMs } = trade
  const isYes = side === 'buy'
  const other = complement(price)
  return {
    trade_id: trade.nativeId,
    ticker: String(view.summary.nativeId),
    taker_side: isYes ? 'yes' : 'no',
    yes_price: Math.round(price / CENT),
    no_price: Math.round(other / CENT),
    count: Math.round(size / MICROS),
    created_time: formatTime(timeMs),
    is_taker_side_yes: isYes,
    yes_price_dollars: dollars(price),
    no_price_dollars: dollars(other),
    count_fp: toDecimal(size, 2),
    is_block_trade: trade.isBlock,
  }
}

const CENT = MICROS / 100

function dollars(price: PriceMicros): string {
  return toDecimal(price, 4)
}

/** A price that changes with trading. Uses the venue's text only if the current price is unknown. */
function movedPrice(native: Native, name: string, current: PriceMicros | null): string {
  return current === null ? priceText(native, name, null) : dollars(current)
}

/** Reads `name_dollars`. Recordings from before 2026 have whole cents in `name`. */
function priceText(native: Native, name: string, otherwise: PriceMicros | null): string {
  const stated = text(native[`${name}_dollars`])
  if (stated !== null) return stated
  const cents = native[name]
  if (typeof cents === 'number' && Number.isFinite(cents)) return (cents / 100).toFixed(4)
  return dollars(otherwise ?? priceMicros(0))
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
