import type { JsonReader } from '../../../fetch.ts'
import { outcomeId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { listIn, SuspectAnswerError } from '../../answer-checks.ts'
import { Poller } from '../../poller.ts'
import type { Readable, VenueParts } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { tradingFigures } from '../catalog/listing.ts'
import { idOf } from '../parse.ts'

/** One request every two seconds is a sixteenth of the rate that is available without a key. */
const EVERY_MS = 2_000
const BATCH_TICKERS_MAX = 100
/** Maximum queued markets. Above the maximum, the market that was queued first is dropped until it trades again. */
const WAITING_MAX = 20_000
/** Minimum interval between two reads of a market, with and without a stream that has most of the figures. */
const AGAIN_MS = { streamed: 300_000, polled: 15_000 }

interface ReaderParts extends Pick<VenueParts, 'clock' | 'emit'> {
  readonly http: JsonReader
  readonly counters: VenueCounters
  readonly source: keyof typeof AGAIN_MS
  readonly isWatched: (ticker: string) => boolean
}

interface Waiting {
  trades: number
  readAtMs: number
}

export class FiguresReader {
  readonly #parts: ReaderParts
  readonly #poller: Poller
  readonly #waiting = new Map<string, Waiting>()
  #isPaused = false

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.#poller = new Poller({ ...parts, trouble: 'figures', everyMs: () => EVERY_MS }, (signal) =>
      this.#readBatch(signal),
    )
  }

  start(): void {
    this.#poller.start()
  }

  stop(): Promise<void> {
    return this.#poller.stop()
  }

  read(what: Readable): void {
    this.#isPaused = what !== 'all'
  }

  noteTrade(ticker: string): void {
    const existing = this.#waiting.get(ticker)
    if (existing !== undefined) {
      existing.trades += 1
      return
    }
    if (this.#waiting.size >= WAITING_MAX) {
      const [oldest] = this.#waiting.keys()
      if (oldest !== undefined) this.#waiting.delete(oldest)
    }
    this.#waiting.set(ticker, { trades: 1, readAtMs: Number.NEGATIVE_INFINITY })
  }

  remove(tickers: readonly string[]): void {
    for (const ticker of tickers) this.#waiting.delete(ticker)
  }

  #nextBatch(): readonly string[] {
    const dueMs = this.#parts.clock.monotonicMs() - AGAIN_MS[this.#parts.source]
    const due: { readonly ticker: string; readonly trades: number }[] = []
    for (const [ticker, { trades, readAtMs }] of this.#waiting) {
      if (readAtMs > dueMs) continue
      if (trades > 0) due.push({ ticker, trades })
      else this.#waiting.delete(ticker)
    }
    due.sort((one, other) => other.trades - one.trades)
    return due.slice(0, BATCH_TICKERS_MAX).map(({ ticker }) => ticker)
  }

  async #readBatch(signal: AbortSignal): Promise<void> {
    const { http, clock } = this.#parts
    const tickers = this.#isPaused ? [] : this.#nextBatch()
    if (tickers.length === 0) return
    const readAtMs = clock.monotonicMs()
    // Later trades may be absent from the response, so they count for the next read.
    for (const ticker of tickers) this.#waiting.set(ticker, { trades: 0, readAtMs })
    const query = { tickers: tickers.join(','), limit: BATCH_TICKERS_MAX }
    try {
      const requestedAtMs = clock.nowMs()
      const rows = listIn(await http.getJson('/markets', query, { signal }), 'markets', 'market')
      if (rows.length === 0) throw new SuspectAnswerError('market', 'empty', `of ${tickers.length}`)
      for (const row of rows) this.#take(row, requestedAtMs)
    } catch (error) {
      for (const ticker of tickers) this.noteTrade(ticker)
      throw error
    }
  }

  #take(row: unknown, requestedAtMs: ReturnType<VenueParts['clock']['nowMs']>): void {
    if (!isRecord(row)) return
    const ticker = idOf(row.ticker)
    if (ticker === null || !this.#parts.isWatched(ticker)) return
    const receivedAtMs = this.#parts.clock.nowMs()
    this.#parts.emit({
      kind: 'figures',
      venue: 'b',
      venueTimeMs: requestedAtMs,
      receivedAtMs,
      outcome: outcomeId(ticker),
      tradesToMs: receivedAtMs,
      ...tradingFigures(row),
    })
  }
}
