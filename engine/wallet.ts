// What a wallet of venue a is and does: the words between the venue's Data API, the PnL rules, the ledger on disk and
// the face. Integers throughout: micro-dollars, micro-contracts.

import type { NativeMarketId, OutcomeId, WalletAddress } from './ids.ts'
import type { FeeCurve } from './market/fees.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from './units.ts'

/**
 * `income`: rewards, rebates, yield and whatever else a venue pays; no trading PnL. `migration`: contracts of an old token
 * became as many of a new one. `combo…`: of bets on several markets at once (combos), which are in no market that is
 * served. Stored as numbers: the order stays.
 */
export type WalletEventKind =
  | 'buy'
  | 'sell'
  | 'split'
  | 'merge'
  | 'redeem'
  | 'conversion'
  | 'income'
  | 'migration'
  | ComboEventKind

/** `comboOther`: what became of a combo in another way, so that its result is not known. */
export type ComboEventKind = 'comboBuy' | 'comboSell' | 'comboRedeem' | 'comboOther'

export const WALLET_EVENT_KINDS: readonly WalletEventKind[] = [
  'buy',
  'sell',
  'split',
  'merge',
  'redeem',
  'conversion',
  'income',
  'migration',
  'comboBuy',
  'comboSell',
  'comboRedeem',
  'comboOther',
]

/** Whether an event is of a combo. */
export function isComboKind(kind: WalletEventKind): kind is ComboEventKind {
  return kind.startsWith('combo')
}

/** Which side of a fill a wallet was on; null: not known, or no fill. */
export type WalletRole = 'taker' | 'maker' | null

/** One thing that a wallet did. Ordered by time, then transaction, then the order in which the venue lists them. */
export interface WalletEvent {
  readonly kind: WalletEventKind
  /** Whole seconds: all that the venue gives. */
  readonly timeMs: TimeMs
  /** Lower case; '' where the venue gives none. */
  readonly txHash: string
  /** '' for income of the account as a whole. Of a conversion the first of `converted`. */
  readonly market: NativeMarketId
  /** The token bought, sold, redeemed (null: the row names none), or got by a migration; null for all else. */
  readonly token: OutcomeId | null
  /** Contracts bought, sold, split, merged, redeemed, converted, migrated; of income the dollars again. */
  readonly size: SizeMicros
  /** Of a fill, in the token traded; 0 for all else. */
  readonly price: PriceMicros
  /**
   * Dollars that changed hands, without fees: of a fill price × size from the venue's unrounded price, to the
   * nearest micro; of all else what the venue says (0 for a loser redeemed), of a combo's fills the fee included.
   */
  readonly usd: UsdMicros
  /** Paid beside `usd`, ≥ 0; kept apart from PnL. 0 where the venue does not say (the stream never does). */
  readonly fee: UsdMicros
  readonly role: WalletRole
  /** Of a conversion: the markets whose No was given, in the venue's order; empty for all else. */
  readonly converted: readonly NativeMarketId[]
}

/** The order of a wallet's events but for those of one transaction in one second, which stay in the venue's order. */
export function compareEvents(one: WalletEvent, other: WalletEvent): number {
  if (one.timeMs !== other.timeMs) return one.timeMs - other.timeMs
  if (one.txHash === other.txHash) return 0
  return one.txHash < other.txHash ? -1 : 1
}

/** What the rules must know of a market, and what users know it by. */
export interface WalletMarket {
  readonly nativeId: NativeMarketId
  /** All three null: not known. */
  readonly question: string | null
  readonly slug: string | null
  readonly eventSlug: string | null
  /** Of the outcomes, in their order; empty: not known. */
  readonly labels: readonly string[]
  /** Tokens in outcome order; empty: not known. */
  readonly tokens: readonly OutcomeId[]
  /** Payout of the first outcome, the second's being the rest of a dollar; null: not resolved, or not known. */
  readonly payout: PriceMicros | null
  /** When it was resolved; null exactly when `payout` is. */
  readonly resolvedAtMs: TimeMs | null
  /** What takers of the market pay; null: not known. */
  readonly takerFee: FeeCurve | null
  /**
   * The markets of its neg-risk event, itself included, in the event's order; null: it is in none, or not known. A
   * conversion gives No of some and gets Yes of the others.
   */
  readonly group: readonly NativeMarketId[] | null
}

/** Null: not known. Events of such a market count as far as they can be understood without it. */
export type FindWalletMarket = (id: NativeMarketId) => WalletMarket | null

/** The profile of a wallet, as the venue gives it. */
export interface WalletProfile {
  /** The address that trades: what all else is asked by. */
  readonly proxy: WalletAddress
  /** The owner's (EOA) address, where the venue gives it. */
  readonly eoa: WalletAddress | null
  readonly handle: string | null
  readonly pseudonym: string | null
  readonly image: string | null
}

/** What the venue itself says of a position, for comparing with ours; never shown as ours. */
export interface VenuePosition {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  /** 0 for a closed position. */
  readonly size: SizeMicros
  /** Lifetime contracts bought. */
  readonly bought: SizeMicros
  readonly realized: UsdMicros
  /** What one contract is worth now, by the venue. */
  readonly price: PriceMicros
  readonly isClosed: boolean
}

/** How much of a wallet's past is known. */
export interface HistoryCoverage {
  /**
   * Everything before this is known and will not change; the venue may still list events of later seconds otherwise. Never
   * beyond what the answers prove: not moved at all by an answer that lacks what is known to be there.
   */
  readonly settledToMs: TimeMs
  /** False: the venue withheld a part before `settledToMs` (caps, rows that cannot be read), for good. */
  readonly isComplete: boolean
  /** False: from `settledToMs` on something may be missing, or unsure; the next reading asks for it again. */
  readonly isTailComplete: boolean
  /** False: the venue's answer lacks the last known event, so nothing of the answer was taken. */
  readonly isLastListed: boolean
}

/** A venue's wallets. All calls reject with FetchError when the venue does not answer after retries. */
export interface VenueWallets {
  /** The profile of an address, a proxy's or an owner's; null: the venue never saw it. */
  profile(address: WalletAddress, signal: AbortSignal): Promise<WalletProfile | null>
  /**
   * Everything that a wallet did at or after `fromMs` (a whole second), oldest first, each second whole and in one
   * piece; `onEvents` is awaited. Rows given twice by the venue come once. `lastMs` is the second of the last event
   * that is known already: answers that lack it prove nothing.
   */
  history(
    query: {
      readonly address: WalletAddress
      readonly fromMs: TimeMs
      readonly lastMs?: TimeMs | null
    },
    onEvents: (events: readonly WalletEvent[]) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<HistoryCoverage>
  /** Open and closed positions as the venue counts them. */
  positions(address: WalletAddress, signal: AbortSignal): Promise<readonly VenuePosition[]>
  /**
   * All markets of a market's neg-risk event, itself and those long closed included, in the event's order; null: the
   * venue knows of none that holds it.
   */
  group(market: NativeMarketId, signal: AbortSignal): Promise<readonly NativeMarketId[] | null>
  /** From now on each fill of the wallet on the stream is emitted as `walletFill`. */
  follow(address: WalletAddress): void
  unfollow(address: WalletAddress): void
}
