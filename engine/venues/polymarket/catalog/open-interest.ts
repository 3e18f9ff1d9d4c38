// The open interest of open markets, from the Data API, which is asked for the most traded first. `/v2/oi` states dollars:
// the contracts of both outcomes, each at its price. Of a market whose outcomes have as many contracts, and prices that make a
// dollar, that is the number of pairs, which is open interest in contracts. Recorded values say so: they have whole
// micros (3,356.035556), which sums of priced contracts do not have otherwise. In a group whose No were converted there are fewer
// No than Yes about; the value lies between both.

import { type Clock, pause } from '../../../clock.ts'
import type { MarketSeenEvent } from '../../../events.ts'
import { type NativeMarketId, nativeMarketId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type { ReadListing } from '../../../market/market.ts'
import { MINUTE_MS, roundSize, type SizeMicros } from '../../../units.ts'
import { SuspectAnswerError } from '../../answer-checks.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import type { DataApi } from '../data-api.ts'

/** More are refused. */
const IDS_MAX = 20
/** The venue's edge gives an answer for so long again. */
const REFETCH_MS = 5 * MINUTE_MS
/** Full: a further market has none until one closes. */
const MARKETS_MAX = 50_000
const BETWEEN_CALLS_MS = 1_000
const AFTER_FAILURE_MS = 30_000

/** An open market. */
interface OpenMarket {
  volume: number
  /** By the monotonic clock; null: not yet. */
  requestedMs: number | null
  /** Null: the venue stated none. */
  stated: SizeMicros | null
  /** The last answer said that nothing is held, for the first time. */
  wasZero: boolean
}

/** Completes the listings of open markets with their open interest; asks for it between start and stop. */
export class PolymarketOpenInterest {
  readonly #parts: {
    readonly data: Pick<DataApi, 'value'>
    readonly clock: Clock
    readonly counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers'>
    readonly emit: (event: MarketSeenEvent) => void
  }
  readonly #markets = new Map<NativeMarketId, OpenMarket>()
  readonly #abort = new AbortController()
  #task: Promise<void> = Promise.resolve()
  #callCount = 0

  constructor(parts: {
    readonly data: Pick<DataApi, 'value'>
    readonly clock: Clock
    readonly counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers'>
    /** Called for a market whose open interest changed, so that its listing is read again. */
    readonly emit: (event: MarketSeenEvent) => void
  }) {
    this.#parts = parts
  }

  start(): void {
    this.#task = this.#run()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#task
  }

  /** The listing with what was stated of it; an open market is asked for from now on. */
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

  async #run(): Promise<void> {
    const { signal } = this.#abort
    const { clock, counters } = this.#parts
    while (!signal.aborted) {
      let isAnswered = true
      try {
        await this.#fetch(this.#due())
      } catch (error) {
        if (signal.aborted) return
        isAnswered = false
        if (error instanceof SuspectAnswerError) counters.suspectAnswers.note(error)
        else counters.trouble('open_interest_not_read', { detail: String(error) })
      }
      await pause(clock, isAnswered ? BETWEEN_CALLS_MS : AFTER_FAILURE_MS, signal)
    }
  }

  /** The most traded of those that are due; every other time those that wait longest, so that all have their turn. */
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

  async #fetch(ids: readonly NativeMarketId[]): Promise<void> {
    if (ids.length === 0) return
    const { data, clock } = this.#parts
    const requestedMs = clock.monotonicMs()
    for (const id of ids) {
      const market = this.#markets.get(id)
      if (market !== undefined) market.requestedMs = requestedMs
    }
    const query = { condition: ids.join() }
    const request = { path: '/v2/oi', query, kind: 'market' } as const
    const rows = await data.value(request, { signal: this.#abort.signal })
    if (!Array.isArray(rows))
      throw new SuspectAnswerError('market', 'shape', 'open interest is no list')
    if (rows.length === 0)
      throw new SuspectAnswerError('market', 'empty', `of ${ids.length} markets`)
    for (const row of rows) this.#take(row, new Set(ids))
  }

  /** A market that is not in the answer keeps what it has; so does one that holds nothing at once. */
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
