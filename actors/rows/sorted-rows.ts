// Rows kept in the order of one column, so that a list over all of them is cut by walking and not by sorting: changed rows
// are remembered, sorted by themselves, and merged in before the next walk, or as soon as they are many. Merging a few
// thousand rows into a hundred thousand takes half a millisecond.
//
//   place    0   1   2   3   4   5        key ascending, unknown (not a number) last,
//   slot     7   2   9   0   4   1        equal keys in order of slot
//   key      3   5   5   8   ?   ?        as of the last merge; knownCount 4

import type { Column, Columns } from './columns.ts'
import { sortedPositions } from './sort.ts'

/** When so many rows have changed, they are merged at once. */
const CHANGED_MAX = 4_096

/** Bounded by the rows; twice twelve bytes a row. */
export class SortedRows {
  readonly #rows: Columns
  readonly #values: Column<Float64Array>
  /** 1 where a row is among the changed. */
  readonly #isChanged: Column<Uint8Array>
  readonly #changed = new Uint32Array(CHANGED_MAX)
  /** The changed rows that are not gone, with their keys: for one merge at a time. */
  readonly #live = new Uint32Array(CHANGED_MAX)
  readonly #liveKeys = new Float64Array(CHANGED_MAX)
  #changedCount = 0
  #merged = makeOrder(0)
  /** The arrays of the merge before, for the next one: fresh ones would be megabytes of garbage. */
  #spare = makeOrder(0)
  #count = 0
  #knownCount = 0

  constructor(rows: Columns, values: Column<Float64Array>) {
    this.#rows = rows
    this.#values = values
    this.#isChanged = rows.bytes()
    rows.onMove({
      before: () => this.#merge(),
      after: (movedTo) => this.#move(movedTo),
    })
  }

  /** A row is new, its key changed, or it is about to be removed. Call it after the key was written. */
  touch(slot: number): void {
    const { values: isChanged } = this.#isChanged
    if (isChanged[slot] === 1) return
    if (this.#changedCount === CHANGED_MAX) this.#merge()
    isChanged[slot] = 1
    this.#changed[this.#changedCount] = slot
    this.#changedCount += 1
  }

  /**
   * Writes the numbers of the rows whose slots are marked 1, in order: unknown keys last in both
   * directions, equal ones in order of slot. Returns how many; `into` must have room for them.
   */
  select(isMarked: Uint8Array, order: 'asc' | 'desc', into: Uint32Array): number {
    if (this.#changedCount > 0) this.#merge()
    const { slots, keys } = this.#merged
    const { numbers } = this.#rows
    const knownEnd = this.#knownCount
    let count = 0
    const selectRun = (start: number, end: number) => {
      for (let index = start; index < end; index += 1) {
        const slot = slots[index] ?? 0
        if (isMarked[slot] !== 1) continue
        into[count] = numbers[slot] ?? 0
        count += 1
      }
    }
    if (order === 'asc') selectRun(0, knownEnd)
    else {
      // Equal keys stay in ascending order, so that a run of them is walked forward.
      for (let end = knownEnd; end > 0; ) {
        let start = end - 1
        const key = keys[start]
        while (start > 0 && keys[start - 1] === key) start -= 1
        selectRun(start, end)
        end = start
      }
    }
    selectRun(knownEnd, this.#count)
    return count
  }

  /** Puts the changed rows at the places of their keys, and drops those that are gone. */
  #merge(): void {
    const { length, isRemoved: isGone } = this.#rows
    const { values } = this.#values
    const { values: isChanged } = this.#isChanged
    // Slots ascend, so that the sort, which is stable, leaves equal keys in order of slot.
    const changed = this.#changed.subarray(0, this.#changedCount).sort()
    let liveCount = 0
    for (const slot of changed) {
      if (isGone[slot] === 1) continue
      this.#live[liveCount] = slot
      this.#liveKeys[liveCount] = values[slot] ?? Number.NaN
      liveCount += 1
    }
    if (this.#spare.slots.length < length) this.#spare = makeOrder(this.#rows.numbers.length)
    this.#mergeInto(this.#spare, sortedPositions(this.#liveKeys, liveCount, 'asc'))
    const before = this.#merged
    this.#merged = this.#spare
    this.#spare = before
    for (const slot of changed) isChanged[slot] = 0
    this.#changedCount = 0
  }

  #mergeInto(target: RowOrder, positions: Uint32Array): void {
    const { values: isChanged } = this.#isChanged
    const { slots, keys } = this.#merged
    const { slots: toSlots, keys: toKeys } = target
    let to = 0
    let next = 0
    for (let index = 0; index < this.#count; index += 1) {
      const slot = slots[index] ?? 0
      if (isChanged[slot] === 1) continue
      const key = keys[index] ?? Number.NaN
      for (; next < positions.length; next += 1) {
        const position = positions[next] ?? 0
        const changedKey = this.#liveKeys[position] ?? Number.NaN
        const changedSlot = this.#live[position] ?? 0
        if (!isBefore(changedKey, changedSlot, key, slot)) break
        toSlots[to] = changedSlot
        toKeys[to] = changedKey
        to += 1
      }
      toSlots[to] = slot
      toKeys[to] = key
      to += 1
    }
    for (; next < positions.length; next += 1) {
      const position = positions[next] ?? 0
      toSlots[to] = this.#live[position] ?? 0
      toKeys[to] = this.#liveKeys[position] ?? Number.NaN
      to += 1
    }
    this.#count = to
    this.#knownCount = knownCount(toKeys, to)
  }

  /** Holes were closed: every row keeps its place here under another slot. */
  #move(movedTo: Uint32Array): void {
    const { slots } = this.#merged
    for (let index = 0; index < this.#count; index += 1) {
      slots[index] = movedTo[slots[index] ?? 0] ?? 0
    }
  }
}

interface RowOrder {
  readonly slots: Uint32Array
  readonly keys: Float64Array
}

function makeOrder(length: number): RowOrder {
  return { slots: new Uint32Array(length), keys: new Float64Array(length) }
}

function isBefore(key: number, slot: number, otherKey: number, otherSlot: number): boolean {
  if (key < otherKey) return true
  if (key > otherKey) return false
  if (key === otherKey) return slot < otherSlot
  // At least one is unknown.
  if (Number.isNaN(key) && Number.isNaN(otherKey)) return slot < otherSlot
  return Number.isNaN(otherKey)
}

/** Where the unknown keys, which stand last, begin. */
function knownCount(keys: Float64Array, count: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (Number.isNaN(keys[middle] ?? Number.NaN)) high = middle
    else low = middle + 1
  }
  return low
}
