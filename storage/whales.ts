// Whales of all markets in order of time. Indexes find whales by market, by id, and by run and offset. A put writes all
// rows in one event-loop tick, so that they commit atomically. Retention never deletes whales.

import { assert } from '../engine/errors.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type {
  OffsetQuery,
  SliceQuery,
  StoredWhale,
  WhaleMarket,
  WhaleRow,
} from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import type { KeyRange } from './lmdb/pending.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY, type Row, type Table } from './lmdb/table.ts'
import {
  groupKey,
  hashNativeId,
  LAST,
  momentKey,
  readInteger,
  tradeIdKey,
  tradeKey,
} from './records/keys.ts'
import { whaleCodec } from './records/trade-fields.ts'
import { TABLES } from './tables.ts'
import { nextOrdinal, rangeOfTrades } from './trade-range.ts'

const PRESENT = Buffer.of(1)
const KEY_BYTES = 12

/** Ordinals distinguish whales of the same millisecond across all markets. */
export class Whales {
  readonly #whales: RecordTable<WhaleRow>
  readonly #ids: Table
  readonly #offsets: Table
  readonly #markets: Table
  readonly #hash: (nativeId: string) => readonly [number, number]
  #count: number

  /** `hash` is a parameter so that a test can cause collisions. */
  constructor(environment: Environment, hash = hashNativeId) {
    this.#whales = new RecordTable(environment.table(TABLES.whales), whaleCodec)
    this.#ids = environment.table(TABLES.whaleIds)
    this.#offsets = environment.table(TABLES.whaleOffsets)
    this.#markets = environment.table(TABLES.whaleMarkets)
    this.#hash = hash
    this.#count = this.#whales.rows.committedCount()
  }

  /** The id of a whale is the id of the trade of its first fill. */
  get(market: MarketNumber, nativeId: string): StoredWhale | null {
    const keys = this.#ids.get(tradeIdKey(market, this.#hash(nativeId)))
    if (keys === null) return null
    for (let start = 0; start + KEY_BYTES <= keys.length; start += KEY_BYTES) {
      const row = this.#whales.get(keys.subarray(start, start + KEY_BYTES))
      // UTF-8 cannot represent a lone surrogate, so ids are compared in their stored form.
      const stored = row?.whale.nativeId
      if (stored === nativeId || stored === Buffer.from(nativeId).toString())
        return row?.whale ?? null
    }
    return null
  }

  /** Stores a whale and assigns its ordinal. The caller must call `get` first: a duplicate throws. */
  put(market: WhaleMarket, whale: Omit<StoredWhale, 'ordinal'>): StoredWhale {
    assert(this.get(market.number, whale.nativeId) === null, 'a whale is stored once')
    const ordinal = nextOrdinal(this.#whales.rows, momentKey, whale.timeMs)
    const stored = { ...whale, ordinal }
    const key = momentKey(stored.timeMs, ordinal)
    this.#write(key, market, stored)
    const idKey = tradeIdKey(market.number, this.#hash(whale.nativeId))
    const others = this.#ids.get(idKey)
    this.#ids.put(idKey, others === null ? key : Buffer.concat([others, key]))
    this.#markets.put(tradeKey(market.number, stored.timeMs, ordinal), PRESENT)
    this.#count += 1
    return stored
  }

  /**
   * Replaces a whale of the same id, time and ordinal, after more fills or after publication. Does nothing if a full
   * disk rejected the whale before.
   */
  replace(market: WhaleMarket, whale: StoredWhale): void {
    const key = momentKey(whale.timeMs, whale.ordinal)
    const existing = this.#whales.get(key)
    const isSame = existing?.market === market.number && existing.whale.nativeId === whale.nativeId
    if (isSame) this.#write(key, market, whale)
  }

  /** At most `limit` whales of all markets within [fromMs, toMs], strictly after `after`. */
  range(query: SliceQuery): readonly WhaleRow[] {
    const range = rangeOfTrades(query, momentKey)
    return range === null ? [] : this.#whales.range(range, query.limit)
  }

  rangeOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[] {
    const range = rangeOfTrades(query, (time, ordinal) => tradeKey(query.market, time, ordinal))
    if (range === null) return []
    return this.#read(this.#markets, range, query.limit, ({ key }) => key.subarray(4))
  }

  /** Whales that a run published with an offset above `offset`, in order of offset. */
  rangeByOffset({ run, offset, limit }: OffsetQuery): readonly WhaleRow[] {
    const range = { from: groupKey(run, offset + 1), to: groupKey(run, LAST) }
    return this.#read(this.#offsets, range, limit, ({ value }) => value)
  }

  /** 0 if the run has no whales. */
  newestOffset(run: number): number {
    const [from, to] = [groupKey(run, 0), groupKey(run, LAST)]
    const row = this.#offsets.first({ from, to, isReverse: true })
    return row === null ? 0 : readInteger(row.key, 4)
  }

  /** Null if there is no whale. */
  oldestMs(): TimeMs | null {
    const row = this.#whales.rows.first(EVERY_KEY)
    return row === null ? null : timeMs(readInteger(row.key, 0))
  }

  count(): number {
    return this.#count
  }

  #write(key: Buffer, market: WhaleMarket, whale: StoredWhale): void {
    const { number, venue, nativeId: nativeMarket } = market
    this.#whales.put(key, { market: number, venue, nativeMarket, whale })
    const { run, offset } = whale
    if (run !== null && offset !== null) this.#offsets.put(groupKey(run, offset), key)
  }

  #read(
    index: Table,
    range: KeyRange,
    limit: number,
    keyOf: (row: Row) => Buffer,
  ): readonly WhaleRow[] {
    const found: WhaleRow[] = []
    if (limit < 1) return found
    index.scan(range, (entry) => {
      const row = this.#whales.get(keyOf(entry))
      if (row !== null) found.push(row)
      return found.length < limit
    })
    return found
  }
}
