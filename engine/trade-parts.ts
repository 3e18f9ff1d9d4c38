// The trades of one transaction. A trade that came without its wallet is known by its transaction:
// `<tx hash>-part-<n>`, n counting from 0 what its transaction has of such rows. A row of the same transaction that has
// the wallet finds them by these ids, also after a restart, and completes them (actors/market/trades.ts).

import { PRICE_ONE, type PriceMicros, priceMicros, type SizeMicros } from './units.ts'

/** The id of a transaction's n-th trade without a wallet. */
export function partId(txHash: string, n: number): string {
  return `${txHash}-part-${n}`
}

/** Whether a trade was stored as a part of its transaction; it stays one when its wallet becomes known. */
export function isPart(nativeId: string): boolean {
  return /-part-\d+$/.test(nativeId)
}

interface Priced {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** A tenth of a cent: most prices are multiples of it. */
const TICK = 1_000
/** Half a cent: a rest whose price is less certain has none. */
const NOISE_MAX = 5_000

/**
 * The price at which the rest of a transaction traded: of its whole at the average price, less the parts that are known.
 * Null where no price gives that sum, and where the rest is too small for it. All are of one outcome.
 */
export function restPrice(total: Priced, parts: readonly Priced[]): PriceMicros | null {
  let size: number = total.size
  let value = total.price * total.size
  for (const part of parts) {
    size -= part.size
    value -= part.price * part.size
  }
  const price = Math.round(value / size)
  // The average is rounded, and the rest has all of what it was rounded by.
  const noise = total.size / size
  if (!(size > 0 && noise <= NOISE_MAX && price >= 0 && price <= PRICE_ONE)) return null
  const onTick = Math.round(price / TICK) * TICK
  return priceMicros(Math.abs(price - onTick) <= noise ? onTick : price)
}
