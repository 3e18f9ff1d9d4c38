// Listings of one kind must share a hidden class, because a catalogue has hundreds of thousands of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { fieldsOf, readExactly } from '../../../engine/codec.ts'
import { timeMs } from '../../../engine/units.ts'
import { event as eventField } from '../../../storage/records/listings.ts'
import { eventListing } from '../../support/worlds/builders.ts'

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)')

test('creates all events read from disk with the same V8 hidden class, whatever fields the events contain', () => {
  const read = Array.from({ length: 200 }, (_, index) => {
    const event = eventListing(`event ${index}`, {
      series: index % 3 === 0 ? 'series' : null,
      endAtMs: index % 2 === 0 ? null : timeMs(1_800_000_000_000 + index),
      winnerAmong: index % 5 === 0 ? index : null,
    })
    const decoded = readExactly(eventField, fieldsOf(eventField, event))
    assert.equal(decoded.title, event.title)
    return decoded
  })
  const odd = read.filter((event) => !haveSameMap(event, read[100]))
  // The first few objects may differ, until V8 has seen which fields contain large numbers.
  assert.ok(odd.length <= 10, `${odd.length} events have a hidden class of their own`)
})
