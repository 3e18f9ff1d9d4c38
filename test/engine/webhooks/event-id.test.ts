import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { eventId } from '../../../engine/webhooks/event-id.ts'
import { EVENT_TYPES } from '../../../http/webhooks/types/event-types.ts'

/** RFC 4648 base32, computed with BigInt as a reference. */
function naiveId(parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('|')).digest('hex')
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  // 256 bits and four zero bits are 52 characters.
  const number = BigInt(`0x${hex}`) << 4n
  const text = Array.from({ length: 52 }, (_, index) => {
    return letters[Number((number >> BigInt(5 * (51 - index))) & 31n)]
  })
  return `evt_${text.join('').slice(0, 26)}`
}

test('always generates the same id for the same webhook event', () => {
  const id = eventId('trade.created', 'venue_a_0xabc', '0xdef-1')
  assert.equal(id, 'evt_yj6jhl4iamblkkd3t2wklxcodm')
  assert.equal(id, eventId('trade.created', 'venue_a_0xabc', '0xdef-1'))
  for (let round = 0; round < 500; round += 1) {
    const parts = [`market ${round}`, `trade ${round * 7}`]
    assert.equal(eventId('whale.alert', ...parts), naiveId(['whale.alert', ...parts]))
  }
})

test('generates different ids for webhook events whose type or any other part differs', () => {
  const ids = new Set<string>()
  for (const type of EVENT_TYPES) {
    for (const market of ['venue_a_1', 'venue_a_2', 'venue_b_1', '']) {
      for (const native of ['1', '2', '11', '', 'a|b', 'ü']) ids.add(eventId(type, market, native))
    }
  }
  assert.equal(ids.size, EVENT_TYPES.length * 24)
})

test('builds an event id of evt_ and 26 characters of a-z and 2-7, without a dot', () => {
  for (let round = 0; round < 500; round += 1) {
    assert.match(eventId('price.changed', String(round)), /^evt_[a-z2-7]{26}$/)
  }
})
