// The input of market matching: a market or an event of any venue as texts, codes and times.

import type { HandleForm, VenueKey } from './ids.ts'
import type { Row } from './json-fields.ts'
import type { EventListing, MarketListing } from './market/market.ts'

/** The threshold of a numeric question, if the venue states it in a separate field. */
export interface Strike {
  /** greater, greater_or_equal, less, less_or_equal, between, … or '' if unknown. */
  readonly kind: string
  readonly floor: number | null
  readonly cap: number | null
}

/** Texts are unchanged, or '' if the venue sent none. */
export interface MatchMarket {
  readonly venue: VenueKey
  readonly handles: HandleForm
  /** The market's id at its venue. In labelled pairs: its slug or question. */
  readonly key: string
  readonly title: string
  readonly subtitle: string
  /** Labels in the venue's order, empty if unknown. Yes means the first outcome. */
  readonly outcomes: readonly string[]
  readonly rules: string
  /** The slug or ticker. '' if unknown. */
  readonly handle: string
  /** The event's slug or ticker. Null if unknown. */
  readonly eventKey: string | null
  readonly eventTitle: string
  /** The event's short title ("On May 10, 2026", "CIN at PHI (Aug 7)"). */
  readonly eventSubtitle: string
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  /** Start of the game or other occasion of the question. Milliseconds since 1970. */
  readonly startMs: number | null
  /** Close of trading, or the settlement time that the venue expects. */
  readonly closeMs: number | null
  readonly strike: Strike | null
  /** The kind of bet and its line, if the venue states them in separate fields. */
  readonly betType: string
  readonly line: number | null
}

/** A group of markets. `markets` may be a sample with titles only. */
export interface MatchEvent {
  readonly venue: VenueKey
  readonly handles: HandleForm
  readonly key: string
  readonly title: string
  readonly subtitle: string
  readonly rules: string
  /** The event's slug or ticker. '' if unknown. */
  readonly handle: string
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly startMs: number | null
  readonly closeMs: number | null
  /** Whether at most one of its outcomes can be right. Null: the venue does not state it. */
  readonly isExclusive: boolean | null
  readonly markets: readonly MatchMarket[]
}

/** Derives subjects from a venue's rows. Missing fields read as absent. */
export interface SubjectReader {
  /** The event's row adds fields. Without an event, they are read from the market's row. */
  readonly market: (row: Row, event: Row | null) => MatchMarket
  readonly event: (row: Row) => MatchEvent
  readonly isEvent: (row: Row) => boolean
}

/** The event's listing adds title, series and tags. */
export function marketOfListing(
  { market }: Pick<SubjectReader, 'market'>,
  listing: MarketListing,
  event: EventListing | null,
): MatchMarket {
  const read = market(listing.native, event?.native ?? null)
  return {
    ...read,
    key: listing.nativeId,
    title: read.title === '' ? listing.question : read.title,
    outcomes: listing.outcomes.map(({ label }) => label),
    rules: read.rules === '' ? (listing.description ?? '') : read.rules,
    handle: read.handles === 'slug' ? listing.slug : listing.nativeId,
    eventKey: listing.event,
    eventTitle: event?.title ?? read.eventTitle,
    series: event?.series ?? read.series,
    category: listing.category ?? event?.category ?? null,
    tags: [
      ...new Set([...(listing.tags.length > 0 ? listing.tags : (event?.tags ?? [])), ...read.tags]),
    ],
    closeMs: listing.closeAtMs ?? read.closeMs,
  }
}
