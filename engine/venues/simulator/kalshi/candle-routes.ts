// The three candle routes of venue b: parameters, limits and envelopes.

import { toSeconds } from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import { json, type RestRequest, type RestServer } from '../rest.ts'
import { type CandleRequest, candleCount, candlesOf, PERIODS } from './candles.ts'
import { badRequest, notFound } from './errors.ts'
import { QueryReader } from './paging.ts'

/** The venue's limits: tickers and candles of a batch, candles of an event. */
const BATCH_TICKERS_MAX = 100
const BATCH_CANDLES_MAX = 10_000
const EVENT_CANDLES_MAX = 5_000

export function addCandleRoutes(rest: RestServer, prefix: string, world: World): void {
  rest.get(`${prefix}/series/{series}/markets/{ticker}/candlesticks`, (request) => {
    const { reader, candles } = readCandles(request, world)
    if (reader.problem !== null) return badRequest(reader.problem)
    const market = world.market('b', request.params.ticker ?? '')
    if (market === null || market.event.series !== request.params.series) return notFound()
    if (candleCount(market, candles) > BATCH_CANDLES_MAX) return badRequest(TOO_MANY)
    return json({ ticker: market.listing.nativeId, candlesticks: candlesOf(market, candles) })
  })
  rest.get(`${prefix}/markets/candlesticks`, (request) => {
    const { reader, candles } = readCandles(request, world)
    const tickers = reader.commaSeparated('market_tickers')
    if (tickers === null) reader.reject('market_tickers is required')
    if (reader.problem !== null || tickers === null) return badRequest(reader.problem ?? '')
    if (tickers.size > BATCH_TICKERS_MAX) {
      return badRequest(`market_tickers must name at most ${BATCH_TICKERS_MAX} markets`)
    }
    const found: SimMarket[] = []
    let total = 0
    for (const ticker of tickers) {
      const market = world.market('b', ticker)
      if (market === null) continue
      found.push(market)
      total += candleCount(market, candles)
    }
    if (total > BATCH_CANDLES_MAX) return badRequest(TOO_MANY)
    const markets = found.map((market) => ({
      market_ticker: market.listing.nativeId,
      candlesticks: candlesOf(market, candles),
    }))
    return json({ markets })
  })
  rest.get(`${prefix}/series/{series}/events/{event}/candlesticks`, (request) => {
    const { reader, candles } = readCandles(request, world)
    if (reader.problem !== null) return badRequest(reader.problem)
    const event = world.event('b', request.params.event ?? '')
    if (event === null || event.series !== request.params.series) return notFound()
    return json(eventAnswer(event.markets, candles))
  })
}

const TOO_MANY = `at most ${BATCH_CANDLES_MAX} candlesticks can be requested at once`

/** Truncates a range with too many candles at its end, and reports it in the answer. */
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

function readCandles(
  request: RestRequest,
  world: World,
): { reader: QueryReader; candles: CandleRequest } {
  const reader = new QueryReader(request.query)
  const minutes = reader.integer('period_interval', { min: 1, max: 1440, fallback: 0 })
  const period = PERIODS.find((candidate) => candidate === minutes)
  if (period === undefined) reader.reject('period_interval must be one of 1, 60, 1440')
  const startSeconds = reader.requiredSeconds('start_ts')
  const endSeconds = reader.requiredSeconds('end_ts')
  if (endSeconds < startSeconds) reader.reject('end_ts must not be before start_ts')
  const hasLatestBefore = reader.flag('include_latest_before_start')
  return {
    reader,
    candles: {
      startSeconds,
      endSeconds,
      period: period ?? 1,
      nowMs: world.nowMs(),
      tradesFromMs: world.tradesFromMs('b'),
      hasLatestBefore,
    },
  }
}
