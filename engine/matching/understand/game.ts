// A game and the bet on it as listed by one venue: two sides, day, bet, line, and the side that Yes means.
// game-parser.ts parses it.

import type { Bet } from './bets.ts'
import type { Competition } from './competitions.ts'
import type { Day } from './dates.ts'
import type { Side } from './sides.ts'

/** What Yes means: one of the sides, a draw, over or under a line, or that something happens. */
export type YesOutcome = 'first' | 'second' | 'draw' | 'over' | 'under' | 'yes'

export interface Game {
  readonly competition: Competition
  /** In the venue's order. An unknown code or name is ''. */
  readonly sides: readonly [Side, Side]
  /** Venue b's joined codes if they could not be split, otherwise ''. */
  readonly run: string
  readonly day: Day | null
  /** Whether a slug, ticker or text states the day. Otherwise it comes from the closing time. */
  readonly isDayStated: boolean
  readonly startMs: number | null
  /** Whether `startMs` is the stated start. Otherwise it is near the expected end. */
  readonly isStartStated: boolean
  readonly bet: Bet
  /** Null: unknown. */
  readonly yesOutcome: YesOutcome | null
  /** Handicap of the side that Yes means (1.5: it must win by more), or the line of a total. Null: none or unknown. */
  readonly line: number | null
  /** The player of a prop bet or the score of an exact-score bet, otherwise ''. */
  readonly detail: string
}

/** The two sides in a folded title, and the rest of the title. */
export interface NamedPair {
  readonly first: string
  readonly second: string
  readonly rest: string
  /** The part of the rest that follows the pair. */
  readonly after: string
}

/** Matches "Will A win the A vs B … game?", where one side occurs twice. */
const WINS_THE = /^will .+? win the (?=.+ (?:vs\.?|v\.?|versus|at) )/
/** Matches "A to score first vs. B", where the bet is between the names. */
const SCORES_FIRST = /^(.+?) to (score first) (vs\.? .+?)\??$/
const EXACT_SCORE = /^(exact score: .+?) (\d+) - (\d+) (.+?)\??$/
const PAIR = /^(?:will )?(.+?) (?:vs\.?|v\.?|versus) (.+?)$/
const PAIR_AT = /^(.+?) (?:vs\.?|v\.?|at|@) (.+?)$/
const SPORT_WORDS =
  "(?: (?:(?:men's |women's )?(?:(?:college|pro|professional) )?(?:football|basketball|baseball|hockey|soccer|tennis|mma|boxing|rugby|cricket|lacrosse)|nfl|nba|wnba|mlb|nhl|mls|ncaaf|ncaab))?"
const TRAILER = new RegExp(
  `(?: end in a draw.*| match winner| winner|${SPORT_WORDS} (?:game|match|fight|bout)(?: (?:go|end|last|be)\\b.*)?| moneyline| total points|(?: series)?(?: exact)? (?:result|score)| totals?| spreads?| (?:game|map) \\d)?\\??$`,
)

/** The pair in a folded title. Null if there is none. With `mayBeAt`, "Houston at Miami" counts as a pair. */
export function pairOfTitle(folded: string, mayBeAt: boolean): NamedPair | null {
  // Text in brackets is not part of a name: "MOUZ (-1.5) vs G2 (+1.5)", "A vs. B (BO3)".
  const bare = folded
    .replace(/\([^)]*\)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(WINS_THE, '')
    .replace(SCORES_FIRST, '$1 $3: $1 to $2')
    .replace(EXACT_SCORE, '$1 vs $4: $2-$3')
  const parts = bare.split(/: | - /)
  for (const [index, part] of parts.entries()) {
    const match = PAIR.exec(part) ?? (mayBeAt ? PAIR_AT.exec(part) : null)
    if (match === null) continue
    const trailer = TRAILER.exec(match[2] ?? '')?.[0] ?? ''
    const second = (match[2] ?? '').slice(0, (match[2] ?? '').length - trailer.length)
    const before = parts.slice(0, index).join(': ')
    const after = parts.slice(index + 1).join(' - ')
    const follows = `${trailer} | ${after}`
    const found = pair(match[1], second, `${before} | ${follows}`, follows)
    if (found !== null) return found
  }
  return null
}

function pair(one = '', other = '', rest = '', after = ''): NamedPair | null {
  const [first, second] = [plainName(one), plainName(other)]
  return first === '' || second === '' || first === second ? null : { first, second, rest, after }
}

/** A name in a folded text, without periods, quotes and other marks. */
export function plainName(name: string): string {
  return name
    .replace(/\([^)]*\)/g, ' ')
    .replace(/['".]/g, '')
    .replace(/[^\p{L}\p{N}&]+/gu, ' ')
    .trim()
}
