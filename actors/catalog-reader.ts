// Keeps one venue's part of the catalogue up to date: the first crawl, a refresh every minute,
// a whole crawl every hour, and single markets that messages named. Network trouble is retried for
// ever with back-off; what was read is kept. Upholds VEN6, VEN7.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, pause } from '../engine/clock.ts'
import type { NativeMarketId } from '../engine/ids.ts'
import type { Log } from '../engine/log.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { CatalogPage, VenueCatalog } from '../engine/venues/venue.ts'
import { slicesOf } from './page-slices.ts'

const REFRESH_EVERY_MS = 60_000
const REFRESH_OVERLAP_MS = 120_000
const CRAWL_EVERY_MS = 3_600_000
const RETRY_FIRST_MS = 1_000
const RETRY_MAX_MS = 60_000
/** Markets taken in one turn of the loop, a few milliseconds at most. */
const SLICE_MARKETS = 50
const ASK_DELAY_MS = 250
const ASK_BATCH = 100
/** A market that messages name may take a moment to appear over REST. */
const ASK_TRIES_MAX = 6
/** Markets waiting to be asked for; beyond it the next refresh must find them. */
const ASK_WAITING_MAX = 10_000

export class CatalogReader {
  readonly #catalog: VenueCatalog
  readonly #clock: Clock
  readonly #log: Log
  readonly #onPage: (page: CatalogPage) => void
  readonly #isKnown: (market: NativeMarketId) => boolean
  readonly #abort = new AbortController()
  readonly #asked = new Map<NativeMarketId, number>()
  #isAsking = false
  #askTask: Promise<void> = Promise.resolve()
  #task: Promise<void> = Promise.resolve()

  constructor(parts: {
    catalog: VenueCatalog
    clock: Clock
    log: Log
    onPage: (page: CatalogPage) => void
    isKnown: (market: NativeMarketId) => boolean
  }) {
    this.#catalog = parts.catalog
    this.#clock = parts.clock
    this.#log = parts.log
    this.#onPage = parts.onPage
    this.#isKnown = parts.isKnown
  }

  /** Starts reading; `onCrawled` is called once the first whole crawl is done. */
  start(onCrawled: () => void): void {
    this.#task = this.#run(onCrawled)
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all([this.#task, this.#askTask])
  }

  /** Has a market read (again) soon; those asked for together are read together. */
  ask(market: NativeMarketId): void {
    if (this.#asked.size >= ASK_WAITING_MAX || this.#asked.has(market)) return
    this.#asked.set(market, 0)
    if (!this.#isAsking) this.#askTask = this.#readAsked()
  }

  async #run(onCrawled: () => void): Promise<void> {
    const { signal } = this.#abort
    let crawledAtMs = await this.#crawl()
    if (crawledAtMs === null) return
    onCrawled()
    let refreshedAtMs: TimeMs = crawledAtMs
    while (!signal.aborted) {
      await pause(this.#clock, REFRESH_EVERY_MS, signal)
      if (signal.aborted) return
      const startedAtMs = this.#clock.nowMs()
      if (startedAtMs - crawledAtMs >= CRAWL_EVERY_MS) {
        crawledAtMs = (await this.#crawl()) ?? startedAtMs
        refreshedAtMs = crawledAtMs
        continue
      }
      const sinceMs = timeMs(refreshedAtMs - REFRESH_OVERLAP_MS)
      try {
        await this.#catalog.refresh(sinceMs, (page) => this.#take(page), signal)
        refreshedAtMs = startedAtMs
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ err: error }, 'catalogue not refreshed')
      }
    }
  }

  /** When the crawl that succeeded began; null when stopped. */
  async #crawl(): Promise<TimeMs | null> {
    const { signal } = this.#abort
    let delayMs = RETRY_FIRST_MS
    while (!signal.aborted) {
      const startedAtMs = this.#clock.nowMs()
      try {
        await this.#catalog.crawl((page) => this.#take(page), signal)
        return signal.aborted ? null : startedAtMs
      } catch (error) {
        if (signal.aborted) return null
        this.#log.warn({ err: error, delayMs }, 'catalogue not read, trying again')
        await pause(this.#clock, delayMs, signal)
        delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)
      }
    }
    return null
  }

  /** Slice by slice, with a turn of the loop for sockets and timers after each. */
  async #take(page: CatalogPage): Promise<void> {
    for (const slice of slicesOf(page, SLICE_MARKETS)) {
      if (this.#abort.signal.aborted) return
      this.#onPage(slice)
      await nextTurn()
    }
  }

  async #readAsked(): Promise<void> {
    const { signal } = this.#abort
    this.#isAsking = true
    while (this.#asked.size > 0 && !signal.aborted) {
      await pause(this.#clock, ASK_DELAY_MS, signal)
      const batch = [...this.#asked].slice(0, ASK_BATCH)
      try {
        const markets = batch.map(([market]) => market)
        await this.#take(await this.#catalog.fetchMarkets(markets, signal))
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ err: error }, 'markets not read, trying again')
      }
      for (const [market, tries] of batch) {
        this.#asked.delete(market)
        const isDone = this.#isKnown(market) || tries + 1 >= ASK_TRIES_MAX
        if (!isDone) this.#asked.set(market, tries + 1)
      }
    }
    this.#isAsking = false
  }
}
