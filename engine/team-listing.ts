// A row of a venue's list of teams, as both the venues that give it and the tables that learn from it know it.

import type { HandleForm, VenueKey } from './ids.ts'

/** One team or player as a venue lists it; texts as the venue writes them, '' where it says nothing. */
export interface TeamListing {
  readonly venue: VenueKey
  /** The venue's word for the league, lower case: `nfl`, `cfb`. */
  readonly league: string
  /** As in slugs or tickers, lower case. */
  readonly code: string
  /** "Los Angeles Rams"; "Carlos Alcaraz". */
  readonly name: string
  /** "Los Angeles". */
  readonly location: string
  /** "Rams". */
  readonly nickname: string
}

/** A row with the form in which its venue writes codes. */
export interface TeamEntry {
  readonly team: TeamListing
  readonly handles: HandleForm
}
