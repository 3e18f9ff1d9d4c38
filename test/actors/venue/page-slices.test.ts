// Pages in slices: nothing lost, nothing twice, each market with its event.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slicesOf } from '../../../actors/venue/page-slices.ts'
import { nativeEventId } from '../../../engine/ids.ts'
import { eventListing, listing } from '../../support/worlds/builders.ts'

test('[CAT12] slices hold every market once, each with its event, and events without markets last', () => {
  const markets = Array.from({ length: 23 }, (_, index) =>
    listing(`m${index}`, { event: nativeEventId(`event-e${index % 4}`) }),
  )
  const events = ['e0', 'e1', 'e2', 'e3', 'lonely'].map((name) => eventListing(name))
  const slices = slicesOf({ markets, events }, 5)
  assert.deepEqual(
    slices.flatMap((slice) => slice.markets),
    markets,
  )
  assert.deepEqual(
    slices.map((slice) => slice.markets.length),
    [5, 5, 5, 5, 3, 0],
  )
  for (const slice of slices.slice(0, -1)) {
    const named = new Set(slice.markets.map(({ event }) => event))
    assert.deepEqual(new Set(slice.events.map(({ nativeId }) => nativeId)), named)
  }
  assert.deepEqual(
    slices.at(-1)?.events.map(({ slug }) => slug),
    ['event-lonely'],
  )
  assert.deepEqual(slicesOf({ markets: [], events: [] }, 5), [])
})
