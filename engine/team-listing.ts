import type { HandleForm, VenueKey } from './ids.ts'

/** One team or player as a venue lists it. Texts are as the venue writes them, '' where it states none. */
export interface TeamListing {
  readonly venue: VenueKey
  /** The venue's name of the league, lower case: `nfl`, `cfb`. */
  readonly league: string
  /** The code in slugs or tickers, lower case. */
  readonly code: string
  /** "Los Angeles Rams"; "Carlos Alcaraz". */
  readonly name: string
  /** "Los Angeles". */
  readonly location: string
  /** "Rams". */
  readonly nickname: string
}

/** A listing with the form in which its venue writes codes. */
export interface TeamEntry {
  readonly team: TeamListing
  readonly handles: HandleForm
}
