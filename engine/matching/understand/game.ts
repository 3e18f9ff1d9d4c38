// A game and the bet on it as one venue lists it: two sides, day, bet, line, and the side that Yes means. Parsed in
// engine/matching/understand/game-parser.ts.

import type { Bet } from './bets.ts'
import type { Competition } from './competitions.ts'
import type { Day } from './dates.ts'
import type { Side } from './sides.ts'

/** What Yes means: a side by position, a draw, over or under a line, or that something happens at all. */
export type YesOutcome = 'first' | 'second' | 'draw' | 'over' | 'under' | 'yes'

export interface Game {
  readonly competition: Competition
  /** In the venue's order. Unknown codes or names are ''. */
  readonly sides: readonly [Side, Side]
  /** Venue b's joined codes, if they could not be split. Otherwise ''. */
  readonly run: string
  readonly day: Day | null
  /** A slug, ticker or text states the day. A closing time is only a hint. */
  readonly isDayStated: boolean
  readonly startMs: number | null
  /** True: `startMs` is the game's start. False: it is about its expected end. */
  readonly isStartStated: boolean
  readonly bet: Bet
  /** Null: unknown. */
  readonly yesOutcome: YesOutcome | null
  /** Spread of the side in question (1.5: must win by more) or the total's line. Null: none or unknown. */
  readonly line: number | null
  /** The player of a prop or the score of an exact score. Otherwise ''. */
  readonly detail: string
}

/** Two sides named in a folded title, with the rest of the title. */
export interface NamedPair {
  readonly first: string
  readonly second: string
  readonly rest: string
  /** The part of the rest that follows the pair. */
  readonly after: string
}

/** "Will A win the A vs B … game?": the text before the pair repeats one side. */
const WINS_THE = /^will .+? win the (?=.+ (?:vs\.?|v\.?|versus|at) )/
const PAIR = /^(?:will )?(.+?) (?:vs\.?|v\.?|versus) (.+?)$/
const PAIR_AT = /^(.+?) (?:vs\.?|v\.?|at|@) (.+?)$/
const SPORT_WORDS =
  "(?: (?:(?:men's |women's )?(?:(?:college|pro|professional) )?(?:football|basketball|baseball|hockey|soccer|tennis|mma|boxing|rugby|cricket|lacrosse)|nfl|nba|wnba|mlb|nhl|mls|ncaaf|ncaab))?"
const TRAILER = new RegExp(
  `(?: end in a draw.*| match winner| winner|${SPORT_WORDS} (?:game|match|fight|bout)(?: (?:go|end|last|be)\\b.*)?| moneyline| total points|(?: series)?(?: exact)? (?:result|score)| totals?| spreads?| (?:game|map) \\d)?\\??$`,
)

/** The pair of a folded title. Null: none. With `mayBeAt`, "Houston at Miami" is a pair too. */
export function pairOfTitle(folded: string, mayBeAt: boolean): NamedPair | null {
  // Text in brackets is not part of a name: "MOUZ (-1.5) vs G2 (+1.5)", "A vs. B (BO3)".
  const bare = folded
    .replace(/\([^)]*\)/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(WINS_THE, '')
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

/** A name of a folded text without periods, quotes and other marks. */
export function plainName(name: string): string {
  return name
    .replace(/\([^)]*\)/g, ' ')
    .replace(/['".]/g, '')
    .replace(/[^\p{L}\p{N}&]+/gu, ' ')
    .trim()
}
