// Price history (engine/venues/polymarket/README.md): the CLOB's `/prices-history` and the Data API's
// `/v2/prices-history`. One point per step, from trades of this run and otherwise from the fair price.

import type { Clock } from '../../../clock.ts'
import { complement, timeMs, toNumber } from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import { json, type RestAnswer } from '../rest.ts'
import { firstAfter } from '../world/trade-tape.ts'
import { positive, QueryError } from './data-query.ts'
import type { DataV2, Page, PageQuery } from './envelope.ts'

const MINUTE_S = 60
const DAY_S = 86_400
const SPAN_MAX_S = 15 * DAY_S
/** Above this count the step grows, so that one request cannot fetch a year of minutes. */
const POINTS_MAX = 25_000
/** Length of an interval, the CLOB's step in minutes, and the Data API's default and finest step in seconds. */
interface Interval {
  readonly spanS: number
  readonly fidelity: number
  readonly bucketS: number
  readonly leastS: number
}

const FULL_HISTORY = {
  spanS: Number.POSITIVE_INFINITY,
  fidelity: 720,
  bucketS: 43_200,
  leastS: 600,
}
const INTERVALS: Readonly<Record<string, Interval>> = {
  '1h': { spanS: 3_600, fidelity: 1, bucketS: 60, leastS: 60 },
  '6h': { spanS: 6 * 3_600, fidelity: 1, bucketS: 60, leastS: 60 },
  '1d': { spanS: DAY_S, fidelity: 5, bucketS: 60, leastS: 60 },
  '1w': { spanS: 7 * DAY_S, fidelity: 30, bucketS: 300, leastS: 300 },
  '1m': { spanS: 30 * DAY_S, fidelity: 180, bucketS: 1_800, leastS: 600 },
  max: FULL_HISTORY,
  all: FULL_HISTORY,
}

/** Answers `market` (a token id) with `interval`, or `startTs` and `endTs`; `fidelity` in minutes. */
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
  /** Minutes. */
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

/** The widths of steps, finest first, in seconds. */
const GRAINS_S = [60, 300, 1_800, 10_800, 43_200] as const
const SERIES_POINTS_MAX = 2_500
const MINUTES_SPAN_MAX_S = 12 * 3_600
interface Series {
  readonly startS: number
  /** Exclusive. */
  readonly endS: number
  readonly stepS: number
}

// Oldest first. The cursor is the time of the last point. A resolved market's series ends with its payout.
function pricePage(world: World, { query, limit, at }: PageQuery): Page {
  const token = query.get('token_id') ?? ''
  if (token === '') throw new QueryError("required query param 'token_id' not provided")
  const found = world.marketOfToken(token)
  const closeS = Math.floor((found?.market.listing.closeMs ?? world.nowMs()) / 1000)
  const lastS = Math.min(Math.floor(world.nowMs() / 1000), closeS)
  const { startS, endS, stepS } = parseSeries(query, lastS)
  if (found === null) return { rows: [], next: null }
  const { market, outcomeIndex } = found
  const { listing, status } = market
  const fromS = Math.max(startS, Math.ceil(listing.openMs / 1000), Number(at?.ts ?? 0) + 1)
  const toS = Math.min(endS, lastS + 1)
  const rows: { timestamp: number; price: number; resolution_seconds: number }[] = []
  for (let atS = Math.ceil(fromS / stepS) * stepS; atS < toS; atS += stepS) {
    if (rows.length === limit) return { rows, next: { ts: atS - stepS } }
    const price = priceAt(market, { atS, stepS, outcomeIndex })
    rows.push({ timestamp: atS, price, resolution_seconds: stepS })
  }
  const settledS = (Math.floor(closeS / stepS) + 1) * stepS
  if (status === 'resolved' && settledS >= fromS && settledS < endS) {
    if (rows.length === limit) return { rows, next: { ts: settledS - 1 } }
    const payout = outcomeIndex === 0 ? listing.payout : complement(listing.payout)
    rows.push({ timestamp: settledS, price: toNumber(payout), resolution_seconds: 0 })
  }
  return { rows, next: null }
}

/** The window of `start` and `end`, of `interval`, or the one point at or before `as_of`. Intervals end at `lastS`. */
function parseSeries(query: URLSearchParams, lastS: number): Series {
  const [start, end, asOf] = ['start', 'end', 'as_of'].map((key) => positive(query, key))
  const interval = query.get('interval')
  const bucketS = positive(query, 'bucket_seconds')
  if (bucketS !== null && (bucketS < MINUTE_S || bucketS > DAY_S)) {
    throw new QueryError('invalid bucket_seconds')
  }
  const forms = [start, interval, asOf].filter((form) => form !== null && form !== undefined)
  if (forms.length !== 1) throw new QueryError('invalid start: one of start, interval, as_of')
  if (end !== null && start === null) throw new QueryError('invalid end: it goes with start')
  if (typeof asOf === 'number') {
    const stepS = bucketS ?? MINUTE_S
    const atS = Math.floor(Math.min(asOf, lastS) / stepS) * stepS
    return { startS: atS, endS: atS + 1, stepS }
  }
  if (interval !== null) {
    const preset = INTERVALS[interval]
    if (preset === undefined) throw new QueryError('invalid interval')
    const startS = Math.max(0, lastS - preset.spanS)
    const stepS = bucketS === null ? preset.bucketS : Math.max(preset.leastS, bucketS)
    return { startS, endS: Number.POSITIVE_INFINITY, stepS }
  }
  const startS = start ?? 0
  const spanS = (end ?? Math.max(startS, lastS + 1)) - startS
  if (spanS < 0) throw new QueryError('invalid end')
  if (end === null && spanS > SPAN_MAX_S) throw new QueryError('invalid start: over 15 days')
  const fitting = GRAINS_S.find(
    (grainS) =>
      spanS / grainS < SERIES_POINTS_MAX && (grainS > MINUTE_S || spanS <= MINUTES_SPAN_MAX_S),
  )
  return { startS, endS: end ?? Number.POSITIVE_INFINITY, stepS: bucketS ?? fitting ?? 43_200 }
}

// The last trade within the step before the point, else the fair price at the point.
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
