// One LMDB environment: its files, its tables and its commit queue. storage/README.md lists the facts about LMDB and
// lmdb-js on which this module relies.

import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import { assert, EngineError } from '../../engine/errors.ts'
import { flush } from '../../engine/process/durable-file.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import { type EnvironmentName, SENTINEL_TABLE, TABLE_LAYOUTS, type TableLayout } from '../tables.ts'
import { CommitQueue, type CommitState } from './commit-queue.ts'
import { restoreAdvice, SENTINEL_KEY } from './sentinel.ts'
import { type Database, statistic, Table } from './table.ts'

const READER_CHECK_MS = 60_000
/** Time limit for a write that a caller awaits. After a timeout it is unknown whether the rows are stored. */
const DURABLE_MS = 5_000
/** Minimum free disk space: 2 % of the disk, at least 64 MiB and at most 1 GiB. */
const RESERVE = { share: 0.02, bytesMin: 64 * 2 ** 20, bytesMax: 2 ** 30 }
/** Reserved address space, which uses neither memory nor disk. */
const MAP_BYTES = 64 * 2 ** 30
/** Matches the system's messages for ENOSPC, EFBIG and EDQUOT. */
const FULL_DISK = /no space|too large|quota/i

export interface Root {
  openDB(
    name: string,
    options: {
      readonly encoding: 'binary'
      readonly keyEncoding: 'binary'
      readonly compression: boolean
    },
  ): Database
  batch(write: () => void): Promise<unknown>
  readerCheck(): unknown
  resetReadTxn(): void
  close(): Promise<void>
  backup(path: string, isCompact: boolean): Promise<void>
}

interface EnvironmentOptions {
  readonly name: EnvironmentName
  readonly path: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly commitPauseMs: number
  readonly failedRows: 'keep' | 'drop'
  /** Default: the free space of the disk that holds `path`. */
  readonly diskSpace?: () => DiskSpace
}

export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** In bytes. Throws if `path` does not exist. */
export function diskSpace(path: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(path)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/**
 * Whether a disk is too full for LMDB. LMDB must never write to a full disk: lmdb-js 3.5 writes the message of a failed
 * page write into a buffer of 100 bytes and corrupts the heap.
 */
export function isBelowReserve({ freeBytes, totalBytes }: DiskSpace): boolean {
  const { share, bytesMin, bytesMax } = RESERVE
  return freeBytes < Math.min(bytesMax, Math.max(bytesMin, totalBytes * share))
}

export function openDatabase(path: string): RootDatabase<Buffer, Buffer> {
  return open<Buffer, Buffer>(path, {
    maxDbs: 64,
    mapSize: MAP_BYTES,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
  })
}

export class Environment {
  readonly name: EnvironmentName
  readonly #options: EnvironmentOptions
  #root: Root
  readonly #queue: CommitQueue
  readonly #tables = new Map<string, { table: Table; database: Database }>()
  readonly #stopReaderCheck: StopTimer
  readonly #sampler = new LogSampler()
  readonly #dropped: Count
  #sentinel: Database
  #putCount = 0
  #isDamaged = false
  #rewrittenAt: number | null = null

  constructor(root: Root, options: EnvironmentOptions) {
    this.name = options.name
    this.#options = options
    this.#root = root
    this.#sentinel = openIn(root, { name: SENTINEL_TABLE, isCompressed: false })
    this.#queue = this.#openQueue()
    const help = 'writes dropped because commits fail and too many wait'
    const { name, metrics } = options
    this.#dropped = metrics.count('storage_writes_dropped', help, { environment: name })
    for (const layout of TABLE_LAYOUTS) {
      if (layout.environment === options.name) this.#openTable(layout)
    }
    this.#stopReaderCheck = options.clock.every(READER_CHECK_MS, () => {
      this.#root.readerCheck()
    })
  }

  table(layout: TableLayout): Table {
    const entry = this.#tables.get(layout.name)
    assert(entry !== undefined, `table ${layout.name} is in environment ${this.name}`)
    return entry.table
  }

  get state(): CommitState {
    return this.#queue.state
  }

  /** True while commits succeed and no damaged page was found since the start. */
  get isHealthy(): boolean {
    return this.state === 'ok' && !this.#isDamaged
  }

  /**
   * Whether storage accepts this many rows. Tables call it before they write several rows atomically. Counts the rows
   * as dropped if the result is false.
   */
  accepts(rowCount: number): boolean {
    const isAccepting = this.#queue.isAccepting(rowCount)
    if (!isAccepting) this.#dropped.inc(rowCount)
    return isAccepting
  }

  handedOver(): number {
    return this.#putCount - this.#queue.outstandingCount
  }

  get putCount(): number {
    return this.#putCount
  }

  rowCounts(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#tables, ([name, { table }]) => [name, table.committedCount()]))
  }

  /** Copies the committed rows into the empty folder `path`. Writes may continue during the copy. */
  copyTo(path: string): Promise<void> {
    return this.#root.backup(path, true)
  }

  /**
   * Copies the rows into a new file, because deleted rows remain readable in free pages of the old file. Does nothing
   * if no row changed since the last call. Commits wait during the copy, reads continue. Rejects and keeps the old file
   * if the copy fails or has different row counts.
   */
  async rewrite(): Promise<void> {
    const handedOver = this.handedOver()
    if (this.#rewrittenAt === handedOver || this.state !== 'ok') return
    const release = await this.#queue.hold()
    const { path } = this.#options
    // Each copy needs a new path. For the path of an open environment LMDB would return the open environment.
    const next = join(path, `next-${this.#options.clock.nowMs()}`)
    try {
      for (const name of readdirSync(path)) {
        if (name.startsWith('next-')) rmSync(join(path, name), { recursive: true, force: true })
      }
      mkdirSync(next, { mode: 0o700 })
      await this.#root.backup(next, true)
      chmodSync(join(next, 'data.mdb'), 0o600)
      await flush(join(next, 'data.mdb'))
      await this.#moveTo(next)
      this.#rewrittenAt = handedOver
    } finally {
      rmSync(next, { recursive: true, force: true })
      release()
    }
  }

  async #moveTo(next: string): Promise<void> {
    const { path } = this.#options
    const root = openDatabase(next)
    try {
      const sentinel = openIn(root, { name: SENTINEL_TABLE, isCompressed: false })
      const bytes = sentinel.get(SENTINEL_KEY)
      if (bytes === undefined || this.#sentinel.get(SENTINEL_KEY)?.equals(bytes) !== true) {
        throw new Error('the copy has another sentinel')
      }
      const copies = [...this.#tables.values()].map(({ table, database }) => {
        const copy = openIn(root, table.layout)
        if (statistic(copy, 'entryCount') !== statistic(database, 'entryCount')) {
          throw new Error(`the copy has other rows in ${table.layout.name}`)
        }
        return { table, database: copy }
      })
      renameSync(join(next, 'data.mdb'), join(path, 'data.mdb'))
      for (const entry of copies) {
        entry.table.moveTo(entry.database)
        this.#tables.set(entry.table.layout.name, entry)
      }
      this.#sentinel = sentinel
    } catch (error) {
      await root.close()
      throw error
    }
    const old = this.#root
    this.#root = root
    // The new file must be durable before the next commit. Otherwise a crash could restore the old file.
    await flush(path)
    await old.close()
  }

  outstandingWrites(): number {
    return this.#queue.outstandingCount
  }

  /** Bytes of the pages that hold rows. Free pages are not counted, because LMDB reuses them. */
  sizeBytes(): number {
    let bytes = 0
    for (const { database } of this.#tables.values()) bytes += pageBytes(database)
    return bytes
  }

  /** Resolves when all puts so far are durable. Rejects if a commit failed. */
  committed(): Promise<void> {
    return this.#queue.committed()
  }

  /** Resolves when all puts so far are durable. Rejects if a commit fails or takes more than 5 s. */
  durable(): Promise<void> {
    return this.#within(DURABLE_MS, this.#queue.committed())
  }

  /**
   * Commits the waiting rows unless commits fail, and then closes the files. Each of the two steps may take
   * `timeoutMs`.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#stopReaderCheck()
    try {
      await this.#within(timeoutMs, this.#queue.committed())
    } finally {
      this.#queue.close()
      await this.#within(timeoutMs, this.#root.close())
    }
  }

  #openQueue(): CommitQueue {
    const { name, clock, metrics, commitPauseMs, failedRows } = this.#options
    const commitMs = metrics.histogramMs(
      `storage_${name}_commit_ms`,
      'time from the start of a commit until it is durable',
    )
    let startedMs = 0
    return new CommitQueue({
      clock,
      pauseMs: commitPauseMs,
      failedRows,
      beginCommit: () => {
        startedMs = clock.monotonicMs()
        for (const { table } of this.#tables.values()) table.beginCommit()
      },
      write: () => {
        if (this.#isBelowReserve()) throw new Error('No space left above the reserve')
        return this.#root.batch(() => {
          for (const { table } of this.#tables.values()) table.writePending()
          // An empty commit does not write to the disk, so it cannot detect that space is free again.
          if (this.state === 'diskFull') this.#rewriteSentinel()
        })
      },
      endCommit: () => {
        // The read transaction may be older than the commit. Without the reset, reads would not return the committed
        // rows for a while.
        this.#root.resetReadTxn()
        for (const { table } of this.#tables.values()) table.endCommit()
        commitMs.observe(clock.monotonicMs() - startedMs)
      },
      explain: async (error) => {
        const cause = await causeOf(error)
        return { cause, isDiskFull: FULL_DISK.test(cause) || this.#isBelowReserve() }
      },
      onFailure: ({ state, isNewState, cause }) => {
        const labels = { environment: name, reason: state }
        metrics.count('storage_commit_failures', 'commits that failed', labels).inc()
        if (isNewState) this.#options.log.error({ ...labels, cause }, 'a commit failed')
      },
    })
  }

  #openTable(layout: TableLayout): void {
    const database = openIn(this.#root, layout)
    const table = new Table(layout, database, {
      onPut: () => {
        this.#putCount += 1
        this.#queue.add()
      },
      onDamage: (reason) => this.#onDamage(layout, reason),
      isAccepting: () => this.accepts(1),
    })
    this.#tables.set(layout.name, { table, database })
  }

  #onDamage(layout: TableLayout, reason: 'page' | 'record'): void {
    const { metrics, log } = this.#options
    if (reason === 'page' && !this.#isDamaged) {
      this.#isDamaged = true
      log.error({ table: layout.name, advice: restoreAdvice(this.name) }, 'a table is damaged')
    }
    const labels = { table: layout.name }
    metrics.count('storage_records_damaged', 'records that failed their check', labels).inc()
    const { isWritten, count } = this.#sampler.admit(layout.name)
    if (isWritten) log.error({ ...labels, reason, count }, 'a damaged record was skipped')
  }

  #within(timeoutMs: number, work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.#options.clock.after(timeoutMs, () => {
        reject(new EngineError('TIMED_OUT', 'the disk did not answer in time'))
      })
      work.then(resolve, reject).finally(stop)
    })
  }

  /** Rewrites an existing row, so that LMDB must write a page to the disk. */
  #rewriteSentinel(): void {
    const bytes = this.#sentinel.get(SENTINEL_KEY)
    if (bytes !== undefined) this.#sentinel.put(SENTINEL_KEY, bytes)
  }

  #isBelowReserve(): boolean {
    try {
      return isBelowReserve(this.#options.diskSpace?.() ?? diskSpace(this.#options.path))
    } catch {
      return false
    }
  }
}

type TableOptions = Pick<TableLayout, 'name' | 'isCompressed'>

const optionsOf = ({ isCompressed }: TableOptions) =>
  ({ encoding: 'binary', keyEncoding: 'binary', compression: isCompressed }) as const

const openIn = (root: Root, layout: TableOptions): Database =>
  root.openDB(layout.name, optionsOf(layout))

export function openTable(root: RootDatabase<Buffer, Buffer>, layout: TableOptions) {
  return root.openDB<Buffer, Buffer>(layout.name, optionsOf(layout))
}

function pageBytes(database: Database): number {
  const read = (name: string) => statistic(database, name)
  const pages = read('treeBranchPageCount') + read('treeLeafPageCount') + read('overflowPages')
  return pages * read('pageSize')
}

/**
 * Returns the cause of a failed commit. lmdb-js rejects with a generic message. In the same event-loop tick it rejects
 * a separate promise with the cause.
 */
async function causeOf(error: unknown): Promise<string> {
  if (typeof error !== 'object' || error === null) return String(error)
  if (!('commitError' in error) || !(error.commitError instanceof Promise)) return String(error)
  const cause: Promise<unknown> = error.commitError
  const tickEnd = new Promise<string>((resolve) => setImmediate(() => resolve(String(error))))
  return Promise.race([cause.then(String, String), tickEnd])
}
