// The ledger of one wallet. Settled events are on disk in blocks of one size and never change. The unsettled events
// follow in memory.
//
//   offset   0 … 511   512 … 1023   1024 … 1100   1101 … 1103
//            block 0   block 1      block 2       unsettled
//                                                 count 1101

import { setImmediate as nextTurn } from 'node:timers/promises'
import { assert } from '../../engine/errors.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { packBlock, unpackBlock } from '../../engine/wallets/ledger-block.ts'
import type { SliceQuery, WalletTable } from '../../storage/contract/storage.ts'
import { type WalletSide, walletSides } from '../../storage/contract/wallets.ts'

/** Packing a block of this size takes about a millisecond. */
export const blockEvents = 512

/** A block cannot be read, so the wallet must be synced from its beginning. */
export class LedgerDamage extends Error {}

/** An event with all events of its time and its index among them. */
interface EventWithOrdinal {
  readonly event: WalletEvent
  readonly ordinal: number
  readonly sameTime: readonly WalletEvent[]
}

/** Reading methods throw LedgerDamage. */
export class WalletLedger {
  readonly #table: Pick<WalletTable, 'block' | 'putBlock'>
  readonly #proxy: WalletAddress
  readonly #begin: number
  #count: number
  #unsettled: readonly WalletEvent[] = []
  #open: { readonly index: number; readonly events: readonly WalletEvent[] } | null = null
  readonly #firstMs = new Map<number, TimeMs>()

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

  get count(): number {
    return this.#count
  }

  get blockCount(): number {
    return Math.ceil(this.#count / blockEvents)
  }

  get lastMs(): TimeMs | null {
    return this.#count === 0 ? null : this.at(this.#count - 1).timeMs
  }

  get unsettled(): readonly WalletEvent[] {
    return this.#unsettled
  }

  /** The events must be in order, and none may precede the last settled event. */
  setUnsettled(events: readonly WalletEvent[]): void {
    this.#unsettled = events
  }

  /**
   * Appends settled events, one block per tick. They count when all are written. The next append overwrites blocks that
   * a crash left. Concurrent calls are not allowed.
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

  /** Returns the readable events of a damaged ledger, one block at a time. */
  *readable(): Iterable<readonly WalletEvent[]> {
    for (let index = 0; index < this.blockCount; index += 1) {
      const events = this.#unpacked(index) ?? []
      yield events.slice(0, this.#count - index * blockEvents)
    }
  }

  /** The caller may transfer the bytes to a worker thread. */
  bytesOf(index: number): Uint8Array<ArrayBuffer> {
    const bytes = this.#table.block(this.#proxy, this.#begin + index)
    if (bytes === null || this.#blockAt(index, blockEvents).length !== blockEvents) {
      throw new LedgerDamage(`block ${index} of ${this.#proxy} is incomplete`)
    }
    return bytes
  }

  /** The events at offsets [from, to). */
  events(from: number, to: number): readonly WalletEvent[] {
    return [...this.read(from, to)]
  }

  /** Offsets [from, to), one event at a time. */
  *read(from: number, to: number): Iterable<WalletEvent> {
    for (let position = from; position < to; position += 1) yield this.at(position)
  }

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
    const events = this.#unpacked(index)
    if (events === null || events.length < countMin) {
      throw new LedgerDamage(`block ${index} of ${this.#proxy} cannot be read`)
    }
    this.#open = { index, events }
    return events
  }

  #unpacked(index: number): readonly WalletEvent[] | null {
    const bytes = this.#table.block(this.#proxy, this.#begin + index)
    return bytes === null ? null : unpackBlock(bytes)
  }

  slice(query: SliceQuery): readonly EventWithOrdinal[] {
    const { fromMs, toMs, after, order, limit } = query
    const found: EventWithOrdinal[] = []
    const step = order === 'asc' ? 1 : -1
    let low = this.#firstAt(fromMs)
    let high = this.#firstAt(timeMs(Math.min(toMs + 1, Number.MAX_SAFE_INTEGER))) - 1
    if (after !== null) {
      const begin = this.#firstAt(after.timeMs)
      const position = begin + (after.ordinal ?? 0)
      const end = this.#firstAt(timeMs(after.timeMs + 1))
      // If the ordinal no longer exists, the page continues after all events of that time.
      if (order === 'asc')
        low = Math.max(low, after.ordinal === null ? end : Math.min(position + 1, end))
      else high = Math.min(high, (after.ordinal === null ? begin : Math.min(position, end)) - 1)
    }
    let same: { readonly begin: number; readonly events: readonly WalletEvent[] } | null = null
    for (
      let position = order === 'asc' ? low : high;
      position >= low && position <= high && found.length < limit;
      position += step
    ) {
      const event = this.at(position)
      if (same?.events[0]?.timeMs !== event.timeMs) same = this.#sameTime(position)
      found.push({ event, ordinal: position - same.begin, sameTime: same.events })
    }
    return found
  }

  #sameTime(position: number): { begin: number; events: readonly WalletEvent[] } {
    const { timeMs: atMs } = this.at(position)
    const isSame = (at: number): boolean => this.at(at).timeMs === atMs
    let begin = position
    while (begin > 0 && isSame(begin - 1)) begin -= 1
    let end = position + 1
    while (end < this.#count + this.#unsettled.length && isSame(end)) end += 1
    return { begin, events: this.events(begin, end) }
  }

  /** Offset of the first event at or after a time. The end if there is none. */
  #firstAt(atMs: TimeMs): number {
    const end = this.#count + this.#unsettled.length
    if (end === 0 || atMs <= 0) return 0
    if (this.at(end - 1).timeMs < atMs) return end
    // Only the first block that begins at or after the time, and the block before it, can contain the offset. First
    // times of blocks are cached, so that few blocks are read.
    const block = firstIndex(0, this.blockCount, (index) => this.#firstOf(index) >= atMs)
    const low = Math.max(0, block - 1) * blockEvents
    const high = block < this.blockCount ? block * blockEvents : end
    return firstIndex(low, high, (position) => this.at(position).timeMs >= atMs)
  }

  #firstOf(index: number): TimeMs {
    const firstMs = this.#firstMs.get(index) ?? this.at(index * blockEvents).timeMs
    this.#firstMs.set(index, firstMs)
    return firstMs
  }
}

/** Binary search for the first index in [low, high) for which `isReached` is true. `high` if there is none. */
function firstIndex(low: number, high: number, isReached: (index: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isReached(middle)) to = middle
    else from = middle + 1
  }
  return from
}
