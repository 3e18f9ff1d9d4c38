// The score of a pair: vetoes first, then the model; with relation, orientation, and one readable sentence.
// score / 100 is the chance that Yes means Yes. Upholds SCORE1 to SCORE4, VETO1.

import type { Proposition } from '../understand/proposition.ts'
import type { Families } from '../veto/families.ts'
import { capOf, type Relation, sayVeto, type VetoReason } from '../veto/vetoes.ts'
import { type Comparison, compare } from './compare.ts'
import { chanceOf, type Model } from './model.ts'
import { WEIGHTS } from './weights.ts'

/** From here on a pair counts as matched. */
export const MATCH_SCORE = 80

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
  const chance = isConfirmed === true ? 100 : 100 * chanceOf(fitting, features)
  const vetoes = [...comparison.vetoes].sort((one, other) => capOf([one]) - capOf([other]))
  const score = Math.round(Math.min(chance, capOf(vetoes)) * 10) / 10
  const [first] = vetoes
  const isOpposite = vetoes.every(({ reason }) => reason === 'opposite_side') && first !== undefined
  const isSideUnknown = vetoes.some(({ detail }) => detail === 'side unknown')
  const inverted = isSideUnknown ? null : isOpposite
  const relation = relationOf(score, first?.relation)
  return {
    score,
    relation,
    inverted,
    outcomeMap: mapOf(relation, inverted),
    vetoes: vetoes.map(({ reason }) => reason),
    reasons: comparison.agreements,
    explanation: `${sentence(comparison, vetoes.map(sayVeto), score)}${sayMeaning(comparison)}`,
  }
}

function sayMeaning({ similarity }: Comparison): string {
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

function sentence({ agreements }: Comparison, conflicts: readonly string[], score: number): string {
  const agree = agreements.length === 0 ? '' : agreements.join(', ')
  if (conflicts.length > 0) {
    const but = conflicts.slice(0, 3).join('; ')
    return agree === '' ? `Not the same: ${but}.` : `Both agree (${agree}), but: ${but}.`
  }
  if (score >= MATCH_SCORE)
    return agree === '' ? 'The questions say the same.' : `The same question: ${agree}.`
  return agree === ''
    ? 'Too little agrees to call them the same.'
    : `Alike (${agree}), but not surely the same.`
}
