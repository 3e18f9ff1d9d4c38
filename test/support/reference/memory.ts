// The interfaces of storage.ts with Maps and arrays, independent of LMDB: for tests, for running without a disk, and as
// the reference implementation with which test/contract/storage.ts compares LmdbStorage. Parts are in memory/. Nothing
// survives close(). Only retention bounds it, so it is not for long runs.

import type {
  AccountId,
  KeyId,
  NativeEventId,
  NativeMarketId,
  VenueKey,
} from '../../../engine/ids.ts'
import { lossesOfRunMax, retainedRunsMax, snapshotRetentionDays } from '../../../engine/limits.ts'
import type { EventListing, MarketListing, MarketNumber } from '../../../engine/market/market.ts'
import { firstRetainedHour } from '../../../engine/retention-time.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../../../engine/units.ts'
import type {
  AccountRecord,
  AccountTable,
  Checkpoint,
  CheckpointTable,
  EndedToken,
  EventSummary,
  EventTable,
  HourTicks,
  KeyRecord,
  ListingDetails,
  LossTable,
  MarketSummary,
  MarketTable,
  MarkTable,
  PruneLimits,
  Run,
  RunTable,
  Storage,
  TickTable,
  TradeLoss,
} from '../../../storage/contract/storage.ts'
import {
  MemoryBars,
  MemoryCoverage,
  MemoryPastPrices,
  MemorySnapshots,
} from './memory/histories.ts'
import { MemoryMatches, MemoryMatchOverrides } from './memory/matches.ts'
import { MemoryOpportunities } from './memory/opportunities.ts'
import { MemoryOutbox } from './memory/outbox.ts'
import { MemoryTrades } from './memory/trades.ts'
import { MemoryWallets } from './memory/wallets.ts'
import { MemoryWebhooks } from './memory/webhooks.ts'
import { MemoryWhales } from './memory/whales.ts'

/** Estimated bytes of a row on disk, for the size limit. */
const TRADE_BYTES = 500
const TICK_BYTES = 3
const BAR_BYTES = 90
const SNAPSHOT_BYTES = 200
const DAY_BYTES = 1_000

export function openMemoryStorage(): Storage {
  return new MemoryStorage()
}

class MemoryMarkets implements MarketTable {
  readonly #owned: readonly { removeMarket(market: MarketNumber): void }[]
  readonly #numbers = new Map<string, MarketNumber>()
  /** In order of number, since numbers ascend and are never reused. */
  readonly #summaries = new Map<MarketNumber, MarketSummary>()
  readonly #details = new Map<MarketNumber, ListingDetails>()
  #last = 0

  constructor(owned: readonly { removeMarket(market: MarketNumber): void }[]) {
    this.#owned = owned
  }

  put(listing: MarketListing): MarketNumber {
    const id = `${listing.venue}${listing.nativeId}`
    const number = this.#numbers.get(id) ?? this.#last + 1
    const { description, native, ...summary } = listing
    this.#last = Math.max(this.#last, number)
    this.#numbers.set(id, number)
    this.#summaries.set(number, summary)
    this.#details.set(number, { description, native })
    return number
  }

  putSummary(number: MarketNumber, summary: MarketSummary): void {
    if (this.#summaries.has(number)) this.#summaries.set(number, summary)
  }

  remove(number: MarketNumber): void {
    const summary = this.#summaries.get(number)
    if (summary === undefined) return
    this.#numbers.delete(`${summary.venue}${summary.nativeId}`)
    this.#summaries.delete(number)
    this.#details.delete(number)
    for (const table of this.#owned) table.removeMarket(number)
  }

  number(venue: VenueKey, nativeId: NativeMarketId): MarketNumber | null {
    return this.#numbers.get(`${venue}${nativeId}`) ?? null
  }

  details(number: MarketNumber): ListingDetails | null {
    return this.#details.get(number) ?? null
  }

  all(): Iterable<{ readonly number: MarketNumber; readonly summary: MarketSummary }> {
    return Array.from(this.#summaries, ([number, summary]) => ({ number, summary }))
  }

  count(): number {
    return this.#summaries.size
  }
}

class MemoryEvents implements EventTable {
  readonly #listings = new Map<string, { summary: EventSummary; details: ListingDetails }>()

  put(listing: EventListing): void {
    const { description, native, ...summary } = listing
    const id = `${listing.venue}${listing.nativeId}`
    this.#listings.set(id, { summary, details: { description, native } })
  }

  remove(venue: VenueKey, nativeId: NativeEventId): void {
    this.#listings.delete(`${venue}${nativeId}`)
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
  firstHour(): number {
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

  removeMarket(market: MarketNumber): void {
    this.#checkpoints.delete(market)
  }
}

class MemoryRuns implements RunTable {
  readonly #runs: Run[] = []

  begin(epoch: string, startedAtMs: TimeMs): Run {
    const number = (this.#runs.at(-1)?.number ?? 0) + 1
    const run = { number, epoch, startedAtMs, endOffset: null }
    this.#runs.push(run)
    return run
  }

  end(number: number, endOffset: number): void {
    const index = this.#runs.findIndex((run) => run.number === number)
    const run = this.#runs[index]
    if (run !== undefined) this.#runs[index] = { ...run, endOffset }
  }

  all(): readonly Run[] {
    return [...this.#runs]
  }

  /** Removes at most `rowsMax` of the oldest runs, except those that `hasTrades` and the last one. */
  prune(rowsMax: number, hasTrades: (run: number) => boolean): number {
    let count = 0
    while (count < Math.min(rowsMax, this.#runs.length - 1)) {
      const isTooMany = this.#runs.length - count > retainedRunsMax
      if (!isTooMany && hasTrades(this.#runs[count]?.number ?? 0)) break
      count += 1
    }
    this.#runs.splice(0, count)
    return count
  }
}

class MemoryLosses implements LossTable {
  #losses: TradeLoss[] = []

  put(loss: TradeLoss): void {
    if (this.#losses.filter(({ run }) => run === loss.run).length < lossesOfRunMax) {
      this.#losses.push(loss)
    }
  }

  range({ run, offset }: { run: number; offset: number }): readonly TradeLoss[] {
    return this.#losses
      .filter((loss) => loss.run === run && loss.offset >= offset)
      .sort((one, other) => one.offset - other.offset)
  }

  /** Removes at most `rowsMax` losses of the runs before `run`; returns their count. */
  prune(run: number, rowsMax: number): number {
    const missing = new Set(this.#losses.filter((loss) => loss.run < run).slice(0, rowsMax))
    this.#losses = this.#losses.filter((loss) => !missing.has(loss))
    return missing.size
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
  readonly #endedTokens = new Map<string, EndedToken>()

  accounts(): Iterable<AccountRecord> {
    return [...this.#accounts.values()]
  }

  keys(): Iterable<KeyRecord> {
    return [...this.#keys.values()]
  }

  endedTokens(): Iterable<EndedToken> {
    return [...this.#endedTokens.values()]
  }

  async putAccount(record: AccountRecord): Promise<void> {
    this.#accounts.set(record.id, record)
  }

  async removeAccount(id: AccountId): Promise<void> {
    this.#accounts.delete(id)
  }

  async putKey(record: KeyRecord): Promise<void> {
    this.#keys.set(record.id, record)
  }

  async removeKey(id: KeyId): Promise<void> {
    this.#keys.delete(id)
  }

  async putEndedToken(record: EndedToken): Promise<void> {
    this.#endedTokens.set(record.tokenId, record)
  }

  async removeEndedToken(tokenId: string): Promise<void> {
    this.#endedTokens.delete(tokenId)
  }
}

class MemoryStorage implements Storage {
  readonly checkpoints = new MemoryCheckpoints()
  readonly bars = new MemoryBars()
  readonly pastPrices = new MemoryPastPrices()
  readonly markets = new MemoryMarkets([this.checkpoints, this.bars, this.pastPrices])
  readonly events = new MemoryEvents()
  readonly trades = new MemoryTrades()
  readonly whales = new MemoryWhales()
  readonly snapshots = new MemorySnapshots()
  readonly ticks = new MemoryTicks()
  readonly coverage = new MemoryCoverage()
  readonly runs = new MemoryRuns()
  readonly losses = new MemoryLosses()
  readonly marks = new MemoryMarks()
  readonly accounts = new MemoryAccounts()
  readonly webhooks = new MemoryWebhooks()
  readonly outbox = new MemoryOutbox()
  readonly matches = new MemoryMatches()
  readonly opportunities = new MemoryOpportunities()
  readonly matchOverrides = new MemoryMatchOverrides()
  readonly wallets = new MemoryWallets()

  outstandingWrites(): number {
    return 0
  }

  isHealthy(): boolean {
    return true
  }

  sizeBytes(): number {
    const [trades, bars] = [this.trades.count() * TRADE_BYTES, this.bars.count * BAR_BYTES]
    const snapshots = this.snapshots.count() * SNAPSHOT_BYTES
    const days = this.pastPrices.count * DAY_BYTES
    return trades + bars + snapshots + days + this.ticks.sizeBytes()
  }

  pruneCount = 0

  prune(limits: PruneLimits): boolean {
    this.pruneCount += 1
    const firstKept = firstRetainedHour(limits.nowMs, limits.retentionDays)
    const stored = new Map<object, number>([
      [this.snapshots, firstRetainedHour(limits.nowMs, snapshotRetentionDays)],
      [this.pastPrices, Number.NEGATIVE_INFINITY],
    ])
    const tables = [this.trades, this.ticks, this.bars, this.pastPrices, this.snapshots]
    let rowsLeft = limits.rowsMax
    for (;;) {
      const isTooLarge = this.sizeBytes() > limits.sizeBytesMax
      // All tables if the size limit is exceeded; otherwise those with expired hours.
      const due = tables.filter((table) => {
        const oldest = stored.get(table) ?? firstKept
        return table.firstHour() < (isTooLarge ? Number.POSITIVE_INFINITY : oldest)
      })
      if (due.length === 0) break
      if (rowsLeft <= 0) return true
      const hour = Math.min(...due.map((table) => table.firstHour()))
      for (const table of due) rowsLeft -= table.removeHour(hour, rowsLeft)
    }
    if (rowsLeft > 0) rowsLeft -= this.coverage.prune(firstKept * HOUR_MS, rowsLeft)
    this.opportunities.prune(firstKept * HOUR_MS)
    if (rowsLeft <= 0) return true
    rowsLeft -= this.runs.prune(rowsLeft, (run) => this.trades.hasRun(run))
    if (rowsLeft <= 0) return true
    return this.losses.prune(this.runs.all()[0]?.number ?? 0, rowsLeft) === rowsLeft
  }

  async overwriteDeleted(): Promise<void> {}

  async backupAccounts(): Promise<void> {}

  async committed(): Promise<void> {}

  async close(): Promise<void> {}
}
