// Writes plain MessagePack value by value into one reusable block, without temporary objects and without BigInt for
// 64-bit numbers. Always the shortest form, and only 64-bit floats (github.com/msgpack/msgpack/blob/master/spec.md).

const BLOCK_BYTES = 16_384
const CACHED_VIEW_BYTES_MAX = 4_096
/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const UNIT_BYTES_MAX = 3
const HEAD_BYTES_MAX = 9
const HIGH = 2 ** 32
const INT64_END = 2 ** 63

/** Returns the bytes that `write` produces, for repeated use with {@link MsgpackWriter.bytes}. */
export function encoded(write: (writer: MsgpackWriter) => void): Uint8Array {
  const writer = new MsgpackWriter()
  write(writer)
  return Uint8Array.from(writer.end())
}

/** Writes one message at a time: {@link begin}, then its values in order, then {@link end}. */
export class MsgpackWriter {
  #block = Buffer.from(new ArrayBuffer(BLOCK_BYTES))
  #view = new DataView(this.#block.buffer)
  #at = 0
  /**
   * Views of the beginning of the block by length, created at first use. The WebSocket library publishes a repeated
   * view twice as fast.
   */
  #beginnings: (Uint8Array | undefined)[] = []

  /** Starts a message. Discards an unfinished message. */
  begin(): void {
    this.#at = 0
  }

  get length(): number {
    return this.#at
  }

  /** Returns the message. Its bytes are valid only until the next message begins. */
  end(): Uint8Array {
    const length = this.#at
    if (length > CACHED_VIEW_BYTES_MAX) return this.#block.subarray(0, length)
    const cached = this.#beginnings[length]
    if (cached !== undefined) return cached
    const beginning = this.#block.subarray(0, length)
    this.#beginnings[length] = beginning
    return beginning
  }

  bytes(some: Uint8Array): void {
    const { length } = some
    this.#ensureCapacity(length)
    const block = this.#block
    const at = this.#at
    // For short arrays a loop is faster than `set`.
    for (let index = 0; index < length; index += 1) block[at + index] = some[index] ?? 0
    this.#at = at + length
  }

  /** The head of a map. Keys and values must follow alternately. */
  map(count: number): void {
    if (count < 16) this.#byte(0x80 | count)
    else this.#counted(0xde, count)
  }

  /** The head of an array. The items must follow. */
  array(count: number): void {
    if (count < 16) this.#byte(0x90 | count)
    else this.#counted(0xdc, count)
  }

  text(text: string): void {
    const { length } = text
    this.#ensureCapacity(HEAD_BYTES_MAX + length * UNIT_BYTES_MAX)
    const begin = this.#at
    if (length < 0x100) {
      const block = this.#block
      const from = length < 0x20 ? begin + 1 : begin + 2
      let index = 0
      for (; index < length; index += 1) {
        const unit = text.charCodeAt(index)
        if (unit >= 0x80) break
        block[from + index] = unit
      }
      if (index === length) {
        if (length < 0x20) block[begin] = 0xa0 | length
        else {
          block[begin] = 0xd9
          block[begin + 1] = length
        }
        this.#at = from + length
        return
      }
    }
    const count = Buffer.byteLength(text)
    if (count < 0x20) this.#byte(0xa0 | count)
    else if (count < 0x100) this.#pair(0xd9, count)
    else this.#counted(0xda, count)
    this.#at += this.#block.write(text, this.#at)
  }

  binary(bytes: Uint8Array): void {
    const { length } = bytes
    if (length < 0x100) this.#pair(0xc4, length)
    else this.#counted(0xc5, length)
    this.#ensureCapacity(length)
    this.#block.set(bytes, this.#at)
    this.#at += length
  }

  nil(): void {
    this.#byte(0xc0)
  }

  boolean(value: boolean): void {
    this.#byte(value ? 0xc3 : 0xc2)
  }

  /** An integer if the value fits 32 bits, otherwise a float. */
  number(value: number): void {
    if (value >>> 0 === value || value >> 0 === value) this.#small(value)
    else this.#float(value)
  }

  /** An integer if the value fits 64 bits, otherwise a float. For times and counters. */
  integer(value: number): void {
    if (value >>> 0 === value || value >> 0 === value) this.#small(value)
    else if (!Number.isInteger(value) || Math.abs(value) >= INT64_END) this.#float(value)
    else {
      this.#ensureCapacity(HEAD_BYTES_MAX)
      const at = this.#at
      const high = Math.floor(value / HIGH)
      this.#block[at] = 0xd3
      this.#view.setInt32(at + 1, high)
      this.#view.setUint32(at + 5, value - high * HIGH)
      this.#at = at + 9
    }
  }

  integerOrNil(value: number | null): void {
    if (value === null) this.nil()
    else this.integer(value)
  }

  textOrNil(text: string | null): void {
    if (text === null) this.nil()
    else this.text(text)
  }

  #float(value: number): void {
    this.#ensureCapacity(HEAD_BYTES_MAX)
    const at = this.#at
    this.#block[at] = 0xcb
    this.#view.setFloat64(at + 1, value)
    this.#at = at + 9
  }

  /** An integer from -2^31 to 2^32 - 1. */
  #small(value: number): void {
    if (value >= 0) {
      if (value < 0x80) this.#byte(value)
      else if (value < 0x100) this.#pair(0xcc, value)
      else if (value < 0x1_0000) this.#sixteen(0xcd, value)
      else this.#thirtyTwo(0xce, value)
    } else if (value >= -0x20) this.#byte(value)
    else if (value >= -0x80) this.#pair(0xd0, value)
    else if (value >= -0x8000) this.#sixteen(0xd1, value)
    else this.#thirtyTwo(0xd2, value)
  }

  /** Writes `head` with a 16-bit count, or the next higher head with a 32-bit count. */
  #counted(head: number, count: number): void {
    if (count < 0x1_0000) this.#sixteen(head, count)
    else this.#thirtyTwo(head + 1, count)
  }

  #byte(value: number): void {
    this.#ensureCapacity(HEAD_BYTES_MAX)
    this.#block[this.#at] = value
    this.#at += 1
  }

  #pair(head: number, value: number): void {
    this.#ensureCapacity(HEAD_BYTES_MAX)
    this.#block[this.#at] = head
    this.#block[this.#at + 1] = value
    this.#at += 2
  }

  #sixteen(head: number, value: number): void {
    this.#ensureCapacity(HEAD_BYTES_MAX)
    this.#block[this.#at] = head
    this.#view.setInt16(this.#at + 1, value)
    this.#at += 3
  }

  #thirtyTwo(head: number, value: number): void {
    this.#ensureCapacity(HEAD_BYTES_MAX)
    this.#block[this.#at] = head
    this.#view.setInt32(this.#at + 1, value)
    this.#at += 5
  }

  /**
   * Grows the block for a longer message. The block never shrinks, because books and titles limit the length of
   * messages.
   */
  #ensureCapacity(count: number): void {
    if (this.#at + count <= this.#block.length) return
    const length = Math.max(2 * this.#block.length, this.#at + count)
    const larger = Buffer.from(new ArrayBuffer(length))
    larger.set(this.#block.subarray(0, this.#at))
    this.#block = larger
    this.#view = new DataView(larger.buffer)
    this.#beginnings = []
  }
}

/** Writes any JSON value or bytes. Whole numbers become integers, and undefined fields are omitted. */
export function writeValue(to: MsgpackWriter, value: unknown): void {
  if (typeof value === 'string') to.text(value)
  else if (typeof value === 'number') to.integer(value)
  else if (typeof value === 'boolean') to.boolean(value)
  else if (Array.isArray(value)) {
    to.array(value.length)
    for (const item of value) writeValue(to, item)
  } else if (value instanceof Uint8Array) to.binary(value)
  else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined)
    to.map(fields.length)
    for (const [name, item] of fields) {
      to.text(name)
      writeValue(to, item)
    }
  } else to.nil()
}
