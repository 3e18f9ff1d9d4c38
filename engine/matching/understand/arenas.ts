// Sports and leagues read from venue a's slug word, venue b's series, the venues' tags and words of titles: enough to say that two
// games are of different sports, or leagues with one and the same city's teams.

import { arenaOf, type League, leagueOfSeries, leagueOfWord } from '../../sports/leagues.ts'
import { firstSaid, type PhraseRows, phraseTable, tableIn } from './phrases.ts'

export interface Arena {
  /** `baseball`, `soccer`, `cs2` …; null: unknown. */
  readonly sport: string | null
  /** Within the sport, such as `mlb`; null: unknown. */
  readonly league: string | null
  /** A league with a table or a rule of names for its teams; null elsewhere. */
  readonly table: League | null
  /** By how many days the venues may date one game apart. */
  readonly nearDays: 0 | 1
}

export const NO_ARENA: Arena = { sport: null, league: null, table: null, nearDays: 1 }

/** Sport → slug words, beginnings of series, words of tags and titles; the first that fits. League → its sport. */
const TABLES = tableIn<Readonly<Record<'slugs' | 'series' | 'titles' | 'leagues', PhraseRows>>>(
  new URL('./arenas.json', import.meta.url),
)
const [SLUGS, SERIES] = [phraseTable(TABLES.slugs), phraseTable(TABLES.series)]
const TITLES = phraseTable(TABLES.titles)

/** The arena of a slug's first word, in lower case; `title`, with the venue's tags before it, folded. */
export function arenaOfSlug(word: string, title: string): Arena {
  const league = leagueOfWord(word.replace(/\d$/, '')) ?? leagueOfWord(word)
  if (league !== null) return arenaOfLeague(league)
  const sport = firstSaid(SLUGS, word)
  return sport === null ? arenaOfTitle(title) : arenaOfSport(sport, word)
}

/** The arena of a series ticker; `title` likewise. */
export function arenaOfSeries(series: string, title: string): Arena {
  const stem = series.startsWith('KX') ? series.slice(2) : series
  const sport = firstSaid(SERIES, stem)
  if (sport !== null && !stem.startsWith('MLB')) return arenaOfSport(sport, null)
  const league = leagueOfSeries(series)
  return league === null ? arenaOfTitle(title) : arenaOfLeague(league.league)
}

function arenaOfTitle(title: string): Arena {
  const sport = firstSaid(TITLES, title)
  return sport === null ? NO_ARENA : arenaOfSport(sport, null)
}

/** The arena of a league that is known by table. */
export function arenaOfLeague(league: League): Arena {
  const name = arenaOf(league)
  const sport =
    TABLES.leagues[league.name] ??
    (league.kind === 'club' ? 'soccer' : league.kind === 'player' ? 'tennis' : null)
  // Teams of the US leagues meet on consecutive days; the football leagues play once a week.
  const isDaily = league.kind === 'pro' && league.name !== 'nfl'
  return { sport, league: name, table: league, nearDays: isDaily ? 0 : 1 }
}

function arenaOfSport(sport: string, league: string | null): Arena {
  return { sport, league, table: null, nearDays: /^(?:baseball|hockey)$/.test(sport) ? 0 : 1 }
}

/** Whether two arenas cannot be one: other sports, or two known leagues with teams of the same names. */
export function isOtherArena(a: Arena, b: Arena): boolean {
  if (a.sport !== null && b.sport !== null && a.sport !== b.sport) return true
  if (a.table === null || b.table === null) return false
  // Cups and leagues of one club overlap in how the venues file them.
  if (a.table.kind === 'club' && b.table.kind === 'club') return false
  return a.league !== b.league
}
