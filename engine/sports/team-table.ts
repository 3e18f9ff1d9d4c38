// Maps codes and names to teams, and teams to slug codes. The venues' team lists extend the built-in tables.

import { ByVenue } from '../by-venue.ts'
import type { HandleForm, VenueKey } from '../ids.ts'
import type { TeamListing } from '../team-listing.ts'
import { clubOf } from './clubs.ts'
import { schoolOf } from './colleges.ts'
import { type League, leagueOfWord } from './leagues.ts'
import { foldName, proTeamOf, TEAMS } from './team-names.ts'

/** Maximum entries from the venues' lists. Above the maximum only known entries are updated. */
const LEARNED_MAX = 40_000
const IDENTITIES_MAX = 20_000

interface ProTeam {
  readonly id: string
  code: string
}

interface ProLeague {
  readonly byCode: Map<string, ProTeam>
  /** Null if the name belongs to two teams, such as "New York". */
  readonly byName: Map<string, ProTeam | null>
}

export class TeamTable {
  readonly #pro = new Map<string, ProLeague>()
  /** Slug codes of colleges and clubs by `league/team`. */
  readonly #codes = new Map<string, string>()
  /** Teams of colleges and clubs by `league/code`, per venue. For listings without names. */
  readonly #named = new ByVenue(() => new Map<string, string>())
  readonly #identities = new Map<string, string>()
  /** Keys `league/code` of all added entries of leagues with a fixed set of teams. */
  readonly #listed = new Set<string>()
  #learned = 0

  constructor() {
    for (const [league, rows] of Object.entries(TEAMS.pro)) this.#pro.set(league, readLeague(rows))
  }

  /** Adds an entry of a venue's list. Ignores unsupported leagues and players. */
  learn(listing: TeamListing, handles: HandleForm): void {
    const league = leagueOfWord(listing.league)
    if (league === null || listing.code === '') return
    if (league.kind === 'pro') this.#learnPro(league, listing, handles)
    else if (league.kind !== 'player') this.#learnNamed(league, listing, handles)
  }

  #put<Value>(map: Map<string, Value>, key: string, value: Value): boolean {
    if (!map.has(key)) {
      if (this.#learned >= LEARNED_MAX) return false
      this.#learned += 1
    }
    map.set(key, value)
    return true
  }

  /** The team's identity within its league. Null: neither code nor name is known. */
  team(league: League, side: { venue: VenueKey; code: string; name: string }): string | null {
    const code = side.code.toLowerCase()
    if (league.kind === 'pro') return this.proTeam(league, side)
    const name = side.name === '' || foldName(side.name) === code ? null : side.name
    const listed = this.#named.of(side.venue).get(`${league.name}/${code}`) ?? null
    if (name === null)
      return listed ?? (side.name === '' ? null : this.#identity(league, side.name, code))
    return this.#identity(league, name, code)
  }

  hasCode(league: League, venue: VenueKey, code: string): boolean {
    if (league.kind === 'pro') return this.#pro.get(league.name)?.byCode.has(code) === true
    return this.#named.of(venue).has(`${league.name}/${code}`)
  }

  /** Null: the team's slug code is unknown. */
  codeOf(league: League, team: string): string | null {
    if (league.kind !== 'pro') return this.#codes.get(`${league.name}/${team}`) ?? null
    return this.#pro.get(league.name)?.byCode.get(team)?.code ?? null
  }

  /** The identity of a team. Null if unknown. A unique name decides. Between teams of one city the code decides. */
  proTeam(league: League, side: { readonly code: string; readonly name: string }): string | null {
    const teams = this.#pro.get(league.name)
    if (teams === undefined) return null
    const folded = foldName(side.name)
    const byName = teams.byName.get(folded) ?? teams.byCode.get(folded.replaceAll(' ', ''))
    return (byName ?? teams.byCode.get(side.code.toLowerCase()))?.id ?? null
  }

  #learnPro(league: League, listing: TeamListing, handles: HandleForm): void {
    const teams = this.#pro.get(league.name)
    if (teams === undefined) return
    const { code, name, location, nickname } = listing
    const words = [name, nickname, `${location} ${nickname}`].map(foldName)
    let team: ProTeam | null | undefined
    for (const word of words) team ??= teams.byName.get(word)
    team ??= teams.byCode.get(code)
    if (team === undefined || team === null) {
      team = { id: code, code }
    }
    if (!teams.byCode.has(code) && !this.#put(teams.byCode, code, team)) return
    // If several entries are of one team, the first code in the table remains.
    if (handles === 'slug' && teams.byCode.get(code) === team && team.code !== code) {
      if (team.id !== team.code || !this.#isListed(listing.league, team.code)) team.code = code
    }
    this.#listed.add(`${listing.league}/${code}`)
    for (const word of words) {
      if (word !== '' && !teams.byName.has(word)) this.#put(teams.byName, word, team)
    }
  }

  #isListed(league: string, code: string): boolean {
    return this.#listed.has(`${league}/${code}`)
  }

  /** Cached, because the games of a day have hundreds of names. */
  #identity(league: League, name: string, code: string): string {
    const key = `${league.kind}/${code}/${name}`
    const cached = this.#identities.get(key)
    if (cached !== undefined) return cached
    const team = league.kind === 'college' ? schoolOf(name, code) : clubOf(name)
    if (this.#identities.size >= IDENTITIES_MAX) this.#identities.clear()
    this.#identities.set(key, team)
    return team
  }

  #learnNamed(
    league: League,
    { venue, code, name, location }: TeamListing,
    handles: HandleForm,
  ): void {
    const called = name !== '' ? name : location
    if (called === '') return
    const team = this.#identity(league, called, code)
    if (!this.#put(this.#named.of(venue), `${league.name}/${code}`, team)) return
    const key = `${league.name}/${team}`
    if (handles === 'slug' && !this.#codes.has(key)) this.#put(this.#codes, key, code)
  }
}

function readLeague(rows: readonly string[]): ProLeague {
  const teams = rows.map((row) => {
    const read = proTeamOf(row)
    const id = read.codes[0] ?? ''
    return { ...read, team: { id, code: id } }
  })
  const byCode = new Map<string, ProTeam>()
  const byName = new Map<string, ProTeam | null>()
  for (const { team, location, nicknames } of teams) {
    const [nickname = ''] = nicknames
    const initials = nickname.replace(/\B\w+|\W/g, '')
    const names = [
      ...nicknames,
      `${location} ${nickname}`,
      // Kalshi's titles distinguish teams of one city by initials: "Los Angeles D", "Chicago WS".
      `${location} ${initials}`,
    ]
    for (const name of names) byName.set(foldName(name), team)
    const isShared = teams.some((other) => other.team !== team && other.location === location)
    byName.set(foldName(location), isShared ? null : team)
  }
  // Current codes take precedence over former codes, which another team may use now.
  for (const { team, codes } of teams) byCode.set(codes[0] ?? '', team)
  for (const { team, codes } of teams) {
    for (const code of codes) if (!byCode.has(code)) byCode.set(code, team)
  }
  return { byCode, byName }
}
