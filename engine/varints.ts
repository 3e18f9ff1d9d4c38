// Variable-length integers: seven bits per byte, lowest first. Signed integers have the sign in the lowest bit.

/** Maximum bytes of a signed safe integer. */
export const varintBytesMax = 8

/** Largest absolute value that can be written with a sign. */
export const signedMax = 2 ** 52

/** Writes an integer from 0 to 2^53. Returns the position after it. */
export function writeVarint(target: Uint8Array, position: number, value: number): number {
  let rest = value
  let next = position
  while (rest >= 0x80) {
    target[next] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
    next += 1
  }
  target[next] = rest
  return next + 1
}

/** Writes a signed integer within ±2^52. */
export function writeSigned(target: Uint8Array, position: number, value: number): number {
  return writeVarint(target, position, value < 0 ? -2 * value - 1 : 2 * value)
}

/** Throws RangeError past the end. */
export class VarintReader {
  readonly #bytes: Uint8Array
  #position: number

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes
    this.#position = position
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length
  }

  next(): number {
    const first = this.#bytes[this.#position]
    if (first !== undefined && first < 0x80) {
      this.#position += 1
      return first
    }
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const byte = this.#bytes[this.#position]
      if (byte === undefined) break
      this.#position += 1
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw new RangeError('the bytes end within a number')
  }

  nextSigned(): number {
    const value = this.next()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Skips bytes that are not numbers. Returns the position of the first one. */
  skip(byteCount: number): number {
    const start = this.#position
    if (start + byteCount > this.#bytes.length) throw new RangeError('the bytes end too early')
    this.#position += byteCount
    return start
  }
}
