import type { NativeMarketId, OutcomeId, WalletAddress } from './ids.ts'
import type { FeeCurve } from './market/fees.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from './units.ts'

/**
 * Kind of a wallet event. Stored as a number, so the order must not change.
 * - `income`: rewards, rebates, yield and other payments of the venue. Not part of trading P&L.
 * - `migration`: contracts of an old token were replaced by as many contracts of a new token.
 * - `combo…`: bets on several markets at once (combos), which belong to no market of the catalogue.
 * - `comboOther`: the combo ended in an unknown way, so its result is unknown.
 */
export const WALLET_EVENT_KINDS = [
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
] as const
export type WalletEventKind = (typeof WALLET_EVENT_KINDS)[number]
export type ComboEventKind = Extract<WalletEventKind, `combo${string}`>

export function isComboKind(kind: WalletEventKind): kind is ComboEventKind {
  return kind.startsWith('combo')
}

/** The wallet's side of a fill. Null: unknown, or not a fill. */
export type WalletRole = 'taker' | 'maker' | null

/** Events are ordered by time, then by transaction, then in the venue's order. */
export interface WalletEvent {
  readonly kind: WalletEventKind
  /** Always whole seconds, which is the venue's resolution. */
  readonly timeMs: TimeMs
  /** In lower case. '' if the venue states none. */
  readonly txHash: string
  /** '' for income of the whole account. The first of `converted` for a conversion. */
  readonly market: NativeMarketId
  /** The token bought, sold, redeemed (null: the row names none) or received by a migration. Null for other kinds. */
  readonly token: OutcomeId | null
  /** Contracts bought, sold, split, merged, redeemed, converted or migrated. For income, the dollars. */
  readonly size: SizeMicros
  /** Price of a fill, in the traded token. 0 for other kinds. */
  readonly price: PriceMicros
  /**
   * Dollars that changed hands, without fees.
   * - A fill: price × size from the venue's unrounded price, to the nearest micro.
   * - A fill of a combo: the venue's amount, fee included.
   * - Other kinds: the venue's amount. 0 if losing contracts are redeemed.
   */
  readonly usd: UsdMicros
  /** Fee paid in addition to `usd`, ≥ 0. Not part of P&L. 0 if the venue does not report it (the stream never does). */
  readonly fee: UsdMicros
  readonly role: WalletRole
  /** For a conversion: the markets whose No tokens were converted, in the venue's order. Empty for other kinds. */
  readonly converted: readonly NativeMarketId[]
}

/** Compares by time and transaction. Events of one transaction and second compare equal and keep the venue's order. */
export function compareEvents(one: WalletEvent, other: WalletEvent): number {
  if (one.timeMs !== other.timeMs) return one.timeMs - other.timeMs
  if (one.txHash === other.txHash) return 0
  return one.txHash < other.txHash ? -1 : 1
}

export interface WalletMarket {
  readonly nativeId: NativeMarketId
  /** Question, slug and event slug are null if unknown. */
  readonly question: string | null
  readonly slug: string | null
  readonly eventSlug: string | null
  /** Outcome labels, in outcome order. Empty: unknown. */
  readonly labels: readonly string[]
  /** Tokens in outcome order. Empty: unknown. */
  readonly tokens: readonly OutcomeId[]
  /**
   * Payout of the first outcome in micros. The second outcome pays the remainder of one dollar. Null: not resolved, or
   * unknown.
   */
  readonly payout: PriceMicros | null
  /** Time of the resolution. Null exactly if `payout` is null. */
  readonly resolvedAtMs: TimeMs | null
  /** Null: the taker fee is unknown. */
  readonly takerFee: FeeCurve | null
  /**
   * The markets of its neg-risk event, including itself, in the event's order. Null: the market has no neg-risk event,
   * or this is unknown. A conversion turns No tokens of some markets into Yes tokens of the other markets.
   */
  readonly group: readonly NativeMarketId[] | null
}

/** Null: the market is unknown. Its events count as far as they can be interpreted. */
export type FindWalletMarket = (id: NativeMarketId) => WalletMarket | null

export interface WalletProfile {
  /** The address that trades. All other requests require it. */
  readonly proxy: WalletAddress
  /** The owner's (EOA) address. Null if the venue does not return it. */
  readonly eoa: WalletAddress | null
  readonly handle: string | null
  readonly pseudonym: string | null
  readonly image: string | null
}

/** A position in the venue's own figures. Used only to verify the local figures, never displayed. */
export interface VenuePosition {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  /** 0 for a closed position. */
  readonly size: SizeMicros
  /** Lifetime contracts bought. */
  readonly bought: SizeMicros
  readonly realized: UsdMicros
  /** The venue's current value of one contract. */
  readonly price: PriceMicros
  readonly isClosed: boolean
}

/** How much of a wallet's history is known. */
export interface HistoryCoverage {
  /**
   * All events before this time are known and final. The venue may still change its list of later events. A response
   * that lacks known events does not advance this time.
   */
  readonly settledToMs: TimeMs
  /** False: the venue permanently withholds some events before `settledToMs`, or they cannot be parsed. */
  readonly isComplete: boolean
  /** False: data from `settledToMs` on may be missing or uncertain. The next sync requests it again. */
  readonly isTailComplete: boolean
  /** False: the response lacked the last known event and was discarded. */
  readonly isLastListed: boolean
}

/** A venue's wallets. All calls reject with FetchError if the venue does not respond after retries. */
export interface VenueWallets {
  /** The profile of a proxy's or an owner's address. Null: the venue does not know the address. */
  profile(address: WalletAddress, signal: AbortSignal): Promise<WalletProfile | null>
  /**
   * Passes every event of a wallet since `fromMs` (a whole second) to `onEvents`, oldest first, without duplicates. All
   * events of one second are in one batch. `onEvents` is awaited. `lastMs` is the second of the last known event. A
   * response that lacks this event is discarded.
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
  positions(address: WalletAddress, signal: AbortSignal): Promise<readonly VenuePosition[]>
  /**
   * All markets of a market's neg-risk event in the event's order, including the market itself and closed markets.
   * Null: the venue knows no neg-risk event of the market.
   */
  group(market: NativeMarketId, signal: AbortSignal): Promise<readonly NativeMarketId[] | null>
  follow(address: WalletAddress): void
  unfollow(address: WalletAddress): void
}
