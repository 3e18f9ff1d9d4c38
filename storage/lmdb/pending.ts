// Rows of one table that were put and are not yet committed: found by key, and in key order within
// their group, so that reads can be merged with what LMDB already shows. A removed row is a row
// whose value is null. Rows are sorted when a range is first asked for: most are committed before.
// Not for: when rows are committed (environment.ts).
// Bounded by the caller: ingestion slows above outstandingWritesMax.

import type { TableLayout } from '../tables.ts'

/** A row whose value grows until its commit begins, as the last block of a group does (packed-table.ts). */
export interface OpenRow {
  readonly key: Buffer
  readonly value: Buffer
}

/** `text` is the key as one character a byte: comparing texts compares bytes. */
interface PendingRow {
  readonly text: string
  readonly key: Buffer
  /** What holds the value: an open row, or what was put. */
  held: { readonly value: Buffer | null }
}

const NO_ROWS: readonly PendingRow[] = []

/** The uncommitted rows of one table in one commit. */
export class PendingRows {
  readonly #groupBytes: number
  readonly #byKey = new Map<string, PendingRow>()
  readonly #groups = new Map<string, PendingRow[]>()
  /** Rows that stand in no group yet. */
  #unsorted: PendingRow[] = []
  /** Rows that are not found by key yet; newer than the others. */
  #opened: OpenRow[] = []

  constructor({ groupBytes }: Pick<TableLayout, 'groupBytes'>) {
    this.#groupBytes = groupBytes
  }

  /** How many; one that was opened over another counts twice until it is looked for. */
  get count(): number {
    return this.#byKey.size + this.#opened.length
  }

  get(text: string): PendingRow | undefined {
    this.#index()
    return this.#byKey.get(text)
  }

  /** Calls for every row, in no particular order but that of one key. */
  each(visit: (key: Buffer, value: Buffer | null) => void): void {
    for (const { key, held } of this.#byKey.values()) visit(key, held.value)
    for (const { key, value } of this.#opened) visit(key, value)
  }

  put(key: Buffer, value: Buffer | null): void {
    this.#index()
    this.#place(key, { value })
  }

  /** Puts a row whose value may still change until the commit begins, or something else is put under its key. */
  open(row: OpenRow): void {
    this.#opened.push(row)
  }

  /** The rows of the group that `text` lies in, ascending. Not to be kept across a put. */
  group(text: string): readonly PendingRow[] {
    this.#index()
    if (this.#unsorted.length > 0) {
      for (const row of this.#unsorted) this.#sort(row)
      this.#unsorted = []
    }
    return this.#groups.get(text.slice(0, this.#groupBytes)) ?? NO_ROWS
  }

  #index(): void {
    if (this.#opened.length === 0) return
    for (const row of this.#opened) this.#place(row.key, row)
    this.#opened = []
  }

  #place(key: Buffer, held: PendingRow['held']): void {
    const text = key.toString('latin1')
    const known = this.#byKey.get(text)
    if (known !== undefined) {
      known.held = held
      return
    }
    const row = { text, key, held }
    this.#byKey.set(text, row)
    this.#unsorted.push(row)
  }

  #sort(row: PendingRow): void {
    const name = row.text.slice(0, this.#groupBytes)
    const group = this.#groups.get(name)
    const last = group?.at(-1)
    if (group === undefined) this.#groups.set(name, [row])
    else if (last === undefined || last.text < row.text) group.push(row)
    else group.splice(firstAtOrAfter(group, row.text), 0, row)
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
