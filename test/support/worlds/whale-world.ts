// Fills that are stored, stamped and published as in the engine. The world can restart with its storage.

import assert from 'node:assert/strict'
import { System } from '../../../actors/system.ts'
import { Whales } from '../../../actors/whales/whales.ts'
import type { WhaleUpdate } from '../../../engine/events.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Publisher } from '../../../engine/publisher.ts'
import {
  complement,
  notionalMicros,
  priceMicros,
  sizeMicros,
  timeMs,
} from '../../../engine/units.ts'
import type {
  Storage,
  StoredTrade,
  StoredWhale,
  WhaleRow,
} from '../../../storage/contract/storage.ts'
import type { ManualClock } from '../fakes/manual-clock.ts'
import { listing, marketRef, NOON } from './builders.ts'
import { marketSummary } from './stored.ts'

/** Default: a single purchase of Yes at 0.5 at the current time. */
export interface WorldFill {
  readonly id: string
  readonly usd: number
  readonly market?: number
  readonly tx?: string | null
  readonly taker?: string | null
  readonly outcomeIndex?: number
  readonly side?: 'buy' | 'sell'
  readonly priceMicros?: number
  readonly maker?: string | null
  readonly atMs?: number
}

export class WhaleWorld {
  readonly storage: Storage
  readonly clock: ManualClock
  readonly publisher: Publisher
  readonly whales: Whales
  readonly metrics = new Metrics()
  readonly published: WhaleUpdate[] = []
  /** Stored rows that were not published to the stream. */
  readonly unpublished: StoredWhale[] = []
  readonly run: number
  readonly unknownMarkets = new Set<number>()
  isHeld = false

  constructor(parts: { storage: Storage; clock: ManualClock; groupsMax?: number }) {
    const { storage, clock } = parts
    this.storage = storage
    this.clock = clock
    const run = storage.runs.begin(`epoch-${storage.runs.all().length}`, clock.nowMs())
    this.run = run.number
    const shared = { log: silentLog, metrics: this.metrics }
    this.publisher = new Publisher({ epoch: run.epoch, ...shared })
    const system = new System({ clock, ...shared, mustHold: () => this.isHeld })
    const { publisher, metrics } = this
    this.whales = new Whales({
      ...{ system, publisher, storage, clock, metrics, run: run.number },
      market: (number) => (this.unknownMarkets.has(number) ? null : viewOf(number)),
      ...(parts.groupsMax === undefined ? {} : { groupsMax: parts.groupsMax }),
    })
    publisher.watch(this.whales)
    this.whales.watch({ onWhaleRow: (_, whale) => this.unpublished.push(whale) })
    publisher.watch({
      name: 'recorder',
      onUpdate: (update) => {
        if (update.kind === 'whale') this.published.push(update)
      },
    })
    this.whales.start()
  }

  /** Stores and publishes a fill. Ignores it if it is already stored. */
  deliver(fill: WorldFill): void {
    this.#take(fill, true)
  }

  /** Stores a fill without publishing it, as past trades are. */
  load(fill: WorldFill): void {
    this.#take(fill, false)
  }

  /** Sets the wallet of a stored fill, as happens when the row of its transaction arrives. */
  complete(id: string, taker: string): void {
    const { ref } = viewOf(1)
    const fill = this.storage.trades.get(ref.number, id)
    assert.ok(fill !== null)
    this.storage.trades.setTaker(ref.number, id, taker)
    this.publisher.publishCompletedTrade(
      ref,
      { ...fill, taker },
      { role: 'taker', wallet: taker, previousWallets: [] },
    )
  }

  #take(fill: WorldFill, isLive: boolean): void {
    const market = viewOf(fill.market ?? 1).ref
    if (this.storage.trades.has(market.number, fill.id)) return
    const stamp = isLive ? this.publisher.stamp('trades', market.number) : null
    const receivedAtMs = this.clock.nowMs()
    const positioned = { receivedAtMs, run: stamp === null ? null : this.run }
    const at = { offset: stamp?.offset ?? null, seq: stamp?.seq ?? null }
    const trade = this.storage.trades.put(market, { ...tradeOf(fill), ...positioned, ...at })
    if (stamp === null) return this.publisher.publishPastTrade(market, trade, receivedAtMs)
    const times = { venueTimeMs: trade.timeMs, receivedAtMs }
    this.publisher.publish({ kind: 'trade', market, ...stamp, ...times, trade })
  }

  rows(): readonly WhaleRow[] {
    return rowsOf(this.storage)
  }

  forget(market: number): void {
    this.unknownMarkets.add(market)
    this.publisher.removeMarket(market)
  }
}

export function rowsOf(storage: Storage): readonly WhaleRow[] {
  const [fromMs, toMs] = [timeMs(0), timeMs(NOON * 2)]
  return storage.whales.range({ fromMs, toMs, after: null, order: 'asc', limit: 100_000 })
}

function viewOf(number: number): {
  ref: MarketRef
  summary: ReturnType<typeof marketSummary>
} {
  return { ref: marketRef(`m${number}`, number), summary: marketSummary(listing(`m${number}`)) }
}

function tradeOf(
  fill: WorldFill,
): Omit<StoredTrade, 'ordinal' | 'receivedAtMs' | 'run' | 'offset' | 'seq'> {
  const traded = priceMicros(fill.priceMicros ?? 500_000)
  const size = sizeMicros(Math.round((fill.usd * 1e12) / traded))
  const price = fill.outcomeIndex === 1 ? complement(traded) : traded
  return {
    nativeId: fill.id,
    timeMs: timeMs(fill.atMs ?? NOON),
    price,
    size,
    side: fill.side ?? 'buy',
    outcomeIndex: fill.outcomeIndex ?? 0,
    usd: notionalMicros({ price: traded, size }),
    maker: fill.maker ?? null,
    taker: fill.taker === undefined ? (fill.tx === undefined ? null : 'taker') : fill.taker,
    txHash: fill.tx ?? null,
    isBlock: false,
  }
}

/** The expected rows, computed from all stored fills at once. */
export function naiveRows(storage: Storage, markets: readonly number[]) {
  const [fromMs, toMs] = [timeMs(0), timeMs(NOON * 2)]
  const rows: unknown[] = []
  for (const market of markets) {
    const query = { market, fromMs, toMs, after: null, order: 'asc', limit: 100_000 } as const
    const groups = new Map<string, StoredTrade[]>()
    for (const trade of storage.trades.range(query)) {
      const { txHash, taker, outcomeIndex, side, nativeId } = trade
      const isAlone = txHash === null || taker === null
      const key = isAlone ? `alone ${nativeId}` : [txHash, taker, outcomeIndex, side].join()
      groups.set(key, [...(groups.get(key) ?? []), trade])
    }
    for (const fills of groups.values()) {
      // The sum is exact to 10^-12 of a dollar and then truncated.
      const paid = fills.reduce((sum, { price, size, outcomeIndex }) => {
        return sum + BigInt(outcomeIndex === 0 ? price : 1_000_000 - price) * BigInt(size)
      }, 0n)
      const usd = Number(paid / 1_000_000n)
      if (usd < 1_000_000_000) continue
      const position = ({ run, offset }: StoredTrade) => (run ?? 1e6) * 1e9 + (offset ?? 0)
      const first = fills.toSorted((one, other) => position(one) - position(other))[0]
      const size = fills.reduce((sum, fill) => sum + fill.size, 0)
      const value = fills.reduce((sum, one) => sum + BigInt(one.price) * BigInt(one.size), 0n)
      const full = value / BigInt(size)
      const isUp = 2n * (value - full * BigInt(size)) >= BigInt(size)
      const price = Number(full) + (isUp ? 1 : 0)
      rows.push({
        ...{ market, id: first?.nativeId, timeMs: first?.timeMs, usd, size, price },
        ...{ fills: fills.length, isTold: usd >= 5_000_000_000 },
      })
    }
  }
  return rows.sort(byText)
}

/** The rows of the table in the format of the reference implementation. */
export function foundRows(storage: Storage) {
  return rowsOf(storage)
    .map(({ market, whale }) => {
      const { nativeId: id, timeMs: at, usd, size, price, fills, offset } = whale
      return { market, id, timeMs: at, usd, size, price, fills, isTold: offset !== null }
    })
    .sort(byText)
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
