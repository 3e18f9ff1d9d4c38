// Sports and leagues read from venue a's slug word, venue b's series, the venues' tags and words of titles: enough to say that two
// games are of different sports, or leagues with one and the same city's teams.

import { competitionOf, type League, leagueOfSeries, leagueOfWord } from '../../sports/leagues.ts'
import { firstMatch, type PhraseRows, phraseTable, tableIn } from './phrases.ts'

export interface Competition {
  /** `baseball`, `soccer`, `cs2` …; null: unknown. */
  readonly sport: string | null
  /** Within the sport, such as `mlb`; null: unknown. */
  readonly league: string | null
  /** A league with a table or a rule of names for its teams; null elsewhere. */
  readonly table: League | null
  /** By how many days the venues may date one game apart. */
  readonly nearDays: 0 | 1
}

export const NO_COMPETITION: Competition = { sport: null, league: null, table: null, nearDays: 1 }

/** Sport → slug words, beginnings of series, words of tags and titles; the first that fits. League → its sport. */
const TABLES = tableIn<Readonly<Record<'slugs' | 'series' | 'titles' | 'leagues', PhraseRows>>>(
  new URL('./arenas.json', import.meta.url),
)
const [SLUGS, SERIES] = [phraseTable(TABLES.slugs), phraseTable(TABLES.series)]
const TITLES = phraseTable(TABLES.titles)

/** The arena of a slug's first word, in lower case; `title`, with the venue's tags before it, folded. */
export function competitionOfSlug(prefix: string, title: string): Competition {
  const league = leagueOfWord(prefix.replace(/\d$/, '')) ?? leagueOfWord(prefix)
  if (league !== null) return competitionOfLeague(league)
  const sport = firstMatch(SLUGS, prefix)
  return sport === null ? competitionOfTitle(title) : competitionOfSport(sport, prefix)
}

/** The arena of a series ticker; `title` likewise. */
export function competitionOfSeries(series: string, title: string): Competition {
  const stem = series.startsWith('KX') ? series.slice(2) : series
  const sport = firstMatch(SERIES, stem)
  if (sport !== null && !stem.startsWith('MLB')) return competitionOfSport(sport, null)
  const league = leagueOfSeries(series)
  return league === null ? competitionOfTitle(title) : competitionOfLeague(league.league)
}

function competitionOfTitle(title: string): Competition {
  const sport = firstMatch(TITLES, title)
  return sport === null ? NO_COMPETITION : competitionOfSport(sport, null)
}

/** The arena of a league that is known by table. */
export function competitionOfLeague(league: League): Competition {
  const name = competitionOf(league)
  const sport =
    TABLES.leagues[league.name] ??
    (league.kind === 'club' ? 'soccer' : league.kind === 'player' ? 'tennis' : null)
  // Teams of the US leagues meet on consecutive days; the football leagues play once a week.
  const isDaily = league.kind === 'pro' && league.name !== 'nfl'
  return { sport, league: name, table: league, nearDays: isDaily ? 0 : 1 }
}

function competitionOfSport(sport: string, league: string | null): Competition {
  return { sport, league, table: null, nearDays: /^(?:baseball|hockey)$/.test(sport) ? 0 : 1 }
}

/** Whether two arenas cannot be one: other sports, or two known leagues with teams of the same names. */
export function isOtherCompetition(a: Competition, b: Competition): boolean {
  if (a.sport !== null && b.sport !== null && a.sport !== b.sport) return true
  if (a.table === null || b.table === null) return false
  // Cups and leagues of one club overlap in how the venues file them.
  if (a.table.kind === 'club' && b.table.kind === 'club') return false
  return a.league !== b.league
}
