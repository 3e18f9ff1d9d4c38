// Sports and leagues read from venue a's slug word, venue b's series, the venues' tags and words of titles: enough to say that two
// games are of different sports, or leagues with one and the same city's teams. Not for: keys of games (sports/).
// Upholds PROP5, PROP21.

import { arenaOf, type League, leagueOfSeries, leagueOfWord } from '../../sports/leagues.ts'

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

const SPORT_OF_LEAGUE: Readonly<Record<string, string>> = {
  nfl: 'football',
  cfb: 'football',
  nba: 'basketball',
  wnba: 'basketball',
  cbb: 'basketball',
  cwbb: 'basketball',
  mlb: 'baseball',
  nhl: 'hockey',
  pga: 'golf',
}
/** `sport=slug words|series stems (upper case)|title words`; the stems stand at the series' beginning. */
const SPORTS: readonly (readonly [string, RegExp, RegExp, RegExp])[] = [
  ['cs2', /^(?:cs2|csgo|cs)\d?$/, /^CS2|^CSGO/, /counter[- ]?strike|\bcs2\b/],
  ['valorant', /^val\d?$/, /^VALORANT|^VCT/, /\bvalorant\b|\bvct\b/],
  ['lol', /^lol\d?$/, /^LOL|^LEAGUEOFLEGENDS/, /\blol\b|league of legends/],
  ['dota2', /^dota2?$/, /^DOTA/, /\bdota\b/],
  ['ow', /^ow2?$/, /^OVERWATCH/, /\boverwatch\b/],
  ['rl', /^rl$/, /^ROCKETLEAGUE|^RL/, /rocket league/],
  ['cod', /^cod$/, /^COD|^CALLOFDUTY/, /call of duty/],
  ['r6', /^r6$/, /^R6|^RAINBOW/, /rainbow six|\br6\b/],
  [
    'fight',
    /^(?:ufc|mma|pfl|box|boxing)$/,
    /^UFC|^MMA|^PFL|^BOXING|^BOX/,
    /\bufc\b|\bmma\b|\bpfl\b|\bboxing\b/,
  ],
  [
    'cricket',
    /^(?:cric|ipl|t20|odi|test|bbl20|psl)/,
    /^IPL|^T20|^CRIC|^ODI|^TEST|^BBLCRIC|^PSL/,
    /\bcricket\b|indian premier league|\bt20\b|\bodi\b/,
  ],
  [
    'baseball',
    /^(?:kbo|npb|mlb|wbc|cbase|lmb)$/,
    /^KBO|^NPB|^MLB|^WBC|^NCAABASE/,
    /\bkbo\b|\bnpb\b|\bbaseball\b/,
  ],
  ['hockey', /^(?:khl|shl|ahl|hok|del|liiga)/, /^KHL|^SHL|^AHL|^DEL|^LIIGA|^IIHF/, /\bhockey\b/],
]
/** Sports of which neither slug words nor series need be known: the venues' tags and titles say them. */
const SAID = /\b(table tennis|tennis|soccer|basketball|euroleague|lacrosse|rugby|darts|chess|afl)\b/

/** The arena of a slug's first word, in lower case; `title`, with the venue's tags before it, folded. */
export function arenaOfSlug(word: string, title: string): Arena {
  const league = leagueOfWord(word.replace(/\d$/, '')) ?? leagueOfWord(word)
  if (league !== null) return arenaOfLeague(league)
  for (const [sport, slug] of SPORTS) {
    if (slug.test(word)) return { sport, league: word, table: null, nearDays: nearDaysOf(sport) }
  }
  return arenaOfTitle(title)
}

/** The arena of a series ticker; `title` likewise. */
export function arenaOfSeries(series: string, title: string): Arena {
  const stem = series.startsWith('KX') ? series.slice(2) : series
  for (const [sport, , pattern] of SPORTS) {
    if (pattern.test(stem) && !/^MLB/.test(stem)) {
      return { sport, league: null, table: null, nearDays: nearDaysOf(sport) }
    }
  }
  const league = leagueOfSeries(series)
  return league === null ? arenaOfTitle(title) : arenaOfLeague(league.league)
}

function arenaOfTitle(title: string): Arena {
  for (const [sport, , , words] of SPORTS) {
    if (words.test(title)) return { sport, league: null, table: null, nearDays: nearDaysOf(sport) }
  }
  const said = SAID.exec(title)?.[1]?.replace('euroleague', 'basketball')
  return said === undefined ? NO_ARENA : { ...NO_ARENA, sport: said }
}

/** The arena of a league that is known by table. */
export function arenaOfLeague(league: League): Arena {
  const name = arenaOf(league)
  const sport =
    SPORT_OF_LEAGUE[league.name] ??
    (league.kind === 'club' ? 'soccer' : league.kind === 'player' ? 'tennis' : null)
  // Teams of the US leagues meet on consecutive days; the football leagues play once a week.
  const isDaily = league.kind === 'pro' && league.name !== 'nfl'
  return { sport, league: name, table: league, nearDays: isDaily ? 0 : 1 }
}

function nearDaysOf(sport: string): 0 | 1 {
  return sport === 'baseball' || sport === 'hockey' ? 0 : 1
}

/** Whether two arenas cannot be one: other sports, or two known leagues with teams of the same names. */
export function isOtherArena(a: Arena, b: Arena): boolean {
  if (a.sport !== null && b.sport !== null && a.sport !== b.sport) return true
  if (a.table === null || b.table === null) return false
  // Cups and leagues of one club overlap in how the venues file them.
  if (a.table.kind === 'club' && b.table.kind === 'club') return false
  return a.league !== b.league
}
