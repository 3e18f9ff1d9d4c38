// UnifiedMarkets as JSON text. What only a listing can change is kept as finished text: without that
// a page of 200 markets reads 200 descriptions from disk and holds the loop for 6 ms. Kept are the
// 4,096 asked for last; beyond them the oldest goes. Not for: books, trades, prices (render.ts).
// Upholds MARKETS2, MARKETS4, MARKETS10.

import type { MarketView } from '../actors/views.ts'
import type { MarketNumber } from '../engine/market.ts'
import { MICROS, priceCents, toNumber, toSeconds } from '../engine/units.ts'
import { outcomePrice } from './render.ts'

const KEPT_MAX = 4_096
/** A description alone may change without a new summary; it is read again after this long. */
const KEPT_MS = 60_000

/** A market's record, cut where the live numbers go. */
interface Listing {
  readonly summary: MarketView['summary']
  readonly readAtMs: number
  /** Up to the outcomes. */
  readonly head: string
  /** Each outcome up to its price. */
  readonly outcomes: readonly string[]
  /** From behind the last outcome to `best_bid`. */
  readonly platform: string
  /** From behind `volume_total` to the end. */
  readonly rest: string
}

/** Writes the records of markets. */
export class MarketRecords {
  readonly #kept = new Map<MarketNumber, Listing>()

  /** The record as JSON text. */
  text(view: MarketView, nowMs: number): string {
    const { head, outcomes, platform, rest } = this.#listing(view, nowMs)
    const { price: first, bid, ask } = view.price()
    const volume24h = toNumber(view.volume24h)
    let text = head
    for (let index = 0; index < outcomes.length; index += 1) {
      const price = outcomePrice(first, index)
      if (index > 0) text += ','
      text += `${outcomes[index]}${price / MICROS},"price_cents":${priceCents(price)}}`
    }
    const total = view.volumeTotal === null ? null : toNumber(view.volumeTotal)
    return `${text}${platform}"best_bid":${number(bid)},"best_ask":${number(ask)},"volume_24h":${volume24h}}],"volume_24h":${volume24h},"volume_total":${total}${rest}`
  }

  #listing(view: MarketView, nowMs: number): Listing {
    const { number } = view.ref
    const kept = this.#kept.get(number)
    if (kept?.summary === view.summary && nowMs - kept.readAtMs < KEPT_MS) return kept
    const listing = readListing(view, nowMs)
    this.#kept.delete(number)
    this.#kept.set(number, listing)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest)
    return listing
  }
}

function readListing(view: MarketView, nowMs: number): Listing {
  const { ref, summary } = view
  const head = fields({
    id: ref.id,
    slug: summary.slug,
    question: summary.question,
    description: view.details().description,
    status: summary.status,
  })
  const outcomes = summary.outcomes.map(({ label }) => `{${fields({ label })},"price":`)
  const where = fields({ platform: ref.platform, native_id: ref.nativeId, url: summary.url })
  const rest = fields({
    open_interest: summary.openInterest === null ? null : toNumber(summary.openInterest),
    created_at: summary.createdAtMs === null ? null : toSeconds(summary.createdAtMs),
    close_time: summary.closeAtMs === null ? null : toSeconds(summary.closeAtMs),
    tags: summary.tags,
    category: summary.category,
    event_slug: summary.eventSlug,
    image: summary.image,
  })
  return {
    summary,
    readAtMs: nowMs,
    head: `{${head},"outcomes":[`,
    outcomes,
    platform: `],"platforms":[{${where},`,
    rest: `,${rest}}`,
  }
}

/** The inside of an object. */
function fields(values: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(values).slice(1, -1)
}

function number(micros: number | null): number | null {
  return micros === null ? null : micros / MICROS
}
