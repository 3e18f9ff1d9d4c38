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

const TABLE_STEP_MICROS = 100
const priceTexts: (string | undefined)[] = new Array(PRICE_ONE / TABLE_STEP_MICROS + 1)

/** A price in dollars, "0.4400". Six decimals if the price is finer than 0.0001. */
export function dollars(price: PriceMicros): string {
  const position = price / TABLE_STEP_MICROS
  if (!Number.isInteger(position)) return toDecimal(price, 4)
  const cached = priceTexts[position]
  if (cached !== undefined) return cached
  const text = toDecimal(price, 4)
  priceTexts[position] = text
  return text
}

/** A number of contracts with two decimals, "10.00", rounded to the nearest hundredth. */
export function count(size: SizeMicros): string {
  return hundredthsText(hundredths(size))
}

/**
 * "-4.00". Both sizes are rounded before the subtraction, so that a level's differences add up to the size that clients
 * see.
 */
export function countDifference(sizes: { from: SizeMicros; to: SizeMicros }): string {
  return hundredthsText(hundredths(sizes.to) - hundredths(sizes.from))
}

/** A size below half a hundredth would be shown as "0.00". */
function isShown(size: SizeMicros): boolean {
  return hundredths(size) > 0
}

/** "2026-09-21T17:00:00.000Z". The last text is cached, because many changes occur in one millisecond. */
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
