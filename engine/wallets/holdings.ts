// What a wallet holds and held: a row of columns for every token and for every market, how a row changes when
// contracts come and go, and the writing off of losers, which can be taken back.

import { type NativeMarketId, nativeMarketId, type OutcomeId, outcomeId } from '../ids.ts'
import { MICROS } from '../units.ts'
import type { WalletMarket } from '../wallet.ts'
import { type ColumnSource, type ColumnTable, copySource, emptySource, pushRow } from './columns.ts'
import { PnlHistory } from './pnl-history.ts'
import { shareOf } from './ratio.ts'
import { TextTable } from './text-table.ts'

/** A token's row: words first, then integers, as they are packed. */
export class PositionTable implements ColumnTable {
  /** Row of its market; the next position of that market as index + 1, always a later one; 0: none. */
  readonly market
  readonly next
  /** Outcome index + 1; 0: not known. */
  readonly outcome
  /** 1 once more was given away than was known to be held. */
  readonly isCostUnknown
  readonly openedSecond
  readonly updatedSecond
  /** When it was written off, and at what cost: set exactly while `amount` is 0 and `balance` is not. */
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

/** A market's row. */
export class MarketTable implements ColumnTable {
  /** Its first position as index + 1; 0: none. */
  readonly first
  /** Of the last event but redemptions, after which a loser is written off; and of the last event at all. */
  readonly lastSecond
  readonly touchedSecond
  /** Payout of the first outcome in micros + 1; 0: not resolved. */
  readonly payout
  readonly resolvedSecond
  /** The marks below. */
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

/** Its tokens, payout, group or takers' fee were wanted and not known. */
export const LACKED_TOKENS = 1
export const LACKED_PAYOUT = 2
export const LACKED_GROUP = 4
export const LACKED_FEE = 64
export const LACKED = LACKED_TOKENS | LACKED_PAYOUT | LACKED_GROUP | LACKED_FEE
/** Something of it was redeemed. */
export const REDEEMED = 8
/** A position was met before the market's outcomes were known; something is written off. */
const UNASSIGNED = 16
const WRITTEN_OFF = 32
const MARKS_ALL = 127

/** Contracts and dollars that come or go, and when. */
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

  /** The row of a market, a new one when it has none. */
  marketRow(id: NativeMarketId): number {
    const row = this.markets.add(id)
    if (row === this.market.first.count) pushRow(this.market)
    return row
  }

  marketId(row: number): NativeMarketId {
    return nativeMarketId(this.markets.text(row))
  }

  /** The row of a token, a new one when it has none: in this market, in no outcome yet. */
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

  /** The rows of a market's positions, as they came. */
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

  /** Of what exceeds the known amount nothing is realised, and its part of the dollars does not count. */
  sell(row: number, { size, usd, second }: Move): void {
    const { knownSize, cost } = this.#take(row, size)
    const counted = knownSize === size ? usd : shareOf(usd, { part: knownSize, total: size })
    this.#give(row, { size, usd, second })
    this.#realize(row, second, counted - cost)
  }

  /** Gives contracts away without realising: returns what those that are known had cost. */
  withdrawAtCost(row: number, { size, second }: { size: number; second: number }): number {
    const { cost } = this.#take(row, size)
    this.#give(row, { size, usd: cost, second })
    return cost
  }

  /** Dollars for contracts that were carried away; see there. */
  payFor(row: number, { usd, cost, second }: { usd: number; cost: number; second: number }): void {
    this.position.soldUsd.add(row, usd - cost)
    this.#realize(row, second, usd - cost)
  }

  /** Turns in contracts for `usd` in all: of what was written off, or where `size` is more, everything that is held. */
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

  /** What the market's outcomes are: positions that were met before are put into their place. */
  assignOutcomes(market: number, facts: WalletMarket): void {
    if (!this.#isMarked(market, UNASSIGNED) || facts.tokens.length === 0) return
    this.#unmark(market, UNASSIGNED)
    for (const row of this.positionsOf(market)) {
      if (this.position.outcome.at(row) > 0) continue
      const token = outcomeId(this.tokens.text(row))
      this.position.outcome.put(row, facts.tokens.indexOf(token) + 1)
    }
  }

  /** What a contract of the position pays, in micros; null: not resolved, or outcome not known. */
  payoutOf(row: number): number | null {
    const payout = this.market.payout.at(this.position.market.at(row)) - 1
    const outcome = this.position.outcome.at(row) - 1
    if (payout < 0 || outcome < 0) return null
    if (outcome === 0) return payout
    return outcome === 1 ? MICROS - payout : 0
  }

  /** Its losers are to be written off before the next look: events of the market that come until then count first. */
  writeOffLater(market: number): void {
    this.#toWriteOff.add(market)
  }

  writeOffAll(): void {
    // Asked before every look at a position.
    if (this.#toWriteOff.size === 0) return
    for (const market of this.#toWriteOff) this.writeOff(market)
    this.#toWriteOff.clear()
  }

  /** Realises losers at 0, at the resolution or the last event but a redemption, whichever is later. */
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

  /** Undoes the writing off, since something of before it came to be known. */
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
