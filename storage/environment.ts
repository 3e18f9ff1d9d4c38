// One LMDB environment: its tables, and the queue through which every write goes. Puts wait in
// memory and are handed to LMDB together, one transaction at a time, never in the middle of an event
// turn; reads merge what waits with what is committed. lmdb-js is opened without overlapping sync,
// so that its promise means "on the platter", and without event-turn batching, because that leaves
// rejected promises behind that nobody can catch. Upholds STORE1, STORE4, R34, R36, R37, R41, R42.

import { statfsSync } from 'node:fs'
import { type Database, open, type RootDatabase } from 'lmdb'
import type { Clock, StopTimer } from '../engine/clock.ts'
import { assert, EngineError } from '../engine/errors.ts'
import { outstandingWritesMax } from '../engine/limits.ts'
import { type Log, LogSampler } from '../engine/log.ts'
import type { Count, Metrics } from '../engine/metrics.ts'
import { Table } from './table.ts'
import { type EnvironmentName, TABLE_LAYOUTS, type TableLayout } from './tables.ts'

/** A full disk is tried again after this long. */
const RETRY_MS = 5_000
const READER_CHECK_MS = 60_000
/** A disk with less room than this is taken to be full when LMDB only says "I/O error". */
const FREE_BYTES_MIN = 4 * 1024 * 1024

export type CommitState = 'ok' | 'diskFull' | 'failed'

/** What an environment needs of lmdb-js; a test puts failures in between. */
export type Root = Pick<
  RootDatabase<Buffer, Buffer>,
  'openDB' | 'batch' | 'readerCheck' | 'resetReadTxn' | 'close'
>

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: EngineError) => void
}

export interface EnvironmentOptions {
  readonly name: EnvironmentName
  /** The environment's own folder. */
  readonly path: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Writes gather at most this long before they are handed to LMDB; 0: only to the turn's end. */
  readonly commitPauseMs: number
  /**
   * 'keep': after a failed commit its rows stay readable and are tried again (market: they were
   * published already). 'drop': they are forgotten, as their callers were told (accounts).
   */
  readonly failedRows: 'keep' | 'drop'
}

/** Opens the LMDB files of an environment with the options of its fingerprint. */
export function openDatabase(path: string): RootDatabase<Buffer, Buffer> {
  return open<Buffer, Buffer>(path, {
    maxDbs: 64,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
  })
}

export class Environment {
  readonly name: EnvironmentName
  readonly #options: EnvironmentOptions
  readonly #root: Root
  readonly #tables = new Map<string, { table: Table; database: Database<Buffer, Buffer> }>()
  readonly #stopReaderCheck: StopTimer
  readonly #sampler = new LogSampler()
  readonly #commits: Count
  readonly #dropped: Count
  #state: CommitState = 'ok'
  #openCount = 0
  #inFlightCount = 0
  #openWaiters: Waiter[] = []
  #inFlightWaiters: Waiter[] = []
  #isInFlight = false
  #isClosed = false
  #stopPause: StopTimer | null = null
  #immediate: NodeJS.Immediate | null = null

  constructor(root: Root, options: EnvironmentOptions) {
    this.name = options.name
    this.#options = options
    this.#root = root
    for (const layout of TABLE_LAYOUTS) {
      if (layout.environment === options.name) this.#openTable(layout)
    }
    this.#stopReaderCheck = options.clock.every(READER_CHECK_MS, () => {
      this.#root.readerCheck()
    })
    const labels = { environment: options.name }
    this.#commits = options.metrics.count('storage_commits', 'committed transactions', labels)
    this.#dropped = options.metrics.count(
      'storage_writes_dropped',
      'writes forgotten because commits fail and too many wait',
      labels,
    )
  }

  table(layout: TableLayout): Table {
    const entry = this.#tables.get(layout.name)
    assert(entry !== undefined, `table ${layout.name} is in environment ${this.name}`)
    return entry.table
  }

  get state(): CommitState {
    return this.#state
  }

  /** Rows put and not yet on the platter. */
  outstandingWrites(): number {
    return this.#openCount + this.#inFlightCount
  }

  /**
   * Bytes of the pages that hold rows: what the files would shrink to. The files themselves never
   * shrink; pages freed by removals are counted out here, since LMDB fills them again.
   */
  sizeBytes(): number {
    let bytes = 0
    for (const { database } of this.#tables.values()) bytes += pageBytes(database.getStats())
    return bytes
  }

  /** Resolves when everything put so far is on the platter; rejects when a commit failed. */
  committed(): Promise<void> {
    if (this.#state === 'failed') return Promise.reject(this.#failure())
    if (this.outstandingWrites() === 0 && !this.#isInFlight) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const isAllInFlight = this.#isInFlight && this.#openCount === 0
      const waiters = isAllInFlight ? this.#inFlightWaiters : this.#openWaiters
      waiters.push({ resolve, reject })
      this.#schedule(0)
    })
  }

  /** As `committed`, but rejects after `timeoutMs` too; whether the rows are kept is then unknown. */
  committedWithin(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.#options.clock.after(timeoutMs, () => {
        reject(new EngineError('TIMED_OUT', 'the disk did not answer in time'))
      })
      this.committed().then(
        () => {
          stop()
          resolve()
        },
        (error: unknown) => {
          stop()
          reject(error)
        },
      )
    })
  }

  /** Commits what waits, unless commits fail, and closes the files. */
  async close(timeoutMs: number): Promise<void> {
    this.#stopReaderCheck()
    try {
      await this.committedWithin(timeoutMs)
    } finally {
      this.#isClosed = true
      this.#stopPause?.()
      if (this.#immediate !== null) clearImmediate(this.#immediate)
      await this.#root.close()
    }
  }

  #openTable(layout: TableLayout): void {
    const database = openTable(this.#root, layout)
    const table = new Table(layout, database, {
      onPut: () => this.#onPut(),
      onDamage: (reason) => this.#onDamage(layout, reason),
      isAccepting: () => this.#isAccepting(),
    })
    this.#tables.set(layout.name, { table, database })
  }

  /** While commits fail no more than the bound may wait: further writes are dropped and counted. */
  #isAccepting(): boolean {
    if (this.#state === 'ok') return true
    const isForgotten = this.#state === 'failed' && this.#options.failedRows === 'drop'
    if (!isForgotten && this.outstandingWrites() < outstandingWritesMax) return true
    this.#dropped.inc()
    return false
  }

  #onPut(): void {
    this.#openCount += 1
    this.#schedule(this.#options.commitPauseMs)
  }

  #onDamage(layout: TableLayout, reason: string): void {
    const { metrics, log } = this.#options
    const labels = { table: layout.name }
    metrics.count('storage_records_damaged', 'records that failed their check', labels).inc()
    const { isWritten, count } = this.#sampler.admit(layout.name)
    if (isWritten)
      log.error({ table: layout.name, reason, count }, 'a damaged record was not served')
  }

  /** Arranges the next hand-over: after the pause, or at the end of this turn when it is 0. A timer that runs already (a pause, or the retry on a full disk) is left to run. */
  #schedule(pauseMs: number): void {
    if (this.#isInFlight || this.#isClosed || this.#immediate !== null) return
    if (this.#state === 'failed') return
    if (pauseMs > 0) {
      if (this.#stopPause === null) {
        this.#stopPause = this.#options.clock.after(pauseMs, () => this.#handOver())
      }
      return
    }
    this.#stopPause?.()
    this.#stopPause = null
    this.#immediate = setImmediate(() => this.#handOver())
  }

  #handOver(): void {
    this.#immediate = null
    this.#stopPause = null
    if (this.#isInFlight || this.#isClosed) return
    this.#isInFlight = true
    for (const { table } of this.#tables.values()) table.beginCommit()
    this.#inFlightCount += this.#openCount
    this.#openCount = 0
    this.#inFlightWaiters.push(...this.#openWaiters)
    this.#openWaiters = []
    this.#root
      .batch(() => {
        for (const { table } of this.#tables.values()) table.writePending()
      })
      .then(
        () => this.#onCommitted(),
        async (error: unknown) => this.#onFailed(await causeOf(error)),
      )
  }

  #onCommitted(): void {
    // The read transaction may be older than the commit; rows must not vanish between the two.
    this.#root.resetReadTxn()
    for (const { table } of this.#tables.values()) table.endCommit()
    this.#commits.inc()
    if (this.#state === 'diskFull') this.#options.log.warn('the disk has room again')
    this.#state = 'ok'
    const waiters = this.#endFlight()
    this.#inFlightCount = 0
    for (const waiter of waiters) waiter.resolve()
    if (this.#openCount > 0) {
      this.#schedule(this.#openWaiters.length > 0 ? 0 : this.#options.commitPauseMs)
    }
  }

  #onFailed(cause: string): void {
    const isFull = /No space|too large|quota/i.test(cause) || this.#isDiskFull()
    const isNews = this.#state === 'ok'
    this.#state = isFull ? 'diskFull' : 'failed'
    const { name, log, metrics, clock, failedRows } = this.#options
    const labels = { environment: name, reason: this.#state }
    metrics.count('storage_commit_failures', 'transactions that failed', labels).inc()
    if (isNews) log.error({ environment: name, reason: this.#state, cause }, 'a commit failed')
    if (failedRows === 'drop') {
      for (const { table } of this.#tables.values()) table.endCommit()
      this.#inFlightCount = 0
    }
    for (const waiter of this.#endFlight()) waiter.reject(this.#failure())
    if (this.#state === 'failed') {
      for (const waiter of this.#openWaiters.splice(0)) waiter.reject(this.#failure())
    } else if (this.#openCount > 0 || this.#inFlightCount > 0) {
      this.#stopPause = clock.after(RETRY_MS, () => this.#handOver())
    }
  }

  #endFlight(): Waiter[] {
    this.#isInFlight = false
    return this.#inFlightWaiters.splice(0)
  }

  #failure(): EngineError {
    const reason = this.#state === 'diskFull' ? 'the disk is full' : 'writing to the disk failed'
    return new EngineError('INTERNAL', reason)
  }

  /** A partial write is reported as EIO, so the room that is left decides. */
  #isDiskFull(): boolean {
    try {
      const { bavail, bsize } = statfsSync(this.#options.path)
      return bavail * bsize < FREE_BYTES_MIN
    } catch {
      return false
    }
  }
}

/** Opens one named database with the options of its layout. */
export function openTable(
  root: Root,
  layout: Pick<TableLayout, 'name' | 'isCompressed'>,
): Database<Buffer, Buffer> {
  return root.openDB<Buffer, Buffer>(layout.name, {
    encoding: 'binary',
    keyEncoding: 'binary',
    compression: layout.isCompressed,
  })
}

/** Bytes of a database's own pages, from lmdb-js's untyped statistics. */
function pageBytes(stats: { readonly [name: string]: unknown }): number {
  const read = (name: string) => (typeof stats[name] === 'number' ? stats[name] : 0)
  const pages = read('treeBranchPageCount') + read('treeLeafPageCount') + read('overflowPages')
  return pages * read('pageSize')
}

/**
 * lmdb-js rejects with a text that says nothing and puts the cause into a promise of its own, which
 * is settled in the same turn; awaited no longer than that.
 */
async function causeOf(error: unknown): Promise<string> {
  if (typeof error !== 'object' || error === null) return String(error)
  if (!('commitError' in error) || !(error.commitError instanceof Promise)) return String(error)
  const cause: Promise<unknown> = error.commitError
  const turnEnds = new Promise<string>((resolve) => setImmediate(() => resolve(String(error))))
  return Promise.race([cause.then(String, String), turnEnds])
}
