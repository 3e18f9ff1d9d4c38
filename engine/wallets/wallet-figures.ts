// The figures of a wallet as its tally gives them: of a position, in all, over a range. Micro-dollars and
// micro-contracts.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import type { SizeMicros, TimeMs, UsdMicros } from '../units.ts'

/** One token of a wallet, held now or before. */
export interface PositionFigures {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  /** −1 while the market's outcomes are not known. */
  readonly outcomeIndex: number
  /** Contracts that the wallet still holds, worthless ones of a resolved market included. */
  readonly balance: SizeMicros
  /** Of these, contracts whose cost is not yet realised: 0 for a loser of a resolved market. */
  readonly amount: SizeMicros
  /** What `amount` cost; below 0 where a conversion gave more than it took. */
  readonly cost: UsdMicros
  readonly realized: UsdMicros
  /**
   * Lifetime contracts and dollars of buys, splits and conversions in; sold likewise, redemptions included. A
   * conversion gives contracts away for what they cost. While costs are known, cost = boughtUsd − soldUsd + realized.
   */
  readonly bought: SizeMicros
  readonly boughtUsd: UsdMicros
  readonly sold: SizeMicros
  readonly soldUsd: UsdMicros
  readonly fees: UsdMicros
  /** The first event that touched it, and the last one or its being written off. */
  readonly openedAtMs: TimeMs
  readonly updatedAtMs: TimeMs
  /** False once more was given away than was known to be held. */
  readonly isCostKnown: boolean
}

/** The same with what only a comparison with the venue needs. */
export interface PnlPosition extends PositionFigures {
  /** What the worthless contracts in `balance` cost: in `realized` since the resolution, though not redeemed. */
  readonly lost: UsdMicros
}

export interface RangeFigures {
  /** Before fees. */
  readonly realized: UsdMicros
  /** Dollars of buys and sells, without fees. */
  readonly volume: UsdMicros
  /** How many fills. */
  readonly trades: number
  /** Paid beside the dollars of the fills. */
  readonly fees: UsdMicros
  /** Rewards, rebates, yield. */
  readonly income: UsdMicros
}

/** Realised profit after fees and with income. */
export function netRealized({
  realized,
  fees,
  income,
}: Pick<RangeFigures, 'realized' | 'fees' | 'income'>): number {
  return realized - fees + income
}

/** An hour (UTC) in which a wallet traded, realised, paid or received something. */
export interface HourFigures extends RangeFigures {
  /** floor(timeMs / 3,600,000) */
  readonly hour: number
}

export interface WalletTotals extends RangeFigures {
  /** Markets ever touched. */
  readonly markets: number
  /** Markets closed for the wallet (nothing of it open) with realised PnL after fees above and below 0. */
  readonly wins: number
  readonly losses: number
  readonly splits: number
  readonly merges: number
  readonly redemptions: number
  /** Whole conversions, however many markets each names. */
  readonly conversions: number
  /** Rows of combos, which are in no other figure. */
  readonly comboEvents: number
  /** What combos paid less what was paid for them, fees included; null while contracts of one are held or unknown. */
  readonly comboRealized: UsdMicros | null
  /** Of fills; null before the first. */
  readonly firstTradeMs: TimeMs | null
  readonly lastTradeMs: TimeMs | null
}

export type PnlGranularity = 'day' | 'week' | 'month' | 'all'

/** Realised PnL of one step of a series (UTC days, ISO weeks, months), and of everything up to its end. */
export interface PnlPoint {
  /** When the step begins; of granularity `all` of each moment at which something was realised. */
  readonly timeMs: TimeMs
  readonly realized: UsdMicros
  readonly toDate: UsdMicros
}
