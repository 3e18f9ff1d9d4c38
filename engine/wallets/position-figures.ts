// Callers must write off losing positions before they use these functions.

import type { NativeMarketId } from '../ids.ts'
import { sizeMicros, timeMs, usdMicros } from '../units.ts'
import type { Holdings, Position } from './holdings.ts'
import type { PnlPosition, WalletTotals } from './wallet-figures.ts'

const SECOND_MS = 1_000

export function positionFigures(market: NativeMarketId, position: Position): PnlPosition {
  return {
    market,
    token: position.token,
    outcomeIndex: position.outcomeIndex,
    balance: sizeMicros(position.balance),
    amount: sizeMicros(position.amount),
    cost: usdMicros(position.cost),
    realized: usdMicros(position.realized),
    bought: sizeMicros(position.bought),
    boughtUsd: usdMicros(position.boughtUsd),
    sold: sizeMicros(position.sold),
    soldUsd: usdMicros(position.soldUsd),
    fees: usdMicros(position.fees),
    openedAtMs: timeMs(position.openedSecond * SECOND_MS),
    updatedAtMs: timeMs(Math.max(position.updatedSecond, position.lostSecond) * SECOND_MS),
    isCostKnown: position.isCostKnown,
    lost: usdMicros(position.lostCost),
  }
}

/**
 * Total realised P&L, and the number of won and lost markets. A market and its fees count when the wallet holds nothing
 * in it.
 */
export function decidedFigures({
  markets,
}: Holdings): Pick<WalletTotals, 'realized' | 'markets' | 'wins' | 'losses'> {
  const total = { realized: 0, markets: 0, wins: 0, losses: 0 }
  for (const { positions } of markets.values()) {
    let net = 0
    for (const { realized, fees } of positions) {
      total.realized += realized
      net += realized - fees
    }
    if (positions.length > 0) total.markets += 1
    if (positions.some(({ amount }) => amount > 0)) continue
    if (net > 0) total.wins += 1
    else if (net < 0) total.losses += 1
  }
  return { ...total, realized: usdMicros(total.realized) }
}
