// Golf tournaments, one a week and tour: the winner, the first five, ten, twenty, the cut. One market
// a golfer at both venues. Upholds SIMCAL4 and SIMCAL5.

import { DAY_MS } from '../../../units.ts'
import { clampChance, numberOf, payoutOf } from './answers.ts'
import { type EasternTime, easternTime, longDate, twoDigits } from './eastern.ts'
import { gridSize } from './grid-size.ts'
import { capitals, pickAt, place } from './names.ts'
import { chanceOf } from './path.ts'
import type { Answer, Asked, Family, View } from './question.ts'
import { everyDays } from './schedule.ts'
import { teamsOf } from './teams.ts'
import { variantOf } from './variants.ts'

/** "Alderville Classic Winner?" */
export const GOLF: Family = {
  name: 'golf',
  topic: 'sports',
  share: 0.03,
  variant(ordinal, size) {
    const tour = TOURS[Math.floor(ordinal / PLACINGS.length)]
    const placing = PLACINGS[ordinal % PLACINGS.length]
    if (tour === undefined || placing === undefined) return null
    const count = gridSize(size, { least: 12, most: 60 })
    return variantOf({
      key: `golf/${tour.code}${placing.code}`,
      // Day 3 of 1970 was a Sunday.
      schedule: everyDays({
        days: 7,
        dayPhase: 3,
        minuteOfDay: 18 * 60 + ((ordinal * 25) % 180),
      }),
      lifeMs: 5 * DAY_MS,
      count,
      traps: ['other_rules', 'other_date'],
      interest: ordinal === 0 ? 2 : 0.5,
      ask: (view) => askGolf(view, { tour, placing, count }),
    })
  },
}

interface Placing {
  readonly code: string
  readonly title: string
  /** How many golfers make it. */
  readonly places: number
  readonly deed: string
}

function askGolf(
  view: View,
  contest: { tour: { name: string; code: string }; placing: Placing; count: number },
): Asked {
  const isA = view.venue === 'a'
  const { tour, placing, count } = contest
  const at = easternTime(view.closeMs)
  // All markets of a tour's week are about one tournament, so its draws leave the placing out.
  const week = view.cycle + (view.trap === 'other_date' ? 1 : 0)
  const tournament = `${place(numberOf(600, tour.code, week))} ${pickAt(CUPS, week)}`
  const series = `KX${tour.code}${placing.code}`
  return {
    form: placing.places === 1 ? 'choice' : 'list',
    answers: fieldAnswers(view, { week, tour: tour.code, placing, count }),
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? capitals(tour.name).toLowerCase() : series,
      seriesTitle: isA ? tour.name : `${tour.name} ${placing.title}`,
      stamp: tournamentCode(tournament, week, at),
      title: isA
        ? `${tour.name}: ${tournament} ${placing.title} (${longDate(at)})`
        : `${tournament} ${placing.title}?`,
      subtitle: isA ? '' : `${at.year} ${tournament}`,
      category: 'Sports',
      tags: isA ? ['Sports', 'Golf', tour.name] : ['Golf'],
      question: (name) =>
        isA
          ? `Will ${name} ${placing.deed} the ${tournament} ending ${longDate(at)}?`
          : `Will ${name} ${placing.deed} the ${tournament}?`,
      clause: (name) => `${name} is to ${placing.deed} the ${at.year} ${tournament}`,
      remarks:
        view.trap === 'other_rules'
          ? 'Dead heats are settled by count-back, not by the official standing.'
          : isA
            ? `In the event of a tie, this market will resolve by the ${tour.name} rules. If the ` +
              'listed player is eliminated from contention, it will resolve to "No".'
            : 'Ties count as the better place. If the tournament is shortened, the official result ' +
              'stands.',
    },
  }
}

/** Golfers in the order of their chances; one race decides every placing of the week. */
function fieldAnswers(
  view: View,
  contest: { week: number; tour: string; placing: Placing; count: number },
): readonly Answer[] {
  const { week, tour, placing, count } = contest
  const golfers = teamsOf('pga')
  const start = tour === 'PGA' ? 0 : numberOf(golfers.length, tour)
  const field = Array.from({ length: count }, (_, index) => pickAt(golfers, start + index))
  const strengths = field.map((_, index) => 1 / (index + 4))
  const sum = strengths.reduce((total, strength) => total + strength, 0)
  // An exponential race: the first one home is each with a chance proportional to the strength.
  const finish = field.map(({ name }, index) => {
    const draw = chanceOf(view.seed, tour, week, name, 'round')
    return -Math.log(Math.max(1e-9, draw)) / (strengths[index] ?? 1)
  })
  const order = [...finish].sort((left, right) => left - right)
  const places = Math.min(placing.places, Math.ceil(count * 0.55))
  const last = order[places - 1] ?? Number.POSITIVE_INFINITY
  return field.map((golfer, index) => {
    const win = (strengths[index] ?? 0) / sum
    const chance = clampChance(1 - (1 - win) ** places)
    return {
      key: `golfer${index}`,
      code: golfer.kalshiCode,
      label: golfer.name,
      floor: null,
      cap: null,
      chance,
      payout: payoutOf((finish[index] ?? 0) <= last),
      isInverted: false,
      weight: 0.3 + 2 * chance,
    }
  })
}

/** KXPGATOUR-{CODE}{YY}: four letters of the name, one or two for the week, the year. */
function tournamentCode(tournament: string, week: number, at: EasternTime): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const ofYear = ((week % 104) + 104) % 104
  const mark = `${letters.charAt(Math.floor(ofYear / 26))}${letters.charAt(ofYear % 26)}`
  return `${capitals(tournament).slice(0, 4)}${mark}${twoDigits(at.year % 100)}`
}

const TOURS = [
  { name: 'PGA TOUR', code: 'PGA' },
  { name: 'DP World Tour', code: 'DPWORLD' },
  { name: 'Korn Ferry Tour', code: 'KFT' },
  { name: 'Asian Tour', code: 'ASIANTOUR' },
  { name: 'LIV Golf', code: 'LIV' },
]

const PLACINGS: readonly Placing[] = [
  { code: 'TOUR', title: 'Winner', places: 1, deed: 'win' },
  { code: 'TOP5', title: 'Top 5 Finishers', places: 5, deed: 'finish in the top 5 of' },
  { code: 'TOP10', title: 'Top 10 Finishers', places: 10, deed: 'finish in the top 10 of' },
  { code: 'TOP20', title: 'Top 20 Finishers', places: 20, deed: 'finish in the top 20 of' },
  { code: 'MAKECUT', title: 'To Make the Cut', places: 65, deed: 'make the cut of' },
]

const CUPS = ['Classic', 'Open', 'Championship', 'Invitational', 'Challenge', 'Masters', 'Trophy']
