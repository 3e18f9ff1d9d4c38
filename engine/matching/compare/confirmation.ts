// What a person's confirmation makes of a judgement: the same question, whatever the texts conflict in. Which side Yes
// means stays as it was read, since Yes against No would be a wrong price: only an opposite side that was read keeps
// the pair inverted. Not for: that the pair is chosen (pair-graph.ts). Upholds MATCHER15.

import { VETOES } from '../veto/vetoes.ts'
import type { PairScore } from './judge.ts'

const REASON = 'confirmed by hand'

/** The judgement of a confirmed pair by what was read of it: 100, or inverted and capped. */
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
