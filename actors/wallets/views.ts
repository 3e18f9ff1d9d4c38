// What the owners let the face see of wallets. Part of views.ts, which shows these to http/.

import type { Requester } from '../../engine/fair-queue.ts'
import type { NativeMarketId, WalletAddress } from '../../engine/ids.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type {
  WalletEvent,
  WalletEventKind,
  WalletMarket,
  WalletProfile,
} from '../../engine/wallet.ts'
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
export type WalletWindow = 'one_day' | 'seven_day' | 'thirty_day' | 'all_time'
export const WALLET_WINDOWS: readonly WalletWindow[] = [
  'one_day',
  'seven_day',
  'thirty_day',
  'all_time',
]

/** A position as of now. */
export interface PositionView extends PositionFigures {
  /** Null: the catalogue does not know the market any more. */
  readonly view: MarketView | null
  readonly facts: WalletMarket | null
  /** What one contract is worth now, in micros; null: unknown, valued at its cost. */
  readonly price: number | null
  readonly unrealized: UsdMicros
}

/** An event of the ledger with its place: the ordinal counts the wallet's events of that millisecond. */
export interface WalletEventView {
  readonly event: WalletEvent
  readonly timeMs: TimeMs
  readonly ordinal: number
  /** Never changes; for users. */
  readonly id: string
  readonly view: MarketView | null
  /** Kept facts about a market that the catalogue does not know; looked up at access. */
  readonly facts: WalletMarket | null
}

/** Why a wallet may lack events, or have wrong sums; see engine/wallets/README.md. */
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

/** One wallet as of the moment of looking; valid in the turn in which it was returned. */
export interface WalletView {
  readonly profile: WalletProfile
  /** There is no doubt: readings of the venue, the last one some seconds ago, have everything that is shown. */
  readonly isComplete: boolean
  readonly issues: readonly WalletIssue[]
  /** The number of kept and shown events that the venue's last answers lack. */
  readonly lacking: number
  /** When the venue was last read: all of its answer is in the figures. */
  readonly asOfMs: TimeMs
  readonly totals: WalletTotals
  readonly unrealized: UsdMicros
  /** Whether the wallet made a whale row in the last thirty days. */
  readonly isWhale: boolean
  window(window: WalletWindow): RangeFigures
  /** In no order. Computed at the call, in turns of the loop: some 2 µs each. */
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
   * A slice of the ledger, unsettled events included: fewer than `limit` only at the end. Throws EngineError
   * UNAVAILABLE when it is damaged, and is then read anew.
   */
  events(
    query: SliceQuery & {
      readonly kinds: readonly WalletEventKind[] | null
      readonly market: NativeMarketId | null
    },
  ): readonly WalletEventView[]
}

export type WalletOrder = 'realized_pnl' | 'volume'

/** A place in the ranking of wallets that were ever requested. */
export interface RankedWallet {
  readonly rank: number
  readonly profile: WalletProfile
  readonly figures: RangeFigures
  readonly totals: WalletTotals
  /** As in the wallet's own answers. */
  readonly isComplete: boolean
  /** When the venue was read for these figures; null: never to the end. */
  readonly asOfMs: TimeMs | null
}

export interface WalletsView {
  /**
   * The wallet of a proxy or owner's address, read from the venue at its first request and when what is known is old; null:
   * unknown to the venue and to our log. When the venue does not answer in time: what is known, with `isComplete` false.
   * Rejects with EngineError UNAVAILABLE when nothing is known yet and the venue does not answer, or too many wait, and
   * RATE_LIMITED when the requester asked for too many unknown wallets within a minute.
   */
  open(
    address: WalletAddress,
    signal: AbortSignal,
    requester?: Requester,
  ): Promise<WalletView | null>
  /**
   * Best first; windows shorter than all time count whole UTC hours. Cut at most every 5 s. `pin` names the order of an
   * earlier page; throws BAD_REQUEST when it is no longer kept.
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
