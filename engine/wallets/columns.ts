// Columns of integers that grow: what a wallet's tally and ledger are made of, so that ten thousand positions
// are a few dozen arrays and not as many objects, and go to bytes and back without being touched one by one.

const CAPACITY_MIN = 16

/** Integers from −2^53 to 2^53, 0 where nothing was put. */
export class IntegerColumn {
  #values: Float64Array<ArrayBuffer>
  #count: number

  private constructor(values: Float64Array<ArrayBuffer>, count: number) {
    this.#values = values
    this.#count = count
  }

  static empty(): IntegerColumn {
    return new IntegerColumn(new Float64Array(CAPACITY_MIN), 0)
  }

  /** A view of bytes that the column from now on owns; null unless they are `count` such integers. */
  static over(bytes: Uint8Array<ArrayBuffer>, count: number): IntegerColumn | null {
    if (bytes.byteLength !== count * 8) return null
    const values = new Float64Array(bytes.buffer, bytes.byteOffset, count)
    for (let index = 0; index < count; index += 1) {
      if (!Number.isSafeInteger(values[index])) return null
    }
    return new IntegerColumn(values, count)
  }

  get count(): number {
    return this.#count
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }

  put(index: number, value: number): void {
    this.#values[index] = value
  }

  add(index: number, value: number): void {
    this.#values[index] = this.at(index) + value
  }

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const values = new Float64Array(grown(this.#count))
      values.set(this.#values)
      this.#values = values
    }
    this.#values[this.#count] = value
    this.#count += 1
  }

  copy(): IntegerColumn {
    return new IntegerColumn(this.#values.slice(0, this.#count), this.#count)
  }

  /** A copy with a 0 before each of the places, which ascend and may be the same. */
  spread(positions: readonly number[]): IntegerColumn {
    const values = new Float64Array(this.#count + positions.length)
    spreadValues(this.#values.subarray(0, this.#count), values, positions)
    return new IntegerColumn(values, values.length)
  }

  /** A view: good until the next change. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#values.buffer, this.#values.byteOffset, this.#count * 8)
  }
}

/** Whole numbers from 0 to 2^32 − 1: seconds, counts, places in other columns, flags. */
export class WordColumn {
  #values: Uint32Array<ArrayBuffer>
  #count: number

  private constructor(values: Uint32Array<ArrayBuffer>, count: number) {
    this.#values = values
    this.#count = count
  }

  static empty(): WordColumn {
    return new WordColumn(new Uint32Array(CAPACITY_MIN), 0)
  }

  /** A view of bytes that the column from now on owns; null unless they are `count` words up to `max`. */
  static over(bytes: Uint8Array<ArrayBuffer>, count: number, max: number): WordColumn | null {
    if (bytes.byteLength !== count * 4) return null
    const values = new Uint32Array(bytes.buffer, bytes.byteOffset, count)
    for (let index = 0; index < count; index += 1) {
      if ((values[index] ?? 0) > max) return null
    }
    return new WordColumn(values, count)
  }

  get count(): number {
    return this.#count
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }

  put(index: number, value: number): void {
    this.#values[index] = value
  }

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const values = new Uint32Array(grown(this.#count))
      values.set(this.#values)
      this.#values = values
    }
    this.#values[this.#count] = value
    this.#count += 1
  }

  copy(): WordColumn {
    return new WordColumn(this.#values.slice(0, this.#count), this.#count)
  }

  /** A copy with a 0 before each of the places, which ascend and may be the same. */
  spread(positions: readonly number[]): WordColumn {
    const values = new Uint32Array(this.#count + positions.length)
    spreadValues(this.#values.subarray(0, this.#count), values, positions)
    return new WordColumn(values, values.length)
  }

  /** A view: good until the next change. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#values.buffer, this.#values.byteOffset, this.#count * 4)
  }
}

/** Stretches so short are copied cell by cell: a view of each would cost more. */
const VIEW_VALUES_MIN = 64

function spreadValues<Values extends Float64Array | Uint32Array>(
  from: Values,
  to: Values,
  positions: readonly number[],
): void {
  let start = 0
  for (let before = 0; before <= positions.length; before += 1) {
    const end = positions[before] ?? from.length
    if (end - start >= VIEW_VALUES_MIN) to.set(from.subarray(start, end), start + before)
    else for (let at = start; at < end; at += 1) to[at + before] = from[at] ?? 0
    start = end
  }
}

/** A quarter more: wallets are many and most never grow again. */
const grown = (count: number): number => Math.max(CAPACITY_MIN, count + (count >> 2))

/** Where the columns of a table come from, one after another in the order in which it asks. */
export interface ColumnSource {
  /** `max` bounds each word. */
  words(max?: number): WordColumn
  integers(): IntegerColumn
}

/** The columns of a new table. */
export const emptySource: ColumnSource = {
  words: () => WordColumn.empty(),
  integers: () => IntegerColumn.empty(),
}

/** The columns of a table as copies of another's, or as views of packed sections of `count` rows each. */
export function copySource(table: ColumnTable): ColumnSource {
  const words = table.words.values()
  const integers = table.integers.values()
  return {
    words: () => words.next().value?.copy() ?? WordColumn.empty(),
    integers: () => integers.next().value?.copy() ?? IntegerColumn.empty(),
  }
}

/** Columns that have the same rows, in the order in which they were asked for. */
export interface ColumnTable {
  readonly words: readonly WordColumn[]
  readonly integers: readonly IntegerColumn[]
}

/** Adds a row of zeros; its index is the count before. */
export function pushRow({ words, integers }: ColumnTable): void {
  for (const column of words) column.push(0)
  for (const column of integers) column.push(0)
}

/** Takes sections in order; what does not fit makes it damaged, and comes as an empty column. */
export class SectionSource implements ColumnSource {
  readonly #sections: Iterator<Uint8Array<ArrayBuffer>>
  readonly #count: number
  isDamaged = false

  constructor(sections: Iterator<Uint8Array<ArrayBuffer>>, count: number) {
    this.#sections = sections
    this.#count = count
  }

  words(max = 0xffff_ffff): WordColumn {
    const section = this.#next()
    const column = section === null ? null : WordColumn.over(section, this.#count, max)
    if (column === null) this.isDamaged = true
    return column ?? WordColumn.empty()
  }

  integers(): IntegerColumn {
    const section = this.#next()
    const column = section === null ? null : IntegerColumn.over(section, this.#count)
    if (column === null) this.isDamaged = true
    return column ?? IntegerColumn.empty()
  }

  #next(): Uint8Array<ArrayBuffer> | null {
    const next = this.#sections.next()
    return next.done === true ? null : next.value
  }
}
