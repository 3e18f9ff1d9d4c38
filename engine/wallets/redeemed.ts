// Which contracts a redemption redeems: those of the named token, else as many as its dollars imply.

import { outcomeId } from '../ids.ts'
import { MICROS } from '../units.ts'
import type { WalletEvent } from '../wallet.ts'
import type { Holdings } from './holdings.ts'
import { shareOf } from './ratio.ts'

interface Redeemed {
  readonly row: number
  /** Contracts, including written-off ones. */
  readonly size: number
  /** Another outcome may have been redeemed instead. */
  readonly isGuess?: true
}

/** `rows` are all positions of one market in the order of its outcomes. */
export function redeemedRows(
  held: Holdings,
  rows: readonly number[],
  { token, size, usd }: Pick<WalletEvent, 'token' | 'size' | 'usd'>,
): readonly Redeemed[] {
  const balanceOf = (row: number): number => held.position.balance.at(row)
  const allOf = (row: number): Redeemed => ({ row, size: balanceOf(row) })
  if (token !== null) {
    const named = rows.filter((row) => outcomeId(held.tokens.text(row)) === token)
    return named.map((row) =>
      size === 0 ? allOf(row) : { row, size: Math.min(size, balanceOf(row)) },
    )
  }
  const worthOf = (row: number): number =>
    shareOf(balanceOf(row), { part: held.payoutOf(row) ?? 0, total: MICROS })
  const meant = rows.filter((row) => worthOf(row) > 0 === usd > 0)
  const one = usd > 0 ? meant.find((row) => worthOf(row) === usd) : undefined
  if (one !== undefined) return [allOf(one)]
  const worth = meant.reduce((sum, row) => sum + worthOf(row), 0)
  if (usd >= worth) return (meant.length > 0 ? meant : rows).map(allOf)
  return partly(held, meant, usd)
}

/**
 * For outcomes that pay more than `usd`: the contracts that `usd` pays for, of the first outcome with
 * enough of them, else of one outcome after the other.
 */
function partly(held: Holdings, rows: readonly number[], usd: number): readonly Redeemed[] {
  const contractsFor = (row: number, dollars: number): number =>
    -shareOf(-dollars, { part: MICROS, total: held.payoutOf(row) ?? MICROS })
  const payer = rows.find((row) => contractsFor(row, usd) <= held.position.balance.at(row))
  const turnedIn: Redeemed[] = []
  let left = usd
  for (const row of payer === undefined ? rows : [payer]) {
    const size = Math.min(contractsFor(row, left), held.position.balance.at(row))
    left -= shareOf(size, { part: held.payoutOf(row) ?? 0, total: MICROS })
    turnedIn.push(rows.length > 1 ? { row, size, isGuess: true } : { row, size })
    if (left <= 0) break
  }
  return turnedIn
}
