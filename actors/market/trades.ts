// A market's trades. Each trade is converted to the first outcome, stored once, cached, and added to the bars of its
// minute and hour in the same event-loop tick. A trade without a wallet is a part of its transaction
// (engine/trade-parts.ts). A later trade with the wallet adds only the size that the parts lack.

import type { Stamp, Trade, TradeEvent, TradeParticipantEvent } from '../../engine/events.ts'
import { tradeRingCount } from '../../engine/limits.ts'
import { type Bar, type BarSize, barOf, joined } from '../../engine/market/candle.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { TradeRing } from '../../engine/market/trade-ring.ts'
import type { TradeCompletion } from '../../engine/publisher.ts'
import { isPart, partId, restPrice } from '../../engine/trade-parts.ts'
import {
  complement,
  notionalMicros,
  sizeMicros,
  TIME_END,
  TIME_ZERO,
  type TimeMs,
  timeMs,
} from '../../engine/units.ts'
import type {
  BarTable,
  Storage,
  StoredTrade,
  TradedMarket,
  TradeTable,
} from '../../storage/contract/storage.ts'
import { storedTrade } from '../../storage/records/trade.ts'
import type { SliceQuery } from '../views.ts'

/**
 * Limits of transactions whose makers may still become known: number, and age in ms. The age is two intervals of the
 * poll for missed trades. Beyond either limit each new transaction evicts the two oldest.
 */
const TRANSACTIONS_MAX = 64
const TRANSACTION_MS_MAX = 120_000
const EVICTED_PER_TRANSACTION = 2

const PARTS_MAX = 256
const BLOCKS_MAX = 16
/** Tolerance between a sum of sizes and the total, in millionths of a contract. */
const SIZE_NOISE = 2
/** Maximum time between two trades of one transaction, over all sources. */
const TRANSACTION_APART_MS = 60_000
/** Maximum stored trades that are read to find a transaction of an earlier run. */
const SCANNED_MAX = 10_000

export interface CompletedTrade {
  readonly trade: StoredTrade
  readonly completion: TradeCompletion
}

/** `event` is null if the trade adds nothing. `completed`: stored trades whose wallet became known. */
interface Unstored {
  readonly event: TradeEvent | null
  readonly completed: readonly CompletedTrade[]
}

/** Append to the lists with `concat`. Most lists have one item, and V8 over-allocates with `push` or spread. */
interface Transaction {
  readonly sinceMs: TimeMs
  nativeIds: readonly string[]
  wallets: readonly string[]
}
const NONE: readonly never[] = []

type Participant = Pick<TradeParticipantEvent, 'txHash' | 'wallet' | 'receivedAtMs'>

type TradeStorage = Pick<Storage, 'trades' | 'bars' | 'pruneCount'>

export class MarketTrades {
  readonly #market: TradedMarket
  readonly #storage: TradeStorage
  #bars: MarketBars | null = null
  #ring: TradeRing<StoredTrade> | null = null
  #unreadCount = 0
  #transactions: Map<string, Transaction> | null = null
  #earlierToMs: number | null = null
  #changeCount = 0

  constructor(market: TradedMarket, storage: TradeStorage) {
    this.#market = market
    this.#storage = storage
  }

  get #table(): TradeTable {
    return this.#storage.trades
  }

  get version(): number {
    return this.#changeCount + this.#storage.pruneCount
  }

  has(nativeId: string): boolean {
    return this.#table.has(this.#market.number, nativeId)
  }

  /**
   * Returns the part of a trade that is not stored. A trade without a wallet is stored if its transaction has a trade
   * with a wallet. A trade with a wallet gives stored trades of its transaction that wallet, and adds only the size
   * that they lack.
   */
  unstored(event: TradeEvent, outcomeIndex: number): Unstored {
    const { txHash, taker } = event
    if (txHash === null) return { event, completed: [] }
    if (taker === null) {
      const hasTaker = this.#openRing().has((row) => row.txHash === txHash && row.taker !== null)
      return { event: hasTaker ? null : event, completed: [] }
    }
    const parts = this.#partsOf(txHash)
    const existing = [...parts, ...this.#ofTransaction(event, outcomeIndex)]
    if (existing.length === 0) return { event, completed: [] }
    const completed = parts.flatMap((part) =>
      part.taker === null ? [this.#complete(part, taker)] : [],
    )
    const rowSize = event.rowSize ?? event.size
    const missing = rowSize - existing.reduce((sum, { size }) => sum + size, 0)
    if (missing <= SIZE_NOISE) return { event: null, completed }
    const nativeId = parts.length === 0 ? event.nativeId : partId(txHash, parts.length)
    if (missing >= event.size) return { event: { ...event, nativeId }, completed }
    const total = { price: event.price, size: rowSize }
    const traded = existing.map(({ price, size }) => ({
      price: outcomeIndex === 0 ? price : complement(price),
      size,
    }))
    const price = rowSize === event.size ? restPrice(total, traded) : null
    const rest = { nativeId, size: sizeMicros(missing), price: price ?? event.price }
    return { event: { ...event, ...rest }, completed }
  }

  #ofTransaction(event: TradeEvent, outcomeIndex: number): readonly StoredTrade[] {
    const { txHash, taker, venueTimeMs, source } = event
    const { number } = this.#market
    const side = (outcomeIndex === 0) === (event.side === 'buy') ? 'buy' : 'sell'
    const isOfRow = (trade: StoredTrade) =>
      trade.txHash === txHash &&
      trade.taker === taker &&
      trade.outcomeIndex === outcomeIndex &&
      trade.side === side &&
      !isPart(trade.nativeId)
    const ids = (txHash === null ? null : this.#transactions?.get(txHash)?.nativeIds) ?? NONE
    const ofRun = ids.flatMap((id) => this.#table.get(number, id) ?? []).filter(isOfRow)
    if (ofRun.length > 0 || source !== 'backfill') return ofRun
    // In this run each streamed trade has its own id, so `has` finds it. An earlier run may have stored it as single
    // fills.
    if (venueTimeMs > this.#earlierTo() + TRANSACTION_APART_MS) return NONE
    return this.#table
      .range({
        market: number,
        fromMs: timeMs(venueTimeMs - TRANSACTION_APART_MS),
        toMs: timeMs(venueTimeMs + TRANSACTION_APART_MS),
        after: null,
        order: 'desc',
        limit: SCANNED_MAX,
      })
      .filter(isOfRow)
  }

  #earlierTo(): number {
    this.#earlierToMs ??= this.#table.newestMs(this.#market.number) ?? Number.NEGATIVE_INFINITY
    return this.#earlierToMs
  }

  #partsOf(txHash: string): readonly StoredTrade[] {
    const parts: StoredTrade[] = []
    while (parts.length < PARTS_MAX) {
      const part = this.#table.get(this.#market.number, partId(txHash, parts.length))
      if (part === null) break
      parts.push(part)
    }
    return parts
  }

  #complete(part: StoredTrade, taker: string): CompletedTrade {
    const { number } = this.#market
    this.#table.setTaker(number, part.nativeId, taker)
    this.#changeCount += 1
    const { ordinal, maker } = part
    const completed = storedTrade(part, { ordinal, maker, taker })
    this.#ring?.replace(completed)
    const transaction = part.txHash === null ? undefined : this.#transactions?.get(part.txHash)
    if (transaction !== undefined) this.#completeMakers(transaction)
    const otherWallets = (transaction?.wallets ?? NONE).filter((wallet) => wallet !== taker)
    return {
      trade: completed,
      completion: { role: 'taker', wallet: taker, previousWallets: otherWallets },
    }
  }

  /** The caller checks with `has` that the trade is new. Price and side are converted to the first outcome. */
  add(event: TradeEvent, outcomeIndex: number, stamp: Stamp | null, run: number): StoredTrade {
    const isFirst = outcomeIndex === 0
    this.#changeCount += 1
    this.#earlierTo()
    const trade = this.#table.put(this.#market, {
      nativeId: event.nativeId,
      timeMs: event.venueTimeMs,
      price: isFirst ? event.price : complement(event.price),
      size: event.size,
      side: isFirst === (event.side === 'buy') ? 'buy' : 'sell',
      outcomeIndex,
      usd: notionalMicros(event),
      maker: event.maker,
      taker: event.taker,
      txHash: event.txHash,
      isBlock: event.isBlock,
      receivedAtMs: event.receivedAtMs,
      run: stamp === null ? null : run,
      offset: stamp?.offset ?? null,
      seq: stamp?.seq ?? null,
    })
    this.#ring?.push(trade)
    this.#unreadCount += 1
    // Releases a ring that was not read for `tradeRingCount` trades. Unread rings would be the largest part of the
    // heap.
    if (this.#unreadCount >= tradeRingCount) this.#ring = null
    if (!trade.isBlock) {
      this.#bars ??= new MarketBars(this.#market.number, this.#storage.bars)
      this.#bars.add(trade)
    }
    if (trade.txHash !== null) {
      const transaction = this.#transaction(trade.txHash, event.receivedAtMs)
      transaction.nativeIds = transaction.nativeIds.concat(trade.nativeId)
      this.#completeMakers(transaction)
    }
    return trade
  }

  /**
   * Adds a wallet to a transaction. A wallet that is the only one besides the taker is stored as the maker. Returns the
   * trades of which this wallet may be the maker.
   */
  addParticipant({ txHash, wallet, receivedAtMs }: Participant): readonly CompletedTrade[] {
    const transaction = this.#transaction(txHash, receivedAtMs)
    if (transaction.wallets.includes(wallet)) return NONE
    transaction.wallets = transaction.wallets.concat(wallet)
    this.#completeMakers(transaction)
    return transaction.nativeIds.flatMap((nativeId) => {
      const trade = this.#table.get(this.#market.number, nativeId)
      if (trade === null || trade.taker === wallet) return []
      return this.#makersOf(trade, transaction).slice(-1)
    })
  }

  makersOf({ txHash, nativeId }: StoredTrade): readonly CompletedTrade[] {
    const transaction = txHash === null ? undefined : this.#transactions?.get(txHash)
    if (transaction === undefined || transaction.wallets.length === 0) return NONE
    const trade = this.#table.get(this.#market.number, nativeId)
    return trade === null ? NONE : this.#makersOf(trade, transaction)
  }

  /** One entry per wallet of the transaction except the taker, in order of arrival. */
  #makersOf(trade: StoredTrade, { wallets }: Transaction): readonly CompletedTrade[] {
    const taker = trade.taker === null ? NONE : [trade.taker]
    const makers = wallets.filter((wallet) => wallet !== trade.taker)
    return makers.map((wallet, index) => ({
      trade,
      completion: { role: 'maker', wallet, previousWallets: [...taker, ...makers.slice(0, index)] },
    }))
  }

  #completeMakers(transaction: Transaction): void {
    if (transaction.wallets.length === 0) return
    for (const nativeId of transaction.nativeIds) {
      const trade = this.#table.get(this.#market.number, nativeId)
      if (trade === null) continue
      const makers = transaction.wallets.filter((wallet) => wallet !== trade.taker)
      const maker = makers.length === 1 ? (makers[0] ?? null) : null
      if (maker === trade.maker) continue
      this.#table.setMaker(this.#market.number, nativeId, maker)
      this.#changeCount += 1
      this.#ring?.replace(storedTrade(trade, { ordinal: trade.ordinal, maker }))
    }
  }

  #transaction(txHash: string, atMs: TimeMs): Transaction {
    this.#transactions ??= new Map()
    const existing = this.#transactions.get(txHash)
    if (existing !== undefined) return existing
    for (let left = EVICTED_PER_TRANSACTION; left > 0; left -= 1) {
      const [oldest] = this.#transactions
      const isFull = this.#transactions.size >= TRANSACTIONS_MAX
      if (oldest !== undefined && (isFull || oldest[1].sinceMs < atMs - TRANSACTION_MS_MAX)) {
        this.#transactions.delete(oldest[0])
      }
    }
    const made = { sinceMs: atMs, nativeIds: NONE, wallets: NONE }
    this.#transactions.set(txHash, made)
    return made
  }

  slice(query: SliceQuery): readonly StoredTrade[] {
    const fromRing = this.#sliceOfRing(query)
    return fromRing ?? this.#table.range({ ...query, market: this.#market.number })
  }

  /** The newest trade that is not a block trade. Null if the newest {@link BLOCKS_MAX} are all block trades. */
  newestPriced(): StoredTrade | null {
    const range = { fromMs: TIME_ZERO, toMs: TIME_END, after: null, order: 'desc' } as const
    const market = this.#market.number
    const [newest] = this.#table.range({ ...range, market, limit: 1 })
    if (newest?.isBlock !== true) return newest ?? null
    const some = this.#table.range({ ...range, market, limit: BLOCKS_MAX })
    return some.find(({ isBlock }) => !isBlock) ?? null
  }

  #sliceOfRing({ fromMs, toMs, after, order, limit }: SliceQuery): StoredTrade[] | null {
    if (order !== 'desc' || after !== null) return null
    const ring = this.#openRing()
    const rows: StoredTrade[] = []
    let hasAll = !ring.isFull
    for (const row of ring.newest()) {
      if (row.timeMs > toMs) continue
      hasAll ||= row.timeMs < fromMs || rows.length === limit
      if (row.timeMs < fromMs || rows.length === limit) break
      rows.push(row)
    }
    if (!hasAll && rows.length < limit) return null
    // Retention removes the oldest trades first. If the oldest trade of the slice is stored, all are.
    const last = rows.at(-1)
    if (last === undefined || this.has(last.nativeId)) return rows
    this.#ring = null
    return null
  }

  #openRing(): TradeRing<StoredTrade> {
    this.#unreadCount = 0
    if (this.#ring !== null) return this.#ring
    const ring = new TradeRing<StoredTrade>(tradeRingCount)
    const stored = this.#table.range({
      market: this.#market.number,
      fromMs: TIME_ZERO,
      toMs: TIME_END,
      after: null,
      order: 'desc',
      limit: tradeRingCount,
    })
    for (const row of stored.toReversed()) ring.push(row)
    this.#ring = ring
    return ring
  }

  release(): void {
    this.#ring = null
    this.#bars = null
    this.#transactions = null
  }
}

const SIZES: readonly BarSize[] = ['minute', 'hour']

/**
 * The bars of one market. Trades may arrive in any order. The last written bar of each size is cached, so that a busy
 * market does not read the disk.
 */
export class MarketBars {
  readonly #market: MarketNumber
  readonly #table: BarTable
  readonly #running = new Map<BarSize, Bar>()

  constructor(market: MarketNumber, table: BarTable) {
    this.#market = market
    this.#table = table
  }

  /** Must be called exactly once for each stored trade. */
  add(trade: Trade): void {
    for (const size of SIZES) {
      const bar = barOf(size, trade)
      const running = this.#running.get(size)
      const previous =
        running?.startMs === bar.startMs
          ? running
          : this.#table.get(this.#market, size, bar.startMs)
      const merged = previous === null ? bar : joined(previous, bar)
      this.#table.put(this.#market, size, merged)
      this.#running.set(size, merged)
    }
  }
}
