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

/** Rolling time windows that end now, exact to the second. */
export const WALLET_WINDOWS = ['one_day', 'seven_day', 'thirty_day', 'all_time'] as const
export type WalletWindow = (typeof WALLET_WINDOWS)[number]

export interface PositionView extends PositionFigures {
  /** Null: the catalogue no longer contains the market. */
  readonly view: MarketView | null
  readonly facts: WalletMarket | null
  /** Current value of one contract in micros. Null: unknown. The position is then valued at its cost. */
  readonly price: number | null
  readonly unrealized: UsdMicros
}

/** `ordinal`: index among the wallet's events of that millisecond. */
export interface WalletEventView {
  readonly event: WalletEvent
  readonly timeMs: TimeMs
  readonly ordinal: number
  /** Stable public id. */
  readonly id: string
  readonly view: MarketView | null
  /** Stored facts about a market that the catalogue no longer contains. */
  readonly facts: WalletMarket | null
}

/** Why a wallet may lack events or have wrong sums. See engine/wallets/README.md. */
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

/** Valid only in the event-loop tick in which it was returned. */
export interface WalletView {
  readonly profile: WalletProfile
  /** True if the last sync is seconds old and no issue is known. */
  readonly isComplete: boolean
  readonly issues: readonly WalletIssue[]
  /** Number of known events that the venue's last answers lack. */
  readonly lacking: number
  /** Start of the last sync. The figures include its complete answer. */
  readonly asOfMs: TimeMs
  readonly totals: WalletTotals
  readonly unrealized: UsdMicros
  readonly isWhale: boolean
  window(window: WalletWindow): RangeFigures
  /** Unordered. Computed at each call in time slices, about 2 µs per position. */
  positions(): readonly PositionView[] | Promise<readonly PositionView[]>
  /** Figures and series of the range [fromMs, toMs]. */
  pnl(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): {
    readonly figures: RangeFigures
    readonly series: readonly PnlPoint[]
  }
  /**
   * Returns a slice of the ledger, including unsettled events. Returns fewer than `limit` events only at the end.
   * Throws EngineError UNAVAILABLE if the ledger is damaged, and starts a sync that repairs it.
   */
  events(query: SliceQuery): readonly WalletEventView[]
}

export type WalletOrder = 'realized_pnl' | 'volume'

/** A wallet in the ranking of all wallets that were ever requested. */
export interface RankedWallet {
  readonly rank: number
  readonly profile: WalletProfile
  readonly figures: RangeFigures
  readonly totals: WalletTotals
  /** Whether the wallet’s own answers are complete. */
  readonly isComplete: boolean
  /** Start of the last complete sync. Null: no sync was complete. */
  readonly asOfMs: TimeMs | null
}

export interface WalletsView {
  /**
   * Returns the wallet of a proxy's or owner's address. Syncs it at its first request and when its data is old. Null:
   * neither the venue nor the local log knows the address. If the venue does not answer in time, returns the known data
   * with `isComplete` false. Rejects with EngineError UNAVAILABLE if nothing is known and the venue does not answer or
   * too many requests wait. Rejects with RATE_LIMITED if the requester requested too many unknown wallets within a
   * minute.
   */
  open(
    address: WalletAddress,
    signal: AbortSignal,
    requester?: Requester,
  ): Promise<WalletView | null>
  /**
   * Returns a page of the ranking, best first. Windows other than all time count whole UTC hours. The order is updated
   * at most every 5 s. `pin` identifies the ranking of an earlier page. Throws BAD_REQUEST if the pin has expired.
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
