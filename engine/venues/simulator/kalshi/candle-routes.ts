import { toSeconds } from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import { json, type RestServer } from '../rest.ts'
import { type CandleRequest, candleCount, candlesOf, PERIODS } from './candles.ts'
import { badRequest, notFound, QueryReader } from './paging.ts'
import { found } from './rest.ts'

/** The venue's limits: tickers and candles of a batch, candles of an event. */
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
