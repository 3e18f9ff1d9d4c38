import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { unitText } from '../../../http/records/render.ts'

test('formats integer micro-units as the same text as JSON.stringify formats the decimal number', () => {
  const random = seededRandom('units')
  const edges = [0, 1, 999, 1_000, 999_999, 1e6, 1_001_000, 1e15 - 1_000, 1e15, 1e15 + 1_000, 9e15]
  const drawn = Array.from({ length: 20_000 }, (_, at) => {
    const bound = 10 ** (1 + (at % 15))
    return random.below(bound) * (at % 2 === 0 ? 1 : 1_000)
  })
  for (const micros of [...edges, ...drawn]) {
    for (const signed of [micros, -micros]) {
      assert.equal(unitText(signed), JSON.stringify(signed / 1e6), String(signed))
    }
  }
})
