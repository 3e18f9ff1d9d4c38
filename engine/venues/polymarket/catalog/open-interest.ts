// Open interest of open markets. `/v2/oi` returns the dollar value of all contracts of both outcomes. If both outcomes
// have equally many contracts, this equals the number of pairs. After conversions of No it lies between the two
// numbers.

import type { Clock } from '../../../clock.ts'
import type { MarketSeenEvent } from '../../../events.ts'
import { type NativeMarketId, nativeMarketId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type { ReadListing } from '../../../market/market.ts'
import { MINUTE_MS, roundSize, type SizeMicros } from '../../../units.ts'
import { SuspectAnswerError } from '../../answer-checks.ts'
import { Poller } from '../../poller.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import type { DataApi } from '../data-api.ts'

/** Maximum ids per request that the venue accepts. */
const IDS_MAX = 20
/** The venue's cache returns the same response for this time. */
const REFETCH_MS = 5 * MINUTE_MS
/** Maximum tracked markets. Further markets have no open interest until a tracked market closes. */
const MARKETS_MAX = 50_000
const BETWEEN_CALLS_MS = 1_000
const AFTER_FAILURE_MS = 30_000

interface OpenMarket {
  volume: number
  requestedMs: number | null
  stated: SizeMicros | null
  /** Whether the last response reported zero for the first time. */
  wasZero: boolean
}

interface InterestParts {
  readonly data: Pick<DataApi, 'value'>
  readonly clock: Clock
  readonly counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers'>
  /** Called when a market's open interest changed. Its listing is then read again. */
  readonly emit: (event: MarketSeenEvent) => void
}

export class PolymarketOpenInterest {
  readonly #parts: InterestParts
  readonly #poller: Poller
  readonly #markets = new Map<NativeMarketId, OpenMarket>()
  #callCount = 0

  constructor(parts: InterestParts) {
    this.#parts = parts
    const times = { everyMs: () => BETWEEN_CALLS_MS, afterFailureMs: AFTER_FAILURE_MS }
    this.#poller = new Poller({ ...parts, ...times, trouble: 'open_interest_not_read' }, (signal) =>
      this.#fetch(signal),
    )
  }

  start(): void {
    this.#poller.start()
  }

  stop(): Promise<void> {
    return this.#poller.stop()
  }

  completed(market: ReadListing): ReadListing {
    const { nativeId: id, status, volume24h: volume } = market
    const existing = this.#markets.get(id)
    if (status !== 'open') this.#markets.delete(id)
    else if (existing !== undefined) existing.volume = volume
    else if (this.#markets.size < MARKETS_MAX) {
      this.#markets.set(id, { volume, requestedMs: null, stated: null, wasZero: false })
    }
    const openInterest = existing?.stated ?? null
    return openInterest === null ? market : { ...market, openInterest }
  }

  /**
   * The markets of the next request: alternately the markets with the most volume and the markets that were requested
   * longest ago.
   */
  #due(): readonly NativeMarketId[] {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#callCount += 1
    const isByVolume = this.#callCount % 2 === 1
    const rankOf = ({ volume, requestedMs }: OpenMarket): number =>
      isByVolume ? -volume : (requestedMs ?? -1)
    const due = [...this.#markets].filter(
      ([, { requestedMs }]) => requestedMs === null || nowMs - requestedMs >= REFETCH_MS,
    )
    due.sort(([, one], [, other]) => rankOf(one) - rankOf(other) || other.volume - one.volume)
    return due.slice(0, IDS_MAX).map(([id]) => id)
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const ids = this.#due()
    if (ids.length === 0) return
    const { data, clock } = this.#parts
    const requestedMs = clock.monotonicMs()
    for (const id of ids) {
      const market = this.#markets.get(id)
      if (market !== undefined) market.requestedMs = requestedMs
    }
    const query = { condition: ids.join() }
    const request = { path: '/v2/oi', query, kind: 'market' } as const
    const rows = await data.value(request, { signal })
    if (!Array.isArray(rows))
      throw new SuspectAnswerError('market', 'shape', 'open interest is no list')
    if (rows.length === 0)
      throw new SuspectAnswerError('market', 'empty', `of ${ids.length} markets`)
    for (const row of rows) this.#take(row, new Set(ids))
  }

  /**
   * A market that is absent from the response keeps its value. A drop to zero applies when the next response confirms
   * it.
   */
  #take(row: unknown, ids: ReadonlySet<NativeMarketId>): void {
    if (!isRecord(row) || typeof row.condition_id !== 'string') return
    const id = conditionId(row.condition_id)
    const market = ids.has(id) ? this.#markets.get(id) : undefined
    const stated = typeof row.value === 'number' ? roundSize(row.value) : null
    if (market === undefined || stated === null) return
    const isSudden = stated === 0 && (market.stated ?? 0) > 0 && !market.wasZero
    market.wasZero = stated === 0
    if (isSudden || stated === market.stated) return
    market.stated = stated
    const nowMs = this.#parts.clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    this.#parts.emit({ kind: 'marketSeen', venue: 'a', market: nativeMarketId(id), ...times })
  }
}
