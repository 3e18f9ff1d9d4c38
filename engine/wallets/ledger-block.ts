// The events of a wallet as blocks of packed bytes, which are stored permanently: columns of fixed width,
// and each token, market and transaction once per block. Decoding is lazy.
//
//   sections: count and flags | seconds u32 | kind + role u8 | market u16 | token + 1 u16 | transaction u16
//           | price u32 | size f64 | usd f64 | fee f64, if any | milliseconds u16, if any
//           | conversions u32: event, count, markets … | markets | tokens | transactions (two sections each)

import { type NativeMarketId, nativeMarketId, outcomeId } from '../ids.ts'
import {
  MICROS,
  priceMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  USD_ZERO,
  usdMicros,
} from '../units.ts'
import { WALLET_EVENT_KINDS, type WalletEvent, type WalletRole } from '../wallet.ts'
import { IntegerColumn, WordColumn } from './columns.ts'
import { openSections, packSections } from './sections.ts'
import { TextTable } from './text-table.ts'

/** Maximum number of events in a block. More indicate a bug. */
export const LEDGER_BLOCK_EVENTS_MAX = 4_096

/** "led" and the version of the layout. */
const MARK = 0x6c_65_64_01
const HAS_FEES = 1
const HAS_MILLIS = 2
const FLAGS_ALL = 3
const SECOND_MS = 1_000
const UINT32_MAX = 0xffff_ffff
const ROLES: readonly WalletRole[] = [null, 'taker', 'maker']

/** One byte: the three low bits of the kind, two bits of the role, the remaining bits of the kind. */
function formOf({ kind, role }: WalletEvent): number {
  const number = WALLET_EVENT_KINDS.indexOf(kind)
  return (number & 7) | (ROLES.indexOf(role) << 3) | ((number >> 3) << 5)
}
const kindIn = (form: number): number => (form & 7) | ((form >> 5) << 3)
const roleIn = (form: number): number => (form >> 3) & 3

/** Packs events in order. Throws RangeError for more events than a block holds, or for one before 1970. */
export function packBlock(events: readonly WalletEvent[]): Uint8Array<ArrayBuffer> {
  const count = events.length
  if (count > LEDGER_BLOCK_EVENTS_MAX) throw new RangeError(`${count} events are no block`)
  const markets = TextTable.empty()
  const tokens = TextTable.empty()
  const transactions = TextTable.empty()
  const seconds = WordColumn.empty()
  const prices = WordColumn.empty()
  const conversions = WordColumn.empty()
  const sizes = IntegerColumn.empty()
  const dollars = IntegerColumn.empty()
  const fees = IntegerColumn.empty()
  const forms = new Uint8Array(count)
  const textNumbers = new Uint16Array(count * 3)
  const millis = new Uint16Array(count)
  let flags = 0
  for (const [index, event] of events.entries()) {
    const second = Math.floor(event.timeMs / SECOND_MS)
    if (second < 0 || second > UINT32_MAX)
      throw new RangeError(`${event.timeMs} is no event's time`)
    seconds.push(second)
    millis[index] = event.timeMs - second * SECOND_MS
    if (millis[index] !== 0) flags |= HAS_MILLIS
    forms[index] = formOf(event)
    textNumbers[index] = markets.add(event.market)
    textNumbers[count + index] = event.token === null ? 0 : tokens.add(event.token) + 1
    textNumbers[2 * count + index] = transactions.add(event.txHash)
    prices.push(event.price)
    sizes.push(event.size)
    dollars.push(event.usd)
    fees.push(event.fee)
    if (event.fee !== 0) flags |= HAS_FEES
  }
  // These come after the events' own markets, which must have the low numbers. Their number is unbounded.
  for (const [index, { converted }] of events.entries()) {
    if (converted.length === 0) continue
    conversions.push(index)
    conversions.push(converted.length)
    for (const id of converted) conversions.push(markets.add(id))
  }
  return packSections(MARK, [
    bytesOf(new Uint32Array([count, flags])),
    seconds.bytes(),
    forms,
    bytesOf(textNumbers),
    prices.bytes(),
    sizes.bytes(),
    dollars.bytes(),
    (flags & HAS_FEES) === 0 ? NOTHING : fees.bytes(),
    (flags & HAS_MILLIS) === 0 ? NOTHING : bytesOf(millis),
    conversions.bytes(),
    ...markets.sections(),
    ...tokens.sections(),
    ...transactions.sections(),
  ])
}

interface BlockParts {
  readonly seconds: WordColumn
  readonly forms: Uint8Array<ArrayBuffer>
  /** Markets, then tokens + 1, then transactions. */
  readonly textNumbers: Uint16Array<ArrayBuffer>
  readonly prices: WordColumn
  readonly sizes: IntegerColumn
  readonly dollars: IntegerColumn
  readonly fees: IntegerColumn | null
  readonly millis: Uint16Array<ArrayBuffer> | null
  readonly converted: ReadonlyMap<number, readonly number[]>
  readonly markets: TextTable
  readonly tokens: TextTable
  readonly transactions: TextTable
}

/** A view of a block's bytes, which must not change while it is read. */
export class LedgerBlock {
  readonly count: number
  readonly #parts: BlockParts
  readonly #hasHashes: boolean

  private constructor(count: number, parts: BlockParts, hasHashes: boolean) {
    this.count = count
    this.#parts = parts
    this.#hasHashes = hasHashes
  }

  /**
   * Null when the bytes are damaged or of another version. No event of them is readable then. With
   * `hasHashes` false every `txHash` is '', for readers that do not need it: decoding it is a third of
   * reading an event.
   */
  static open(bytes: Uint8Array, { hasHashes } = { hasHashes: true }): LedgerBlock | null {
    const sections = openSections(MARK, bytes)
    if (sections === null || sections.length !== 16) return null
    const [head, ...columns] = sections
    if (head?.byteLength !== 8) return null
    const view = new DataView(head.buffer, head.byteOffset)
    const count = view.getUint32(0, true)
    const flags = view.getUint32(4, true)
    if (count > LEDGER_BLOCK_EVENTS_MAX || flags > FLAGS_ALL) return null
    const parts = openParts(columns, { count, flags })
    return parts === null ? null : new LedgerBlock(count, parts, hasHashes)
  }

  /** Throws RangeError unless 0 ≤ index < count. */
  event(index: number): WalletEvent {
    if (!(index >= 0 && index < this.count)) throw new RangeError(`no event ${index} in the block`)
    const parts = this.#parts
    const { textNumbers, markets } = parts
    const form = parts.forms[index] ?? 0
    const token = textNumbers[this.count + index] ?? 0
    const converted = parts.converted.get(index)
    return {
      kind: WALLET_EVENT_KINDS[kindIn(form)] ?? 'income',
      timeMs: this.timeMs(index),
      txHash: this.#hasHashes
        ? parts.transactions.text(textNumbers[2 * this.count + index] ?? 0)
        : '',
      market: nativeMarketId(markets.text(textNumbers[index] ?? 0)),
      token: token === 0 ? null : outcomeId(parts.tokens.text(token - 1)),
      size: sizeMicros(parts.sizes.at(index)),
      price: priceMicros(parts.prices.at(index)),
      usd: usdMicros(parts.dollars.at(index)),
      fee: parts.fees === null ? USD_ZERO : usdMicros(parts.fees.at(index)),
      role: ROLES[roleIn(form)] ?? null,
      converted:
        converted?.map((marketNumber) => nativeMarketId(markets.text(marketNumber))) ?? NONE,
    }
  }

  /** Throws RangeError unless 0 ≤ index < count. */
  timeMs(index: number): TimeMs {
    if (!(index >= 0 && index < this.count)) throw new RangeError(`no event ${index} in the block`)
    const { seconds, millis } = this.#parts
    return timeMs(seconds.at(index) * SECOND_MS + (millis?.[index] ?? 0))
  }

  *events(): Generator<WalletEvent> {
    for (let index = 0; index < this.count; index += 1) yield this.event(index)
  }

  /** The distinct markets that its events name. '' is none. */
  markets(): NativeMarketId[] {
    const { markets } = this.#parts
    const ids: NativeMarketId[] = []
    for (let number = 0; number < markets.count; number += 1) {
      const id = markets.text(number)
      if (id !== '') ids.push(nativeMarketId(id))
    }
    return ids
  }
}

const NOTHING = new Uint8Array(0)
const NONE: readonly NativeMarketId[] = []

function bytesOf(words: Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>) {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}

/** Opens sections as columns. Null unless every number in them is valid for its meaning. */
function openParts(
  columns: readonly Uint8Array<ArrayBuffer>[],
  { count, flags }: { count: number; flags: number },
): BlockParts | null {
  const at = (section: number): Uint8Array<ArrayBuffer> => columns[section] ?? NOTHING
  const markets = TextTable.over(at(9), at(10))
  const tokens = TextTable.over(at(11), at(12))
  const transactions = TextTable.over(at(13), at(14))
  const seconds = WordColumn.over(at(0), count, UINT32_MAX)
  const prices = WordColumn.over(at(3), count, MICROS)
  const sizes = IntegerColumn.over(at(4), count)
  const dollars = IntegerColumn.over(at(5), count)
  const hasFees = (flags & HAS_FEES) !== 0
  const hasMillis = (flags & HAS_MILLIS) !== 0
  const fees = IntegerColumn.over(at(6), hasFees ? count : 0)
  if (at(1).byteLength !== count || at(2).byteLength !== count * 6) return null
  if (at(7).byteLength !== (hasMillis ? count * 2 : 0)) return null
  if (markets === null || tokens === null || transactions === null || fees === null) return null
  if (seconds === null || prices === null || sizes === null || dollars === null) return null
  const textNumbers = new Uint16Array(at(2).buffer, at(2).byteOffset, count * 3)
  const forms = at(1)
  for (let index = 0; index < count; index += 1) {
    const form = forms[index] ?? 0
    if (kindIn(form) >= WALLET_EVENT_KINDS.length || roleIn(form) >= ROLES.length) return null
    if ((textNumbers[index] ?? 0) >= markets.count) return null
    if ((textNumbers[count + index] ?? 0) > tokens.count) return null
    if ((textNumbers[2 * count + index] ?? 0) >= transactions.count) return null
  }
  const converted = openConversions(at(8), { count, marketCount: markets.count })
  if (converted === null) return null
  return {
    ...{
      seconds,
      forms,
      textNumbers,
      prices,
      sizes,
      dollars,
      converted,
      markets,
      tokens,
      transactions,
    },
    fees: hasFees ? fees : null,
    millis: hasMillis ? new Uint16Array(at(7).buffer, at(7).byteOffset, count) : null,
  }
}

function openConversions(
  bytes: Uint8Array<ArrayBuffer>,
  { count, marketCount }: { count: number; marketCount: number },
): Map<number, readonly number[]> | null {
  const words = WordColumn.over(bytes, Math.floor(bytes.byteLength / 4), UINT32_MAX)
  if (words === null) return null
  const converted = new Map<number, readonly number[]>()
  for (let position = 0; position < words.count; ) {
    const index = words.at(position)
    const idCount = words.at(position + 1)
    if (index >= count || idCount === 0 || position + 2 + idCount > words.count) return null
    const ids = Array.from({ length: idCount }, (_, offset) => words.at(position + 2 + offset))
    if (ids.some((id) => id >= marketCount)) return null
    converted.set(index, ids)
    position += 2 + idCount
  }
  return converted
}
