// Opens the LMDB storage of a data folder: lock, side file, file check, sentinels, format and tables. Closes them in
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
import type { PruneLimits } from '../contract/rows.ts'
import type { Storage } from '../contract/storage.ts'
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
 * Market writes are batched for this time to write fewer pages. After a crash, the engine requests the lost rows from
 * the venues again.
 */
const MARKET_PAUSE_MS = 20
const CLOSE_TIMEOUT_MS = 10_000

interface LmdbStorageOptions {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Default: checks in child processes. */
  readonly checkFiles?: typeof checkFiles
}

/**
 * Opens or creates the data folder. Rejects with EngineError UNAVAILABLE if another engine uses the folder. Rejects
 * with an Error that states the remedy if the files are not the expected files.
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
      `cannot start: DATA_DIR=${dataDir} cannot be written (${found}); free disk space, fix its permissions, or set another folder`,
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
    const check = options.checkFiles ?? checkFiles
    await Promise.all(
      found.map((name) => check({ dataDir, name, path: environmentPath(dataDir, name) })),
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
    return storageOf({
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

export function storageOf({
  metrics,
  accounts,
  market,
  backup,
  release,
}: {
  readonly metrics: Metrics
  readonly accounts: Environment
  readonly market: Environment
  readonly backup: Pick<AccountsBackup, 'make' | 'overwriteDeleted' | 'stop'>
  readonly release: () => void
}): Storage {
  const hours = new Hours(market.table(TABLES.hours))
  const snapshotHours = new Hours(market.table(TABLES.snapshotHours))
  const bars = new Bars(market, hours)
  const pastPrices = new PastPrices(market)
  const outbox = new Outbox(market)
  const tables = {
    trades: new Trades(market, hours),
    opportunities: new Opportunities(market),
    snapshots: new Snapshots(market, snapshotHours),
    ticks: new Ticks(market, hours),
    coverage: new Coverage(market),
    runs: new Runs(market),
    losses: new Losses(market),
    bars,
    pastPrices,
  }
  const retention = new Retention({ environment: market, hours, snapshotHours, ...tables })
  const environments = [market, accounts]
  const close = async (): Promise<void> => {
    try {
      await backup.stop()
      const closing = environments.map((environment) => environment.close(CLOSE_TIMEOUT_MS))
      for (const one of await Promise.allSettled(closing))
        if (one.status === 'rejected') throw one.reason
    } finally {
      release()
    }
  }
  let closing: Promise<void> | null = null
  const storage = {
    ...tables,
    markets: new Markets(market, [bars, pastPrices]),
    events: new Events(market),
    whales: new Whales(market),
    checkpoints: new Checkpoints(market),
    marks: new Marks(market.table(TABLES.marks)),
    accounts: new Accounts(accounts),
    outbox,
    webhooks: new Webhooks(accounts, outbox.lastWebhook()),
    matches: new StoredMatches(market),
    matchOverrides: new StoredOverrides(accounts),
    wallets: new StoredWallets(market),
    outstandingWrites: () => market.outstandingWrites() + accounts.outstandingWrites(),
    isHealthy: () => market.isHealthy && accounts.isHealthy,
    sizeBytes: () => market.sizeBytes() + accounts.sizeBytes(),
    pruneCount: 0,
    prune(limits: PruneLimits): boolean {
      storage.pruneCount += 1
      return retention.prune(limits)
    },
    overwriteDeleted: () => backup.overwriteDeleted(),
    backupAccounts: (nowMs: TimeMs) => backup.make(nowMs),
    async committed(): Promise<void> {
      await Promise.all(environments.map((environment) => environment.committed()))
    },
    close(): Promise<void> {
      closing ??= close()
      return closing
    },
  }
  const { outstandingWrites, sizeBytes } = storage
  metrics.gauge('storage_outstanding_writes', 'writes not yet committed', outstandingWrites)
  metrics.gauge('storage_bytes', 'bytes of pages that hold rows', sizeBytes)
  return storage
}
