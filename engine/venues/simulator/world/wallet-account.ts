// The ledger of one wallet: events, positions and the venue's figures. Amounts are non-negative integers. Averages and
// realized PnL are floats, computed like the venue's (engine/venues/polymarket/README.md, Wallets).

import {
  notionalMicros,
  type PriceMicros,
  SIZE_ZERO,
  type SizeMicros,
  sizeMicros,
  TIME_ZERO,
  type TimeMs,
  timeMs,
  toSeconds,
  USD_ZERO,
  type UsdMicros,
  usdMicros,
} from '../../../units.ts'
import type { SimMarket, SimWallet, SimWalletEvent } from '../model.ts'
import { isNamed } from './wallet-events.ts'

/** Cost per contract of each outcome in a split or merge. */
const HALF = 0.5

/** Amount, contracts bought, average price, realized PnL, fees, time of the last event. */
type PositionFigures = readonly [number, number, number, number, number, number]

/** A position with the venue's figures. The average price is a running weighted average that sales do not change. */
class WalletPosition {
  amount: SizeMicros = SIZE_ZERO
  bought: SizeMicros = SIZE_ZERO
  averagePrice = 0
  realized = 0
  fees = 0
  lastMs: TimeMs = TIME_ZERO
  /** Amount that was acquired in second `#freshS` and not sold. */
  #fresh = 0
  #freshS = 0

  /** The figures of the position for `restore`. They do not state which amount was acquired in the current second. */
  figures(): PositionFigures {
    return [this.amount, this.bought, this.averagePrice, this.realized, this.fees, this.lastMs]
  }

  restore([amount, bought, averagePrice, realized, fees, lastMs]: PositionFigures): void {
    this.amount = sizeMicros(amount)
    this.bought = sizeMicros(bought)
    this.averagePrice = averagePrice
    this.realized = realized
    this.fees = fees
    this.lastMs = timeMs(lastMs)
  }

  /**
   * The amount without contracts acquired in the current second. Times of rows are in seconds, so clients may order the
   * rows of one second differently.
   */
  settled(atMs: TimeMs): number {
    return toSeconds(atMs) === this.#freshS ? this.amount - this.#fresh : this.amount
  }

  /** `price` is in dollars per contract. It may be negative after a conversion. */
  buy(size: number, price: number, atMs: TimeMs): void {
    const amount = this.amount + size
    if (amount > 0) this.averagePrice = (this.averagePrice * this.amount + price * size) / amount
    this.amount = sizeMicros(amount)
    this.bought = sizeMicros(this.bought + size)
    this.lastMs = atMs
    const second = toSeconds(atMs)
    this.#fresh = second === this.#freshS ? this.#fresh + size : size
    this.#freshS = second
  }

  /** Throws RangeError if the wallet has less, which is a bug of the simulator. */
  sell(size: number, price: number, atMs: TimeMs): void {
    if (size > this.amount) throw new RangeError(`${size} sold of ${this.amount}`)
    this.realized += size * (price - this.averagePrice)
    const fresh = Math.max(0, size - this.settled(atMs))
    if (fresh > 0) this.#fresh -= fresh
    this.amount = sizeMicros(this.amount - size)
    this.lastMs = atMs
  }
}

export class WalletHolding {
  readonly ledger: WalletAccount
  readonly market: SimMarket
  readonly positions = [new WalletPosition(), new WalletPosition()] as const

  constructor(ledger: WalletAccount, market: SimMarket) {
    this.ledger = ledger
    this.market = market
  }

  /** Number of complete sets that can be merged. Excludes contracts acquired in the current second. */
  sets(atMs: TimeMs): number {
    return Math.min(this.positions[0].settled(atMs), this.positions[1].settled(atMs))
  }

  get isEmpty(): boolean {
    return this.positions[0].amount === 0 && this.positions[1].amount === 0
  }

  get lastMs(): TimeMs {
    return this.positions[0].lastMs > this.positions[1].lastMs
      ? this.positions[0].lastMs
      : this.positions[1].lastMs
  }

  /** Payout for redeeming the complete amount of an outcome, rounded down to the micro. */
  worth(outcomeIndex: 0 | 1, payouts: readonly [PriceMicros, PriceMicros]): UsdMicros {
    return notionalMicros({
      price: payouts[outcomeIndex],
      size: this.positions[outcomeIndex].amount,
    })
  }
}

/** The ledger of one wallet. Only world/wallet-ledgers.ts changes it. */
export class WalletAccount {
  readonly wallet: SimWallet
  readonly eoa: string
  readonly firstMs: TimeMs
  readonly events: SimWalletEvent[] = []
  readonly holdings = new Map<SimMarket, WalletHolding>()
  droppedEventCount = 0
  cash: UsdMicros = USD_ZERO
  fees: UsdMicros = USD_ZERO
  income: UsdMicros = USD_ZERO

  constructor(fields: Pick<WalletAccount, 'wallet' | 'eoa' | 'firstMs'>) {
    this.wallet = fields.wallet
    this.eoa = fields.eoa
    this.firstMs = fields.firstMs
  }

  buy(holding: WalletHolding, outcomeIndex: 0 | 1, event: SimWalletEvent): void {
    const position = holding.positions[outcomeIndex]
    position.buy(event.size, priceOf(event), event.atMs)
    position.fees += event.fee
    this.#book(event, -event.usd)
    this.fees = usdMicros(this.fees + event.fee)
  }

  sell(holding: WalletHolding, outcomeIndex: 0 | 1, event: SimWalletEvent): void {
    holding.positions[outcomeIndex].sell(event.size, priceOf(event), event.atMs)
    this.#book(event, event.usd)
    this.fees = usdMicros(this.fees + event.fee)
  }

  split(holding: WalletHolding, event: SimWalletEvent): void {
    for (const position of holding.positions) position.buy(event.size, HALF, event.atMs)
    this.#book(event, -event.usd)
  }

  merge(holding: WalletHolding, event: SimWalletEvent): void {
    for (const position of holding.positions) position.sell(event.size, HALF, event.atMs)
    this.#book(event, event.usd)
  }

  /**
   * `payout`: dollars per contract. A row that names its token states the number of contracts. Otherwise a full payout
   * redeems as many contracts as dollars, and a partial payout redeems all contracts.
   */
  redeem(holding: WalletHolding, payout: number, event: SimWalletEvent): void {
    const position = holding.positions[event.outcomeIndex ?? 0]
    const paid = payout === 1 ? event.usd : position.amount
    position.sell(isNamed(event) ? event.size : paid, payout, event.atMs)
    this.#book(event, event.usd)
  }

  /** Moves an outcome of the old market to the new market at its cost. The row is that of the new market. */
  migrate(from: WalletHolding, to: WalletHolding, event: SimWalletEvent): void {
    const index = event.outcomeIndex ?? 0
    const { averagePrice } = from.positions[index]
    from.positions[index].sell(event.size, averagePrice, event.atMs)
    to.positions[index].buy(event.size, averagePrice, event.atMs)
    this.#book(event, 0)
  }

  /**
   * Gives `size` No contracts of each market in `given` and receives as many Yes contracts in each of `others`.
   * `events` has one row per given market, in order. The first row has the dollars.
   */
  convert(change: {
    readonly size: number
    readonly given: readonly WalletHolding[]
    readonly others: readonly WalletHolding[]
    readonly events: readonly SimWalletEvent[]
  }): void {
    const { size, given, others, events } = change
    const [first] = events
    if (first === undefined) return
    let costs = 0
    for (const { positions } of given) {
      costs += positions[1].averagePrice
      positions[1].sell(size, positions[1].averagePrice, first.atMs)
    }
    const price = (costs - (given.length - 1)) / others.length
    for (const { positions } of others) positions[0].buy(size, price, first.atMs)
    for (const event of events) this.#book(event, event.usd)
  }

  earn(event: SimWalletEvent): void {
    this.events.push(event)
    this.income = usdMicros(this.income + event.usd)
  }

  #book(event: SimWalletEvent, cash: number): void {
    this.events.push(event)
    this.cash = usdMicros(this.cash + cash)
  }
}

function priceOf({ usd, size }: SimWalletEvent): number {
  return size === 0 ? 0 : usd / size
}
