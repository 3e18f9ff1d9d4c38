import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { ActivityTree } from '../../../../../engine/venues/simulator/world/activity-tree.ts'

test('draws markets in proportion to their activity, and never a removed market', () => {
  const random = seededRandom('tree')
  const tree = new ActivityTree<number>()
  const slots = new Map<number, number>()
  for (let member = 0; member < 3_000; member += 1) slots.set(member, tree.add(member, 1))
  for (let member = 10; member < 3_000; member += 1) tree.remove(slots.get(member) ?? -1)
  for (let member = 5; member < 10; member += 1) {
    tree.remove(slots.get(member) ?? -1)
    tree.add(member, member)
  }
  const drawn = new Map<number, number>()
  for (let draw = 0; draw < 40_000; draw += 1) {
    const member = tree.draw(random) ?? -1
    drawn.set(member, (drawn.get(member) ?? 0) + 1)
  }
  assert.deepEqual(
    [...drawn.keys()].sort((left, right) => left - right),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  for (const [member, count] of drawn) {
    const expected = member < 5 ? 1_000 : member * 1_000
    assert.ok(Math.abs(count / expected - 1) < 0.15, `${member} was drawn ${count} times`)
  }
})

test('draws null from an empty tree', () => {
  const tree = new ActivityTree<string>()
  assert.equal(tree.draw(seededRandom(1)), null)
  tree.remove(tree.add('one', 1))
  assert.equal(tree.draw(seededRandom(1)), null)
})
