// Results of a P&L state, by position, in total and by time range. In micro-dollars and micro-contracts.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import type { SizeMicros, TimeMs, UsdMicros } from '../units.ts'

export interface PositionFigures {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  /** −1 while the market's outcomes are unknown. */
  readonly outcomeIndex: number
  /** Contracts that the wallet holds, including worthless contracts of a resolved market. */
  readonly balance: SizeMicros
  /** The part of `balance` whose cost is not realised. 0 for a losing position of a resolved market. */
  readonly amount: SizeMicros
  /** Cost of `amount`. Negative if a conversion returned more than it cost. */
  readonly cost: UsdMicros
  readonly realized: UsdMicros
  /**
   * Lifetime contracts and dollars of buys, splits and incoming conversions. `sold` and `soldUsd` are of sells, merges,
   * redemptions and outgoing conversions, which count at cost. If all costs are known, cost = boughtUsd − soldUsd +
   * realized.
   */
  readonly bought: SizeMicros
  readonly boughtUsd: UsdMicros
  readonly sold: SizeMicros
  readonly soldUsd: UsdMicros
  readonly fees: UsdMicros
  /** Time of the first event. `updatedAtMs`: time of the last event, or of the write-off if the write-off is later. */
  readonly openedAtMs: TimeMs
  readonly updatedAtMs: TimeMs
  /** False if a part of the cost is unknown, for instance after a sale of more contracts than were known to be held. */
  readonly isCostKnown: boolean
}

export interface PnlPosition extends PositionFigures {
  /**
   * Cost of the worthless contracts in `balance`. `realized` includes this loss since the market's resolution, although
   * the contracts are not redeemed.
   */
  readonly lost: UsdMicros
}

export interface RangeFigures {
  /** Before fees. */
  readonly realized: UsdMicros
  /** Dollars of buys and sells, without fees. */
  readonly volume: UsdMicros
  readonly trades: number
  /** Fees that were paid in addition to the dollars of fills. */
  readonly fees: UsdMicros
  /** Rewards, rebates and yield. */
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
  readonly markets: number
  /** Markets without an open position and with realised P&L after fees above 0. `losses`: below 0. */
  readonly wins: number
  readonly losses: number
  readonly splits: number
  readonly merges: number
  readonly redemptions: number
  /** Number of conversions. Each may name several markets. */
  readonly conversions: number
  /** Number of combo events. Only `comboRealized` includes them. */
  readonly comboEvents: number
  /**
   * Receipts from combos minus payments for combos, fees included. Null while combo contracts are held, or if their
   * number is unknown.
   */
  readonly comboRealized: UsdMicros | null
  /** Times of the first and the last fill. Null: the wallet has no fill. */
  readonly firstTradeMs: TimeMs | null
  readonly lastTradeMs: TimeMs | null
}

export type PnlGranularity = 'day' | 'week' | 'month' | 'all'

export interface PnlPoint {
  /**
   * The start of the step (UTC day, ISO week, month). With granularity `all`, each moment at which something was
   * realised.
   */
  readonly timeMs: TimeMs
  readonly realized: UsdMicros
  readonly toDate: UsdMicros
}
