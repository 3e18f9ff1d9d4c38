// Trade bars of a minute or an hour: a header and a fixed record of 60 bytes. Minute bars expire with their trades.
// Hour bars are deleted only with their market; they cannot be recomputed, so records carry a checksum.
//
//   0      4         8            12    16   20     24         28            32     36   44    52
//   open | openMs* | openOrdinal | high | low | close | closeMs* | closeOrdinal | count | usd | size | weighted
//   u32    u32       u32           u32    u32   u32     u32        u32            u32     f64   f64    f64
//   * milliseconds after the bar's start, which is in the key

import { BAR_MS, type Bar, type BarSize } from '../engine/market/candle.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { priceMicros, type TimeMs, timeMs, usdMicros } from '../engine/units.ts'
import type { BarQuery, BarTable } from './contract/storage.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Removed, Row, Table } from './lmdb/table.ts'
import { BAR_KEY_BYTES, barKey, readInteger } from './records/keys.ts'
import { CHECKED_HEADER_BYTES as BODY, writeCheckedHeader } from './records/records.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1
const BODY_BYTES = 60
/** Key byte of each bar size. */
const SIZE_CODES: Readonly<Record<BarSize, number>> = { minute: 0, hour: 1 }

export class Bars implements BarTable {
  readonly #bars: Table
  readonly #hours: Hours
  /** Reused by each put. A trade makes two puts. */
  readonly #row = newRow()

  constructor(environment: Environment, hours: Hours) {
    this.#bars = environment.table(TABLES.bars)
    this.#hours = hours
  }

  put(market: MarketNumber, size: BarSize, bar: Bar): void {
    const { key, value } = barRow(market, size, bar, this.#row)
    this.#bars.put(key, value)
    if (size === 'minute') {
      this.#hours.add('minuteBars', market, Math.floor(bar.startMs / BAR_MS.hour))
    }
  }

  get(market: MarketNumber, size: BarSize, startMs: TimeMs): Bar | null {
    const key = keyOf(market, size, startMs)
    const value = this.#bars.get(key)
    return value === null ? null : this.#decode({ key, value })
  }

  range(query: BarQuery & { readonly market: MarketNumber }): readonly Bar[] {
    const { market, size, limit } = query
    const from = keyOf(market, size, query.fromMs)
    const to = keyOf(market, size, query.toMs + 1)
    const bars: Bar[] = []
    if (limit < 1 || from.compare(to) >= 0) return bars
    this.#bars.scan({ from, to, isReverse: query.order === 'desc' }, (row) => {
      const bar = this.#decode(row)
      if (bar !== null) bars.push(bar)
      return bars.length < limit
    })
    return bars
  }

  /** Removes a market's oldest `rowsMax` minute bars that start before `beforeMs`. */
  removeBefore(range: { market: MarketNumber; beforeMs: number; rowsMax: number }): Removed {
    const { market, beforeMs, rowsMax } = range
    const from = keyOf(market, 'minute', -Number.MAX_SAFE_INTEGER)
    return this.#bars.removeRange({ from, to: keyOf(market, 'minute', beforeMs) }, rowsMax)
  }

  /** Removes a market's hour bars. */
  removeMarket(market: MarketNumber): void {
    const from = keyOf(market, 'hour', -Number.MAX_SAFE_INTEGER)
    const to = keyOf(market, 'hour', Number.MAX_SAFE_INTEGER)
    this.#bars.removeRange({ from, to }, Number.POSITIVE_INFINITY)
  }

  #decode(row: Row): Bar | null {
    return this.#bars.decodePacked(row, { 1: (body) => unpackBar(row.key, body) })
  }
}

function keyOf(market: MarketNumber, size: BarSize, startMs: number, key?: Buffer): Buffer {
  return barKey(market, SIZE_CODES[size], startMs, key)
}

function newRow(): Row {
  return { key: Buffer.alloc(BAR_KEY_BYTES), value: Buffer.alloc(BODY + BODY_BYTES) }
}

/** Encodes a bar into `row`, if given, or a new row. */
export function barRow(market: MarketNumber, size: BarSize, bar: Bar, row = newRow()): Row {
  const { key, value } = row
  keyOf(market, size, bar.startMs, key)
  value.writeUInt32BE(bar.open, BODY)
  value.writeUInt32BE(bar.openMs - bar.startMs, BODY + 4)
  value.writeUInt32BE(bar.openOrdinal, BODY + 8)
  value.writeUInt32BE(bar.high, BODY + 12)
  value.writeUInt32BE(bar.low, BODY + 16)
  value.writeUInt32BE(bar.close, BODY + 20)
  value.writeUInt32BE(bar.closeMs - bar.startMs, BODY + 24)
  value.writeUInt32BE(bar.closeOrdinal, BODY + 28)
  value.writeUInt32BE(bar.count, BODY + 32)
  value.writeDoubleBE(bar.usd, BODY + 36)
  value.writeDoubleBE(bar.size, BODY + 44)
  value.writeDoubleBE(bar.weighted, BODY + 52)
  writeCheckedHeader(value, value.length, { key, schema: SCHEMA })
  return row
}

function unpackBar(key: Buffer, body: Buffer): Bar {
  if (body.length !== BODY_BYTES) throw new RangeError('a bar has a fixed length')
  const startMs = timeMs(readInteger(key, 5))
  return {
    startMs,
    open: priceMicros(body.readUInt32BE(0)),
    openMs: timeMs(startMs + body.readUInt32BE(4)),
    openOrdinal: body.readUInt32BE(8),
    high: priceMicros(body.readUInt32BE(12)),
    low: priceMicros(body.readUInt32BE(16)),
    close: priceMicros(body.readUInt32BE(20)),
    closeMs: timeMs(startMs + body.readUInt32BE(24)),
    closeOrdinal: body.readUInt32BE(28),
    usd: usdMicros(body.readDoubleBE(36)),
    count: body.readUInt32BE(32),
    size: body.readDoubleBE(44),
    weighted: body.readDoubleBE(52),
  }
}
