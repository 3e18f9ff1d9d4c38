// The judgement of a pair that an operator confirmed: the same question, whatever conflicts the texts have. The
// orientation stays as it was read, since prices of Yes against prices of No would be wrong: only a pair read as
// opposite stays inverted. Not for: choosing the pair (pair-graph.ts). Upholds MATCHER15.

import { VETOES } from '../veto/vetoes.ts'
import type { PairScore } from './judge.ts'

const REASON = 'confirmed by hand'

/** The judgement of a confirmed pair from the one that was read: score 100, or inverted with its cap. */
export function confirmed({ vetoes, inverted }: PairScore): PairScore {
  const isInverted = vetoes.includes('opposite_side')
  return {
    score: isInverted ? VETOES.opposite_side.cap : 100,
    relation: 'identical',
    inverted: isInverted,
    outcomeMap: isInverted ? [1, 0] : [0, 1],
    vetoes: isInverted ? ['opposite_side'] : [],
    reasons: [REASON],
    explanation: `The same question: ${REASON}${saySides(isInverted ? true : inverted)}.`,
  }
}

function saySides(inverted: boolean | null): string {
  if (inverted === null) return ', with sides that could not be read and count as equal'
  return inverted ? `, but with ${VETOES.opposite_side.says}` : ''
}
