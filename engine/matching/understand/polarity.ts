// Whether Yes stands for that something does not happen: "will X not resign", "stay dry", "No rain", "Not before
// May 1". Two questions of which only one is put so are each other's opposite.
// Not for: ranges, whose complement is told by their ends (quantity.ts). Upholds PROP16.

const NEGATED_VERB =
  /\b(?:will|would|does|do|did|is|are|has|have|can)\b[^?|:]*?\bnot\b(?! (?:only|before|until|later)\b)|n't\b|\b(?:fails? to|stays? dry)\b/
/** "No one", "no change" and "no. 1" are answers of their own, and no denials. */
const NEGATED_ANSWER = /^not?\b(?!\.| (?:one|body|change|other|longer|more|\d))\s*(\S*)/
const QUOTED = /"[^"]*"/g

/** The title and the short answer of a market, folded; `around` is what else is said of it. */
export function isNegative(title: string, answer: string, around: string): boolean {
  if (NEGATED_VERB.test(title.replace(QUOTED, ' '))) return true
  const match = NEGATED_ANSWER.exec(answer)
  if (match === null) return false
  // A work or a party may be called "No …": the denied word must be the question's.
  const [whole, denied = ''] = match
  return whole.startsWith('not') || (denied.length > 2 && ` ${title} ${around} `.includes(denied))
}
