// Draws probabilities and payouts that are consistent within a question. A higher strike is never likelier than a lower
// one, and exactly one bucket or name is right.

import { hash32 } from '../../../random.ts'
import { PRICE_HALF, PRICE_ONE, type PriceMicros, priceMicros } from '../../../units.ts'
import { chanceOf } from './path.ts'
import type { Answer, View } from './question.ts'

const PRICE_ZERO = priceMicros(0)

/** A number that answers depend on: its estimate at the opening, the spread of the estimate, and the final value. */
export interface Measured {
  readonly guess: number
  readonly spread: number
  readonly result: number
}

export const answerWith = (
  fields: Partial<Answer> & Pick<Answer, 'key' | 'chance' | 'payout'>,
): Answer => ({
  ...{ code: '', label: '', floor: null, cap: null, isInverted: false, weight: 1 },
  ...fields,
})

/** Yes if the value is above the strike. Under the trap opposite_side: Yes if the value is at or below the strike. */
export function aboveAnswers(
  view: View,
  strikes: readonly number[],
  value: Measured,
): readonly Answer[] {
  const isInverted = view.trap === 'opposite_side'
  return strikes.map((strike, index) => {
    const yes = clampChance(logistic((1.7 * (value.guess - strike)) / value.spread))
    const isYes = value.result > strike !== isInverted
    return answerWith({
      key: `strike${index}`,
      floor: isInverted ? null : strike,
      cap: isInverted ? strike : null,
      chance: isInverted ? 1 - yes : yes,
      payout: payoutOf(isYes),
      isInverted,
      weight: 0.3 + 4 * yes * (1 - yes),
    })
  })
}

/**
 * Buckets of steps: below the first edge, between two neighbouring edges, and from the last edge on. The value is
 * rounded to a step, so that exactly one bucket contains it. Requires at least 2 edges.
 */
export function rangeAnswers(
  edges: readonly number[],
  stepUnit: number,
  value: Measured,
): readonly Answer[] {
  const result = roundTo(value.result, stepUnit)
  const below = (edge: number): number =>
    logistic((1.7 * (edge - stepUnit / 2 - value.guess)) / value.spread)
  const answers: Answer[] = []
  for (let index = 0; index <= edges.length; index += 1) {
    const floor = index === 0 ? null : edgeAt(edges, index - 1)
    const next = index === edges.length ? null : edgeAt(edges, index)
    const cap = next === null ? null : roundTo(next - stepUnit, stepUnit)
    const chance = (next === null ? 1 : below(next)) - (floor === null ? 0 : below(floor))
    const isYes = (floor === null || result >= floor) && (cap === null || result <= cap)
    answers.push(
      answerWith({
        ...{ key: `bucket${index}`, floor, cap, chance: clampChance(chance) },
        payout: payoutOf(isYes),
        weight: 0.3 + 3 * chance,
      }),
    )
  }
  return answers
}

/** Exactly one of the names is right. Earlier names tend to be likelier. */
export function choiceAnswers(
  view: View,
  names: readonly { label: string; code: string }[],
): readonly Answer[] {
  const odds = names.map((name, index) => (0.15 + chanceOf(view.key, name.code)) / (index + 1))
  const total = odds.reduce((sum, odd) => sum + odd, 0)
  let draw = chanceOf(view.seed, view.resultKey, 'winner') * total
  let winner = -1
  odds.forEach((odd, index) => {
    if (winner < 0 && (draw < odd || index === odds.length - 1)) winner = index
    draw -= odd
  })
  return names.map((name, index) => {
    const chance = (odds[index] ?? 0) / total
    return answerWith({
      ...{ key: `name${index}`, ...name, chance: clampChance(chance) },
      payout: payoutOf(index === winner),
      weight: 0.2 + 0.8 * chance * names.length,
    })
  })
}

/** Each name is right or wrong independently of the others. */
export function listAnswers(
  view: View,
  names: readonly { label: string; code: string }[],
): readonly Answer[] {
  return names.map((name, index) => {
    const answer = singleAnswer(view, name, `name${index}`)
    return { ...answer, weight: 0.5 + chanceOf(view.key, name.code, 'weight') }
  })
}

/** Yes or no, independent of other questions. A later date makes Yes likelier and never changes Yes to No. */
export function singleAnswer(
  view: View,
  name: { label: string; code: string },
  key = 'yes',
): Answer {
  const skewed = chanceOf(view.key, name.code, 'chance')
  const plain = 0.03 + 0.94 * skewed * skewed
  const chance = clampChance(view.trap === 'other_date' ? 1 - (1 - plain) * 0.7 : plain)
  const isInverted = view.trap === 'opposite_side'
  const differs =
    view.trap === 'other_rules' && chanceOf(view.seed, view.key, name.code, 'rules') < 0.12
  const happened = chanceOf(view.seed, view.key, name.code, 'result') < chance
  const isYes = (happened !== differs) !== isInverted
  return answerWith({
    ...{ key, ...name, chance: isInverted ? 1 - chance : chance },
    payout: payoutOf(isYes),
    isInverted,
  })
}

/** The result under different rules. It differs by at most `reach`. */
export function underRules(view: View, result: number, reach: number): number {
  if (view.trap !== 'other_rules') return result
  return result + (2 * chanceOf(view.seed, view.resultKey, 'other source') - 1) * reach
}

/**
 * Strikes around the estimate at multiples of `step`. The trap other_threshold shifts them by half a step, or by one
 * step if steps are integers.
 */
export function strikesAround(
  view: View,
  grid: { guess: number; step: number; count: number; shift: number },
): readonly number[] {
  const middle = Math.round(grid.guess / grid.step) - Math.floor((grid.count - 1) / 2)
  const shift = view.trap === 'other_threshold' ? grid.shift : 0
  return Array.from({ length: grid.count }, (_, index) =>
    roundTo((middle + index) * grid.step + shift, grid.step / 1000),
  )
}

export function roundTo(value: number, unit: number): number {
  const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(unit) - 1e-9)))
  return Number((Math.round(value / unit) * unit).toFixed(decimals))
}

/** Whether the market is void, so that both outcomes pay one half. `share` is the probability. */
export function isVoid(view: View, share: number): boolean {
  return chanceOf(view.seed, view.resultKey, 'void') < share
}

export const payoutOf = (isYes: boolean, isHalf = false): PriceMicros =>
  isHalf ? PRICE_HALF : isYes ? PRICE_ONE : PRICE_ZERO

export const clampChance = (chance: number): number => Math.min(0.985, Math.max(0.015, chance))

export const logistic = (value: number): number => 1 / (1 + Math.exp(-value))

/** An integer in [0, bound) that the keys determine. */
export const numberOf = (bound: number, ...keys: readonly (string | number)[]): number =>
  hash32(...keys) % bound

function edgeAt(edges: readonly number[], index: number): number {
  const edge = edges[index]
  if (edge === undefined) throw new RangeError(`no edge ${index}`)
  return edge
}
