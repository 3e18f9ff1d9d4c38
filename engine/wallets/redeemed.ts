// Which contracts a redemption turns in: the token that it names, else what its dollars say. Not for: what they pay
// (tally.ts), or markets whose payout is not known. Upholds WALLET4.

import { outcomeId } from '../ids.ts'
import { MICROS } from '../units.ts'
import type { WalletEvent } from '../wallet.ts'
import type { Holdings } from './holdings.ts'
import { shareOf } from './ratio.ts'

interface Redeemed {
  readonly row: number
  /** Contracts, written-off ones among them. */
  readonly size: number
}

/** Of `rows`, everything held of one market in the order of its outcomes. */
export function redeemedRows(
  held: Holdings,
  rows: readonly number[],
  { token, size, usd }: Pick<WalletEvent, 'token' | 'size' | 'usd'>,
): readonly Redeemed[] {
  const balanceOf = (row: number): number => held.position.balance.at(row)
  const whole = (row: number): Redeemed => ({ row, size: balanceOf(row) })
  if (token !== null) {
    const named = rows.filter((row) => outcomeId(held.tokens.text(row)) === token)
    return named.map((row) =>
      size === 0 ? whole(row) : { row, size: Math.min(size, balanceOf(row)) },
    )
  }
  const worthOf = (row: number): number =>
    shareOf(balanceOf(row), { part: held.payoutOf(row) ?? 0, whole: MICROS })
  const meant = rows.filter((row) => worthOf(row) > 0 === usd > 0)
  const one = usd > 0 ? meant.find((row) => worthOf(row) === usd) : undefined
  if (one !== undefined) return [whole(one)]
  return (meant.length > 0 ? meant : rows).map(whole)
}
