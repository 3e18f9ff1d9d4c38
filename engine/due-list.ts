// Priority queue by time (binary heap). Items of equal time are returned in insertion order.

interface Due<Item> {
  readonly dueMs: number
  readonly order: number
  readonly item: Item
}

export class DueList<Item> {
  #heap: Due<Item>[] = []
  #orders = 0

  get count(): number {
    return this.#heap.length
  }

  /** Time of the earliest item. Undefined if the queue is empty. */
  get nextMs(): number | undefined {
    return this.#heap[0]?.dueMs
  }

  add(dueMs: number, item: Item): void {
    this.#insert({ dueMs, order: this.#orders, item })
    this.#orders += 1
  }

  filter(passes: (item: Item) => boolean): void {
    const all = this.#heap
    this.#heap = []
    for (const due of all) if (passes(due.item)) this.#insert(due)
  }

  #insert(due: Due<Item>): void {
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

  /** Removes and returns the earliest item that is due by `nowMs`. Null if none is due. */
  takeDue(nowMs: number): Item | null {
    const top = this.#heap[0]
    if (top === undefined || top.dueMs > nowMs) return null
    const last = this.#heap.pop()
    if (last !== undefined && last !== top) this.#sink(last)
    return top.item
  }

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
