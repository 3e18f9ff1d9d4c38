// Compares ranks of texts with a plain sort.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../engine/clock.ts'
import { seededRandom } from '../../../engine/random.ts'
import { textRanks } from '../../../http/wallets/text-ranks.ts'

test('ranks texts like a reference sort, with equal ranks for equal texts', async () => {
  const random = seededRandom('texts')
  for (const count of [0, 1, 2, 511, 512, 513, 1_537, 9_000]) {
    const texts = Array.from({ length: count }, () => {
      const letters = Array.from({ length: 1 + random.below(3) }, () =>
        random.pick(['a', 'Z', 'é', '😀', ' ']),
      )
      return random.below(9) === 0 ? null : `${letters.join('')}${random.below(count)}`
    })
    const ranks = await textRanks(systemClock, texts)
    const different = [...new Set(texts.filter((text) => text !== null))].sort()
    assert.deepEqual(
      [...ranks],
      texts.map((text) => (text === null ? Number.NaN : different.indexOf(text))),
    )
  }
})
