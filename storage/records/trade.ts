// The record of one trade; its time and ordinal are in its key. It is packed, since most stored rows are trades.
// Numbers are varints, hashes and addresses are bytes. An id that repeats the trade's own fields, like the 208
// characters of venue a's, is rebuilt from them. A record takes 75 to 100 bytes; MessagePack would take 250 to 400.
//
//   flags | flags | price | size | usd, unless it follows from them | receivedAt - time |
//   run | offset | seq | venue ordinal | fields of the id's form | maker | taker | txHash

import { VENUE_KEYS } from '../../engine/ids.ts'
import { partId } from '../../engine/trade-parts.ts'
import {
  complement,
  notionalMicros,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  sizeMicros,
  timeMs,
  usdMicros,
} from '../../engine/units.ts'
import type { StoredTrade } from '../contract/storage.ts'
import type { VenuePosition } from '../venue-trades.ts'
import { readInteger } from './keys.ts'
import type { RecordCodec } from './records.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

/** A trade with its venue ordinal, which records have since format 2. */
export interface TradeRecord {
  readonly trade: StoredTrade
  readonly venuePosition: VenuePosition | null
}

/** The venue a token of each market outcome, which trade ids repeat (trade-tokens.ts). */
export interface Tokens {
  /** Null if unknown. */
  get(market: number, outcomeIndex: number): string | null
  /** Stores the outcome's first token; returns whether this is the outcome's token. */
  offer(market: number, outcomeIndex: number, token: string): boolean
}

/** First byte of flags. */
const SELL = 1
const BLOCK = 2
const DERIVED_USD = 4
const HAS_VENUE_POSITION = 8
/** The outcome index is in the upper three bits; 7: not an outcome of any venue. */
const OUTCOME_SHIFT = 5
const OUTCOME_MAX = 6
/** Second byte: flags of optional numbers and of coarser units for price and size; the upper bits are the id's form. */
const HAS_RUN = 1
const HAS_OFFSET = 2
const HAS_SEQ = 4
const COARSE_PRICE = 8
const COARSE_SIZE = 16
const ID_SHIFT = 5
const ID_TEXT = 0
const ID_UUID = 1
const ID_FIELDS = 2
const ID_PART = 3

const UUID_BYTES = 16
const UUID_LENGTH = 36
/** Start and end positions of a UUID's digit groups. */
const UUID_GROUPS = [0, 8, 9, 13, 14, 18, 19, 23, 24, UUID_LENGTH] as const
/** Digit value by character code below 128, or -1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
)
const ZERO = '0'.charCodeAt(0)
const DASH = '-'.charCodeAt(0)
const DIGITS_MAX = 15
/** The largest size for which usd is computed; larger trades store it. */
const DERIVED_SIZE_MAX = 1e14
/** A tenth of a cent or a hundredth of a contract: most prices and sizes are multiples of it. */
const PRICE_UNIT = 1_000
const SIZE_UNIT = 10_000
/** The venue ordinal is stored as itself times this, plus the venue's index in VENUE_KEYS. */
const VENUES_MAX = 8
const NUMBERS_MAX = 12

let scratch = Buffer.allocUnsafe(1_024)

/**
 * The codec of a trade with its venue ordinal. Schemas 1 to 3 were those of older formats. Encoded bytes are valid until
 * the next call.
 */
export function tradeCodec(tokens: Tokens): RecordCodec<TradeRecord> {
  return {
    oldest: 4,
    newest: 4,
    encode: (record, key) => packTrade(key, record, tokens),
    decode: (body, key) => unpackTrade(key, body, tokens),
  }
}

function packTrade(key: Buffer, { trade, venuePosition }: TradeRecord, tokens: Tokens): Buffer {
  const { price, size, outcomeIndex, usd, nativeId, maker, taker, txHash } = trade
  if (!(outcomeIndex >= 0 && outcomeIndex <= OUTCOME_MAX)) throw new RangeError('no such outcome')
  reserve(nativeId.length + lengthOf(maker) + lengthOf(taker) + lengthOf(txHash))
  const isDerived = usd === worth(price, size, outcomeIndex)
  const isCoarsePrice = price % PRICE_UNIT === 0
  const isCoarseSize = size % SIZE_UNIT === 0
  scratch[0] =
    (trade.side === 'sell' ? SELL : 0) +
    (trade.isBlock ? BLOCK : 0) +
    (isDerived ? DERIVED_USD : 0) +
    (venuePosition === null ? 0 : HAS_VENUE_POSITION) +
    (outcomeIndex << OUTCOME_SHIFT)
  scratch[1] =
    (trade.run === null ? 0 : HAS_RUN) +
    (trade.offset === null ? 0 : HAS_OFFSET) +
    (trade.seq === null ? 0 : HAS_SEQ) +
    (isCoarsePrice ? COARSE_PRICE : 0) +
    (isCoarseSize ? COARSE_SIZE : 0)
  let position = writeVarint(scratch, 2, isCoarsePrice ? price / PRICE_UNIT : price)
  position = writeVarint(scratch, position, isCoarseSize ? size / SIZE_UNIT : size)
  if (!isDerived) position = writeVarint(scratch, position, usd)
  position = writeSigned(scratch, position, trade.receivedAtMs - trade.timeMs)
  if (trade.run !== null) position = writeVarint(scratch, position, trade.run)
  if (trade.offset !== null) position = writeVarint(scratch, position, trade.offset)
  if (trade.seq !== null) position = writeVarint(scratch, position, trade.seq)
  if (venuePosition !== null) {
    const venue = VENUE_KEYS.indexOf(venuePosition.venue)
    position = writeVarint(scratch, position, venuePosition.ordinal * VENUES_MAX + venue)
  }
  position = writeId(position, key.readUInt32BE(0), trade, tokens)
  position = writeText(position, maker)
  position = writeText(position, taker)
  position = writeText(position, txHash)
  return scratch.subarray(0, position)
}

function unpackTrade(key: Buffer, body: Buffer, tokens: Tokens): TradeRecord {
  const first = body.readUInt8(0)
  const second = body.readUInt8(1)
  const reader = new VarintReader(body, 2)
  const time = readInteger(key, 4)
  const outcomeIndex = first >> OUTCOME_SHIFT
  const side = (first & SELL) === 0 ? 'buy' : 'sell'
  const price = priceMicros(reader.next() * ((second & COARSE_PRICE) === 0 ? 1 : PRICE_UNIT))
  const size = sizeMicros(reader.next() * ((second & COARSE_SIZE) === 0 ? 1 : SIZE_UNIT))
  const isDerived = (first & DERIVED_USD) !== 0
  const usd = usdMicros(isDerived ? (worth(price, size, outcomeIndex) ?? -1) : reader.next())
  const receivedAtMs = timeMs(time + reader.nextSigned())
  const run = (second & HAS_RUN) === 0 ? null : reader.next()
  const offset = (second & HAS_OFFSET) === 0 ? null : reader.next()
  const seq = (second & HAS_SEQ) === 0 ? null : reader.next()
  const venuePosition = (first & HAS_VENUE_POSITION) === 0 ? null : venuePositionOf(reader.next())
  const form = second >> ID_SHIFT
  const text =
    form === ID_TEXT ? readText(body, reader) : form === ID_UUID ? uuid(body, reader) : ''
  const n = form === ID_TEXT || form === ID_UUID ? 0 : reader.next()
  const maker = readText(body, reader)
  const taker = readText(body, reader)
  const txHash = readText(body, reader)
  if (!reader.isAtEnd) throw new RangeError('bytes are left over')
  let nativeId = text
  if (form === ID_PART && txHash !== null) nativeId = partId(txHash, n)
  if (form === ID_FIELDS) {
    const token = tokens.get(key.readUInt32BE(0), outcomeIndex)
    nativeId = idOfFields({ txHash, taker, side, size, price, outcomeIndex }, token, n)
  }
  if (nativeId === null) throw new RangeError('the id is not there')
  const trade: StoredTrade = {
    nativeId,
    timeMs: timeMs(time),
    ordinal: key.readUInt32BE(12),
    price,
    size,
    side,
    outcomeIndex,
    usd,
    maker,
    taker,
    txHash,
    isBlock: (first & BLOCK) !== 0,
    receivedAtMs,
    run,
    offset,
    seq,
  }
  return { trade, venuePosition }
}

function venuePositionOf(code: number): VenuePosition {
  const venue = VENUE_KEYS[code % VENUES_MAX]
  if (venue === undefined) throw new RangeError('no such venue')
  return { venue, ordinal: Math.floor(code / VENUES_MAX) }
}

type IdFields = Pick<StoredTrade, 'txHash' | 'taker' | 'side' | 'size' | 'price' | 'outcomeIndex'>

/** The id that venue a's connector builds from a row with known traders; null if a part is unknown. */
function idOfFields(fields: IdFields, token: string | null, n: number): string | null {
  const { txHash, taker, side, size, price, outcomeIndex } = fields
  if (txHash === null || taker === null || token === null) return null
  const traded = outcomeIndex === 0 ? price : complement(price)
  return `${txHash}-${token}-${taker}-${side}-${size}-${traded}-${n}`
}

/** Writes the id in the shortest form that restores the exact text, and the form into the second byte. */
function writeId(position: number, market: number, trade: StoredTrade, tokens: Tokens): number {
  const { nativeId, txHash } = trade
  if (nativeId.length === UUID_LENGTH) {
    const end = writeUuid(position, nativeId)
    if (end !== null) return formed(ID_UUID, end)
  }
  let countStart = nativeId.length
  while (countStart > 0 && nativeId.charCodeAt(countStart - 1) !== DASH) countStart -= 1
  const n = numberIn(nativeId, countStart, nativeId.length)
  if (txHash === null || n < 0 || !has(nativeId, 0, txHash)) return writeText(position, nativeId)
  const isPart = has(nativeId, txHash.length, '-part-') && partId(txHash, n) === nativeId
  if (isPart) return formed(ID_PART, writeVarint(scratch, position, n))
  const start = txHash.length + 1
  const cachedToken = tokens.get(market, trade.outcomeIndex)
  const hasCachedToken = cachedToken !== null && has(nativeId, start, cachedToken)
  const tokenEnd = hasCachedToken ? start + cachedToken.length : nativeId.indexOf('-', start)
  const isToken = tokenEnd > start && nativeId[start - 1] === '-'
  if (!isToken || !repeatsFields(trade, tokenEnd, countStart - 1)) {
    return writeText(position, nativeId)
  }
  if (
    !hasCachedToken &&
    !tokens.offer(market, trade.outcomeIndex, nativeId.slice(start, tokenEnd))
  ) {
    return writeText(position, nativeId)
  }
  return formed(ID_FIELDS, writeVarint(scratch, position, n))
}

function formed(form: number, end: number): number {
  scratch[1] = (scratch[1] ?? 0) | (form << ID_SHIFT)
  return end
}

/** Whether a text contains `part` at `from`; `startsWith` takes three times as long. */
function has(text: string, from: number, part: string): boolean {
  return text.slice(from, from + part.length) === part
}

/** The number in canonical digits at a position of a text; -1 if it is not one below 10^15. */
function numberIn(text: string, from: number, to: number): number {
  const digitCount = to - from
  if (digitCount < 1 || digitCount > DIGITS_MAX) return -1
  if (digitCount > 1 && text.charCodeAt(from) === ZERO) return -1
  let number = 0
  for (let index = from; index < to; index += 1) {
    const digit = text.charCodeAt(index) - ZERO
    if (digit < 0 || digit > 9) return -1
    number = 10 * number + digit
  }
  return number
}

/**
 * Whether an id repeats the trade's fields between its token and its count as `idOfFields` writes them; builds no
 * text.
 */
function repeatsFields(trade: StoredTrade, tokenEnd: number, countDash: number): boolean {
  const { nativeId, taker, side, size, price, outcomeIndex } = trade
  if (taker === null || nativeId[tokenEnd] !== '-') return false
  if (!has(nativeId, tokenEnd + 1, taker)) return false
  const sideStart = tokenEnd + 1 + taker.length
  const named = side === 'buy' ? '-buy-' : '-sell-'
  if (!has(nativeId, sideStart, named)) return false
  const sizeStart = sideStart + named.length
  const sizeEnd = nativeId.indexOf('-', sizeStart)
  const traded = outcomeIndex === 0 ? price : complement(price)
  return (
    numberIn(nativeId, sizeStart, sizeEnd) === size &&
    numberIn(nativeId, sizeEnd + 1, countDash) === traded
  )
}

/** The usd amount of price and size; null if the product may be inexact. */
function worth(price: PriceMicros, size: SizeMicros, outcomeIndex: number): number | null {
  if (size > DERIVED_SIZE_MAX) return null
  return notionalMicros({ price: outcomeIndex === 0 ? price : complement(price), size })
}

/** Reserves room for the numbers and for texts of this many characters, of up to three bytes each. */
function reserve(characters: number): void {
  const bytes = 2 + NUMBERS_MAX * varintBytesMax + 3 * characters
  if (scratch.length < bytes) scratch = Buffer.allocUnsafe(2 * bytes)
}

/**
 * Writes a length header, then the bytes. Header: 0 for null, else twice the byte count plus 1 for text or 2 for the
 * digits of a hash or an address.
 */
function writeText(position: number, text: string | null): number {
  if (text === null) return writeVarint(scratch, position, 0)
  if (text.length > 2 && text.length % 2 === 0 && text.startsWith('0x')) {
    const head = writeVarint(scratch, position, text.length)
    const end = writeDigits(head, text, 2, text.length)
    if (end !== null) return end
  }
  const next = writeVarint(scratch, position, 2 * Buffer.byteLength(text) + 1)
  return next + scratch.write(text, next)
}

/**
 * Writes hexadecimal digits as bytes; null if a character is not a lower-case digit. `Buffer.write` takes twice as
 * long.
 */
function writeDigits(position: number, text: string, from: number, to: number): number | null {
  let end = position
  for (let index = from; index < to; index += 2, end += 1) {
    const [upper, lower] = [digitAt(text, index), digitAt(text, index + 1)]
    if (upper < 0 || lower < 0) return null
    scratch[end] = upper * 16 + lower
  }
  return end
}

function digitAt(text: string, index: number): number {
  return DIGITS[text.charCodeAt(index)] ?? -1
}

function writeUuid(position: number, text: string): number | null {
  let end: number | null = position
  for (let index = 0; index < UUID_GROUPS.length && end !== null; index += 2) {
    const [from, to] = [UUID_GROUPS[index] ?? 0, UUID_GROUPS[index + 1] ?? 0]
    if (to < UUID_LENGTH && text[to] !== '-') return null
    end = writeDigits(end, text, from, to)
  }
  return end
}

function readText(body: Buffer, reader: VarintReader): string | null {
  const head = reader.next()
  if (head === 0) return null
  const byteCount = Math.floor((head - 1) / 2)
  const start = reader.skip(byteCount)
  if (head % 2 === 0) return `0x${body.toString('hex', start, start + byteCount)}`
  return body.toString('utf8', start, start + byteCount)
}

function uuid(body: Buffer, reader: VarintReader): string {
  const start = reader.skip(UUID_BYTES)
  const digits = body.toString('hex', start, start + UUID_BYTES)
  const [time, version] = [digits.slice(0, 8), digits.slice(12, 16)]
  return `${time}-${digits.slice(8, 12)}-${version}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

/**
 * A trade with its ordinal, maker and, if it became known later, taker. Copied field by field: spreading so many
 * fields gives each object its own hidden class in this Node version, some 450 bytes a trade.
 */
export function storedTrade(
  trade: Omit<StoredTrade, 'ordinal'>,
  set: { readonly ordinal: number; readonly maker: string | null; readonly taker?: string },
): StoredTrade {
  return {
    nativeId: trade.nativeId,
    timeMs: trade.timeMs,
    ordinal: set.ordinal,
    price: trade.price,
    size: trade.size,
    side: trade.side,
    outcomeIndex: trade.outcomeIndex,
    usd: trade.usd,
    maker: set.maker,
    taker: set.taker ?? trade.taker,
    txHash: trade.txHash,
    isBlock: trade.isBlock,
    receivedAtMs: trade.receivedAtMs,
    run: trade.run,
    offset: trade.offset,
    seq: trade.seq,
  }
}

function lengthOf(text: string | null): number {
  return text === null ? 0 : text.length
}
