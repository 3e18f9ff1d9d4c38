// Migrates an environment from an older format, one step per version. Changes to existing rows and the new version
// number are one transaction, so a crash never leaves a mixture. Work too large for one transaction is prepared first,
// in tables that the old format does not know. Steps run before the tables are opened, while nothing else writes.

import type { RootDatabase } from 'lmdb'
import type { Log } from '../engine/process/log.ts'
import { prepareFormat2 } from './format-2.ts'
import { putFormatVersion, type Sentinel } from './lmdb/sentinel.ts'
import { type EnvironmentName, FORMAT_VERSION } from './tables.ts'

/** Migrates an environment from format `from` to `from + 1`; synchronous. */
export interface MigrationStep {
  readonly from: number
  readonly environment: EnvironmentName
  /**
   * Writes tables that format `from` does not know, in transactions of its own. It runs again after a crash, so it
   * must first remove leftover rows.
   */
  readonly prepare?: (root: RootDatabase<Buffer, Buffer>, log: Log) => void
  /** Rewrites existing rows in one transaction; throwing rolls it back. */
  readonly run?: (root: RootDatabase<Buffer, Buffer>) => void
}

/**
 * Migration steps of each format. A format without a step rewrites nothing; its number keeps an older program from
 * misreading the data:
 * - 3: tables of webhooks and the outbox, and a field of accounts;
 * - 4: tables of wallets;
 * - 5: revoked tokens, and fields of accounts, keys and wallets. An older program would accept revoked tokens and give
 * keys that it writes all scopes;
 * - 6: market fees (unknown in older rows), block trades, past opportunities, and the winner count of events;
 * - 7: family overrides;
 * - 8: packed trades and indexes, several rows in one. Older rows are still read.
 */
const MIGRATION_STEPS: readonly MigrationStep[] = [
  { from: 1, environment: 'market', prepare: prepareFormat2 },
]

/** Runs the missing steps. A version without a step for this environment only changes its number. */
export function migrate(
  root: RootDatabase<Buffer, Buffer>,
  sentinel: Sentinel,
  options: {
    readonly log: Log
    readonly steps?: readonly MigrationStep[]
    readonly targetVersion?: number
  },
): Sentinel {
  const target = options.targetVersion ?? FORMAT_VERSION
  let current = sentinel
  while (current.formatVersion < target) {
    const from = current.formatVersion
    const step = (options.steps ?? MIGRATION_STEPS).find(
      (one) => one.from === from && one.environment === current.environment,
    )
    const before = current
    step?.prepare?.(root, options.log)
    root.transactionSync(() => {
      step?.run?.(root)
      putFormatVersion(root, before, from + 1)
    })
    current = { ...current, formatVersion: from + 1 }
    const { environment } = current
    options.log.info({ environment, from, to: from + 1 }, 'the format of the data was raised')
  }
  if (current !== sentinel) root.resetReadTxn()
  return current
}
