// The P&L state of one wallet, updated event by event. Each token has a weighted average cost, stored as
// (amount, cost) in integer micros.
// - A sale of q contracts removes floor(cost × q / amount) from the cost. The last sale removes the remaining cost.
// - A split buys every outcome at an equal part of a dollar. A merge sells every outcome at an equal part.
// - A redemption sells the redeemed contracts at the payout.
// - A losing position of a resolved market is realised at 0, at the resolution or at the market's last other event,
//   whichever is later. It stays in `balance` until it is redeemed.
// - Fees and income never affect P&L.
//
// The figures depend on the order of the events and on the facts of markets, but not on the time when a fact became
// known. If a fact became known too late to be applied, the result is `rebuild`.

import { Packr } from 'msgpackr'
import type { NativeMarketId, OutcomeId } from '../ids.ts'
import { legacyEnding, migratedMarket, outcomeOfPosition } from '../position-ids.ts'
import { MICROS, sizeMicros, type TimeMs, timeMs, usdMicros } from '../units.ts'
import type { FindWalletMarket, WalletEvent, WalletMarket } from '../wallet.ts'
import { applyCombo, type ComboHoldings, isClosed } from './combos.ts'
import {
  assignOutcomes,
  type HeldMarket,
  Holdings,
  LACKED,
  LACKED_FEE,
  LACKED_GROUP,
  LACKED_PAYOUT,
  LACKED_TOKENS,
  type Position,
  payoutOf,
  REDEEMED,
} from './holdings.ts'
import { PnlHistory } from './pnl-history.ts'
import { decidedFigures, positionFigures } from './position-figures.ts'
import { partsOf, shareOf } from './ratio.ts'
import { redeemedGuessing, redeemedPositions } from './redeemed.ts'
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
 * `rebuild`: the change was applied, but a state rebuilt from all events with the current facts may differ. Cases: an
 * event is older than the last event of its market, a needed but unknown market is known now, or the payout of a
 * redeemed market has changed.
 */
type Applied = 'applied' | 'rebuild'

const SECOND_MS = 1_000

const NO_SUMS = {
  ...{ volume: 0, trades: 0, fees: 0, income: 0 },
  ...{ splits: 0, merges: 0, redemptions: 0, conversions: 0 },
  ...{ comboEvents: 0, comboCash: 0, firstTradeMs: 0, lastTradeMs: 0 },
}

/** Version of the packed form and of the rules. A state of another version must be rebuilt. */
const VERSION = 3
interface PackedPnlState {
  readonly version: number
  readonly sums: typeof NO_SUMS
  readonly combos: readonly (readonly [string, number | null])[]
  readonly markets: readonly HeldMarket[]
  readonly history: Uint8Array
}
const packr = new Packr({ useRecords: true })

interface Entered {
  readonly market: HeldMarket
  readonly facts: WalletMarket | null
  readonly isStale: boolean
}

export class PnlState {
  readonly #held: Holdings
  readonly #sums: typeof NO_SUMS
  readonly #combos: ComboHoldings

  private constructor(held: Holdings, sums: typeof NO_SUMS, combos: ComboHoldings) {
    this.#held = held
    this.#sums = sums
    this.#combos = combos
  }

  static empty(): PnlState {
    return new PnlState(new Holdings(), { ...NO_SUMS }, new Map())
  }

  /**
   * Reads the bytes that `pack` returned. Null: truncated or of another version. Other damage is detected by the
   * checksums of the storage.
   */
  static unpack(bytes: Uint8Array): PnlState | null {
    try {
      const packed: Partial<PackedPnlState> | null = packr.unpack(bytes)
      if (packed?.version !== VERSION) return null
      const { sums, combos, markets, history } = packed
      if (!sums || !combos || !markets || !history) return null
      const held = new Holdings(markets, PnlHistory.unpack(history))
      return new PnlState(held, { ...NO_SUMS, ...sums }, new Map(combos))
    } catch {
      return null
    }
  }

  pack(): Uint8Array<ArrayBuffer> {
    this.#held.writeOffAll()
    const packed: PackedPnlState = {
      ...{ version: VERSION, sums: this.#sums, combos: [...this.#combos] },
      markets: [...this.#held.markets.values()],
      history: this.#held.pnlHistory.pack(),
    }
    return new Uint8Array(packr.pack(packed))
  }

  copy(): PnlState {
    return new PnlState(this.#held.copy(), { ...this.#sums }, new Map(this.#combos))
  }

  /** Applies the next event. Calls `find` for each market that the event names. */
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
        this.#sums.income += event.usd
        this.#held.pnlHistory.add(second, { income: event.usd })
        return 'applied'
      case 'migration':
        return this.#migrate(event, second, find)
      case 'comboBuy':
      case 'comboSell':
      case 'comboRedeem':
      case 'comboOther':
        this.#sums.comboEvents += 1
        this.#sums.comboCash += applyCombo(this.#combos, event)
        return 'applied'
    }
  }

  /** Applies new facts of a market. `ignored`: nothing changed, or the wallet has no position in the market. */
  resolve(facts: WalletMarket): Applied | 'ignored' {
    const market = this.#held.markets.get(facts.nativeId)
    if (market === undefined) return 'ignored'
    const { payout, resolvedSecond } = market
    if (this.#learn(market, facts)) return 'rebuild'
    const isNew = market.payout !== payout || market.resolvedSecond !== resolvedSecond
    return isNew ? 'applied' : 'ignored'
  }

  get positionCount(): number {
    return this.#held.positionCount
  }

  /** All current and former positions. `outcomeIndex` is −1 while the market is unknown. */
  *positions(): Iterable<PnlPosition> {
    this.#held.writeOffAll()
    for (const { id, positions } of this.#held.markets.values()) {
      for (const position of positions) yield positionFigures(id, position)
    }
  }

  *openPositions(): Iterable<Pick<PnlPosition, 'market' | 'outcomeIndex' | 'amount' | 'cost'>> {
    this.#held.writeOffAll()
    for (const { id: market, positions } of this.#held.markets.values()) {
      for (const { outcomeIndex, amount, cost } of positions) {
        if (amount === 0 && cost === 0) continue
        yield { market, outcomeIndex, amount: sizeMicros(amount), cost: usdMicros(cost) }
      }
    }
  }

  totals(): WalletTotals {
    this.#held.writeOffAll()
    const { volume, fees, income, comboCash, firstTradeMs, lastTradeMs, ...counts } = this.#sums
    const hasTrades = counts.trades > 0
    return {
      ...decidedFigures(this.#held),
      ...counts,
      volume: usdMicros(volume),
      fees: usdMicros(fees),
      income: usdMicros(income),
      comboRealized: isClosed(this.#combos) ? usdMicros(comboCash) : null,
      firstTradeMs: hasTrades ? timeMs(firstTradeMs) : null,
      lastTradeMs: hasTrades ? timeMs(lastTradeMs) : null,
    }
  }

  get hasCombos(): boolean {
    return this.#sums.comboEvents > 0
  }

  between(fromMs: TimeMs, toMs: TimeMs): RangeFigures {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.between(fromMs, toMs)
  }

  series(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): PnlPoint[] {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.series(range)
  }

  /** Hours with activity from the hour of `sinceMs` on, ascending. */
  hours(sinceMs: TimeMs): HourFigures[] {
    this.#held.writeOffAll()
    return this.#held.pnlHistory.hours(sinceMs)
  }

  /** Markets with holdings that are not known to be resolved. */
  openMarkets(): NativeMarketId[] {
    const isOpen = ({ payout, positions }: HeldMarket): boolean =>
      payout === null && positions.some(({ amount }) => amount > 0)
    return this.#marketsWhere(isOpen)
  }

  /** Markets whose figures are estimates, because their tokens, payout, group or fee were needed but unknown. */
  guessedMarkets(): NativeMarketId[] {
    return this.#marketsWhere(({ marks }) => (marks & LACKED) !== 0)
  }

  #marketsWhere(isMeant: (market: HeldMarket) => boolean): NativeMarketId[] {
    return [...this.#held.markets.values()].filter(isMeant).map(({ id }) => id)
  }

  #fill(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    const sums = this.#sums
    const firstMs = sums.trades === 0 ? event.timeMs : sums.firstTradeMs
    sums.firstTradeMs = Math.min(firstMs, event.timeMs)
    sums.lastTradeMs = Math.max(sums.lastTradeMs, event.timeMs)
    sums.volume += event.usd
    sums.trades += 1
    const entered = event.token === null ? null : this.#enter(event.market, second, find)
    const withheld = withheldOf(event, entered?.facts ?? null)
    const fee = event.fee + withheld.fee
    sums.fees += fee
    this.#held.pnlHistory.add(second, { volume: event.usd, trades: 1, fees: fee })
    if (event.token === null || entered === null) return 'applied'
    const position = this.#position(event.token, entered, second)
    position.fees += fee
    if (event.kind === 'buy') {
      const size = event.size - withheld.size
      this.#held.buy(position, { size, usd: event.usd - withheld.fee, second })
    } else this.#held.sell(position, { size: event.size, usd: event.usd, second })
    if (withheld.unknownPart !== null) position.isCostKnown = false
    if (withheld.unknownPart === 'fee') entered.market.marks |= LACKED_FEE
    return entered.isStale ? 'rebuild' : 'applied'
  }

  /**
   * Counts a dollar for a contract of each outcome and ignores the event's dollars. If the outcomes are unknown, uses
   * the wallet's tokens of the market and assumes two outcomes.
   */
  #splitOrMerge(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    const { kind, size } = event
    if (kind === 'split') this.#sums.splits += 1
    else this.#sums.merges += 1
    const entered = this.#enter(event.market, second, find)
    const positions = this.#outcomes(entered, second)
    const count = hasTokens(entered) ? positions.length : Math.max(positions.length, 2)
    const parts = partsOf(size, count)
    for (const [index, position] of positions.entries()) {
      const move = { size, usd: parts[index] ?? 0, second }
      if (kind === 'split') this.#held.buy(position, move)
      else this.#held.sell(position, move)
    }
    return entered.isStale ? 'rebuild' : 'applied'
  }

  #redeem(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    this.#sums.redemptions += 1
    const entered = this.#enter(event.market, second, find, { isRedemption: true })
    const { market, isStale } = entered
    const held = market.positions
      .filter(({ balance }) => balance > 0)
      .sort((one, other) => one.outcomeIndex - other.outcomeIndex)
    if (held.length === 0) return isStale ? 'rebuild' : 'applied'
    market.marks |= REDEEMED
    const hasOutcomes = hasTokens(entered) || held.every(({ outcomeIndex }) => outcomeIndex >= 0)
    if (!hasOutcomes) market.marks |= LACKED_TOKENS
    if (hasOutcomes && market.payout !== null) {
      // If the market was resolved before the redemption, losses are realised at the time of the resolution.
      if (market.resolvedSecond <= second) this.#held.writeOff(market)
      for (const { position, size, isGuess } of redeemedPositions(market, held, event)) {
        const part = payoutOf(market, position) ?? 0
        if (position.outcomeIndex < 0 || isGuess) position.isCostKnown = false
        const usd = shareOf(size, { part, total: MICROS })
        this.#held.redeem(position, { size, usd, second })
      }
    } else {
      market.marks |= LACKED_PAYOUT
      for (const { position, size, usd } of redeemedGuessing(market, held, event)) {
        this.#held.redeem(position, { size, usd, second })
      }
    }
    return isStale ? 'rebuild' : 'applied'
  }

  /**
   * Replaces contracts of an old token by as many contracts of the new token, which take over their part of the cost.
   * Realises nothing. If the old token is not found or not held, the cost of the new contracts is unknown.
   */
  #migrate(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    const { market: id, size, token } = event
    const entered = this.#enter(id, second, find)
    if (token === null) return entered.isStale ? 'rebuild' : 'applied'
    const oldId = this.#migratedFrom(id)
    const old = oldId === null ? null : this.#enter(oldId, second, find)
    const from = old === null ? undefined : this.#outcome(old, outcomeOfPosition(token), second)
    const to = this.#position(token, entered, second)
    const isCostKnown = from !== undefined && from.amount >= size
    const usd = from === undefined ? 0 : this.#held.withdrawAtCost(from, size, second)
    this.#held.buy(to, { size, usd, second })
    if (!isCostKnown) to.isCostKnown = false
    return entered.isStale || old?.isStale === true ? 'rebuild' : 'applied'
  }

  /** The market whose tokens migrated to the tokens of `id`. Scans all markets, because migrations are rare. */
  #migratedFrom(id: NativeMarketId): NativeMarketId | null {
    const ending = legacyEnding(id)
    if (ending === null) return null
    for (const { id: one, positions } of this.#held.markets.values()) {
      if (one !== id && one.endsWith(ending) && positions.length > 0) return one
    }
    return null
  }

  /**
   * Exchanges q No contracts of each of k markets for (k − 1) × q dollars and q Yes contracts of each other market of
   * the group. The cost of the No contracts minus the dollars is divided equally among the Yes contracts. Without
   * another market, the dollars are divided among the No contracts and realised. If the group is unknown, the No
   * contracts are removed at cost and nothing is realised.
   */
  #convert(event: WalletEvent, second: number, find: FindWalletMarket): Applied {
    this.#sums.conversions += 1
    const { size } = event
    const given = [...new Set(event.converted.length > 0 ? event.converted : [event.market])]
    const group = given.map((id) => find(id)?.group ?? null).find((one) => one !== null) ?? null
    let isStale = false
    let isComplete = group !== null
    let costs = 0
    const no: { readonly position: Position; readonly cost: number }[] = []
    for (const id of given) {
      const entered = this.#enter(id, second, find)
      isStale ||= entered.isStale
      if (group === null) entered.market.marks |= LACKED_GROUP
      const position = this.#outcome(entered, 1, second)
      if (position === undefined) isComplete = false
      else {
        if (position.amount < size) isComplete = false
        const cost = this.#held.withdrawAtCost(position, size, second)
        no.push({ position, cost })
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
        const position = this.#outcome(entered, 0, second)
        if (position === undefined) continue
        this.#held.buy(position, { size, usd: parts[index] ?? 0, second })
        if (!isComplete) position.isCostKnown = false
      }
    } else if (group !== null && no.length > 0) {
      const parts = partsOf(paid, no.length)
      for (const [index, { position, cost }] of no.entries()) {
        this.#held.payFor(position, (parts[index] ?? 0) - cost, second)
      }
    }
    if (!isComplete) for (const { position } of no) position.isCostKnown = false
    return isStale ? 'rebuild' : 'applied'
  }

  #enter(
    id: NativeMarketId,
    second: number,
    find: FindWalletMarket,
    { isRedemption } = { isRedemption: false },
  ): Entered {
    const isLate = !this.#held.markets.has(id) && this.#isMigratedBy(id, second)
    const market = this.#held.market(id)
    const facts = find(id)
    const isOld = isLate || second < market.touchedSecond
    const isStale = (facts !== null && this.#learn(market, facts)) || isOld
    market.touchedSecond = Math.max(market.touchedSecond, second)
    if (!isRedemption) market.lastSecond = Math.max(market.lastSecond, second)
    if (market.payout !== null) {
      this.#held.undoWriteOff(market)
      this.#held.writeOffLater()
    }
    return { market, facts, isStale }
  }

  /** Whether the tokens of this new market may have migrated after `second`. */
  #isMigratedBy(id: NativeMarketId, second: number): boolean {
    const into = this.#held.markets.get(migratedMarket(id))
    return into !== undefined && into.touchedSecond > second
  }

  /** Applies facts of a market. True if they contradict an estimate or a payout that the market's figures use. */
  #learn(market: HeldMarket, facts: WalletMarket): boolean {
    const { marks } = market
    assignOutcomes(market, facts)
    let isStale =
      ((marks & LACKED_TOKENS) !== 0 && facts.tokens.length > 0) ||
      ((marks & LACKED_GROUP) !== 0 && facts.group !== null) ||
      ((marks & LACKED_FEE) !== 0 && facts.takerFee !== null)
    if (facts.payout === null || facts.resolvedAtMs === null) return isStale
    isStale ||= (marks & LACKED_PAYOUT) !== 0 && facts.tokens.length > 0
    const second = Math.max(Math.floor(facts.resolvedAtMs / SECOND_MS), 0)
    this.#held.writeOffLater()
    if (market.payout === facts.payout && market.resolvedSecond === second) return isStale
    isStale ||= (marks & REDEEMED) !== 0 && (marks & LACKED_PAYOUT) === 0
    this.#held.undoWriteOff(market)
    market.payout = facts.payout
    market.resolvedSecond = second
    return isStale
  }

  #position(token: OutcomeId, { market, facts }: Entered, second: number): Position {
    const position = this.#held.position(market, token, second)
    if (facts !== null) assignOutcomes(market, facts)
    return position
  }

  /** The positions of a market's outcomes in order. If the outcomes are unknown: the wallet's positions. */
  #outcomes(entered: Entered, second: number): readonly Position[] {
    const tokens = entered.facts?.tokens ?? []
    if (tokens.length > 0) return tokens.map((token) => this.#position(token, entered, second))
    entered.market.marks |= LACKED_TOKENS
    return entered.market.positions
  }

  /** Undefined if the outcome is unknown. */
  #outcome(entered: Entered, index: number, second: number): Position | undefined {
    const token = entered.facts?.tokens[index]
    if (token !== undefined) return this.#position(token, entered, second)
    entered.market.marks |= LACKED_TOKENS
    return undefined
  }
}

const hasTokens = ({ facts }: Entered): boolean => facts !== null && facts.tokens.length > 0
