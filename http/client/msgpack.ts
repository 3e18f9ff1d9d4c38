// MessagePack decoder without dependencies, so that browsers need no bundler. Rejects extension types, which the stream
// does not use.

/** Maximum nesting depth, which limits the work for malformed input. */
export const nestedLevelsMax = 64
const SHORT_TEXT_BYTES = 48
const OWN_FIELD = { enumerable: true, configurable: true, writable: true }
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes one value. Throws RangeError unless the bytes are exactly one supported value. */
export function decodeMessagePack(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes)
  const value = reader.value(0)
  if (!reader.isAtEnd) throw new RangeError('bytes are left over after the value')
  return value
}

/** Decodes consecutive values. Throws RangeError for an unsupported or truncated value. */
export function decodeMessagePackSequence(bytes: Uint8Array): readonly unknown[] {
  const reader = new Reader(bytes)
  const values: unknown[] = []
  while (!reader.isAtEnd) values.push(reader.value(0))
  return values
}

class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  value(depth: number): unknown {
    if (depth > nestedLevelsMax) throw new RangeError('nested too deeply')
    const head = this.#view.getUint8(this.#skip(1))
    if (head < 0x80) return head
    if (head >= 0xe0) return head - 0x100
    if (head < 0x90) return this.#map(head & 0x0f, depth)
    if (head < 0xa0) return this.#array(head & 0x0f, depth)
    if (head < 0xc0) return this.#text(head & 0x1f)
    return this.#tagged(head, depth)
  }

  #tagged(head: number, depth: number): unknown {
    const view = this.#view
    switch (head) {
      case 0xc0:
        return null
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#binary(this.#length(head - 0xc4))
      case 0xca:
        return view.getFloat32(this.#skip(4))
      case 0xcb:
        return view.getFloat64(this.#skip(8))
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#length(head - 0xcc)
      case 0xcf:
        return this.#wide(view.getUint32(this.#skip(4)))
      case 0xd0:
        return view.getInt8(this.#skip(1))
      case 0xd1:
        return view.getInt16(this.#skip(2))
      case 0xd2:
        return view.getInt32(this.#skip(4))
      case 0xd3:
        return this.#wide(view.getInt32(this.#skip(4)))
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#length(head - 0xd9))
      case 0xdc:
      case 0xdd:
        return this.#array(this.#length(head - 0xdb), depth)
      case 0xde:
      case 0xdf:
        return this.#map(this.#length(head - 0xdd), depth)
      default:
        throw new RangeError(`0x${head.toString(16)} is not plain MessagePack`)
    }
  }

  #length(power: number): number {
    if (power === 0) return this.#view.getUint8(this.#skip(1))
    if (power === 1) return this.#view.getUint16(this.#skip(2))
    return this.#view.getUint32(this.#skip(4))
  }

  /** Completes a 64-bit integer whose upper half was read. Values beyond 2^53 are rounded to the nearest double. */
  #wide(high: number): number {
    return high * 0x1_0000_0000 + this.#view.getUint32(this.#skip(4))
  }

  #binary(length: number): Uint8Array {
    const start = this.#skip(length)
    return this.#bytes.slice(start, start + length)
  }

  #text(length: number): string {
    const start = this.#skip(length)
    if (length <= SHORT_TEXT_BYTES) {
      let text = ''
      for (let index = start; index < start + length; index += 1) {
        const byte = this.#bytes[index] ?? 0x80
        if (byte >= 0x80) return this.#decoded(start, length)
        text += String.fromCharCode(byte)
      }
      return text
    }
    return this.#decoded(start, length)
  }

  #decoded(start: number, length: number): string {
    try {
      return utf8.decode(this.#bytes.subarray(start, start + length))
    } catch {
      throw new RangeError('text is not UTF-8')
    }
  }

  #array(length: number, depth: number): unknown[] {
    this.#assertRemaining(length)
    const items: unknown[] = []
    for (let index = 0; index < length; index += 1) items.push(this.value(depth + 1))
    return items
  }

  #map(length: number, depth: number): Record<string, unknown> {
    this.#assertRemaining(length * 2)
    const map: Record<string, unknown> = {}
    for (let index = 0; index < length; index += 1) {
      const key = this.value(depth + 1)
      if (typeof key !== 'string') throw new RangeError('a key is not text')
      const value = this.value(depth + 1)
      // A plain assignment to `__proto__` would replace the prototype of the map.
      if (key === '__proto__') Object.defineProperty(map, key, { ...OWN_FIELD, value })
      else map[key] = value
    }
    return map
  }

  /** Throws if fewer than `count` bytes are left. Each item takes at least one byte, so a larger count is malformed. */
  #assertRemaining(count: number): void {
    if (count > this.#bytes.length - this.#at) throw new RangeError('a length beyond the end')
  }

  #skip(length: number): number {
    const start = this.#at
    if (length > this.#bytes.length - start) throw new RangeError('the value is cut off')
    this.#at = start + length
    return start
  }
}
