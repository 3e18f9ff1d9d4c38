// Open interest of the watched markets by the Data API (README.md, Data API v2, /v2/oi): shares at the venue's prices, in
// dollars, which are no contracts: the number of contracts stays unknown. Read in the background, so many markets a
// call and a call at a time, so that trades are never held back by it. Upholds POLYOI1, POLYOI2.

import { type Clock, pause } from '../../../clock.ts'
import type { OpenInterestEvent } from '../../../events.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { MICROS, type UsdMicros, usdMicros } from '../../../units.ts'
import { AnswerDoubt } from '../../answers.ts'
import type { Tally } from '../../tally.ts'
import { conditionId } from '../condition-id.ts'
import type { DataApi } from '../data-api.ts'

/** The venue refuses more. */
const MARKETS_PER_CALL = 20
const BETWEEN_CALLS_MS = 500
/** All watched markets are read again at most this often. */
const ROUND_MS = 60_000

const DOLLARS_END = Number.MAX_SAFE_INTEGER / MICROS

export class OpenInterest {
  readonly #data: Pick<DataApi, 'rows'>
  readonly #clock: Clock
  readonly #tally: Pick<Tally, 'rejected' | 'trouble' | 'doubts'>
  readonly #emit: (event: OpenInterestEvent) => void
  /** What was emitted last of each watched market; bounded by them. */
  readonly #known = new Map<NativeMarketId, UsdMicros | null>()
  readonly #abort = new AbortController()
  #task: Promise<void> = Promise.resolve()

  constructor(parts: {
    data: Pick<DataApi, 'rows'>
    clock: Clock
    tally: Pick<Tally, 'rejected' | 'trouble' | 'doubts'>
    emit: (event: OpenInterestEvent) => void
  }) {
    this.#data = parts.data
    this.#clock = parts.clock
    this.#tally = parts.tally
    this.#emit = parts.emit
  }

  start(): void {
    this.#task = this.#run()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#task
  }

  watch(ids: Iterable<NativeMarketId>): void {
    for (const id of ids) if (!this.#known.has(keyOf(id))) this.#known.set(keyOf(id), null)
  }

  unwatch(ids: Iterable<NativeMarketId>): void {
    for (const id of ids) this.#known.delete(keyOf(id))
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      const startedMs = this.#clock.monotonicMs()
      const ids = [...this.#known.keys()]
      for (let start = 0; start < ids.length; start += MARKETS_PER_CALL) {
        await this.#read(ids.slice(start, start + MARKETS_PER_CALL))
        await pause(this.#clock, BETWEEN_CALLS_MS, signal)
        if (signal.aborted) return
      }
      const leftMs = ROUND_MS - (this.#clock.monotonicMs() - startedMs)
      await pause(this.#clock, Math.max(BETWEEN_CALLS_MS, leftMs), signal)
    }
  }

  /** A call that fails is left to the next round. */
  async #read(ids: readonly NativeMarketId[]): Promise<void> {
    const { signal } = this.#abort
    try {
      const query = { condition: ids.join(',') }
      const rows = await this.#data.rows(
        { path: '/v2/oi', query, kind: 'open_interest' },
        { signal },
      )
      if (rows.length === 0 && ids.some((id) => (this.#known.get(id) ?? null) !== null)) {
        throw new AnswerDoubt('open_interest', 'empty', `of ${ids.length} markets`)
      }
      for (const row of rows) this.#take(row)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof AnswerDoubt) this.#tally.doubts.note(error)
      else this.#tally.trouble('open_interest', { detail: String(error) })
    }
  }

  #take(row: unknown): void {
    if (!isRecord(row) || typeof row.condition_id !== 'string') return
    const market = keyOf(row.condition_id)
    const { value } = row
    if (typeof value !== 'number' || !(value >= 0 && value < DOLLARS_END)) {
      return this.#tally.rejected('bad_open_interest', JSON.stringify(row) ?? '')
    }
    const usd = usdMicros(Math.round(value * MICROS))
    const known = this.#known.get(market)
    // Not asked for, or not watched any more; or nothing new.
    if (known === undefined || known === usd) return
    this.#known.set(market, usd)
    const nowMs = this.#clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    this.#emit({ kind: 'openInterest', venue: 'a', market, usd, ...times })
  }
}

/** The venue writes ids in either case and in two lengths. */
function keyOf(id: string): NativeMarketId {
  return conditionId(id.toLowerCase())
}
