// A catalogue page cut into slices that are taken in one turn each: a page of five hundred events
// with their markets would hold up messages for tens of milliseconds. Pure. Upholds CAT12.

import type { EventListing } from '../../engine/market/market.ts'
import type { CatalogPage } from '../../engine/venues/venue.ts'

/** Slices of at most `count` markets, each with the events its markets name; other events last. */
export function slicesOf(page: CatalogPage, count: number): CatalogPage[] {
  const events = new Map<string, EventListing>()
  for (const event of page.events) events.set(`${event.venue}${event.nativeId}`, event)
  const unnamed = new Set(page.events)
  const slices: CatalogPage[] = []
  for (let start = 0; start < page.markets.length; start += count) {
    const markets = page.markets.slice(start, start + count)
    const named = new Set<EventListing>()
    for (const { venue, event } of markets) {
      const listing = events.get(`${venue}${event}`)
      if (listing !== undefined) named.add(listing)
    }
    for (const listing of named) unnamed.delete(listing)
    slices.push({ markets, events: [...named] })
  }
  if (unnamed.size > 0) slices.push({ markets: [], events: [...unnamed] })
  return slices
}
