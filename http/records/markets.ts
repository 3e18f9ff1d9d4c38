import { Type } from '@sinclair/typebox'
import type { MarketView, MatchesView } from '../../actors/views.ts'
import { MARKET_STATUSES } from '../../engine/market/market.ts'
import { MICROS, priceCents, toNumber, toSeconds } from '../../engine/units.ts'
import { type Answer, namedJson, utf8 } from '../request/reply.ts'
import {
  AsOfSchema,
  choice,
  DayAsOfSchema,
  FeesSchema,
  field,
  nullable,
  pageFields,
  resolutionStatus,
  settlementPrice,
  VolumeUnitSchema,
} from '../schemas.ts'
import { type CacheBounds, type Fact, FactCache } from './fact-cache.ts'
import { feesRecord, outcomePrice, resolutionFields } from './render.ts'

export const OutcomeSchema = Type.Object({
  label: Type.String(),
  price: Type.Number({ minimum: 0, maximum: 1 }),
  price_cents: Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      'The price in whole cents, rounded half up; of the second of two outcomes 100 less those of the first.',
  }),
})

export const PlatformListingSchema = Type.Object({
  platform: Type.String(),
  native_id: Type.String(),
  url: field(
    nullable(Type.String()),
    'Address of the market at the venue; null: none, as for simulated data.',
    'https://example.com/markets/nfl-den-hou',
  ),
  best_bid: nullable(Type.Number()),
  best_ask: nullable(Type.Number()),
  volume_24h: nullable(Type.Number()),
  volume_unit: VolumeUnitSchema,
  as_of_ms: AsOfSchema,
})

export const MarketSchema = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  question: Type.String(),
  description: nullable(Type.String()),
  status: choice(MARKET_STATUSES),
  resolution_status: resolutionStatus(),
  settlement_price: settlementPrice(),
  outcomes: Type.Array(OutcomeSchema, { minItems: 2 }),
  platforms: Type.Array(PlatformListingSchema, {
    minItems: 1,
    description: 'Listings of the market: its own venue first, then the venue of a matched market.',
  }),
  volume_24h: Type.Number(),
  volume_total: field(
    nullable(Type.Number()),
    'Volume since the market opened, in the unit of the venue; it never decreases. Null: not known.',
    1932480.25,
  ),
  volume_unit: VolumeUnitSchema,
  open_interest: field(
    nullable(Type.Number()),
    'Contracts held, counted as pairs of both outcomes; the last figure of the venue. Polymarket states dollars of both ' +
      'outcomes together, which equals that number for a market of two outcomes. Twinbook reads it for open markets, ' +
      'those with most volume first, at most every five minutes, and a response may be five minutes old. Null: the ' +
      'venue states none.',
    96410,
  ),
  as_of_ms: AsOfSchema,
  volume_24h_as_of_ms: DayAsOfSchema,
  created_at: field(
    nullable(Type.Integer()),
    'When the market was created, Unix seconds; null: the venue does not state it.',
    1_759_276_800,
  ),
  close_time: nullable(Type.Integer()),
  tags: Type.Array(Type.String()),
  category: nullable(Type.String()),
  event_slug: nullable(Type.String()),
  image: field(
    nullable(Type.String()),
    'Address of a picture; null: none.',
    'https://example.com/images/nfl.png',
  ),
  price_step: field(
    nullable(Type.Number({ exclusiveMinimum: 0 })),
    'Prices of orders are multiples of this amount, in dollars; null: not known.',
    0.01,
  ),
  fees: FeesSchema,
})

export const MarketsSchema = Type.Object({
  markets: Type.Array(MarketSchema),
  total: Type.Integer({ minimum: 0 }),
  ...pageFields,
})

export const EventSchema = Type.Object({
  slug: Type.String(),
  title: Type.String(),
  status: choice(MARKET_STATUSES),
  markets: Type.Array(MarketSchema, { maxItems: 500 }),
  market_count: field(
    Type.Integer({ minimum: 0 }),
    'Number of markets of the event, including those that are not listed here.',
    2,
  ),
  total_volume_24h: field(
    Type.Number(),
    'Volume of all markets of the event over 24 hours, in the unit of the venue.',
    184212.5,
  ),
  platforms: Type.Array(Type.String(), { minItems: 1 }),
  total_volume: Type.Number(),
  volume_unit: VolumeUnitSchema,
  category: nullable(Type.String()),
  tags: Type.Array(Type.String()),
})

export const EventsSchema = Type.Object({
  events: Type.Array(EventSchema),
  total: Type.Integer({ minimum: 0 }),
  ...pageFields,
})

/** Markets by the key of their game. */
export const SportsSchema = Type.Object({
  markets: Type.Record(Type.String(), Type.Array(MarketSchema)),
  sport: Type.String(),
  date: Type.String(),
  total_events: Type.Integer({ minimum: 0 }),
  starts_at: field(
    Type.Record(Type.String(), nullable(Type.Integer())),
    'Start of each game by its key, Unix seconds; null: no venue states it.',
    { 'nfl-den-hou-2025-11-02': 1_762_106_700 },
  ),
})

/** Maximum age of a cached record. Needed because a description may change without a new summary. */
const CACHE_MS = 60_000

export function marketRecord(
  view: MarketView,
  matchedMarket: MarketView | null,
  nowMs: number,
  hasUrls = true,
) {
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
    platforms: [view, ...(matchedMarket === null ? [] : [matchedMarket])].map((each) =>
      listingRecord(each, hasUrls),
    ),
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

function listingRecord(view: MarketView, hasUrl: boolean) {
  const { ref, summary, figures, volumeUnit } = view
  const { bid, ask } = view.price()
  return {
    platform: ref.platform,
    native_id: ref.nativeId,
    url: hasUrl ? summary.url : null,
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

/** UnifiedMarket records as UTF-8. A record is cached until the market or its match changes. */
export class MarketRecords {
  readonly #matches: Pick<MatchesView, 'matchedMarketOf'>
  readonly #hasUrls: () => boolean
  readonly #cache: FactCache<CachedRecord>

  /** Without `hasUrls`, the venue's addresses are null, because simulated markets do not exist there. */
  constructor(
    matches: Pick<MatchesView, 'matchedMarketOf'>,
    bounds?: CacheBounds,
    hasUrls = () => true,
  ) {
    this.#matches = matches
    this.#hasUrls = hasUrls
    this.#cache = new FactCache(({ bytes }) => bytes.length, bounds)
  }

  /** Adds the facts that determine the record, for a `FactCache`. */
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
      const bytes = utf8(JSON.stringify(marketRecord(view, matchedMarket, nowMs, this.#hasUrls())))
      return { bytes, answer: namedJson(bytes) }
    })
  }
}
