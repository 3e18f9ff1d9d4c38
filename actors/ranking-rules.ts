// Which markets a filter admits, and in what order a list stands. Pure. Upholds CAT4.

import type { MarketSummary } from '../storage/storage.ts'
import type { MarketFilter, MarketOrder } from './views.ts'

/** What the rules look at. */
export interface Rankable {
  readonly ref: { readonly number: number; readonly venue: string }
  readonly summary: MarketSummary
  readonly volume24h: number
}

/** Whether a market passes every set filter; the search text is not looked at here. */
export function passes(market: Rankable, filter: MarketFilter): boolean {
  const { summary } = market
  if (filter.venue !== null && market.ref.venue !== filter.venue) return false
  if (filter.status !== null && summary.status !== filter.status) return false
  if (summary.isUnopened && filter.status !== 'closed') return false
  if (filter.volume24hMin !== null && market.volume24h < filter.volume24hMin) return false
  const created = summary.createdAtMs
  if (filter.createdFromMs !== null && (created ?? -1) < filter.createdFromMs) return false
  if (filter.createdToMs !== null && (created ?? Number.POSITIVE_INFINITY) > filter.createdToMs) {
    return false
  }
  if (filter.category !== null && !isEqualText(summary.category, filter.category)) return false
  if (filter.eventSlug !== null && !isEqualText(summary.eventSlug, filter.eventSlug)) return false
  return (
    filter.tags.length === 0 ||
    filter.tags.some((wanted) => summary.tags.some((tag) => isEqualText(tag, wanted)))
  )
}

function isEqualText(one: string | null, other: string): boolean {
  return one !== null && one.toLowerCase() === other.toLowerCase()
}

/** Sorts by the key, unknown values last in both directions, then by number so that it is total. */
export function compareMarkets(
  sortBy: MarketOrder,
  order: 'asc' | 'desc',
): (one: Rankable, other: Rankable) => number {
  const sign = order === 'desc' ? -1 : 1
  const key = (market: Rankable): number | null => {
    if (sortBy === 'created_at') return market.summary.createdAtMs
    if (sortBy === 'close_time') return market.summary.closeAtMs
    return market.volume24h
  }
  return (one, other) => {
    const [left, right] = [key(one), key(other)]
    if (left !== right) {
      if (left === null) return 1
      if (right === null) return -1
      return (left - right) * sign
    }
    return one.ref.number - other.ref.number
  }
}

/** One text for one filter and order, by which rankings are shared and cursors are bound. */
export function filterKey(query: {
  filter: MarketFilter
  sortBy: MarketOrder
  order: 'asc' | 'desc'
}): string {
  const { filter } = query
  return JSON.stringify([
    query.sortBy,
    query.order,
    filter.venue,
    filter.status,
    filter.search,
    [...filter.tags].sort(),
    filter.category,
    filter.eventSlug,
    filter.volume24hMin,
    filter.createdFromMs,
    filter.createdToMs,
  ])
}
