// The wallets of venue a and their actions, which depend only on the seed and the world's changes. A seller without
// enough tokens splits in the same transaction. A wallet does not spend tokens in the second in which it received them.
// Balances are therefore never negative, in any order of the rows.

import { DueList } from '../../../due-list.ts'
import { hash32, seededRandom } from '../../../random.ts'
import {
  complement,
  PRICE_ONE,
  type PriceMicros,
  sizeMicros,
  TIME_ZERO,
  type TimeMs,
  toNumber,
  usdMicros,
} from '../../../units.ts'
import type {
  SimMarket,
  SimTrade,
  SimWallet,
  SimWalletEvent,
  World,
  WorldChange,
} from '../model.ts'
import { participation } from './fill-money.ts'
import { migratedOf } from './migrated-market.ts'
import { RunIds } from './run-ids.ts'
import { WalletAccount, WalletHolding } from './wallet-account.ts'
import {
  fillEvent,
  isNamed,
  OwnTransaction,
  type Transaction,
  WalletOperation,
} from './wallet-events.ts'
import { WalletHabits } from './wallet-habits.ts'

interface Plan {
  readonly kind: 'merge' | 'convert' | 'migrate' | 'redeem'
  readonly holding: WalletHolding
}

const OUTCOMES = [0, 1] as const
const CONTRACT = 1_000_000
const REST_AFTER_MS = 20_000
/** A quarter of the redemptions of winning tokens redeem only a third. */
const isPartly = ({ txHash }: Transaction): boolean => '0123'.includes(txHash.at(-2) ?? '')
/** Maximum number of events. With their trades they use about 250 MB. */
const EVENTS_MAX = 2_000_000

/**
 * At the limit of events, the oldest tenth is dropped. Holdings without a later event are dropped too, if they are
 * empty or resolved.
 */
export class WalletLedgers {
  readonly #habits: WalletHabits
  readonly #ids: RunIds
  readonly #accounts = new Map<string, WalletAccount>()
  readonly #owners = new Map<string, WalletAccount>()
  /** At most the actions planned for the fills of six seconds, and one redemption per holding. */
  readonly #plans = new DueList<Plan>()
  readonly #countMax: number
  readonly #stopListening: () => void
  /** Ids from which the addresses of owners are made. They are the same in all runs of the world. */
  readonly #ownerIds: RunIds
  #order: WalletAccount[] = []
  #operationCount = 0

  constructor(options: {
    world: Pick<World, 'seed' | 'startedMs' | 'trades' | 'onChange'>
    /** Time of the first start of the world. Default: `startedMs`. */
    bornMs?: TimeMs
    countMax?: number
  }) {
    const { seed, startedMs } = options.world
    this.#countMax = options.countMax ?? EVENTS_MAX
    const random = seededRandom('wallet habits', seed, startedMs)
    this.#habits = new WalletHabits({ random, seed })
    this.#ids = new RunIds({ seed: operationSeed(seed), startedMs })
    const bornMs = options.bornMs ?? startedMs
    this.#ownerIds = new RunIds({ seed: operationSeed(seed), startedMs: bornMs })
    for (const trade of options.world.trades('a')) this.#trade(trade)
    this.#stopListening = options.world.onChange((change) => this.#take(change))
  }

  wallet(address: string): WalletAccount | null {
    const key = address.toLowerCase()
    return this.#accounts.get(key) ?? this.#owners.get(key) ?? null
  }

  all(): readonly WalletAccount[] {
    return [...this.#accounts.values()]
  }

  holders(market: SimMarket): readonly WalletHolding[] {
    return this.#holdersOf(market)
  }

  /** The retained events of all wallets with their accounts, oldest first. Copies only references. */
  retained(): Iterable<readonly [WalletAccount, SimWalletEvent]> {
    const lists = new Map(this.all().map((account) => [account, [...account.events].values()]))
    return inOrder([...this.#order], lists)
  }

  /** Adds an event of an earlier run without changing the account's figures, which already include it. */
  restoreEvent(account: WalletAccount, event: SimWalletEvent): void {
    account.events.push(event)
    this.#order.push(account)
  }

  account(wallet: SimWallet, atMs: TimeMs): WalletAccount {
    const existing = this.#accounts.get(wallet.address)
    if (existing !== undefined) return existing
    const eoa = this.#ownerIds.address(this.#accounts.size)
    const account = new WalletAccount({ wallet, eoa, firstMs: atMs })
    this.#accounts.set(wallet.address, account)
    this.#owners.set(eoa, account)
    return account
  }

  holding(account: WalletAccount, market: SimMarket): WalletHolding {
    const existing = account.holdings.get(market)
    if (existing !== undefined) return existing
    const holding = new WalletHolding(account, market)
    account.holdings.set(market, holding)
    return holding
  }

  /** Plans the redemptions of holders in resolved markets. Must be called after all events are restored. */
  restorePlans(): void {
    for (const { holdings } of this.#accounts.values()) {
      for (const [market, holding] of holdings) {
        if (market.status === 'resolved') this.#awaitRedemption(holding, market.listing.resolveMs)
      }
    }
  }

  stop(): void {
    this.#stopListening()
  }

  #take(change: WorldChange): void {
    const { atMs } = change
    for (let due = this.#plans.takeDue(atMs); due !== null; due = this.#plans.takeDue(atMs)) {
      if (due.kind === 'merge') this.#merge(due.holding, atMs)
      else if (due.kind === 'convert') this.#convert(due.holding, atMs)
      else if (due.kind === 'migrate') this.#migrate(due.holding, atMs)
      else this.#redeem(due.holding, atMs)
    }
    if (change.market.listing.venue !== 'a') return
    if (change.kind === 'trade') this.#trade(change.trade)
    else if (change.kind === 'resolved') this.#awaitRedemptions(change.market, atMs)
  }

  #trade(trade: SimTrade): void {
    const { market, outcomeIndex, atMs } = trade
    for (let participant = 0; participant <= trade.makers.length; participant += 1) {
      const { size, isBuy } = participation(trade, participant)
      const wallet = participantOf(trade, participant)
      if (wallet === undefined) continue
      const account = this.account(wallet, atMs)
      const holding = this.holding(account, market)
      const missing = size - holding.positions[outcomeIndex].settled(atMs)
      if (!isBuy && missing > 0) {
        const size = this.#habits.splitSize(missing)
        const details = { market, size, usd: size, atMs, transaction: trade }
        account.split(holding, operation('SPLIT', details))
        this.#count(account)
      }
      this.#fill(holding, trade, participant)
      this.#afterFill(holding, trade, { isMaker: participant > 0, isBuy })
    }
  }

  #fill(holding: WalletHolding, trade: SimTrade, participant: number): void {
    const { ledger } = holding
    const event = fillEvent(trade, participant)
    if (participation(trade, participant).isBuy) ledger.buy(holding, trade.outcomeIndex, event)
    else ledger.sell(holding, trade.outcomeIndex, event)
    this.#count(ledger)
  }

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
    const { kind: paid, usd } = income
    const details = { market: null, size: usd, usd, atMs, transaction: this.#transaction() }
    holding.ledger.earn(operation(paid, details))
    this.#count(holding.ledger)
  }

  #merge(holding: WalletHolding, atMs: TimeMs): void {
    const { ledger, market } = holding
    const sets = market.status === 'resolved' ? 0 : holding.sets(atMs)
    const size = sets === 0 ? 0 : this.#habits.mergeSize(sets)
    if (size === 0) return
    const details = { market, size, usd: size, atMs, transaction: this.#transaction() }
    ledger.merge(holding, operation('MERGE', details))
    this.#count(ledger)
  }

  /**
   * Converts No contracts of at least two markets of the event. The number is the smallest amount that the wallet
   * holds.
   */
  #convert({ ledger, market }: WalletHolding, atMs: TimeMs): void {
    const { markets } = market.event
    if (markets.some(({ status }) => status !== 'open')) return
    const given: SimMarket[] = []
    let size = Number.MAX_SAFE_INTEGER
    for (const each of markets) {
      const amount = ledger.holdings.get(each)?.positions[1].settled(atMs) ?? 0
      if (amount === 0) continue
      given.push(each)
      size = Math.min(size, amount)
    }
    if (given.length < 2) return
    const others = markets.filter((each) => !given.includes(each))
    const transaction = this.#transaction()
    const back = (given.length - 1) * size
    const events = given.map((each, index) => {
      const usd = index === 0 ? back : 0
      return operation('CONVERSION', { market: each, size, usd, atMs, transaction })
    })
    const holdings = (list: readonly SimMarket[]) => list.map((each) => this.holding(ledger, each))
    ledger.convert({ size, given: holdings(given), others: holdings(others), events })
    for (const _ of events) this.#count(ledger)
  }

  #migrate(holding: WalletHolding, atMs: TimeMs): void {
    const { ledger, market } = holding
    const target = migratedOf(market)
    if (market.status !== 'open' || target === null) return
    const [yes, no] = [holding.positions[0].settled(atMs), holding.positions[1].settled(atMs)]
    const [outcomeIndex, size] = no > yes ? ([1, no] as const) : ([0, yes] as const)
    if (size === 0) return
    const what = { market: target, outcomeIndex, size, usd: 0, atMs }
    const event = operation('MIGRATION', { ...what, transaction: this.#transaction() })
    ledger.migrate(holding, this.holding(ledger, target), event)
    this.#count(ledger)
  }

  #awaitRedemptions(market: SimMarket, atMs: TimeMs): void {
    for (const holding of this.#holdersOf(market)) this.#awaitRedemption(holding, atMs)
    const migrated = migratedOf(market)
    if (migrated === null) return
    for (const holding of this.#holdersOf(migrated)) this.#awaitRedemption(holding, atMs)
  }

  #awaitRedemption(holding: WalletHolding, resolvedMs: TimeMs): void {
    if (holding.isEmpty) return
    const { ledger, market } = holding
    const delayMs = this.#habits.redeemDelayMs({
      address: ledger.wallet.address,
      chanceKey: market.listing.chanceKey,
      isWinner: OUTCOMES.some((index) => holding.worth(index, payoutsOf(market)) > 0),
    })
    if (delayMs !== null) this.#plans.add(resolvedMs + delayMs, { kind: 'redeem', holding })
  }

  #redeem(holding: WalletHolding, atMs: TimeMs): void {
    const { ledger, market } = holding
    const payouts = payoutsOf(market)
    const paid = OUTCOMES.map((index) => holding.worth(index, payouts))
    const isWinner = paid.some((usd) => usd > 0)
    const retainsLoser = isWinner && this.#habits.retainsLoser(ledger.wallet.address, market)
    const transaction = this.#transaction()
    for (const outcomeIndex of OUTCOMES) {
      let { amount } = holding.positions[outcomeIndex]
      let usd = paid[outcomeIndex] ?? 0
      if (amount === 0 || (usd === 0 && retainsLoser)) continue
      if (payouts[outcomeIndex] === PRICE_ONE && amount > CONTRACT && isPartly(transaction)) {
        amount = sizeMicros(Math.ceil(amount / 3))
        usd = usdMicros(amount)
        this.#plans.add(atMs + REST_AFTER_MS, { kind: 'redeem', holding })
      }
      const size = isNamed({ kind: 'REDEEM', txHash: transaction.txHash }) ? amount : usd
      const details = { market, outcomeIndex, size, usd, atMs, transaction }
      ledger.redeem(holding, toNumber(payouts[outcomeIndex]), operation('REDEEM', details))
      this.#count(ledger)
    }
  }

  #transaction(): Transaction {
    this.#operationCount += 1
    return new OwnTransaction(this.#ids, this.#operationCount)
  }

  // Checks a few thousand entries. Calls are rare, so an index is not worth its memory.
  #holdersOf(market: SimMarket): readonly WalletHolding[] {
    const found: WalletHolding[] = []
    for (const { holdings } of this.#accounts.values()) {
      const holding = holdings.get(market)
      if (holding !== undefined) found.push(holding)
    }
    return found
  }

  #count(account: WalletAccount): void {
    this.#order.push(account)
    if (this.#order.length > this.#countMax) {
      const { atMs } = account.events.at(-1) ?? { atMs: TIME_ZERO }
      this.#dropOldest(Math.ceil(this.#countMax / 10), atMs)
    }
  }

  /** Drops the oldest `count` events. Drops holdings without a later event that are empty or resolved by `atMs`. */
  #dropOldest(count: number, atMs: TimeMs): void {
    const counts = new Map<WalletAccount, number>()
    for (const account of this.#order.slice(0, count)) {
      counts.set(account, (counts.get(account) ?? 0) + 1)
    }
    this.#order = this.#order.slice(count)
    for (const [account, lost] of counts) {
      account.events.splice(0, lost)
      account.droppedEventCount += lost
    }
    const oldestMs = this.#order[0]?.events[0]?.atMs ?? TIME_ZERO
    const isStale = (holding: WalletHolding): boolean =>
      holding.lastMs < oldestMs && (holding.isEmpty || holding.market.listing.resolveMs <= atMs)
    for (const { holdings } of this.#accounts.values()) {
      for (const [market, holding] of holdings) if (isStale(holding)) holdings.delete(market)
    }
  }
}

function* inOrder(
  order: readonly WalletAccount[],
  lists: ReadonlyMap<WalletAccount, Iterator<SimWalletEvent>>,
): Generator<readonly [WalletAccount, SimWalletEvent]> {
  for (const account of order) {
    const next = lists.get(account)?.next()
    if (next?.done === false) yield [account, next.value]
  }
}

export function operationSeed(seed: number): number {
  return hash32('wallet operations', seed)
}

function operation(
  kind: WalletOperation['kind'],
  fields: {
    readonly market: SimMarket | null
    readonly outcomeIndex?: 0 | 1
    readonly size: number
    readonly usd: number
    readonly atMs: TimeMs
    readonly transaction: Transaction
  },
): WalletOperation {
  const { market, outcomeIndex = null, atMs, transaction } = fields
  const [size, usd] = [sizeMicros(fields.size), usdMicros(fields.usd)]
  return new WalletOperation({ kind, atMs, market, outcomeIndex, size, usd, transaction })
}

function participantOf(trade: SimTrade, participant: number): SimWallet | undefined {
  return participant === 0 ? trade.taker : trade.makers[participant - 1]?.wallet
}

function payoutsOf({ listing }: SimMarket): readonly [PriceMicros, PriceMicros] {
  return [listing.payout, complement(listing.payout)]
}
