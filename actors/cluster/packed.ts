// Compressed blocks of checkpoint items. A block is reused in the next checkpoint until one of its markets changes.
// Most markets do not change between two checkpoints.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Clock } from '../../engine/clock.ts'
import { isItem, type RawItem, unpackAll } from '../../engine/cluster/batch.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { encoded } from '../../engine/msgpack-writer.ts'
import {
  type LogItem,
  type PackedItem,
  packedIn,
  writeItem,
} from '../../storage/records/log-items.ts'
import type { MarketView } from '../views.ts'

/** Items or markets per block. A block takes about 3 ms to build or read. */
const BLOCK_ITEMS = 128
const FASTEST = { level: 1 }
/** An item that inflates to more bytes is damaged. */
const INFLATED = { maxOutputLength: 64 * 1_024 * 1_024, chunkSize: 131_072 }
const SLICE_MS = 8

function packedOf(items: Iterable<LogItem>, texts: PackedItem['texts'] = null): PackedItem {
  const bytes = encoded((writer) => {
    for (const item of items) writeItem(writer, item)
  })
  return { kind: 'packed', packed: deflateRawSync(bytes, FASTEST), texts }
}

export function* inBlocks(items: Iterable<LogItem>): Iterable<LogItem> {
  let block: LogItem[] = []
  for (const item of items) {
    if (block.push(item) < BLOCK_ITEMS) continue
    yield packedOf(block)
    block = []
  }
  if (block.length > 0) yield packedOf(block)
}

export class CachedBlocks<Market extends Pick<MarketView, 'ref'>> {
  readonly #market: (number: MarketNumber) => Market | null
  readonly #itemsOf: (market: Market) => Iterable<LogItem>
  readonly #isOfTexts: boolean
  readonly #blocks = new Map<number, LogItem>()

  constructor(
    market: (number: MarketNumber) => Market | null,
    itemsOf: (market: Market) => Iterable<LogItem>,
    isOfTexts = false,
  ) {
    this.#market = market
    this.#itemsOf = itemsOf
    this.#isOfTexts = isOfTexts
  }

  touch({ ref }: Pick<MarketView, 'ref'>): void {
    this.#blocks.delete(blockOf(ref.number))
  }

  *blocks(markets: Iterable<Pick<MarketView, 'ref'>>): Iterable<LogItem> {
    const blocks = new Set<number>()
    for (const { ref } of markets) blocks.add(blockOf(ref.number))
    for (const block of blocks) {
      const packed = this.#blocks.get(block) ?? this.#packed(block)
      this.#blocks.set(block, packed)
      yield packed
    }
    for (const block of this.#blocks.keys()) if (!blocks.has(block)) this.#blocks.delete(block)
  }

  #packed(block: number): LogItem {
    const [from, to] = [block * BLOCK_ITEMS, (block + 1) * BLOCK_ITEMS]
    return packedOf(this.#itemsIn(from, to), this.#isOfTexts ? { from, to } : null)
  }

  *#itemsIn(from: MarketNumber, to: MarketNumber): Iterable<LogItem> {
    for (let number = from; number < to; number += 1) {
      const market = this.#market(number)
      if (market !== null) yield* this.#itemsOf(market)
    }
  }
}

const blockOf = (number: MarketNumber): number => Math.floor(number / BLOCK_ITEMS)

/**
 * Reads all items of a checkpoint in order and in time slices. `onTexts` receives the compressed blocks of
 * descriptions. Rejects with an Error for an unreadable block.
 */
export async function takeBlocks(
  items: readonly RawItem[],
  clock: Pick<Clock, 'monotonicMs'>,
  take: (item: RawItem) => void,
  onTexts: (texts: PackedTexts) => void = (texts) => itemsIn(texts.packed).forEach(take),
): Promise<void> {
  let startedMs = clock.monotonicMs()
  for (const raw of items) {
    const block = packedIn(raw)
    if (block === null) take(raw)
    else if (block.texts !== null) onTexts({ ...block.texts, packed: block.packed })
    else for (const item of itemsIn(block.packed)) take(item)
    if (clock.monotonicMs() - startedMs < SLICE_MS) continue
    await nextTurn()
    startedMs = clock.monotonicMs()
  }
}

/** A compressed block of the descriptions of market numbers from `from` up to, but not including, `to`. */
export interface PackedTexts {
  readonly from: MarketNumber
  readonly to: MarketNumber
  readonly packed: Uint8Array
}

/** Throws an Error for an unreadable block. */
export function itemsIn(packed: Uint8Array): readonly RawItem[] {
  const bytes = inflateRawSync(packed, INFLATED)
  const values = bytes.length === 0 ? [] : unpackAll(bytes)
  if (values === null || !values.every(isItem)) throw new Error('a block cannot be read')
  return values
}
