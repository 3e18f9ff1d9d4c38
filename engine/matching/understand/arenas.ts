// Sports and leagues read from venue a's slug word, venue b's series and words of titles: enough to say that two
// games are of different sports, or leagues with one and the same city's teams. Not for: keys of games (sports/).
// Upholds PROP5.

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
  ['cs2', /^(?:cs2|csgo|cs)\d?$/, /^CS2|^CSGO/, /counter-?strike|\bcs2\b/],
  ['valorant', /^val\d?$/, /^VALORANT|^VCT/, /\bvalorant\b|\bvct\b/],
  ['lol', /^lol\d?$/, /^LOL|^LEAGUEOFLEGENDS/, /\blol\b|league of legends/],
  ['dota2', /^dota2?$/, /^DOTA/, /\bdota\b/],
  ['ow', /^ow2?$/, /^OVERWATCH/, /\boverwatch\b/],
  ['rl', /^rl$/, /^ROCKETLEAGUE|^RL/, /rocket league/],
  ['cod', /^cod$/, /^COD|^CALLOFDUTY/, /call of duty/],
  ['r6', /^r6$/, /^R6|^RAINBOW/, /rainbow six/],
  [
    'fight',
    /^(?:ufc|mma|pfl|box|boxing)$/,
    /^UFC|^MMA|^PFL|^BOXING|^BOX/,
    /\bufc\b|\bpfl\b|\bboxing\b/,
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
    /\bkbo\b|\bnpb\b/,
  ],
  [
    'basketball',
    /^(?:bk|nbl|euroleague|gleague)/,
    /^BBSERIEA|^BBL|^BSL|^JBLEAGUE|^KBL|^ACB|^ARGLNB|^LNB|^EUROLEAGUE|^NBL|^CBA|^SLGREECE|^BB|^ABA/,
    /\bbasketball\b|euroleague/,
  ],
  [
    'hockey',
    /^(?:khl|shl|ahl|hok|del|liiga)/,
    /^KHL|^SHL|^AHL|^DEL|^LIIGA|^IIHF/,
    /\bice hockey\b/,
  ],
  ['lacrosse', /^(?:pll|lax|nll)$/, /^PLL|^NLL/, /\blacrosse\b/],
  ['rugby', /^(?:rug|rugby|nrl|sixn)/, /^RUGBY|^NRL|^SIXNATIONS/, /\brugby\b/],
  ['tabletennis', /^(?:tt|wtt)$/, /^TT|^WTT/, /table tennis/],
  ['darts', /^darts?$/, /^DARTS/, /\bdarts\b/],
  ['chess', /^chess$/, /^CHESS/, /\bchess\b/],
  ['afl', /^(?:afl|aus)$/, /^AFL/, /\bafl\b/],
]

/** The arena of a slug's first word, in lower case; `title` folded. */
export function arenaOfSlug(word: string, title: string): Arena {
  const league = leagueOfWord(word.replace(/\d$/, '')) ?? leagueOfWord(word)
  if (league !== null) return arenaOfLeague(league)
  for (const [sport, slug] of SPORTS) {
    if (slug.test(word)) return { sport, league: word, table: null, nearDays: nearDaysOf(sport) }
  }
  return arenaOfTitle(title)
}

/** The arena of a series ticker; `title` folded. */
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
  return NO_ARENA
}

function arenaOfLeague(league: League): Arena {
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
