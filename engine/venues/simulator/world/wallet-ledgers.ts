// The wallets of venue a: listens to the world's changes and keeps every wallet's ledger, with what
// wallets do besides trading. A seller who lacks tokens splits in the same transaction, just before;
// holders merge, convert and redeem later. What came within a second is not passed on within it, so that no
// balance is ever negative, in whatever order the transactions of a second are read.
// All of it follows from the seed and the changes told.
// Not for: who trades (trading.ts), how likely something is (wallet-habits.ts), rows (polymarket/).
// Upholds SIMWALLET1, SIMWALLET2, SIMWALLET5 to SIMWALLET7 and SIMWALLET15.

import { hash32, seededRandom } from '../../../random.ts'
import {
  complement,
  type PriceMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  toNumber,
  usdMicros,
} from '../../../units.ts'
import type {
  SimHolding,
  SimMarket,
  SimTrade,
  SimWallet,
  SimWalletLedger,
  SimWallets,
  World,
  WorldChange,
} from '../model.ts'
import { DueList } from './due-list.ts'
import { fillFee, fillUsd, participation, shownPrice } from './fill-money.ts'
import { RunIds } from './run-ids.ts'
import { WalletAccount, WalletHolding } from './wallet-account.ts'
import { OwnTransaction, type Transaction, WalletFill, WalletOperation } from './wallet-events.ts'
import { WalletHabits } from './wallet-habits.ts'

/** What a wallet is about to do with its holding. */
interface Plan {
  readonly kind: 'merge' | 'convert' | 'redeem'
  readonly holding: WalletHolding
}

/** About 250 MB with the trades they point at. */
const EVENTS_MAX = 2_000_000

/**
 * All wallets of a world, from now on. Events are kept up to two million over all wallets; when full,
 * the oldest tenth goes, each wallet counts what it lost, and with it go holdings that nobody has
 * touched since and that are empty or resolved.
 */
export class WalletLedgers implements SimWallets {
  readonly #habits: WalletHabits
  readonly #ids: RunIds
  readonly #accounts = new Map<string, WalletAccount>()
  readonly #owners = new Map<string, WalletAccount>()
  /** At most what the fills of six seconds bring, and one redemption for each holding. */
  readonly #plans = new DueList<Plan>()
  readonly #countMax: number
  readonly #stopListening: () => void
  /** Whose each kept event is, oldest first. */
  #order: WalletAccount[] = []
  #operationCount = 0

  constructor(options: {
    world: Pick<World, 'seed' | 'startedMs' | 'trades' | 'onChange'>
    countMax?: number
  }) {
    const { seed, startedMs } = options.world
    this.#countMax = options.countMax ?? EVENTS_MAX
    this.#habits = new WalletHabits(seededRandom('wallet habits', seed, startedMs))
    this.#ids = new RunIds({ seed: hash32('wallet operations', seed), startedMs })
    for (const trade of options.world.trades('a')) this.#trade(trade)
    this.#stopListening = options.world.onChange((change) => this.#hear(change))
  }

  wallet(address: string): SimWalletLedger | null {
    const key = address.toLowerCase()
    return this.#accounts.get(key) ?? this.#owners.get(key) ?? null
  }

  all(): readonly SimWalletLedger[] {
    return [...this.#accounts.values()]
  }

  holders(market: SimMarket): readonly SimHolding[] {
    return this.#holdersOf(market)
  }

  /** Stops listening; what is known stays. */
  stop(): void {
    this.#stopListening()
  }

  #hear(change: WorldChange): void {
    const { atMs } = change
    for (let due = this.#plans.takeDue(atMs); due !== null; due = this.#plans.takeDue(atMs)) {
      if (due.kind === 'merge') this.#merge(due.holding, atMs)
      else if (due.kind === 'convert') this.#convert(due.holding, atMs)
      else this.#redeem(due.holding, atMs)
    }
    if (change.market.listing.venue !== 'a') return
    if (change.kind === 'trade') this.#trade(change.trade)
    else if (change.kind === 'resolved') this.#awaitRedemptions(change.market, atMs)
  }

  #trade(trade: SimTrade): void {
    const { market, outcomeIndex } = trade
    const price = shownPrice(trade)
    for (let participant = 0; participant <= trade.makers.length; participant += 1) {
      const { size, isBuy } = participation(trade, participant)
      const wallet = participant === 0 ? trade.taker : trade.makers[participant - 1]?.wallet
      if (wallet === undefined) continue
      const account = this.#account(wallet, trade.atMs)
      const holding = this.#holding(account, market)
      const missing = size - holding.positions[outcomeIndex].settled(trade.atMs)
      if (!isBuy && missing > 0) this.#split(holding, missing, trade)
      const event = new WalletFill({
        trade,
        participant,
        size: sizeMicros(size),
        usd: fillUsd(price, size),
        fee: fillFee(trade, participant),
      })
      if (isBuy) account.buy(holding, outcomeIndex, event)
      else account.sell(holding, outcomeIndex, event)
      this.#count(account)
      this.#afterFill(holding, trade, { isMaker: participant > 0, isBuy })
    }
  }

  /** What the fill may bring its wallet to do, and the venue to pay. */
  #afterFill(
    holding: WalletHolding,
    trade: SimTrade,
    role: { readonly isMaker: boolean; readonly isBuy: boolean },
  ): void {
    const { atMs, market, outcomeIndex } = trade
    const isNoBuyer = role.isBuy && outcomeIndex === 1 && market.event.isMutuallyExclusive
    const kind = this.#habits.plan(isNoBuyer)
    if (kind !== null) this.#plans.add(atMs + this.#habits.planDelayMs(), { kind, holding })
    const income = role.isMaker ? this.#habits.income() : null
    if (income === null) return
    const { usd } = income
    const paid = { market: null, size: usd, usd, atMs }
    holding.ledger.earn(this.#operation(income.kind, paid, this.#transaction()))
    this.#count(holding.ledger)
  }

  #split(holding: WalletHolding, missing: number, trade: SimTrade): void {
    const { ledger, market } = holding
    const size = this.#habits.splitSize(missing)
    const made = { market, size, usd: size, atMs: trade.atMs }
    ledger.split(holding, this.#operation('SPLIT', made, trade))
    this.#count(ledger)
  }

  #merge(holding: WalletHolding, atMs: TimeMs): void {
    const { ledger, market } = holding
    const sets = market.status === 'resolved' ? 0 : holding.sets(atMs)
    const size = sets === 0 ? 0 : this.#habits.mergeSize(sets)
    if (size === 0) return
    const made = { market, size, usd: size, atMs }
    ledger.merge(holding, this.#operation('MERGE', made, this.#transaction()))
    this.#count(ledger)
  }

  /** All No the wallet has in the event, as many of each as of the least, if that is two markets or more. */
  #convert({ ledger, market }: WalletHolding, atMs: TimeMs): void {
    const { markets } = market.event
    if (markets.some(({ status }) => status !== 'open')) return
    const given: WalletHolding[] = []
    let size = Number.MAX_SAFE_INTEGER
    for (const each of markets) {
      const holding = ledger.holdings.get(each)
      const amount = holding?.positions[1].settled(atMs) ?? 0
      if (holding === undefined || amount === 0) continue
      given.push(holding)
      size = Math.min(size, amount)
    }
    if (given.length < 2) return
    const others: WalletHolding[] = []
    for (const each of markets) {
      const holding = this.#holding(ledger, each)
      if (!given.includes(holding)) others.push(holding)
    }
    const back = (given.length - 1) * size
    const transaction = this.#transaction()
    const events = given.map((holding, index) => {
      const usd = index === 0 ? back : 0
      const made = { market: holding.market, size, usd, atMs }
      return this.#operation('CONVERSION', made, transaction)
    })
    ledger.convert({ size, given, others, events })
    for (const _ of events) this.#count(ledger)
  }

  #awaitRedemptions(market: SimMarket, atMs: TimeMs): void {
    const payouts = payoutsOf(market)
    for (const holding of this.#holdersOf(market)) {
      if (holding.isEmpty) continue
      const delayMs = this.#habits.redeemDelayMs(holding.worth(payouts) > 0)
      if (delayMs !== null) this.#plans.add(atMs + delayMs, { kind: 'redeem', holding })
    }
  }

  #redeem(holding: WalletHolding, atMs: TimeMs): void {
    const { ledger, market } = holding
    if (holding.isEmpty) return
    const payouts = payoutsOf(market)
    const usd = holding.worth(payouts)
    const event = this.#operation('REDEEM', { market, size: usd, usd, atMs }, this.#transaction())
    ledger.redeem(holding, [toNumber(payouts[0]), toNumber(payouts[1])], event)
    this.#count(ledger)
  }

  #operation(
    kind: WalletOperation['kind'],
    fields: { market: SimMarket | null; size: number; usd: number; atMs: TimeMs },
    transaction: Transaction,
  ): WalletOperation {
    const { market, atMs } = fields
    const size = sizeMicros(fields.size)
    return new WalletOperation({
      kind,
      atMs,
      market,
      size,
      usd: usdMicros(fields.usd),
      transaction,
    })
  }

  #transaction(): Transaction {
    this.#operationCount += 1
    return new OwnTransaction(this.#ids, this.#operationCount)
  }

  #account(wallet: SimWallet, atMs: TimeMs): WalletAccount {
    const known = this.#accounts.get(wallet.address)
    if (known !== undefined) return known
    const eoa = this.#ids.address(this.#accounts.size)
    const account = new WalletAccount({ wallet, eoa, firstMs: atMs })
    this.#accounts.set(wallet.address, account)
    this.#owners.set(eoa, account)
    return account
  }

  #holding(account: WalletAccount, market: SimMarket): WalletHolding {
    const known = account.holdings.get(market)
    if (known !== undefined) return known
    const holding = new WalletHolding(account, market)
    account.holdings.set(market, holding)
    return holding
  }

  // A few thousand look-ups now and then, instead of an index that every new holding pays for.
  #holdersOf(market: SimMarket): readonly WalletHolding[] {
    const found: WalletHolding[] = []
    for (const { holdings } of this.#accounts.values()) {
      const holding = holdings.get(market)
      if (holding !== undefined) found.push(holding)
    }
    return found
  }

  /** Notes whose the newest event is; makes room when there are too many. */
  #count(account: WalletAccount): void {
    this.#order.push(account)
    if (this.#order.length > this.#countMax) this.#forget(Math.ceil(this.#countMax / 10))
  }

  #forget(count: number): void {
    const counts = new Map<WalletAccount, number>()
    for (const account of this.#order.slice(0, count)) {
      counts.set(account, (counts.get(account) ?? 0) + 1)
    }
    this.#order = this.#order.slice(count)
    for (const [account, lost] of counts) {
      account.events.splice(0, lost)
      account.forgottenEventCount += lost
    }
    const oldestMs = this.#order[0]?.events[0]?.atMs ?? timeMs(0)
    const isStale = (holding: WalletHolding): boolean =>
      holding.lastMs < oldestMs && (holding.isEmpty || holding.market.status === 'resolved')
    for (const { holdings } of this.#accounts.values()) {
      for (const [market, holding] of holdings) if (isStale(holding)) holdings.delete(market)
    }
  }
}

function payoutsOf({ listing }: SimMarket): readonly [PriceMicros, PriceMicros] {
  return [listing.payout, complement(listing.payout)]
}
