// Growing columns of integers, the storage of a wallet's PnL state and ledger. Ten thousand positions are a
// few dozen arrays instead of as many objects, and can be converted to and from bytes without touching each
// value.

const CAPACITY_MIN = 16

/** Integers from −2^53 to 2^53, 0 where nothing was written. */
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

  /** A view of bytes, which the column owns from then on. Null unless they are `count` valid integers. */
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

  /** A copy with a 0 inserted before each of the positions, which ascend and may repeat. */
  spread(positions: readonly number[]): IntegerColumn {
    const values = new Float64Array(this.#count + positions.length)
    spreadValues(this.#values.subarray(0, this.#count), values, positions)
    return new IntegerColumn(values, values.length)
  }

  /** A view, valid until the next change. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#values.buffer, this.#values.byteOffset, this.#count * 8)
  }
}

/** Integers from 0 to 2^32 − 1: seconds, counts, indexes of other columns, flags. */
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

  /** A view of bytes, which the column owns from then on. Null unless they are `count` words up to `max`. */
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

  /** A copy with a 0 inserted before each of the positions, which ascend and may repeat. */
  spread(positions: readonly number[]): WordColumn {
    const values = new Uint32Array(this.#count + positions.length)
    spreadValues(this.#values.subarray(0, this.#count), values, positions)
    return new WordColumn(values, values.length)
  }

  /** A view, valid until the next change. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#values.buffer, this.#values.byteOffset, this.#count * 4)
  }
}

/** Shorter ranges are copied value by value, because creating views costs more. */
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

/** Grows by a quarter: wallets are many and most never grow again. */
const grown = (count: number): number => Math.max(CAPACITY_MIN, count + (count >> 2))

/** Provides a table's columns, one after another in the order in which the table requests them. */
export interface ColumnSource {
  /** `max` is the upper bound of each word. */
  words(max?: number): WordColumn
  integers(): IntegerColumn
}

/** The columns of a new table. */
export const emptySource: ColumnSource = {
  words: () => WordColumn.empty(),
  integers: () => IntegerColumn.empty(),
}

/** The columns of a table as copies of another's. */
export function copySource(table: ColumnTable): ColumnSource {
  const words = table.words.values()
  const integers = table.integers.values()
  return {
    words: () => words.next().value?.copy() ?? WordColumn.empty(),
    integers: () => integers.next().value?.copy() ?? IntegerColumn.empty(),
  }
}

/** Columns with the same rows, in the order in which they were requested. */
export interface ColumnTable {
  readonly words: readonly WordColumn[]
  readonly integers: readonly IntegerColumn[]
}

/** Appends a row of zeros. Its index is the previous count. */
export function pushRow({ words, integers }: ColumnTable): void {
  for (const column of words) column.push(0)
  for (const column of integers) column.push(0)
}

/**
 * Reads columns from sections in order. An invalid section marks the source as damaged and yields an empty
 * column.
 */
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
