// The table of ticks: one row a market and hour, the last price of each second, packed as varints
// of differences (two to four bytes a tick). Not for: candles, which are computed from trades.

import { assert } from '../engine/errors.ts'
import type { MarketNumber } from '../engine/market.ts'
import { type PriceMicros, priceMicros, type TimeMs, timeMs } from '../engine/units.ts'
import type { Environment } from './environment.ts'
import type { Hours } from './hours.ts'
import { groupKey, readInteger } from './keys.ts'
import type { HourTicks, TickTable } from './storage.ts'
import type { Row, Table } from './table.ts'
import { TABLES } from './tables.ts'

const HOUR_MS = 3_600_000
const SCHEMA = 1

export class Ticks implements TickTable {
  readonly #ticks: Table
  readonly #hours: Hours

  constructor(environment: Environment, hours: Hours) {
    this.#ticks = environment.table(TABLES.ticks)
    this.#hours = hours
  }

  put(market: MarketNumber, hour: number, ticks: HourTicks): void {
    const key = groupKey(market, hour)
    this.#ticks.put(key, this.#ticks.encode(key, SCHEMA, [packTicks(ticks)]))
    this.#hours.add('ticks', market, hour)
  }

  get(market: MarketNumber, hour: number): HourTicks | null {
    const key = groupKey(market, hour)
    const value = this.#ticks.get(key)
    return value === null ? null : this.#decode({ key, value })
  }

  at(market: MarketNumber, time: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null {
    const last = Math.floor(time / HOUR_MS)
    let found: { price: PriceMicros; timeMs: TimeMs } | null = null
    const range = {
      from: groupKey(market, -Number.MAX_SAFE_INTEGER),
      to: groupKey(market, last + 1),
    }
    this.#ticks.scan({ ...range, isReverse: true }, (row) => {
      const startMs = readInteger(row.key, 4) * HOUR_MS
      found = lastAtOrBefore(this.#decode(row), startMs, time)
      return found === null
    })
    return found
  }

  oldestHour(market: MarketNumber): number | null {
    const from = groupKey(market, -Number.MAX_SAFE_INTEGER)
    const row = this.#ticks.first({ from, to: groupKey(market, Number.MAX_SAFE_INTEGER) })
    return row === null ? null : readInteger(row.key, 4)
  }

  /** Removes one hour; bytes that it took. For retention. */
  remove(market: MarketNumber, hour: number): number {
    const key = groupKey(market, hour)
    const value = this.#ticks.get(key)
    this.#ticks.remove(key)
    return value === null ? 0 : key.length + value.length
  }

  #decode(row: Row): HourTicks | null {
    return this.#ticks.decode(row, { 1: (fields) => unpackTicks(fields.bytes()) })
  }
}

function lastAtOrBefore(
  ticks: HourTicks | null,
  startMs: number,
  time: TimeMs,
): { price: PriceMicros; timeMs: TimeMs } | null {
  if (ticks === null) return null
  for (let index = ticks.seconds.length - 1; index >= 0; index -= 1) {
    const tickMs = startMs + (ticks.seconds[index] ?? 0) * 1000
    const price = ticks.prices[index]
    if (tickMs <= time && price !== undefined) return { price, timeMs: timeMs(tickMs) }
  }
  return null
}

/** Pairs of varints: seconds since the tick before, then the price's difference, zigzagged. */
function packTicks(ticks: HourTicks): Buffer {
  const bytes = Buffer.allocUnsafe(ticks.seconds.length * 6)
  let position = 0
  let second = 0
  let price = 0
  for (let index = 0; index < ticks.seconds.length; index += 1) {
    const nextSecond = ticks.seconds[index] ?? 0
    const nextPrice = ticks.prices[index]
    assert(nextPrice !== undefined, 'each second has its price')
    assert(index === 0 || nextSecond > second, 'seconds of an hour ascend')
    position = putVarint(bytes, position, nextSecond - second)
    const difference = nextPrice - price
    position = putVarint(bytes, position, difference < 0 ? -2 * difference - 1 : 2 * difference)
    second = nextSecond
    price = nextPrice
  }
  return bytes.subarray(0, position)
}

function unpackTicks(bytes: Uint8Array): HourTicks {
  const seconds: number[] = []
  const prices: PriceMicros[] = []
  let position = 0
  let second = 0
  let price = 0
  const next = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[position]
      if (byte === undefined || shift > 28) throw new RangeError('ticks end within a number')
      position += 1
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  while (position < bytes.length) {
    second += next()
    const zigzag = next()
    price += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
    seconds.push(second)
    prices.push(priceMicros(price))
  }
  return { seconds, prices }
}

function putVarint(bytes: Buffer, position: number, value: number): number {
  let rest = value
  let next = position
  while (rest >= 0x80) {
    bytes[next] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 128)
    next += 1
  }
  bytes[next] = rest
  return next + 1
}
