// The logistic model: a weighted sum of agreements becomes a chance. Trained by the training command with
// this code, used by scoring with the same. Not for: which agreements there are (compare.ts). Upholds SCORE1.

import { tableIn } from '../understand/phrases.ts'

export interface Model {
  /** One weight a feature, in the order of FEATURES. */
  readonly weights: readonly number[]
}

/** What the training command writes: weights in thousandths by feature, in the order of FEATURES, and how chances bend. */
export interface Learned {
  readonly source: string
  readonly thousandths: Readonly<Record<string, number>>
  readonly bend: number
}

const LEARNED = tableIn<Learned>(new URL('./weights.json', import.meta.url))

/** The weights of the service. */
export const WEIGHTS: Model = {
  weights: Object.values(LEARNED.thousandths).map((weight) => weight / 1_000),
}

/** From the first on two questions are related, from the second on the same; 0 to 1. */
export const UNSURE = [0.4, 0.8] as const

/**
 * The chance among all questions, of which most have a twin or none and several that are alike; labelled pairs are half
 * the same. Where the model is unsure a pair is then mostly a question's neighbour, and its chance falls the more the
 * greater `bend`; the order of pairs, and what counts as the same, stay.
 */
export function amongAll(chance: number, bend = LEARNED.bend): number {
  const [from, to] = UNSURE
  if (chance <= from || chance >= to) return chance
  return from + (to - from) * ((chance - from) / (to - from)) ** bend
}

/** The chance that two markets are the same, 0 to 1. */
export function chanceOf(model: Model, features: readonly number[]): number {
  let sum = 0
  for (let index = 0; index < features.length; index += 1) {
    sum += (model.weights[index] ?? 0) * (features[index] ?? 0)
  }
  return 1 / (1 + Math.exp(-sum))
}

export interface Example {
  readonly features: readonly number[]
  readonly isSame: boolean
  /** How much it counts; 1 as a rule. */
  readonly weight: number
}

/** Strength of the pull towards what is expected: it weighs most where examples are few. */
const RIDGE = 0.6
const ROUNDS = 60

/**
 * Fits a logistic regression, pulled towards the expected weights, by Newton's method (iteratively reweighted least squares).
 * The sum of chances equals the sum of labels, so that chances are calibrated on the examples.
 */
export function train(examples: readonly Example[], expected: readonly number[]): Model {
  const weights = [...expected]
  const size = expected.length
  for (let round = 0; round < ROUNDS; round += 1) {
    const { gradient, curvature } = slopesOf(examples, weights, expected)
    // A weight that is held at 0 stays out of the step of the others.
    for (let index = 1; index < size; index += 1) {
      const isHeld = weights[index] === 0 && (gradient[index] ?? 0) * (expected[index] ?? 0) < 0
      if (isHeld) hold(index, gradient, curvature)
    }
    const step = solve(curvature, gradient)
    let moved = 0
    for (let index = 0; index < size; index += 1) {
      const move = Math.max(-2, Math.min(2, step[index] ?? 0))
      weights[index] = ofExpectedSign((weights[index] ?? 0) + move, expected[index] ?? 0, index)
      moved = Math.max(moved, Math.abs(move))
    }
    if (moved < 1e-6) break
  }
  return { weights: weights.map((weight) => Number(weight.toFixed(4))) }
}

function hold(index: number, gradient: number[], curvature: number[][]): void {
  gradient[index] = 0
  for (const [at, row] of curvature.entries()) {
    if (at === index) row.fill(0)
    row[index] = at === index ? 1 : 0
  }
}

/** An agreement never counts against a pair, nor a difference for it, however few examples suggest it. */
function ofExpectedSign(weight: number, expected: number, index: number): number {
  if (index === 0 || expected === 0) return weight
  return expected > 0 ? Math.max(0, weight) : Math.min(0, weight)
}

function slopesOf(
  examples: readonly Example[],
  weights: readonly number[],
  expected: readonly number[],
): { gradient: number[]; curvature: number[][] } {
  // The first feature is the constant, which is not pulled.
  const size = weights.length
  const gradient = weights.map((weight, index) => {
    return index === 0 ? 0 : -RIDGE * (weight - (expected[index] ?? 0))
  })
  const curvature: number[][] = weights.map((_, row) => {
    return weights.map((__, column): number => (row === column ? (row === 0 ? 1e-6 : RIDGE) : 0))
  })
  for (const { features, isSame, weight } of examples) {
    const chance = chanceOf({ weights }, features)
    const miss = weight * ((isSame ? 1 : 0) - chance)
    const bend = Math.max(1e-6, weight * chance * (1 - chance))
    for (let row = 0; row < size; row += 1) {
      const value = features[row] ?? 0
      if (value === 0) continue
      gradient[row] = (gradient[row] ?? 0) + miss * value
      const line = curvature[row]
      if (line === undefined) continue
      for (let column = 0; column < size; column += 1) {
        line[column] = (line[column] ?? 0) + bend * value * (features[column] ?? 0)
      }
    }
  }
  return { gradient, curvature }
}

/** Gaussian elimination with pivoting of a small symmetric system. */
function solve(matrix: readonly (readonly number[])[], target: readonly number[]): number[] {
  const size = target.length
  const rows = matrix.map((row, index) => [...row, target[index] ?? 0])
  for (let column = 0; column < size; column += 1) {
    let pivot = column
    for (let row = column + 1; row < size; row += 1) {
      if (Math.abs(rows[row]?.[column] ?? 0) > Math.abs(rows[pivot]?.[column] ?? 0)) pivot = row
    }
    const [upper, lower] = [rows[column], rows[pivot]]
    if (upper === undefined || lower === undefined) continue
    rows[column] = lower
    rows[pivot] = upper
    const head = lower[column] ?? 0
    if (Math.abs(head) < 1e-12) continue
    for (let row = 0; row < size; row += 1) {
      const line = rows[row]
      if (row === column || line === undefined) continue
      const factor = (line[column] ?? 0) / head
      for (let index = column; index <= size; index += 1) {
        line[index] = (line[index] ?? 0) - factor * (lower[index] ?? 0)
      }
    }
  }
  return rows.map((row, index) => {
    const head = row[index] ?? 0
    return Math.abs(head) < 1e-12 ? 0 : (row[size] ?? 0) / head
  })
}
