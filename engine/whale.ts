// What a whale is: fills of one transaction by one taker in one token, summed up. A fill without a
// hash or a taker (all of venue b's) stands by itself, but for parts of a transaction (trade-parts.ts). Which fill comes first, and so the row's id, is
// decided by the fills alone, so that a restart which reads them again decides the same.

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

/** A trade with the time of its arrival and its place in the stream; `offset` is null for a trade from a history, which was never published. */
export interface WhaleFill {
  readonly trade: Trade
  readonly receivedAtMs: TimeMs
  readonly run: number | null
  readonly offset: number | null
}

/** What a whale row says of its market. */
interface WhaleFacts {
  readonly outcome: string | null
  readonly question: string
  readonly slug: string
  readonly eventSlug: string | null
  readonly category: string | null
}

/** Names a row and gives it its time; it stays whatever fills come later. */
type WhaleAnchor = Pick<Whale, 'nativeId' | 'timeMs'>

/**
 * The same for all fills of a whale within a market; null: this fill stands by itself. Parts of a transaction, which came
 * without their wallet, are one whale, and stay it when the wallet becomes known.
 */
export function whaleKey({ nativeId, txHash, taker, outcomeIndex, side }: Trade): string | null {
  // The side too, since a row has one: an order that takes both does not exist.
  if (txHash !== null && isPart(nativeId)) return `${txHash} part ${outcomeIndex} ${side}`
  // Joined, since a template leaves a tree of pieces, which thousands of groups would keep.
  return txHash === null || taker === null ? null : [txHash, taker, outcomeIndex, side].join(' ')
}

/** The sums of some fills with one key; the order of adding does not matter. */
export class FillSum {
  #first: WhaleFill
  #count = 1
  #size: number
  #usd: number
  #maker: string | null
  #isPublished: boolean
  #oldestMs: TimeMs
  #newestMs: TimeMs
  /** The exact sums, from the second fill on: most whales have one. */
  #weights: Weights | null = null

  constructor(fill: WhaleFill) {
    const { trade } = fill
    this.#first = fill
    this.#size = trade.size
    this.#usd = trade.usd
    this.#maker = trade.maker
    this.#isPublished = fill.offset !== null
    this.#oldestMs = trade.timeMs
    this.#newestMs = trade.timeMs
  }

  add(fill: WhaleFill): void {
    const { trade } = fill
    this.#weights ??= weightOf(this.#first.trade)
    const { value, size, paid } = weightOf(trade)
    this.#weights.value += value
    this.#weights.size += size
    this.#weights.paid += paid
    this.#count += 1
    this.#size = atMostSafe(this.#weights.size)
    this.#usd = atMostSafe(this.#weights.paid / BigInt(MICROS))
    if (this.#maker !== trade.maker) this.#maker = null
    if (fill.offset !== null) this.#isPublished = true
    if (trade.timeMs < this.#oldestMs) this.#oldestMs = trade.timeMs
    if (trade.timeMs > this.#newestMs) this.#newestMs = trade.timeMs
    if (isBefore(fill, this.#first)) this.#first = fill
  }

  /** The fill that was published first; fills that never were stand behind, the oldest first. */
  get first(): WhaleFill {
    return this.#first
  }

  get count(): number {
    return this.#count
  }

  /** Dollars of all fills, in millionths: their exact sum, rounded down once. */
  get usd(): number {
    return this.#usd
  }

  /** Whether any of them was published as a trade: those of a history were not. */
  get isPublished(): boolean {
    return this.#isPublished
  }

  /** The venue's times of the oldest and newest fill. */
  get oldestMs(): TimeMs {
    return this.#oldestMs
  }

  get newestMs(): TimeMs {
    return this.#newestMs
  }

  /** The row that these fills are, without its ordinal. */
  row(facts: WhaleFacts, { nativeId, timeMs }: WhaleAnchor): Omit<Whale, 'ordinal'> {
    const { side, outcomeIndex, taker, txHash, isBlock } = this.#first.trade
    return {
      nativeId,
      timeMs,
      price: this.#price(),
      size: sizeMicros(this.#size),
      side,
      outcomeIndex,
      usd: usdMicros(this.#usd),
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
      fills: this.#count,
    }
  }

  /** The average price weighted by size, rounded half up; of the first outcome like any trade's. */
  #price(): PriceMicros {
    if (this.#weights === null || this.#weights.size === 0n) return this.#first.trade.price
    const { value, size } = this.#weights
    return priceMicros(Number((value * 2n + size) / (size * 2n)))
  }
}

/** Σ price × size in the first outcome, Σ size, and Σ price × size in the traded outcome. */
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
