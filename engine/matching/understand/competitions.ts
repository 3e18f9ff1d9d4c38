// Parses sport and league from venue a's slug prefix, venue b's series, tags and titles. Used to reject games of
// different sports, or of different leagues with teams of the same city.

import { competitionOf, type League, leagueOfSeries, leagueOfWord } from '../../sports/leagues.ts'
import { firstMatch, type PhraseRows, phraseTable, tableIn } from './phrases.ts'

export interface Competition {
  /** `baseball`, `soccer`, `cs2` …. Null: unknown. */
  readonly sport: string | null
  /** League within the sport, such as `mlb`. Null: unknown. */
  readonly league: string | null
  /** Null: not in the league table. */
  readonly table: League | null
  /** Maximum difference in days between the two venues' dates of one game. */
  readonly nearDays: 0 | 1
}

export const NO_COMPETITION: Competition = { sport: null, league: null, table: null, nearDays: 1 }

/**
 * By sport: slug prefixes, series prefixes, and words in tags and titles. The first match applies. `leagues`: by
 * league, its sport.
 */
const TABLES = tableIn<Readonly<Record<'slugs' | 'series' | 'titles' | 'leagues', PhraseRows>>>(
  new URL('./arenas.json', import.meta.url),
)
const [SLUGS, SERIES] = [phraseTable(TABLES.slugs), phraseTable(TABLES.series)]
const TITLES = phraseTable(TABLES.titles)

/** Competition of the first word of a slug, in lower case. `title`: folded, preceded by the venue's tags. */
export function competitionOfSlug(prefix: string, title: string): Competition {
  const league = leagueOfWord(prefix.replace(/\d$/, '')) ?? leagueOfWord(prefix)
  if (league !== null) return competitionOfLeague(league)
  const sport = firstMatch(SLUGS, prefix)
  return sport === null ? competitionOfTitle(title) : competitionOfSport(sport, prefix)
}

/** Competition of a series ticker. `title` is that of `competitionOfSlug`. */
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

export function competitionOfLeague(league: League): Competition {
  const name = competitionOf(league)
  const sport =
    TABLES.leagues[league.name] ??
    (league.kind === 'club' ? 'soccer' : league.kind === 'player' ? 'tennis' : null)
  // Teams of most US leagues play on consecutive days; football teams play once a week.
  const isDaily = league.kind === 'pro' && league.name !== 'nfl'
  return { sport, league: name, table: league, nearDays: isDaily ? 0 : 1 }
}

function competitionOfSport(sport: string, league: string | null): Competition {
  return { sport, league, table: null, nearDays: /^(?:baseball|hockey)$/.test(sport) ? 0 : 1 }
}

/**
 * Whether two competitions certainly differ: they have different sports, or are two known leagues with teams of the
 * same names.
 */
export function isOtherCompetition(a: Competition, b: Competition): boolean {
  if (a.sport !== null && b.sport !== null && a.sport !== b.sport) return true
  if (a.table === null || b.table === null) return false
  // The venues may assign the game of two clubs to different competitions, such as a cup and a league.
  if (a.table.kind === 'club' && b.table.kind === 'club') return false
  return a.league !== b.league
}
