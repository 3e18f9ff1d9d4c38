// A MessagePack decoder written from the specification alone. It distinguishes integers from floats, and throws at
// extensions, records, 32-bit floats and binary.

import assert from 'node:assert/strict'

/** Integers are BigInt, floats are numbers. */
type Wire = null | boolean | string | bigint | number | Wire[] | { [key: string]: Wire }

/** Shared, because creating a decoder costs more than decoding a text. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

export function decodeWire(bytes: Uint8Array): Wire {
  const [decoded, ...rest] = decodeWires(bytes)
  assert.ok(decoded !== undefined && rest.length === 0, 'nothing follows the message')
  return decoded
}

export function decodeWires(bytes: Uint8Array): Wire[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (count: number): number => {
    at += count
    assert.ok(at <= bytes.byteLength, 'the message ends early')
    return at - count
  }
  const text = (length: number): string => {
    const from = take(length)
    return UTF8.decode(bytes.subarray(from, from + length))
  }
  const list = (count: number): Wire[] => Array.from({ length: count }, () => value())
  const map = (count: number): { [key: string]: Wire } => {
    const fields: { [key: string]: Wire } = {}
    for (let index = 0; index < count; index += 1) {
      const key = value()
      assert.ok(typeof key === 'string' && !(key in fields), 'keys are texts, each once')
      fields[key] = value()
    }
    return fields
  }
  const value = (): Wire => {
    const code = view.getUint8(take(1))
    if (code <= 0x7f) return BigInt(code)
    if (code <= 0x8f) return map(code & 0x0f)
    if (code <= 0x9f) return list(code & 0x0f)
    if (code <= 0xbf) return text(code & 0x1f)
    if (code >= 0xe0) return BigInt(code - 0x100)
    switch (code) {
      case 0xc0:
        return null
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xcb:
        return view.getFloat64(take(8))
      case 0xcc:
        return BigInt(view.getUint8(take(1)))
      case 0xcd:
        return BigInt(view.getUint16(take(2)))
      case 0xce:
        return BigInt(view.getUint32(take(4)))
      case 0xcf:
        return view.getBigUint64(take(8))
      case 0xd0:
        return BigInt(view.getInt8(take(1)))
      case 0xd1:
        return BigInt(view.getInt16(take(2)))
      case 0xd2:
        return BigInt(view.getInt32(take(4)))
      case 0xd3:
        return view.getBigInt64(take(8))
      case 0xd9:
        return text(view.getUint8(take(1)))
      case 0xda:
        return text(view.getUint16(take(2)))
      case 0xdb:
        return text(view.getUint32(take(4)))
      case 0xdc:
        return list(view.getUint16(take(2)))
      case 0xdd:
        return list(view.getUint32(take(4)))
      case 0xde:
        return map(view.getUint16(take(2)))
      case 0xdf:
        return map(view.getUint32(take(4)))
    }
    throw new Error(`0x${code.toString(16)} is not one of the plain formats`)
  }
  const all: Wire[] = []
  while (at < bytes.byteLength) all.push(value())
  return all
}

/** Returns the value that JSON.parse would return. */
export function plain(wire: Wire): unknown {
  if (typeof wire === 'bigint') return Number(wire)
  if (Array.isArray(wire)) return wire.map(plain)
  if (typeof wire !== 'object' || wire === null) return wire
  return Object.fromEntries(Object.entries(wire).map(([key, item]) => [key, plain(item)]))
}

/** Yields each number with its field's name, and whether it is an integer in the bytes. */
export function* numbersOf(wire: Wire, name = ''): Generator<{ name: string; isInteger: boolean }> {
  if (typeof wire === 'bigint') yield { name, isInteger: true }
  else if (typeof wire === 'number') yield { name, isInteger: false }
  else if (Array.isArray(wire)) for (const item of wire) yield* numbersOf(item, name)
  else if (typeof wire === 'object' && wire !== null) {
    for (const [key, item] of Object.entries(wire)) yield* numbersOf(item, key)
  }
}
