// Venue a's list of teams and players: Gamma's /teams (README.md, Gamma), page by page to its end.

import type { HttpClient } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { asList } from '../../answer-checks.ts'
import { locationOf, trimmedText } from '../../team-fields.ts'
import type { TeamListing } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'

/** The most that the venue gives at once. */
const PAGE_ROWS = 100
/** A list longer than this does not heed its offset. */
const PAGES_MAX = 1_000

/** Every team the venue lists; rows that cannot be read are counted and left out. */
export async function readTeams(
  parts: { readonly gamma: HttpClient; readonly counters: VenueCounters },
  signal: AbortSignal,
): Promise<readonly TeamListing[]> {
  const { gamma, counters } = parts
  const teams: TeamListing[] = []
  // Rows move between pages while the list changes, and a server may forget the offset.
  const seen = new Set<string>()
  let offset = 0
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const rows = asList(
      await gamma.getJson('/teams', { limit: PAGE_ROWS, offset }, { signal }),
      'teams',
    )
    const previousCount = seen.size
    for (const row of rows) {
      const key = isRecord(row) ? `${row.id} ${row.league} ${row.abbreviation} ${row.name}` : ''
      if (seen.has(key)) continue
      seen.add(key)
      const team = readTeam(row)
      if (team === null) counters.rejected('bad_team', JSON.stringify(row) ?? '')
      else teams.push(team)
    }
    // A short page need not be the last: the venue may cap pages lower than we ask.
    if (rows.length === 0) return teams
    if (seen.size === previousCount) break
    offset += rows.length
  }
  counters.trouble('teams_repeat', { detail: String(offset) })
  return teams
}

function readTeam(row: unknown): TeamListing | null {
  if (!isRecord(row)) return null
  const name = trimmedText(row.name)
  const league = trimmedText(row.league).toLowerCase()
  if (name === '' || league === '') return null
  const nickname = trimmedText(row.alias)
  return {
    venue: 'a',
    league,
    code: trimmedText(row.abbreviation).toLowerCase(),
    name,
    location: locationOf(name, nickname),
    nickname,
  }
}
