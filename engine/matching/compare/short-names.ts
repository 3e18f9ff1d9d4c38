// Shortened first names (Cam for Cameron), accepted only beside an equal surname.
// Not for: teams (sides.ts). Upholds VETO11.

/** True when one word is the beginning of the other and has at least three letters. */
function isShortForm(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  return short.length >= 3 && long.startsWith(short)
}

/** Words of a question and of an answer that shorten each other, where the answer's surname is in the question. */
export function shortForms(words: readonly string[], answer: readonly string[]): readonly string[] {
  const surname = answer.at(-1)
  if (answer.length < 2 || surname === undefined || !words.includes(surname)) return []
  return answer.flatMap((part) => {
    if (words.includes(part)) return []
    const long = words.find((word) => isShortForm(part, word))
    return long === undefined ? [] : [part, long]
  })
}
