// Writes long lists as bytes. Each record is encoded when it is written, in time slices: joining and encoding 2 MB at
// the end would exceed the time of an event-loop tick. Buffers are reused to spare the garbage collector.

import type { Clock } from '../../engine/clock.ts'
import { etagFrom, newHash } from '../request/etag.ts'
import { type Answer, jsonBytes } from '../request/reply.ts'
import { forEachInSlices } from '../request/sliced-rows.ts'

const BYTES_FIRST = 64 * 1024
/** Larger or additional buffers are not reused. */
const SPARE_BYTES_MAX = 8 * 2 ** 20
const SPARE_COUNT_MAX = 4
/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const UNIT_BYTES_MAX = 3

const spare: Buffer[] = []

/** UTF-8 text, appended in pieces. A piece may already be UTF-8. */
export class BodyBytes {
  #buffer = spare.pop() ?? Buffer.allocUnsafeSlow(BYTES_FIRST)
  #length = 0
  readonly #hash = newHash()
  #hashedLength = 0

  append(piece: string | Uint8Array): void {
    const isText = typeof piece === 'string'
    const most = isText ? piece.length * UNIT_BYTES_MAX : piece.length
    if (this.#buffer.length - this.#length < most) this.#grow(most)
    if (isText) this.#length += this.#buffer.write(piece, this.#length)
    else {
      this.#buffer.set(piece, this.#length)
      this.#length += piece.length
    }
    // Hash while writing: hashing 2 MB at the end would exceed the time of an event-loop tick.
    if (this.#length - this.#hashedLength > BYTES_FIRST) this.#hashOn()
  }

  #grow(byteCount: number): void {
    const wanted = Math.max(this.#buffer.length * 2, this.#length + byteCount)
    const larger = Buffer.allocUnsafeSlow(wanted)
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }

  #hashOn(): void {
    this.#hash.update(this.#buffer.subarray(this.#hashedLength, this.#length))
    this.#hashedLength = this.#length
  }

  /** ETag of the complete text. Call once, at the end. */
  etag(): string {
    this.#hashOn()
    return etagFrom(this.#hash)
  }

  /** A view that is valid until `release`. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Returns the buffer for reuse. Call once; append nothing afterwards. */
  release(): void {
    const isReusable = this.#buffer.length <= SPARE_BYTES_MAX && spare.length < SPARE_COUNT_MAX
    if (isReusable) spare.push(this.#buffer)
  }
}

/** A JSON answer with an ETag from its parts in order: texts as they are, and rows as `write` writes them. */
export function partsAnswer<Row extends object>(
  clock: Clock,
  parts: readonly (string | Row)[],
  write: (row: Row) => string | Uint8Array,
): Answer | Promise<Answer> {
  const body = new BodyBytes()
  const append = (part: string | Row) => body.append(typeof part === 'string' ? part : write(part))
  const finish = () => jsonBytes(body.bytes, () => body.release(), body.etag())
  const rest = forEachInSlices(clock, parts, append)
  return rest === null ? finish() : rest.then(finish)
}

/** Rows with commas between them. */
export function* separated<Row>(rows: readonly Row[]): Iterable<Row | ','> {
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index]
    if (row === undefined) continue
    if (index > 0) yield ','
    yield row
  }
}
