import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSearch, openSearchThread } from '../../../engine/search/search.ts'
import type { SearchChange, SearchQuery } from '../../../engine/search/searcher.ts'

test('updates and searches the index in a worker thread, in the order of the tasks', async () => {
  const port = openSearchThread()
  try {
    assert.deepEqual(await port.run(find(0, 'zebra')), new Uint32Array(0))
    assert.equal(await port.run(change(1, [4, 70_000, 9], 'Will a zebra win?')), 'changed')
    const both = [port.run({ ...change(2, [], ''), removed: [4] }), port.run(find(2, 'zeb win'))]
    assert.deepEqual(await Promise.all(both), ['changed', Uint32Array.of(70_000, 9)])
  } finally {
    await port.close()
  }
})

test('returns `lost` for a task that does not follow the last executed task', async () => {
  const port = openSearch(Number.POSITIVE_INFINITY)
  assert.equal(await port.run(change(5, [1], 'zebra')), 'lost')
  assert.equal(await port.run(find(5, 'zebra')), 'lost')
  assert.equal(await port.run(change(1, [1], 'zebra')), 'changed')
  assert.equal(await port.run(change(3, [2], 'zebra')), 'lost')
  assert.deepEqual(await port.run(find(1, 'zebra')), Uint32Array.of(1))
  assert.equal(await port.run(change(1, [3], 'zebra')), 'changed')
  assert.deepEqual(await port.run(find(1, 'zebra')), Uint32Array.of(3))
})

test('indexes few texts in the main thread, and returns `lost` above the limit until a worker thread has all texts', async () => {
  const port = openSearch(2)
  try {
    assert.equal(await port.run(change(1, [4, 9], 'Will a zebra win?')), 'changed')
    assert.deepEqual(await port.run(find(1, 'zeb')), Uint32Array.of(4, 9))
    assert.equal(await port.run({ ...change(2, [7], 'zebra'), removed: [4] }), 'changed')
    assert.equal(await port.run(change(3, [8], 'zebra')), 'lost')
    assert.equal(await port.run(find(3, 'zebra')), 'lost')
    assert.equal(await port.run(change(1, [9, 7, 8], 'zebra')), 'changed')
    assert.deepEqual(await port.run(find(1, 'zebra')), Uint32Array.of(9, 7, 8))
  } finally {
    await port.close()
  }
})

function change(seq: number, numbers: readonly number[], question: string): SearchChange {
  const questions = numbers.map(() => question)
  const none = numbers.map(() => '')
  return {
    kind: 'change',
    seq,
    texts: { numbers, questions, events: none, words: none },
    removed: [],
  }
}

function find(seq: number, text: string): SearchQuery {
  return { kind: 'find', seq, text, isRanked: true }
}
