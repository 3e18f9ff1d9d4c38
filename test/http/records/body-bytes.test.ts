// Long bodies as bytes: the same as the texts joined and encoded, whatever is in them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { BodyBytes, partsAnswer, separated } from '../../../http/records/body-bytes.ts'
import type { Answer } from '../../../http/request/reply.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const LETTERS = ['a', 'é', '’', '€', '𝒳', '\ud800', '\u0000', '"']

test('encodes the same bytes as joined strings while buffers grow and are reused', () => {
  const random = seededRandom('bodies')
  const open: { body: BodyBytes; wanted: string }[] = []
  for (let round = 0; round < 200; round += 1) {
    const body = new BodyBytes()
    let wanted = ''
    for (let count = random.below(30); count > 0; count -= 1) {
      const text = (LETTERS[random.below(LETTERS.length)] ?? '').repeat(random.below(9_000))
      body.append(random.below(3) === 0 ? Buffer.from(text) : text)
      wanted += text
    }
    open.push({ body, wanted })
    // Several are open at once, and end in any order.
    while (open.length > random.below(8)) {
      const [one] = open.splice(random.below(open.length), 1)
      assert.ok(one !== undefined)
      assert.ok(Buffer.from(one.wanted).equals(one.body.bytes), `round ${round}`)
      one.body.release()
    }
  }
})

test('writes rows in order, whether at once or over several time slices', async () => {
  const rows = Array.from({ length: 50 }, (_, index) => ({ index }))
  const wanted = JSON.stringify({ rows })
  const parts = ['{"rows":[', ...separated(rows), ']}']
  const textOf = (answer: Answer) => Buffer.from(answer.body ?? '').toString()
  const quick = partsAnswer(new ManualClock(), parts, (row) => JSON.stringify(row))
  assert.ok(!(quick instanceof Promise))
  assert.equal(textOf(quick), wanted)
  quick.whenTaken?.()
  const clock = new ManualClock()
  const slow = partsAnswer(clock, parts, (row) => {
    clock.advance(1)
    return JSON.stringify(row)
  })
  assert.ok(slow instanceof Promise)
  assert.equal(textOf(await slow), wanted)
})
