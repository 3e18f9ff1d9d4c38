// Rows of numbers in typed arrays, one array per column. Lists filter and sort them faster than objects. Row numbers
// only increase. A removed row leaves a hole. Holes are compacted when they are a quarter of the rows.
//
//   number      3   4   7   9  12        slot of number 7: 2
//   isRemoved   .   .   1   .   .        length 5, of which 1 is a hole

import { assert } from '../../engine/errors.ts'

const CAPACITY_FIRST = 1_024
const HOLES_MIN = 1_024
const HOLES_SHARE = 4

/** Adding rows may replace the `values` array, so read `values` again afterwards. */
export interface Column<Values> {
  values: Values
}

interface Growable {
  grow(capacity: number): void
  move(from: number, to: number): void
}

interface MoveWatcher {
  before(): void
  /** Maps old slots to new ones. The value of a hole is undefined. */
  after(movedTo: Uint32Array): void
}

/** Each number that was ever used permanently takes four bytes. */
export class Columns {
  readonly #columns: Growable[] = []
  readonly #watchers: MoveWatcher[] = []
  readonly #numbers: Column<Uint32Array>
  readonly #isRemoved: Column<Uint8Array>
  #slots = new Int32Array(CAPACITY_FIRST).fill(-1)
  #capacity = CAPACITY_FIRST
  #length = 0
  #holeCount = 0

  constructor() {
    this.#numbers = this.integers()
    this.#isRemoved = this.bytes()
  }

  bytes(): Column<Uint8Array> {
    return this.#column((capacity) => new Uint8Array(capacity))
  }

  integers(): Column<Uint32Array> {
    return this.#column((capacity) => new Uint32Array(capacity))
  }

  floats(): Column<Float64Array> {
    return this.#column((capacity) => new Float64Array(capacity))
  }

  #column<Values extends Uint8Array | Uint32Array | Float64Array>(
    make: (capacity: number) => Values,
  ): Column<Values> {
    const column = { values: make(this.#capacity) }
    this.#columns.push({
      grow(capacity) {
        const larger = make(capacity)
        larger.set(column.values)
        column.values = larger
      },
      move(from, to) {
        column.values[to] = column.values[from] ?? 0
      },
    })
    return column
  }

  /** The object of a removed row is retained until holes are compacted. */
  objects<Value>(none: Value): Column<Value[]> {
    const column: Column<Value[]> = { values: [] }
    this.#columns.push({
      grow: () => undefined,
      move(from, to) {
        column.values[to] = column.values[from] ?? none
      },
    })
    return column
  }

  get length(): number {
    return this.#length
  }

  get count(): number {
    return this.#length - this.#holeCount
  }

  get numbers(): Uint32Array {
    return this.#numbers.values
  }

  get isRemoved(): Uint8Array {
    return this.#isRemoved.values
  }

  /** Returns -1 for an unknown row. Valid until the next `add` or `remove`. */
  slot(number: number): number {
    return this.#slots[number] ?? -1
  }

  /**
   * Adds a row at the end and returns its slot. The caller must set every column, because the slot may contain old
   * values. Throws if the number is not larger than all previous numbers.
   */
  add(number: number): number {
    const last = this.#length === 0 ? 0 : (this.numbers[this.#length - 1] ?? 0)
    assert(number > last, `row ${number} comes after row ${last}`)
    if (this.#length === this.#capacity) this.#grow()
    if (number >= this.#slots.length) {
      const larger = new Int32Array(Math.max(number + 1, this.#slots.length * 2)).fill(-1)
      larger.set(this.#slots)
      this.#slots = larger
    }
    const slot = this.#length
    this.#length += 1
    this.numbers[slot] = number
    this.isRemoved[slot] = 0
    this.#slots[number] = slot
    return slot
  }

  #grow(): void {
    this.#capacity *= 2
    for (const column of this.#columns) column.grow(this.#capacity)
  }

  remove(number: number): void {
    const slot = this.slot(number)
    if (slot < 0) return
    this.#slots[number] = -1
    this.isRemoved[slot] = 1
    this.#holeCount += 1
    const isHollow = this.#holeCount * HOLES_SHARE > this.#length
    if (this.#holeCount >= HOLES_MIN && isHollow) this.#closeHoles()
  }

  onMove(watcher: MoveWatcher): void {
    this.#watchers.push(watcher)
  }

  #closeHoles(): void {
    for (const watcher of this.#watchers) watcher.before()
    const movedTo = new Uint32Array(this.#length)
    let to = 0
    for (let from = 0; from < this.#length; from += 1) {
      if (this.isRemoved[from] === 1) continue
      if (from !== to) {
        for (const column of this.#columns) column.move(from, to)
        this.#slots[this.numbers[to] ?? 0] = to
      }
      movedTo[from] = to
      to += 1
    }
    this.#length = to
    this.#holeCount = 0
    for (const watcher of this.#watchers) watcher.after(movedTo)
  }
}
