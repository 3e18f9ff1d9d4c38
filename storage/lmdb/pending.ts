// Rows of one table that were put and are not yet committed: found by key, and in key order within
// their group, so that reads can be merged with what LMDB already shows. A removed row is a row
// whose value is null. Not for: when rows are committed (environment.ts).
// Bounded by the caller: ingestion slows above outstandingWritesMax.

import type { TableLayout } from '../tables.ts'

/** What of a table's layout says how its rows wait. */
type PendingLayout = Pick<TableLayout, 'groupBytes' | 'isAppended'>

interface WaitingRow {
  readonly key: Buffer
  readonly value: Buffer | null
}

/** `text` is the key as one character a byte: comparing texts compares bytes. */
interface PendingRow {
  readonly text: string
  readonly key: Buffer
  value: Buffer | null
}

const NO_ROWS: readonly PendingRow[] = []

/**
 * The uncommitted rows of one table in one commit. Of a table whose rows are put once and seldom looked for while they
 * wait (`isAppended`), they are indexed at the first look-up.
 */
export class PendingRows {
  readonly #layout: PendingLayout
  readonly #byKey = new Map<string, PendingRow>()
  readonly #groups = new Map<string, PendingRow[]>()
  /** Rows that are not indexed yet; newer than the indexed ones. */
  #appended: WaitingRow[] = []

  constructor(layout: PendingLayout) {
    this.#layout = layout
  }

  /** How many; one that was appended twice counts twice until it is indexed. */
  get count(): number {
    return this.#byKey.size + this.#appended.length
  }

  get(text: string): PendingRow | undefined {
    this.#index()
    return this.#byKey.get(text)
  }

  /** Calls for every row, in no particular order but that of one key. */
  each(visit: (key: Buffer, value: Buffer | null) => void): void {
    for (const { key, value } of this.#byKey.values()) visit(key, value)
    for (const { key, value } of this.#appended) visit(key, value)
  }

  put(key: Buffer, value: Buffer | null): void {
    if (this.#layout.isAppended) this.#appended.push({ key, value })
    else this.#place(key, value)
  }

  #index(): void {
    if (this.#appended.length === 0) return
    const appended = this.#appended
    this.#appended = []
    for (const { key, value } of appended) this.#place(key, value)
  }

  #place(key: Buffer, value: Buffer | null): void {
    const text = key.toString('latin1')
    const known = this.#byKey.get(text)
    if (known !== undefined) {
      known.value = value
      return
    }
    const row = { text, key, value }
    this.#byKey.set(text, row)
    const name = text.slice(0, this.#layout.groupBytes)
    const group = this.#groups.get(name)
    if (group === undefined) {
      this.#groups.set(name, [row])
      return
    }
    const last = group.at(-1)
    if (last === undefined || last.text < text) group.push(row)
    else group.splice(firstAtOrAfter(group, text), 0, row)
  }

  /** The rows of the group that `text` lies in, ascending. Not to be kept across a put. */
  group(text: string): readonly PendingRow[] {
    this.#index()
    return this.#groups.get(text.slice(0, this.#layout.groupBytes)) ?? NO_ROWS
  }
}

/** Walks the rows of [from, to) of two commits as one; where both have a key, the newer counts. */
export class PendingCursor {
  readonly #newer: readonly PendingRow[]
  readonly #older: readonly PendingRow[]
  readonly #isReverse: boolean
  readonly #from: string
  readonly #to: string
  #newerIndex: number
  #olderIndex: number

  constructor(
    rows: { readonly newer: readonly PendingRow[]; readonly older: readonly PendingRow[] },
    range: { readonly from: string; readonly to: string; readonly isReverse: boolean },
  ) {
    this.#newer = rows.newer
    this.#older = rows.older
    this.#isReverse = range.isReverse
    this.#from = range.from
    this.#to = range.to
    const start = (list: readonly PendingRow[]) =>
      range.isReverse ? firstAtOrAfter(list, range.to) - 1 : firstAtOrAfter(list, range.from)
    this.#newerIndex = start(this.#newer)
    this.#olderIndex = start(this.#older)
  }

  /** The next row, or undefined at the end of the range. */
  peek(): PendingRow | undefined {
    const newer = this.#within(this.#newer[this.#newerIndex])
    const older = this.#within(this.#older[this.#olderIndex])
    if (newer === undefined) return older
    if (older === undefined || older.text === newer.text) return newer
    return this.comesBefore(older.text, newer.text) ? older : newer
  }

  /** Goes past the row that `peek` showed, in both commits. */
  advance(row: PendingRow): void {
    const step = this.#isReverse ? -1 : 1
    if (this.#newer[this.#newerIndex]?.text === row.text) this.#newerIndex += step
    if (this.#older[this.#olderIndex]?.text === row.text) this.#olderIndex += step
  }

  /** Whether key `one` is visited before key `other`. */
  comesBefore(one: string, other: string): boolean {
    return this.#isReverse ? one > other : one < other
  }

  #within(row: PendingRow | undefined): PendingRow | undefined {
    return row !== undefined && row.text >= this.#from && row.text < this.#to ? row : undefined
  }
}

function firstAtOrAfter(rows: readonly PendingRow[], text: string): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && row.text < text) low = middle + 1
    else high = middle
  }
  return low
}
