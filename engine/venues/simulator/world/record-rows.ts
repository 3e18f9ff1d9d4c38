// Encodes trades, actions and states of a simulated world as journal rows, and decodes them. The chapter numbers its
// markets; wallets are identified by their index in the world's list.

import { priceMicros, sizeMicros, type TimeMs, timeMs, usdMicros } from '../../../units.ts'
import { SIM_VENUES, type SimMarket, type SimTrade, type SimWallet } from '../model.ts'
import type { Row } from './journal.ts'
import { LiveMarket } from './live-market.ts'
import { migratedOf, originOf } from './migrated-market.ts'
import { RunIds } from './run-ids.ts'
import { LiveTrade } from './sim-trade.ts'
import type { WalletAccount } from './wallet-account.ts'
import { OwnTransaction, type Transaction } from './wallet-events.ts'
import { operationSeed, type WalletAction, type WalletLedgers } from './wallet-ledgers.ts'
import type { SimulatedWorld } from './world.ts'

/** The first element of a row, one digit. State rows count only in the first chapter that is read. */
export const ROW = {
  /** venue, native id, event number, and 1 for the market to which its tokens migrate. Takes the next market number. */
  market: 0,
  /** market, time, outcome, 1 for a sale, price, size, fill, order, taker, then each maker and size. */
  trade: 1,
  /**
   * kind, time, wallet, market or null, size, dollars, number of the transaction; for a redemption or migration also
   * the outcome.
   */
  action: 2,
  /** time, wallet, size, markets given, markets received, number of the transaction. */
  conversion: 3,
  /** wallet, time of its first trade. */
  account: 4,
  /** time, and the time of the oldest retained event. Holdings that ended before that are dropped. */
  prune: 5,
  /** State: wallet, first time, events so far, cash, fees, income. */
  accountState: 6,
  /** State: wallet, market, figures of both positions. */
  holdingState: 7,
  /** State: market, sums, start of the run of the last trade, that trade's row. */
  marketState: 8,
  /** State: trades so far at each venue. */
  countState: 9,
} as const

const ACTION_KINDS = ['SPLIT', 'MERGE', 'REDEEM', 'REWARD', 'MAKER_REBATE', 'MIGRATION'] as const

export class RowWriter {
  readonly #numbers = new Map<SimMarket, number>()
  readonly #wallets: ReadonlyMap<SimWallet, number>

  constructor(wallets: ReadonlyMap<SimWallet, number>) {
    this.#wallets = wallets
  }

  /** Lines of rows. The first mention of a market adds a row for it. */
  lines(rows: Iterable<(writer: RowWriter) => Row>): string {
    let text = ''
    for (const make of rows) {
      const previousCount = this.#numbers.size
      const row = make(this)
      if (this.#numbers.size > previousCount) text += this.#newMarkets(previousCount)
      text += `${JSON.stringify(row)}\n`
    }
    return text
  }

  market(market: SimMarket): number {
    const existing = this.#numbers.get(market)
    if (existing !== undefined) return existing
    this.#numbers.set(market, this.#numbers.size)
    return this.#numbers.size - 1
  }

  /** Throws RangeError for a wallet that the world does not have. That is an internal bug. */
  wallet(wallet: SimWallet): number {
    const number = this.#wallets.get(wallet)
    if (number === undefined)
      throw new RangeError(`${wallet.address} is none of the world's wallets`)
    return number
  }

  trade(trade: LiveTrade): Row {
    const { atMs, outcomeIndex, price, size, fillCount, orderCount, makers } = trade
    const isSale = trade.side === 'sell' ? 1 : 0
    const parts = makers.flatMap((maker) => [this.wallet(maker.wallet), maker.size])
    const what = [outcomeIndex, isSale, price, size, fillCount, orderCount]
    const where = [ROW.trade, this.market(trade.market), atMs]
    return [...where, ...what, this.wallet(trade.taker), ...parts]
  }

  action(action: WalletAction): Row {
    const { atMs, size, transaction } = action
    const wallet = this.wallet(action.account.wallet)
    const count = countOf(transaction)
    if (action.kind === 'CONVERSION') {
      const given = action.given.map((market) => this.market(market))
      const others = action.others.map((market) => this.market(market))
      return [ROW.conversion, atMs, wallet, size, given, others, count]
    }
    const market = action.market === null ? null : this.market(action.market)
    const row = [
      ROW.action,
      ACTION_KINDS.indexOf(action.kind),
      atMs,
      wallet,
      market,
      size,
      action.usd,
      count,
    ]
    return action.outcomeIndex === undefined ? row : [...row, action.outcomeIndex]
  }

  #newMarkets(from: number): string {
    let text = ''
    for (const market of [...this.#numbers.keys()].slice(from)) {
      const origin = originOf(market)
      const { venue, nativeId } = (origin ?? market).listing
      const row = [ROW.market, venue, nativeId, market.event.number]
      text += `${JSON.stringify(origin === null ? row : [...row, 1])}\n`
    }
    return text
  }
}

/**
 * Decodes the rows of one chapter into the world and its ledgers. Throws Error on rows that RowWriter cannot have
 * written.
 */
export class RowReader {
  readonly #world: SimulatedWorld
  readonly #ledgers: WalletLedgers
  readonly #markets: (SimMarket | (() => SimMarket))[] = []
  readonly #tradeIds: RunIds
  readonly #actionIds: RunIds
  readonly #idsOfRun: (startedMs: TimeMs) => RunIds

  constructor(parts: {
    world: SimulatedWorld
    ledgers: WalletLedgers
    startedMs: TimeMs
    idsOfRun: (startedMs: TimeMs) => RunIds
  }) {
    const { world, startedMs } = parts
    this.#world = world
    this.#ledgers = parts.ledgers
    this.#idsOfRun = parts.idsOfRun
    this.#tradeIds = parts.idsOfRun(startedMs)
    this.#actionIds = new RunIds({ seed: operationSeed(world.seed), startedMs })
  }

  read(row: Row): void {
    const kind = row[0]
    if (kind === ROW.trade) {
      const trade = this.#trade(row, this.#tradeIds)
      this.#world.restoreTrade(trade.market, trade.trade)
      if (trade.market.listing.venue === 'a') this.#ledgers.restoreTrade(trade.trade)
    } else if (kind === ROW.market) this.#addMarket(row)
    else if (kind === ROW.action) this.#ledgers.apply(this.#action(row))
    else if (kind === ROW.conversion) this.#ledgers.apply(this.#conversion(row))
    else if (kind === ROW.account) this.#ledgers.account(this.#wallet(row[1]), timeOf(row[2]))
    else if (kind === ROW.prune) this.#ledgers.prune(timeOf(row[2]), timeOf(row[1]))
    else this.#state(row)
  }

  #state(row: Row): void {
    const [kind] = row
    if (kind === ROW.accountState) this.#accountState(row)
    else if (kind === ROW.holdingState) this.#holdingState(row)
    else if (kind === ROW.marketState) this.#marketState(row)
    else if (kind === ROW.countState) {
      SIM_VENUES.forEach((venue, index) => {
        this.#world.skipTrades(venue, numberOf(row[index + 1]))
      })
    } else throw new Error(`no row is of kind ${String(kind)}`)
  }

  #accountState(row: Row): void {
    const account = this.#ledgers.account(this.#wallet(row[1]), timeOf(row[2]))
    account.droppedEventCount = numberOf(row[3])
    account.cash = usdMicros(numberOf(row[4]))
    account.fees = usdMicros(numberOf(row[5]))
    account.income = usdMicros(numberOf(row[6]))
  }

  #holdingState(row: Row): void {
    const { positions } = this.#ledgers.holding(this.#account(row[1]), this.#market(row[2]))
    for (const index of [0, 1] as const) {
      const [amount, bought, average, realized, fees, lastMs] = listOf(row[3 + index])
      positions[index].restore([
        numberOf(amount),
        numberOf(bought),
        numberOf(average),
        numberOf(realized),
        numberOf(fees),
        numberOf(lastMs),
      ])
    }
  }

  #marketState(row: Row): void {
    const [, number, usd, contracts, hours, startedMs, last] = row
    const sums = listOf(hours).map((sum) => {
      const [hour, hourUsd, hourContracts] = listOf(sum)
      return [numberOf(hour), numberOf(hourUsd), numberOf(hourContracts)] as const
    })
    const lastTrade =
      last === null ? null : this.#trade(listOf(last), this.#idsOfRun(timeOf(startedMs))).trade
    this.#liveMarket(number).restoreTraded([numberOf(usd), numberOf(contracts), sums], lastTrade)
  }

  #trade(row: Row, ids: RunIds): { readonly trade: LiveTrade; readonly market: LiveMarket } {
    const market = this.#liveMarket(row[1])
    const makers: SimTrade['makers'][number][] = []
    for (let at = 10; at < row.length; at += 2) {
      makers.push({ wallet: this.#wallet(row[at]), size: sizeMicros(numberOf(row[at + 1])) })
    }
    const trade = new LiveTrade({
      market,
      atMs: timeOf(row[2]),
      outcomeIndex: numberOf(row[3]) === 0 ? 0 : 1,
      side: numberOf(row[4]) === 0 ? 'buy' : 'sell',
      price: priceMicros(numberOf(row[5])),
      size: sizeMicros(numberOf(row[6])),
      fillCount: numberOf(row[7]),
      orderCount: numberOf(row[8]),
      taker: this.#wallet(row[9]),
      makers,
      ids,
    })
    return { trade, market }
  }

  #action(row: Row): WalletAction {
    const [, kindIndex, atMs, wallet, market, size, usd, count, outcome] = row
    const kind = ACTION_KINDS[numberOf(kindIndex)]
    if (kind === undefined) throw new Error(`no deed is of kind ${String(kindIndex)}`)
    return {
      kind,
      atMs: timeOf(atMs),
      account: this.#account(wallet),
      market: market === null ? null : this.#market(market),
      ...(outcome === undefined ? {} : { outcomeIndex: numberOf(outcome) === 0 ? 0 : 1 }),
      size: numberOf(size),
      usd: numberOf(usd),
      // A split belongs to the transaction of the trade that needed it.
      transaction: new OwnTransaction(
        kind === 'SPLIT' ? this.#tradeIds : this.#actionIds,
        numberOf(count),
      ),
    }
  }

  #conversion(row: Row): WalletAction {
    const [, atMs, wallet, size, given, others, count] = row
    return {
      kind: 'CONVERSION',
      atMs: timeOf(atMs),
      account: this.#account(wallet),
      size: numberOf(size),
      given: listOf(given).map((number) => this.#market(number)),
      others: listOf(others).map((number) => this.#market(number)),
      transaction: new OwnTransaction(this.#actionIds, numberOf(count)),
    }
  }

  /** Planned only when a row uses it. A market that only skipped state rows mention need not exist. */
  #addMarket(row: Row): void {
    const venue = SIM_VENUES.find((key) => key === row[1])
    const nativeId = String(row[2])
    const eventNumber = numberOf(row[3])
    const isMigrated = row[4] === 1
    this.#markets.push(() => {
      const listed = venue && this.#world.marketOf({ venue, nativeId, eventNumber })
      const market = listed && isMigrated ? migratedOf(listed) : listed
      if (!market) throw new Error(`${nativeId} is no market of this world`)
      return market
    })
  }

  #liveMarket(value: unknown): LiveMarket {
    const market = this.#market(value)
    if (market instanceof LiveMarket) return market
    throw new Error(`market ${numberOf(value)} has no trades of its own`)
  }

  #market(value: unknown): SimMarket {
    const number = numberOf(value)
    const existing = this.#markets[number]
    if (existing === undefined) throw new Error(`no market has number ${number}`)
    if (typeof existing !== 'function') return existing
    const market = existing()
    this.#markets[number] = market
    return market
  }

  #wallet(value: unknown): SimWallet {
    const wallet = this.#world.wallets[numberOf(value)]
    if (wallet === undefined) throw new Error(`no wallet has number ${String(value)}`)
    return wallet
  }

  #account(value: unknown): WalletAccount {
    const wallet = this.#wallet(value)
    const account = this.#ledgers.accountOf(wallet)
    if (account === null) throw new Error(`a deed of ${wallet.address} stands before its account`)
    return account
  }
}

function countOf(transaction: Transaction): number {
  if (transaction instanceof OwnTransaction) return transaction.count
  if (transaction instanceof LiveTrade) return transaction.orderCount
  throw new TypeError('a transaction of the world is a trade or a wallet’s own')
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new Error(`${String(value)} is no number`)
  return value
}

function timeOf(value: unknown): TimeMs {
  return timeMs(numberOf(value))
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${String(value)} is no list`)
  return value
}
