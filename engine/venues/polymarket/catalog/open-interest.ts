// Open interest of the watched markets: the catalogue does not state it, the Data API does (README.md, Data
// API, /oi), in dollars, which are complete sets, which are contracts of each outcome. Read in the
// background, so many markets a call and a call at a time, so that trades are never held back by it.
// Upholds POLYOI1, POLYOI2.

import { type Clock, pause } from '../../../clock.ts'
import type { OpenInterestEvent } from '../../../events.ts'
import type { HttpClient } from '../../../fetch.ts'
import { type NativeMarketId, nativeMarketId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { roundSize, type SizeMicros } from '../../../units.ts'
import { AnswerDoubt, asList } from '../../answers.ts'
import type { Intake } from '../intake.ts'

/** Condition ids of 66 characters: a query of some 7 KB. */
const MARKETS_PER_CALL = 100
const BETWEEN_CALLS_MS = 500
/** All watched markets are read again at most this often. */
const ROUND_MS = 60_000

export class OpenInterest {
  readonly #data: Pick<HttpClient, 'getJson'>
  readonly #clock: Clock
  readonly #intake: Pick<Intake, 'reject' | 'trouble' | 'doubts'>
  readonly #emit: (event: OpenInterestEvent) => void
  /** What was told of each watched market; bounded by them. */
  readonly #known = new Map<NativeMarketId, SizeMicros | null>()
  readonly #abort = new AbortController()
  #task: Promise<void> = Promise.resolve()

  constructor(parts: {
    data: Pick<HttpClient, 'getJson'>
    clock: Clock
    intake: Pick<Intake, 'reject' | 'trouble' | 'doubts'>
    emit: (event: OpenInterestEvent) => void
  }) {
    this.#data = parts.data
    this.#clock = parts.clock
    this.#intake = parts.intake
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
      const answer = await this.#data.getJson('/oi', { market: ids.join(',') }, { signal })
      const rows = asList(answer, 'open_interest')
      if (rows.length === 0 && ids.some((id) => (this.#known.get(id) ?? null) !== null)) {
        throw new AnswerDoubt('open_interest', 'empty', `of ${ids.length} markets`)
      }
      for (const row of rows) this.#take(row)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof AnswerDoubt) this.#intake.doubts.note(error)
      else this.#intake.trouble('open_interest', String(error))
    }
  }

  #take(row: unknown): void {
    if (!isRecord(row) || typeof row.market !== 'string') return
    const market = keyOf(row.market)
    const contracts = typeof row.value === 'number' ? roundSize(row.value) : null
    if (contracts === null || contracts < 0) {
      return this.#intake.reject('bad_open_interest', JSON.stringify(row) ?? '')
    }
    const known = this.#known.get(market)
    // Not asked for, or not watched any more; or nothing new.
    if (known === undefined || known === contracts) return
    this.#known.set(market, contracts)
    const nowMs = this.#clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    this.#emit({ kind: 'openInterest', venue: 'a', market, contracts, ...times })
  }
}

/** The venue writes ids in either case. */
function keyOf(id: string): NativeMarketId {
  return nativeMarketId(id.toLowerCase())
}
