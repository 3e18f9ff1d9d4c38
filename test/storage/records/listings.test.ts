// A structural promise: there are as many listings as markets and events, so they must share a hidden class.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { timeMs } from '../../../engine/units.ts'
import {
  EVENT_SCHEMA,
  eventFields,
  eventSchemas,
  marketFields,
  marketSchemas,
} from '../../../storage/records/listings.ts'
import { FieldReader } from '../../../storage/records/records.ts'
import { eventListing } from '../../support/worlds/builders.ts'
import { marketListing, marketSummary } from '../../support/worlds/stored.ts'

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)')

test('gives events read from disk the same V8 hidden class for any contents', () => {
  const read = Array.from({ length: 200 }, (_, index) => {
    const event = eventListing(`event ${index}`, {
      series: index % 3 === 0 ? 'series' : null,
      endAtMs: index % 2 === 0 ? null : timeMs(1_800_000_000_000 + index),
      winnerAmong: index % 5 === 0 ? index : null,
    })
    const decoded = eventSchemas[EVENT_SCHEMA]?.(new FieldReader(eventFields(event)))
    assert.equal(decoded?.title, event.title)
    return decoded
  })
  const odd = read.filter((event) => !haveSameMap(event, read[100]))
  // The first few may differ, until the engine knows which fields hold large numbers.
  assert.ok(odd.length <= 10, `${odd.length} events have a hidden class of their own`)
})

const UNDATED = { previousPrice: null, figuresAtMs: null, dayFiguresAtMs: null }

test('reads a market of schema 3 with an unknown resolution', () => {
  const summary = marketSummary(marketListing('one'))
  const older = new FieldReader(marketFields(summary).slice(0, -5))
  const read = marketSchemas[3]?.(older)
  assert.deepEqual(read, { ...summary, ...UNDATED, resolutionStatus: null, settledAtMs: null })
})

test('reads a market of schema 4 or 5 with unknown timestamps of its trading figures', () => {
  const summary = marketSummary(marketListing('one'))
  const fields = marketFields(summary)
  for (const schema of [4, 5]) {
    const read = marketSchemas[schema]?.(new FieldReader(fields.slice(0, -3)))
    assert.deepEqual(read, { ...summary, ...UNDATED })
  }
})
