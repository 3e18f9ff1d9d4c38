// The input of market matching: a market or an event of any venue reduced to texts, codes and times, and
// the interface that derives it from a venue's rows.

import type { HandleForm, VenueKey } from './ids.ts'
import type { Row } from './json-fields.ts'
import type { EventListing, MarketListing } from './market/market.ts'

/** The bound of a numeric question, as a separate field of the venue. */
export interface Strike {
  /** greater, greater_or_equal, less, less_or_equal, between, …; '' unknown. */
  readonly kind: string
  readonly floor: number | null
  readonly cap: number | null
}

/** One market. Texts are as the venue sent them, '' where it sent none. */
export interface MatchMarket {
  readonly venue: VenueKey
  readonly handles: HandleForm
  /** The market's own id at its venue. In labelled pairs: its slug or question. */
  readonly key: string
  readonly title: string
  /** What Yes stands for, in a few words. */
  readonly subtitle: string
  /** Labels in the venue's order, empty where unknown. Yes means the first. */
  readonly outcomes: readonly string[]
  readonly rules: string
  /** The slug or ticker. '' where unknown. */
  readonly handle: string
  /** The event's slug or ticker. Null where unknown. */
  readonly eventKey: string | null
  readonly eventTitle: string
  /** The event's short title ("On May 10, 2026", "CIN at PHI (Aug 7)"). */
  readonly eventSubtitle: string
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  /** Start of the event in question, such as a game. Milliseconds since 1970. */
  readonly startMs: number | null
  /** When trading closes or the venue expects to settle. */
  readonly closeMs: number | null
  readonly strike: Strike | null
  /** The kind of bet and its line, as separate fields of the venue. */
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
  /** The event's slug or ticker. '' where unknown. */
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

/** Derives subjects from a venue's rows, complete or reduced. Missing fields read as absent. */
export interface SubjectReader {
  /** The event's row adds its fields. Null: they come from the market's row, as far as it has them. */
  readonly market: (row: Row, event: Row | null) => MatchMarket
  /** With its markets, or with titles of some. */
  readonly event: (row: Row) => MatchEvent
  /** Whether a row that lists no markets is an event. */
  readonly isEvent: (row: Row) => boolean
}

/** The subject of a market's catalogue entry. The event's entry adds title, series and tags where it is known. */
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
