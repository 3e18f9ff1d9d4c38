import type { MarketView, MatchesView } from '../../actors/views.ts'
import { MICROS, priceCents, toNumber, toSeconds } from '../../engine/units.ts'
import { type Answer, namedJson, utf8 } from '../request/reply.ts'
import { type CacheBounds, type Fact, FactCache } from './fact-cache.ts'
import { feesRecord } from './fees.ts'
import { outcomePrice, resolutionFields } from './render.ts'

/** Maximum age of a cached record: a description may change without a new summary. */
const CACHE_MS = 60_000

/** The UnifiedMarket record, with `matchedMarket` as its second platform. */
export function marketRecord(view: MarketView, matchedMarket: MarketView | null, nowMs: number) {
  const { ref, summary, figures, volumeUnit } = view
  const first = view.price().price
  const { outcomes } = summary
  const asOf = {
    volume_24h: toNumber(figures.volume24h),
    volume_unit: volumeUnit,
    as_of_ms: figures.figuresAtMs || null,
  }
  return {
    id: ref.id,
    slug: summary.slug,
    question: summary.question,
    description: view.details().description,
    status: summary.status,
    ...resolutionFields(summary),
    outcomes: outcomes.map(({ label }, index) => {
      const price = outcomePrice(first, index)
      const isSecondOfTwo = index === 1 && outcomes.length === 2
      const price_cents = isSecondOfTwo ? 100 - priceCents(first) : priceCents(price)
      return { label, price: price / MICROS, price_cents }
    }),
    platforms: [view, ...(matchedMarket === null ? [] : [matchedMarket])].map(listingRecord),
    volume_total: units(figures.volumeTotal),
    open_interest: units(figures.openInterest),
    ...asOf,
    volume_24h_as_of_ms: figures.dayFiguresAtMs || null,
    created_at: summary.createdAtMs === null ? null : toSeconds(summary.createdAtMs),
    close_time: summary.closeAtMs === null ? null : toSeconds(summary.closeAtMs),
    tags: summary.tags,
    category: summary.category,
    event_slug: summary.eventSlug,
    image: summary.image,
    price_step: units(summary.tickMicros),
    fees: feesRecord(summary.fees, nowMs),
  }
}

function listingRecord(view: MarketView) {
  const { ref, summary, figures, volumeUnit } = view
  const { bid, ask } = view.price()
  return {
    platform: ref.platform,
    native_id: ref.nativeId,
    url: summary.url,
    best_bid: units(bid),
    best_ask: units(ask),
    volume_24h: toNumber(figures.volume24h),
    volume_unit: volumeUnit,
    as_of_ms: figures.figuresAtMs || null,
  }
}

function units(micros: number | null): number | null {
  return micros === null ? null : micros / MICROS
}

interface CachedRecord {
  readonly bytes: Buffer
  readonly answer: Answer
}

/** UnifiedMarket records as UTF-8, cached while the market and its match do not change. */
export class MarketRecords {
  readonly #matches: Pick<MatchesView, 'matchedMarketOf'>
  readonly #cache: FactCache<CachedRecord>

  constructor(matches: Pick<MatchesView, 'matchedMarketOf'>, bounds?: CacheBounds) {
    this.#matches = matches
    this.#cache = new FactCache(({ bytes }) => bytes.length, bounds)
  }

  /** Adds the facts that decide the record. */
  addFacts(facts: Fact[], { ref, summary, version }: MarketView, nowMs: number): void {
    const matchedMarket = this.#matches.matchedMarketOf(ref)
    const nextFeesMs = summary.fees.next?.sinceMs ?? null
    const hasNextFees = nextFeesMs !== null && nextFeesMs <= nowMs
    facts.push(summary, version, hasNextFees, Math.floor(nowMs / CACHE_MS))
    if (matchedMarket !== null) facts.push(matchedMarket.summary, matchedMarket.version)
  }

  bytes(view: MarketView, nowMs: number): Buffer {
    return this.#read(view, nowMs).bytes
  }

  answer(view: MarketView, nowMs: number): Answer {
    return this.#read(view, nowMs).answer
  }

  #read(view: MarketView, nowMs: number): CachedRecord {
    const facts: Fact[] = []
    this.addFacts(facts, view, nowMs)
    return this.#cache.get(view.ref.number, facts, () => {
      const matchedMarket = this.#matches.matchedMarketOf(view.ref)
      const bytes = utf8(JSON.stringify(marketRecord(view, matchedMarket, nowMs)))
      return { bytes, answer: namedJson(bytes) }
    })
  }
}
