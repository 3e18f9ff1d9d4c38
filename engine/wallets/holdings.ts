// A wallet's holdings by market and token. Losing contracts are written off, which can be reversed.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import { MICROS } from '../units.ts'
import type { WalletMarket } from '../wallet.ts'
import { PnlHistory } from './pnl-history.ts'
import { shareOf } from './ratio.ts'

export interface Position {
  readonly token: OutcomeId
  /** −1: the outcome is unknown. */
  outcomeIndex: number
  /** False if a part of the cost is unknown, for instance after more contracts left than were known to be held. */
  isCostKnown: boolean
  readonly openedSecond: number
  updatedSecond: number
  /** Time and cost of the write-off. They are set while `amount` is 0 and `balance` is not. */
  lostSecond: number
  lostCost: number
  balance: number
  amount: number
  cost: number
  realized: number
  bought: number
  boughtUsd: number
  sold: number
  soldUsd: number
  fees: number
}

export interface HeldMarket {
  readonly id: NativeMarketId
  readonly positions: Position[]
  /**
   * Time of the last event other than a redemption. A losing position is written off at this time or at the resolution,
   * whichever is later. `touchedSecond`: time of the last event of any kind.
   */
  lastSecond: number
  touchedSecond: number
  /** Payout of the first outcome in micros. Null: the market is not resolved. */
  payout: number | null
  resolvedSecond: number
  /** Bit set of `LACKED_…` and `REDEEMED`. */
  marks: number
}

/** Facts of the market that an event needed but that were unknown. */
export const LACKED_TOKENS = 1
export const LACKED_PAYOUT = 2
export const LACKED_GROUP = 4
export const LACKED_FEE = 64
export const LACKED = LACKED_TOKENS | LACKED_PAYOUT | LACKED_GROUP | LACKED_FEE
export const REDEEMED = 8

interface Move {
  readonly size: number
  readonly usd: number
  readonly second: number
}

export class Holdings {
  readonly markets = new Map<NativeMarketId, HeldMarket>()
  readonly pnlHistory: PnlHistory
  #positionCount = 0
  #mustWriteOff: boolean

  constructor(
    markets: Iterable<HeldMarket> = [],
    pnlHistory = PnlHistory.empty(),
    mustWriteOff = false,
  ) {
    for (const market of markets) {
      this.markets.set(market.id, market)
      this.#positionCount += market.positions.length
    }
    this.pnlHistory = pnlHistory
    this.#mustWriteOff = mustWriteOff
  }

  copy(): Holdings {
    const markets = Array.from(this.markets.values(), (market) => ({
      ...market,
      positions: market.positions.map((position) => ({ ...position })),
    }))
    return new Holdings(markets, this.pnlHistory.copy(), this.#mustWriteOff)
  }

  get positionCount(): number {
    return this.#positionCount
  }

  market(id: NativeMarketId): HeldMarket {
    const existing = this.markets.get(id)
    if (existing !== undefined) return existing
    const market: HeldMarket = {
      id,
      positions: [],
      lastSecond: 0,
      touchedSecond: 0,
      payout: null,
      resolvedSecond: 0,
      marks: 0,
    }
    this.markets.set(id, market)
    return market
  }

  /** Returns the position of a token. Adds it if necessary, without an outcome. */
  position(market: HeldMarket, token: OutcomeId, second: number): Position {
    const existing = market.positions.find((one) => one.token === token)
    if (existing !== undefined) return existing
    // A single literal, because V8 stores an object made of several spreads in a slower form.
    const position: Position = {
      token,
      outcomeIndex: -1,
      isCostKnown: true,
      openedSecond: second,
      updatedSecond: 0,
      lostSecond: 0,
      lostCost: 0,
      balance: 0,
      amount: 0,
      cost: 0,
      realized: 0,
      bought: 0,
      boughtUsd: 0,
      sold: 0,
      soldUsd: 0,
      fees: 0,
    }
    market.positions.push(position)
    this.#positionCount += 1
    return position
  }

  buy(position: Position, { size, usd, second }: Move): void {
    position.balance += size
    position.amount += size
    position.cost += usd
    position.bought += size
    position.boughtUsd += usd
    position.updatedSecond = second
  }

  /** Sells contracts. Contracts above the known amount realise nothing, and their share of the dollars is ignored. */
  sell(position: Position, { size, usd, second }: Move): void {
    const { knownSize, cost } = take(position, size)
    const counted = knownSize === size ? usd : shareOf(usd, { part: knownSize, total: size })
    give(position, { size, usd, second })
    this.#realize(position, second, counted - cost)
  }

  /** Removes contracts at cost without realising anything. Returns the cost of the removed contracts, as far as known. */
  withdrawAtCost(position: Position, size: number, second: number): number {
    const { cost } = take(position, size)
    give(position, { size, usd: cost, second })
    return cost
  }

  /** Realises dollars that exceed the cost of contracts that `withdrawAtCost` removed. */
  payFor(position: Position, usd: number, second: number): void {
    position.soldUsd += usd
    this.#realize(position, second, usd)
  }

  /**
   * Redeems contracts for `usd` in total. Redeems everything if the position was written off or if `size` is at least
   * its balance.
   */
  redeem(position: Position, { size, usd, second }: Move): void {
    const { balance, cost } = position
    if (balance === 0 || size === 0) return
    const isLost = position.amount === 0
    if (!isLost && size < balance) {
      this.sell(position, { size, usd, second })
      return
    }
    Object.assign(position, { balance: 0, amount: 0, cost: 0, lostCost: 0, lostSecond: 0 })
    give(position, { size: balance, usd, second })
    if (!isLost) this.#realize(position, second, usd - cost)
  }

  /** Defers the write-off of losing positions to the next read, so that later events of the market are applied first. */
  writeOffLater(): void {
    this.#mustWriteOff = true
  }

  /** Must be called before a position is read. */
  writeOffAll(): void {
    if (!this.#mustWriteOff) return
    for (const market of this.markets.values()) this.writeOff(market)
    this.#mustWriteOff = false
  }

  /**
   * Realises losing positions at 0, as of the resolution or of the last event other than a redemption, whichever is
   * later.
   */
  writeOff(market: HeldMarket): void {
    if (market.payout === null) return
    const second = Math.max(market.resolvedSecond, market.lastSecond)
    for (const position of market.positions) {
      if (position.amount === 0 || payoutOf(market, position) !== 0) continue
      const { cost } = position
      Object.assign(position, { amount: 0, cost: 0, lostCost: cost, lostSecond: second })
      this.#realize(position, second, -cost)
    }
  }

  /** Reverses the write-off, because an earlier event became known. */
  undoWriteOff({ positions }: HeldMarket): void {
    for (const position of positions) {
      const { balance, lostCost, lostSecond } = position
      if (balance === 0 || position.amount > 0) continue
      this.#realize(position, lostSecond, lostCost)
      Object.assign(position, { amount: balance, cost: lostCost, lostCost: 0, lostSecond: 0 })
    }
  }

  #realize(position: Position, second: number, usd: number): void {
    if (usd === 0) return
    position.realized += usd
    this.pnlHistory.add(second, { realized: usd })
  }
}

/** Sets the outcomes of positions that were added before the market's outcomes were known. */
export function assignOutcomes({ positions }: HeldMarket, { tokens }: WalletMarket): void {
  for (const position of positions) {
    if (position.outcomeIndex < 0) position.outcomeIndex = tokens.indexOf(position.token)
  }
}

/** Payout of one contract of the position in micros. Null: the market is not resolved, or the outcome is unknown. */
export function payoutOf({ payout }: HeldMarket, { outcomeIndex }: Position): number | null {
  if (payout === null || outcomeIndex < 0) return null
  if (outcomeIndex === 0) return payout
  return outcomeIndex === 1 ? MICROS - payout : 0
}

function take(position: Position, size: number): { knownSize: number; cost: number } {
  const { amount, cost: all } = position
  const knownSize = Math.min(size, amount)
  if (knownSize < size) position.isCostKnown = false
  const cost = knownSize === amount ? all : shareOf(all, { part: knownSize, total: amount })
  position.amount -= knownSize
  position.balance -= knownSize
  position.cost -= cost
  return { knownSize, cost }
}

function give(position: Position, { size, usd, second }: Move): void {
  position.sold += size
  position.soldUsd += usd
  position.updatedSecond = second
}
