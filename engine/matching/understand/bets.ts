// What is bet on a game: winner, draw, spread, total, both teams to score, a map, a half, a player's points …
// from a slug's tail, a series' scope and the words of a title. A bet of no known kind keeps its words: two
// such bets are one only in the same words. Upholds PROP9, PROP10, PROP18.

import { meanings } from './words.ts'

/** A bet's kind; sides and lines stand beside it in the game. */
export interface Bet {
  /** `winner`, `spread`, `total`, `btts`, `score`, `map`, `prop:points`, `other:…` */
  readonly kind: string
  /** `game`, `1h`, `2h`, `q1`, `f5`, `inning1`, `set1`, `map2` … */
  readonly period: string
  /** What is counted, where it is not the sport's own score: `corners`, `maps`, `sets`, `kills`. */
  readonly counted: string
}

/** Before the words of a bet of no known kind. */
export const OTHER = 'other:'

const STATS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:first|1st) (?:goal ?scorer|td|touchdown)\b/, 'firstscorer'],
  [/\bdouble[ -]?double\b|\b2d$/, 'doubledouble'],
  [/\btriple[ -]?double\b|\b3d$/, 'tripledouble'],
  [/\bpoints o\/u|\d\+ points|: points\b|\bplayer points\b|\bpts$/, 'points'],
  [/\brebounds\b|\breb$/, 'rebounds'],
  [/\bassists\b|\bast$/, 'assists'],
  [/\bthree pointers?\b|\bthrees\b|\b3pt$/, 'threes'],
  [/\bblocks\b|\bblk$/, 'blocks'],
  [/\bsteals\b|\bstl$/, 'steals'],
  [/\bhome runs?\b(?!.*season)|\bhr$/, 'homeruns'],
  [/\bstrikeouts\b|\bks$/, 'strikeouts'],
  [/\btotal bases\b|\btb$/, 'bases'],
  [/\bgoalscorer\b|\banytime goal\b|\bto score a goal\b|\bgoalscorers\b|\banytime$/, 'goalscorer'],
  [/\btouchdown\b|\btd$/, 'touchdown'],
  [/\b(?:passing|rushing|receiving) yards\b|\byds$/, 'yards'],
]

const COUNTED: readonly (readonly [RegExp, string])[] = [
  [/\bcorners?\b/, 'corners'],
  [/\bcards?\b/, 'cards'],
  [/\bkills?\b/, 'kills'],
  [/\bsixes\b|\bsix$/, 'sixes'],
  [/\bfours\b/, 'fours'],
  [/\bmap handicap\b|\btotal maps\b|\bmaps\b/, 'maps'],
  [/\bgame handicap\b|\btotal games\b/, 'games'],
  [/\bset handicap\b|\btotal sets\b/, 'sets'],
  [/\brounds?\b(?=.*(?:o\/u|over|total))/, 'rounds'],
  [/\binhibitors?\b|\bdragons?\b|\bbarons?\b|\btowers?\b/, 'objectives'],
]

/** In order: the first that fits is the kind. */
// A draw is one of the winner's outcomes: the game's side says it.
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\bcombo\b/, 'combo'],
  [/\bexact\b|\bcorrect score\b|\bseries score\b|\bwinning score\b|\bscore$/, 'score'],
  [/\bboth teams to score\b|\bboth teams score\b|\bbtts\b/, 'btts'],
  [/\bcompleted match\b/, 'completed'],
  [/\bodd\/?even\b|\bodd even\b|\bodd or even\b/, 'oddeven'],
  [/\bmore markets\b/, 'more'],
  [/\bplayer props\b/, 'props'],
  [/\bmethod of victory\b|\bmov$|\bby (?:ko|tko|submission|decision)\b/, 'method'],
  [/\bgo(?:es)? the distance\b|\bdistance$/, 'distance'],
  [/\bextra innings?\b|\bextras$/, 'extras'],
  [/\bovertime\b/, 'overtime'],
  [/\brun scored in the first inning\b|\bnrfi\b|\brfi$/, 'firstinningrun'],
  [/\btoss\b/, 'toss'],
  [/\btop batter\b|\btop bowler\b/, 'topbatter'],
  [/\bmost (?:sixes|fours|kills|corners)\b/, 'mostof'],
  [/\bteam total\b|\bteamtotal$/, 'teamtotal'],
  [/\bspreads?\b|\bhandicap\b|\bwins? by (?:over|more than)\b|\(-\d+\.5\)/, 'spread'],
  [
    /\bo\/u\b|\bover\/under\b|\btotals?\b|\bover \d+(?:\.5)? (?:goals|runs|points|maps|games|sets)\b/,
    'total',
  ],
  [/\bleading at half ?time\b/, 'winner'],
  [/\bseries\b(?=.*\bwin)|\bwho will win series\b|\bseries$/, 'series'],
  [/\badvances?\b|\bto qualify\b|\badvance$/, 'advance'],
  [/\bend in a draw\b|^draw\b|\bdraw$|\bdraw at half/, 'winner'],
]

const PERIODS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:first|1st)[ -]half\b|\b1h|\bhalf ?time\b/, '1h'],
  [/\b(?:second|2nd)[ -]half\b|\b2h/, '2h'],
  [/\bfirst 5 innings\b|\bf5\b|\bfirst five innings\b/, 'f5'],
  [/\bfirst inning\b|\b1st inning\b|\bnrfi\b/, 'inning1'],
  [/\b(?:first|1st) quarter\b|\b1q|\bq1\b/, 'q1'],
  [/\b(?:second|2nd) quarter\b|\b2q|\bq2\b/, 'q2'],
  [/\b(?:third|3rd) quarter\b|\b3q|\bq3\b/, 'q3'],
  [/\b(?:fourth|4th) quarter\b|\b4q|\bq4\b/, 'q4'],
  [/\b(?:first|1st) period\b|\b1p\b/, 'p1'],
]
const NUMBERED =
  /\b(?:map|game) ?#?(\d)\b(?! (?:points|total points))|\bset #?(\d)\b|\b(first|second|third|fourth|fifth) set\b/
const SETS: Readonly<Record<string, string>> = {
  first: '1',
  second: '2',
  third: '3',
  fourth: '4',
  fifth: '5',
}

/**
 * The bet of a listing. `title` folded, without the sides where they could be cut; `tail` a slug's words
 * after the date; `scope` a series' scope in lower case; `number` what the ticker adds (map or set); `after`
 * what a title of venue b says behind the sides, where its series alone does not ask for the winner.
 */
export function betOf(title: string, tail: string, scope: string, number: string, after = ''): Bet {
  const words = `${tail} ${title}`
  const parts = [tail, scope, title]
  const period = periodOf(parts, number, scope)
  const counted = firstOf(COUNTED, words) ?? firstOf(COUNTED, scope) ?? ''
  const stat = firstOf(STATS, words) ?? firstOf(STATS, scope)
  if (stat !== null && !/\btotal\b(?! bases)/.test(tail))
    return { kind: `prop:${stat}`, period, counted: '' }
  let kind: string | null = null
  for (const part of parts) kind ??= firstOf(KINDS, part)
  kind ??= wordsOf(title === '' ? tail : title)
  if (kind === 'winner' && after !== '' && !WINNER_SCOPE.test(scope)) kind = otherThanWinner(after)
  return { kind, period, counted }
}

/** A series that ends so asks for the winner, also where its titles say more. */
const WINNER_SCOPE = /(?:game|match|fight|bout|map|winner|[12]h|f5)$/

/** "Receptions", "Largest Lead" behind the sides is what is bet on; "Game 2" and "Final" are not. */
function otherThanWinner(after: string): string {
  const telling = tellingWords(withoutPeriods(after))
  return telling.length === 0 ? 'winner' : `${OTHER}${telling.sort().join(' ')}`
}

function withoutPeriods(text: string): string {
  return PERIODS.reduce((rest, [pattern]) => rest.replace(pattern, ' '), text)
}

function tellingWords(text: string): string[] {
  return meanings(text).filter((word) => !PLAIN.has(word) && !/^\d+$/.test(word))
}

/** Whether two kinds are one bet; of bets of no known kind, whether most of their words are one another's. */
export function isSameKind(one: string, other: string): boolean {
  if (one === other) return true
  if (!one.startsWith(OTHER) || !other.startsWith(OTHER)) return false
  const [a, b] = [one, other].map((kind) => kind.slice(OTHER.length).split(' '))
  const shared = (a ?? []).filter((word) => b?.includes(word)).length
  return shared * 2 > Math.max(a?.length ?? 0, b?.length ?? 0)
}

function firstOf(table: readonly (readonly [RegExp, string])[], text: string): string | null {
  if (text === '') return null
  for (const [pattern, value] of table) if (pattern.test(text)) return value
  return null
}

function periodOf(parts: readonly string[], number: string, scope: string): string {
  for (const part of parts) {
    const period = firstOf(PERIODS, part)
    if (period !== null) return period
    const match = NUMBERED.exec(part)
    if (match === null) continue
    // A series of venue b that asks for a game asks for a whole one: the first of a playoff's.
    if (match[1] !== undefined && /game$/.test(scope)) continue
    if (match[1] !== undefined) return `map${match[1]}`
    return `set${match[2] ?? SETS[match[3] ?? ''] ?? ''}`
  }
  if (number === '') return 'game'
  if (/map$/.test(scope)) return `map${number}`
  return /set/.test(scope) ? `set${number}` : 'game'
}

/** Words that only name the game itself. */
const PLAIN = new Set(
  'winx match game fight bout fixture bo1 bo3 bo5 mainx card prelim early group stage regular season playoff final semifinal quarterfinal map set round rounds week day cup league challenger title tour open championship division'.split(
    ' ',
  ),
)

/** Words of a bet that is not on the winner; of no known kind it keeps them: "most yellow cards", "first corner". */
const UNUSUAL =
  /\b(?:most|first|last|any|highest|race|method|number|how many|penalty|red card|quadra|penta|clean sheet)\b/

/** Winner, unless a title or a slug's end has words of a bet we do not know. */
function wordsOf(text: string): string {
  const asked = withoutPeriods(/(?:^|: | - )([^:]*)$/.exec(text)?.[1] ?? text)
  return UNUSUAL.test(asked) ? otherThanWinner(asked) : 'winner'
}
