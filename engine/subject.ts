// What matching looks at: a market or an event of any venue reduced to texts, codes and times, and how a venue's rows
// become that.

import type { HandleForm, VenueKey } from './ids.ts'
import type { Row } from './json-fields.ts'
import type { EventListing, MarketListing } from './market/market.ts'

/** The bound of a numeric question as the venue states it beside its text. */
export interface Strike {
  /** greater, greater_or_equal, less, less_or_equal, between, …; '' unknown. */
  readonly kind: string
  readonly floor: number | null
  readonly cap: number | null
}

/** One market; texts are as the venue sent them, '' where it sent none. */
export interface MatchMarket {
  readonly venue: VenueKey
  readonly handles: HandleForm
  /** The market's own id at its venue; in labelled pairs its slug or question. */
  readonly key: string
  /** The question. */
  readonly title: string
  /** What Yes stands for, in a few words. */
  readonly subtitle: string
  /** Labels in the venue's order, empty where unknown; the first is what Yes means. */
  readonly outcomes: readonly string[]
  readonly rules: string
  /** The slug or ticker; '' where unknown. */
  readonly handle: string
  /** The event's slug or ticker; null where unknown. */
  readonly eventKey: string | null
  readonly eventTitle: string
  /** The event's short title ("On May 10, 2026", "CIN at PHI (Aug 7)"). */
  readonly eventSubtitle: string
  /** The series' ticker or slug. */
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  /** When what is asked about begins, such as a game; milliseconds since 1970. */
  readonly startMs: number | null
  /** When trading closes or the venue expects to settle. */
  readonly closeMs: number | null
  readonly strike: Strike | null
  /** The kind of bet and its line, as the venue states them beside its text. */
  readonly betType: string
  readonly line: number | null
}

/** A group of markets; `markets` may be a sample, with titles only. */
export interface MatchEvent {
  readonly venue: VenueKey
  readonly handles: HandleForm
  readonly key: string
  readonly title: string
  readonly subtitle: string
  readonly rules: string
  /** The event's slug or ticker; '' where unknown. */
  readonly handle: string
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly startMs: number | null
  readonly closeMs: number | null
  /** Whether at most one of its outcomes can be right, as the venue says; null: it does not. */
  readonly isExclusive: boolean | null
  readonly markets: readonly MatchMarket[]
}

/** How the rows of a venue, whole or reduced, become subjects; what they lack reads as nothing. */
export interface SubjectReader {
  /** The event's row adds what it knows; null: it is taken from the market's row as far as it stands there. */
  readonly market: (row: Row, event: Row | null) => MatchMarket
  /** With its markets, or with titles of some. */
  readonly event: (row: Row) => MatchEvent
  /** Whether a row that lists no markets is of an event all the same. */
  readonly isEvent: (row: Row) => boolean
}

/** The market of a catalogue entry; its event's entry adds title, series and tags where it is known. */
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
