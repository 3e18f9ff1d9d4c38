// Draws one cycle of a question: the estimate of its value, the result and the participants.

import { hash32 } from '../../../random.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../units.ts'
import {
  aboveAnswers,
  answerWith,
  clampChance,
  logistic,
  type Measured,
  numberOf,
  payoutOf,
  rangeAnswers,
  roundTo,
  singleAnswer,
  strikesAround,
  underRules,
} from './answer-chances.ts'
import {
  clockLower,
  clockUpper,
  type EasternTime,
  easternMs,
  easternTime,
  longDate,
  shortDay,
  twoDigits,
  zoneName,
} from './eastern.ts'
import type { Drawn } from './kinds.ts'
import type { City, Coin, Figure } from './lists.ts'
import { capitals, pickAt, workTitle } from './names.ts'
import { chanceOf, pathAt, type Wave } from './path.ts'
import type { Answer, View } from './question.ts'
import { teamsOf } from './teams.ts'

const COIN_WAVES: readonly Wave[] = [
  { amplitude: 0.35, scaleMs: 120 * DAY_MS },
  { amplitude: 0.12, scaleMs: 14 * DAY_MS },
  { amplitude: 0.04, scaleMs: 2 * DAY_MS },
  { amplitude: 0.015, scaleMs: 7 * HOUR_MS },
  { amplitude: 0.005, scaleMs: HOUR_MS },
  { amplitude: 0.0025, scaleMs: 9 * MINUTE_MS },
]

const WEATHER_WAVES: readonly Wave[] = [
  { amplitude: 7, scaleMs: 6 * DAY_MS },
  { amplitude: 5, scaleMs: 1.5 * DAY_MS },
]

const FIGURE_WAVES: readonly Wave[] = [
  { amplitude: 5, scaleMs: 400 * DAY_MS },
  { amplitude: 1.5, scaleMs: 45 * DAY_MS },
]

export function drawUpOrDown(view: View, coin: Coin): Drawn {
  const startMs = view.closeMs - 15 * MINUTE_MS
  const [at, start] = [easternTime(view.closeMs), easternTime(startMs)]
  const isInverted = view.trap === 'opposite_side'
  const change = Math.log(priceOf(view, coin, view.closeMs) / priceOf(view, coin, startMs))
  const move = underRules(view, change, 0.0004)
  const yes = clampChance(0.42 + 0.16 * logistic(numberOf(9, view.key, 'tilt') - 4))
  const window =
    view.venue === 'a'
      ? `${longDate(start)}, ${clockUpper(start)}-${clockUpper(at)} ${zoneName(at)}`
      : `${shortDay(start)} - ${clockLower(start)} to ${clockLower(at)}`
  const answer = answerWith({
    key: 'up',
    label: isInverted ? 'Price down' : 'Price up',
    chance: isInverted ? 1 - yes : yes,
    payout: payoutOf(move >= 0 !== isInverted),
    isInverted,
  })
  return { form: 'single', answers: [answer], values: { window, startClock: clockUpper(start) } }
}

/** The estimate is the price four days before the close. The result is the price at the close. */
export function coinMeasured(view: View, coin: Coin): Measured {
  const guess = priceOf(view, coin, view.plainCloseMs - 4 * DAY_MS)
  const result = underRules(view, priceOf(view, coin, view.closeMs), guess * 0.002)
  return { guess, spread: guess * 0.04, result }
}

function priceOf(view: View, coin: Coin, atMs: number): number {
  return coin.basePrice * Math.exp(pathAt(hash32(view.seed, 'coin', coin.code), COIN_WAVES, atMs))
}

/** 1, 2 or 5 times a power of ten, at or below the value. */
export function niceStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const lead = value / power
  return roundTo((lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power, power)
}

export function dollars(price: number): string {
  const [integerPart = '0', fraction] = String(price).split('.')
  const grouped = integerPart.replace(/\B(?=(\d{3})+$)/g, ',')
  return `$${grouped}${fraction === undefined ? '' : `.${fraction}`}`
}

/** Values are drawn again for each day, so that the trap `other_date` changes them. */
export const redrawn = (view: View): View =>
  view.trap === 'other_date' ? { ...view, key: view.resultKey } : view

/** The date in the city, which may differ from New York's date at the close. */
export function questionDay(view: View): EasternTime {
  const dayNumber = view.cycle + (view.trap === 'other_date' ? 1 : 0)
  return easternTime(easternMs({ dayNumber, minuteOfDay: 12 * 60 }))
}

/** Season plus weather. The forecast differs from the value by at most `errorDegrees`. */
export function temperatureAt(
  view: View,
  city: City,
  isHigh: boolean,
  atMs: number,
  errorDegrees: number,
): number {
  const yearPart = ((atMs / DAY_MS) % 365.25) / 365.25
  const season = -Math.cos(2 * Math.PI * (yearPart - 0.055)) * city.swing
  const weather = pathAt(hash32(view.seed, 'weather', city.name), WEATHER_WAVES, atMs)
  const error = errorDegrees * (numberOf(2001, view.key, 'forecast') / 1000 - 1)
  return city.mean + season + weather + error - (isHigh ? 0 : 15)
}

export function drawFigure(view: View, figure: Figure, country: string, count: number): Drawn {
  const { base, step, suffix } = figure
  const unit = step >= 1 ? 1 : roundTo(step / 2, 0.001)
  const seed = hash32(view.seed, 'figure', country, figure.code)
  const figureAt = (ms: number): number => base + step * pathAt(seed, FIGURE_WAVES, ms)
  const guess = figureAt(view.plainCloseMs - 20 * DAY_MS)
  const result = underRules(view, figureAt(view.closeMs), step * 0.4)
  const strikes = strikesAround(view, { guess, step, count, shift: step / 2 })
  const answers = aboveAnswers(view, strikes, { guess, spread: step * 1.3, result })
  return { form: 'above', answers, format: (value) => `${value}${suffix}`, unit }
}

export function decisions(view: View, { short }: { readonly short: string }) {
  const labels =
    view.venue === 'a'
      ? ['No change', '25 bps decrease', '50+ bps decrease', '25+ bps increase']
      : [`${short} maintains rate`, 'Cut 25bps', 'Cut >25bps', 'Hike >0bps']
  const codes = ['H0', 'C25', 'C26', 'H25']
  return labels.map((label, index) => ({ label, code: codes[index] ?? '' }))
}

/** Yes if the event happens by the close. `opposite`: start of the label of the opposite side. */
export function drawDeed(view: View, opposite: string): Drawn {
  const preposition = view.trap === 'opposite_side' ? opposite : 'Before'
  const label = `${preposition} ${longDate(easternTime(view.closeMs))}`
  return { form: 'single', answers: [singleAnswer(view, { label, code: '' })] }
}

export function uniqueCodes(
  names: readonly { label: string; code: string }[],
): readonly { label: string; code: string }[] {
  const seen = new Set<string>()
  return names.map((name, index) => {
    const code = seen.has(name.code) ? `${name.code}${index}` : name.code
    seen.add(code)
    return { label: name.label, code }
  })
}

export function drawScore(view: View, work: string, count: number): Drawn {
  const guess = 45 + numberOf(45, view.key, 'score')
  const drift = (4 * chanceOf(view.seed, view.key, 'drift') - 2) * 3
  const later =
    view.trap === 'other_date' ? 2 * chanceOf(view.seed, view.resultKey, 'later') - 1 : 0
  const result = Math.min(100, underRules(view, guess + drift + later, 2)) + 0.01
  const strikes = strikesAround(view, { guess, step: 5, count, shift: 2 })
  const answers = aboveAnswers(view, strikes, { guess, spread: 5, result })
  return { form: 'above', answers, values: { work } }
}

export function drawBoxOffice(view: View, work: string, count: number): Drawn {
  const guess = 6 + numberOf(90, view.key, 'gross')
  const error = (2 * chanceOf(view.seed, view.resultKey, 'gross') - 1) * guess * 0.15
  const result = underRules(view, guess + error, guess * 0.04)
  const step = guess > 40 ? 5 : guess > 15 ? 2 : 1
  const edges = strikesAround(view, { guess, step, count: count - 1, shift: step / 2 })
  return {
    form: 'range',
    answers: rangeAnswers(edges, 0.01, { guess, spread: guess * 0.08, result }),
    format: (value) => `$${roundTo(value, 0.01)}M`,
    unit: 0.01,
    values: { work },
  }
}

export const workOf = (view: View, ordinal: number): string =>
  // This title is unique among all cycles and slots of the run.
  workTitle(ordinal * 97 + (view.cycle % 97) + Math.floor(view.cycle / 97) * 10_000_019)

/** Golfers in order of their probabilities. One simulated race determines all placings of the week. */
export function fieldAnswers(
  view: View,
  contest: { week: number; tour: string; places: number; count: number },
): readonly Answer[] {
  const { week, tour, count } = contest
  const golfers = teamsOf('pga')
  const start = tour === 'PGA' ? 0 : numberOf(golfers.length, tour)
  const field = Array.from({ length: count }, (_, index) => pickAt(golfers, start + index))
  const strengths = field.map((_, index) => 1 / (index + 4))
  const sum = strengths.reduce((total, strength) => total + strength, 0)
  // Exponential race: each golfer wins with a probability proportional to its strength.
  const finish = field.map(({ name }, index) => {
    const draw = chanceOf(view.seed, tour, week, name, 'round')
    return -Math.log(Math.max(1e-9, draw)) / (strengths[index] ?? 1)
  })
  const order = [...finish].sort((left, right) => left - right)
  const places = Math.min(contest.places, Math.ceil(count * 0.55))
  const last = order[places - 1] ?? Number.POSITIVE_INFINITY
  return field.map((golfer, index) => {
    const win = (strengths[index] ?? 0) / sum
    const chance = clampChance(1 - (1 - win) ** places)
    return answerWith({
      ...{ key: `golfer${index}`, code: golfer.kalshiCode, label: golfer.name, chance },
      payout: payoutOf((finish[index] ?? 0) <= last),
      weight: 0.3 + 2 * chance,
    })
  })
}

/** KXPGATOUR-{CODE}{YY}: the code has four letters of the name and one or two for the week. YY is the year. */
export function tournamentCode(tournament: string, week: number, at: EasternTime): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const ofYear = ((week % 104) + 104) % 104
  const mark = `${letters.charAt(Math.floor(ofYear / 26))}${letters.charAt(ofYear % 26)}`
  return `${capitals(tournament).slice(0, 4)}${mark}${twoDigits(at.year % 100)}`
}
