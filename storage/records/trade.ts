// The packed record of one trade. The time and ordinal are in the key. Numbers are varints, hashes and addresses are
// bytes. Ids of venue a repeat the trade's own fields, so they are rebuilt from the fields.
//
//   flags | flags | price | size | usd, unless price × size | receivedAt - time |
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
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from '../../engine/varints.ts'
import type { StoredTrade } from '../contract/rows.ts'
import type { VenuePosition } from '../venue-trades.ts'
import { readInteger } from './keys.ts'
import type { RecordCodec } from './records.ts'

export interface TradeRecord {
  readonly trade: StoredTrade
  readonly venuePosition: VenuePosition | null
}

/** The token of each outcome of a venue a market. Trade ids of venue a contain it. */
export interface Tokens {
  /** Null if unknown. */
  get(market: number, outcomeIndex: number): string | null
  /** Stores the outcome's token if none is stored. Returns whether the stored token equals `token`. */
  offer(market: number, outcomeIndex: number, token: string): boolean
}

const SELL = 1
const BLOCK = 2
const DERIVED_USD = 4
const HAS_VENUE_POSITION = 8
/** The upper three bits are the outcome index. The value 7 is invalid. */
const OUTCOME_SHIFT = 5
const OUTCOME_MAX = 6
/**
 * Second byte: flags for optional numbers and for the units of price and size. The upper three bits are the form of the
 * id.
 */
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
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const HEX = /^0x(?:[0-9a-f]{2})+$/
/** After the transaction's hash, an id has either a part number or the fields of the trade. */
const PART = /^-part-(\d{1,15})$/
const FIELDS = /^-([^-]+)-.*-(\d{1,15})$/
/** The largest size for which usd is computed. Larger trades store usd. */
const DERIVED_SIZE_MAX = 1e14
/** A tenth of a cent and a hundredth of a contract. Most prices and sizes are multiples of these units. */
const PRICE_UNIT = 1_000
const SIZE_UNIT = 10_000
/** The stored number is the venue ordinal times VENUES_MAX, plus the venue's index in VENUE_KEYS. */
const VENUES_MAX = 8
const NUMBERS_MAX = 12

/** Schemas 1 to 3 belong to older formats that cannot be opened. */
export function tradeCodec(tokens: Tokens): RecordCodec<TradeRecord> {
  return {
    oldest: 4,
    newest: 4,
    encode: (record, key) => packTrade(key, record, tokens),
    decode: (body, key) => unpackTrade(key, body, tokens),
  }
}

function packTrade(key: Buffer, { trade, venuePosition }: TradeRecord, tokens: Tokens): Buffer {
  const { price, size, outcomeIndex, usd, maker, taker, txHash, run, offset, seq } = trade
  if (!(outcomeIndex >= 0 && outcomeIndex <= OUTCOME_MAX))
    throw new RangeError('the outcome index is invalid')
  const isDerived = usd === worth(price, size, outcomeIndex)
  const isCoarsePrice = price % PRICE_UNIT === 0
  const isCoarseSize = size % SIZE_UNIT === 0
  const id = idFormOf(key.readUInt32BE(0), trade, tokens)
  const names = [id.text, maker, taker, txHash]
  const characters = names.reduce((sum, name) => sum + (name?.length ?? 0), 0)
  const bytes = Buffer.allocUnsafe(2 + NUMBERS_MAX * varintBytesMax + 3 * characters)
  bytes[0] =
    (trade.side === 'sell' ? SELL : 0) +
    (trade.isBlock ? BLOCK : 0) +
    (isDerived ? DERIVED_USD : 0) +
    (venuePosition === null ? 0 : HAS_VENUE_POSITION) +
    (outcomeIndex << OUTCOME_SHIFT)
  bytes[1] =
    (run === null ? 0 : HAS_RUN) +
    (offset === null ? 0 : HAS_OFFSET) +
    (seq === null ? 0 : HAS_SEQ) +
    (isCoarsePrice ? COARSE_PRICE : 0) +
    (isCoarseSize ? COARSE_SIZE : 0) +
    (id.form << ID_SHIFT)
  let end = writeVarint(bytes, 2, isCoarsePrice ? price / PRICE_UNIT : price)
  end = writeVarint(bytes, end, isCoarseSize ? size / SIZE_UNIT : size)
  if (!isDerived) end = writeVarint(bytes, end, usd)
  end = writeSigned(bytes, end, trade.receivedAtMs - trade.timeMs)
  for (const number of [run, offset, seq])
    if (number !== null) end = writeVarint(bytes, end, number)
  if (venuePosition !== null) {
    const venue = VENUE_KEYS.indexOf(venuePosition.venue)
    end = writeVarint(bytes, end, venuePosition.ordinal * VENUES_MAX + venue)
  }
  if (id.form === ID_UUID) end += bytes.write(id.text.replaceAll('-', ''), end, 'hex')
  else if (id.form === ID_TEXT) end = writeText(bytes, end, id.text)
  else end = writeVarint(bytes, end, id.n)
  for (const name of [maker, taker, txHash]) end = writeText(bytes, end, name)
  return bytes.subarray(0, end)
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
  if (nativeId === null) throw new RangeError('the id cannot be restored')
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

/** The id that the connector of venue a builds from the trade's fields. Null if a part is unknown. */
function idOfFields(fields: IdFields, token: string | null, n: number): string | null {
  const { txHash, taker, side, size, price, outcomeIndex } = fields
  if (txHash === null || taker === null || token === null) return null
  const traded = outcomeIndex === 0 ? price : complement(price)
  return `${txHash}-${token}-${taker}-${side}-${size}-${traded}-${n}`
}

function idFormOf(market: number, trade: StoredTrade, tokens: Tokens) {
  const { nativeId, txHash, outcomeIndex } = trade
  if (UUID.test(nativeId)) return { form: ID_UUID, text: nativeId, n: 0 }
  const asText = { form: ID_TEXT, text: nativeId, n: 0 }
  if (txHash === null || !nativeId.startsWith(txHash)) return asText
  const rest = nativeId.slice(txHash.length)
  const part = PART.exec(rest)?.[1]
  if (part !== undefined && partId(txHash, Number(part)) === nativeId)
    return { form: ID_PART, text: '', n: Number(part) }
  const [, token = null, count] = FIELDS.exec(rest) ?? []
  const isOfFields = idOfFields(trade, token, Number(count)) === nativeId
  if (!isOfFields || token === null || !tokens.offer(market, outcomeIndex, token)) return asText
  return { form: ID_FIELDS, text: '', n: Number(count) }
}

/** The usd amount of price and size. Null if the product may be inexact. */
function worth(price: PriceMicros, size: SizeMicros, outcomeIndex: number): number | null {
  if (size > DERIVED_SIZE_MAX) return null
  return notionalMicros({ price: outcomeIndex === 0 ? price : complement(price), size })
}

/**
 * Writes a length header and then the bytes. The header is 0 for null. Otherwise it is twice the byte count, plus 1 for
 * text or 2 for the hex digits of a hash or an address.
 */
function writeText(bytes: Buffer, position: number, text: string | null): number {
  if (text === null) return writeVarint(bytes, position, 0)
  if (HEX.test(text)) {
    const next = writeVarint(bytes, position, text.length)
    return next + bytes.write(text.slice(2), next, 'hex')
  }
  const next = writeVarint(bytes, position, 2 * Buffer.byteLength(text) + 1)
  return next + bytes.write(text, next)
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
 * The fields are copied one by one. In Node 20, a spread of so many fields gives each object its own hidden class,
 * which costs some 450 bytes per trade.
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
