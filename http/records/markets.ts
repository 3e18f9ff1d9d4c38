// Writes UnifiedMarkets as JSON text. Two parts are cached per market: the part that only a listing changes, which
// saves reading descriptions from disk, and the complete record, valid until the market or its match changes.

import type { MarketView, MatchesView } from '../../actors/views.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { MICROS, priceCents, toNumber, toSeconds } from '../../engine/units.ts'
import { etagOf } from '../request/etag.ts'
import { BoundedCache, weightOf } from './bounded-cache.ts'
import { feesRecord } from './fees.ts'
import { outcomePrice, resolutionFields } from './render.ts'

const BOUNDS = { countMax: 4_096, bytesMax: 64 * 2 ** 20 }
/** Maximum age of a cached listing: a description may change without a new summary. */
const CACHE_MS = 60_000

/** A market's record, split at its live numbers. */
interface Listing {
  readonly summary: MarketView['summary']
  readonly readAtMs: number
  /** The text before the outcomes. */
  readonly head: string
  /** The text of each outcome before its price. */
  readonly outcomes: readonly string[]
  /** The text from the last outcome to `best_bid`. */
  readonly platform: string
  /** The text after the live numbers. */
  readonly rest: string
}

/** A complete record and the versions it was written from. */
interface Written {
  /** Increments with each written record. */
  readonly number: number
  readonly listing: Listing
  readonly version: number
  readonly matchedMarket: MarketView | null
  readonly matchedMarketVersion: number
  readonly text: string
  /** ETag of the text; null until it is requested. */
  etag: string | null
  /** The text as UTF-8; null until it is requested. */
  encoded: Uint8Array | null
  readonly bytes: number
}

export class MarketRecords {
  readonly #matches: Pick<MatchesView, 'matchedMarketOf'>
  readonly #cache: BoundedCache<MarketNumber, Written>
  #writtenCount = 0

  constructor(matches: Pick<MatchesView, 'matchedMarketOf'>, bounds = BOUNDS) {
    this.#matches = matches
    this.#cache = new BoundedCache(bounds)
  }

  text(view: MarketView, nowMs: number): string {
    return this.#written(view, nowMs).text
  }

  /** The record as UTF-8. The bytes are cached with the record: encoding takes ten times as long as copying. */
  encoded(view: MarketView, nowMs: number): Uint8Array {
    const written = this.#written(view, nowMs)
    // A copy outside Node's buffer pool: a short slice of the pool would retain 8 KiB.
    written.encoded ??= new Uint8Array(Buffer.from(written.text))
    return written.encoded
  }

  /** The record and its ETag (etag.ts). */
  named(view: MarketView, nowMs: number): { readonly text: string; readonly etag: string } {
    const written = this.#written(view, nowMs)
    written.etag ??= etagOf(written.text)
    return { text: written.text, etag: written.etag }
  }

  /** The unique number of the cached record. Null: no valid record is cached. */
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

/** Whether the listing part is unchanged since the record was written. */
function isListed({ listing }: Written, { summary }: MarketView, nowMs: number): boolean {
  const { readAtMs } = listing
  return (
    listing.summary === summary &&
    nowMs - readAtMs < CACHE_MS &&
    !hasPassed(summary.fees.next?.sinceMs, readAtMs, nowMs)
  )
}

/** Whether the live numbers, including those of the matched market, are unchanged. */
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

/** The fields of an object as JSON text, without the braces. */
function fields(values: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(values).slice(1, -1)
}

function number(micros: number | null): number | null {
  return micros === null ? null : micros / MICROS
}
