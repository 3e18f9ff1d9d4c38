// What matching looks at: a market or an event of either venue reduced to texts, codes and times.
// Not for: what the texts mean (proposition.ts). Readers from the catalogue's listings stand here; from the
// venues' JSON in engine/matching/read/gamma.ts and engine/matching/read/kalshi.ts, from labelled pairs in labelled-pair.ts.

import type { VenueKey } from './ids.ts'
import type { EventListing, MarketListing } from './market/market.ts'
import type { HandleForm } from './venue-table.ts'
import { marketOfKalshi } from './venues/kalshi/subjects.ts'
import { marketOfGamma } from './venues/polymarket/subjects.ts'

/** The bound of a numeric question as the venue states it beside its text. */
export interface Strike {
  /** Kalshi's `strike_type`: greater, greater_or_equal, less, less_or_equal, between, …; '' unknown. */
  readonly kind: string
  readonly floor: number | null
  readonly cap: number | null
}

/** One market; texts are as the venue sent them, '' where it sent none. */
export interface MatchMarket {
  readonly venue: VenueKey
  readonly handles: HandleForm
  /** The market's own id at its venue: condition id or ticker; in labelled pairs its slug or question. */
  readonly key: string
  /** The question. */
  readonly title: string
  /** What Yes stands for: Kalshi's `yes_sub_title`, Gamma's `groupItemTitle`. */
  readonly subtitle: string
  /** Labels in the venue's order, empty where unknown; the first is what Yes means. */
  readonly outcomes: readonly string[]
  readonly rules: string
  /** Venue a's slug, venue b's ticker; '' where unknown. */
  readonly handle: string
  /** Venue a's event slug, venue b's event ticker; null where unknown. */
  readonly eventKey: string | null
  readonly eventTitle: string
  /** Kalshi's event `sub_title` ("On May 10, 2026", "CIN at PHI (Aug 7)"). */
  readonly eventSubtitle: string
  /** Kalshi's series ticker, Gamma's series slug. */
  readonly series: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  /** When what is asked about begins, such as a game; milliseconds since 1970. */
  readonly startMs: number | null
  /** When trading closes or the venue expects to settle. */
  readonly closeMs: number | null
  readonly strike: Strike | null
  /** Gamma's `sportsMarketType` and `line`. */
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
  /** Venue a's event slug, venue b's event ticker; '' where unknown. */
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

/** The market of a catalogue entry; its event's entry adds title, series and tags where it is known. */
export function marketOfListing(listing: MarketListing, event: EventListing | null): MatchMarket {
  const read =
    listing.venue === 'a'
      ? marketOfGamma(listing.native, event?.native ?? null)
      : marketOfKalshi(listing.native, event?.native ?? null)
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
    tags: listing.tags.length > 0 ? listing.tags : (event?.tags ?? []),
    closeMs: listing.closeAtMs ?? read.closeMs,
  }
}
