// The running tally of one wallet, brought forward event by event: weighted average cost per token, kept as
// (amount, cost) in integer micros. A sale of q removes floor(cost × q / amount), the last one all of it; a split
// buys every outcome at an even part of a dollar, a merge sells them so; a redemption sells what it turns in at the
// payout; a loser of a resolved market is realised at 0 at its resolution or at the market's last other event,
// whichever is later, and stays in `balance` until it is redeemed. Fees and income never touch PnL.
// The figures are a function of the events in order and of what is known of markets, not of when that came to be
// known; where that came too late, the answer is `rebuild`.

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
 * `rebuild`: taken in, but a tally made anew from all events in order, with what `find` says now, may say
 * otherwise. It is said when an event is older than the last one of its market, and when a market that was wanted
 * and not known has become known, or a redeemed one pays otherwise.
 */
type Applied = 'applied' | 'rebuild'

const SECOND_MS = 1_000
/** Places in the column of sums; times of fills in milliseconds, meaningless before the first. */
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

/** A market that an event moves something in. */
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
   * The tally that `pack` gave, over these very bytes where they are 8-aligned: they are the tally's from now
   * on, and change with it. Null when they are damaged or of another version. Some 10 ns a position or moment.
   */
  static unpack(bytes: Uint8Array): PnlState | null {
    const opened = openPnlState(bytes, SUM_COUNT)
    return opened === null ? null : new PnlState(opened.held, opened.sums, opened.combos)
  }

  pack(): Uint8Array<ArrayBuffer> {
    this.#held.writeOffAll()
    return packPnlState({ sums: this.#sums, held: this.#held, combos: this.#combos })
  }

  /** A tally of its own with the same figures. */
  copy(): PnlState {
    return new PnlState(this.#held.copy(), this.#sums.copy(), this.#combos.copy())
  }

  /** Takes in the next event; see Applied. `find` is asked for every market that the event names. */
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

  /** Takes in what is known of a market; `ignored`: nothing new, or the wallet was never in it. */
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

  /** Tokens ever touched. */
  get positionCount(): number {
    return this.#held.tokens.count
  }

  /** −1 for a token never touched. */
  indexOf(token: OutcomeId): number {
    return this.#held.tokens.numberOf(token)
  }

  /** Throws RangeError unless 0 ≤ index < positionCount. `outcomeIndex` is −1 while the market is not known. */
  position(index: number): PnlPosition {
    if (!(index >= 0 && index < this.positionCount)) throw new RangeError(`no position ${index}`)
    this.#held.writeOffAll()
    return positionFigures.positionFigures(this.#held, index)
  }

  /** See standing.ts; not to be gone on with after the tally changed. */
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

  /** Whether there are events of combos. */
  get hasCombos(): boolean {
    return this.#sums.at(SUM.comboEvents) > 0
  }

  /** Figures of the whole seconds in [fromMs, toMs]. */
  between(fromMs: TimeMs, toMs: TimeMs): RangeFigures {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.between(fromMs, toMs)
  }

  /** Steps of [fromMs, toMs] in which something was realised; see Moments. */
  series(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): PnlPoint[] {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.series(range)
  }

  /** Whole hours from that of `sinceMs` on in which anything happened, ascending. */
  hours(sinceMs: TimeMs): HourFigures[] {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.hours(sinceMs)
  }

  /** Markets not resolved, as far as is known, in which something is held. */
  openMarkets(): NativeMarketId[] {
    return positionFigures.openMarkets(this.#held)
  }

  /** Markets whose tokens, payout or group were wanted and not known: figures around them are guesses. */
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
   * A dollar for a contract of each outcome, whatever the event says in dollars. Where the outcomes are not known,
   * those of the wallet in that market count, as two of a market of two.
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
      // What was lost before it was redeemed was realised then.
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
   * For a payout that is not known: the dollars are those of the token that is named. Without a token, where the dollars
   * are those of one outcome whole, that one was the winner; where one outcome alone covers them, as many of its contracts
   * were turned in; else they go to the outcomes in proportion of what is held, no more than a dollar each. But for the
   * first, costs are unknown. No dollars, and several outcomes: which of them it was is not known, so all stay.
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
   * As many contracts of the new token as of the old one, which leaves with its part of the cost; nothing is realised. Of
   * an old token that is not found, or not known to be held, the new one's cost is unknown.
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

  /** The market held whose tokens became those of `id`, by its id. Reads all markets: migrations are few. */
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
   * q No of each of k markets for (k − 1) × q dollars and q Yes of each other market of the group: the No carry
   * their cost, less the dollars, over to the Yes in even parts. No other market: the dollars are divided over
   * the No, and realised. Where the group is not known the No leave at their cost, nothing is realised.
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

  /** Makes a market ready for an event: what `find` says of it is known, and nothing of it is written off. */
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

  /** Whether tokens of a market that is new here may have migrated after `second`. */
  #isMigratedBy(id: NativeMarketId, second: number): boolean {
    const into = this.#held.markets.numberOf(migratedMarket(id))
    return into >= 0 && this.#held.market.touchedSecond.at(into) > second
  }

  /** True when a market's figures rest on a guess, or on another payout, that what is known now contradicts. */
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

  /** Rows of a market's outcomes in their order; where they are not known, of those that the wallet was in. */
  #outcomes(entered: Entered, second: number): number[] {
    const tokens = entered.facts?.tokens ?? []
    if (tokens.length > 0) return tokens.map((token) => this.#positionRow(token, entered, second))
    this.#held.mark(entered.market, LACKED_TOKENS)
    return this.#held.positionsOf(entered.market)
  }

  /** The row of one outcome; undefined where it is not known. */
  #outcome(entered: Entered, index: number, second: number): number | undefined {
    const token = entered.facts?.tokens[index]
    if (token !== undefined) return this.#positionRow(token, entered, second)
    this.#held.mark(entered.market, LACKED_TOKENS)
    return undefined
  }
}

const hasTokens = ({ facts }: Entered): boolean => facts !== null && facts.tokens.length > 0
