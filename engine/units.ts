// Quantities as integers: the branded types and the only conversions between them. All use one scale, the millionth
// ("micro"). A price of 0.415 dollars is 415,000 micros, 100 contracts are 100,000,000 micro-contracts. Money is never
// stored as a float.

declare const unit: unique symbol
type Branded<Name extends string> = number & { readonly [unit]: Name }

/** Millionths of a dollar per contract, an integer from 0 to 1,000,000. */
export type PriceMicros = Branded<'price'>
/** Millionths of a contract, an integer. Negative only if the name contains "delta". */
export type SizeMicros = Branded<'size'>
/** Millionths of a US dollar, an integer. */
export type UsdMicros = Branded<'usd'>
/** Milliseconds since 1970-01-01 UTC, an integer. */
export type TimeMs = Branded<'time'>

export const MICROS = 1_000_000
export const PRICE_ONE = MICROS as PriceMicros
export const PRICE_HALF = 500_000 as PriceMicros
export const SIZE_ZERO = 0 as SizeMicros
export const USD_ZERO = 0 as UsdMicros
export const TIME_ZERO = 0 as TimeMs
/** Later than every valid time. */
export const TIME_END = Number.MAX_SAFE_INTEGER as TimeMs

/** Durations in milliseconds. A day is a UTC day of 24 hours. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Throws RangeError outside 0..1,000,000, which indicates a bug. */
export function priceMicros(value: number): PriceMicros {
  if (!Number.isInteger(value) || value < 0 || value > MICROS) {
    throw new RangeError(`price ${value} is not an integer from 0 to ${MICROS} micros`)
  }
  return (value + 0) as PriceMicros
}

/** Accepts negative integers (deltas). Throws RangeError if `value` is not a safe integer. */
export function sizeMicros(value: number): SizeMicros {
  if (!Number.isSafeInteger(value)) throw new RangeError(`size ${value} is not a safe integer`)
  return (value + 0) as SizeMicros
}

/** Throws RangeError if `value` is not a safe integer. */
export function usdMicros(value: number): UsdMicros {
  if (!Number.isSafeInteger(value)) throw new RangeError(`usd ${value} is not a safe integer`)
  return (value + 0) as UsdMicros
}

/** Cuts fractions of a millisecond. Throws RangeError if `value` is not finite. */
export function timeMs(value: number): TimeMs {
  const integer = Math.floor(value)
  if (!Number.isSafeInteger(integer)) throw new RangeError(`time ${value} is not a millisecond`)
  return integer as TimeMs
}

/** The price of the other outcome of a binary market: 1 − price. */
export function complement(price: PriceMicros): PriceMicros {
  return (MICROS - price) as PriceMicros
}

/**
 * Decimal text ("0.415", "-4.00", "150") to millionths, digit by digit. Null if the text is not a plain decimal, is
 * finer than a millionth, or exceeds the safe integers.
 */
export function microsFromDecimal(text: string): number | null {
  const length = text.length
  let position = 0
  let isNegative = false
  if (text.charCodeAt(0) === 45 /* - */) {
    isNegative = true
    position = 1
  }
  let value = 0
  let digitCount = 0
  let decimals = -1
  for (; position < length; position += 1) {
    const code = text.charCodeAt(position)
    if (code === 46 /* . */) {
      if (decimals >= 0) return null
      decimals = 0
      continue
    }
    const digit = code - 48
    if (digit < 0 || digit > 9) return null
    digitCount += 1
    if (decimals >= 6) {
      if (digit !== 0) return null
      continue
    }
    if (decimals >= 0) decimals += 1
    value = value * 10 + digit
    if (value > Number.MAX_SAFE_INTEGER) return null
  }
  if (digitCount === 0) return null
  for (let scale = Math.max(decimals, 0); scale < 6; scale += 1) value *= 10
  if (value > Number.MAX_SAFE_INTEGER) return null
  if (value === 0) return 0
  return isNegative ? -value : value
}

/** Book price text to micros. Null unless the text is a plain decimal in 0..1 that is no finer than a micro. */
export function parsePrice(text: string): PriceMicros | null {
  const value = microsFromDecimal(text)
  return value === null || value < 0 || value > MICROS ? null : (value as PriceMicros)
}

/** Size text to micro-contracts. Null unless the text is a plain decimal ≥ 0 that is no finer than a micro. */
export function parseSize(text: string): SizeMicros | null {
  const value = microsFromDecimal(text)
  return value === null || value < 0 ? null : (value as SizeMicros)
}

/** Signed size text ("-4.00") to micro-contracts. Null unless the text is a plain decimal. */
export function parseSizeDelta(text: string): SizeMicros | null {
  return microsFromDecimal(text) as SizeMicros | null
}

/** Dollar text to micro-dollars. Null unless the text is a plain decimal. */
export function parseUsd(text: string): UsdMicros | null {
  return microsFromDecimal(text) as UsdMicros | null
}

/** A float in dollars (trade prices arrive as 0.5199999923664122) to the nearest micro in 0..1, or null. */
export function roundPrice(value: number): PriceMicros | null {
  const micros = Math.round(value * MICROS)
  return micros >= 0 && micros <= MICROS ? ((micros + 0) as PriceMicros) : null
}

/** A float in contracts to the nearest micro-contract ≥ 0, or null. */
export function roundSize(value: number): SizeMicros | null {
  const micros = Math.round(value * MICROS)
  return micros >= 0 && Number.isSafeInteger(micros) ? ((micros + 0) as SizeMicros) : null
}

/** A float in dollars to the nearest micro-dollar. Null if it is not finite or too large. */
export function roundUsd(value: number): UsdMicros | null {
  const micros = Math.round(value * MICROS)
  return Number.isSafeInteger(micros) ? ((micros + 0) as UsdMicros) : null
}

/** The JSON number of any micros: 415,000 → 0.415. Exact to the shortest form below 2^53 micros. */
export function toNumber(micros: PriceMicros | SizeMicros | UsdMicros): number {
  return micros / MICROS
}

/** Decimal text with at least `places` and at most six decimals: (440000, 4) → "0.4400". */
export function toDecimal(micros: PriceMicros | SizeMicros | UsdMicros, places = 0): string {
  const isNegative = micros < 0
  const digits = String(Math.abs(micros)).padStart(7, '0')
  const integerPart = digits.slice(0, -6)
  let fraction = digits.slice(-6)
  while (fraction.length > places && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  const text = fraction === '' ? integerPart : `${integerPart}.${fraction}`
  return isNegative ? `-${text}` : text
}

/** Whole cents of a price, rounded half up, from the integer: 415,000 → 42. */
export function priceCents(price: PriceMicros): number {
  return Math.floor((price + 5_000) / 10_000)
}

/**
 * price × size in micro-dollars, rounded down. Exact below 2^53 without BigInt. Throws RangeError if the result is not
 * a safe integer.
 */
export function notionalMicros(fill: { price: PriceMicros; size: SizeMicros }): UsdMicros {
  const contracts = Math.trunc(fill.size / MICROS)
  const rest = fill.size - contracts * MICROS
  const value = contracts * fill.price + Math.floor((rest * fill.price) / MICROS)
  if (!Number.isSafeInteger(value)) throw new RangeError('notional exceeds the safe integers')
  return value as UsdMicros
}

export function midPrice(bid: PriceMicros, ask: PriceMicros): PriceMicros {
  return Math.floor((bid + ask + 1) / 2) as PriceMicros
}

const POSTGRES_TIME = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?)\+00$/

/** ISO 8601 / RFC 3339 text, or "2026-01-09 06:36:50+00", to milliseconds. Null if the text is not a time. */
export function parseTime(text: string): TimeMs | null {
  const postgres = POSTGRES_TIME.exec(text)
  const value = Date.parse(postgres === null ? text : `${postgres[1]}T${postgres[2]}Z`)
  return Number.isNaN(value) ? null : (value as TimeMs)
}

/** ISO 8601 text with milliseconds, in UTC. */
export function formatTime(time: TimeMs): string {
  return new Date(time).toISOString()
}

/** Whole Unix seconds, rounded down. */
export function toSeconds(time: TimeMs): number {
  return Math.floor(time / 1000)
}
