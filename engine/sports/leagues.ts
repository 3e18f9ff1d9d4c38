import { tableIn } from '../matching/understand/phrases.ts'

export const SPORTS = ['nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'pga', 'tennis'] as const
export type Sport = (typeof SPORTS)[number]

/**
 * `pro`: a fixed set of teams. `college` and `club`: teams identified by name. `player`: two surnames. `golf`:
 * tournaments.
 */
type LeagueKind = 'pro' | 'college' | 'club' | 'player' | 'golf'

export interface League {
  /** Venue a's identifier: the first part of its slugs and of game keys. */
  readonly name: string
  /** Path segment in the API. Null: games are grouped, but the API does not list the league. */
  readonly sport: Sport | null
  readonly kind: LeagueKind
  /**
   * Maximum difference in days between the venues' dates of a game. It is 0 if the same pair may play again on the next
   * day.
   */
  readonly nearDays: 0 | 1
  /** Whether a pair may play twice a day. In other leagues a digit after the codes is not a game number. */
  readonly hasDoubleheaders: boolean
}

/**
 * `words`: further names in venue a's slugs and in team lists. `stems`: beginnings of venue b's series tickers, before
 * a scope such as SPREAD.
 */
const ROWS = tableIn<readonly (League & { words: readonly string[]; stems: readonly string[] })[]>(
  new URL('./leagues.json', import.meta.url),
)

const byWord = new Map<string, League>()
const byStem = new Map<string, League>()
for (const { words, stems, ...league } of ROWS) {
  for (const word of [league.name, ...words]) byWord.set(word, league)
  for (const stem of stems) byStem.set(stem, league)
}
const longestStem = Math.max(...[...byStem.keys()].map((stem) => stem.length))

export const LEAGUES: readonly League[] = [...new Set(byWord.values())]

/** The league of venue a's slug prefix or of a team list's identifier, in lower case. Null: not supported. */
export function leagueOfWord(word: string): League | null {
  return byWord.get(word) ?? null
}

/** The league of venue b's series ticker, with the remaining part of the ticker. Null: not supported. */
export function leagueOfSeries(series: string): { league: League; scope: string } | null {
  const start = series.startsWith('KX') ? 2 : 0
  // Combined markets cover several games, so they belong to no league.
  if (series.startsWith('MVE', start)) return null
  for (let length = Math.min(longestStem, series.length - start); length > 1; length -= 1) {
    const league = byStem.get(series.slice(start, start + length))
    if (league !== undefined) return { league, scope: series.slice(start + length) }
  }
  return null
}

/** Leagues with equal results are matched together. Tennis tours share players and days. */
export function competitionOf(league: League): string {
  return league.kind === 'player' ? 'tennis' : league.name
}
