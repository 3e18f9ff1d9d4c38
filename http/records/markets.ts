// UnifiedMarkets as JSON text. Two things are kept of the markets asked for last: what only a
// listing can change, without which a page of 200 markets reads 200 descriptions from disk, and the
// whole record, given again until the market or its twin changes. When full, those written longest
// ago go, and are written anew.

import type { MarketView, MatchesView } from '../../actors/views.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { MICROS, priceCents, toNumber, toSeconds } from '../../engine/units.ts'
import { etagOf } from '../request/etag.ts'
import { BoundedCache, weightOf } from './bounded-cache.ts'
import { feesRecord } from './fees.ts'
import { outcomePrice, resolutionFields } from './render.ts'

const BOUNDS = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }
/** A description alone may change without a new summary; it is read again after this long. */
const CACHE_MS = 60_000

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
  /** From behind the figures to the end. */
  readonly rest: string
}

/** A whole record, and what it was written from. */
interface Written {
  /** Counts up with each that is written. */
  readonly number: number
  readonly listing: Listing
  readonly version: number
  readonly matchedMarket: MarketView | null
  readonly matchedMarketVersion: number
  readonly text: string
  /** Of the text, once it was asked for. */
  etag: string | null
  /** The text as UTF-8, likewise. */
  encoded: Uint8Array | null
  readonly bytes: number
}

/** Writes the records of markets. */
export class MarketRecords {
  readonly #matches: Pick<MatchesView, 'matchedMarketOf'>
  readonly #cache: BoundedCache<MarketNumber, Written>
  #writtenCount = 0

  constructor(matches: Pick<MatchesView, 'matchedMarketOf'>, bounds = BOUNDS) {
    this.#matches = matches
    this.#cache = new BoundedCache(bounds)
  }

  /** The record as JSON text. */
  text(view: MarketView, nowMs: number): string {
    return this.#written(view, nowMs).text
  }

  /** The record as UTF-8, encoded once while it is kept: that takes ten times as long as copying it. */
  encoded(view: MarketView, nowMs: number): Uint8Array {
    const written = this.#written(view, nowMs)
    // In memory of its own: a short piece of Node's pool would keep 8 KiB.
    written.encoded ??= new Uint8Array(Buffer.from(written.text))
    return written.encoded
  }

  /** The record, and its name (etag.ts). */
  named(view: MarketView, nowMs: number): { readonly text: string; readonly etag: string } {
    const written = this.#written(view, nowMs)
    written.etag ??= etagOf(written.text)
    return { text: written.text, etag: written.etag }
  }

  /** The number of the record as it is kept, which no other record has; null: it would be written anew. */
  cachedNumber(view: MarketView, nowMs: number): number | null {
    const cached = this.#cache.get(view.ref.number)
    const isCached =
      cached !== undefined &&
      isListed(cached, view, nowMs) &&
      isPresent(cached, view, this.#matches.matchedMarketOf(view.ref))
    return isCached ? cached.number : null
  }

  #written(view: MarketView, nowMs: number): Written {
    const { number } = view.ref
    const cached = this.#cache.get(number)
    const matchedMarket = this.#matches.matchedMarketOf(view.ref)
    const isCurrent = cached !== undefined && isListed(cached, view, nowMs)
    if (isCurrent && isPresent(cached, view, matchedMarket)) return cached
    const listing = isCurrent ? cached.listing : readListing(view, nowMs)
    const text = recordText(view, listing, matchedMarket)
    const matchedMarketVersion = matchedMarket?.version ?? 0
    const bytes = weightOf(text, text, listing.head, listing.platform, listing.rest)
    this.#writtenCount += 1
    const written = {
      ...{
        number: this.#writtenCount,
        listing,
        version: view.version,
        matchedMarket,
        matchedMarketVersion,
        text,
      },
      ...{ etag: null, encoded: null, bytes },
    }
    this.#cache.put(number, written)
    return written
  }
}

/** Whether what only a listing changes is as it was written. */
function isListed({ listing }: Written, { summary }: MarketView, nowMs: number): boolean {
  const { readAtMs } = listing
  return (
    listing.summary === summary &&
    nowMs - readAtMs < CACHE_MS &&
    !hasPassed(summary.fees.next?.sinceMs, readAtMs, nowMs)
  )
}

/** Whether the live numbers are, those of the twin too. */
function isPresent(cached: Written, view: MarketView, matchedMarket: MarketView | null): boolean {
  return (
    cached.version === view.version &&
    cached.matchedMarket === matchedMarket &&
    (matchedMarket === null || cached.matchedMarketVersion === matchedMarket.version)
  )
}

/** Whether a moment lies between two others, the later one included. */
function hasPassed(atMs: number | null | undefined, fromMs: number, toMs: number): boolean {
  return atMs !== null && atMs !== undefined && atMs > fromMs && atMs <= toMs
}

function recordText(view: MarketView, listing: Listing, matchedMarket: MarketView | null): string {
  const { head, outcomes, platform, rest } = listing
  const first = view.price().price
  let text = head
  for (let index = 0; index < outcomes.length; index += 1) {
    const price = outcomePrice(first, index)
    if (index > 0) text += ','
    const isSecondOfTwo = index === 1 && outcomes.length === 2
    const cents = isSecondOfTwo ? 100 - priceCents(first) : priceCents(price)
    text += `${outcomes[index]}${price / MICROS},"price_cents":${cents}}`
  }
  const { figures } = view
  const other =
    matchedMarket === null ? '' : `,{${venueFieldsText(matchedMarket)},${quoteText(matchedMarket)}}`
  const interest = `"open_interest":${number(figures.openInterest)}`
  const times = `${volumesText(view)},"volume_24h_as_of_ms":${figures.dayFiguresAtMs || null}`
  return `${text}${platform}${quoteText(view)}}${other}],"volume_total":${number(figures.volumeTotal)},${interest},${times}${rest}`
}

/** The live part of a market's listing on its platform. */
function quoteText(view: MarketView): string {
  const { bid, ask } = view.price()
  return `"best_bid":${number(bid)},"best_ask":${number(ask)},${volumesText(view)}`
}

function volumesText({ figures, volumeUnit }: MarketView): string {
  const asOf = figures.figuresAtMs || null
  return `"volume_24h":${toNumber(figures.volume24h)},"volume_unit":"${volumeUnit}","as_of_ms":${asOf}`
}

function venueFieldsText({ ref, summary }: MarketView): string {
  return fields({ platform: ref.platform, native_id: ref.nativeId, url: summary.url })
}

function readListing(view: MarketView, nowMs: number): Listing {
  const { ref, summary } = view
  const head = fields({
    id: ref.id,
    slug: summary.slug,
    question: summary.question,
    description: view.details().description,
    status: summary.status,
    ...resolutionFields(summary),
  })
  const outcomes = summary.outcomes.map(({ label }) => `{${fields({ label })},"price":`)
  const rest = fields({
    created_at: summary.createdAtMs === null ? null : toSeconds(summary.createdAtMs),
    close_time: summary.closeAtMs === null ? null : toSeconds(summary.closeAtMs),
    tags: summary.tags,
    category: summary.category,
    event_slug: summary.eventSlug,
    image: summary.image,
    price_step: summary.tickMicros === null ? null : summary.tickMicros / MICROS,
    fees: feesRecord(summary.fees, nowMs),
  })
  return {
    summary,
    readAtMs: nowMs,
    head: `{${head},"outcomes":[`,
    outcomes,
    platform: `],"platforms":[{${venueFieldsText(view)},`,
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
