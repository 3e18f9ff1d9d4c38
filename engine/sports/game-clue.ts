// The game of an event, as listed by its venue. All listings of one game at one venue have the same anchor.

import type { HandleForm, VenueKey } from '../ids.ts'
import type { League } from './leagues.ts'

export interface Side {
  /** Code from the slug or ticker, lower case. '' if the two joined codes could not be split. */
  readonly code: string
  /** Name from the title. '' if the title has none. */
  readonly name: string
}

export interface GameClue {
  readonly venue: VenueKey
  readonly handles: HandleForm
  readonly league: League
  /** Equal for all events of this game at this venue: its winner, spreads, totals and props. */
  readonly anchor: string
  /** YYYY-MM-DD, the US Eastern day of the game in the venue's listing. */
  readonly date: string
  /** 2 for the second game of a day. Null: the venue states no number. */
  readonly number: number | null
  /** Milliseconds since 1970. Null: the listing states none. */
  readonly startMs: number | null
  /** Expected end of the game, in milliseconds since 1970. */
  readonly endMs: number | null
  /** Away and home team in US leagues, home and away team in soccer. Golf has one side, the tournament. */
  readonly sides: readonly Side[]
}

export interface EventFacts {
  readonly nativeId: string
  /** Series ticker. Null: unknown. */
  readonly series: string | null
  readonly title: string
  /** For example "CIN at PHI (Aug 7)". '' if unknown. */
  readonly subtitle: string
  /** Known endings of the tickers of the event's markets ("PHI"). */
  readonly suffixes: readonly string[]
  /** The venue's expected start and end of the game, in milliseconds. Null: unknown. */
  readonly startMs: number | null
  readonly endMs: number | null
}
