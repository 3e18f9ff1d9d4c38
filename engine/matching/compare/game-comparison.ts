// Compares two listings of games: teams, day, bet, line, side. engine/matching/veto/game-vetoes.ts derives the vetoes.

import { HOUR_MS } from '../../units.ts'
import { isCountry } from '../understand/bet-terms.ts'
import { isSameKind, OTHER } from '../understand/bets.ts'
import { type Competition, isOtherCompetition } from '../understand/competitions.ts'
import type { Game, YesOutcome } from '../understand/game.ts'
import { gradeNames, gradeSides, OTHER_SIDE, SAME_SIDE } from '../understand/sides.ts'

export type GameComparison = ReturnType<typeof compareGames>

/** Compares venue a's game with venue b's. A result is null if one listing does not state the part. */
export function compareGames(a: Game, b: Game) {
  const competition = a.competition.table !== null ? a.competition : b.competition
  const grades = gradeGame(a, b, competition)
  const dayGap = a.day === null || b.day === null ? null : Math.abs(a.day - b.day)
  const isSameBet = isSameKind(a.bet.kind, b.bet.kind) && a.bet.counted === b.bet.counted
  return {
    isOtherCompetition: isOtherCompetition(a.competition, b.competition),
    /** Grade of the less similar side under the better orientation, 0 to 1. */
    game: grades.least,
    both: grades.both,
    dayGap,
    isDayStated: (a.isDayStated && b.isDayStated) || isNearDayStated(a, b, dayGap),
    startGapHours:
      a.startMs === null || b.startMs === null ? null : Math.abs(a.startMs - b.startMs) / HOUR_MS,
    nearHours: nearHoursOf(a, b),
    nearDays: nearDaysOf(a, b),
    isSameBet,
    isSamePeriod: a.bet.period === b.bet.period,
    line: relateLines(a, b),
    side: relateSides(a, b, grades.isSwapped),
    isSameDetail: isDetailSame(a.detail, b.detail, a.bet.kind, grades.isSwapped),
  }
}

/** Maximum days between a stated day and the other listing's closing time. */
const HINT_DAYS = 2

/**
 * Whether one listing states a day near the other's closing time, in a sport in which teams do not meet on consecutive
 * days.
 */
function isNearDayStated(a: Game, b: Game, dayGap: number | null): boolean {
  const isDaily = Math.min(a.competition.nearDays, b.competition.nearDays) === 0
  return (a.isDayStated || b.isDayStated) && !isDaily && dayGap !== null && dayGap <= HINT_DAYS
}

/** Maximum difference in days. Two stated days may differ less than a stated day and a closing time. */
function nearDaysOf(a: Game, b: Game): number {
  return a.isDayStated && b.isDayStated
    ? Math.min(a.competition.nearDays, b.competition.nearDays)
    : 3
}

/**
 * Maximum difference in hours. Schedules of tennis and rain move games within a day. Two games of a day differ by their
 * starts.
 */
function nearHoursOf(a: Game, b: Game): number {
  const isDaily = Math.min(a.competition.nearDays, b.competition.nearDays) === 0
  return isDaily && a.isStartStated && b.isStartStated ? 2.5 : 18
}

function gradeGame(a: Game, b: Game, competition: Competition) {
  let best = gradeOrientations(a.sides, b.sides, competition)
  for (let at = 2; at <= b.run.length - 2; at += 1) {
    const [one, other] = b.sides
    const sides = [
      { ...one, code: b.run.slice(0, at) },
      { ...other, code: b.run.slice(at) },
    ] as const
    const grades = gradeOrientations(a.sides, sides, competition)
    if (grades.least > best.least || (grades.least === best.least && grades.both > best.both))
      best = grades
  }
  return best
}

function gradeOrientations(a: Game['sides'], b: Game['sides'], competition: Competition) {
  const straight = [
    gradeSides(a[0], b[0], competition),
    gradeSides(a[1], b[1], competition),
  ] as const
  const swapped = [
    gradeSides(a[0], b[1], competition),
    gradeSides(a[1], b[0], competition),
  ] as const
  const [one, other] = [Math.min(...straight), Math.min(...swapped)]
  const [sum, sumSwapped] = [straight[0] + straight[1], swapped[0] + swapped[1]]
  if (one === other && sum === sumSwapped) return { least: one, both: sum, isSwapped: null }
  const isSwapped = sum === sumSwapped ? other > one : sumSwapped > sum
  return { least: isSwapped ? other : one, both: isSwapped ? sumSwapped : sum, isSwapped }
}

const LINED = /^(?:total|teamtotal|spread|prop:)/

/** `unknown`: the bet needs a line, and one listing states none. */
function relateLines(a: Game, b: Game): 'none' | 'same' | 'other' | 'unknown' {
  if (!LINED.test(a.bet.kind) && !LINED.test(b.bet.kind)) return 'none'
  if (a.line === null || b.line === null) return 'unknown'
  if (Math.abs(a.line - b.line) < 0.01) return 'same'
  // -1.5 for one side equals +1.5 for the other side.
  return a.bet.kind === 'spread' && Math.abs(a.line + b.line) < 0.01 ? 'same' : 'other'
}

/** `opposite`: Yes of one is No of the other. `other`: another one of three outcomes. */
function relateSides(
  a: Game,
  b: Game,
  isSwapped: boolean | null,
): 'same' | 'opposite' | 'other' | 'unknown' {
  const [one, other] = [a.yesOutcome, b.yesOutcome]
  if (one === null || other === null) return 'unknown'
  const isTeam = (yesOutcome: YesOutcome): boolean =>
    yesOutcome === 'first' || yesOutcome === 'second'
  if (!isTeam(one) || !isTeam(other)) {
    if (one === other) return 'same'
    // In a bet of unknown kind, one listing may state a side that the other omits, such as "first corner of team A".
    if (a.bet.kind.startsWith(OTHER)) return 'unknown'
    const pair = `${one} ${other}`
    return pair === 'over under' || pair === 'under over' ? 'opposite' : 'other'
  }
  if (isSwapped === null) return 'unknown'
  const isSame = (one === other) !== isSwapped
  if (a.bet.kind === 'spread' && a.line !== null && b.line !== null) {
    const isMirrored = Math.abs(a.line + b.line) < 0.01 && a.line !== b.line
    if (isSame === isMirrored) return 'other'
    return isMirrored ? 'opposite' : 'same'
  }
  if (isSame) return 'same'
  // In a bet of unknown kind, possibly neither side wins.
  return a.bet.kind.startsWith(OTHER) || mayDraw(a, b) ? 'other' : 'opposite'
}

/**
 * Whether a game may end in a draw. It then has three outcomes, so Yes of the other side is not No. National teams
 * mostly play soccer.
 */
function mayDraw(a: Game, b: Game): boolean {
  const sport =
    a.competition.sport ?? b.competition.sport ?? (a.sides.every(isCountry) ? 'soccer' : '')
  return /^[12]h$/.test(a.bet.period) || sport === 'soccer' || sport === 'cricket'
}

function isDetailSame(
  one: string,
  other: string,
  kind: string,
  isSwapped: boolean | null,
): boolean {
  if (one === '' && other === '') return true
  if (kind === 'score')
    return (isSwapped === true ? other.split('-').reverse().join('-') : other) === one
  return gradeNames(one, other) >= SAME_SIDE
}

export function classifyGames({ game, both }: GameComparison): 'same' | 'other' | 'unclear' {
  if (game >= SAME_SIDE && both >= 1) return 'same'
  return game < OTHER_SIDE || both < 0.7 ? 'other' : 'unclear'
}
