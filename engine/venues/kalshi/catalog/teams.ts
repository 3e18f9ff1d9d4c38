import type { JsonReader } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { SuspectAnswerError } from '../../answer-checks.ts'
import { locationOf, trimmedText } from '../../team-fields.ts'
import type { TeamListing } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { pagesIn } from './rest-rows.ts'

const PAGE_ROWS = 2_000
/** Maximum pages of a list. A longer list means that the cursor loops. */
const PAGES_MAX = 200
const SIDES = /(^|_)team$|^tennis_|^golf/

export async function readTeams(
  parts: { readonly http: JsonReader; readonly counters: VenueCounters },
  signal: AbortSignal,
): Promise<readonly TeamListing[]> {
  const { http, counters } = parts
  const name = 'structured_targets'
  const list = { path: `/${name}`, name, kind: 'teams', pagesMax: PAGES_MAX } as const
  const pages = pagesIn(http, list, { page_size: PAGE_ROWS }, signal)
  const teams: TeamListing[] = []
  const take = (row: unknown) => {
    if (isRecord(row) && !SIDES.test(trimmedText(row.type).toLowerCase())) {
      return counters.ignored('target_of_no_side')
    }
    const team = readTeam(row)
    if (team === null) counters.rejected('bad_team', JSON.stringify(row) ?? '')
    else teams.push(team)
  }
  try {
    for await (const rows of pages) rows.forEach(take)
  } catch (error) {
    // If a later page is suspect, the teams of the earlier pages are still returned.
    if (!(error instanceof SuspectAnswerError) || teams.length === 0) throw error
    counters.suspectAnswers.note(error)
  }
  return teams
}

/** `details` has no fixed schema. For each field several names are tried. */
function readTeam(row: unknown): TeamListing | null {
  if (!isRecord(row)) return null
  const details = isRecord(row.details) ? row.details : {}
  const first = (...names: readonly string[]) => {
    for (const name of names)
      if (trimmedText(details[name]) !== '') return trimmedText(details[name])
    return ''
  }
  const name = trimmedText(row.name) || first('full_name', 'name', 'display_name')
  if (name === '') return null
  const league = first('league', 'competition', 'tour').toLowerCase()
  const nickname = first('nickname', 'alias', 'mascot')
  const code = first('abbreviation', 'abbr', 'short_name', 'code').toLowerCase()
  const location = first('market', 'location', 'city') || locationOf(name, nickname)
  return { venue: 'b', league, code, name, location: location, nickname }
}
