// CLOB `/prices-history` (engine/venues/polymarket/README.md, CLOB): one point per step, from trades where
// this run has them and from the fair price elsewhere. Upholds SIMPM14 and SIMPM15.

import type { Clock } from '../../../clock.ts'
import { complement, timeMs, toNumber } from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import { json, type RestAnswer } from '../rest.ts'
import { firstAfter } from '../world/trade-tape.ts'

const MINUTE_S = 60
const DAY_S = 86_400
const SPAN_MAX_S = 15 * DAY_S
/** Above it the step grows, so that one request cannot ask for a year of minutes. */
const POINTS_MAX = 25_000
const INTERVALS: Readonly<Record<string, { readonly spanS: number; readonly fidelity: number }>> = {
  '1h': { spanS: 3_600, fidelity: 1 },
  '6h': { spanS: 6 * 3_600, fidelity: 1 },
  '1d': { spanS: DAY_S, fidelity: 5 },
  '1w': { spanS: 7 * DAY_S, fidelity: 30 },
  '1m': { spanS: 30 * DAY_S, fidelity: 180 },
  max: { spanS: Number.POSITIVE_INFINITY, fidelity: 720 },
  all: { spanS: Number.POSITIVE_INFINITY, fidelity: 720 },
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
    const known = INTERVALS[interval ?? 'max']
    if (known === undefined) return 'invalid interval'
    const startS = Math.max(0, nowS - known.spanS)
    return { startS, endS: nowS, fidelity: fidelity ?? known.fidelity }
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
