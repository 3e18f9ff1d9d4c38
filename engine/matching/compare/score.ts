// The score of a pair: vetoes first, then the model; with relation, orientation, and one readable sentence.
// score / 100 is the chance that Yes means Yes.

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
  /** 0 to 100, one decimal. */
  readonly score: number
  readonly relation: Relation
  /** Yes of one is No of the other; null: which side Yes means is not known. */
  readonly inverted: boolean | null
  /** Venue a's outcome (0 is its first) for venue b's Yes and No; null where nothing corresponds. */
  readonly outcomeMap: readonly [number, number] | null
  /** Vetoes that fired, the lowest cap first. */
  readonly vetoes: readonly VetoReason[]
  /** What agrees. */
  readonly reasons: readonly string[]
  /** One sentence. */
  readonly explanation: string
}

/**
 * Scores a market or event of venue a against one of venue b of the same grain. A score below `from` may be that of
 * the first conflicts alone, which is no lower than the whole one.
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
 * The score of a comparison already made; the evaluation trains several models on one comparison. A model that was trained
 * with an encoder expects what it says: without that the words alone decide, by the weights of the service.
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
  const isSideUnknown = open.vetoes.some(({ detail }) => detail.startsWith('side'))
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

/** Below this chance, in percent, two questions are others: only what would decide is named as not said. */
const OPEN_CHANCE_MIN = 40

/** Where nothing contradicts: what keeps a pair below a match because it is not said, or names why it stays there. */
function unstatedVetoes(
  { unstated }: Comparison,
  chance: number,
): { readonly cap: number; readonly vetoes: readonly Veto[] } {
  const cap = Math.min(100, ...unstated.map((one) => one.cap))
  const isMatch = Math.min(chance, cap) >= MATCH_SCORE - ROUNDING
  if (isMatch || (cap === 100 && chance < OPEN_CHANCE_MIN)) return { cap, vetoes: [] }
  const parts = new Set(unstated.map(({ part }) => part).slice(0, PARTS_SHOWN_MAX))
  return {
    cap,
    vetoes: [veto('not_said', [...parts].join(', ') || 'that the words mean the same')],
  }
}

/** Scores have one decimal. */
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
