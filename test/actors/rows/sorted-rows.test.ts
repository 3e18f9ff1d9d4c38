import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Columns } from '../../../actors/rows/columns.ts'
import { SortedRows } from '../../../actors/rows/sorted-rows.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'

class World {
  readonly rows = new Columns()
  readonly keys = this.rows.floats()
  readonly sorted = new SortedRows(this.rows, this.keys)
  readonly reference = new Map<number, number>()
  #last = 0

  add(key: number): void {
    this.#last += 1
    const slot = this.rows.add(this.#last)
    this.keys.values[slot] = key
    this.sorted.touch(slot)
    this.reference.set(this.#last, key)
  }

  change(number: number, key: number): void {
    const slot = this.rows.slot(number)
    if (slot < 0) return
    this.keys.values[slot] = key
    this.sorted.touch(slot)
    this.reference.set(number, key)
  }

  remove(number: number): void {
    const slot = this.rows.slot(number)
    if (slot < 0) return
    this.sorted.touch(slot)
    this.rows.remove(number)
    this.reference.delete(number)
  }

  any(random: Random): number {
    return 1 + random.below(this.#last + 1)
  }

  check(random: Random): void {
    const order = random.below(2) === 0 ? 'asc' : 'desc'
    const isMarked = Uint8Array.from({ length: this.rows.length }, (_, slot) =>
      this.rows.isRemoved[slot] === 0 && random.below(3) > 0 ? 1 : 0,
    )
    const into = new Uint32Array(this.rows.length)
    const count = this.sorted.select(isMarked, order, into)
    const wanted = [...this.reference]
      .filter(([number]) => isMarked[this.rows.slot(number)] === 1)
      .sort(([number, key], [otherNumber, otherKey]) => {
        if (Number.isNaN(key) || Number.isNaN(otherKey)) {
          const byKnown = Number(Number.isNaN(key)) - Number(Number.isNaN(otherKey))
          return byKnown || number - otherNumber
        }
        return (order === 'asc' ? key - otherKey : otherKey - key) || number - otherNumber
      })
    assert.deepEqual(
      [...into.subarray(0, count)],
      wanted.map(([number]) => number),
    )
  }
}

const keyOf = (random: Random) => (random.below(5) === 0 ? Number.NaN : random.below(40) - 3)

test('sorts rows like a full sort after rows are added, changed or removed', () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const random = seededRandom('sorted rows', seed)
    const world = new World()
    for (let step = 0; step < 400; step += 1) {
      const kind = random.below(4)
      if (kind < 2) world.add(keyOf(random))
      else if (kind === 2) world.change(world.any(random), keyOf(random))
      else world.remove(world.any(random))
      if (random.below(8) === 0) world.check(random)
    }
    world.check(random)
  }
})

test('sorts rows correctly after more changes than the change log can store, and after compaction moves rows', () => {
  const random = seededRandom('many sorted rows')
  const world = new World()
  for (let count = 0; count < 12_000; count += 1) world.add(keyOf(random))
  world.check(random)
  for (let round = 0; round < 4; round += 1) {
    for (let count = 0; count < 6_000; count += 1) {
      world.change(world.any(random), random.below(1_000_000))
    }
    world.check(random)
    const { length } = world.rows
    for (let count = 0; count < 3_000; count += 1) {
      world.remove(world.any(random))
      if (random.below(4) === 0) world.change(world.any(random), keyOf(random))
    }
    assert.ok(round === 0 || world.rows.length < length, 'free rows do not accumulate')
    world.check(random)
    for (let count = 0; count < 500; count += 1) world.add(keyOf(random))
    world.check(random)
  }
})
