// Brings an environment from an older format to this program's, one step a version. What changes rows
// of the old format and the new version number are one transaction: a crash leaves the old format or
// the new, never both. What is too much for one transaction is prepared before, in tables that the old format does not know.
// Steps run before the tables are opened, with nothing else writing.

import type { RootDatabase } from 'lmdb'
import type { Log } from '../engine/process/log.ts'
import { prepareFormat2 } from './format-2.ts'
import { putFormatVersion, type Sentinel } from './lmdb/sentinel.ts'
import { type EnvironmentName, FORMAT_VERSION } from './tables.ts'

/** Takes an environment from format `from` to `from + 1`; synchronous. */
export interface MigrationStep {
  readonly from: number
  readonly environment: EnvironmentName
  /**
   * Writes tables that format `from` does not know, in transactions of its own; begun anew after a
   * crash, so it first removes what it left.
   */
  readonly prepare?: (root: RootDatabase<Buffer, Buffer>, log: Log) => void
  /** Rewrites rows that format `from` knows, in one transaction; throwing undoes it. */
  readonly run?: (root: RootDatabase<Buffer, Buffer>) => void
}

/**
 * The steps that releases have needed so far. Format 3 added tables (webhooks, the outbox) and a field
 * of accounts, for which nothing is rewritten: its number keeps older programs from taking accounts
 * that they cannot read for damaged ones. Format 4 added the tables of wallets;
 * nothing is rewritten. Format 5 added ended tokens and a field of accounts and of keys: an older program
 * would serve tokens that were ended, and give every key that it writes all scopes. It also added fields
 * of wallets: an older program would take them for damaged. Format 6 added the fees of markets and the mark of block
 * trades: an older program would list no market; nothing is rewritten, and a market without fees is read as one whose fees are unknown. It also added the
 * table of past opportunities, and of an event among how many markets its winner is. Format 7 added verdicts on families,
 * which an older program would take for damaged; nothing is rewritten. Format 8 packs trades and their indexes, several
 * rows in one: an older program would read one of them at most; rows of before are read where they are, and not rewritten.
 */
const MIGRATION_STEPS: readonly MigrationStep[] = [
  { from: 1, environment: 'market', prepare: prepareFormat2 },
]

/** Runs the missing steps. A version without a step for this environment only moves its number. */
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
