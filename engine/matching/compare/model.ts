// Logistic model: maps a weighted sum of features to a probability. Training and scoring share this code.

import { tableIn } from '../understand/phrases.ts'

export interface Model {
  /** In the order of FEATURES. */
  readonly weights: readonly number[]
}

/** Output of the training command: weights in thousandths, by feature and in the order of FEATURES. */
export interface Learned {
  readonly source: string
  readonly thousandths: Readonly<Record<string, number>>
}

const LEARNED = tableIn<Learned>(new URL('./weights.json', import.meta.url))

export const WEIGHTS: Model = {
  weights: Object.values(LEARNED.thousandths).map((weight) => weight / 1_000),
}

/** Probabilities from which two questions are related, and from which they are the same. */
const [RELATED, SAME] = [0.4, 0.8] as const
/**
 * Strength of the calibration. Only few manually checked pairs between the two thresholds were the same (README.md), so
 * it lowers their probability strongly.
 */
const BEND = 12

/**
 * Lowers the probability of uncertain pairs. Half of the labelled pairs are positive, but most questions of a catalogue
 * have several similar neighbours and at most one match. Does not change the order of the pairs or which of them exceed
 * the threshold.
 */
export function calibrated(chance: number): number {
  if (chance <= RELATED || chance >= SAME) return chance
  return RELATED + (SAME - RELATED) * ((chance - RELATED) / (SAME - RELATED)) ** BEND
}

/** Probability that two markets are the same, 0 to 1. */
export function chanceOf({ weights }: Model, features: readonly number[]): number {
  let sum = 0
  for (let at = 0; at < features.length; at += 1) sum += (weights[at] ?? 0) * (features[at] ?? 0)
  return logistic(sum)
}

const logistic = (sum: number): number => 1 / (1 + Math.exp(-sum))

export interface Example {
  readonly features: readonly number[]
  readonly isSame: boolean
}

/** Strength of the regularization towards the prior weights. It has the largest effect on features with few examples. */
const RIDGE = 1.6
const ROUNDS = 300
/** Maximum change of a weight per step, and the change below which the training ends. */
const [STEP_MAX, STEP_MIN] = [2, 1e-5]

/**
 * Fits a logistic regression by coordinate-wise Newton steps until no weight changes. It is regularized towards the
 * prior weights. The sum of the probabilities equals the number of positive examples, so probabilities are calibrated
 * on the examples.
 */
export function train(examples: readonly Example[], expected: readonly number[]): Model {
  const weights = [...expected]
  const rows = examples.map(({ features, isSame }) => {
    const sum = expected.reduce((total, each, at) => total + each * (features[at] ?? 0), 0)
    return { features, target: isSame ? 1 : 0, sum }
  })
  const columns = expected.map((_, at) => rows.filter(({ features }) => features[at]))
  for (let round = 0, moved = 1; round < ROUNDS && moved > STEP_MIN; round += 1) {
    moved = 0
    for (const [at, column] of columns.entries()) {
      const [before, expects] = [weights[at] ?? 0, expected[at] ?? 0]
      // The first feature is the constant and is not regularized.
      let curvature = at === 0 ? 1e-6 : RIDGE
      let slope = curvature * (expects - before)
      for (const { features, target, sum } of column) {
        const [value, chance] = [features[at] ?? 0, logistic(sum)]
        slope += value * (target - chance)
        curvature += value ** 2 * Math.max(1e-6, chance * (1 - chance))
      }
      const step = Math.max(-STEP_MAX, Math.min(STEP_MAX, slope / curvature))
      for (const row of column) row.sum += step * (row.features[at] ?? 0)
      weights[at] = before + step
      moved = Math.max(moved, Math.abs(step))
    }
  }
  return { weights: weights.map((weight) => Number(weight.toFixed(4))) }
}
