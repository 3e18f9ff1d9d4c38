// Whales: the sum of the fills of one transaction by one taker in one token. A fill without a hash or a taker (all
// fills of venue b) is a separate whale, except for parts of a transaction (trade-parts.ts). The id depends only on the
// fills, so it is the same after a restart.

import type { Trade, Whale } from './events.ts'
import { isPart } from './trade-parts.ts'
import {
  complement,
  MICROS,
  type PriceMicros,
  priceMicros,
  sizeMicros,
  type TimeMs,
  usdMicros,
} from './units.ts'

/**
 * A trade with its arrival time and its stream offset. `offset` is null for a historical trade, which was never
 * published.
 */
export interface WhaleFill {
  readonly trade: Trade
  readonly receivedAtMs: TimeMs
  readonly run: number | null
  readonly offset: number | null
}

interface WhaleFacts {
  readonly outcome: string | null
  readonly question: string
  readonly slug: string
  readonly eventSlug: string | null
  readonly category: string | null
}

/** Later fills do not change the id and time of a whale. */
type WhaleAnchor = Pick<Whale, 'nativeId' | 'timeMs'>

/**
 * Grouping key: equal for all fills of a whale within a market. Null: the fill is a separate whale. The parts of a
 * transaction form one whale, also after their wallet becomes known.
 */
export function whaleKey({ nativeId, txHash, taker, outcomeIndex, side }: Trade): string | null {
  // The key contains the side, because a whale has only one side.
  if (txHash !== null && isPart(nativeId)) return `${txHash} part ${outcomeIndex} ${side}`
  // `join` instead of a template: V8 would retain a template's pieces (a rope string) for thousands of groups.
  return txHash === null || taker === null ? null : [txHash, taker, outcomeIndex, side].join(' ')
}

/** Sum of the fills with one key. Does not depend on the order of `add`. */
export class FillSum {
  /** The fill that was published first. If none was published, the oldest fill. */
  first: WhaleFill
  count = 1
  /** Dollars of all fills, in millionths: the exact sum, rounded down once. */
  usd: number
  /** Whether at least one of the fills was published as a trade. Historical trades are not published. */
  isPublished: boolean
  oldestMs: TimeMs
  newestMs: TimeMs
  #size: number
  #maker: string | null
  /** Exact sums. Null for a single fill, which most whales have. */
  #weights: Weights | null = null

  constructor(fill: WhaleFill) {
    const { trade } = fill
    this.first = fill
    this.#size = trade.size
    this.usd = trade.usd
    this.#maker = trade.maker
    this.isPublished = fill.offset !== null
    this.oldestMs = trade.timeMs
    this.newestMs = trade.timeMs
  }

  add(fill: WhaleFill): void {
    const { trade } = fill
    this.#weights ??= weightOf(this.first.trade)
    const { value, size, paid } = weightOf(trade)
    this.#weights.value += value
    this.#weights.size += size
    this.#weights.paid += paid
    this.count += 1
    this.#size = atMostSafe(this.#weights.size)
    this.usd = atMostSafe(this.#weights.paid / BigInt(MICROS))
    if (this.#maker !== trade.maker) this.#maker = null
    if (fill.offset !== null) this.isPublished = true
    if (trade.timeMs < this.oldestMs) this.oldestMs = trade.timeMs
    if (trade.timeMs > this.newestMs) this.newestMs = trade.timeMs
    if (isBefore(fill, this.first)) this.first = fill
  }

  row(facts: WhaleFacts, { nativeId, timeMs }: WhaleAnchor): Omit<Whale, 'ordinal'> {
    const { side, outcomeIndex, taker, txHash, isBlock } = this.first.trade
    return {
      nativeId,
      timeMs,
      price: this.#price(),
      size: sizeMicros(this.#size),
      side,
      outcomeIndex,
      usd: usdMicros(this.usd),
      maker: this.#maker,
      taker,
      txHash,
      isBlock,
      outcome: facts.outcome,
      question: facts.question,
      slug: facts.slug,
      eventSlug: facts.eventSlug,
      category: facts.category,
      wallet: taker,
      fills: this.count,
    }
  }

  /** Average price weighted by size, rounded half up, of the first outcome. */
  #price(): PriceMicros {
    if (this.#weights === null || this.#weights.size === 0n) return this.first.trade.price
    const { value, size } = this.#weights
    return priceMicros(Number((value * 2n + size) / (size * 2n)))
  }
}

interface Weights {
  value: bigint
  size: bigint
  paid: bigint
}

function weightOf({ price, size, outcomeIndex }: Trade): Weights {
  const paid = outcomeIndex === 0 ? price : complement(price)
  const contracts = BigInt(size)
  return { value: BigInt(price) * contracts, size: contracts, paid: BigInt(paid) * contracts }
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER)
const atMostSafe = (value: bigint): number => Number(value < SAFE_MAX ? value : SAFE_MAX)

function isBefore(one: WhaleFill, other: WhaleFill): boolean {
  if (one.run !== other.run) return (one.run ?? Infinity) < (other.run ?? Infinity)
  if (one.offset !== other.offset) return (one.offset ?? Infinity) < (other.offset ?? Infinity)
  const [a, b] = [one.trade, other.trade]
  return a.timeMs === b.timeMs ? a.ordinal < b.ordinal : a.timeMs < b.timeMs
}
