// The score of a pair, from vetoes and the model, with relation, orientation and a one-sentence explanation. score /
// 100 is the probability that Yes of one means Yes of the other.

import type { Proposition } from '../understand/proposition.ts'
import type { Families } from '../veto/families.ts'
import {
  capOf,
  MATCH_SCORE,
  type Relation,
  type Veto,
  type VetoReason,
  veto,
  vetoText,
} from '../veto/vetoes.ts'
import { type Comparison, compare } from './compare.ts'
import { calibrated, chanceOf, type Model, WEIGHTS } from './model.ts'

export interface PairScore {
  /** 0 to 100, with one decimal. */
  readonly score: number
  readonly relation: Relation
  /** Whether Yes of one is No of the other. Null if it is unknown which outcome Yes means. */
  readonly inverted: boolean | null
  /** Venue a's outcome indices, from 0, for venue b's Yes and No. Null if no outcomes correspond. */
  readonly outcomeMap: readonly [number, number] | null
  /** The vetoes of this pair, the lowest cap first. */
  readonly vetoes: readonly VetoReason[]
  readonly reasons: readonly string[]
  readonly explanation: string
}

/**
 * Scores a market or event of venue a against one of venue b of the same grain. A score below `from` may be an upper
 * bound, because not all conflicts were checked.
 */
export function scorePair(
  a: Proposition,
  b: Proposition,
  from = 0,
  families?: Families,
): PairScore {
  return scoreOf(compare(a, b, from, families), WEIGHTS)
}

/**
 * Scores an existing comparison, so that the evaluation can score it with several models. If the model was trained with
 * an encoder and the similarity is missing, the default model scores the pair by words.
 */
export function scoreOf(comparison: Comparison, model: Model): PairScore {
  const { features, isConfirmed, similarity } = comparison
  const fitting = similarity === 'not read' ? WEIGHTS : model
  const chance = isConfirmed === true ? 100 : 100 * calibrated(chanceOf(fitting, features))
  const conflicts = [...comparison.vetoes].sort((one, other) => capOf([one]) - capOf([other]))
  const [first] = conflicts
  const open = first === undefined ? unstatedVetoes(comparison, chance) : { cap: 100, vetoes: [] }
  const score = Math.round(Math.min(chance, open.cap, capOf(conflicts)) * 10) / 10
  const isOpposite =
    first !== undefined && conflicts.every(({ reason }) => reason === 'opposite_side')
  const isSideUnknown =
    open.vetoes.length > 0 && comparison.unstated.some(({ part }) => part === 'side')
  const inverted = isSideUnknown ? null : isOpposite
  const relation = relationOf(score, first?.relation)
  const vetoes = [...conflicts, ...open.vetoes]
  return {
    score,
    relation,
    inverted,
    outcomeMap: mapOf(relation, inverted),
    vetoes: vetoes.map(({ reason }) => reason),
    reasons: comparison.agreements,
    explanation: `${sentence(comparison, vetoes.map(vetoText), score)}${similarityText(comparison)}`,
  }
}

/** Minimum probability in percent at which all unstated parts are reported. Below it only decisive parts are. */
const OPEN_CHANCE_MIN = 40

/**
 * Vetoes for unstated parts of questions that do not contradict each other. They cap the score below a match, or
 * explain why it is lower.
 */
function unstatedVetoes(
  { unstated }: Comparison,
  chance: number,
): { readonly cap: number; readonly vetoes: readonly Veto[] } {
  const cap = Math.min(100, ...unstated.map((one) => one.cap))
  const isMatch = Math.min(chance, cap) >= MATCH_SCORE - ROUNDING
  if (isMatch || (cap === 100 && chance < OPEN_CHANCE_MIN)) return { cap, vetoes: [] }
  const texts = new Set(unstated.map(({ text }) => text).slice(0, PARTS_SHOWN_MAX))
  return { cap, vetoes: [veto('not_said', [...texts].join(', ') || 'their words differ')] }
}

/** Half of the last decimal of a score. */
const ROUNDING = 0.05
const PARTS_SHOWN_MAX = 3

function similarityText({ similarity }: Comparison): string {
  if (similarity === 'not asked') return ''
  return similarity === 'not read'
    ? ' Their meaning was not read.'
    : ` Alike in meaning: ${similarity.toFixed(2)}.`
}

function relationOf(score: number, vetoed: Relation | undefined): Relation {
  if (vetoed !== undefined) return vetoed
  if (score >= MATCH_SCORE) return 'identical'
  return score >= 40 ? 'overlap' : 'different'
}

function mapOf(relation: Relation, inverted: boolean | null): readonly [number, number] | null {
  if (relation !== 'identical' || inverted === null) return null
  return inverted ? [1, 0] : [0, 1]
}

function sentence({ agreements }: Comparison, but: readonly string[], score: number): string {
  const agree = agreements.join(', ')
  if (but.length > 0) {
    const against = but.slice(0, 3).join('; ')
    return agree === ''
      ? `Not surely the same: ${against}.`
      : `Both agree (${agree}), but: ${against}.`
  }
  if (score < MATCH_SCORE) {
    return agree === ''
      ? 'Too little agrees to call them the same.'
      : `Alike (${agree}), but too little agrees to call them the same.`
  }
  return agree === '' ? 'The questions say the same.' : `The same question: ${agree}.`
}
