// Keeps one venue's part of the catalogue up to date: a first crawl, a refresh every minute, a full crawl every hour,
// and requests for single markets that messages mention. Network failures are retried forever with back-off. Pages that
// arrived before a failure are retained. A crawl is suspect if markets that must be listed are missing. A suspect crawl
// is repeated with back-off, and the missing markets are requested one by one.

import { type Clock, pause } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { EventListing } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import { forEachSliced, runInSlices, runInSlicesFromNow } from '../../engine/time-slices.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import {
  SuspectAnswerError,
  type SuspectAnswers,
  suspectListReason,
} from '../../engine/venues/answer-checks.ts'
import type { CatalogPage, VenueCatalog } from '../../engine/venues/venue.ts'

const REFRESH_EVERY_MS = 60_000
const REFRESH_OVERLAP_MS = 120_000
const CRAWL_EVERY_MS = 3_600_000
const RETRY_FIRST_MS = 1_000
const RETRY_MAX_MS = 60_000
/**
 * After this many suspect crawls the catalogue counts as loaded. Without any known market one suspect crawl is enough.
 */
const SUSPECT_CRAWLS_UNTIL_LOADED = 3
const SLICE_MARKETS = 16
/** Minimum known markets for the detection of another environment. Fewer may all disappear by chance. */
const OTHER_ENVIRONMENT_MIN = 5
/** Delay before a market is requested. Doubled after each answer without the market. */
const FETCH_DELAY_MS = 250
const FETCH_BATCH = 100
/** Maximum requests for one market. REST may show a new market later than the stream. */
const FETCH_TRIES_MAX = 6
/** When full, further markets are not requested. A later refresh lists them. */
const FETCH_WAITING_MAX = 10_000

interface CatalogReaderParts {
  readonly catalog: VenueCatalog
  readonly clock: Clock
  readonly log: Log
  readonly onPage: (page: CatalogPage) => void
  readonly suspectAnswers: SuspectAnswers
  readonly expected: () => Iterable<NativeMarketId>
  /** Called if a full crawl listed markets, but none of the known open ones. */
  readonly onOtherEnvironment: (knownCount: number, got: number) => void
}

export class CatalogReader {
  readonly #parts: CatalogReaderParts
  readonly #abort = new AbortController()
  readonly #requested = new Map<NativeMarketId, number>()
  #isFetching = false
  #fetchTask: Promise<void> = Promise.resolve()
  #task: Promise<void> = Promise.resolve()

  constructor(parts: CatalogReaderParts) {
    this.#parts = parts
  }

  start(onCrawled: () => void): void {
    this.#task = this.#run(onCrawled)
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all([this.#task, this.#fetchTask])
  }

  request(market: NativeMarketId): void {
    if (this.#requested.size >= FETCH_WAITING_MAX || this.#requested.has(market)) return
    this.#requested.set(market, 0)
    if (!this.#isFetching) this.#fetchTask = this.#fetchRequested()
  }

  async #run(onCrawled: () => void): Promise<void> {
    const { signal } = this.#abort
    let crawl = await this.#crawl(SUSPECT_CRAWLS_UNTIL_LOADED)
    if (crawl === null) return
    onCrawled()
    let refreshedAtMs: TimeMs = crawl.startedAtMs
    let retryDelayMs = RETRY_FIRST_MS
    while (!signal.aborted) {
      const waitMs = crawl.isComplete ? REFRESH_EVERY_MS : Math.min(retryDelayMs, REFRESH_EVERY_MS)
      await pause(this.#parts.clock, waitMs, signal)
      if (signal.aborted) return
      const startedAtMs = this.#parts.clock.nowMs()
      const everyMs = crawl.isComplete ? CRAWL_EVERY_MS : retryDelayMs
      if (startedAtMs - crawl.startedAtMs >= everyMs) {
        retryDelayMs = crawl.isComplete
          ? RETRY_FIRST_MS
          : Math.min(retryDelayMs * 2, CRAWL_EVERY_MS)
        const next = await this.#crawl(1)
        if (next === null) return
        crawl = next
        if (crawl.isComplete) refreshedAtMs = crawl.startedAtMs
        continue
      }
      const sinceMs = timeMs(refreshedAtMs - REFRESH_OVERLAP_MS)
      try {
        await this.#parts.catalog.refresh(sinceMs, (page) => this.#take(page), signal)
        refreshedAtMs = startedAtMs
      } catch (error) {
        if (signal.aborted) return
        this.#noteFailure(error, 'catalogue not refreshed')
      }
    }
  }

  /** Repeats the crawl until one is accepted or `suspectMax` were suspect. Returns null if stopped. */
  async #crawl(suspectMax: number): Promise<Crawl | null> {
    const { signal } = this.#abort
    let delayMs = RETRY_FIRST_MS
    for (let suspectCount = 0; !signal.aborted; ) {
      const startedAtMs = this.#parts.clock.nowMs()
      try {
        await this.#crawlOnce(suspectCount + 1 === suspectMax)
        return signal.aborted ? null : { startedAtMs, isComplete: true }
      } catch (error) {
        if (signal.aborted) return null
        this.#noteFailure(error, 'catalogue not read, trying again')
        if (error instanceof SuspectAnswerError) {
          suspectCount += 1
          const hasExpected = !this.#parts.expected()[Symbol.iterator]().next().done
          if (suspectCount === suspectMax || !hasExpected) return { startedAtMs, isComplete: false }
        }
        await pause(this.#parts.clock, delayMs, signal)
        delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)
      }
    }
    return null
  }

  /**
   * Throws SuspectAnswerError if the crawl is suspect. Requests the missing markets if the crawl is accepted or is the
   * last attempt.
   */
  async #crawlOnce(isLast: boolean): Promise<void> {
    const { signal } = this.#abort
    const missing = new Set<NativeMarketId>()
    const collecting = forEachSliced(this.#parts.expected(), (market) => missing.add(market))
    await runInSlicesFromNow(this.#parts.clock, collecting)
    if (signal.aborted) return
    const expectedCount = missing.size
    let got = 0
    await this.#parts.catalog.crawl((page) => {
      got += page.markets.length
      for (const { nativeId } of page.markets) missing.delete(nativeId)
      return this.#take(page)
    }, signal)
    if (signal.aborted) return
    if (got > 0 && expectedCount >= OTHER_ENVIRONMENT_MIN && missing.size === expectedCount) {
      this.#parts.onOtherEnvironment(expectedCount, got)
    }
    const reason = suspectListReason({
      received: got,
      missing: missing.size,
      expected: expectedCount,
    })
    if (reason === null || isLast) for (const market of missing) this.request(market)
    if (reason === null) return
    throw new SuspectAnswerError(
      'catalogue',
      reason,
      `${missing.size} of ${expectedCount} open markets missing`,
    )
  }

  #noteFailure(error: unknown, message: string): void {
    if (error instanceof SuspectAnswerError) this.#parts.suspectAnswers.note(error)
    else this.#parts.log.warn({ err: error }, message)
  }

  #take(page: CatalogPage): Promise<void> {
    const take = (slice: CatalogPage) => {
      if (!this.#abort.signal.aborted) this.#parts.onPage(slice)
    }
    return runInSlices(this.#parts.clock, forEachSliced(slicesOf(page, SLICE_MARKETS), take))
  }

  async #fetchRequested(): Promise<void> {
    const { signal } = this.#abort
    this.#isFetching = true
    while (this.#requested.size > 0 && !signal.aborted) {
      const fewestTries = Math.min(...this.#requested.values())
      await pause(this.#parts.clock, FETCH_DELAY_MS * 2 ** fewestTries, signal)
      const batch = [...this.#requested].slice(0, FETCH_BATCH)
      const markets = batch.map(([market]) => market)
      const listed = new Set<NativeMarketId>()
      try {
        const page = await this.#parts.catalog.fetchMarkets(markets, signal)
        for (const { nativeId } of page.markets) listed.add(nativeId)
        for (const id of page.refused ?? []) listed.add(id)
        await this.#take(page)
      } catch (error) {
        if (signal.aborted) return
        this.#noteFailure(error, 'markets not read, trying again')
      }
      let missing = 0
      for (const [market, tries] of batch) {
        this.#requested.delete(market)
        if (listed.has(market)) continue
        if (tries + 1 < FETCH_TRIES_MAX) this.#requested.set(market, tries + 1)
        else missing += 1
      }
      if (missing > 0) this.#parts.suspectAnswers.note(suspectMarkets(markets), missing)
    }
    this.#isFetching = false
  }
}

interface Crawl {
  readonly startedAtMs: TimeMs
  /** False if the crawl was suspect. */
  readonly isComplete: boolean
}

function suspectMarkets(requested: readonly NativeMarketId[]): SuspectAnswerError {
  return new SuspectAnswerError(
    'market',
    'empty',
    `not listed, of ${requested.length} from ${requested[0]} on`,
  )
}

/**
 * Cuts a page into slices of at most `count` markets, each with the events of its markets. The last slice has the
 * remaining events and the rejected markets. Taking a page of five hundred events at once would delay messages by tens
 * of milliseconds.
 */
export function slicesOf(page: CatalogPage, count: number): CatalogPage[] {
  const events = new Map<string, EventListing>()
  for (const event of page.events) events.set(`${event.venue}${event.nativeId}`, event)
  const unnamed = new Set(page.events)
  const slices: CatalogPage[] = []
  for (let start = 0; start < page.markets.length; start += count) {
    const markets = page.markets.slice(start, start + count)
    const named = new Set<EventListing>()
    for (const { venue, event } of markets) {
      const listing = events.get(`${venue}${event}`)
      if (listing !== undefined) named.add(listing)
    }
    for (const listing of named) unnamed.delete(listing)
    slices.push({ markets, events: [...named] })
  }
  if (unnamed.size > 0) slices.push({ markets: [], events: [...unnamed] })
  const { refused = [] } = page
  if (refused.length > 0) slices.push({ markets: [], events: [], refused })
  return slices
}
