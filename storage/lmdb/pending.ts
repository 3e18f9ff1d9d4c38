// Uncommitted rows of one table. Rows of a group are sorted when a range is first read, because most rows are committed
// before that. The number of rows is limited by callers.

import { compareKeys } from '../records/keys.ts'

/** Keys from `from` to `to`, exclusive, within one group of the table. */
export interface KeyRange {
  readonly from: Buffer
  readonly to: Buffer
  readonly isReverse?: boolean
}

export interface PendingRow {
  readonly key: Buffer
  /** Null: the row will be removed. The value may change until the commit begins. */
  readonly value: Buffer | null
}

export class PendingRows {
  readonly #groupBytes: number
  readonly #rows = new Map<string, PendingRow>()
  readonly #groups = new Map<string, Buffer[]>()
  #unsorted: Buffer[] = []

  constructor(groupBytes: number) {
    this.#groupBytes = groupBytes
  }

  get count(): number {
    return this.#rows.size
  }

  get(key: Buffer): PendingRow | undefined {
    return this.#rows.size === 0 ? undefined : this.#rows.get(key.toString('latin1'))
  }

  /**
   * Puts a row. The caller must not change the key afterwards. Returns false if a row with this key was already
   * waiting.
   */
  put(row: PendingRow): boolean {
    const name = row.key.toString('latin1')
    const isNew = !this.#rows.has(name)
    this.#rows.set(name, row)
    if (isNew) this.#unsorted.push(row.key)
    return isNew
  }

  values(): Iterable<PendingRow> {
    return this.#rows.values()
  }

  clear(): void {
    this.#rows.clear()
    this.#groups.clear()
    this.#unsorted = []
  }

  /** The rows of a range in key order or in reverse. The iterator is invalid after a put. */
  *range({ from, to, isReverse = false }: KeyRange): Generator<PendingRow, void> {
    if (this.#rows.size === 0) return
    this.#sort()
    const keys = this.#groups.get(this.#groupOf(from)) ?? []
    const step = isReverse ? -1 : 1
    let index = isReverse ? firstAtOrAfter(keys, to) - 1 : firstAtOrAfter(keys, from)
    for (let key = keys[index]; key !== undefined; key = keys[index]) {
      if (isReverse ? compareKeys(key, from) < 0 : compareKeys(key, to) >= 0) return
      const row = this.get(key)
      if (row !== undefined) yield row
      index += step
    }
  }

  #sort(): void {
    for (const key of this.#unsorted) {
      const name = this.#groupOf(key)
      const group = this.#groups.get(name)
      const last = group?.at(-1)
      if (group === undefined) this.#groups.set(name, [key])
      else if (last === undefined || compareKeys(last, key) < 0) group.push(key)
      else group.splice(firstAtOrAfter(group, key), 0, key)
    }
    this.#unsorted = []
  }

  #groupOf(key: Buffer): string {
    return key.toString('latin1', 0, this.#groupBytes)
  }
}

/** Merges two sorted sequences of rows. For equal keys, only the row of `first` is yielded. */
export function* merged<Row extends PendingRow>(
  first: Generator<Row, void>,
  second: Generator<Row, void>,
  isReverse: boolean,
): Generator<Row, void> {
  try {
    let [one, other] = [first.next(), second.next()]
    while (!one.done && !other.done) {
      const order = compareKeys(one.value.key, other.value.key) * (isReverse ? -1 : 1)
      if (order > 0) yield other.value
      else yield one.value
      if (order >= 0) other = second.next()
      if (order <= 0) one = first.next()
    }
    for (; !one.done; one = first.next()) yield one.value
    for (; !other.done; other = second.next()) yield other.value
  } finally {
    first.return()
    second.return()
  }
}

function firstAtOrAfter(keys: readonly Buffer[], key: Buffer): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = keys[middle]
    if (found !== undefined && compareKeys(found, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
