// Whales of all markets in order of time, with indexes by market, by id, and by (run, offset) for resuming streams. A
// put writes all rows in one event-loop tick, so they are committed atomically. Retention never deletes whales.

import { assert } from '../engine/errors.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type {
  OffsetQuery,
  SliceQuery,
  StoredWhale,
  WhaleMarket,
  WhaleRow,
  WhaleTable,
} from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Table } from './lmdb/table.ts'
import {
  groupKey,
  hashNativeId,
  KEY_END,
  readInteger,
  tradeIdKey,
  tradeKey,
} from './records/keys.ts'
import {
  whaleKey,
  whaleKeyBytes,
  whalePosition,
  whaleRecord,
  whaleSchemas,
} from './records/whale.ts'
import { TABLES } from './tables.ts'
import { type KeyOf, rangeOfTrades } from './trade-range.ts'

const PRESENT = Buffer.of(1)

export class Whales implements WhaleTable {
  readonly #whales: Table
  readonly #ids: Table
  readonly #offsets: Table
  readonly #markets: Table
  readonly #hash: (nativeId: string) => readonly [number, number]
  #count: number

  /** `hash` is a parameter so that a test can cause collisions. */
  constructor(environment: Environment, hash = hashNativeId) {
    this.#whales = environment.table(TABLES.whales)
    this.#ids = environment.table(TABLES.whaleIds)
    this.#offsets = environment.table(TABLES.whaleOffsets)
    this.#markets = environment.table(TABLES.whaleMarkets)
    this.#hash = hash
    this.#count = this.#whales.committedCount()
  }

  get(market: MarketNumber, nativeId: string): StoredWhale | null {
    const keys = this.#ids.get(tradeIdKey(market, this.#hash(nativeId)))
    if (keys === null) return null
    for (let start = 0; start + whaleKeyBytes <= keys.length; start += whaleKeyBytes) {
      const row = this.#read(keys.subarray(start, start + whaleKeyBytes))
      // An id with a lone surrogate does not survive UTF-8, so it is compared in its stored form.
      const stored = row?.whale.nativeId
      if (stored === nativeId || stored === Buffer.from(nativeId).toString())
        return row?.whale ?? null
    }
    return null
  }

  put(market: WhaleMarket, whale: Omit<StoredWhale, 'ordinal'>): StoredWhale {
    assert(this.get(market.number, whale.nativeId) === null, 'a whale is stored once')
    const stored = { ...whale, ordinal: this.#nextOrdinal(whale.timeMs) }
    const key = whaleKey(stored.timeMs, stored.ordinal)
    this.#write(key, market, stored)
    const idKey = tradeIdKey(market.number, this.#hash(whale.nativeId))
    const others = this.#ids.get(idKey)
    this.#ids.put(idKey, others === null ? key : Buffer.concat([others, key]))
    this.#markets.put(tradeKey(market.number, stored.timeMs, stored.ordinal), PRESENT)
    this.#count += 1
    return stored
  }

  replace(market: WhaleMarket, whale: StoredWhale): void {
    const key = whaleKey(whale.timeMs, whale.ordinal)
    const existing = this.#read(key)
    const isSame = existing?.market === market.number && existing.whale.nativeId === whale.nativeId
    if (isSame) this.#write(key, market, whale)
  }

  range(query: SliceQuery): readonly WhaleRow[] {
    return this.#readRange(query, { table: this.#whales, keyOf: whaleKey, read: (row) => row })
  }

  rangeOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[] {
    const keyOf: KeyOf = (time, ordinal) => tradeKey(query.market, time, ordinal)
    return this.#readRange(query, {
      table: this.#markets,
      keyOf,
      read: (row) => this.#rowOf(row.key),
    })
  }

  rangeByOffset(query: OffsetQuery): readonly WhaleRow[] {
    const { run, offset, limit } = query
    const found: WhaleRow[] = []
    if (limit < 1) return found
    const [from, to] = [groupKey(run, offset + 1), groupKey(run, Number.MAX_SAFE_INTEGER)]
    this.#offsets.scan({ from, to }, ({ value }) => {
      const row = this.#read(value)
      if (row !== null) found.push(row)
      return found.length < limit
    })
    return found
  }

  newestOffset(run: number): number {
    const [from, to] = [groupKey(run, 0), groupKey(run, Number.MAX_SAFE_INTEGER)]
    const row = this.#offsets.first({ from, to, isReverse: true })
    return row === null ? 0 : readInteger(row.key, 4)
  }

  oldestMs(): TimeMs | null {
    const from = whaleKey(-Number.MAX_SAFE_INTEGER, 0)
    const row = this.#whales.first({ from, to: KEY_END })
    return row === null ? null : timeMs(whalePosition(row.key).timeMs)
  }

  count(): number {
    return this.#count
  }

  #write(key: Buffer, market: WhaleMarket, whale: StoredWhale): void {
    const { schema, fields } = whaleRecord(market, whale)
    this.#whales.put(key, this.#whales.encode(key, schema, fields))
    const { run, offset } = whale
    if (run !== null && offset !== null) this.#offsets.put(groupKey(run, offset), key)
  }

  #read(key: Buffer): WhaleRow | null {
    return this.#whales.getRecord(key, whaleSchemas(key))
  }

  /** The row to which a key of the market index refers. */
  #rowOf(key: Buffer): { readonly key: Buffer; readonly value: Buffer } | null {
    const rowKey = Buffer.from(key.subarray(4))
    const value = this.#whales.get(rowKey)
    return value === null ? null : { key: rowKey, value }
  }

  #readRange(
    query: SliceQuery,
    index: {
      readonly table: Table
      readonly keyOf: KeyOf
      readonly read: (row: Stored) => Stored | null
    },
  ): readonly WhaleRow[] {
    const found: WhaleRow[] = []
    const range = rangeOfTrades(query, index.keyOf)
    if (query.limit < 1 || range === null) return found
    index.table.scan(range, (entry) => {
      const stored = index.read(entry)
      const row = stored === null ? null : this.#whales.decode(stored, whaleSchemas(stored.key))
      if (row !== null) found.push(row)
      return found.length < query.limit
    })
    return found
  }

  /** One past the last ordinal of that millisecond; each call reads the table, since whales are few. */
  #nextOrdinal(time: number): number {
    const [from, to] = [whaleKey(time, 0), whaleKey(time + 1, 0)]
    const last = this.#whales.first({ from, to, isReverse: true })
    return last === null ? 0 : whalePosition(last.key).ordinal + 1
  }
}

interface Stored {
  readonly key: Buffer
  readonly value: Buffer
}
