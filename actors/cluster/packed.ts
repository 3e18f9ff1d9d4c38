// Blocks of items of a checkpoint, deflated: those of neighbouring markets, which are kept for the next checkpoint until one
// of these markets changes, since most of a hundred thousand do not within ten seconds; and how a reader opens them.

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

/** Items or markets of a block: gathered and deflated within some 3 ms, and read within as much. */
const BLOCK_ITEMS = 128
const FASTEST = { level: 1 }
/** A block that would become larger is damaged; most are inflated in one step. */
const INFLATED = { maxOutputLength: 64 * 1_024 * 1_024, chunkSize: 131_072 }
/** Blocks are taken for so long without a turn of the loop. */
const SLICE_MS = 8

/** A block of these items. */
function packedOf(items: Iterable<LogItem>, texts: PackedItem['texts'] = null): PackedItem {
  const bytes = encoded((writer) => {
    for (const item of items) writeItem(writer, item)
  })
  return { kind: 'packed', packed: deflateRawSync(bytes, FASTEST), texts }
}

/** All these items, in blocks. */
export function* inBlocks(items: Iterable<LogItem>): Iterable<LogItem> {
  let block: LogItem[] = []
  for (const item of items) {
    if (block.push(item) < BLOCK_ITEMS) continue
    yield packedOf(block)
    block = []
  }
  if (block.length > 0) yield packedOf(block)
}

/** What a checkpoint says of each market, in blocks that are kept until one of their markets is touched. */
export class CachedBlocks<Market extends Pick<MarketView, 'ref'>> {
  readonly #market: (number: MarketNumber) => Market | null
  readonly #itemsOf: (market: Market) => Iterable<LogItem>
  readonly #isOfTexts: boolean
  /** By the number of the block; one that changed is not there. */
  readonly #blocks = new Map<number, LogItem>()

  /** `isOfTexts`: items are texts alone. */
  constructor(
    market: (number: MarketNumber) => Market | null,
    itemsOf: (market: Market) => Iterable<LogItem>,
    isOfTexts = false,
  ) {
    this.#market = market
    this.#itemsOf = itemsOf
    this.#isOfTexts = isOfTexts
  }

  /** What is said of the market may be something else: the next checkpoint asks again. */
  touch({ ref }: Pick<MarketView, 'ref'>): void {
    this.#blocks.delete(blockOf(ref.number))
  }

  /** What is said of all these markets. */
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
 * Takes all items of a checkpoint in their order, a few milliseconds at a time; a block of texts alone goes to `keep`, where that
 * is given, as it is. Rejects with an Error for a block that cannot be read.
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

/** Texts of markets from a number up to before another, as a checkpoint has them. */
export interface PackedTexts {
  readonly from: MarketNumber
  readonly to: MarketNumber
  readonly packed: Uint8Array
}

/** What is in a block. Throws an Error for one that cannot be read. */
export function itemsIn(packed: Uint8Array): readonly RawItem[] {
  const bytes = inflateRawSync(packed, INFLATED)
  const values = bytes.length === 0 ? [] : unpackAll(bytes)
  if (values === null || !values.every(isItem)) throw new Error('a block cannot be read')
  return values
}
