// A game and what is bet on it, as one venue lists it: two sides, day, bet, line, and which side Yes means.
// Read from a slug or a ticker and from titles by engine/matching/understand/game-parser.ts.

import type { Bet } from './bets.ts'
import type { Competition } from './competitions.ts'
import type { Day } from './dates.ts'
import type { Side } from './sides.ts'

/** What Yes means: a side by its place, a draw, over or under a line, or that something happens at all. */
export type YesOutcome = 'first' | 'second' | 'draw' | 'over' | 'under' | 'yes'

export interface Game {
  readonly competition: Competition
  /** In the venue's order; codes or names '' where unknown. */
  readonly sides: readonly [Side, Side]
  /** Venue b's codes in one run where the run could not be cut into two; '' otherwise. */
  readonly run: string
  readonly day: Day | null
  /** The day stands in a slug, ticker or text; a closing time only hints. */
  readonly isDayStated: boolean
  readonly startMs: number | null
  /** `startMs` is the game's start; otherwise about its expected end. */
  readonly isStartStated: boolean
  readonly bet: Bet
  /** Null: unknown. */
  readonly yesOutcome: YesOutcome | null
  /** Spread of the asked side (1.5: must win by more) or the total's line; null: none or unknown. */
  readonly line: number | null
  /** The player of a prop, the score of an exact score; '' otherwise. */
  readonly detail: string
}

/** Two sides named in a folded title, with what remains of it. */
export interface NamedPair {
  readonly first: string
  readonly second: string
  readonly rest: string
  /** Of the rest, what follows the pair. */
  readonly after: string
}

/** "Will A win the A vs B … game?": what stands before the pair is one of its sides again. */
const WINS_THE = /^will .+? win the (?=.+ (?:vs\.?|v\.?|versus|at) )/
const PAIR = /^(?:will )?(.+?) (?:vs\.?|v\.?|versus) (.+?)$/
const PAIR_AT = /^(.+?) (?:vs\.?|v\.?|at|@) (.+?)$/
const SPORT_WORDS =
  "(?: (?:(?:men's |women's )?(?:(?:college|pro|professional) )?(?:football|basketball|baseball|hockey|soccer|tennis|mma|boxing|rugby|cricket|lacrosse)|nfl|nba|wnba|mlb|nhl|mls|ncaaf|ncaab))?"
const TRAILER = new RegExp(
  `(?: end in a draw.*| match winner| winner|${SPORT_WORDS} (?:game|match|fight|bout)(?: (?:go|end|last|be)\\b.*)?| moneyline| total points|(?: series)?(?: exact)? (?:result|score)| totals?| spreads?| (?:game|map) \\d)?\\??$`,
)

/** The pair of a folded title; `mayBeAt`: "Houston at Miami" is one too. Null: it names none. */
export function pairOfTitle(folded: string, mayBeAt: boolean): NamedPair | null {
  // "MOUZ (-1.5) vs G2 (+1.5)", "A vs. B (BO3)": what stands in brackets is no part of a name.
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

/** A name of a folded text without points, quotes and other marks. */
export function plainName(name: string): string {
  return name
    .replace(/\([^)]*\)/g, ' ')
    .replace(/['".]/g, '')
    .replace(/[^\p{L}\p{N}&]+/gu, ' ')
    .trim()
}
