import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { ActivityTree } from '../../../../../engine/venues/simulator/world/activity-tree.ts'

test('selects random members in proportion to their activity, and never selects a removed member', () => {
  const random = seededRandom('tree')
  const tree = new ActivityTree<number>()
  assert.equal(tree.draw(random), null)
  // The tree grows beyond its first 1,024 slots and reuses the slots of removed members.
  const slots = Array.from({ length: 3_000 }, (_, member) => tree.add(member, 1))
  for (const slot of slots.slice(5)) tree.remove(slot)
  for (let member = 5; member < 10; member += 1) tree.add(member, member)
  const counts = Array<number>(10).fill(0)
  for (let draw = 0; draw < 40_000; draw += 1) {
    const member = tree.draw(random)
    assert.ok(member !== null && member < 10)
    counts[member] = (counts[member] ?? 0) + 1
  }
  for (const [member, count] of counts.entries()) {
    const expected = member < 5 ? 1_000 : member * 1_000
    assert.ok(Math.abs(count / expected - 1) < 0.15, `${member} was drawn ${count} times`)
  }
})
