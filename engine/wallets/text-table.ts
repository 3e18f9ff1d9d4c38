// Interned texts: tokens, markets and transactions of a wallet, each stored once under a number. Hex with
// 0x and plain digits, which nearly all are, take half a byte a character. Decoding is lazy, because a PnL
// state of ten thousand tokens is opened on the event loop.
//
//   entry:  | form | length, or 255 and four bytes of it | bytes |      form: kind, + 4 for an odd half byte

const TEXT = 0
const DIGITS = 1
const HEX = 2
const ODD = 4
const LONG = 255
const FREE = -1
const DAMAGED = -1
const SLOTS_MIN = 32

export class TextTable {
  /**
   * Texts of a table opened from bytes, null while not decoded. Shared by copies, so that each text is
   * decoded once.
   */
  readonly #opened: (string | null)[]
  /** Texts added after those. */
  readonly #added: string[]
  /** The packed entries of a table opened from bytes, and where each begins. Empty for a new table. */
  readonly #packed: Uint8Array<ArrayBuffer>
  readonly #starts: Uint32Array<ArrayBuffer>
  #hashes: Uint32Array<ArrayBuffer>
  /** Open-addressing hash table of numbers, at most half full. Null before the first search. */
  #slots: Int32Array<ArrayBuffer> | null = null
  /** Cache of searched texts: most are searched again, and an identical string is found at once. */
  readonly #cache = new Map<string, number>()

  private constructor(from: {
    readonly opened: (string | null)[]
    readonly added: string[]
    readonly packed: Uint8Array<ArrayBuffer>
    readonly starts: Uint32Array<ArrayBuffer>
    readonly hashes: Uint32Array<ArrayBuffer>
  }) {
    this.#opened = from.opened
    this.#added = from.added
    this.#packed = from.packed
    this.#starts = from.starts
    this.#hashes = from.hashes
  }

  static empty(): TextTable {
    return new TextTable({
      ...{ opened: [], added: [] },
      packed: new Uint8Array(0),
      starts: new Uint32Array(0),
      hashes: new Uint32Array(SLOTS_MIN),
    })
  }

  /** Opens the two sections that `sections` returned. Null when they are damaged. */
  static over(packed: Uint8Array<ArrayBuffer>, hashes: Uint8Array<ArrayBuffer>): TextTable | null {
    const count = hashes.byteLength / 4
    if (!Number.isInteger(count)) return null
    const starts = new Uint32Array(count)
    let start = 0
    for (let number = 0; number < count; number += 1) {
      starts[number] = start
      start = entryEnd(packed, start)
      if (start === DAMAGED) return null
    }
    if (start !== packed.byteLength) return null
    const opened = new Array<string | null>(count).fill(null)
    const hashValues = new Uint32Array(hashes.buffer, hashes.byteOffset, count)
    return new TextTable({ opened, added: [], packed, starts, hashes: hashValues })
  }

  get count(): number {
    return this.#opened.length + this.#added.length
  }

  /** The text of a number. '' for an unassigned number. */
  text(number: number): string {
    const text = this.#opened[number]
    if (text === undefined) return this.#added[number - this.#opened.length] ?? ''
    if (text !== null) return text
    const decoded = decodeEntry(this.#packed, this.#starts[number] ?? 0)
    this.#opened[number] = decoded
    return decoded
  }

  /** −1 for a text that is not in the table. */
  numberOf(text: string): number {
    const cached = this.#cache.get(text)
    if (cached !== undefined) return cached
    const number = this.#slotsNow()[this.#slotOf(text, hashOf(text))] ?? FREE
    if (number !== FREE) this.#cache.set(text, number)
    return number
  }

  /** The text's number. Assigns the next one if the text is new. */
  add(text: string): number {
    const existing = this.numberOf(text)
    if (existing !== FREE) return existing
    const hash = hashOf(text)
    const slot = this.#slotOf(text, hash)
    const number = this.count
    this.#cache.set(text, number)
    this.#added.push(text)
    if (number === this.#hashes.length) {
      const hashes = new Uint32Array(Math.max(SLOTS_MIN, number * 2))
      hashes.set(this.#hashes)
      this.#hashes = hashes
    }
    this.#hashes[number] = hash
    const slots = this.#slotsNow()
    slots[slot] = number
    if (this.count * 2 > slots.length) this.#slots = null
    return number
  }

  copy(): TextTable {
    const copied = new TextTable({
      ...{ opened: this.#opened, added: this.#added.slice() },
      packed: this.#packed,
      starts: this.#starts,
      hashes: this.#hashes.slice(),
    })
    copied.#slots = this.#slots?.slice() ?? null
    return copied
  }

  /** Entries and hashes, for `over`. */
  sections(): readonly [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>] {
    const added: Uint8Array<ArrayBuffer>[] = [this.#packed]
    let byteCount = this.#packed.byteLength
    for (let number = this.#starts.length; number < this.count; number += 1) {
      const entry = encodeEntry(this.text(number))
      added.push(entry)
      byteCount += entry.byteLength
    }
    const packed = new Uint8Array(byteCount)
    let start = 0
    for (const entry of added) {
      packed.set(entry, start)
      start += entry.byteLength
    }
    return [packed, new Uint8Array(this.#hashes.slice(0, this.count).buffer)]
  }

  #slotsNow(): Int32Array<ArrayBuffer> {
    if (this.#slots !== null) return this.#slots
    let size = SLOTS_MIN
    while (size < this.count * 4) size *= 2
    const slots = new Int32Array(size).fill(FREE)
    for (let number = 0; number < this.count; number += 1) {
      let slot = (this.#hashes[number] ?? 0) & (size - 1)
      while (slots[slot] !== FREE) slot = (slot + 1) & (size - 1)
      slots[slot] = number
    }
    this.#slots = slots
    return slots
  }

  /** The slot of the text, or the slot at which to insert it. */
  #slotOf(text: string, hash: number): number {
    const slots = this.#slotsNow()
    let slot = hash & (slots.length - 1)
    for (let number = slots[slot] ?? FREE; number !== FREE; number = slots[slot] ?? FREE) {
      if (this.#hashes[number] === hash && this.text(number) === text) return slot
      slot = (slot + 1) & (slots.length - 1)
    }
    return slot
  }
}

/** 32-bit hash of a text (FNV-1a over its code units, with a final mix). The same in every process. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let position = 0; position < text.length; position += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(position), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

function encodeEntry(text: string): Uint8Array<ArrayBuffer> {
  let form = TEXT
  let bytes: Uint8Array
  if (/^0x[0-9a-f]*$/.test(text)) {
    const isOdd = text.length % 2 === 1
    form = isOdd ? HEX + ODD : HEX
    bytes = Buffer.from((isOdd ? '0' : '') + text.slice(2), 'hex')
  } else if (/^[0-9]+$/.test(text)) {
    const isOdd = text.length % 2 === 1
    form = isOdd ? DIGITS + ODD : DIGITS
    bytes = Buffer.from((isOdd ? '0' : '') + text, 'hex')
  } else {
    // UTF-16 preserves any text, unpaired surrogates included.
    bytes = Buffer.from(text, 'utf16le')
  }
  const { byteLength } = bytes
  const isLong = byteLength >= LONG
  const entry = new Uint8Array((isLong ? 6 : 2) + byteLength)
  entry[0] = form
  entry[1] = isLong ? LONG : byteLength
  if (isLong) new DataView(entry.buffer).setUint32(2, byteLength, true)
  entry.set(bytes, isLong ? 6 : 2)
  return entry
}

/** The end of the entry that begins at `start`. DAMAGED when it does not end within the bytes. */
function entryEnd(packed: Uint8Array<ArrayBuffer>, start: number): number {
  const form = packed[start]
  const length = packed[start + 1]
  if (form === undefined || length === undefined || (form & ~ODD) > HEX) return DAMAGED
  const isLong = length === LONG
  const byteCount = isLong ? longLength(packed, start + 2) : length
  // An odd half byte requires a byte, and UTF-16 whole code units.
  if ((form & ODD) !== 0 ? byteCount === 0 || form === ODD : form === TEXT && byteCount % 2 === 1) {
    return DAMAGED
  }
  const end = start + (isLong ? 6 : 2) + byteCount
  return end <= packed.byteLength ? end : DAMAGED
}

function longLength(packed: Uint8Array<ArrayBuffer>, start: number): number {
  if (start + 4 > packed.byteLength) return Number.MAX_SAFE_INTEGER / 2
  return new DataView(packed.buffer, packed.byteOffset).getUint32(start, true)
}

function decodeEntry(packed: Uint8Array<ArrayBuffer>, start: number): string {
  const form = packed[start] ?? TEXT
  const end = Math.max(entryEnd(packed, start), start)
  const bodyStart = start + (packed[start + 1] === LONG ? 6 : 2)
  if (form === TEXT) {
    return Buffer.from(packed.buffer, packed.byteOffset + bodyStart, end - bodyStart).toString(
      'utf16le',
    )
  }
  // Written into one buffer and decoded as a whole. Concatenation would create garbage, and a rope string
  // that is flattened at its first lookup.
  const textLength = 2 + 2 * (end - bodyStart)
  if (scratch.byteLength < textLength) scratch = Buffer.alloc(textLength)
  let to = 2
  for (let at = bodyStart; at < end; at += 1) {
    const byte = packed[at] ?? 0
    scratch[to] = HEX_DIGITS.charCodeAt(byte >> 4)
    scratch[to + 1] = HEX_DIGITS.charCodeAt(byte & 15)
    to += 2
  }
  let from = (form & ODD) === 0 ? 2 : 3
  if ((form & ~ODD) === HEX) {
    scratch[from - 1] = X
    scratch[from - 2] = ZERO
    from -= 2
  }
  return scratch.toString('latin1', from, textLength)
}

const HEX_DIGITS = '0123456789abcdef'
const [ZERO, X] = [0x30, 0x78]
/** As large as the longest text that was decoded, which never exceeds its block or PnL state. */
let scratch = Buffer.alloc(256)
