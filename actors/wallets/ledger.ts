// The ledger of one wallet: its settled events on disk in blocks of one size, so that an event's offset determines its
// block. The unsettled events follow in memory. Events are in the order of the rules; events on disk never change.
//
//   offset   0 … 511   512 … 1023   1024 … 1100   1101 … 1103
//            block 0   block 1      block 2       unsettled
//                                                 count 1101

import { setImmediate as nextTurn } from 'node:timers/promises'
import { assert } from '../../engine/errors.ts'
import type { NativeMarketId, WalletAddress } from '../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletEvent, WalletEventKind } from '../../engine/wallet.ts'
import { packBlock, unpackBlock } from '../../engine/wallets/ledger-block.ts'
import type { SliceQuery } from '../../storage/contract/storage.ts'
import { type WalletSide, type WalletTable, walletSides } from '../../storage/contract/wallets.ts'

/** Packing this many takes about a millisecond. */
export const blockEvents = 512

/** A block cannot be read: the wallet must be synced from its beginning. */
export class LedgerDamage extends Error {}

/** An event and its index among the wallet's events of that time. */
interface EventWithOrdinal {
  readonly event: WalletEvent
  readonly ordinal: number
  /** No other event has its time. */
  readonly isAlone: boolean
}

type LedgerQuery = SliceQuery & {
  readonly kinds: readonly WalletEventKind[] | null
  readonly market: NativeMarketId | null
}

/** Reading methods throw LedgerDamage. */
export class WalletLedger {
  readonly #table: Pick<WalletTable, 'block' | 'putBlock'>
  readonly #proxy: WalletAddress
  /** Number of the first block on disk. */
  readonly #begin: number
  #count: number
  #unsettled: readonly WalletEvent[] = []
  /** The block that was read last. */
  #open: { readonly index: number; readonly events: readonly WalletEvent[] } | null = null
  /** Time of the first event of each block that was read. */
  readonly #firstMs = new Map<number, TimeMs>()

  /** The ledger of the first `count` events on disk on this side. */
  constructor(
    table: Pick<WalletTable, 'block' | 'putBlock'>,
    proxy: WalletAddress,
    { count, side }: { readonly count: number; readonly side: WalletSide },
  ) {
    this.#table = table
    this.#proxy = proxy
    this.#begin = walletSides[side]
    this.#count = count
  }

  /** Number of settled events. */
  get count(): number {
    return this.#count
  }

  get blockCount(): number {
    return Math.ceil(this.#count / blockEvents)
  }

  /** Time of the last settled event; null: none. */
  get lastMs(): TimeMs | null {
    return this.#count === 0 ? null : this.at(this.#count - 1).timeMs
  }

  get unsettled(): readonly WalletEvent[] {
    return this.#unsettled
  }

  /** In order, and none before the last settled one. */
  setUnsettled(events: readonly WalletEvent[]): void {
    this.#unsettled = events
  }

  /**
   * Appends settled events, one block per tick, and counts them when all are written: blocks left by a crash are
   * overwritten. One call at a time.
   */
  async append(events: readonly WalletEvent[]): Promise<void> {
    let written = 0
    while (written < events.length) {
      if (written > 0) await nextTurn()
      const position = this.#count + written
      const index = Math.floor(position / blockEvents)
      const stored = position % blockEvents
      const before = stored === 0 ? [] : this.#blockAt(index, stored).slice(0, stored)
      const added = events.slice(written, written + blockEvents - before.length)
      this.#table.putBlock(this.#proxy, this.#begin + index, packBlock([...before, ...added]))
      this.#open = null
      this.#firstMs.delete(index)
      written += added.length
    }
    this.#count += events.length
  }

  /** The readable events of a damaged ledger, one block at a time. */
  *readable(): Iterable<readonly WalletEvent[]> {
    for (let index = 0; index < this.blockCount; index += 1) {
      const events = this.#read(index) ?? []
      yield events.slice(0, this.#count - index * blockEvents)
    }
  }

  /** The bytes of a full block; the caller may transfer them to a thread. */
  bytesOf(index: number): Uint8Array<ArrayBuffer> {
    const bytes = this.#table.block(this.#proxy, this.#begin + index)
    if (bytes === null || this.#blockAt(index, blockEvents).length !== blockEvents) {
      throw new LedgerDamage(`block ${index} of ${this.#proxy} is not whole`)
    }
    return bytes
  }

  /** The settled events at offsets [from, to). */
  events(from: number, to: number): readonly WalletEvent[] {
    return Array.from({ length: to - from }, (_, index) => this.at(from + index))
  }

  /** The event at an offset, settled or not. */
  at(position: number): WalletEvent {
    const unsettled = this.#unsettled[position - this.#count]
    if (unsettled !== undefined) return unsettled
    const inBlock = position % blockEvents
    const event = this.#blockAt(Math.floor(position / blockEvents), inBlock + 1)[inBlock]
    assert(event !== undefined && position < this.#count, 'a settled event has an offset')
    return event
  }

  #blockAt(index: number, countMin: number): readonly WalletEvent[] {
    if (this.#open?.index === index) return this.#open.events
    const events = this.#read(index)
    if (events === null || events.length < countMin) {
      throw new LedgerDamage(`block ${index} of ${this.#proxy} cannot be read`)
    }
    this.#open = { index, events }
    return events
  }

  #read(index: number): readonly WalletEvent[] | null {
    const bytes = this.#table.block(this.#proxy, this.#begin + index)
    return bytes === null ? null : unpackBlock(bytes)
  }

  // Queries

  /** The events of one time, in order: an event's ordinal is its index among them. */
  eventsAt(atMs: TimeMs): readonly WalletEvent[] {
    const begin = this.#firstAt(atMs)
    const end = this.#firstAt(timeMs(atMs + 1))
    return Array.from({ length: end - begin }, (_, index) => this.at(begin + index))
  }

  /** At most `limit` events of a range after a position: see SliceQuery. */
  slice(query: LedgerQuery): readonly EventWithOrdinal[] {
    const { fromMs, toMs, after, order, limit, kinds, market } = query
    const found: EventWithOrdinal[] = []
    const step = order === 'asc' ? 1 : -1
    let low = this.#firstAt(fromMs)
    let high = this.#firstAt(timeMs(Math.min(toMs + 1, Number.MAX_SAFE_INTEGER))) - 1
    if (after !== null) {
      const begin = this.#firstAt(after.timeMs)
      const position = begin + (after.ordinal ?? 0)
      const end = this.#firstAt(timeMs(after.timeMs + 1))
      // An ordinal that no longer exists means all events of its time.
      if (order === 'asc')
        low = Math.max(low, after.ordinal === null ? end : Math.min(position + 1, end))
      else high = Math.min(high, (after.ordinal === null ? begin : Math.min(position, end)) - 1)
    }
    let [sameMs, begin] = [-1, 0]
    for (
      let position = order === 'asc' ? low : high;
      position >= low && position <= high;
      position += step
    ) {
      if (found.length >= limit) break
      const event = this.#matching(position, kinds, market)
      if (event === null) continue
      if (event.timeMs !== sameMs) [sameMs, begin] = [event.timeMs, this.#beginOf(position)]
      const isAlone = begin === position && this.#timeOrNone(position + 1) !== sameMs
      found.push({ event, ordinal: position - begin, isAlone })
    }
    return found
  }

  /** Offset of the first event of the same time. It is usually the same offset, so the search goes backwards. */
  #beginOf(position: number): number {
    const atMs = this.at(position).timeMs
    let begin = position
    while (this.#timeOrNone(begin - 1) === atMs) begin -= 1
    return begin
  }

  /** Null outside the ledger. */
  #timeOrNone(position: number): TimeMs | null {
    const isInside = position >= 0 && position < this.#count + this.#unsettled.length
    return isInside ? this.at(position).timeMs : null
  }

  #matching(
    position: number,
    kinds: readonly WalletEventKind[] | null,
    market: NativeMarketId | null,
  ): WalletEvent | null {
    const event = this.at(position)
    if (kinds !== null && !kinds.includes(event.kind)) return null
    const isOf = market === null || event.market === market || event.converted.includes(market)
    return isOf ? event : null
  }

  /** Offset of the first event at or after a time; the end if there is none. */
  #firstAt(atMs: TimeMs): number {
    let low = 0
    let high = this.#count + this.#unsettled.length
    // Fast path: most queries request the whole ledger.
    if (high === 0 || atMs <= 0) return 0
    if (this.at(high - 1).timeMs < atMs) return high
    // Searches blocks first: their first times are cached, so that few of them are opened.
    let lowBlock = 0
    let highBlock = this.blockCount
    while (lowBlock < highBlock) {
      const middle = (lowBlock + highBlock) >>> 1
      if (this.#firstOf(middle) < atMs) lowBlock = middle + 1
      else highBlock = middle
    }
    // All blocks from here on begin at or after the time: the offset is in the previous block, or the first of this
    // one.
    low = Math.max(0, lowBlock - 1) * blockEvents
    if (lowBlock < this.blockCount) high = lowBlock * blockEvents
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.at(middle).timeMs < atMs) low = middle + 1
      else high = middle
    }
    return low
  }

  #firstOf(index: number): TimeMs {
    const cached = this.#firstMs.get(index)
    if (cached !== undefined) return cached
    const firstMs = this.at(index * blockEvents).timeMs
    this.#firstMs.set(index, firstMs)
    return firstMs
  }
}
