// The API's sports and the leagues whose games are grouped: venue a's slug prefix, venue b's series, the sport, and how
// its teams are identified.

/** The API's sports, as used in paths. */
export const SPORTS = ['nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'pga', 'tennis'] as const
export type Sport = (typeof SPORTS)[number]

/**
 * `pro`: a closed set of teams in a table. `college` and `club`: identified by name. `player`: two surnames. `golf`:
 * tournaments, not games.
 */
type LeagueKind = 'pro' | 'college' | 'club' | 'player' | 'golf'

export interface League {
  /** Venue a's identifier: the first part of its slugs and of game keys. */
  readonly name: string
  /** Path segment in the API. Null: grouped, but not in the API. */
  readonly sport: Sport | null
  readonly kind: LeagueKind
  /** Maximum difference in days between the venues' dates of a game. Not 0 only if no pair meets again so soon. */
  readonly nearDays: 0 | 1
  /** A pair may meet twice a day. In other leagues a digit behind the codes is not a game number. */
  readonly hasDoubleheaders: boolean
}

/**
 * `name|sport|kind|days|other identifiers of venue a and of team lists|stems of venue b's series`. A scope follows the
 * stem (GAME, MATCH, SPREAD, 1HTOTAL, PTS …); the longest stem applies. Women's college basketball is listed beside
 * men's, under its own keys.
 */
const ROWS = [
  'nfl|nfl|pro|1||NFL',
  'nba|nba|pro|0||NBA',
  'mlb|mlb|pro|0||MLB',
  'nhl|nhl|pro|0||NHL',
  'wnba||pro|0||WNBA',
  'cfb|cfb|college|1|ncaaf,ncaafb|NCAAF',
  'cbb|cbb|college|1|ncaab,ncaamb|NCAAB,NCAAMB',
  'cwbb|cbb|college|1|ncaawb,wcbb|NCAAWB',
  'atp|tennis|player|1|challenger|ATP',
  'wta|tennis|player|1||WTA',
  'itf|tennis|player|1|utr|ITF',
  'davis|tennis|player|1|daviscup|DAVISCUP',
  'united|tennis|player|1|unitedcup|UNITEDCUP',
  'laver|tennis|player|1||LAVERCUP',
  'sixkings|tennis|player|1||SIXKINGSSLAM',
  'pga|pga|golf|0||PGA,DPWORLD,KFT,ASIANTOUR,LIV,LPGA,MASTERS,USOPENGOLF,THEOPEN',
  'epl||club|1|premier-league|EPL',
  'lal||club|1|laliga|LALIGA',
  'sea||club|1|serie-a|SERIEA',
  'fl1||club|1|ligue-1|LIGUE1',
  'bun||club|1|bundesliga|BUNDESLIGA',
  'bl2||club|1||BUNDESLIGA2',
  'es2||club|1||LALIGA2',
  'itsb||club|1||SERIEB',
  'ucl||club|1||UCL',
  'uel||club|1||UEL',
  'col||club|1|uecl|UECL',
  'mls||club|1||MLS',
  'elc||club|1||EFLCHAMPIONSHIP',
  'ere||club|1||EREDIVISIE',
  'por||club|1||LIGAPORTUGAL',
  'tur||club|1||SUPERLIG',
  'bra||club|1||BRASILEIRO',
  'mex||club|1||LIGAMX',
  'spl||club|1||SAUDIPL',
]

const byWord = new Map<string, League>()
const byStem = new Map<string, League>()
let longestStem = 0

for (const row of ROWS) {
  const [name = '', sport = '', kind = '', days = '', words = '', stems = ''] = row.split('|')
  const league: League = {
    name,
    sport: sportOf(sport),
    kind: kindOf(kind),
    nearDays: days === '1' ? 1 : 0,
    hasDoubleheaders: name === 'mlb',
  }
  for (const word of [name, ...words.split(',')]) if (word !== '') byWord.set(word, league)
  for (const stem of stems.split(',')) {
    byStem.set(stem, league)
    longestStem = Math.max(longestStem, stem.length)
  }
}

/** Every league once. */
export const LEAGUES: readonly League[] = [...new Set(byWord.values())]

/** The league of venue a's slug prefix or of a team list's identifier, in lower case. Null: not supported. */
export function leagueOfWord(word: string): League | null {
  return byWord.get(word) ?? null
}

/** The league of venue b's series ticker, with the rest of the ticker. Null: not supported. */
export function leagueOfSeries(series: string): { league: League; scope: string } | null {
  const start = series.startsWith('KX') ? 2 : 0
  // Combined markets cover several games.
  if (series.startsWith('MVE', start)) return null
  for (let length = Math.min(longestStem, series.length - start); length > 1; length -= 1) {
    const league = byStem.get(series.slice(start, start + length))
    if (league !== undefined) return { league, scope: series.slice(start + length) }
  }
  return null
}

/** The group in which matching games are searched: tennis tours share players and days. */
export function competitionOf(league: League): string {
  return league.kind === 'player' ? 'tennis' : league.name
}

function sportOf(word: string): Sport | null {
  return SPORTS.find((sport) => sport === word) ?? null
}

function kindOf(word: string): LeagueKind {
  const kinds: readonly LeagueKind[] = ['pro', 'college', 'club', 'player', 'golf']
  return kinds.find((kind) => kind === word) ?? 'club'
}
