// The contract of storage.ts in Maps and arrays, with nothing shared with LMDB's side: for tests,
// for running without a disk, and as the naive twin that test/contract/storage.ts judges
// LmdbStorage by. Nothing survives close(). Bounded by retention alone, so not for long runs.

import { assert } from '../engine/errors.ts'
import type { AccountId, KeyId, NativeEventId, NativeMarketId, VenueKey } from '../engine/ids.ts'
import type { EventListing, MarketListing, MarketNumber } from '../engine/market.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type {
  AccountRecord,
  AccountTable,
  Checkpoint,
  CheckpointTable,
  EventSummary,
  EventTable,
  HourTicks,
  KeyRecord,
  ListingDetails,
  MarketSummary,
  MarketTable,
  MarkTable,
  Run,
  RunTable,
  Storage,
  StoredTrade,
  TickTable,
  TradePosition,
  TradeTable,
} from './storage.ts'

const HOUR_MS = 3_600_000
const DAY_HOURS = 24
/** A guess at what a row would take on disk, for the size bound. */
const TRADE_BYTES = 500
const TICK_BYTES = 3

/** Opens an empty storage in memory. */
export function openMemoryStorage(): Storage {
  return new MemoryStorage()
}

class MemoryMarkets implements MarketTable {
  readonly #numbers = new Map<string, MarketNumber>()
  readonly #summaries: MarketSummary[] = []
  readonly #details: ListingDetails[] = []

  put(listing: MarketListing): MarketNumber {
    const id = `${listing.venue}${listing.nativeId}`
    const number = this.#numbers.get(id) ?? this.#summaries.length + 1
    const { description, native, ...summary } = listing
    this.#numbers.set(id, number)
    this.#summaries[number - 1] = summary
    this.#details[number - 1] = { description, native }
    return number
  }

  putSummary(number: MarketNumber, summary: MarketSummary): void {
    this.#summaries[number - 1] = summary
  }

  number(venue: VenueKey, nativeId: NativeMarketId): MarketNumber | null {
    return this.#numbers.get(`${venue}${nativeId}`) ?? null
  }

  details(number: MarketNumber): ListingDetails | null {
    return this.#details[number - 1] ?? null
  }

  all(): Iterable<{ readonly number: MarketNumber; readonly summary: MarketSummary }> {
    return this.#summaries.map((summary, index) => ({ number: index + 1, summary }))
  }

  count(): number {
    return this.#summaries.length
  }
}

class MemoryEvents implements EventTable {
  readonly #listings = new Map<string, { summary: EventSummary; details: ListingDetails }>()

  put(listing: EventListing): void {
    const { description, native, ...summary } = listing
    const id = `${listing.venue}${listing.nativeId}`
    this.#listings.set(id, { summary, details: { description, native } })
  }

  details(venue: VenueKey, nativeId: NativeEventId): ListingDetails | null {
    return this.#listings.get(`${venue}${nativeId}`)?.details ?? null
  }

  all(): Iterable<EventSummary> {
    return [...this.#listings.values()].map((listing) => listing.summary)
  }

  count(): number {
    return this.#listings.size
  }
}

class MemoryTrades implements TradeTable {
  /** Each market's trades by time, then ordinal. */
  readonly #byMarket = new Map<MarketNumber, StoredTrade[]>()
  readonly #byId = new Map<string, StoredTrade>()

  has(market: MarketNumber, nativeId: string): boolean {
    return this.#byId.has(`${market} ${nativeId}`)
  }

  put(market: MarketNumber, trade: Omit<StoredTrade, 'ordinal'>): StoredTrade {
    assert(!this.has(market, trade.nativeId), 'a trade is stored once')
    const list = this.#byMarket.get(market) ?? []
    const end = lowerBound(list, trade.timeMs + 1)
    const before = list[end - 1]
    const ordinal = before !== undefined && before.timeMs === trade.timeMs ? before.ordinal + 1 : 0
    const stored: StoredTrade = { ...trade, ordinal }
    list.splice(end, 0, stored)
    this.#byMarket.set(market, list)
    this.#byId.set(`${market} ${trade.nativeId}`, stored)
    return stored
  }

  setMaker(market: MarketNumber, nativeId: string, maker: string | null): void {
    const known = this.get(market, nativeId)
    const list = this.#byMarket.get(market)
    if (known === null || list === undefined) return
    const changed = { ...known, maker }
    list[list.indexOf(known)] = changed
    this.#byId.set(`${market} ${nativeId}`, changed)
  }

  get(market: MarketNumber, nativeId: string): StoredTrade | null {
    return this.#byId.get(`${market} ${nativeId}`) ?? null
  }

  range(query: {
    market: MarketNumber
    fromMs: TimeMs
    toMs: TimeMs
    after: TradePosition | null
    order: 'asc' | 'desc'
    limit: number
  }): readonly StoredTrade[] {
    const list = this.#byMarket.get(query.market) ?? []
    const rows = list.slice(lowerBound(list, query.fromMs), lowerBound(list, query.toMs + 1))
    if (query.order === 'desc') rows.reverse()
    const { after, order } = query
    const kept = after === null ? rows : rows.filter((row) => follows(row, after, order))
    return kept.slice(0, Math.max(query.limit, 0))
  }

  rangeByOffset(query: {
    run: number
    offset: number
    limit: number
  }): readonly { readonly market: MarketNumber; readonly trade: StoredTrade }[] {
    const found: { market: MarketNumber; trade: StoredTrade; offset: number }[] = []
    for (const [market, list] of this.#byMarket) {
      for (const trade of list) {
        const { run, offset } = trade
        if (run !== query.run || offset === null || offset <= query.offset) continue
        found.push({ market, trade, offset })
      }
    }
    found.sort((one, other) => one.offset - other.offset)
    return found.slice(0, Math.max(query.limit, 0)).map(({ market, trade }) => ({ market, trade }))
  }

  newestMs(market: MarketNumber): TimeMs | null {
    return this.#byMarket.get(market)?.at(-1)?.timeMs ?? null
  }

  count(): number {
    return this.#byId.size
  }

  /** The oldest hour with trades, over all markets. */
  oldestHour(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const list of this.#byMarket.values()) {
      oldest = Math.min(oldest, Math.floor((list[0]?.timeMs ?? Number.POSITIVE_INFINITY) / HOUR_MS))
    }
    return oldest
  }

  /** Removes at most `rowsMax` trades of that hour and before; how many. */
  removeHour(hour: number, rowsMax: number): number {
    let removed = 0
    for (const [market, list] of this.#byMarket) {
      const end = lowerBound(list, (hour + 1) * HOUR_MS)
      for (const trade of list.splice(0, Math.min(end, rowsMax - removed))) {
        this.#byId.delete(`${market} ${trade.nativeId}`)
        removed += 1
      }
    }
    return removed
  }
}

class MemoryTicks implements TickTable {
  readonly #byMarket = new Map<MarketNumber, Map<number, HourTicks>>()

  put(market: MarketNumber, hour: number, ticks: HourTicks): void {
    const hours = this.#byMarket.get(market) ?? new Map<number, HourTicks>()
    hours.set(hour, { seconds: [...ticks.seconds], prices: [...ticks.prices] })
    this.#byMarket.set(market, hours)
  }

  get(market: MarketNumber, hour: number): HourTicks | null {
    return this.#byMarket.get(market)?.get(hour) ?? null
  }

  at(market: MarketNumber, time: TimeMs): ReturnType<TickTable['at']> {
    let best: ReturnType<TickTable['at']> = null
    for (const [hour, ticks] of this.#byMarket.get(market) ?? []) {
      ticks.prices.forEach((price, index) => {
        const tickMs = timeMs(hour * HOUR_MS + (ticks.seconds[index] ?? 0) * 1000)
        const isBetter = best === null || tickMs > best.timeMs
        if (tickMs <= time && isBetter) best = { price, timeMs: tickMs }
      })
    }
    return best
  }

  oldestHour(market: MarketNumber): number | null {
    const hours = [...(this.#byMarket.get(market)?.keys() ?? [])]
    return hours.length === 0 ? null : Math.min(...hours)
  }

  /** The oldest hour with ticks, over all markets. */
  oldest(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const hours of this.#byMarket.values()) oldest = Math.min(oldest, ...hours.keys())
    return oldest
  }

  removeHour(hour: number, rowsMax: number): number {
    let removed = 0
    for (const hours of this.#byMarket.values()) {
      if (removed < rowsMax && hours.delete(hour)) removed += 1
    }
    return removed
  }

  sizeBytes(): number {
    let ticks = 0
    for (const hours of this.#byMarket.values()) {
      for (const hour of hours.values()) ticks += hour.seconds.length
    }
    return ticks * TICK_BYTES
  }
}

class MemoryCheckpoints implements CheckpointTable {
  readonly #checkpoints = new Map<MarketNumber, Checkpoint>()

  put(market: MarketNumber, checkpoint: Checkpoint): void {
    this.#checkpoints.set(market, checkpoint)
  }

  get(market: MarketNumber): Checkpoint | null {
    return this.#checkpoints.get(market) ?? null
  }
}

class MemoryRuns implements RunTable {
  readonly #runs: Run[] = []

  begin(epoch: string, startedAtMs: TimeMs): Run {
    const run = { number: this.#runs.length + 1, epoch, startedAtMs }
    this.#runs.push(run)
    return run
  }

  all(): readonly Run[] {
    return [...this.#runs]
  }
}

class MemoryMarks implements MarkTable {
  readonly #marks = new Map<string, number>()

  get(name: string): number | null {
    return this.#marks.get(name) ?? null
  }

  put(name: string, value: number): void {
    this.#marks.set(name, value)
  }
}

class MemoryAccounts implements AccountTable {
  readonly #accounts = new Map<AccountId, AccountRecord>()
  readonly #keys = new Map<KeyId, KeyRecord>()

  accounts(): Iterable<AccountRecord> {
    return [...this.#accounts.values()]
  }

  keys(): Iterable<KeyRecord> {
    return [...this.#keys.values()]
  }

  async putAccount(record: AccountRecord): Promise<void> {
    this.#accounts.set(record.id, record)
  }

  async putKey(record: KeyRecord): Promise<void> {
    this.#keys.set(record.id, record)
  }

  async removeKey(id: KeyId): Promise<void> {
    this.#keys.delete(id)
  }
}

class MemoryStorage implements Storage {
  readonly markets = new MemoryMarkets()
  readonly events = new MemoryEvents()
  readonly trades = new MemoryTrades()
  readonly ticks = new MemoryTicks()
  readonly checkpoints = new MemoryCheckpoints()
  readonly runs = new MemoryRuns()
  readonly marks = new MemoryMarks()
  readonly accounts = new MemoryAccounts()

  outstandingWrites(): number {
    return 0
  }

  isHealthy(): boolean {
    return true
  }

  sizeBytes(): number {
    return this.trades.count() * TRADE_BYTES + this.ticks.sizeBytes()
  }

  prune(limits: {
    nowMs: TimeMs
    retentionDays: number
    sizeBytesMax: number
    rowsMax: number
  }): boolean {
    const firstKeptHour = Math.floor(limits.nowMs / HOUR_MS) - limits.retentionDays * DAY_HOURS
    let rowsLeft = limits.rowsMax
    for (;;) {
      const hour = Math.min(this.trades.oldestHour(), this.ticks.oldest())
      const isTooLarge = this.sizeBytes() > limits.sizeBytesMax
      if (hour === Number.POSITIVE_INFINITY || (hour >= firstKeptHour && !isTooLarge)) return false
      if (rowsLeft <= 0) return true
      rowsLeft -= this.trades.removeHour(hour, rowsLeft)
      rowsLeft -= this.ticks.removeHour(hour, rowsLeft)
    }
  }

  async committed(): Promise<void> {}

  async close(): Promise<void> {}
}

/** Index of the first trade at or after `time`. */
function lowerBound(list: readonly StoredTrade[], time: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const trade = list[middle]
    if (trade !== undefined && trade.timeMs < time) low = middle + 1
    else high = middle
  }
  return low
}

function follows(row: StoredTrade, after: TradePosition, order: 'asc' | 'desc'): boolean {
  if (row.timeMs !== after.timeMs) {
    return order === 'asc' ? row.timeMs > after.timeMs : row.timeMs < after.timeMs
  }
  if (after.ordinal === null) return false
  return order === 'asc' ? row.ordinal > after.ordinal : row.ordinal < after.ordinal
}
