// Records all published updates on the tape. Updates are encoded at once and handed to the tape's thread in batches, so
// the main thread never waits for the disk. If the disk is too slow, whole batches are dropped, and the tape states
// which updates are missing.
//
// A market's listing and state are written before its first update of an hour. Sweeps write the states of all markets
// at the begin of an hour and after a loss, and every five minutes those of changed markets.

import { type Clock, pause, type StopTimer } from '../../engine/clock.ts'
import type { Trade, Update } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import { bookLevelsMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Publisher, TradeCompletion, Watcher } from '../../engine/publisher.ts'
import { hourOf, US_PER_MS } from '../../engine/tape/layout.ts'
import { LOST_CAUSES, type Lost, type LostCause } from '../../engine/tape/lost.ts'
import type { TapePort } from '../../engine/tape/tape-thread.ts'
import type { TapeSettings, TapeSize } from '../../engine/tape/writer.ts'
import type { TapeSelection } from '../../engine/tape-selection.ts'
import { timeMs } from '../../engine/units.ts'
import { type GatheredBatch, TapeBatcher } from '../../storage/tape/batcher.ts'
import { listedItem, stateOf } from '../cluster/feeder.ts'
import type { CatalogView, CatalogWatcher, MarketView, TapeStatus, TapeView } from '../views.ts'
import { TapeLosses } from './losses.ts'
import { TapeClock } from './tape-clock.ts'

/** Batches are handed over at this interval, or when they have this many bytes. */
const FLUSH_EVERY_MS = 50
const BATCH_BYTES = 65_536
/** Maximum number and bytes of batches that wait for the disk. Beyond either, batches are dropped. */
const WAITING_MAX = 512
export const tapeWaitingBytesMax = 32 * 1_024 * 1_024
/** Without records, the thread gets an empty task at this interval, so that it closes hours. */
const IDLE_TASK_MS = 1_000
const SWEEP_EVERY_MS = 300_000
/** A sweep works for this long, then rests for 20 times as long. */
const SWEEP_SLICE_MS = 2
const SWEEP_REST_MS = 40
/** After a failed write, the next one is tried after this time. */
const RETRY_MS = 1_000
/** Time between attempts to open the tape. */
const REOPEN_MS = 5_000

interface TapeParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly publisher: Publisher
  readonly catalog: Pick<CatalogView, 'byNumber' | 'markets'>
  readonly port: TapePort
  readonly venues: readonly VenueKey[]
  readonly settings: TapeSettings
  readonly selection: TapeSelection
}

interface WaitingBatch {
  readonly batch: GatheredBatch
  /** A loss that the batch states. */
  readonly loss: Lost | null
}

/** A market is not recorded in this hour. */
const NOT_SELECTED = -1
/** A market is listed and has not changed since. */
const UNCHANGED = 0

export class TapeRecorder implements Watcher, CatalogWatcher, TapeView {
  readonly name = 'tape'
  readonly #parts: TapeParts
  readonly #time: TapeClock
  readonly #batcher = new TapeBatcher()
  readonly #losses = new TapeLosses()
  /** For each market listed in this hour the last sweep before its newest update, UNCHANGED or NOT_SELECTED. */
  readonly #listed = new Map<MarketNumber, number>()
  /** Venue and number of each market that is listed in the file of another venue. */
  readonly #foreignListed = new Set<string>()
  /** Time since when `#listed` is built. */
  #listedSinceUs = 0
  /** Number of the newest sweep. Increases with each. */
  #sweep = 1
  #sweptAtMs = 0
  #isSweeping = false
  #needsFullSweep = true
  #hourUs = 0
  #state: TapeStatus['state'] = 'closed'
  #size: TapeSize = { bytes: 0, hours: 0, oldestUs: null }
  #writtenUs: number | null = null
  /** Batches that were not passed to the thread yet. */
  readonly #waiting: WaitingBatch[] = []
  /** Bytes of these batches and of those that are being written. */
  #waitingBytes = 0
  #isPumping = false
  #pumped: Promise<void> = Promise.resolve()
  #taskAtMs = 0
  #isStopped = false
  #lastError: string | null = null
  /** Increases each time the tape is opened. */
  #opened = 0
  readonly #abort = new AbortController()
  #stopTimer: StopTimer = () => undefined
  readonly #rows: Count
  readonly #lostRows: ReadonlyMap<LostCause, Count>

  constructor(parts: TapeParts) {
    this.#parts = parts
    const { clock, metrics } = parts
    this.#time = new TapeClock(clock)
    this.#rows = metrics.count('tape_rows_total', 'Rows written to the tape.')
    const lost = 'Rows that are missing on the tape.'
    this.#lostRows = new Map(
      LOST_CAUSES.map((cause) => [cause, metrics.count('tape_lost_rows_total', lost, { cause })]),
    )
    const waiting = 'Bytes of rows that wait for the disk.'
    metrics.gauge('tape_waiting_bytes', waiting, () => this.#waitingBytes)
    metrics.gauge('tape_bytes', 'Bytes of the tape on disk.', () => this.#size.bytes)
    const up = 'Whether the tape is being written: 1 or 0.'
    metrics.gauge('tape_recording', up, () => (this.#state === 'recording' ? 1 : 0))
  }

  /** Opens the tape. If this fails, it is tried again until `stop`. */
  async start(): Promise<void> {
    const { clock } = this.#parts
    await this.#open()
    this.#stopTimer = clock.every(FLUSH_EVERY_MS, () => this.#flush())
  }

  /** Writes what waits, and closes the tape. */
  async stop(): Promise<void> {
    this.#stopTimer()
    this.#abort.abort()
    this.#flush()
    this.#isStopped = true
    const { port, log } = this.#parts
    await this.#pumped
    try {
      const result = await port.run({ kind: 'close' })
      if (result.kind === 'failed' && this.#state !== 'closed') {
        log.error({ reason: result.reason }, 'the tape was not closed in order')
      }
    } catch (error) {
      log.error({ err: error }, 'the tape was not closed in order')
    }
    this.#state = 'closed'
    await port.close()
  }

  status(): TapeStatus {
    const { bytes, hours, oldestUs } = this.#size
    let lostRows = 0
    for (const count of this.#lostRows.values()) lostRows += count.value
    const ms = (us: number | null) => (us === null ? null : timeMs(us / US_PER_MS))
    return {
      ...{ state: this.#state, bytes, hours, lostRows },
      ...{ oldestMs: ms(oldestUs), newestMs: ms(this.#writtenUs) },
    }
  }

  onUpdate(update: Update): void {
    if (!this.#isRecording) return
    this.#beginHour()
    if (update.kind === 'status') return this.#put(update.venue, update)
    if (update.kind === 'gap' && update.market === null) return this.#put(update.venue, update)
    if (update.market === null) return
    const { venue, number } = update.market
    if (!this.#isListed(venue, update.market)) return
    if (update.kind === 'lifecycle' && update.matchedMarket !== null) {
      this.#list(venue, update.matchedMarket)
    } else if (update.kind === 'arbitrage') {
      for (const { market } of update.opportunity.legs) this.#list(venue, market)
    }
    this.#listed.set(number, this.#sweep)
    this.#put(venue, update)
  }

  onCompletedTrade({ venue, number }: MarketRef, trade: Trade, completion: TradeCompletion): void {
    if (!this.#isRecording || (this.#listed.get(number) ?? NOT_SELECTED) === NOT_SELECTED) return
    const { nativeId, timeMs: tradedAtMs, ordinal } = trade
    const { role, wallet } = completion
    this.#batcher.put(venue, this.#time.next(), {
      ...{ kind: 'completed', market: number, nativeId, ordinal, role, wallet },
      timeMs: tradedAtMs,
    })
  }

  /** Writes a changed listing of a market that is already listed in this hour. */
  onListed(market: MarketView): void {
    const { venue, number } = market.ref
    if (!this.#isRecording) return
    this.#beginHour()
    if ((this.#listed.get(number) ?? NOT_SELECTED) === NOT_SELECTED) return
    this.#batcher.put(venue, this.#time.next(), listedItem(market, this.#parts.publisher, 0))
  }

  onRemoved({ ref }: MarketView): void {
    this.#listed.delete(ref.number)
  }

  get #isRecording(): boolean {
    return this.#state !== 'closed' && !this.#isStopped
  }

  #put(venue: VenueKey, update: Update): void {
    const book = update.kind === 'bookReplaced' ? this.#bookOf(update.market) : null
    this.#batcher.put(venue, this.#time.next(), { kind: 'update', update, book })
    if (this.#batcher.bytes >= BATCH_BYTES) this.#flush()
  }

  /** The update states only that the book was replaced. The levels are read from the market. */
  #bookOf({ number }: MarketRef) {
    return this.#parts.catalog.byNumber(number)?.levels(bookLevelsMax) ?? null
  }

  /** Whether updates of a market are recorded. Before its first one, its listing and state are. */
  #isListed(venue: VenueKey, { number }: MarketRef): boolean {
    const sweep = this.#listed.get(number)
    if (sweep !== undefined) return sweep !== NOT_SELECTED
    const market = this.#parts.catalog.byNumber(number)
    if (market === null) return false
    if (!isSelected(market, this.#parts.selection)) {
      this.#listed.set(number, NOT_SELECTED)
      return false
    }
    this.#listed.set(number, UNCHANGED)
    this.#writeListing(venue, market)
    this.#writeState(market)
    return true
  }

  /** Lists another market to which an update of a venue refers. */
  #list(venue: VenueKey, ref: MarketRef): void {
    if (ref.venue === venue) return void this.#isListed(venue, ref)
    const key = `${venue}${ref.number}`
    const market = this.#foreignListed.has(key) ? null : this.#parts.catalog.byNumber(ref.number)
    if (market === null) return
    this.#foreignListed.add(key)
    this.#writeListing(venue, market)
  }

  #writeListing(venue: VenueKey, market: MarketView): void {
    this.#batcher.put(venue, this.#time.next(), listedItem(market, this.#parts.publisher, 0))
  }

  #writeState(market: MarketView): void {
    const state = stateOf(market, this.#parts.publisher)
    this.#batcher.put(market.ref.venue, this.#time.next(), { kind: 'state', state })
  }

  /** Each hour has its own files, which list their markets again. Reads the clock for the rows that follow. */
  #beginHour(): void {
    const hourUs = hourOf(this.#time.read())
    if (hourUs === this.#hourUs) return
    this.#hourUs = hourUs
    this.#listAgain()
  }

  /** Lists all markets again, and writes their states. */
  #listAgain(): void {
    this.#listed.clear()
    this.#foreignListed.clear()
    this.#listedSinceUs = this.#time.read()
    this.#needsFullSweep = true
  }

  async #open(): Promise<void> {
    const { port, settings, log, clock } = this.#parts
    const nowUs = this.#time.read()
    try {
      const result = await port.run({ kind: 'open', settings, nowUs })
      if (result.kind === 'opened') {
        this.#time.advanceTo(result.firstUs)
        this.#size = result.size
        this.#state = 'recording'
        this.#opened += 1
        this.#listAgain()
        return
      }
      log.error({ result }, 'the tape could not be opened')
    } catch (error) {
      log.error({ err: error }, 'the tape could not be opened')
    }
    clock.after(REOPEN_MS, () => {
      if (!this.#isStopped) void this.#open()
    })
  }

  #flush(): void {
    if (!this.#isRecording) return
    this.#time.adjust()
    this.#beginHour()
    const { clock, log } = this.#parts
    const nowMs = clock.monotonicMs()
    if (this.#waiting.length >= WAITING_MAX || this.#waitingBytes > tapeWaitingBytesMax) {
      for (const batch of this.#batcher.take()) this.#drop(batch, 'slow_disk')
      if (this.#state !== 'slow_disk')
        log.error('the disk is too slow for the tape: updates are missing on it')
      this.#state = 'slow_disk'
      return
    }
    const state = this.#state
    if ((state === 'disk_full' || state === 'disk_error') && nowMs - this.#taskAtMs < RETRY_MS) {
      if (this.#batcher.bytes < BATCH_BYTES) return
      for (const batch of this.#batcher.take()) this.#drop(batch, state)
      return
    }
    const losses = this.#losses.take()
    for (const [venue, loss] of losses) {
      this.#batcher.put(venue, this.#time.next(), { kind: 'lost', ...loss })
    }
    // States from before a loss are void.
    if (losses.length > 0) this.#listAgain()
    const batches = this.#batcher.take()
    for (const batch of batches) {
      const loss = losses.find(([venue]) => venue === batch.venue)?.[1] ?? null
      this.#waiting.push({ batch, loss })
      this.#waitingBytes += batch.values.length
    }
    if (batches.length > 0 || nowMs - this.#taskAtMs >= IDLE_TASK_MS) {
      this.#taskAtMs = nowMs
      if (!this.#isPumping) this.#pumped = this.#pump()
    }
    const isDue = this.#needsFullSweep || nowMs - this.#sweptAtMs >= SWEEP_EVERY_MS
    if (isDue && !this.#isSweeping) void this.#runSweep()
  }

  /** Passes the waiting batches to the thread, one task at a time, because a pool does not preserve the order of tasks. */
  async #pump(): Promise<void> {
    this.#isPumping = true
    do {
      const waiting = this.#waiting.splice(0)
      await this.#write(waiting)
    } while (this.#waiting.length > 0)
    this.#isPumping = false
  }

  async #write(waiting: readonly WaitingBatch[]): Promise<void> {
    const opened = this.#opened
    const failures = await this.#failuresOf(waiting)
    let failed: LostCause | null = null
    for (const [index, { batch, loss }] of waiting.entries()) {
      this.#waitingBytes -= batch.values.length
      const cause = failures === null ? 'disk_error' : (failures[index] ?? null)
      failed ??= cause
      if (cause === null) {
        this.#rows.inc(batch.rows)
        this.#writtenUs = batch.lastUs
      } else {
        this.#drop(batch, cause)
        if (loss !== null) this.#losses.add(batch.venue, loss)
      }
    }
    if (failures === null) this.#onThreadLost(opened)
    else if (this.#state !== 'closed' && waiting.length > 0) this.#note(failed)
  }

  /** Writes batches. Null: the thread failed, and none of them counts as written. */
  async #failuresOf(
    waiting: readonly WaitingBatch[],
  ): Promise<readonly (LostCause | null)[] | null> {
    const { port, log } = this.#parts
    const batches = waiting.map(({ batch }) => batch)
    try {
      const result = await port.run({ kind: 'write', batches, nowUs: this.#time.read() })
      if (result.kind === 'written') {
        this.#size = result.size
        this.#lastError = result.lastError
        return result.failures
      }
      log.error({ result }, 'the thread of the tape failed')
    } catch (error) {
      log.error({ err: error }, 'the thread of the tape failed')
    }
    return null
  }

  #note(failed: LostCause | null): void {
    const { log } = this.#parts
    const state = failed === 'disk_full' || failed === 'disk_error' ? failed : 'recording'
    if (state === this.#state) return
    if (state === 'recording') log.info('the tape is complete again')
    else
      log.error(
        { cause: failed, reason: this.#lastError },
        'the tape cannot be written: updates are missing on it',
      )
    this.#state = state
  }

  /** The thread opens the tape again, and records the outage. */
  #onThreadLost(opened: number): void {
    if (opened !== this.#opened || this.#state === 'closed' || this.#isStopped) return
    this.#state = 'closed'
    this.#batcher.take()
    void this.#open()
  }

  /** The next `lost` item states the batch. Listings in it may be lost too, so all markets are listed again. */
  #drop(batch: GatheredBatch, cause: LostCause): void {
    this.#losses.addBatch(batch, cause)
    this.#lostRows.get(cause)?.inc(batch.rows)
    this.#listAgain()
  }

  /** Writes states in time slices. A loss or a new hour ends the sweep, and a full one begins. */
  async #runSweep(): Promise<void> {
    const { clock, catalog } = this.#parts
    this.#isSweeping = true
    const isFull = this.#needsFullSweep
    this.#needsFullSweep = false
    this.#sweptAtMs = clock.monotonicMs()
    const fromUs = isFull ? this.#listedSinceUs : this.#time.next()
    const before = this.#sweep
    this.#sweep += 1
    const markets = isFull ? catalog.markets(null) : this.#changedSince(before)
    let startedMs = clock.monotonicMs()
    for (const market of markets) {
      this.#sweepMarket(market, isFull)
      if (clock.monotonicMs() - startedMs < SWEEP_SLICE_MS) continue
      await pause(clock, SWEEP_REST_MS, this.#abort.signal)
      if (this.#needsFullSweep || !this.#isRecording) break
      startedMs = clock.monotonicMs()
    }
    this.#beginHour()
    if (!this.#needsFullSweep && this.#isRecording) {
      for (const venue of this.#parts.venues) {
        this.#batcher.put(venue, this.#time.next(), { kind: 'swept', fromUs, isFull })
      }
    }
    this.#isSweeping = false
  }

  #changedSince(sweep: number): readonly MarketView[] {
    const { catalog } = this.#parts
    return [...this.#listed].flatMap(([number, newest]) => {
      const market = newest === sweep ? catalog.byNumber(number) : null
      return market === null ? [] : [market]
    })
  }

  #sweepMarket(market: MarketView, isFull: boolean): void {
    const { ref } = market
    this.#beginHour()
    if (!isFull) return this.#writeState(market)
    const hasData = market.bookConfirmedAtMs !== null || market.seq('prices') > 0
    if (hasData) this.#isListed(ref.venue, ref)
  }
}

function isSelected({ ref, volume24h }: MarketView, selection: TapeSelection): boolean {
  if (selection.kind === 'all') return true
  if (selection.kind === 'minVolume') return volume24h >= selection.volume
  return selection.ids.has(ref.id.toLowerCase())
}
