// Long lists as bytes: each record is encoded when it is written, in slices of time, so that nothing
// is left to join and encode at the end; for two megabytes that took longer than a turn may.
// The buffers are used again, since fresh ones of that size keep the garbage collector busy.

import type { Clock } from '../../engine/clock.ts'
import { etagFrom, newHash } from '../request/etag.ts'
import { type Answer, jsonBytes } from '../request/reply.ts'
import { forEachInSlices } from '../request/time-slices.ts'

const BYTES_FIRST = 64 * 1024
/** Larger buffers, and more than so many, are left to the garbage collector. */
const SPARE_BYTES_MAX = 8 * 2 ** 20
const SPARE_COUNT_MAX = 4
/** In UTF-8 a unit of a text takes three bytes at most. */
const UNIT_BYTES_MAX = 3

const spare: Buffer[] = []

/** Text as UTF-8, appended piece by piece; a piece may be UTF-8 already. */
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
    // While it is written, and not at the end: for two megabytes that takes longer than a turn may.
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

  /** The name of all of it; once, at the end. */
  etag(): string {
    this.#hashOn()
    return etagFrom(this.#hash)
  }

  /** A view, good until `release`. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Gives the buffer back; once, and nothing may be appended after. */
  release(): void {
    const isReusable = this.#buffer.length <= SPARE_BYTES_MAX && spare.length < SPARE_COUNT_MAX
    if (isReusable) spare.push(this.#buffer)
  }
}

/** A named answer of JSON from its parts in order: texts as they are, and rows as `write` writes them. */
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
