// First names in short, as venues list people: Cam for Cameron, beside an equal surname only.
// Not for: teams (sides.ts). Upholds VETO11.

/** Whether one word is the other's beginning, of three letters at least. */
export function isShortForm(one: string, other: string): boolean {
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
