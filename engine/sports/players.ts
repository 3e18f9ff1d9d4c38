// Compares players. Venue a states full names and codes of up to seven letters, venue b surnames and codes of three.

import type { Side } from './game-clue.ts'
import { foldName, squeezeName } from './team-names.ts'

/** Certainty that two sides are the same player. 3: the names agree. 1: only the codes agree. 0: they differ. */
export function playerScore(one: Side, other: Side): number {
  const [first, second] = [foldName(one.name), foldName(other.name)]
  if (first !== '' && second !== '') {
    if (isTail(first, second) || isTail(second, first)) return 3
    const [short, long] = first.length <= second.length ? [first, second] : [second, first]
    if (` ${long} `.includes(` ${short} `)) return 3
    // Different full names with the same surname are different players, such as Xinyu and Xiyu Wang.
    const isSameSurname = surname(first) === surname(second)
    if (isSameSurname && first.includes(' ') && second.includes(' ')) return 0
  }
  return isPrefix(one.code, other.code) ? 1 : 0
}

export function surnameOf({ code, name }: Side): string {
  const words = foldName(name).split(' ')
  if (words[0] === '') return squeezeName(code)
  if (words.length === 1) return words[0] ?? ''
  const letters = squeezeName(code)
  // Compares from the end: "Alex de Minaur" has the surname `minaur` with the code `minaur`, and `deminaur` with the
  // code `deminau`.
  for (let from = words.length - 1; from >= 0 && letters !== ''; from -= 1) {
    const tail = words.slice(from).join('')
    if (tail.startsWith(letters) || letters.startsWith(tail)) return tail
  }
  return words.at(-1) ?? ''
}

/**
 * Whether a surname is the end of a full name: "ugo carabelli" of "camilo ugo carabelli", "deminaur" of "alex de
 * minaur".
 */
function isTail(tail: string, name: string): boolean {
  if (name === tail || name.endsWith(` ${tail}`)) return true
  const letters = tail.replaceAll(' ', '')
  const words = name.split(' ')
  return words.some((_, from) => words.slice(from).join('') === letters)
}

function surname(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

/** Whether one text is a prefix of the other. A prefix of two letters counts only if it is the whole surname. */
function isPrefix(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  return short.length >= 2 && long.startsWith(short)
}
