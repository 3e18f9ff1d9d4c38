// Runs the complete engine over a recording on a manual clock. All effects of a frame are complete before the next
// step.

import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { createEngine, type Engine } from '../../../engine/app/engine.ts'
import type { StopTimer } from '../../../engine/clock.ts'
import { loadConfig } from '../../../engine/config.ts'
import type { VenueEvent } from '../../../engine/events.ts'
import type { OutcomeId, VenueKey } from '../../../engine/ids.ts'
import type { MatchPort } from '../../../engine/matching/match-thread.ts'
import { openPairFinder } from '../../../engine/matching/search/pair-finder.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import type { PastPoint } from '../../../engine/venues/past-points.ts'
import { parseLine, type RecordedLine } from '../../../engine/venues/recording/recording.ts'
import { openPlayer, type Player } from '../../../engine/venues/recording/replay-players.ts'
import { feedReporter } from '../../../engine/venues/socket-feed.ts'
import type { CatalogPage, Venue, VenueParts } from '../../../engine/venues/venue.ts'
import type { VenueWallets } from '../../../engine/wallet.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { quietDrift } from '../fakes/quiet-drift.ts'
import { quietVenue } from '../fakes/quiet-venue.ts'

export const SECRET = 'of the recorded answers, 32 bytes or more'

type Frame = Extract<RecordedLine, { kind: 'frame' }>

/** Listings are grouped by venue. Frames are in order of arrival. */
export interface Recording {
  readonly startedAtMs: number
  readonly pages: ReadonlyMap<VenueKey, readonly CatalogPage[]>
  readonly frames: readonly Frame[]
}

export const NO_RECORDING: Recording = {
  startedAtMs: Date.UTC(2026, 10, 20, 12),
  pages: new Map(),
  frames: [],
}

/** Reads a recording (engine/venues/recording/recording.ts), compressed or not. Throws if a line is invalid. */
export function readRecording(file: string): Recording {
  const bytes = readFileSync(file)
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  const pages = new Map<VenueKey, CatalogPage[]>()
  const frames: Frame[] = []
  let startedAtMs = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    const read = parseLine(line)
    if (read.kind === 'unreadable') throw new Error(`${file}: ${read.reason}`)
    if (read.kind === 'header') startedAtMs = read.startedAtMs
    if (read.kind === 'frame') frames.push(read)
    if (read.kind !== 'catalog') continue
    pages.set(read.venue, [...(pages.get(read.venue) ?? []), read.page])
  }
  return { startedAtMs, pages, frames }
}

/** Timers without delay run in the next event-loop tick. */
export class ReplayClock extends ManualClock {
  override after(delayMs: number, action: () => void): StopTimer {
    if (delayMs > 0) return super.after(delayMs, action)
    const immediate = setImmediate(action)
    return () => clearImmediate(immediate)
  }

  override soon(action: () => void): void {
    setImmediate(action)
  }
}

/** Venue responses that are not part of the recording. */
export interface VenueAnswers {
  /** null: the venue does not report wallets. */
  readonly wallets: VenueWallets | null
  readonly pastPrices: (range: { fromMs: number; toMs: number }) => readonly PastPoint[]
}

interface ServiceOptions {
  readonly dataDir: string
  readonly clock: ReplayClock
  readonly recording: Recording
  readonly answers?: VenueAnswers
}

export class ReplayedService {
  readonly engine: Engine
  readonly metrics: Metrics
  readonly #clock: ReplayClock
  readonly #storage: Storage
  readonly #frames: readonly Frame[]
  readonly #players = new Map<VenueKey, Player>()
  readonly #emits = new Map<VenueKey, (event: VenueEvent) => void>()
  #next = 0
  #isClosing = false

  private constructor(options: ServiceOptions, storage: Storage, metrics: Metrics) {
    this.#clock = options.clock
    this.#storage = storage
    this.#frames = options.recording.frames
    this.metrics = metrics
    const close = storage.close.bind(storage)
    storage.close = () => {
      this.#isClosing = true
      return close()
    }
    const config = loadConfig({
      ...{ PORT: '0', DATA_DIR: options.dataDir, VENUES: 'replay:recording', LOG_LEVEL: 'silent' },
      ...{ JWT_SECRET: SECRET, SECRETS_KEY: SECRET, SIGNUPS_PER_HOUR: '1000' },
      ...{ WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on' },
    })
    this.engine = createEngine(
      { ...config, jwtSecret: SECRET, secretsKey: SECRET },
      {
        ...{ clock: options.clock, log: silentLog, metrics, storage },
        ...{ random: seededRandom('replayed'), matching: matchingInPlace() },
        ...{ epoch: 'recorded', version: '0.0.0' },
        venues: (parts) => [this.#venue('a', parts, options), this.#venue('b', parts, options)],
      },
    )
  }

  /** Opens the data folder and starts the service without advancing the clock. */
  static async open(options: ServiceOptions): Promise<ReplayedService> {
    const { dataDir, clock } = options
    const metrics = new Metrics()
    const storage = await openLmdbStorage({ dataDir, clock, log: silentLog, metrics })
    const service = new ReplayedService(options, storage, metrics)
    await service.engine.start()
    await service.settle()
    return service
  }

  get origin(): string {
    return `http://127.0.0.1:${this.engine.port}`
  }

  /** Resolves when all rows are committed and no webhook delivery is running. Does not advance the clock. */
  async settle(): Promise<void> {
    for (let calm = 0; calm < 3; ) {
      await this.#storage.committed()
      await nextTurn()
      calm = (await this.gauge('webhook_attempts_under_way')) === 0 ? calm + 1 : 0
    }
  }

  /** The metric must have no labels. */
  async gauge(name: string): Promise<number> {
    const metric = await this.metrics.registry.getSingleMetric(name)?.get()
    return metric?.values[0]?.value ?? 0
  }

  /** Plays the frames up to a moment, each at its own time, and then settles. */
  async playTo(atMs: number): Promise<void> {
    const clock = this.#clock
    for (;;) {
      const frame = this.#frames[this.#next]
      if (frame === undefined || frame.frame.receivedAtMs > atMs) break
      this.#next += 1
      clock.advance(Math.max(0, frame.frame.receivedAtMs - clock.nowMs()))
      this.#players.get(frame.venue)?.take(frame.frame, frame.stream)
    }
    clock.advance(Math.max(0, atMs - clock.nowMs()))
    await this.settle()
  }

  /** Emits an event that is not in a frame, such as a lost connection. */
  emit(event: VenueEvent): void {
    this.#emits.get(event.venue)?.(event)
  }

  feed(
    venue: VenueKey,
    kind: 'feedUp' | 'feedDown' | 'feedGap',
    stream: 'books' | 'trades',
    outcomes: readonly OutcomeId[] = [],
  ): void {
    const clock = this.#clock
    const connection = stream === 'trades' ? 0 : 1
    const report = feedReporter(
      { clock, emit: (event) => this.emit(event) },
      { venue, stream, connection },
    )
    report(kind, 'as ordered', kind === 'feedUp' ? null : clock.nowMs(), outcomes)
  }

  async stop(): Promise<void> {
    await this.#passing(this.engine.stop())
  }

  /** Advances the clock while a promise is pending, but not during disk access. */
  async #passing(promise: Promise<void>): Promise<void> {
    let isDone = false
    const end = () => {
      isDone = true
    }
    promise.then(end, end)
    while (!isDone && !this.#isClosing) {
      this.#clock.advance(10)
      await nextTurn()
      await this.#storage.committed().catch(() => undefined)
    }
    await promise
  }

  #venue(key: VenueKey, parts: VenueParts, { recording, answers }: ServiceOptions): Venue {
    const player = openPlayer(key, parts, quietDrift(key))
    this.#players.set(key, player)
    this.#emits.set(key, parts.emit)
    const quiet = quietVenue(key, parts.clock)
    const pages = recording.pages.get(key) ?? []
    return {
      ...quiet,
      feed: {
        ...quiet.feed,
        watch: (markets) => player.watch(markets),
        unwatch: (ids) => player.unwatch(ids),
        cover: (ids) => player.cover(ids),
        uncover: (ids) => player.uncover(ids),
        // Trades of this period are lost.
        fetchTrades: async ({ toMs }) => ({
          completeFromMs: toMs,
          suspectReason: null,
          newestMs: null,
        }),
      },
      catalog: {
        async crawl(onPage) {
          for (const page of pages) await onPage(page)
        },
        refresh: async () => undefined,
        async fetchMarkets(ids) {
          const all = pages.flatMap(({ markets }) => markets)
          return { markets: all.filter(({ nativeId }) => ids.includes(nativeId)), events: [] }
        },
      },
      pastPrices: { read: async (_, range) => answers?.pastPrices(range) ?? [] },
      wallets: key === 'a' ? (answers?.wallets ?? null) : null,
    }
  }
}

/** A matcher without its thread, so that matches are complete before the next step. */
function matchingInPlace(): MatchPort {
  const finder = openPairFinder()
  return { run: async (task) => finder.run(task), close: async () => undefined }
}

export const at = (recording: Recording, seconds: number) =>
  timeMs(recording.startedAtMs + seconds * 1_000)
