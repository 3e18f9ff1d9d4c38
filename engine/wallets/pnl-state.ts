// The PnL state of one wallet, updated event by event. Each token has a weighted average cost, stored as
// (amount, cost) in integer micros.
// - A sale of q removes floor(cost × q / amount). The last sale removes all of it.
// - A split buys every outcome at an equal part of a dollar, a merge sells them likewise.
// - A redemption sells the redeemed contracts at the payout.
// - A loser of a resolved market is realised at 0, at its resolution or at the market's last other event,
//   whichever is later. It stays in `balance` until it is redeemed.
// - Fees and income never affect PnL.
//
// The figures depend on the events in order and on the known facts of markets, not on when a fact became
// known. If it became known too late, the result is `rebuild`.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import { legacyEnding, migratedMarket, outcomeOfPosition } from '../position-ids.ts'
import { MICROS, type TimeMs, timeMs, usdMicros } from '../units.ts'
import type { FindWalletMarket, WalletEvent, WalletMarket } from '../wallet.ts'
import { IntegerColumn } from './columns.ts'
import { ComboHoldings } from './combos.ts'
import {
  Holdings,
  LACKED_FEE,
  LACKED_GROUP,
  LACKED_PAYOUT,
  LACKED_TOKENS,
  REDEEMED,
} from './holdings.ts'
import { openPnlState, packPnlState } from './packed-pnl-state.ts'
import * as positionFigures from './position-figures.ts'
import { partsOf, shareOf } from './ratio.ts'
import { redeemedRows } from './redeemed.ts'
import type {
  HourFigures,
  PnlGranularity,
  PnlPoint,
  PnlPosition,
  RangeFigures,
  WalletTotals,
} from './wallet-figures.ts'
import { withheldOf } from './withheld-fees.ts'

/**
 * `rebuild`: applied, but a state rebuilt from all events in order, with the current results of `find`, may
 * differ. It is returned in these cases:
 * - an event is older than the last one of its market;
 * - a needed but unknown market has become known;
 * - the payout of a redeemed market has changed.
 */
type Applied = 'applied' | 'rebuild'

const SECOND_MS = 1_000
/** Indexes in the column of sums. Times of fills are in milliseconds, and undefined before the first fill. */
const SUM = {
  volume: 0,
  trades: 1,
  fees: 2,
  income: 3,
  splits: 4,
  merges: 5,
  redemptions: 6,
  conversions: 7,
  firstTradeMs: 8,
  lastTradeMs: 9,
  comboEvents: 10,
  comboCash: 11,
} as const
const SUM_COUNT = 12

/** A market that an event affects. */
interface Entered {
  readonly market: number
  readonly facts: WalletMarket | null
  readonly isStale: boolean
}

export class PnlState {
  readonly #held: Holdings
  readonly #sums: IntegerColumn
  readonly #combos: ComboHoldings

  private constructor(held: Holdings, sums: IntegerColumn, combos: ComboHoldings) {
    this.#held = held
    this.#sums = sums
    this.#combos = combos
  }

  static empty(): PnlState {
    const sums = IntegerColumn.empty()
    for (let index = 0; index < SUM_COUNT; index += 1) sums.push(0)
    return new PnlState(Holdings.empty(), sums, ComboHoldings.empty())
  }

  /**
   * Opens the state that `pack` returned. Uses these bytes directly where they are 8-aligned: the state
   * owns and changes them from then on. Null when they are damaged or of another version. Some 10 ns per
   * position or second.
   */
  static unpack(bytes: Uint8Array): PnlState | null {
    const opened = openPnlState(bytes, SUM_COUNT)
    return opened === null ? null : new PnlState(opened.held, opened.sums, opened.combos)
  }

  pack(): Uint8Array<ArrayBuffer> {
    this.#held.writeOffAll()
    return packPnlState({ sums: this.#sums, held: this.#held, combos: this.#combos })
  }

  /** An independent copy. */
  copy(): PnlState {
    return new PnlState(this.#held.copy(), this.#sums.copy(), this.#combos.copy())
  }

  /** Applies the next event. See Applied. Calls `find` for every market that the event names. */
  apply(event: WalletEvent, find: FindWalletMarket): Applied {
    const second = Math.max(Math.floor(event.timeMs / SECOND_MS), 0)
    switch (event.kind) {
      case 'buy':
      case 'sell':
        return this.#fill(event, second, find)
      case 'split':
      case 'merge':
        return this.#splitOrMerge(event, second, find)
      case 'redeem':
        return this.#redeem(event, second, find)
      case 'conversion':
        return this.#convert(event, second, find)
      case 'income':
        this.#sums.add(SUM.income, event.usd)
        this.#held.pnlHistory.add(second, { income: event.usd })
        return 'applied'
      case 'migration':
        return this.#migrate(event, second, find)
      case 'comboBuy':
      case 'comboSell':
      case 'comboRedeem':
      case 'comboOther':
        this.#sums.add(SUM.comboEvents, 1)
        this.#sums.add(SUM.comboCash, this.#combos.apply(event))
        return 'applied'
    }
  }

  /** Applies new facts of a market. `ignored`: no change, or the wallet was never in it. */
  resolve(facts: WalletMarket): Applied | 'ignored' {
    const market = this.#held.markets.numberOf(facts.nativeId)
    if (market < 0) return 'ignored'
    const before = this.#held.market.payout.at(market)
    const beforeSecond = this.#held.market.resolvedSecond.at(market)
    if (this.#learn(market, facts)) return 'rebuild'
    const isNew =
      this.#held.market.payout.at(market) !== before ||
      this.#held.market.resolvedSecond.at(market) !== beforeSecond
    return isNew ? 'applied' : 'ignored'
  }

  get positionCount(): number {
    return this.#held.tokens.count
  }

  /** −1 for an unknown token. */
  indexOf(token: OutcomeId): number {
    return this.#held.tokens.numberOf(token)
  }

  /** Throws RangeError unless 0 ≤ index < positionCount. `outcomeIndex` is −1 while the market is unknown. */
  position(index: number): PnlPosition {
    if (!(index >= 0 && index < this.positionCount)) throw new RangeError(`no position ${index}`)
    this.#held.writeOffAll()
    return positionFigures.positionFigures(this.#held, index)
  }

  /** See position-figures.ts. The iterator is invalid after the state changes. */
  openPositions(): ReturnType<typeof positionFigures.openPositions> {
    this.#held.writeOffAll()
    return positionFigures.openPositions(this.#held)
  }

  totals(): WalletTotals {
    this.#held.writeOffAll()
    const sum = (sumName: keyof typeof SUM): number => this.#sums.at(SUM[sumName])
    const trades = sum('trades')
    return {
      ...positionFigures.decidedFigures(this.#held),
      volume: usdMicros(sum('volume')),
      trades,
      fees: usdMicros(sum('fees')),
      income: usdMicros(sum('income')),
      splits: sum('splits'),
      merges: sum('merges'),
      redemptions: sum('redemptions'),
      conversions: sum('conversions'),
      comboEvents: sum('comboEvents'),
      comboRealized: this.#combos.isClosed ? usdMicros(sum('comboCash')) : null,
      firstTradeMs: trades === 0 ? null : timeMs(sum('firstTradeMs')),
      lastTradeMs: trades === 0 ? null : timeMs(sum('lastTradeMs')),
    }
  }

  get hasCombos(): boolean {
    return this.#sums.at(SUM.comboEvents) > 0
  }

  /** Figures of the whole seconds in [fromMs, toMs]. */
  between(fromMs: TimeMs, toMs: TimeMs): RangeFigures {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.between(fromMs, toMs)
  }

  /** Steps of [fromMs, toMs] in which something was realised. See PnlHistory. */
  series(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): PnlPoint[] {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.series(range)
  }

  /** Whole hours from that of `sinceMs` on with any activity, ascending. */
  hours(sinceMs: TimeMs): HourFigures[] {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.hours(sinceMs)
  }

  /** Markets with holdings that are not known to be resolved. */
  openMarkets(): NativeMarketId[] {
    return positionFigures.openMarkets(this.#held)
  }

  /** Markets whose tokens, payout or group were needed but unknown. Figures around them are guesses. */
  guessedMarkets(): NativeMarketId[] {
    return positionFigures.guessedMarkets(this.#held)
  }

  #fill(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    const firstMs = this.#sums.at(SUM.trades) === 0 ? event.timeMs : this.#sums.at(SUM.firstTradeMs)
    this.#sums.put(SUM.firstTradeMs, Math.min(firstMs, event.timeMs))
    this.#sums.put(SUM.lastTradeMs, Math.max(this.#sums.at(SUM.lastTradeMs), event.timeMs))
    this.#sums.add(SUM.volume, event.usd)
    this.#sums.add(SUM.trades, 1)
    const entered = event.token === null ? null : this.#enter(event.market, second, find)
    const withheld = withheldOf(event, entered?.facts ?? null)
    const fee = event.fee + withheld.fee
    this.#sums.add(SUM.fees, fee)
    this.#held.pnlHistory.add(second, { volume: event.usd, trades: 1, fees: fee })
    if (event.token === null || entered === null) return 'applied'
    const row = this.#positionRow(event.token, entered, second)
    this.#held.position.fees.add(row, fee)
    if (event.kind === 'buy') {
      const size = event.size - withheld.size
      this.#held.buy(row, { size, usd: event.usd - withheld.fee, second })
    } else this.#held.sell(row, { size: event.size, usd: event.usd, second })
    if (withheld.unknownPart !== null) this.#held.markCostUnknown(row)
    if (withheld.unknownPart === 'fee') this.#held.mark(entered.market, LACKED_FEE)
    return entered.isStale ? 'rebuild' : 'applied'
  }

  /**
   * A dollar for a contract of each outcome, whatever the event's dollars are. Where the outcomes are
   * unknown, the wallet's outcomes in that market count, as for a market with two outcomes.
   */
  #splitOrMerge(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    const { kind, size } = event
    this.#sums.add(kind === 'split' ? SUM.splits : SUM.merges, 1)
    const entered = this.#enter(event.market, second, find)
    const rows = this.#outcomes(entered, second)
    const parts = partsOf(size, hasTokens(entered) ? rows.length : Math.max(rows.length, 2))
    for (const [index, row] of rows.entries()) {
      const move = { size, usd: parts[index] ?? 0, second }
      if (kind === 'split') this.#held.buy(row, move)
      else this.#held.sell(row, move)
    }
    return entered.isStale ? 'rebuild' : 'applied'
  }

  #redeem(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    this.#sums.add(SUM.redemptions, 1)
    const entered = this.#enter(event.market, second, find, { isRedemption: true })
    const { market, isStale } = entered
    const { position } = this.#held
    const rows = this.#held.positionsOf(market).filter((row) => position.balance.at(row) > 0)
    if (rows.length === 0) return isStale ? 'rebuild' : 'applied'
    this.#held.mark(market, REDEEMED)
    rows.sort((one, other) => position.outcome.at(one) - position.outcome.at(other))
    const hasOutcomes = hasTokens(entered) || rows.every((row) => position.outcome.at(row) > 0)
    if (!hasOutcomes) this.#held.mark(market, LACKED_TOKENS)
    if (hasOutcomes && this.#held.market.payout.at(market) > 0) {
      // What was lost before the redemption was realised at that time.
      if (this.#held.market.resolvedSecond.at(market) <= second) this.#held.writeOff(market)
      for (const { row, size, isGuess } of redeemedRows(this.#held, rows, event)) {
        const part = this.#held.payoutOf(row) ?? 0
        if (position.outcome.at(row) === 0 || isGuess) this.#held.markCostUnknown(row)
        const usd = shareOf(size, { part, total: MICROS })
        this.#held.redeem(row, { size, usd, second })
      }
    } else this.#redeemGuessing(rows, { event, market, second })
    return isStale ? 'rebuild' : 'applied'
  }

  /**
   * Redeems where the payout is unknown.
   * - With a token, the dollars are those of that token.
   * - Without a token, if the dollars equal the holdings of one outcome, that outcome won.
   * - If only one outcome's holdings exceed the dollars, as many of its contracts were redeemed.
   * - Otherwise the dollars are divided in proportion to the holdings, at most a dollar each.
   * - Without dollars and with several outcomes, the redeemed outcome is unknown, so all stay.
   *
   * In the last three cases costs become unknown.
   */
  #redeemGuessing(
    rows: readonly number[],
    { event, market, second }: { event: WalletEvent; market: number; second: number },
  ): void {
    const { position } = this.#held
    const { usd } = event
    this.#held.mark(market, LACKED_PAYOUT)
    if (event.token !== null) {
      for (const { row, size } of redeemedRows(this.#held, rows, event)) {
        this.#held.redeem(row, { size, usd: Math.min(usd, size), second })
      }
      return
    }
    const amountOf = (row: number): number => position.amount.at(row)
    const held = rows.filter((row) => amountOf(row) > 0)
    const winner = held.find((row) => amountOf(row) === usd)
    if (winner === undefined && (usd > 0 || held.length > 1)) {
      for (const row of held) this.#held.markCostUnknown(row)
    }
    if (usd === 0 && held.length > 1) return
    const [payer, another] = held.filter((row) => amountOf(row) > usd)
    if (winner === undefined && usd > 0 && payer !== undefined && another === undefined) {
      this.#held.redeem(payer, { size: usd, usd, second })
      return
    }
    const total = held.reduce((sum, row) => sum + amountOf(row), 0)
    let left = Math.min(usd, total)
    const counted = left
    for (const [index, row] of held.entries()) {
      const size = amountOf(row)
      const isLast = index === held.length - 1
      let paid = isLast ? left : shareOf(counted, { part: size, total: total })
      if (winner !== undefined) paid = row === winner ? usd : 0
      left -= paid
      this.#held.redeem(row, { size, usd: paid, second })
    }
  }

  /**
   * Replaces contracts of the old token by as many of the new one, with the old token's part of the cost.
   * Nothing is realised. If the old token is not found, or not known to be held, the new one's cost is
   * unknown.
   */
  #migrate(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    const { market: id, size, token } = event
    const entered = this.#enter(id, second, find)
    if (token === null) return entered.isStale ? 'rebuild' : 'applied'
    const oldId = this.#migratedFrom(id)
    const old = oldId === null ? null : this.#enter(oldId, second, find)
    const from = old === null ? undefined : this.#outcome(old, outcomeOfPosition(token), second)
    const to = this.#positionRow(token, entered, second)
    const isCostKnown = from !== undefined && this.#held.position.amount.at(from) >= size
    const usd = from === undefined ? 0 : this.#held.withdrawAtCost(from, { size, second })
    this.#held.buy(to, { size, usd, second })
    if (!isCostKnown) this.#held.markCostUnknown(to)
    return entered.isStale || old?.isStale === true ? 'rebuild' : 'applied'
  }

  /** The held market whose tokens migrated to those of `id`. Scans all markets, because migrations are rare. */
  #migratedFrom(id: NativeMarketId): NativeMarketId | null {
    const ending = legacyEnding(id)
    if (ending === null) return null
    const { markets } = this.#held
    for (let row = 0; row < markets.count; row += 1) {
      const one = this.#held.marketId(row)
      const isOld = one !== id && one.endsWith(ending)
      if (isOld && this.#held.positionsOf(row).length > 0) return one
    }
    return null
  }

  /**
   * Exchanges q No of each of k markets for (k − 1) × q dollars and q Yes of each other market of the
   * group. The cost of the No, less the dollars, is divided equally among the Yes. Without other markets,
   * the dollars are divided over the No and realised. Where the group is unknown, the No leave at cost and
   * nothing is realised.
   */
  #convert(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    this.#sums.add(SUM.conversions, 1)
    const { size } = event
    const given = [...new Set(event.converted.length > 0 ? event.converted : [event.market])]
    const group = given.map((id) => find(id)?.group ?? null).find((one) => one !== null) ?? null
    let isStale = false
    let isComplete = group !== null
    let costs = 0
    const no: { readonly row: number; readonly cost: number }[] = []
    for (const id of given) {
      const entered = this.#enter(id, second, find)
      isStale ||= entered.isStale
      if (group === null) this.#held.mark(entered.market, LACKED_GROUP)
      const row = this.#outcome(entered, 1, second)
      if (row === undefined) isComplete = false
      else {
        if (this.#held.position.amount.at(row) < size) isComplete = false
        const cost = this.#held.withdrawAtCost(row, { size, second })
        no.push({ row, cost })
        costs += cost
      }
    }
    const others = group?.filter((id) => !given.includes(id)) ?? []
    const paid = (given.length - 1) * size
    if (others.length > 0) {
      const parts = partsOf(costs - paid, others.length)
      for (const [index, id] of others.entries()) {
        const entered = this.#enter(id, second, find)
        isStale ||= entered.isStale
        const row = this.#outcome(entered, 0, second)
        if (row === undefined) continue
        this.#held.buy(row, { size, usd: parts[index] ?? 0, second })
        if (!isComplete) this.#held.markCostUnknown(row)
      }
    } else if (group !== null && no.length > 0) {
      const parts = partsOf(paid, no.length)
      for (const [index, { row, cost }] of no.entries()) {
        this.#held.payFor(row, { usd: parts[index] ?? 0, cost, second })
      }
    }
    if (!isComplete) for (const { row } of no) this.#held.markCostUnknown(row)
    return isStale ? 'rebuild' : 'applied'
  }

  /** Prepares a market for an event: applies the facts from `find`, and reverses any write-off. */
  #enter(
    id: NativeMarketId,
    second: number,
    find: FindWalletMarket,
    { isRedemption } = { isRedemption: false },
  ): Entered {
    const count = this.#held.markets.count
    const market = this.#held.marketRow(id)
    const { lastSecond, touchedSecond, payout } = this.#held.market
    const facts = find(id)
    const isLate = market === count && this.#isMigratedBy(id, second)
    const isOld = isLate || second < touchedSecond.at(market)
    const isStale = (facts !== null && this.#learn(market, facts)) || isOld
    if (second >= touchedSecond.at(market)) touchedSecond.put(market, second)
    if (!isRedemption && second > lastSecond.at(market)) lastSecond.put(market, second)
    if (payout.at(market) > 0) {
      this.#held.undoWriteOff(market)
      this.#held.writeOffLater(market)
    }
    return { market, facts, isStale }
  }

  /** Whether the tokens of a market that is new here may have migrated after `second`. */
  #isMigratedBy(id: NativeMarketId, second: number): boolean {
    const into = this.#held.markets.numberOf(migratedMarket(id))
    return into >= 0 && this.#held.market.touchedSecond.at(into) > second
  }

  /**
   * Applies facts of a market. True when the market's figures rest on a guess, or on another payout, that
   * the facts contradict.
   */
  #learn(market: number, facts: WalletMarket): boolean {
    const { payout, resolvedSecond } = this.#held.market
    const marks = this.#held.market.marks.at(market)
    this.#held.assignOutcomes(market, facts)
    let isStale =
      ((marks & LACKED_TOKENS) !== 0 && facts.tokens.length > 0) ||
      ((marks & LACKED_GROUP) !== 0 && facts.group !== null) ||
      ((marks & LACKED_FEE) !== 0 && facts.takerFee !== null)
    if (facts.payout === null || facts.resolvedAtMs === null) return isStale
    isStale ||= (marks & LACKED_PAYOUT) !== 0 && facts.tokens.length > 0
    const second = Math.max(Math.floor(facts.resolvedAtMs / SECOND_MS), 0)
    this.#held.writeOffLater(market)
    if (payout.at(market) === facts.payout + 1 && resolvedSecond.at(market) === second) {
      return isStale
    }
    isStale ||= (marks & REDEEMED) !== 0 && (marks & LACKED_PAYOUT) === 0
    this.#held.undoWriteOff(market)
    payout.put(market, facts.payout + 1)
    resolvedSecond.put(market, second)
    return isStale
  }

  #positionRow(token: OutcomeId, { market, facts }: Entered, second: number): number {
    const row = this.#held.positionRow(token, { market, second })
    if (facts !== null) this.#held.assignOutcomes(market, facts)
    return row
  }

  /** Rows of a market's outcomes in order. Where the outcomes are unknown, those of the wallet's positions. */
  #outcomes(entered: Entered, second: number): number[] {
    const tokens = entered.facts?.tokens ?? []
    if (tokens.length > 0) return tokens.map((token) => this.#positionRow(token, entered, second))
    this.#held.mark(entered.market, LACKED_TOKENS)
    return this.#held.positionsOf(entered.market)
  }

  /** The row of one outcome. Undefined where it is unknown. */
  #outcome(entered: Entered, index: number, second: number): number | undefined {
    const token = entered.facts?.tokens[index]
    if (token !== undefined) return this.#positionRow(token, entered, second)
    this.#held.mark(entered.market, LACKED_TOKENS)
    return undefined
  }
}

const hasTokens = ({ facts }: Entered): boolean => facts !== null && facts.tokens.length > 0
