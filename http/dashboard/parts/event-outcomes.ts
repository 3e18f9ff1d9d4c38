// Joins the markets of an event with their matches at the other venue.

import { request } from '../api.ts'
import type { Market, MatchList } from '../records.ts'
import { isComparable, type MatchPair, pairsOf } from './pair.ts'
import type { LivePrices } from './quotes.ts'
import type { Venues } from './venues.ts'

/** A pair of the same question whose first outcomes have the same meaning. */
export type EventMatch = Pick<MatchPair, 'a' | 'b'>

export interface OutcomeRow {
  /** Id of the first market. */
  readonly key: string
  /** At least one of `a` and `b` is a market. */
  readonly a: Market | null
  readonly b: Market | null
}

/** Maximum slugs in a request. */
const SLUGS_MAX = 100
const LIMIT = 200

/** Rejects with ApiError. */
export async function fetchEventMatches(
  markets: readonly Market[],
  venues: Venues,
  signal: AbortSignal,
): Promise<readonly EventMatch[]> {
  const [first] = markets
  if (first === undefined) return []
  const isOfA = first.platforms[0]?.platform === venues.a
  const slugs = markets.map(({ slug }) => slug)
  const filters = isOfA
    ? Array.from({ length: Math.ceil(slugs.length / SLUGS_MAX) }, (_, index) => ({
        market_slug: slugs.slice(index * SLUGS_MAX, (index + 1) * SLUGS_MAX),
      }))
    : [{ event_ticker: first.event_slug ?? first.slug }]
  const lists = await Promise.all(
    filters.map((filter) =>
      request<MatchList>('/v1/matching-markets', {
        query: { ...filter, status: 'all', relation: 'identical', min_score: 80, limit: LIMIT },
        signal,
      }),
    ),
  )
  return lists
    .flatMap(({ matches }) => pairsOf(matches, venues))
    .filter(({ match }) => isComparable(match) && match.inverted === false)
}

/** The event of the other venue that has most of the matched markets; null: none. */
export function partnerEventOf(matches: readonly EventMatch[], isOfA: boolean): string | null {
  const counts = new Map<string, number>()
  for (const { a, b } of matches) {
    const slug = (isOfA ? b : a).event_slug
    if (slug !== null) counts.set(slug, (counts.get(slug) ?? 0) + 1)
  }
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? null
}

/** Matched markets share a row. Rows of `own` come first, in their order. */
export function outcomeRows(
  own: readonly Market[],
  others: readonly Market[],
  matches: readonly EventMatch[],
  isOfA: boolean,
): readonly OutcomeRow[] {
  const partners = new Map(matches.map(({ a, b }) => (isOfA ? [a.id, b] : [b.id, a])))
  const row = (key: string, one: Market | null, other: Market | null): OutcomeRow =>
    isOfA ? { key, a: one, b: other } : { key, a: other, b: one }
  const rows = own.map((market) => row(market.id, market, partners.get(market.id) ?? null))
  const matched = new Set(
    rows.flatMap(({ a, b }) => (a !== null && b !== null ? [a.id, b.id] : [])),
  )
  return [
    ...rows,
    ...others.filter(({ id }) => !matched.has(id)).map((market) => row(market.id, null, market)),
  ]
}

export type PricedMarket = Pick<Market, 'id' | 'status' | 'outcomes'>

/** Price of the first outcome, 0 to 1. A resolved market has its settlement price. */
export function yesPriceOf(
  { id, status, outcomes }: PricedMarket,
  live: LivePrices,
): number | null {
  const trading = status === 'resolved' ? null : (live.get(id)?.value?.price ?? null)
  return trading ?? outcomes[0]?.price ?? null
}

/** Sum over open markets; null: none is open, or a price is unknown. */
export function sumOfYes(markets: readonly PricedMarket[], live: LivePrices): number | null {
  const prices = markets
    .filter(({ status }) => status === 'open')
    .map((market) => yesPriceOf(market, live))
  const known = prices.filter((price) => price !== null)
  if (known.length === 0 || known.length < prices.length) return null
  return known.reduce((sum, price) => sum + price, 0)
}
