import type { JsonReader } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { asList } from '../../answer-checks.ts'
import { locationOf, trimmedText } from '../../team-fields.ts'
import type { TeamListing } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'

/** Maximum page size that the venue accepts. */
const PAGE_ROWS = 100
/** Maximum pages. A longer list means that the venue ignores the offset. */
const PAGES_MAX = 1_000

/** Unreadable rows are counted and omitted. */
export async function readTeams(
  parts: { readonly gamma: JsonReader; readonly counters: VenueCounters },
  signal: AbortSignal,
): Promise<readonly TeamListing[]> {
  const { gamma, counters } = parts
  const teams: TeamListing[] = []
  // Detects repeated rows. Rows move between pages while the list changes, and a server may ignore the offset.
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
    // Only an empty page is the end, because the venue's page limit may be lower than the requested size.
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
