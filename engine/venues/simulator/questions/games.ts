import { hash32, seededRandom } from '../../../random.ts'
import { DAY_MS } from '../../../units.ts'
import type { SimGame, SimTeam } from '../model.ts'
import { clampChance, isVoid, logistic, numberOf } from './answer-chances.ts'
import { easternMs, easternTime, isoDate } from './eastern.ts'
import {
  type GameResult,
  kalshiGame,
  type Line,
  polymarketGame,
  sharedGameTexts,
} from './game-style.ts'
import type { League } from './lists.ts'
import { chanceOf } from './path.ts'
import {
  copiesFor,
  type Family,
  gridSize,
  type Variant,
  type View,
  type WorldSize,
} from './question.ts'
import { everyDays } from './schedule.ts'
import { LEAGUES, teamsOf } from './teams.ts'

/** One family per league without golf, which has no games. */
export const GAMES: readonly Family[] = LEAGUES.filter(({ sport }) => sport !== 'pga').map(
  (league) => ({
    name: `${league.league} games`,
    topic: 'sports',
    share: 0.03,
    variant: (ordinal, size) => gameVariant(league, ordinal, size),
  }),
)

function gameVariant(league: League, ordinal: number, size: WorldSize): Variant | null {
  const meeting = meetingOf(league, ordinal)
  if (meeting.pair * 2 + 1 >= teamsOf(league.league).length) return null
  // In a small world only every third game has spreads and totals. In a large world every game has them.
  const lineCount = gridSize(size, { least: ordinal % 3 === 2 ? 1 : 0, most: 5 })
  const isTennis = league.sport === 'tennis'
  const startMinute = isTennis
    ? 5 * 60 + (numberOf(216, league.league, ordinal) % 216) * 5
    : (meeting.startMinute ?? 12 * 60 + (numberOf(127, league.league, ordinal) % 127) * 5)
  const questions = 1 + 2 * lineCount
  return {
    key: `game/${league.league}/${ordinal}`,
    schedule: everyDays({
      days: 1,
      dayPhase: 0,
      minuteOfDay: startMinute + league.durationMinutes + (ordinal % 4) * 4,
    }),
    copies: copiesFor(DAY_MS, 4 * DAY_MS),
    counts: { a: questions, b: questions + 1 },
    questions: { a: questions, b: questions, shared: questions },
    traps:
      lineCount === 0
        ? ['other_date', 'opposite_side', 'other_rules']
        : ['other_date', 'other_rules'],
    otherDateMs: DAY_MS,
    interest: league.league === 'nfl' ? 4 : league.league === 'nba' ? 2 : 1.2,
    eventSizes: { a: [questions], b: lineCount === 0 ? [2] : [2, lineCount, lineCount] },
    sharedTexts: (venue, eventIndex) => sharedGameTexts(league, venue, eventIndex),
    draftEvents(view) {
      const game = gameOf(view, { league, meeting, startMinute })
      const result = resultOf(view, game, league, lineCount)
      return view.venue === 'a'
        ? [polymarketGame(game, league, result)]
        : kalshiGame(game, league, result)
    },
  }
}

/** The position of the pair in the day's order, and whether this is the pair's first or second game of the day. */
interface Meeting {
  readonly pair: number
  readonly number: 1 | 2
  /** Null unless the pair plays two games on the day. */
  readonly startMinute: number | null
}

/** In baseball the first pair plays twice every day. The second variant is the second game. */
function meetingOf({ league }: League, ordinal: number): Meeting {
  if (league !== 'mlb' || ordinal > 1) {
    return { pair: league === 'mlb' ? ordinal - 1 : ordinal, number: 1, startMinute: null }
  }
  const firstMinute = 12 * 60 + numberOf(24, league, 'doubleheader') * 5
  return ordinal === 0
    ? { pair: 0, number: 1, startMinute: firstMinute }
    : { pair: 0, number: 2, startMinute: firstMinute + 4 * 60 + 10 }
}

/** Cycle n is the game on day n in New York. Under the trap other_date it is the game on the next day. */
function gameOf(
  view: View,
  slot: { league: League; meeting: Meeting; startMinute: number },
): SimGame {
  const { league, meeting, startMinute } = slot
  const dayNumber = view.cycle + (view.trap === 'other_date' ? 1 : 0)
  const startMs = easternMs({ dayNumber, minuteOfDay: startMinute })
  const slate = slateOf(view.seed, league.league, view.cycle)
  const [first, second] = [slate[2 * meeting.pair], slate[2 * meeting.pair + 1]]
  if (first === undefined || second === undefined) throw new RangeError('the slate is too short')
  // The home team of a pair alternates by day, so that a game under the trap other_date always differs from the game of
  // its day.
  const pair = [first.name, second.name].sort().join('|')
  const isFirstAway = ((hash32(pair) + view.cycle) & 1) === (first.name < second.name ? 0 : 1)
  return {
    sport: league.sport,
    league: league.league,
    startMs,
    date: isoDate(easternTime(easternMs({ dayNumber, minuteOfDay: 720 }))),
    away: isFirstAway ? first : second,
    home: isFirstAway ? second : first,
    number: meeting.number,
  }
}

function resultOf(view: View, game: SimGame, league: League, lineCount: number): GameResult {
  const chance = clampChance(0.12 + 0.76 * chanceOf(view.key, 'strength'))
  const scale = league.margin / 1.8
  const lean = scale * logit(chance)
  const margin = integerMargin(lean + scale * logit(chanceOf(view.seed, view.resultKey, 'margin')))
  const totalScale = league.total * 0.09
  const guess = league.total + totalScale * (chanceOf(view.key, 'pace') - 0.5)
  const total = Math.max(
    1,
    Math.round(guess + totalScale * logit(chanceOf(view.seed, view.resultKey, 'total'))),
  )
  const isAwayFavourite = chance >= 0.5
  const step = Math.max(1, Math.round(league.margin / 6))
  const spreads = lines(lineCount, 0.5 + Math.max(1, Math.round(Math.abs(lean))), step).map(
    (line): Line => ({
      line,
      chance: clampChance(logistic((Math.abs(lean) - line) / scale)),
      isYes: (isAwayFavourite ? margin : -margin) > line,
    }),
  )
  const totalStep = Math.max(1, Math.round(totalScale / 3))
  const totals = lines(lineCount, Math.round(guess) + 0.5, totalStep).map(
    (line): Line => ({
      line,
      chance: clampChance(logistic((guess - line) / totalScale)),
      isYes: total > line,
    }),
  )
  const isTied =
    view.trap === 'other_rules' && chanceOf(view.seed, view.resultKey, 'regulation') < 0.1
  return {
    chance,
    isAwayWinner: margin > 0,
    isAwayFavourite,
    isVoid: isVoid(view, 0.01),
    isTied,
    trap: view.trap,
    spreads,
    totals,
    tournament: tournamentOf(view, game),
  }
}

/** The middle line first, then alternately one line above and one below. */
function lines(count: number, middle: number, step: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => {
    const offset = index % 2 === 1 ? (index + 1) / 2 : -index / 2
    return middle + offset * step
  })
    .filter((line) => line > 0)
    .concat(Array.from({ length: count }, (_, index) => middle + (count + index) * step))
    .slice(0, count)
}

const logit = (chance: number): number => {
  const safe = Math.min(0.995, Math.max(0.005, chance))
  return Math.log(safe / (1 - safe))
}

function integerMargin(margin: number): number {
  return margin >= 0 ? Math.max(1, Math.round(margin)) : Math.min(-1, Math.round(margin))
}

function tournamentOf(view: View, game: SimGame): string {
  if (game.sport !== 'tennis') return ''
  const towns = ['Cincinnati', 'Wuhan', 'Basel', 'Doha', 'Lyon', 'Tokyo', 'Vienna', 'Metz', 'Linz']
  return `${game.league.toUpperCase()} ${towns[Math.floor(view.cycle / 7) % towns.length] ?? 'Basel'}`
}

const slates = new Map<string, readonly SimTeam[]>()
const SLATES_MAX = 256

/** The league's teams in the day's order. Team 2k plays team 2k + 1. */
function slateOf(seed: number, league: string, dayNumber: number): readonly SimTeam[] {
  const key = `${seed}/${league}/${dayNumber}`
  const cached = slates.get(key)
  if (cached !== undefined) return cached
  const random = seededRandom(key)
  const slate = [...teamsOf(league)]
  for (let last = slate.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1)
    const team = slate[last]
    const swapped = slate[other]
    if (team === undefined || swapped === undefined) break
    slate[last] = swapped
    slate[other] = team
  }
  if (slates.size >= SLATES_MAX) slates.clear()
  slates.set(key, slate)
  return slate
}
