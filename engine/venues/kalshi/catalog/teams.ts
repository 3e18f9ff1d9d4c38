// Venue b's list of teams and players: its structured targets (README.md, REST), page by page. Kept are
// teams, and the players of sports in which a player is a side; the players of teams are thousands and in no
// game's name.

import type { HttpClient } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { AnswerDoubt, listIn, pagesOf } from '../../answers.ts'
import type { Tally } from '../../tally.ts'
import { placeOf, trimmedText } from '../../team-fields.ts'
import type { TeamListing } from '../../venue.ts'
import { cursorOf } from './rows.ts'

const PAGE_ROWS = 2_000
/** A list of more pages than this has lost its end. */
const PAGES_MAX = 200
const SIDES = /(^|_)team$|^tennis_|^golf/

/** Every team the venue lists; rows that cannot be read are counted and left out. */
export async function readTeams(
  parts: { readonly http: HttpClient; readonly tally: Tally },
  signal: AbortSignal,
): Promise<readonly TeamListing[]> {
  const { http, tally } = parts
  const path = '/structured_targets'
  const teams: TeamListing[] = []
  const ask = async (cursor?: string) => {
    const answer = await http.getJson(path, { page_size: PAGE_ROWS, cursor }, { signal })
    return { rows: listIn(answer, 'structured_targets', 'teams'), next: cursorOf(answer) }
  }
  const take = (row: unknown) => {
    if (isRecord(row) && !SIDES.test(trimmedText(row.type).toLowerCase())) {
      return tally.ignored('target_of_no_side')
    }
    const team = readTeam(row)
    if (team === null) tally.rejected('bad_team', JSON.stringify(row) ?? '')
    else teams.push(team)
  }
  try {
    const list = { kind: 'teams', name: path, pagesMax: PAGES_MAX } as const
    for await (const rows of pagesOf(ask, list)) rows.forEach(take)
  } catch (error) {
    // What came before is good, and teams that are known stay known.
    if (!(error instanceof AnswerDoubt) || teams.length === 0) throw error
    tally.doubts.note(error)
  }
  return teams
}

/** `details` is free form: each fact is taken from the first name that has it. */
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
  const place = first('market', 'location', 'city') || placeOf(name, nickname)
  return { venue: 'b', league, code, name, location: place, nickname }
}
