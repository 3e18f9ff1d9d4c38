// Packs the events of a wallet into blocks, which are stored permanently. A block has columns of fixed width, and each
// market, token and transaction once.
//
//   mark u32 | number of sections u32 | length of each u32 | sections, each padded to 8 bytes
//   sections: count and flags u32 | seconds u32 | kind and role u8 | text numbers u16: markets, tokens + 1,
//             transactions | prices u32 | sizes f64 | dollars f64 | fees f64, if any | milliseconds u16, if any
//             | conversions u32: event, count, markets … | markets | – | tokens | – | transactions | –
//   text:     form u8: kind, + 4 for an odd half byte | length u8, or 255 and u32 | bytes
//
// All numbers are little-endian. Texts of hex digits with 0x or of decimal digits take half a byte a character.
// A section marked – is empty in new blocks and contains hashes in old blocks.

import { type NativeMarketId, nativeMarketId, outcomeId } from '../ids.ts'
import { priceMicros, sizeMicros, timeMs, USD_ZERO, usdMicros } from '../units.ts'
import { WALLET_EVENT_KINDS, type WalletEvent, type WalletRole } from '../wallet.ts'

/** Maximum number of events in a block. More events indicate a bug. */
export const LEDGER_BLOCK_EVENTS_MAX = 4_096

/** "led" and the version of the format. */
const MARK = 0x6c_65_64_01
const SECTIONS = 16
const HAS_FEES = 1
const HAS_MILLIS = 2
const SECOND_MS = 1_000
const UINT32_MAX = 0xffff_ffff
const ROLES: readonly WalletRole[] = [null, 'taker', 'maker']
const [TEXT, DIGITS, HEX, ODD, LONG] = [0, 1, 2, 4, 255] as const
const NONE: readonly NativeMarketId[] = []
const NOTHING = new Uint8Array(0)

/** Throws RangeError for too many events, and for an event before 1970. */
export function packBlock(events: readonly WalletEvent[]): Uint8Array<ArrayBuffer> {
  const count = events.length
  if (count > LEDGER_BLOCK_EVENTS_MAX) throw new RangeError(`${count} events are no block`)
  const [markets, tokens, transactions] = [new TextNumbers(), new TextNumbers(), new TextNumbers()]
  const seconds = events.map(({ timeMs: atMs }) => {
    const second = Math.floor(atMs / SECOND_MS)
    if (second < 0 || second > UINT32_MAX) throw new RangeError(`${atMs} is no event's time`)
    return second
  })
  const numbers = [
    ...events.map(({ market }) => markets.add(market)),
    ...events.map(({ token }) => (token === null ? 0 : tokens.add(token) + 1)),
    ...events.map(({ txHash }) => transactions.add(txHash)),
  ]
  // Added after the events' own markets, whose numbers must fit 16 bits.
  const conversions = events.flatMap(({ converted }, index) =>
    converted.length === 0 ? [] : [index, converted.length, ...converted.map(markets.add)],
  )
  const millis = events.map(({ timeMs: atMs }) => atMs % SECOND_MS)
  const hasFees = events.some(({ fee }) => fee !== 0)
  const hasMillis = millis.some((one) => one !== 0)
  const flags = (hasFees ? HAS_FEES : 0) | (hasMillis ? HAS_MILLIS : 0)
  return packSections([
    new Uint32Array([count, flags]),
    new Uint32Array(seconds),
    new Uint8Array(events.map(formOf)),
    new Uint16Array(numbers),
    new Uint32Array(events.map(({ price }) => price)),
    new Float64Array(events.map(({ size }) => size)),
    new Float64Array(events.map(({ usd }) => usd)),
    hasFees ? new Float64Array(events.map(({ fee }) => fee)) : NOTHING,
    hasMillis ? new Uint16Array(millis) : NOTHING,
    new Uint32Array(conversions),
    ...[markets.pack(), NOTHING, tokens.pack(), NOTHING, transactions.pack(), NOTHING],
  ])
}

/** Null: the bytes are damaged or of another version. */
export function unpackBlock(bytes: Uint8Array): WalletEvent[] | null {
  try {
    return eventsIn(openSections(bytes))
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function eventsIn(sections: readonly Uint8Array<ArrayBuffer>[]): WalletEvent[] {
  const column = <Values>(at: number, bytesEach: number, Type: ColumnType<Values>): Values => {
    const { buffer, byteOffset, byteLength } = sections[at] ?? NOTHING
    return new Type(buffer, byteOffset, byteLength / bytesEach)
  }
  const [count = 0, flags = 0] = column(0, 4, Uint32Array)
  if (count > LEDGER_BLOCK_EVENTS_MAX) throw new RangeError('too many events')
  const seconds = column(1, 4, Uint32Array)
  const forms = column(2, 1, Uint8Array)
  const numbers = column(3, 2, Uint16Array)
  const prices = column(4, 4, Uint32Array)
  const sizes = column(5, 8, Float64Array)
  const dollars = column(6, 8, Float64Array)
  const fees = column(7, 8, Float64Array)
  const millis = column(8, 2, Uint16Array)
  const [markets, tokens, transactions] = [10, 12, 14]
    .map((at) => column(at, 1, Uint8Array))
    .map(textsIn)
  const converted = conversionsIn(column(9, 4, Uint32Array), markets)
  return Array.from({ length: count }, (_, index): WalletEvent => {
    const form = at(forms, index)
    const token = at(numbers, count + index)
    const milli = (flags & HAS_MILLIS) === 0 ? 0 : at(millis, index)
    return {
      kind: at(WALLET_EVENT_KINDS, (form & 7) | ((form >> 5) << 3)),
      timeMs: timeMs(at(seconds, index) * SECOND_MS + milli),
      txHash: at(transactions, at(numbers, 2 * count + index)),
      market: nativeMarketId(at(markets, at(numbers, index))),
      token: token === 0 ? null : outcomeId(at(tokens, token - 1)),
      size: sizeMicros(at(sizes, index)),
      price: priceMicros(at(prices, index)),
      usd: usdMicros(at(dollars, index)),
      fee: (flags & HAS_FEES) === 0 ? USD_ZERO : usdMicros(at(fees, index)),
      role: at(ROLES, (form >> 3) & 3),
      converted: converted.get(index) ?? NONE,
    }
  })
}

type ColumnType<Values> = new (buffer: ArrayBuffer, byteOffset: number, length: number) => Values

/** Throws RangeError at the end of the bytes. */
function at<Value>(values: ArrayLike<Value> | undefined, index: number): Value {
  const value = values?.[index]
  if (value === undefined) throw new RangeError('damaged block')
  return value
}

/** One byte: the three low bits of the kind, two bits of the role, the remaining bits of the kind. */
function formOf({ kind, role }: WalletEvent): number {
  const number = WALLET_EVENT_KINDS.indexOf(kind)
  return (number & 7) | (ROLES.indexOf(role) << 3) | ((number >> 3) << 5)
}

function conversionsIn(
  words: Uint32Array,
  markets: readonly string[] | undefined,
): ReadonlyMap<number, readonly NativeMarketId[]> {
  const converted = new Map<number, readonly NativeMarketId[]>()
  for (let start = 0; start < words.length; ) {
    const end = start + 2 + at(words, start + 1)
    if (end > words.length) throw new RangeError('damaged conversions')
    const ids = Array.from(words.subarray(start + 2, end), (number) => at(markets, number))
    converted.set(at(words, start), ids.map(nativeMarketId))
    start = end
  }
  return converted
}

const padded = (bytes: number): number => (bytes + 7) & ~7

function packSections(
  sections: readonly (Uint8Array | Uint16Array | Uint32Array | Float64Array)[],
): Uint8Array<ArrayBuffer> {
  const lengths = sections.map(({ byteLength }) => byteLength)
  const head = new Uint32Array([MARK, sections.length, ...lengths])
  const total = lengths.reduce((sum, length) => sum + padded(length), padded(head.byteLength))
  const bytes = new Uint8Array(total)
  let start = 0
  for (const { buffer, byteOffset, byteLength } of [head, ...sections]) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), start)
    start += padded(byteLength)
  }
  return bytes
}

/** The sections, aligned. Their lengths must cover all bytes, so truncated bytes are detected. */
function openSections(given: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const bytes = new Uint8Array(given)
  const head = new DataView(bytes.buffer)
  const isBlock = head.getUint32(0, true) === MARK && head.getUint32(4, true) === SECTIONS
  if (!isBlock) throw new RangeError('no block')
  let start = padded(8 + SECTIONS * 4)
  const sections = Array.from({ length: SECTIONS }, (_, index) => {
    const length = head.getUint32(8 + index * 4, true)
    const section = new Uint8Array(bytes.buffer, start, length)
    start += padded(length)
    return section
  })
  if (start !== bytes.byteLength) throw new RangeError('truncated block')
  return sections
}

class TextNumbers {
  readonly #numbers = new Map<string, number>()

  readonly add = (text: string): number => {
    const number = this.#numbers.get(text) ?? this.#numbers.size
    this.#numbers.set(text, number)
    return number
  }

  pack(): Uint8Array {
    return Buffer.concat(Array.from(this.#numbers.keys(), packText))
  }
}

function packText(text: string): Uint8Array {
  const [, prefix, digits] = /^(0x(?=[0-9a-f]*$)|(?=[0-9]+$))(.*)$/.exec(text) ?? []
  if (digits === undefined) return entryOf(TEXT, Buffer.from(text, 'utf16le'))
  const isOdd = digits.length % 2 === 1
  const form = (prefix === '0x' ? HEX : DIGITS) + (isOdd ? ODD : 0)
  return entryOf(form, Buffer.from(isOdd ? `0${digits}` : digits, 'hex'))
}

function entryOf(form: number, body: Buffer): Uint8Array {
  if (body.length < LONG) return Buffer.concat([Buffer.from([form, body.length]), body])
  const head = Buffer.from([form, LONG, 0, 0, 0, 0])
  head.writeUInt32LE(body.length, 2)
  return Buffer.concat([head, body])
}

function textsIn({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): string[] {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const texts: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const form = at(bytes, start)
    const isLong = at(bytes, start + 1) === LONG
    const from = start + (isLong ? 6 : 2)
    start = from + (isLong ? bytes.readUInt32LE(start + 2) : at(bytes, start + 1))
    if (start > bytes.length || (form & ~ODD) > HEX) throw new RangeError('damaged text')
    if (form === TEXT) texts.push(bytes.toString('utf16le', from, start))
    else {
      const digits = bytes.toString('hex', from, start).slice((form & ODD) === 0 ? 0 : 1)
      texts.push((form & ~ODD) === HEX ? `0x${digits}` : digits)
    }
  }
  return texts
}
