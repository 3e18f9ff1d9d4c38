// Clues in event tickers such as `KXMLBGAME-26JUL282210SEALAD`. The two team codes are not separated.

import type { VenueKey } from '../ids.ts'
import { easternMs, isCalendarDate } from './eastern-date.ts'
import type { EventFacts, GameClue, Side } from './game-clue.ts'
import { type League, leagueOfSeries } from './leagues.ts'
import { sidesOfTitle, squeezeName } from './team-names.ts'
import type { TeamTable } from './team-table.ts'

interface VenueTeams {
  readonly venue: VenueKey
  readonly table: TeamTable
}

const TICKER =
  /^([A-Z0-9]+)-(\d{2})([A-Z]{3})(\d{2})(\d{4})?([A-Z][A-Z0-9&'.-]+?)(G?[123])?(?:-\d+)?$/
const MONTHS = 'JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC'

/** Null: the ticker is not of a game, but of futures, combined markets or draws. */
export function clueOfTicker(
  venue: VenueKey,
  event: EventFacts,
  table: TeamTable,
): GameClue | null {
  const teams = { venue, table }
  const match = TICKER.exec(event.nativeId.toUpperCase())
  if (match === null) return null
  const [, prefix = '', year = '', month = '', day = '', clock, letters = '', last = ''] = match
  const series = leagueOfSeries(prefix)
  const monthIndex = MONTHS.indexOf(month)
  if (series === null || series.league.kind === 'golf' || monthIndex % 3 !== 0) return null
  const { league } = series
  // A code may end in G: "NYG2" is the second game of NYG, unless two teams remain without the G.
  const run = last.length === 2 && !isPair(letters, league, teams) ? `${letters}G` : letters
  const date = `20${year}-${String(monthIndex / 3 + 1).padStart(2, '0')}-${day}`
  if (!isCalendarDate(date)) return null
  const sides = sidesOf(run, league, event, teams)
  if (sides === null) return null
  const digit = last.slice(-1)
  return {
    ...{ venue, handles: 'ticker' },
    league,
    anchor: `${league.name}/${year}${month}${day}${clock ?? ''}${run}${digit}`,
    date,
    // In other leagues a final digit is part of the code, as in MAR2.
    number: digit === '' || !league.hasDoubleheaders ? null : Number(digit),
    startMs: clock === undefined ? null : easternMs(date, minuteOf(clock)),
    endMs: event.endMs,
    sides,
  }
}

const minuteOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(2))

function sidesOf(
  run: string,
  league: League,
  event: EventFacts,
  teams: VenueTeams,
): readonly Side[] | null {
  const names = sidesOfTitle(event.title) ?? sidesOfTitle(event.subtitle)
  const codes =
    codesOfPair(event.subtitle, run) ??
    codesOfSuffixes(event.suffixes, run) ??
    codesOfTable(run, names, league, teams) ??
    (names === null ? null : codesOfNames(run, names))
  if (codes === null) return null
  if (league.kind === 'pro') {
    const areTeams = codes.every((code, index) => {
      return (
        teams.table.team(league, { venue: teams.venue, code, name: names?.[index] ?? '' }) !== null
      )
    })
    if (!areTeams) return null
  } else if (names === null) {
    return null
  }
  return codes.map((code, index) => ({ code, name: names?.[index] ?? '' }))
}

type Codes = readonly [string, string]

/** The codes in a subtitle such as "CIN at PHI (Aug 7)", if they consist of these letters. */
function codesOfPair(subtitle: string, run: string): Codes | null {
  const match = /^(\S+)\s+(?:at|vs\.?|v\.?)\s+(\S+)/i.exec(subtitle)
  const [first = '', second = ''] = [match?.[1]?.toLowerCase(), match?.[2]?.toLowerCase()]
  return first + second === run.toLowerCase() ? [first, second] : null
}

/** Finds the codes by a winner market, whose ticker ends in the code of one side. */
function codesOfSuffixes(suffixes: readonly string[], run: string): Codes | null {
  const lower = run.toLowerCase()
  for (const suffix of suffixes) {
    const code = suffix.toLowerCase()
    if (code.length < 2 || code.length >= lower.length) continue
    const [isFirst, isSecond] = [lower.startsWith(code), lower.endsWith(code)]
    if (isFirst === isSecond) continue
    return isFirst ? [code, lower.slice(code.length)] : [lower.slice(0, -code.length), code]
  }
  return null
}

function isPair(run: string, league: League, teams: VenueTeams): boolean {
  return codesOfTable(run, null, league, teams) !== null
}

/** The two codes as known to the team table. If several splits are possible, the names in the title decide. */
function codesOfTable(
  run: string,
  names: readonly [string, string] | null,
  league: League,
  teams: VenueTeams,
): Codes | null {
  const lower = run.toLowerCase()
  const found: Codes[] = []
  for (let cut = 2; cut <= lower.length - 2; cut += 1) {
    const codes: Codes = [lower.slice(0, cut), lower.slice(cut)]
    if (codes.every((code) => teams.table.hasCode(league, teams.venue, code))) found.push(codes)
  }
  if (found.length < 2 || names === null) return found.length === 1 ? (found[0] ?? null) : null
  const confirmed = found.filter((codes) =>
    codes.every((code, index) => {
      const name = names[index] ?? ''
      const { table, venue } = teams
      const byCode = table.team(league, { venue, code, name: '' })
      return byCode !== null && byCode === table.team(league, { venue, code, name })
    }),
  )
  return confirmed.length === 1 ? (confirmed[0] ?? null) : null
}

/** The split whose two parts best abbreviate the two names. The code of a surname has three letters. */
function codesOfNames(run: string, names: readonly [string, string]): Codes | null {
  const lower = run.toLowerCase()
  let best: Codes | null = null
  let bestScore = 0
  for (let cut = 1; cut < lower.length; cut += 1) {
    const halves: Codes = [lower.slice(0, cut), lower.slice(cut)]
    const score = abbreviation(halves[0], names[0]) * abbreviation(halves[1], names[1])
    if (score > bestScore) {
      best = halves
      bestScore = score
    }
  }
  return best ?? (lower.length % 2 === 0 ? cutAt(lower, lower.length / 2) : null)
}

const cutAt = (text: string, at: number): Codes => [text.slice(0, at), text.slice(at)]

/** How well a code abbreviates a name: 3 prefix, 2 letters in order, 1 first letter. */
function abbreviation(code: string, name: string): number {
  const letters = squeezeName(name)
  if (code === '' || letters === '') return 0
  if (letters.startsWith(code)) return code.length > 1 ? 4 : 2
  let at = 0
  for (const letter of code) {
    at = letters.indexOf(letter, at) + 1
    if (at === 0) return letters.startsWith(code.charAt(0)) ? 0.5 : 0.25
  }
  return letters.startsWith(code.charAt(0)) ? 3 : 1
}
