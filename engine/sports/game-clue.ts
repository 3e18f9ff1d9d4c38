// What a listing says about the game it belongs to: league, US Eastern date, two sides, and which
// game of the day. One clue an event; all listings of a game at one venue share its anchor.

import type { HandleForm, VenueKey } from '../ids.ts'
import type { League } from './leagues.ts'

/** One side as listed. */
export interface Side {
  /** As in the slug or ticker, lower case; '' when the run of codes could not be cut. */
  readonly code: string
  /** As in the title; '' when there is none. */
  readonly name: string
}

export interface GameClue {
  readonly venue: VenueKey
  /** Whether its codes are those of a slug or of a ticker. */
  readonly handles: HandleForm
  readonly league: League
  /** The same for all events of this game at this venue: its winner, spreads, totals, props. */
  readonly anchor: string
  /** YYYY-MM-DD, the US Eastern day of the game as the venue dates it. */
  readonly date: string
  /** 2 for the second game of a day where the venue says so; null where it says nothing. */
  readonly number: number | null
  /** Milliseconds since 1970; null when the listing has none. */
  readonly startMs: number | null
  /** When the game is expected to be over, likewise. */
  readonly endMs: number | null
  /** Away and home in the US leagues, home and away in soccer; golf has one, its tournament. */
  readonly sides: readonly Side[]
}

/** What is known of an event besides its id. */
export interface EventFacts {
  /** As in the catalogue: the event's slug or ticker. */
  readonly nativeId: string
  /** Series ticker; null when not known. */
  readonly series: string | null
  readonly title: string
  /** As "CIN at PHI (Aug 7)"; '' when not known. */
  readonly subtitle: string
  /** Ends of tickers of the event's markets ("PHI"), where they are known. */
  readonly suffixes: readonly string[]
  /** When the venue expects the game to begin and to be over, milliseconds; null when not known. */
  readonly startMs: number | null
  readonly endMs: number | null
}
