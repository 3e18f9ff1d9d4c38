// The descriptions of markets, which are on the engine's disk and in the memory of gateways: told when they change, and kept
// deflated by blocks of neighbouring markets for checkpoints, since reading a hundred thousand from disk takes seconds.
// Not for: rows of markets (feeder.ts). Upholds FEEDTEXT1.

import { crc32, deflateRawSync } from 'node:zlib'
import type { MarketNumber } from '../../engine/market/market.ts'
import { encoded } from '../../engine/msgpack-writer.ts'
import { type LogItem, type TextItem, writeItem } from '../../storage/records/log-items.ts'
import type { CatalogView, MarketView } from '../views.ts'

/** Markets of a block: read and deflated within a slice of time, some 3 ms. */
const BLOCK_MARKETS = 128
/** Characters of one item: a batch has room for twice its bytes. */
const PART_CHARACTERS = 65_536
const FASTEST = { level: 1 }

export class Texts {
  readonly #catalog: Pick<CatalogView, 'byNumber'>
  /** CRC-32 of the last text that was told of each market; bounded by the markets. */
  readonly #told = new Map<MarketNumber, number>()
  /** By the number of the block; one that changed is not there. */
  readonly #blocks = new Map<number, Uint8Array>()

  constructor(catalog: Pick<CatalogView, 'byNumber'>) {
    this.#catalog = catalog
  }

  /** The market's text may be another one: the next checkpoint reads it. */
  touch({ ref }: MarketView): void {
    this.#blocks.delete(blockOf(ref.number))
  }

  forget(market: MarketView): void {
    this.#told.delete(market.ref.number)
    this.touch(market)
  }

  /** What is to be told of a market that was listed: nothing, or its text in parts. */
  *news(market: MarketView): Iterable<TextItem> {
    const { number } = market.ref
    const text = textOf(market)
    const sum = crc32(text)
    // Whose text was never told is told once, though a checkpoint may have it.
    if (this.#told.get(number) === sum) return
    this.#told.set(number, sum)
    let from = 0
    do {
      const part = partOf(text, from)
      yield { kind: 'text', market: number, from, text: part }
      from += part.length
    } while (from < text.length)
  }

  /** The texts of all these markets. */
  *blocks(markets: Iterable<MarketView>): Iterable<LogItem> {
    const blocks = new Set<number>()
    for (const { ref } of markets) blocks.add(blockOf(ref.number))
    for (const block of blocks) {
      const packed = this.#blocks.get(block) ?? this.#pack(block)
      this.#blocks.set(block, packed)
      yield { kind: 'texts', packed }
    }
    for (const block of this.#blocks.keys()) if (!blocks.has(block)) this.#blocks.delete(block)
  }

  #pack(block: number): Uint8Array {
    const items = encoded((writer) => {
      const first = block * BLOCK_MARKETS
      for (let number = first; number < first + BLOCK_MARKETS; number += 1) {
        const market = this.#catalog.byNumber(number)
        const text = market === null ? '' : textOf(market)
        if (text !== '') writeItem(writer, { kind: 'text', market: number, from: 0, text })
      }
    })
    return deflateRawSync(items, FASTEST)
  }
}

const blockOf = (number: MarketNumber): number => Math.floor(number / BLOCK_MARKETS)

/** Nothing stands for none. */
const textOf = (market: MarketView): string => market.details().description ?? ''

/** Never half a character. */
function partOf(text: string, from: number): string {
  const part = text.slice(from, from + PART_CHARACTERS)
  const isCut = from + part.length < text.length && /[\uD800-\uDBFF]$/.test(part)
  return isCut ? part.slice(0, -1) : part
}
