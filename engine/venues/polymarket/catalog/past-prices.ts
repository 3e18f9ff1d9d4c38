// Reads past prices from /prices-history (README.md, CLOB). A range of up to a day is read by the minute, a longer
// range in the requested steps. An empty range is read again in steps of 12 hours, because finer prices of resolved
// markets are missing (Polymarket/py-clob-client#216).

import { getIfFound, type JsonReader } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { roundPrice, type TimeMs, timeMs } from '../../../units.ts'
import { listIn } from '../../answer-checks.ts'
import { type PastPoint, pointsFrom } from '../../past-points.ts'
import type { PastMarket, VenuePastPrices } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'

interface PastPricesParts {
  readonly clob: JsonReader
  readonly counters: VenueCounters
}

const DAY_S = 86_400
/** Maximum length of a request that the venue accepts: 15 days. Requests for longer steps always use this length. */
const SPAN_MAX_S = 15 * DAY_S
const FINE_MINUTES = 1
const COARSE_MINUTES = 720
/** Requests for minute prices start this much earlier, to include the last price before the range. */
const FINE_LEAD_S = 3_600
/** The year 2100. A larger value is not a time in seconds. */
const SECONDS_MAX = 4_102_444_800

export class PolymarketPastPrices implements VenuePastPrices {
  readonly #parts: PastPricesParts

  constructor(parts: PastPricesParts) {
    this.#parts = parts
  }

  /** See VenuePastPrices.read. Sends one request, or two if the range has no prices in the finer steps. */
  async read(
    market: PastMarket,
    range: { fromMs: TimeMs; toMs: TimeMs; stepMs?: number },
    signal: AbortSignal,
  ): Promise<readonly PastPoint[]> {
    const token = market.outcomes[0]
    const endS = Math.floor(range.toMs / 1_000)
    const fromS = Math.ceil(range.fromMs / 1_000)
    if (token === undefined || endS < fromS) return []
    const query = { market: token, endTs: endS }
    const coarse = { ...query, startTs: endS - SPAN_MAX_S, fidelity: COARSE_MINUTES }
    const fine = { ...query, startTs: fromS - FINE_LEAD_S, fidelity: FINE_MINUTES }
    const wanted = Math.min(COARSE_MINUTES, Math.round((range.stepMs ?? Infinity) / 60_000))
    const stepped = { ...query, startTs: Math.max(fromS, endS - SPAN_MAX_S), fidelity: wanted }
    let rows: readonly unknown[] = []
    if (endS - fromS <= DAY_S) rows = await this.#rows(fine, signal)
    else if (wanted < COARSE_MINUTES) rows = await this.#rows(stepped, signal)
    if (rows.length === 0) rows = await this.#rows(coarse, signal)
    return this.#points(rows, range)
  }

  #points(rows: readonly unknown[], range: { fromMs: TimeMs; toMs: TimeMs }): readonly PastPoint[] {
    const points: PastPoint[] = []
    for (const row of rows) {
      const point = readPoint(row)
      if (point === null)
        this.#parts.counters.rejected('bad_price_point', JSON.stringify(row) ?? '')
      else if (point.timeMs > range.toMs) this.#parts.counters.ignored('price_point_outside')
      else points.push(point)
    }
    return pointsFrom(range.fromMs, points)
  }

  async #rows(
    query: Readonly<Record<string, string | number>>,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const answer = await getIfFound(this.#parts.clob, '/prices-history', query, signal)
    return answer === undefined ? [] : listIn(answer, 'history', 'prices')
  }
}

function readPoint(row: unknown): PastPoint | null {
  if (!isRecord(row)) return null
  const { t, p } = row
  if (typeof t !== 'number' || !(t > 0 && t < SECONDS_MAX)) return null
  const price = typeof p === 'number' ? roundPrice(p) : null
  return price === null ? null : { timeMs: timeMs(t * 1_000), price }
}
