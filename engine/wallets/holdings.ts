// Current and past holdings of a wallet: a row of columns per token and per market, the changes of a row
// when contracts arrive or leave, and the reversible write-off of losers.

import { type NativeMarketId, nativeMarketId, type OutcomeId, outcomeId } from '../ids.ts'
import { MICROS } from '../units.ts'
import type { WalletMarket } from '../wallet.ts'
import { type ColumnSource, type ColumnTable, copySource, emptySource, pushRow } from './columns.ts'
import { PnlHistory } from './pnl-history.ts'
import { shareOf } from './ratio.ts'
import { TextTable } from './text-table.ts'

/** Rows of tokens. Word columns first, then integer columns, in the order in which they are packed. */
export class PositionTable implements ColumnTable {
  /** Row of its market, and the market's next position as index + 1, always a later one (0: none). */
  readonly market
  readonly next
  /** Outcome index + 1. 0: unknown. */
  readonly outcome
  /** 1 once more was given away than was known to be held. */
  readonly isCostUnknown
  readonly openedSecond
  readonly updatedSecond
  /** Time and cost of the write-off. Set exactly while `amount` is 0 and `balance` is not. */
  readonly lostSecond
  readonly balance
  readonly amount
  readonly cost
  readonly realized
  readonly bought
  readonly boughtUsd
  readonly sold
  readonly soldUsd
  readonly fees
  readonly lostCost
  readonly words
  readonly integers

  constructor(source: ColumnSource) {
    this.market = source.words()
    this.next = source.words()
    this.outcome = source.words()
    this.isCostUnknown = source.words(1)
    this.openedSecond = source.words()
    this.updatedSecond = source.words()
    this.lostSecond = source.words()
    this.balance = source.integers()
    this.amount = source.integers()
    this.cost = source.integers()
    this.realized = source.integers()
    this.bought = source.integers()
    this.boughtUsd = source.integers()
    this.sold = source.integers()
    this.soldUsd = source.integers()
    this.fees = source.integers()
    this.lostCost = source.integers()
    this.words = [
      this.market,
      this.next,
      this.outcome,
      this.isCostUnknown,
      this.openedSecond,
      this.updatedSecond,
      this.lostSecond,
    ]
    this.integers = [
      this.balance,
      this.amount,
      this.cost,
      this.realized,
      this.bought,
      this.boughtUsd,
      this.sold,
      this.soldUsd,
      this.fees,
      this.lostCost,
    ]
  }
}

export class MarketTable implements ColumnTable {
  /** Its first position as index + 1. 0: none. */
  readonly first
  /**
   * Time of the last event other than redemptions, after which a loser is written off, and of the last
   * event of any kind.
   */
  readonly lastSecond
  readonly touchedSecond
  /** Payout of the first outcome in micros + 1. 0: not resolved. */
  readonly payout
  readonly resolvedSecond
  /** Bit set of the marks below. */
  readonly marks
  readonly words
  readonly integers: ColumnTable['integers'] = []

  constructor(source: ColumnSource) {
    this.first = source.words()
    this.lastSecond = source.words()
    this.touchedSecond = source.words()
    this.payout = source.words(MICROS + 1)
    this.resolvedSecond = source.words()
    this.marks = source.words(MARKS_ALL)
    this.words = [
      this.first,
      this.lastSecond,
      this.touchedSecond,
      this.payout,
      this.resolvedSecond,
      this.marks,
    ]
  }
}

/** The market's tokens, payout, group or taker fee were needed but unknown. */
export const LACKED_TOKENS = 1
export const LACKED_PAYOUT = 2
export const LACKED_GROUP = 4
export const LACKED_FEE = 64
export const LACKED = LACKED_TOKENS | LACKED_PAYOUT | LACKED_GROUP | LACKED_FEE
/** Something of the market was redeemed. */
export const REDEEMED = 8
/** A position was seen before the market's outcomes were known. Something is written off. */
const UNASSIGNED = 16
const WRITTEN_OFF = 32
const MARKS_ALL = 127

/** Contracts and dollars that arrive or leave, and the time. */
interface Move {
  readonly size: number
  readonly usd: number
  readonly second: number
}

export class Holdings {
  readonly tokens: TextTable
  readonly markets: TextTable
  readonly position: PositionTable
  readonly market: MarketTable
  readonly pnlHistory: PnlHistory
  /** Resolved markets whose losers may not be written off yet. */
  readonly #toWriteOff: Set<number>

  constructor(from: {
    readonly tokens: TextTable
    readonly markets: TextTable
    readonly position: PositionTable
    readonly market: MarketTable
    readonly pnlHistory: PnlHistory
    readonly toWriteOff?: Iterable<number>
  }) {
    this.tokens = from.tokens
    this.markets = from.markets
    this.position = from.position
    this.market = from.market
    this.pnlHistory = from.pnlHistory
    this.#toWriteOff = new Set(from.toWriteOff ?? [])
  }

  static empty(): Holdings {
    return new Holdings({
      tokens: TextTable.empty(),
      markets: TextTable.empty(),
      position: new PositionTable(emptySource),
      market: new MarketTable(emptySource),
      pnlHistory: PnlHistory.empty(),
    })
  }

  copy(): Holdings {
    return new Holdings({
      tokens: this.tokens.copy(),
      markets: this.markets.copy(),
      position: new PositionTable(copySource(this.position)),
      market: new MarketTable(copySource(this.market)),
      pnlHistory: this.pnlHistory.copy(),
      toWriteOff: this.#toWriteOff,
    })
  }

  /** The row of a market. Creates it if necessary. */
  marketRow(id: NativeMarketId): number {
    const row = this.markets.add(id)
    if (row === this.market.first.count) pushRow(this.market)
    return row
  }

  marketId(row: number): NativeMarketId {
    return nativeMarketId(this.markets.text(row))
  }

  /** The row of a token. Creates it if necessary, in this market and without an outcome. */
  positionRow(token: OutcomeId, { market, second }: { market: number; second: number }): number {
    const row = this.tokens.add(token)
    if (row < this.position.market.count) return row
    pushRow(this.position)
    this.position.market.put(row, market)
    this.position.openedSecond.put(row, second)
    const before = this.positionsOf(market).at(-1)
    this.mark(market, UNASSIGNED)
    if (before === undefined) this.market.first.put(market, row + 1)
    else this.position.next.put(before, row + 1)
    return row
  }

  /** The rows of a market's positions, in order of creation. */
  positionsOf(market: number): number[] {
    const rows: number[] = []
    for (
      let next = this.market.first.at(market);
      next > 0;
      next = this.position.next.at(next - 1)
    ) {
      rows.push(next - 1)
    }
    return rows
  }

  buy(row: number, { size, usd, second }: Move): void {
    const { position } = this
    position.balance.add(row, size)
    position.amount.add(row, size)
    position.cost.add(row, usd)
    position.bought.add(row, size)
    position.boughtUsd.add(row, usd)
    position.updatedSecond.put(row, second)
  }

  /**
   * Sells contracts. The part that exceeds the known amount realises nothing, and its share of the dollars
   * does not count.
   */
  sell(row: number, { size, usd, second }: Move): void {
    const { knownSize, cost } = this.#take(row, size)
    const counted = knownSize === size ? usd : shareOf(usd, { part: knownSize, total: size })
    this.#give(row, { size, usd, second })
    this.#realize(row, second, counted - cost)
  }

  /** Removes contracts at cost, without realising. Returns the cost of the known ones. */
  withdrawAtCost(row: number, { size, second }: { size: number; second: number }): number {
    const { cost } = this.#take(row, size)
    this.#give(row, { size, usd: cost, second })
    return cost
  }

  /** Books dollars received for contracts that `withdrawAtCost` removed. */
  payFor(row: number, { usd, cost, second }: { usd: number; cost: number; second: number }): void {
    this.position.soldUsd.add(row, usd - cost)
    this.#realize(row, second, usd - cost)
  }

  /**
   * Redeems contracts for `usd` in total. Redeems everything held if it was written off, or if `size` is
   * not less.
   */
  redeem(row: number, { size, usd, second }: Move): void {
    const { position } = this
    const balance = position.balance.at(row)
    if (balance === 0 || size === 0) return
    const isLost = position.amount.at(row) === 0
    if (!isLost && size < balance) {
      this.sell(row, { size, usd, second })
      return
    }
    const cost = position.cost.at(row)
    for (const column of [position.balance, position.amount, position.cost]) column.put(row, 0)
    position.lostCost.put(row, 0)
    position.lostSecond.put(row, 0)
    this.#give(row, { size: balance, usd, second })
    if (!isLost) this.#realize(row, second, usd - cost)
  }

  mark(market: number, mark: number): void {
    this.market.marks.put(market, this.market.marks.at(market) | mark)
  }

  #isMarked(market: number, mark: number): boolean {
    return (this.market.marks.at(market) & mark) !== 0
  }

  #unmark(market: number, mark: number): void {
    this.market.marks.put(market, this.market.marks.at(market) & ~mark)
  }

  markCostUnknown(row: number): void {
    this.position.isCostUnknown.put(row, 1)
  }

  /** Assigns outcomes to positions that were seen before the market's outcomes were known. */
  assignOutcomes(market: number, facts: WalletMarket): void {
    if (!this.#isMarked(market, UNASSIGNED) || facts.tokens.length === 0) return
    this.#unmark(market, UNASSIGNED)
    for (const row of this.positionsOf(market)) {
      if (this.position.outcome.at(row) > 0) continue
      const token = outcomeId(this.tokens.text(row))
      this.position.outcome.put(row, facts.tokens.indexOf(token) + 1)
    }
  }

  /** Payout of one contract of the position, in micros. Null: not resolved, or outcome unknown. */
  payoutOf(row: number): number | null {
    const payout = this.market.payout.at(this.position.market.at(row)) - 1
    const outcome = this.position.outcome.at(row) - 1
    if (payout < 0 || outcome < 0) return null
    if (outcome === 0) return payout
    return outcome === 1 ? MICROS - payout : 0
  }

  /**
   * Defers the write-off of its losers until the next read, so that events of the market until then count
   * first.
   */
  writeOffLater(market: number): void {
    this.#toWriteOff.add(market)
  }

  writeOffAll(): void {
    // Called before every read of a position.
    if (this.#toWriteOff.size === 0) return
    for (const market of this.#toWriteOff) this.writeOff(market)
    this.#toWriteOff.clear()
  }

  /** Realises losers at 0, at the resolution or the last event other than a redemption, whichever is later. */
  writeOff(market: number): void {
    const second = Math.max(
      this.market.resolvedSecond.at(market),
      this.market.lastSecond.at(market),
    )
    for (const row of this.positionsOf(market)) {
      if (this.payoutOf(row) !== 0 || this.position.amount.at(row) === 0) continue
      const cost = this.position.cost.at(row)
      this.position.amount.put(row, 0)
      this.position.cost.put(row, 0)
      this.position.lostCost.put(row, cost)
      this.position.lostSecond.put(row, second)
      this.mark(market, WRITTEN_OFF)
      this.#realize(row, second, -cost)
    }
  }

  /** Reverses the write-off, because an earlier event became known. */
  undoWriteOff(market: number): void {
    if (!this.#isMarked(market, WRITTEN_OFF)) return
    this.#unmark(market, WRITTEN_OFF)
    for (const row of this.positionsOf(market)) {
      const balance = this.position.balance.at(row)
      if (balance === 0 || this.position.amount.at(row) > 0) continue
      const cost = this.position.lostCost.at(row)
      this.#realize(row, this.position.lostSecond.at(row), cost)
      this.position.amount.put(row, balance)
      this.position.cost.put(row, cost)
      this.position.lostCost.put(row, 0)
      this.position.lostSecond.put(row, 0)
    }
  }

  #take(row: number, size: number): { knownSize: number; cost: number } {
    const { position } = this
    const amount = position.amount.at(row)
    const knownSize = Math.min(size, amount)
    if (knownSize < size) position.isCostUnknown.put(row, 1)
    const all = position.cost.at(row)
    const cost = knownSize === amount ? all : shareOf(all, { part: knownSize, total: amount })
    position.amount.add(row, -knownSize)
    position.balance.add(row, -knownSize)
    position.cost.add(row, -cost)
    return { knownSize, cost }
  }

  #give(row: number, { size, usd, second }: Move): void {
    this.position.sold.add(row, size)
    this.position.soldUsd.add(row, usd)
    this.position.updatedSecond.put(row, second)
  }

  #realize(row: number, second: number, usd: number): void {
    if (usd === 0) return
    this.position.realized.add(row, usd)
    this.pnlHistory.add(second, { realized: usd })
  }
}
