// Stores rows of the tape by column, so that they compress better than as MessagePack. A row is a publish time and an
// item of the cluster's log. The fields of the item are those that its codec wrote.
//
//   count, times, shape of each row, shapes: [code, length, columns…]
//
// Rows with the same code and length form a shape. A column of integers stores differences from the preceding value, from
// the value of the previous row with the same first field (the market in most items), or from the column to its left.

import { unpackAll } from '../cluster/batch.ts'
import { encoded, writeValue } from '../msgpack-writer.ts'
import { VarintReader, writeVarint } from '../varints.ts'

/** `us` has the publish time of each item in microseconds since 1970, ascending. */
export interface TapeRows {
  readonly us: number[]
  readonly items: (readonly unknown[])[]
}

/** Bounds against damaged input: rows of a block, and values of one column. */
const ROWS_MAX = 1_048_576
const VALUES_MAX = 8_388_608
const DEPTH_MAX = 8
/** Integers up to this size have exact differences as varints. */
const INTEGER_MAX = 2 ** 50
/** Longest tuple of a list, such as the side, price and size of each level. */
const STRIDE_MAX = 16
/** Number of values from which the predictor of a column is chosen. */
const SAMPLE = 512
const MARGIN_BYTES = 16

type Predictor = (typeof PREDICTORS)[number]
/** Codes of the stored form. Never change their order. */
const PREDICTORS = ['none', 'last', 'same', 'left'] as const
const CONSTANT = 0
const INTEGERS = 1
const VALUES = 2
const LISTS = 3
const SCALES = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1] as const

type Values = readonly unknown[]

/** The values from which a column may be predicted. */
interface Neighbours {
  /** For each value the index of the previous value with the same first field. -1 if there is none. Null: unknown. */
  readonly previous: Int32Array | null
  readonly left: Values | null
}

class ByteSink {
  #bytes = Buffer.allocUnsafe(65_536)
  #length = 0

  number(value: number): void {
    this.#reserve(MARGIN_BYTES)
    this.#length = writeVarint(this.#bytes, this.#length, value)
  }

  /** Bytes that follow their length. */
  bytes(some: Uint8Array): void {
    this.number(some.length)
    this.#reserve(some.length)
    this.#bytes.set(some, this.#length)
    this.#length += some.length
  }

  end(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + count))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

class ByteSource extends VarintReader {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    super(bytes)
    this.#bytes = bytes
  }

  /** Throws RangeError above `max`. */
  count(max: number): number {
    const value = this.next()
    if (value > max) throw new RangeError('a count is too large')
    return value
  }

  bytes(): Uint8Array {
    const length = this.next()
    const start = this.skip(length)
    return this.#bytes.subarray(start, start + length)
  }
}

interface Shape {
  readonly index: number
  readonly code: unknown
  readonly length: number
  readonly rows: Values[]
}

/** Encodes rows. Items must not be empty. */
export function encodeRows({ us, items }: TapeRows): Buffer {
  const sink = new ByteSink()
  sink.number(items.length)
  let last = 0
  for (const time of us) {
    sink.number(time - last)
    last = time
  }
  const shapes = new Map<string, Shape>()
  for (const item of items) {
    const key = `${item[0]}:${item.length}`
    let shape = shapes.get(key)
    if (shape === undefined) {
      shape = { index: shapes.size, code: item[0], length: item.length, rows: [] }
      shapes.set(key, shape)
    }
    shape.rows.push(item)
    sink.number(shape.index)
  }
  sink.number(shapes.size)
  for (const { code, length, rows } of shapes.values()) {
    sink.bytes(valueBytes(code))
    sink.number(length)
    let previous: Int32Array | null = null
    let left: Values | null = null
    for (let column = 1; column < length; column += 1) {
      const values = rows.map((row) => row[column])
      putColumn(sink, values, { previous, left })
      previous ??= previousOf(values)
      left = values
    }
  }
  return sink.end()
}

/** Decodes rows. Throws an Error for any other bytes. */
export function decodeRows(bytes: Uint8Array): TapeRows {
  const source = new ByteSource(bytes)
  const count = source.count(ROWS_MAX)
  const us: number[] = []
  let time = 0
  for (let row = 0; row < count; row += 1) {
    time += source.next()
    us.push(time)
  }
  const order = new Uint32Array(count)
  const counts: number[] = []
  for (let row = 0; row < count; row += 1) {
    const shape = source.count(counts.length)
    order[row] = shape
    counts[shape] = (counts[shape] ?? 0) + 1
  }
  if (source.count(ROWS_MAX) !== counts.length) throw new RangeError('a shape has no rows')
  const shapes = counts.map((rows) => takeShape(source, rows))
  if (!source.isAtEnd) throw new RangeError('bytes are left over')
  const next = new Uint32Array(shapes.length)
  const items: Values[] = []
  for (let row = 0; row < count; row += 1) {
    const shape = order[row] ?? 0
    const at = next[shape] ?? 0
    next[shape] = at + 1
    items.push(shapes[shape]?.[at] ?? [])
  }
  return { us, items }
}

function takeShape(source: ByteSource, rows: number): unknown[][] {
  const code = takeValue(source.bytes())
  const length = source.count(ROWS_MAX)
  if (length === 0 || length * rows > VALUES_MAX) throw new RangeError('a shape is too large')
  const items: unknown[][] = []
  for (let row = 0; row < rows; row += 1) items.push([code])
  let previous: Int32Array | null = null
  let left: Values | null = null
  for (let column = 1; column < length; column += 1) {
    const values = takeColumn(source, rows, { previous, left }, 0)
    for (let row = 0; row < rows; row += 1) items[row]?.push(values[row])
    previous ??= previousOf(values)
    left = values
  }
  return items
}

function previousOf(values: Values): Int32Array {
  const newest = new Map<unknown, number>()
  const previous = new Int32Array(values.length)
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    previous[index] = newest.get(value) ?? -1
    newest.set(value, index)
  }
  return previous
}

const valueBytes = (value: unknown) => encoded((writer) => writeValue(writer, value))

function takeValue(bytes: Uint8Array): unknown {
  const values = unpackAll(bytes)
  if (values === null || values.length !== 1) throw new RangeError('expected one value')
  return values[0]
}

const isInteger = (value: unknown): boolean =>
  value === null ||
  (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= INTEGER_MAX)

function putColumn(sink: ByteSink, values: Values, neighbours: Neighbours): void {
  const [first] = values
  if (typeof first !== 'object' || first === null) {
    if (values.every((value) => value === first)) {
      sink.number(CONSTANT)
      return sink.bytes(valueBytes(first))
    }
    if (values.every(isInteger)) return putIntegers(sink, values, neighbours)
  } else if (values.every((value) => Array.isArray(value))) {
    return putLists(sink, values.filter(Array.isArray))
  }
  sink.number(VALUES)
  sink.bytes(valueBytes(values))
}

/** `depth` is the number of lists that contain the column's values. */
function takeColumn(
  source: ByteSource,
  count: number,
  neighbours: Neighbours,
  depth: number,
): Values {
  const kind = source.next()
  if (kind === INTEGERS) return takeIntegers(source, count, neighbours)
  if (kind === LISTS && depth < DEPTH_MAX) return takeLists(source, count, depth)
  const value = takeValue(source.bytes())
  if (kind === CONSTANT) return new Array<unknown>(count).fill(value)
  if (kind === VALUES && Array.isArray(value) && value.length === count) return value
  throw new RangeError('a column is damaged')
}

/** The lists' lengths, then the positions of their tuples as columns. */
function putLists(sink: ByteSink, lists: readonly Values[]): void {
  const stride = strideOf(lists)
  sink.number(LISTS)
  sink.number(stride)
  for (const { length } of lists) sink.number(length / stride)
  const all = lists.flat(1)
  let left: Values | null = null
  for (let offset = 0; offset < stride; offset += 1) {
    const values = all.filter((_, index) => index % stride === offset)
    putColumn(sink, values, { previous: null, left })
    left = values
  }
}

function takeLists(source: ByteSource, count: number, depth: number): Values {
  const stride = source.count(STRIDE_MAX)
  const lengths: number[] = []
  let total = 0
  for (let index = 0; index < count; index += 1) {
    const length = source.count(VALUES_MAX)
    total += length
    lengths.push(length)
  }
  if (stride === 0 || total * stride > VALUES_MAX) throw new RangeError('a list is too large')
  const columns: Values[] = []
  for (let offset = 0; offset < stride; offset += 1) {
    const left = columns[offset - 1] ?? null
    columns.push(takeColumn(source, total, { previous: null, left }, depth + 1))
  }
  let tuple = 0
  return lengths.map((length) => {
    const list: unknown[] = []
    for (const end = tuple + length; tuple < end; tuple += 1) {
      for (const column of columns) list.push(column[tuple])
    }
    return list
  })
}

/** The largest tuple length that divides the length of each list. 1 if it exceeds STRIDE_MAX. */
function strideOf(lists: readonly Values[]): number {
  let stride = 0
  for (const { length } of lists) {
    let [high, low] = [stride, length]
    while (low > 0) [high, low] = [low, high % low]
    stride = high
  }
  return stride === 0 || stride > STRIDE_MAX ? 1 : stride
}

function putIntegers(sink: ByteSink, values: Values, neighbours: Neighbours): void {
  const predictor = bestPredictor(values, neighbours)
  const differences = differencesOf(values, predictor, neighbours, values.length)
  const scale = SCALES.find((one) => differences.every((value) => !(value % one))) ?? 1
  sink.number(INTEGERS)
  sink.number(PREDICTORS.indexOf(predictor))
  sink.number(scale)
  for (const difference of differences) {
    if (Number.isNaN(difference)) sink.number(0)
    else sink.number((difference < 0 ? -2 * difference - scale : 2 * difference) / scale + 1)
  }
}

function takeIntegers(
  source: ByteSource,
  count: number,
  { previous, left }: Neighbours,
): (number | null)[] {
  const predictor = PREDICTORS[source.next()]
  const scale = source.next()
  if (predictor === undefined) throw new RangeError('a predictor is unknown')
  if (predictor === 'same' && previous === null) throw new RangeError('a predictor is impossible')
  const values: (number | null)[] = []
  let last = 0
  for (let index = 0; index < count; index += 1) {
    const stored = source.next()
    if (stored === 0) {
      values.push(null)
      continue
    }
    const sign = stored - 1
    const difference = (sign % 2 === 0 ? sign / 2 : -(sign + 1) / 2) * scale
    let base: unknown = 0
    if (predictor === 'last') base = last
    else if (predictor === 'same') base = values[previous?.[index] ?? -1]
    else if (predictor === 'left') base = left?.[index]
    last = difference + (typeof base === 'number' ? base : 0)
    values.push(last)
  }
  return values
}

function bestPredictor(values: Values, neighbours: Neighbours): Predictor {
  let [best, least]: [Predictor, number] = ['none', Number.POSITIVE_INFINITY]
  for (const predictor of PREDICTORS) {
    if (predictor === 'same' && neighbours.previous === null) continue
    if (predictor === 'left' && !neighbours.left?.every(isInteger)) continue
    let bits = 0
    for (const value of differencesOf(values, predictor, neighbours, SAMPLE)) bits += bitsOf(value)
    if (bits >= least) continue
    best = predictor
    least = bits
  }
  return best
}

function bitsOf(difference: number): number {
  if (Number.isNaN(difference)) return 1
  const size = Math.abs(difference)
  if (size < 2 ** 31) return 33 - Math.clz32(size)
  return 65 - Math.clz32(Math.floor(size / 2 ** 32))
}

/** The differences of the first `count` values from their predictions. NaN for null. */
function differencesOf(
  values: Values,
  predictor: Predictor,
  { previous, left }: Neighbours,
  count: number,
): Float64Array {
  const length = Math.min(count, values.length)
  const differences = new Float64Array(length)
  let last = 0
  for (let index = 0; index < length; index += 1) {
    const value = values[index]
    if (typeof value !== 'number') {
      differences[index] = Number.NaN
      continue
    }
    let base: unknown = 0
    if (predictor === 'last') base = last
    else if (predictor === 'same') base = values[previous?.[index] ?? -1]
    else if (predictor === 'left') base = left?.[index]
    differences[index] = value - (typeof base === 'number' ? base : 0)
    last = value
  }
  return differences
}
