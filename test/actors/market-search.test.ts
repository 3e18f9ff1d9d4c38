// What the full-text index finds of markets that come, change and go.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketSearch } from '../../actors/market-search.ts'
import { listing } from '../support/builders.ts'

test('[CAT8] the search finds a market by its present words, and no more once it is removed', () => {
  const search = new MarketSearch()
  const found = (query: string) => search.find(query).map(({ number }) => number)
  search.put(1, listing('x', { question: 'Will zebras vote?' }), 'Animals')
  search.put(2, listing('y', { question: 'Will zebras win?' }), null)
  assert.deepEqual(found('zebras').sort(), [1, 2])
  search.put(1, listing('x', { question: 'Will lions vote?' }), 'Animals')
  assert.deepEqual(found('zebras'), [2])
  search.remove(1)
  search.remove(1)
  assert.deepEqual([found('lions'), found('animals'), found('zebras')], [[], [], [2]])
  search.put(3, listing('z', { question: 'Will lions vote?' }), null)
  assert.deepEqual(found('lions'), [3])
})
