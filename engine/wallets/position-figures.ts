// Figures of a wallet's holdings, computed from its rows. Read-only.

import { type NativeMarketId, outcomeId } from '../ids.ts'
import { sizeMicros, timeMs, usdMicros } from '../units.ts'
import { type Holdings, LACKED } from './holdings.ts'
import type { PnlPosition, WalletTotals } from './wallet-figures.ts'

const SECOND_MS = 1_000

/** The figures of a position. Losers must be written off first. */
export function positionFigures(held: Holdings, index: number): PnlPosition {
  const { position } = held
  const updatedSecond = Math.max(position.updatedSecond.at(index), position.lostSecond.at(index))
  return {
    token: outcomeId(held.tokens.text(index)),
    market: held.marketId(position.market.at(index)),
    outcomeIndex: position.outcome.at(index) - 1,
    balance: sizeMicros(position.balance.at(index)),
    amount: sizeMicros(position.amount.at(index)),
    cost: usdMicros(position.cost.at(index)),
    realized: usdMicros(position.realized.at(index)),
    bought: sizeMicros(position.bought.at(index)),
    boughtUsd: usdMicros(position.boughtUsd.at(index)),
    sold: sizeMicros(position.sold.at(index)),
    soldUsd: usdMicros(position.soldUsd.at(index)),
    fees: usdMicros(position.fees.at(index)),
    openedAtMs: timeMs(position.openedSecond.at(index) * SECOND_MS),
    updatedAtMs: timeMs(updatedSecond * SECOND_MS),
    isCostKnown: position.isCostUnknown.at(index) === 0,
    lost: usdMicros(position.lostCost.at(index)),
  }
}

/** Positions with an unrealised part. Losers must be written off first. Some 50 ns per position. */
export function* openPositions(
  held: Holdings,
): Iterable<Pick<PnlPosition, 'market' | 'outcomeIndex' | 'amount' | 'cost'>> {
  const { position, tokens } = held
  for (let row = 0; row < tokens.count; row += 1) {
    const [amount, cost] = [position.amount.at(row), position.cost.at(row)]
    if (amount === 0 && cost === 0) continue
    const market = held.marketId(position.market.at(row))
    const outcomeIndex = position.outcome.at(row) - 1
    yield { market, outcomeIndex, amount: sizeMicros(amount), cost: usdMicros(cost) }
  }
}

/**
 * Total realised PnL, and wins and losses by market. A market counts when the wallet has nothing open in
 * it, fees included.
 */
export function decidedFigures({
  position,
  markets,
  tokens,
}: Holdings): Pick<WalletTotals, 'realized' | 'markets' | 'wins' | 'losses'> {
  const sums = new Float64Array(markets.count)
  const isOpen = new Uint8Array(markets.count)
  const isTouched = new Uint8Array(markets.count)
  let realized = 0
  for (let row = 0; row < tokens.count; row += 1) {
    const market = position.market.at(row)
    realized += position.realized.at(row)
    sums[market] = (sums[market] ?? 0) + position.realized.at(row) - position.fees.at(row)
    isTouched[market] = 1
    if (position.amount.at(row) > 0) isOpen[market] = 1
  }
  const total = { markets: 0, wins: 0, losses: 0 }
  for (let market = 0; market < markets.count; market += 1) {
    const sum = isOpen[market] === 1 ? 0 : (sums[market] ?? 0)
    total.markets += isTouched[market] ?? 0
    if (sum > 0) total.wins += 1
    else if (sum < 0) total.losses += 1
  }
  return { realized: usdMicros(realized), ...total }
}

/** Markets with holdings that are not known to be resolved. */
export function openMarkets(held: Holdings): NativeMarketId[] {
  const { market, position, markets } = held
  const open: NativeMarketId[] = []
  for (let row = 0; row < markets.count; row += 1) {
    if (market.payout.at(row) > 0) continue
    const isHeld = held.positionsOf(row).some((one) => position.amount.at(one) > 0)
    if (isHeld) open.push(held.marketId(row))
  }
  return open
}

/** Markets whose tokens, payout, group or taker fee were needed but unknown. */
export function guessedMarkets(held: Holdings): NativeMarketId[] {
  const { market, markets } = held
  const guessed: NativeMarketId[] = []
  for (let row = 0; row < markets.count; row += 1) {
    if ((market.marks.at(row) & LACKED) !== 0) guessed.push(held.marketId(row))
  }
  return guessed
}
