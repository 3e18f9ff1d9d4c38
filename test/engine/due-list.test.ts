import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DueList } from '../../engine/due-list.ts'
import { seededRandom } from '../../engine/random.ts'

test('returns due items in order of their due time, then in order of insertion', () => {
  const random = seededRandom('due')
  const list = new DueList<number>()
  const added: { dueMs: number; item: number }[] = []
  const taken: { dueMs: number; item: number }[] = []
  for (let nowMs = 0; nowMs < 2_000; nowMs += 1) {
    for (let count = random.below(4); count > 0; count -= 1) {
      const entry = { dueMs: nowMs + 1 + random.below(50), item: added.length }
      added.push(entry)
      list.add(entry.dueMs, entry.item)
    }
    for (let item = list.takeDue(nowMs); item !== null; item = list.takeDue(nowMs)) {
      taken.push(added[item] ?? { dueMs: -1, item: -1 })
      assert.ok((added[item]?.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs)
    }
  }
  while (taken.length < added.length) {
    const item = list.takeDue(Number.POSITIVE_INFINITY)
    taken.push(added[item ?? -1] ?? { dueMs: -1, item: -1 })
  }
  assert.equal(list.count, 0)
  assert.deepEqual(
    taken,
    added.toSorted((left, right) => left.dueMs - right.dueMs || left.item - right.item),
  )
})
