// The storage as actors use it. Reads are synchronous and include uncommitted writes of this process. Writes of one
// event-loop tick commit together. `Omit` hides private members and methods for storage/ only, so that tests can
// replace a table.

import type { TimeMs } from '../../engine/units.ts'
import type { Accounts } from '../accounts.ts'
import type { Bars } from '../bars.ts'
import type { Checkpoints } from '../checkpoints.ts'
import type { Coverage } from '../coverage.ts'
import type { Events } from '../events.ts'
import type { Losses } from '../losses.ts'
import type { Markets } from '../markets.ts'
import type { Marks } from '../marks.ts'
import type { StoredMatches, StoredOverrides } from '../matches.ts'
import type { Opportunities } from '../opportunities.ts'
import type { Outbox } from '../outbox.ts'
import type { PastPrices } from '../past-prices.ts'
import type { Runs } from '../runs.ts'
import type { Snapshots } from '../snapshots.ts'
import type { Ticks } from '../ticks.ts'
import type { Trades } from '../trades.ts'
import type { StoredWallets } from '../wallets.ts'
import type { Webhooks } from '../webhooks.ts'
import type { Whales } from '../whales.ts'
import type { PruneLimits } from './rows.ts'

export type * from './rows.ts'

export type EventTable = Omit<Events, never>
export type TradeTable = Omit<Trades, 'hasRun' | 'removeBefore'>
export type TickTable = Omit<Ticks, 'removeHour'>
export type BarTable = Omit<Bars, 'removeBefore' | 'removeMarket'>
export type SnapshotTable = Omit<Snapshots, 'removeBefore'>
export type PastPriceTable = Omit<PastPrices, 'oldestRead' | 'removeRead' | 'removeMarket'>
export type CoverageTable = Omit<Coverage, 'prune'>
export type AccountTable = Omit<Accounts, never>
export type OpportunityTable = Omit<Opportunities, 'prune'>
export type WhaleTable = Omit<Whales, never>
export type MatchTable = Omit<StoredMatches, never>
export type OverrideTable = Omit<StoredOverrides, never>
export type WalletTable = Omit<StoredWallets, never>
export type WebhookTable = Omit<Webhooks, never>
export type OutboxTable = Omit<Outbox, 'lastWebhook'>

export interface Storage {
  readonly markets: Omit<Markets, never>
  readonly events: EventTable
  readonly trades: TradeTable
  readonly whales: WhaleTable
  readonly opportunities: OpportunityTable
  readonly bars: BarTable
  readonly snapshots: SnapshotTable
  readonly ticks: TickTable
  readonly pastPrices: PastPriceTable
  readonly coverage: CoverageTable
  readonly checkpoints: Omit<Checkpoints, never>
  readonly runs: Omit<Runs, 'prune' | 'oldest'>
  readonly losses: Omit<Losses, 'prune'>
  readonly marks: Omit<Marks, never>
  readonly accounts: AccountTable
  readonly webhooks: WebhookTable
  readonly outbox: OutboxTable
  readonly matches: MatchTable
  readonly matchOverrides: OverrideTable
  readonly wallets: WalletTable
  outstandingWrites(): number
  /**
   * False after a failed commit. After a full disk it becomes true again when space is free. After other failures it
   * stays false until a restart.
   */
  isHealthy(): boolean
  /** Bytes of the pages in use in both environments. The files are larger, because LMDB files never shrink. */
  sizeBytes(): number
  /**
   * Deletes expired rows, at most `rowsMax` per call. Call again while it returns true. It deletes in this order:
   * - trades, minute bars and ticks older than `retentionDays` (engine/retention-time.ts), and book snapshots older than
   *   `snapshotRetentionDays`;
   * - above `sizeBytesMax`, the oldest remaining rows except hour bars, and days of past prices, least recently read
   *   first;
   * - coverage and past opportunities older than `retentionDays`;
   * - runs older than the oldest run of a stored trade, and all but the last `retainedRunsMax`, with their losses.
   * Never deletes the newest run. Never deletes whales, even after their run is deleted.
   */
  prune(limits: PruneLimits): boolean
  /** Incremented by each `prune`. Results read before the increment may contain deleted rows. */
  readonly pruneCount: number
  /**
   * Copies accounts to a new file if accounts changed, because deleted rows remain readable in free pages of the old
   * file. Never rejects. `backupAccounts` also does this.
   */
  overwriteDeleted(): Promise<void>
  /**
   * Copies accounts, keys and webhooks into a new folder under DATA_DIR/backups. Writes may continue during the copy.
   * Never rejects: a failure is logged and counted.
   */
  backupAccounts(nowMs: TimeMs): Promise<void>
  /** Resolves when all puts so far are committed. Rejects if a commit failed. */
  committed(): Promise<void>
  /** Commits, flushes and closes. No method may be called afterwards. */
  close(): Promise<void>
}
