// The logistic model: a weighted sum of agreements becomes a chance. Trained by the training command with
// this code, used by scoring with the same.

import { tableIn } from '../understand/phrases.ts'

export interface Model {
  /** One weight a feature, in the order of FEATURES. */
  readonly weights: readonly number[]
}

/** What the training command writes: weights in thousandths by feature, in the order of FEATURES. */
export interface Learned {
  readonly source: string
  readonly thousandths: Readonly<Record<string, number>>
}

const LEARNED = tableIn<Learned>(new URL('./weights.json', import.meta.url))

/** The weights of the service. */
export const WEIGHTS: Model = {
  weights: Object.values(LEARNED.thousandths).map((weight) => weight / 1_000),
}

/** From the first on two questions are related, from the second on the same; 0 to 1. */
const [RELATED, SAME] = [0.4, 0.8] as const
/** Read one by one, of the corpus pairs between the two few were the same (README.md): nearly all of their chance goes. */
const BEND = 12

/**
 * The chance among all questions, of which most have a twin or none and several that are alike; labelled pairs are half
 * the same. Where the model is unsure a pair is then mostly a question's neighbour; the order of pairs, and what counts as
 * the same, stay.
 */
export function calibrated(chance: number): number {
  if (chance <= RELATED || chance >= SAME) return chance
  return RELATED + (SAME - RELATED) * ((chance - RELATED) / (SAME - RELATED)) ** BEND
}

/** The chance that two markets are the same, 0 to 1. */
export function chanceOf({ weights }: Model, features: readonly number[]): number {
  let sum = 0
  for (let at = 0; at < features.length; at += 1) sum += (weights[at] ?? 0) * (features[at] ?? 0)
  return logistic(sum)
}

const logistic = (sum: number): number => 1 / (1 + Math.exp(-sum))

export interface Example {
  readonly features: readonly number[]
  readonly isSame: boolean
  /** How much it counts; 1 as a rule. */
  readonly weight: number
}

/** Strength of the pull towards what is expected: it weighs most where examples are few. */
const RIDGE = 1.6
const ROUNDS = 300
/** Weights move by no more at once; training ends when none moves as far as the least. */
const [STEP_MAX, STEP_MIN] = [2, 1e-5]

/**
 * Fits a logistic regression, pulled towards the expected weights, one weight after another by Newton's step until none
 * moves. The sum of chances equals the sum of labels, as they are weighed, so that chances are calibrated on the examples.
 */
export function train(examples: readonly Example[], expected: readonly number[]): Model {
  const weights = [...expected]
  const rows = examples.map(({ features, isSame, weight }) => {
    const sum = expected.reduce((total, each, at) => total + each * (features[at] ?? 0), 0)
    return { features, target: isSame ? 1 : 0, weight, sum }
  })
  const columns = expected.map((_, at) => rows.filter(({ features }) => features[at]))
  for (let round = 0, moved = 1; round < ROUNDS && moved > STEP_MIN; round += 1) {
    moved = 0
    for (const [at, column] of columns.entries()) {
      const [before, expects] = [weights[at] ?? 0, expected[at] ?? 0]
      // The first feature is the constant, which is not pulled.
      let curvature = at === 0 ? 1e-6 : RIDGE
      let slope = curvature * (expects - before)
      for (const { features, target, weight, sum } of column) {
        const [value, chance] = [features[at] ?? 0, logistic(sum)]
        slope += weight * value * (target - chance)
        curvature += weight * value ** 2 * Math.max(1e-6, chance * (1 - chance))
      }
      const step = Math.max(-STEP_MAX, Math.min(STEP_MAX, slope / curvature))
      // An agreement never counts against a pair, nor a difference for it, however few examples suggest it.
      const isTurned = at > 0 && (before + step) * expects < 0
      const after = isTurned ? 0 : before + step
      for (const row of column) row.sum += (after - before) * (row.features[at] ?? 0)
      weights[at] = after
      moved = Math.max(moved, Math.abs(after - before))
    }
  }
  return { weights: weights.map((weight) => Number(weight.toFixed(4))) }
}
