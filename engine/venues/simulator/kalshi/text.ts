// Formats numbers, times and levels of venue b, optimized for the hot path.

import type { Level } from '../../../events.ts'
import {
  complement,
  formatTime,
  PRICE_ONE,
  type PriceMicros,
  type SizeMicros,
  type TimeMs,
  toDecimal,
} from '../../../units.ts'

/** The finest step in the table: 0.0001 dollars. */
const TABLE_STEP_MICROS = 100
const priceTexts: (string | undefined)[] = new Array(PRICE_ONE / TABLE_STEP_MICROS + 1)

/** "0.4400"; up to six decimals if the price is finer than 0.0001. */
export function dollars(price: PriceMicros): string {
  const position = price / TABLE_STEP_MICROS
  if (!Number.isInteger(position)) return toDecimal(price, 4)
  const cached = priceTexts[position]
  if (cached !== undefined) return cached
  const text = toDecimal(price, 4)
  priceTexts[position] = text
  return text
}

/** "10.00": contracts with exactly two decimals, rounded to the nearest hundredth. */
export function count(size: SizeMicros): string {
  return hundredthsText(hundredths(size))
}

/**
 * Signed difference of two sizes, "-4.00". Both are rounded before, so that the differences of a level add up to its
 * shown size.
 */
export function countDifference(sizes: { from: SizeMicros; to: SizeMicros }): string {
  return hundredthsText(hundredths(sizes.to) - hundredths(sizes.from))
}

/** Reports whether a level is visible. Below half a hundredth it would be "0.00". */
function isShown(size: SizeMicros): boolean {
  return hundredths(size) > 0
}

/** "2026-09-21T17:00:00.000Z". Caches the last text, because many changes occur in one millisecond. */
export function rfc3339(time: TimeMs): string {
  if (time !== lastTime) {
    lastTime = time
    lastTimeText = formatTime(time)
  }
  return lastTimeText
}

/** `["0.4400","10.00"],…` of the visible levels. */
export function levelsText(
  levels: readonly Level[],
  form: { isReversed: boolean; isComplement: boolean },
): string {
  let text = ''
  for (const level of levels) {
    if (!isShown(level.size)) continue
    const price = form.isComplement ? complement(level.price) : level.price
    const entry = `["${dollars(price)}","${count(level.size)}"]`
    if (text === '') text = entry
    else text = form.isReversed ? `${entry},${text}` : `${text},${entry}`
  }
  return text
}

let lastTime = -1
let lastTimeText = ''

function hundredths(size: SizeMicros): number {
  return Math.round(size / 10_000)
}

function hundredthsText(value: number): string {
  const absolute = value < 0 ? -value : value
  const integer = Math.floor(absolute / 100)
  const rest = absolute - integer * 100
  return `${value < 0 ? '-' : ''}${integer}.${rest < 10 ? '0' : ''}${rest}`
}
