// What is to happen at which time, earliest first: a binary heap, so that a hundred thousand markets
// waiting for their close cost nothing until then. Items of one time come out as they went in.

interface Due<Item> {
  readonly dueMs: number
  readonly order: number
  readonly item: Item
}

/** A queue by time; unbounded, one entry for each thing that exists. */
export class DueList<Item> {
  readonly #heap: Due<Item>[] = []
  #orders = 0

  /** How many items wait. */
  get count(): number {
    return this.#heap.length
  }

  add(dueMs: number, item: Item): void {
    const due = { dueMs, order: this.#orders, item }
    this.#orders += 1
    let hole = this.#heap.length
    this.#heap.push(due)
    while (hole > 0) {
      const parentHole = (hole - 1) >>> 1
      const parent = this.#heap[parentHole]
      if (parent === undefined || isBefore(parent, due)) break
      this.#heap[hole] = parent
      hole = parentHole
    }
    this.#heap[hole] = due
  }

  /** Takes out the earliest item that is due by `nowMs`; null when there is none. */
  takeDue(nowMs: number): Item | null {
    const top = this.#heap[0]
    if (top === undefined || top.dueMs > nowMs) return null
    const last = this.#heap.pop()
    if (last !== undefined && last !== top) this.#sink(last)
    return top.item
  }

  /** Puts `due` where the top was, and lets it sink to its place. */
  #sink(due: Due<Item>): void {
    let hole = 0
    for (;;) {
      const left = this.#heap[2 * hole + 1]
      const right = this.#heap[2 * hole + 2]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (isBefore(due, child)) break
      this.#heap[hole] = child
      hole = 2 * hole + (isRight ? 2 : 1)
    }
    this.#heap[hole] = due
  }
}

function isBefore<Item>(left: Due<Item>, right: Due<Item>): boolean {
  return left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.order < right.order)
}
