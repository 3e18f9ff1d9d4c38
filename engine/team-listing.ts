import type { HandleForm, VenueKey } from './ids.ts'

/** One team or player in a venue's list. Texts are unchanged, or '' if the venue states none. */
export interface TeamListing {
  readonly venue: VenueKey
  /** The venue's name of the league, lower case: `nfl`, `cfb`. */
  readonly league: string
  /** The code in slugs or tickers, lower case. */
  readonly code: string
  /** For example "Los Angeles Rams" or "Carlos Alcaraz". */
  readonly name: string
  readonly location: string
  readonly nickname: string
}

export interface TeamEntry {
  readonly team: TeamListing
  readonly handles: HandleForm
}
