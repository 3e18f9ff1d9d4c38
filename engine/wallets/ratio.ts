// Exact proportional shares of integers. Below 2^53 the shares are computed with floats, above with BigInt.

/** floor(value × part / total), also for negative values. 0 ≤ part, 0 < total. All are safe integers. */
export function shareOf(value: number, { part, total }: { part: number; total: number }): number {
  if (part === total) return value
  const product = value * part
  // Below 2^53 the product is exact, and the quotient cannot be rounded to the next integer.
  if (Math.abs(product) <= Number.MAX_SAFE_INTEGER) return Math.floor(product / total)
  const exact = BigInt(value) * BigInt(part)
  const divisor = BigInt(total)
  const quotient = exact / divisor
  return Number(exact < 0n && quotient * divisor !== exact ? quotient - 1n : quotient)
}

/** Divides `value` into `count` parts: the floor for each, and the last part also gets the remainder. */
export function partsOf(value: number, count: number): number[] {
  const part = shareOf(value, { part: 1, total: count })
  const parts = new Array<number>(count).fill(part)
  parts[count - 1] = value - part * (count - 1)
  return parts
}
