import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { correctionsOf } from '../../../engine/search/spelling.ts'

test('corrects a word by exactly the words within Damerau-Levenshtein distance 1', () => {
  const random = seededRandom('spelling')
  let correctedCount = 0
  for (let step = 0; step < 4_000; step += 1) {
    const word = letters(random, 5 + random.below(3))
    const other =
      random.below(2) === 0 ? letters(random, 4 + random.below(5)) : edited(random, word)
    const found = correctionsOf(word, 0, (one) => (one === other ? [1] : undefined))
    const isNear = word !== other && damerauLevenshtein(word, other) === 1
    assert.deepEqual([...found.keys()], isNear ? [other] : [], `${word} ${other}`)
    if (isNear) correctedCount += 1
  }
  assert.ok(correctedCount > 1_000, `${correctedCount} corrected`)
})

test('does not correct words that are short, very long, numeric or frequent', () => {
  const corrected = (word: string, matchCount = 0) =>
    correctionsOf(word, matchCount, () => [1]).size
  assert.equal(corrected('abcd'), 0)
  assert.notEqual(corrected('abcde'), 0)
  assert.notEqual(corrected('a'.repeat(32)), 0)
  assert.equal(corrected('a'.repeat(33)), 0)
  assert.equal(corrected('104000'), 0)
  assert.equal(corrected('abcd1'), 0)
  assert.equal(corrected('abcde', 1), 0, 'a correction must be more frequent')
  const frequent = Array.from({ length: 1_000 }, (_, index) => index)
  assert.notEqual(correctionsOf('abcde', 16, () => frequent).size, 0)
  assert.equal(correctionsOf('abcde', 17, () => frequent).size, 0)
})

const letters = (random: Random, length: number): string =>
  Array.from({ length }, () => random.pick(['a', 'b', 'z'])).join('')

function edited(random: Random, word: string): string {
  const at = random.below(word.length)
  const letter = letters(random, 1)
  const [before, after] = [word.slice(0, at), word.slice(at + 1)]
  return random.pick([
    `${before}${after}`,
    `${before}${letter}${after}`,
    `${before}${letter}${word.slice(at)}`,
    `${before}${after.slice(0, 1)}${word.charAt(at)}${after.slice(1)}`,
  ])
}

/** Optimal string alignment, by the textbook matrix. */
function damerauLevenshtein(one: string, other: string): number {
  const rows: number[][] = []
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let row = 0; row <= one.length; row += 1) {
    rows.push([])
    for (let column = 0; column <= other.length; column += 1) {
      const isEqual = one[row - 1] === other[column - 1]
      const isSwapped =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1]
      const edits =
        Math.min(row, column) === 0
          ? Math.max(row, column)
          : Math.min(
              cell(row - 1, column) + 1,
              cell(row, column - 1) + 1,
              cell(row - 1, column - 1) + (isEqual ? 0 : 1),
              isSwapped ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
            )
      rows[row]?.push(edits)
    }
  }
  return cell(one.length, other.length)
}
