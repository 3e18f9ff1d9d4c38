// Ids of trades that arrived without a wallet: `<tx hash>-part-<n>`, where n counts the transaction's trades without
// wallet from 0. A later trade of the transaction that has the wallet finds and completes them by these ids.

import { PRICE_ONE, type PriceMicros, priceMicros, type SizeMicros } from './units.ts'

export function partId(txHash: string, n: number): string {
  return `${txHash}-part-${n}`
}

/**
 * Whether a trade was stored without a wallet as a part of its transaction. Its id stays the same when the wallet
 * becomes known.
 */
export function isPart(nativeId: string): boolean {
  return /-part-\d+$/.test(nativeId)
}

interface Priced {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** A tenth of a cent. Most prices are multiples of it. */
const TICK = 1_000
/** Half a cent. The remainder has no price if the uncertainty of its price is larger. */
const NOISE_MAX = 5_000

/**
 * The price of the remainder of a transaction: its total at the average price, minus the known parts. Null if no price
 * gives that sum or if the remainder is too small. All trades are of one outcome.
 */
export function restPrice(total: Priced, parts: readonly Priced[]): PriceMicros | null {
  let size: number = total.size
  let value = total.price * total.size
  for (const part of parts) {
    size -= part.size
    value -= part.price * part.size
  }
  const price = Math.round(value / size)
  // The average price is rounded, and the remainder has the whole rounding error.
  const noise = total.size / size
  if (!(size > 0 && noise <= NOISE_MAX && price >= 0 && price <= PRICE_ONE)) return null
  const onTick = Math.round(price / TICK) * TICK
  return priceMicros(Math.abs(price - onTick) <= noise ? onTick : price)
}
