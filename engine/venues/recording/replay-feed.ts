// `VENUES=replay:FILE`: replays a recording through the venues' parsers instead of connecting to the venues.

import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setImmediate as nextTick } from 'node:timers/promises'
import { pause } from '../../clock.ts'
import type { NativeMarketId, VenueKey } from '../../ids.ts'
import type { EventListing, MarketListing } from '../../market/market.ts'
import type { TimeMs } from '../../units.ts'
import { Drift } from '../drift/drift.ts'
import { feedReporter } from '../socket-feed.ts'
import type {
  CatalogPage,
  FeedHealth,
  Readable,
  TradesRead,
  Venue,
  VenueCatalog,
  VenueFeed,
  VenueParts,
  WatchedMarket,
} from '../venue.ts'
import { VENUES } from '../venues.ts'
import { parseLine, type RecordedLine } from './recording.ts'
import { openPlayer, type Player } from './replay-players.ts'

export interface ReplayOptions {
  /** 1: original speed. 10: ten times as fast. 'max': without pauses. Default 1. */
  readonly speed?: number | 'max'
}

const PAUSED_MS = 5
const FRAMES_PER_TICK = 128
/** If markets are watched before a crawl has started, the replay waits this long for a crawl. */
const CRAWL_WAIT_MS = 100

/** A venue that was not recorded is empty. Throws if the file does not exist. */
export function openReplay(
  file: string,
  parts: VenueParts,
  options: ReplayOptions = {},
): readonly Venue[] {
  if (!existsSync(file)) throw new Error(`there is no recording at ${file}`)
  return VENUES.map((venue) => {
    const { key } = venue
    const drift = new Drift({ ...parts, venue })
    const player = openPlayer(key, parts, drift)
    const feed = new ReplayFeed(parts, { key, file, player, speed: options.speed ?? 1 })
    // A recording has no earlier prices and no teams.
    const none = { pastPrices: { read: async () => [] }, teams: async () => [], wallets: null }
    return { key, feed, drift, catalog: new ReplayCatalog(key, file, feed), ...none }
  })
}

class ReplayCatalog implements VenueCatalog {
  readonly #key: VenueKey
  readonly #file: string
  readonly #feed: ReplayFeed
  readonly #markets = new Map<NativeMarketId, MarketListing>()
  readonly #events = new Map<string, EventListing>()

  constructor(key: VenueKey, file: string, feed: ReplayFeed) {
    this.#key = key
    this.#file = file
    this.#feed = feed
  }

  async crawl(onPage: (page: CatalogPage) => void | Promise<void>): Promise<void> {
    this.#feed.noteCrawl('begun')
    for await (const line of linesOf(this.#file)) {
      if (line.kind !== 'catalog' || line.venue !== this.#key) continue
      for (const market of line.page.markets) this.#markets.set(market.nativeId, market)
      for (const event of line.page.events) this.#events.set(event.nativeId, event)
      await onPage(line.page)
    }
    this.#feed.noteCrawl('done')
  }

  async refresh(): Promise<void> {}

  async fetchMarkets(ids: readonly NativeMarketId[]): Promise<CatalogPage> {
    const markets: MarketListing[] = []
    const events = new Set<EventListing>()
    for (const id of ids) {
      const market = this.#markets.get(id)
      if (market === undefined) continue
      markets.push(market)
      const event = market.event === null ? undefined : this.#events.get(market.event)
      if (event !== undefined) events.add(event)
    }
    return { markets, events: [...events] }
  }
}

class ReplayFeed implements VenueFeed {
  readonly #parts: VenueParts
  readonly #tape: { key: VenueKey; file: string; player: Player; speed: number | 'max' }
  readonly #stopping = new AbortController()
  #isStarted = false
  #hasWatched = false
  #crawl: 'none' | 'begun' | 'done' = 'none'
  #playing: Promise<void> | null = null
  #isRunning = false
  #lastDataAtMs: TimeMs | null = null
  #isPaused = false

  constructor(
    parts: VenueParts,
    tape: { key: VenueKey; file: string; player: Player; speed: number | 'max' },
  ) {
    this.#parts = parts
    this.#tape = tape
  }

  start(): void {
    this.#isStarted = true
    this.#playWhenReady()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#playing
  }

  watch(markets: readonly WatchedMarket[]): void {
    this.#tape.player.watch(markets)
    if (this.#hasWatched) return
    this.#hasWatched = true
    this.#parts.clock.after(CRAWL_WAIT_MS, () => this.#playWhenReady())
  }

  unwatch(ids: readonly NativeMarketId[]): void {
    this.#tape.player.unwatch(ids)
  }

  cover(ids: readonly NativeMarketId[]): void {
    this.#tape.player.cover(ids)
  }

  uncover(ids: readonly NativeMarketId[]): void {
    this.#tape.player.uncover(ids)
  }

  /** All streams share one position in the file, so the replay only continues while all streams are read. */
  read(what: Readable): void {
    this.#isPaused = what !== 'all'
  }

  reconnect(): void {}

  /** A recording contains the snapshots that were requested when it was made. */
  resync(): void {}

  /** Reports the whole range as lost, because a recording can provide only its own trades. */
  async fetchTrades(range: { toMs: TimeMs }): Promise<TradesRead> {
    return { completeFromMs: range.toMs, suspectReason: null, newestMs: null }
  }

  health(): FeedHealth {
    return {
      connectionsOpen: this.#isRunning ? 1 : 0,
      connectionsWanted: 1,
      lastDataAtMs: this.#lastDataAtMs,
      lastSignAtMs: this.#lastDataAtMs,
      bookDelayMs: 0,
      tradesSource: null,
    }
  }

  readBooks(): void {}

  /** Pauses the replay while the catalogue is read, because the markets of the frames are not known yet. */
  noteCrawl(state: 'begun' | 'done'): void {
    this.#crawl = state
    this.#playWhenReady()
  }

  #playWhenReady(): void {
    if (!this.#isStarted || this.#playing !== null || this.#stopping.signal.aborted) return
    const isReady = this.#crawl === 'done' || (this.#crawl === 'none' && this.#hasWatched)
    if (!isReady) return
    this.#playing = this.#play().catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'the recording could not be played')
    })
  }

  async #play(): Promise<void> {
    const { key, file, player, speed } = this.#tape
    const { clock, log } = this.#parts
    const { signal } = this.#stopping
    // The markets of the crawl are watched in this tick, so the replay starts in the next tick.
    await nextTick()
    let beganAtMs = 0
    let firstMs: TimeMs | null = null
    let frameCount = 0
    this.#isRunning = true
    if (!signal.aborted) this.#report('feedUp', 'the recording begins')
    for await (const line of linesOf(file)) {
      if (signal.aborted) return
      if (line.kind === 'unreadable')
        log.warn({ reason: line.reason }, 'a recorded line was skipped')
      if (line.kind !== 'frame') continue
      const { frame, venue, stream } = line
      // Times are relative to the first frame of any venue, so that the venues stay synchronised.
      if (firstMs === null) {
        firstMs = frame.receivedAtMs
        beganAtMs = clock.monotonicMs()
      }
      if (venue !== key) continue
      if (speed !== 'max') {
        const dueMs = beganAtMs + (frame.receivedAtMs - firstMs) / speed
        const waitMs = dueMs - clock.monotonicMs()
        if (waitMs > 1) await pause(clock, waitMs, signal)
        if (signal.aborted) return
      }
      frameCount += 1
      if (frameCount % FRAMES_PER_TICK === 0) await nextTick()
      while (this.#isPaused && !signal.aborted) await pause(clock, PAUSED_MS, signal)
      if (signal.aborted) return
      this.#lastDataAtMs = clock.nowMs()
      player.take(frame, stream)
    }
    this.#isRunning = false
    if (!signal.aborted) this.#report('feedDown', 'the recording has ended')
    log.info({ venue: key, frameCount }, 'the recording has ended')
  }

  #report(kind: 'feedUp' | 'feedDown', reason: string): void {
    for (const stream of ['books', 'trades'] as const) {
      const of = { venue: this.#tape.key, stream, connection: stream === 'trades' ? 0 : 1 }
      feedReporter(this.#parts, of)(kind, reason, null)
    }
  }
}

async function* linesOf(file: string): AsyncGenerator<RecordedLine> {
  const input = createReadStream(file, { encoding: 'utf8' })
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  try {
    for await (const line of lines) if (line !== '') yield parseLine(line)
  } finally {
    lines.close()
    input.destroy()
  }
}
