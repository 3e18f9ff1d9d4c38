// Candles of venue b, from the world's trades, or from the fair price before the first trade. A candle covers (end −
// period, end]. Daily candles end at midnight in New York, as in recorded answers.

import { hash32 } from '../../../random.ts'
import {
  DAY_MS,
  notionalMicros,
  PRICE_ONE,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  toSeconds,
} from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import { easternMs, easternTime } from '../questions/eastern.ts'
import { json, type RestServer } from '../rest.ts'
import { firstAfter } from '../world/trade-tape.ts'
import { badRequest, notFound, QueryReader } from './paging.ts'
import { onTick, yesPrice } from './render.ts'
import { found } from './rest.ts'
import { isBlock } from './terms.ts'
import { count, dollars } from './text.ts'

const PERIODS = [1, 60, 1440] as const
type PeriodMinutes = (typeof PERIODS)[number]

interface CandleRequest {
  /** Unix seconds. Candles that end in [startSeconds, endSeconds] are returned. */
  readonly startSeconds: number
  readonly endSeconds: number
  readonly period: PeriodMinutes
  readonly nowMs: TimeMs
  /** The world's trades before this time are incomplete, so earlier candles have generated trades. */
  readonly tradesFromMs: TimeMs
  /** True: if no candle is at the start of the range, adds one without trades at the last price before the range. */
  readonly hasLatestBefore: boolean
}

function candlesOf(market: SimMarket, request: CandleRequest): Record<string, unknown>[] {
  const { period, tradesFromMs, nowMs } = request
  const ends = candleEnds(market, request)
  const boundaryMs = periodEnd(request.startSeconds * 1000, period)
  let beginMs = periodBefore(ends[0] ?? boundaryMs, period)
  let previous = priceAt(market, { atMs: beginMs, tradesFromMs })
  const candles: Record<string, unknown>[] = []
  if (request.hasLatestBefore && previous !== null && ends[0] !== boundaryMs) {
    candles.push(renderCandle(market, { nowMs, beginMs, endMs: boundaryMs, fills: [], previous }))
  }
  let position = firstAfter(market.trades, beginMs)
  for (const endMs of ends) {
    const fills: Fill[] = []
    for (let trade = market.trades[position]; trade !== undefined && trade.atMs <= endMs; ) {
      if (!isBlock(trade)) fills.push({ price: yesPrice(trade), size: trade.size })
      position += 1
      trade = market.trades[position]
    }
    // Generated trades fill the rest of the period, so they are appended after the world's trades.
    if (endMs <= tradesFromMs) fills.push(...inventedFills(market, { beginMs, endMs }))
    candles.push(renderCandle(market, { nowMs, beginMs, endMs, fills, previous }))
    previous = fills.at(-1)?.price ?? previous
    beginMs = endMs
  }
  return candles
}

/** Estimate, accurate to ±1, for checks of limits before `candlesOf` runs. */
function candleCount(market: SimMarket, request: CandleRequest): number {
  const { openMs, closeMs } = market.listing
  const fromMs = Math.max(request.startSeconds * 1000, openMs)
  const toMs = Math.min(request.endSeconds * 1000, request.nowMs, closeMs)
  return toMs < fromMs ? 0 : Math.ceil((toMs - fromMs) / (request.period * 60_000))
}

interface Fill {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

interface CandleParts {
  readonly beginMs: number
  readonly endMs: number
  readonly fills: readonly Fill[]
  readonly previous: PriceMicros | null
  readonly nowMs: TimeMs
}

function renderCandle(market: SimMarket, parts: CandleParts): Record<string, unknown> {
  const openMs = Math.max(parts.beginMs, market.listing.openMs)
  const closeMs = Math.min(parts.endMs, parts.nowMs, market.listing.closeMs)
  const open = onTick(market, market.fairPrice(timeMs(Math.min(openMs, closeMs))))
  const close = onTick(market, market.fairPrice(timeMs(closeMs)))
  const { book } = market
  const isLatest = parts.endMs >= parts.nowMs && market.status === 'open'
  return {
    end_period_ts: parts.endMs / 1000,
    yes_bid: quoteRange({
      open: quoted(market, open, -1),
      close: (isLatest ? book.bestBid : null) ?? quoted(market, close, -1),
    }),
    yes_ask: quoteRange({
      open: quoted(market, open, 1),
      close: (isLatest ? book.bestAsk : null) ?? quoted(market, close, 1),
    }),
    price: priceRange(parts.fills, parts.previous),
    volume_fp: count(sizeMicros(parts.fills.reduce((sum, fill) => sum + fill.size, 0))),
    open_interest_fp: count(openInterestAt(market, { atMs: closeMs, nowMs: parts.nowMs })),
  }
}

function priceRange(fills: readonly Fill[], previous: PriceMicros | null): Record<string, string> {
  const before = previous === null ? {} : { previous_dollars: dollars(previous) }
  const first = fills[0]
  const last = fills.at(-1)
  if (first === undefined || last === undefined) return before
  let low = first.price
  let high = first.price
  let paid = 0
  let size = 0
  for (const fill of fills) {
    if (fill.price < low) low = fill.price
    if (fill.price > high) high = fill.price
    paid += notionalMicros(fill)
    size += fill.size
  }
  const mean = size === 0 ? last.price : (paid / size) * PRICE_ONE
  return {
    open_dollars: dollars(first.price),
    low_dollars: dollars(low),
    high_dollars: dollars(high),
    close_dollars: dollars(last.price),
    mean_dollars: dollars(priceMicros(Math.min(PRICE_ONE, Math.round(mean / 100) * 100))),
    ...before,
  }
}

function quoteRange(range: { open: PriceMicros; close: PriceMicros }): Record<string, string> {
  const isRising = range.close >= range.open
  return {
    open_dollars: dollars(range.open),
    low_dollars: dollars(isRising ? range.open : range.close),
    high_dollars: dollars(isRising ? range.close : range.open),
    close_dollars: dollars(range.close),
  }
}

function quoted(market: SimMarket, price: PriceMicros, ticks: number): PriceMicros {
  return onTick(market, priceMicros(Math.max(0, price + ticks * market.tickMicros)))
}

function inventedFills(market: SimMarket, period: { beginMs: number; endMs: number }): Fill[] {
  const { listing } = market
  const openMs = Math.max(period.beginMs, listing.openMs)
  const closeMs = Math.min(period.endMs, listing.closeMs)
  if (openMs >= closeMs) return []
  const draw = hash32(listing.nativeId, period.endMs) / 2 ** 32
  const minutes = (closeMs - openMs) / 60_000
  const contracts = Math.floor(minutes * listing.activity * draw * 2)
  if (contracts < 1) return []
  const times = contracts < 3 ? [closeMs] : [openMs, (openMs + closeMs) / 2, closeMs]
  const size = sizeMicros(Math.floor(contracts / times.length) * 1_000_000)
  return times.map((atMs) => ({ price: onTick(market, market.fairPrice(timeMs(atMs))), size }))
}

function priceAt(
  market: SimMarket,
  at: { atMs: number; tradesFromMs: TimeMs },
): PriceMicros | null {
  const trade = market.trades[firstAfter(market.trades, at.atMs) - 1]
  if (trade !== undefined && at.atMs > at.tradesFromMs) return yesPrice(trade)
  const beforeMs = Math.min(at.atMs, at.tradesFromMs)
  if (beforeMs <= market.listing.openMs) return null
  return onTick(market, market.fairPrice(timeMs(beforeMs)))
}

/** Grows linearly over the market's life, because only the current value is stored. */
function openInterestAt(market: SimMarket, at: { atMs: number; nowMs: TimeMs }): SizeMicros {
  const { openMs } = market.listing
  const part = (at.atMs - openMs) / Math.max(1, at.nowMs - openMs)
  return sizeMicros(Math.round(market.openInterest * Math.min(1, Math.max(0, part))))
}

/** End times of the periods that a request covers within the market's trading hours, in Unix milliseconds. */
function candleEnds(market: SimMarket, request: CandleRequest): number[] {
  const { openMs, closeMs } = market.listing
  const untilMs = Math.min(request.nowMs, closeMs)
  const ends: number[] = []
  let endMs = periodEnd(Math.max(request.startSeconds * 1000, openMs + 1), request.period)
  while (endMs <= request.endSeconds * 1000 && periodBefore(endMs, request.period) < untilMs) {
    ends.push(endMs)
    endMs = periodEnd(endMs + 1, request.period)
  }
  return ends
}

function periodEnd(atMs: number, period: PeriodMinutes): number {
  if (period !== 1440) return Math.ceil(atMs / (period * 60_000)) * period * 60_000
  const { dayNumber } = easternTime(atMs - 1)
  return easternMs({ dayNumber: dayNumber + 1, minuteOfDay: 0 })
}

function periodBefore(endMs: number, period: PeriodMinutes): number {
  if (period !== 1440) return endMs - period * 60_000
  // Half a day before the end is always within the day that ends there, also when a clock change moves midnight by an
  // hour.
  return easternMs({ dayNumber: easternTime(endMs - DAY_MS / 2).dayNumber, minuteOfDay: 0 })
}

/** The venue's limits: tickers and candles of a batch, and candles of an event. */
const BATCH_TICKERS_MAX = 100
const BATCH_CANDLES_MAX = 10_000
const EVENT_CANDLES_MAX = 5_000

export function addCandleRoutes(rest: RestServer, prefix: string, world: World): void {
  rest.get(`${prefix}/series/{series}/markets/{ticker}/candlesticks`, ({ params, query }) => {
    const candles = candlesIn(new QueryReader(query), world)
    const market = found(world.market('b', params.ticker ?? ''))
    if (market.event.series !== params.series) return notFound()
    const [list] = candlesOfAll([market], candles)
    return json({ ticker: market.listing.nativeId, candlesticks: list })
  })
  rest.get(`${prefix}/markets/candlesticks`, ({ query }) => {
    const reader = new QueryReader(query)
    const candles = candlesIn(reader, world)
    const tickers = reader.commaSeparated('market_tickers')
    if (tickers === null) throw badRequest('market_tickers is required')
    if (tickers.size > BATCH_TICKERS_MAX) {
      throw badRequest(`market_tickers must name at most ${BATCH_TICKERS_MAX} markets`)
    }
    const markets = [...tickers].flatMap((ticker) => world.market('b', ticker) ?? [])
    const lists = candlesOfAll(markets, candles)
    const rows = markets.map(({ listing }, index) => {
      return { market_ticker: listing.nativeId, candlesticks: lists[index] }
    })
    return json({ markets: rows })
  })
  rest.get(`${prefix}/series/{series}/events/{event}/candlesticks`, ({ params, query }) => {
    const candles = candlesIn(new QueryReader(query), world)
    const event = found(world.event('b', params.event ?? ''))
    if (event.series !== params.series) return notFound()
    return json(eventAnswer(event.markets, candles))
  })
}

function candlesOfAll(markets: readonly SimMarket[], candles: CandleRequest) {
  const total = markets.reduce((sum, market) => sum + candleCount(market, candles), 0)
  if (total > BATCH_CANDLES_MAX) {
    throw badRequest(`at most ${BATCH_CANDLES_MAX} candlesticks can be requested at once`)
  }
  return markets.map((market) => candlesOf(market, candles))
}

function eventAnswer(
  markets: readonly SimMarket[],
  candles: CandleRequest,
): Record<string, unknown> {
  const { startSeconds, period } = candles
  const perMarketMax = Math.max(1, Math.floor(EVENT_CANDLES_MAX / Math.max(1, markets.length)))
  const isTooMuch = markets.some((market) => candleCount(market, candles) > perMarketMax)
  const firstSeconds = Math.max(startSeconds, ...markets.map((m) => toSeconds(m.listing.openMs)))
  const lastSeconds = firstSeconds + (perMarketMax - 1) * period * 60
  const endSeconds = isTooMuch ? Math.min(candles.endSeconds, lastSeconds) : candles.endSeconds
  return {
    market_tickers: markets.map((market) => market.listing.nativeId),
    market_candlesticks: markets.map((market) => candlesOf(market, { ...candles, endSeconds })),
    adjusted_end_ts: endSeconds,
  }
}

function candlesIn(reader: QueryReader, world: World): CandleRequest {
  const minutes = reader.integer('period_interval', { min: 1, max: 1440, fallback: 0 })
  const period = PERIODS.find((candidate) => candidate === minutes)
  if (period === undefined) throw badRequest('period_interval must be one of 1, 60, 1440')
  const startSeconds = reader.requiredSeconds('start_ts')
  const endSeconds = reader.requiredSeconds('end_ts')
  if (endSeconds < startSeconds) throw badRequest('end_ts must not be before start_ts')
  const hasLatestBefore = reader.flag('include_latest_before_start')
  const times = { nowMs: world.nowMs(), tradesFromMs: world.tradesFromMs('b') }
  return { startSeconds, endSeconds, period, hasLatestBefore, ...times }
}
