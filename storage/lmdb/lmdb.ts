// Opens the LMDB storage of a data folder: lock, side file, file check, sentinels, format, tables. Closes them in
// reverse order.

import { chmodSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RootDatabase } from 'lmdb'
import type { Clock } from '../../engine/clock.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { TimeMs } from '../../engine/units.ts'
import { Accounts } from '../accounts.ts'
import { Bars } from '../bars.ts'
import { Checkpoints } from '../checkpoints.ts'
import type { PruneLimits, Storage } from '../contract/storage.ts'
import { Coverage } from '../coverage.ts'
import { Events } from '../events.ts'
import { Hours } from '../hours.ts'
import { Losses } from '../losses.ts'
import { Markets } from '../markets.ts'
import { Marks } from '../marks.ts'
import { StoredMatches, StoredOverrides } from '../matches.ts'
import { Opportunities } from '../opportunities.ts'
import { Outbox } from '../outbox.ts'
import { PastPrices } from '../past-prices.ts'
import { Retention } from '../retention.ts'
import { Runs } from '../runs.ts'
import { Snapshots } from '../snapshots.ts'
import { ENVIRONMENT_NAMES, type EnvironmentName, TABLES } from '../tables.ts'
import { Ticks } from '../ticks.ts'
import { Trades } from '../trades.ts'
import { StoredWallets } from '../wallets.ts'
import { Webhooks } from '../webhooks.ts'
import { Whales } from '../whales.ts'
import { AccountsBackup } from './backup.ts'
import { diskSpace, Environment, isBelowReserve, openDatabase } from './environment.ts'
import { takeLock } from './lock.ts'
import {
  checkSentinel,
  completeSideFile,
  environmentBytes,
  environmentPath,
  prepareSideFile,
} from './sentinel.ts'
import { checkFiles } from './startup-check.ts'

/**
 * Market writes are batched for this long, which writes ten times fewer pages than a commit per event-loop tick. The
 * venues send again what a kill loses.
 */
const MARKET_PAUSE_MS = 20
/** Limit for closing the files; the whole shutdown has shutdownMsMax. */
const CLOSE_TIMEOUT_MS = 10_000

interface LmdbStorageOptions {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Opens or creates the data folder. On rejection it releases the lock. Rejects with EngineError UNAVAILABLE if another
 * engine holds the folder, or with an Error that states the remedy if the files are not the expected ones.
 */
export async function openLmdbStorage(options: LmdbStorageOptions): Promise<Storage> {
  const dataDir = resolve(options.dataDir)
  try {
    return await openFolder(dataDir, options)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!DISK_CODES.test(code)) throw error
    const found = error instanceof Error ? error.message : code
    throw new Error(
      `cannot start: DATA_DIR=${dataDir} cannot be written (${found}); give it room and rights, or set another`,
    )
  }
}

/** Error codes of a full or read-only disk, or of a folder that cannot be created. */
const DISK_CODES = /^(?:ENOSPC|EDQUOT|EFBIG|EROFS|EACCES|EPERM|ENOENT|ENOTDIR|EIO)$/

async function openFolder(dataDir: string, options: LmdbStorageOptions): Promise<Storage> {
  const release = takeLock(dataDir)
  const roots: RootDatabase<Buffer, Buffer>[] = []
  try {
    if (isBelowReserve(diskSpace(dataDir))) {
      throw Object.assign(new Error('less than 64 MiB or 2 % of the disk is free'), {
        code: 'ENOSPC',
      })
    }
    const side = prepareSideFile(dataDir)
    const found = ENVIRONMENT_NAMES.filter((name) => (environmentBytes(dataDir, name) ?? 0) > 0)
    await Promise.all(
      found.map((name) => checkFiles({ dataDir, name, path: environmentPath(dataDir, name) })),
    )
    const open = (name: EnvironmentName): RootDatabase<Buffer, Buffer> => {
      const path = environmentPath(dataDir, name)
      mkdirSync(path, { recursive: true, mode: 0o700 })
      const root = openDatabase(path)
      roots.push(root)
      chmodSync(path, 0o700)
      for (const file of ['data.mdb', 'lock.mdb']) chmodSync(join(path, file), 0o600)
      checkSentinel(root, { dataDir, name, side })
      return root
    }
    const [accountsRoot, marketRoot] = [open('accounts'), open('market')]
    completeSideFile(dataDir, side)
    const accounts = new Environment(accountsRoot, {
      ...options,
      name: 'accounts',
      path: environmentPath(dataDir, 'accounts'),
      commitPauseMs: 0,
      failedRows: 'drop',
    })
    const { databaseId } = side
    return new LmdbStorage({
      metrics: options.metrics,
      accounts,
      market: new Environment(marketRoot, {
        ...options,
        name: 'market',
        path: environmentPath(dataDir, 'market'),
        commitPauseMs: MARKET_PAUSE_MS,
        failedRows: 'keep',
      }),
      backup: new AccountsBackup({ ...options, environment: accounts, databaseId }),
      release,
    })
  } catch (error) {
    await Promise.all(roots.map((root) => root.close()))
    release()
    throw error
  }
}

export class LmdbStorage implements Storage {
  readonly markets: Markets
  readonly events: Events
  readonly trades: Trades
  readonly whales: Whales
  readonly opportunities: Opportunities
  readonly bars: Bars
  readonly snapshots: Snapshots
  readonly ticks: Ticks
  readonly pastPrices: PastPrices
  readonly coverage: Coverage
  readonly checkpoints: Checkpoints
  readonly runs: Runs
  readonly losses: Losses
  readonly marks: Marks
  readonly accounts: Accounts
  readonly webhooks: Webhooks
  readonly outbox: Outbox
  readonly matches: StoredMatches
  readonly matchOverrides: StoredOverrides
  readonly wallets: StoredWallets
  readonly #accounts: Environment
  readonly #market: Environment
  readonly #backup: Pick<AccountsBackup, 'make' | 'overwriteDeleted' | 'stop'>
  readonly #retention: Retention
  readonly #release: () => void
  #closing: Promise<void> | null = null

  constructor(parts: {
    readonly metrics: Metrics
    readonly accounts: Environment
    readonly market: Environment
    readonly backup: Pick<AccountsBackup, 'make' | 'overwriteDeleted' | 'stop'>
    /** Called when all is closed. */
    readonly release: () => void
  }) {
    const { market, metrics } = parts
    const hours = new Hours(market.table(TABLES.hours))
    const snapshotHours = new Hours(market.table(TABLES.snapshotHours))
    this.bars = new Bars(market, hours)
    this.pastPrices = new PastPrices(market)
    this.markets = new Markets(market, [this.bars, this.pastPrices])
    this.events = new Events(market)
    this.trades = new Trades(market, hours)
    this.whales = new Whales(market)
    this.opportunities = new Opportunities(market)
    this.snapshots = new Snapshots(market, snapshotHours)
    this.ticks = new Ticks(market, hours)
    this.coverage = new Coverage(market)
    this.checkpoints = new Checkpoints(market)
    this.runs = new Runs(market)
    this.losses = new Losses(market)
    this.marks = new Marks(market.table(TABLES.marks))
    this.accounts = new Accounts(parts.accounts)
    this.outbox = new Outbox(market)
    this.webhooks = new Webhooks(parts.accounts, this.outbox.lastWebhook())
    this.#backup = parts.backup
    this.matches = new StoredMatches(market)
    this.matchOverrides = new StoredOverrides(parts.accounts)
    this.wallets = new StoredWallets(market)
    this.#accounts = parts.accounts
    this.#market = market
    this.#release = parts.release
    this.#retention = new Retention({
      environment: market,
      hours,
      snapshotHours,
      trades: this.trades,
      bars: this.bars,
      snapshots: this.snapshots,
      ticks: this.ticks,
      pastPrices: this.pastPrices,
      coverage: this.coverage,
      opportunities: this.opportunities,
      runs: this.runs,
      losses: this.losses,
    })
    metrics.gauge('storage_outstanding_writes', 'writes not yet committed', () =>
      this.outstandingWrites(),
    )
    metrics.gauge('storage_bytes', 'bytes of pages that hold rows', () => this.sizeBytes())
  }

  outstandingWrites(): number {
    return this.#market.outstandingWrites() + this.#accounts.outstandingWrites()
  }

  isHealthy(): boolean {
    return this.#market.isHealthy && this.#accounts.isHealthy
  }

  sizeBytes(): number {
    return this.#market.sizeBytes() + this.#accounts.sizeBytes()
  }

  pruneCount = 0

  prune(limits: PruneLimits): boolean {
    this.pruneCount += 1
    return this.#retention.prune(limits)
  }

  overwriteDeleted(): Promise<void> {
    return this.#backup.overwriteDeleted()
  }

  backupAccounts(nowMs: TimeMs): Promise<void> {
    return this.#backup.make(nowMs)
  }

  async committed(): Promise<void> {
    await Promise.all([this.#market.committed(), this.#accounts.committed()])
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      await this.#backup.stop()
      const closed = await Promise.allSettled([
        this.#market.close(CLOSE_TIMEOUT_MS),
        this.#accounts.close(CLOSE_TIMEOUT_MS),
      ])
      for (const one of closed) if (one.status === 'rejected') throw one.reason
    } finally {
      this.#release()
    }
  }
}
