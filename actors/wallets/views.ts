// Read interface of wallets for the API server.

import type { Requester } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type { WalletEvent, WalletMarket, WalletProfile } from '../../engine/wallet.ts'
import type {
  PnlGranularity,
  PnlPoint,
  PositionFigures,
  RangeFigures,
  WalletTotals,
} from '../../engine/wallets/wallet-figures.ts'
import type { SliceQuery } from '../../storage/contract/storage.ts'
import type { MarketView } from '../market/views.ts'

/** The rolling windows of a profile, each up to now and exact to the second. */
export const WALLET_WINDOWS = ['one_day', 'seven_day', 'thirty_day', 'all_time'] as const
export type WalletWindow = (typeof WALLET_WINDOWS)[number]

/** A position with current values. */
export interface PositionView extends PositionFigures {
  /** Null: the catalogue no longer has the market. */
  readonly view: MarketView | null
  readonly facts: WalletMarket | null
  /** Current value of one contract in micros; null: unknown, valued at its cost. */
  readonly price: number | null
  readonly unrealized: UsdMicros
}

/** An event of the ledger; its ordinal counts the wallet's events of that millisecond. */
export interface WalletEventView {
  readonly event: WalletEvent
  readonly timeMs: TimeMs
  readonly ordinal: number
  /** Stable public id. */
  readonly id: string
  readonly view: MarketView | null
  /** Stored facts about a market that the catalogue lacks; looked up at access. */
  readonly facts: WalletMarket | null
}

/** Why a wallet may lack events or have wrong sums; see engine/wallets/README.md. */
export type WalletIssue =
  | 'venue_lacks_kept'
  | 'venue_unsure'
  | 'venue_withheld'
  | 'venue_late'
  | 'venue_counts_otherwise'
  | 'not_read_whole'
  | 'not_told_yet'
  | 'figures_behind'
  | 'group_unknown'
  | 'combos'
  | 'no_live_fills'

/** A current view of one wallet; valid in the tick in which it was returned. */
export interface WalletView {
  readonly profile: WalletProfile
  /** No issue is known: syncs contain everything that is shown, the last one being seconds old. */
  readonly isComplete: boolean
  readonly issues: readonly WalletIssue[]
  /** Number of stored and shown events that the venue's last answers lack. */
  readonly lacking: number
  /** Time of the last sync: the figures include all of its answer. */
  readonly asOfMs: TimeMs
  readonly totals: WalletTotals
  readonly unrealized: UsdMicros
  /** Whether the wallet made a whale row in the last thirty days. */
  readonly isWhale: boolean
  window(window: WalletWindow): RangeFigures
  /** Unordered. Computed at the call in time slices, about 2 µs per position. */
  positions(): readonly PositionView[] | Promise<readonly PositionView[]>
  /** Figures and series of [fromMs, toMs]. */
  pnl(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): {
    readonly figures: RangeFigures
    readonly series: readonly PnlPoint[]
  }
  /**
   * A slice of the ledger, including unsettled events. Fewer than `limit` only at the end. Throws EngineError
   * UNAVAILABLE if the ledger is damaged, and starts a new sync.
   */
  events(query: SliceQuery): readonly WalletEventView[]
}

export type WalletOrder = 'realized_pnl' | 'volume'

/** A rank among the wallets that were ever requested. */
export interface RankedWallet {
  readonly rank: number
  readonly profile: WalletProfile
  readonly figures: RangeFigures
  readonly totals: WalletTotals
  /** Whether the wallet’s own answers are complete. */
  readonly isComplete: boolean
  /** Time of the sync that these figures come from; null: never complete. */
  readonly asOfMs: TimeMs | null
}

export interface WalletsView {
  /**
   * Returns the wallet of a proxy or owner's address, synced at its first request and when its data is old. Null:
   * unknown to the venue and our log. If the venue does not answer in time, returns the known data with `isComplete`
   * false. Rejects with EngineError UNAVAILABLE if nothing is known and the venue does not answer or too many wait.
   * Rejects with RATE_LIMITED if the requester requested too many unknown wallets within a minute.
   */
  open(
    address: WalletAddress,
    signal: AbortSignal,
    requester?: Requester,
  ): Promise<WalletView | null>
  /**
   * Best first. Windows shorter than all time count whole UTC hours. Selected at most every 5 s. `pin` identifies the
   * ranking of an earlier page; throws BAD_REQUEST if it has expired.
   */
  ranking(query: {
    readonly window: WalletWindow
    readonly sortBy: WalletOrder
    readonly offset: number
    readonly limit: number
    readonly pin?: number | null
  }): {
    readonly wallets: readonly RankedWallet[]
    readonly total: number
    readonly next: { readonly pin: number; readonly offset: number } | null
  }
  readonly count: number
}
