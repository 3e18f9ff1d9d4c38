// Trade bars of a minute or an hour, packed into 60 bytes. Minute bars expire with the trades of their market. Hour
// bars are deleted only with their market. They cannot be recomputed, so their records carry a checksum.
//
//   0      4         8            12    16   20     24         28            32     36   44    52
//   open | openMs* | openOrdinal | high | low | close | closeMs* | closeOrdinal | count | usd | size | weighted
//   u32    u32       u32           u32    u32   u32     u32        u32            u32     f64   f64    f64
//   * milliseconds after the bar's start, which is in the key

import { BAR_MS, type Bar, type BarSize } from '../engine/market/candle.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { priceMicros, type TimeMs, timeMs, usdMicros } from '../engine/units.ts'
import type { BarQuery } from './contract/rows.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import type { Removed } from './lmdb/table.ts'
import { barKey, FIRST, LAST, readInteger } from './records/keys.ts'
import type { RecordCodec } from './records/records.ts'
import { TABLES } from './tables.ts'

const BODY_BYTES = 60
const SIZE_CODES: Readonly<Record<BarSize, number>> = { minute: 0, hour: 1 }

const barCodec: RecordCodec<Bar> = {
  newest: 1,
  encode: (bar) => {
    const body = Buffer.allocUnsafe(BODY_BYTES)
    const { open, openMs, openOrdinal, high, low, close, closeMs, closeOrdinal, count } = bar
    const { startMs } = bar
    const words = [open, openMs - startMs, openOrdinal, high, low, close, closeMs - startMs]
    let at = 0
    for (const word of words) at = body.writeUInt32BE(word, at)
    at = body.writeUInt32BE(closeOrdinal, at)
    at = body.writeUInt32BE(count, at)
    for (const value of [bar.usd, bar.size, bar.weighted]) at = body.writeDoubleBE(value, at)
    return body
  },
  decode: (body, key) => {
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
  },
}

/** A bar and the trade that changes it are written in the same commit. */
export class Bars {
  readonly #bars: RecordTable<Bar>
  readonly #hours: Hours

  constructor(environment: Environment, hours: Hours) {
    this.#bars = new RecordTable(environment.table(TABLES.bars), barCodec)
    this.#hours = hours
  }

  put(market: MarketNumber, size: BarSize, bar: Bar): void {
    this.#bars.put(barKey(market, SIZE_CODES[size], bar.startMs), bar)
    if (size === 'minute') {
      this.#hours.add('minuteBars', market, Math.floor(bar.startMs / BAR_MS.hour))
    }
  }

  get(market: MarketNumber, size: BarSize, startMs: TimeMs): Bar | null {
    return this.#bars.get(barKey(market, SIZE_CODES[size], startMs))
  }

  range({
    market,
    size,
    fromMs,
    toMs,
    order,
    limit,
  }: BarQuery & { readonly market: MarketNumber }): readonly Bar[] {
    const range = rangeOf(market, size, { fromMs, beforeMs: toMs + 1 })
    return this.#bars.range({ ...range, isReverse: order === 'desc' }, limit)
  }

  removeBefore(range: { market: MarketNumber; beforeMs: number; rowsMax: number }): Removed {
    const { market, beforeMs, rowsMax } = range
    return this.#bars.rows.removeRange(rangeOf(market, 'minute', { beforeMs }), rowsMax)
  }

  /** Removes only hour bars. Retention removes the minute bars. */
  removeMarket(market: MarketNumber): void {
    this.#bars.rows.removeRange(rangeOf(market, 'hour', {}), Number.POSITIVE_INFINITY)
  }
}

function rangeOf(
  market: MarketNumber,
  size: BarSize,
  { fromMs = FIRST, beforeMs = LAST }: { fromMs?: number; beforeMs?: number },
) {
  const code = SIZE_CODES[size]
  return { from: barKey(market, code, fromMs), to: barKey(market, code, beforeMs) }
}
