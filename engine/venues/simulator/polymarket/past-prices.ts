// Price history (engine/venues/polymarket/README.md): the CLOB's `/prices-history` and the Data API's
// `/v2/prices-history`. Each step has one point, from trades of this run or otherwise from the fair price.

import type { Clock } from '../../../clock.ts'
import { complement, timeMs, toNumber } from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import { json, type RestAnswer } from '../rest.ts'
import { firstAfter } from '../world/trade-tape.ts'
import { type DataV2, type Page, type PageQuery, QueryError } from './envelope.ts'

const MINUTE_S = 60
const DAY_S = 86_400
const SPAN_MAX_S = 15 * DAY_S
/** Maximum number of points in an answer. The step increases if there would be more. */
const POINTS_MAX = 25_000
/** Length of an interval in seconds, with the CLOB's step in minutes and the Data API's step in seconds. */
interface Interval {
  readonly spanS: number
  readonly fidelity: number
  readonly bucketS: number
}

const FULL_HISTORY = {
  spanS: Number.POSITIVE_INFINITY,
  fidelity: 720,
  bucketS: 43_200,
}
const INTERVALS: Readonly<Record<string, Interval>> = {
  '1h': { spanS: 3_600, fidelity: 1, bucketS: 60 },
  '6h': { spanS: 6 * 3_600, fidelity: 1, bucketS: 60 },
  '1d': { spanS: DAY_S, fidelity: 5, bucketS: 60 },
  '1w': { spanS: 7 * DAY_S, fidelity: 30, bucketS: 300 },
  '1m': { spanS: 30 * DAY_S, fidelity: 180, bucketS: 1_800 },
  max: FULL_HISTORY,
  all: FULL_HISTORY,
}

/**
 * Answers a request for `market` (a token id) with `interval`, or with `startTs` and `endTs`. `fidelity` is in minutes.
 */
export function pastPrices(world: World, clock: Clock, query: URLSearchParams): RestAnswer {
  const token = query.get('market') ?? ''
  if (token === '') return json({ error: 'market is required' }, 400)
  const range = parseRange(query, Math.floor(clock.nowMs() / 1000))
  if (typeof range === 'string') return json({ error: range }, 400)
  const found = world.marketOfToken(token)
  if (found === null) return json({ history: [] })
  const { market, outcomeIndex } = found
  const startS = Math.max(range.startS, Math.ceil(market.listing.openMs / 1000))
  const nowS = Math.floor(clock.nowMs() / 1000)
  const endS = Math.min(range.endS, nowS, Math.floor(market.listing.closeMs / 1000))
  const steps = Math.ceil((endS - startS) / (range.fidelity * MINUTE_S) / POINTS_MAX)
  const stepS = range.fidelity * MINUTE_S * Math.max(1, steps)
  const history: { t: number; p: number }[] = []
  for (let t = Math.ceil(startS / stepS) * stepS; t <= endS; t += stepS) {
    history.push({ t, p: priceAt(market, { atS: t, stepS, outcomeIndex }) })
  }
  return json({ history })
}

interface Range {
  readonly startS: number
  readonly endS: number
  readonly fidelity: number
}

function parseRange(query: URLSearchParams, nowS: number): Range | string {
  const wanted = query.get('fidelity')
  const fidelity = wanted === null ? null : Number(wanted)
  if (fidelity !== null && !(Number.isInteger(fidelity) && fidelity > 0)) return 'invalid fidelity'
  const start = query.get('startTs')
  const end = query.get('endTs')
  const interval = query.get('interval')
  if (start === null && end === null) {
    const preset = INTERVALS[interval ?? 'max']
    if (preset === undefined) return 'invalid interval'
    const startS = Math.max(0, nowS - preset.spanS)
    return { startS, endS: nowS, fidelity: fidelity ?? preset.fidelity }
  }
  if (interval !== null) return "invalid filters: 'interval' excludes 'startTs' and 'endTs'"
  const startS = start === null ? 0 : Number(start)
  const endS = end === null ? nowS : Number(end)
  if (!Number.isFinite(startS) || !Number.isFinite(endS) || startS > endS) return 'invalid filters'
  if (endS - startS > SPAN_MAX_S) {
    return "invalid filters: 'startTs' and 'endTs' interval is too long"
  }
  return { startS, endS, fidelity: fidelity ?? 1 }
}

export function addPriceHistory(data: DataV2, { world }: { readonly world: World }): void {
  data.pages('prices_history', '/v2/prices-history', (pageQuery) => pricePage(world, pageQuery), {
    maxAgeS: null,
    limits: { fallback: 10_000, max: 10_000 },
  })
}

// Points are oldest first. The cursor is the time of the last point. The series of a resolved market ends with its
// payout.
function pricePage(world: World, { query, limit, at }: PageQuery): Page {
  const token = query.get('token_id') ?? ''
  if (token === '') throw new QueryError("required query param 'token_id' not provided")
  const found = world.marketOfToken(token)
  const closeS = Math.floor((found?.market.listing.closeMs ?? world.nowMs()) / 1000)
  const lastS = Math.min(Math.floor(world.nowMs() / 1000), closeS)
  const interval = INTERVALS[query.get('interval') ?? '']
  if (interval === undefined) throw new QueryError('invalid interval')
  const { spanS, bucketS: stepS } = interval
  if (found === null) return { rows: [], next: null }
  const { market, outcomeIndex } = found
  const { listing, status } = market
  const startS = Math.max(0, lastS - spanS)
  const fromS = Math.max(startS, Math.ceil(listing.openMs / 1000), Number(at?.ts ?? 0) + 1)
  const rows: { timestamp: number; price: number; resolution_seconds: number }[] = []
  for (let atS = Math.ceil(fromS / stepS) * stepS; atS <= lastS; atS += stepS) {
    if (rows.length === limit) return { rows, next: { ts: atS - stepS } }
    const price = priceAt(market, { atS, stepS, outcomeIndex })
    rows.push({ timestamp: atS, price, resolution_seconds: stepS })
  }
  const settledS = (Math.floor(closeS / stepS) + 1) * stepS
  if (status === 'resolved' && settledS >= fromS) {
    if (rows.length === limit) return { rows, next: { ts: settledS - 1 } }
    const payout = outcomeIndex === 0 ? listing.payout : complement(listing.payout)
    rows.push({ timestamp: settledS, price: toNumber(payout), resolution_seconds: 0 })
  }
  return { rows, next: null }
}

// The price of the last trade within the step before the point. Without a trade, the fair price at the point.
function priceAt(
  market: SimMarket,
  point: { readonly atS: number; readonly stepS: number; readonly outcomeIndex: 0 | 1 },
): number {
  const atMs = point.atS * 1000
  const trade = market.trades[firstAfter(market.trades, atMs) - 1]
  if (trade !== undefined && trade.atMs > atMs - point.stepS * 1000) {
    const isSame = trade.outcomeIndex === point.outcomeIndex
    return toNumber(isSame ? trade.price : complement(trade.price))
  }
  const fair = market.fairPrice(timeMs(atMs))
  return toNumber(point.outcomeIndex === 0 ? fair : complement(fair))
}
