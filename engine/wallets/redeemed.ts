// Determines which contracts a redemption redeems: the contracts of the named token, else as many as its dollars imply.

import { MICROS } from '../units.ts'
import type { WalletEvent } from '../wallet.ts'
import { type HeldMarket, type Position, payoutOf } from './holdings.ts'
import { shareOf } from './ratio.ts'

interface Redeemed {
  readonly position: Position
  readonly size: number
  /** Whether another outcome may have been redeemed instead. */
  readonly isGuess?: true
}

/** `positions`: all positions of the market with a balance, in order of outcomes. */
export function redeemedPositions(
  market: HeldMarket,
  positions: readonly Position[],
  { token, size, usd }: Pick<WalletEvent, 'token' | 'size' | 'usd'>,
): readonly Redeemed[] {
  const allOf = (position: Position): Redeemed => ({ position, size: position.balance })
  if (token !== null) {
    const named = positions.filter((position) => position.token === token)
    return named.map((position) =>
      size === 0 ? allOf(position) : { position, size: Math.min(size, position.balance) },
    )
  }
  const worthOf = (position: Position): number =>
    shareOf(position.balance, { part: payoutOf(market, position) ?? 0, total: MICROS })
  const meant = positions.filter((position) => worthOf(position) > 0 === usd > 0)
  const one = usd > 0 ? meant.find((position) => worthOf(position) === usd) : undefined
  if (one !== undefined) return [allOf(one)]
  const worth = meant.reduce((sum, position) => sum + worthOf(position), 0)
  if (usd >= worth) return (meant.length > 0 ? meant : positions).map(allOf)
  return partly(market, meant, usd)
}

/**
 * For outcomes that pay more than `usd`: the contracts that `usd` pays for. They are of the first outcome with enough
 * contracts, else of several outcomes in order.
 */
function partly(
  market: HeldMarket,
  positions: readonly Position[],
  usd: number,
): readonly Redeemed[] {
  const contractsFor = (position: Position, dollars: number): number =>
    -shareOf(-dollars, { part: MICROS, total: payoutOf(market, position) ?? MICROS })
  const payer = positions.find((position) => contractsFor(position, usd) <= position.balance)
  const redeemed: Redeemed[] = []
  let left = usd
  for (const position of payer === undefined ? positions : [payer]) {
    const size = Math.min(contractsFor(position, left), position.balance)
    left -= shareOf(size, { part: payoutOf(market, position) ?? 0, total: MICROS })
    redeemed.push(positions.length > 1 ? { position, size, isGuess: true } : { position, size })
    if (left <= 0) break
  }
  return redeemed
}

/**
 * Estimates which contracts a redemption redeems, and for how many dollars, if the payout is unknown.
 * - If the event names a token, only contracts of this token are redeemed, for at most a dollar each.
 * - If the dollars equal the holdings of one outcome, this outcome won.
 * - If only one outcome's holdings exceed the dollars, a contract of this outcome is redeemed per dollar.
 * - Otherwise the dollars are divided in proportion to the holdings, at most a dollar per contract.
 * - Without dollars and with several outcomes, the redeemed outcome is unknown, so nothing is removed.
 *
 * In the last three cases costs become unknown.
 */
export function redeemedGuessing(
  market: HeldMarket,
  positions: readonly Position[],
  event: Pick<WalletEvent, 'token' | 'size' | 'usd'>,
): readonly (Redeemed & { readonly usd: number })[] {
  const { usd } = event
  if (event.token !== null) {
    const named = redeemedPositions(market, positions, event)
    return named.map(({ position, size }) => ({ position, size, usd: Math.min(usd, size) }))
  }
  const held = positions.filter(({ amount }) => amount > 0)
  const winner = held.find(({ amount }) => amount === usd)
  if (winner === undefined && (usd > 0 || held.length > 1)) {
    for (const position of held) position.isCostKnown = false
  }
  if (usd === 0 && held.length > 1) return []
  const [payer, another] = held.filter(({ amount }) => amount > usd)
  if (winner === undefined && usd > 0 && payer !== undefined && another === undefined) {
    return [{ position: payer, size: usd, usd }]
  }
  const total = held.reduce((sum, { amount }) => sum + amount, 0)
  const counted = Math.min(usd, total)
  let left = counted
  return held.map((position, index) => {
    const size = position.amount
    let paid = index === held.length - 1 ? left : shareOf(counted, { part: size, total })
    if (winner !== undefined) paid = position === winner ? usd : 0
    left -= paid
    return { position, size, usd: paid }
  })
}
