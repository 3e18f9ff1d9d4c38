// What the list of markets is asked for, as it stands in the address: `#/markets?q=fed&venue=venue_a`. Whoever opens
// such an address finds the same list. Not for: asking (http/dashboard/parts/markets/finder.ts). Upholds DASH36.

import { setAddressHash } from '../../browser.ts'
import type { MarketStatus } from '../../records.ts'
import { hrefOf, placeOf, place as tabPlace } from '../../route.ts'

export interface MarketQuery {
  /** As typed, blanks and all. */
  readonly text: string
  /** A venue's configured name; null: both. */
  readonly venue: string | null
  readonly status: MarketStatus | null
  readonly category: string | null
}

export const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved']
/** Below it the search would find too much, and the server refuses. */
export const TEXT_LENGTH_MIN = 2
export const TEXT_LENGTH_MAX = 200

/** What an address asks for; a value that no list has is left out. */
export function queryOf(parameters: URLSearchParams): MarketQuery {
  const text = parameters.get('q') ?? ''
  const status = STATUSES.find((known) => known === parameters.get('status')) ?? null
  return {
    text: text.slice(0, TEXT_LENGTH_MAX),
    venue: filled(parameters.get('venue')),
    status,
    category: filled(parameters.get('category')),
  }
}

/** The address of a list. */
export const hrefOfQuery = ({ text, venue, status, category }: MarketQuery): string =>
  hrefOf('markets', null, { q: text, venue, status, category })

/** Whether two queries find the same. */
export const isSameQuery = (one: MarketQuery, other: MarketQuery): boolean =>
  searchText(one) === searchText(other) &&
  one.venue === other.venue &&
  one.status === other.status &&
  one.category === other.category

/** What is searched for; empty: everything is listed. */
export function searchText({ text }: MarketQuery): string {
  const words = text.trim()
  return words.length < TEXT_LENGTH_MIN ? '' : words
}

/** Puts a query into the tab's address in place of the last one: each letter typed is no page of its own. */
export function keepInAddress(query: MarketQuery): void {
  const href = hrefOfQuery(query)
  setAddressHash(href, true)
  // The browser tells of it only later, and the field must not fall back to what stood in it before.
  tabPlace.set(placeOf(href))
}

function filled(text: string | null): string | null {
  return text === null || text === '' ? null : text
}
