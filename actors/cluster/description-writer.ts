// The descriptions of markets, which are on the engine's disk and in the memory of gateways: told when they change.

import { crc32 } from 'node:zlib'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { TextItem } from '../../storage/records/log-items.ts'
import type { MarketView } from '../views.ts'

/** Characters of one item: a batch has room for twice its bytes. */
const PART_CHARACTERS = 65_536

export class DescriptionWriter {
  /** CRC-32 of the last text that was told of each market; bounded by the markets. */
  readonly #writtenChecksums = new Map<MarketNumber, number>()

  remove(market: MarketView): void {
    this.#writtenChecksums.delete(market.ref.number)
  }

  /** What is to be told of a market that was listed: nothing, or its text in parts. */
  *changedParts(market: MarketView): Iterable<TextItem> {
    const { number } = market.ref
    const text = textOf(market)
    const sum = crc32(text)
    // Whose text was never told is told once, though a checkpoint may have it.
    if (this.#writtenChecksums.get(number) === sum) return
    this.#writtenChecksums.set(number, sum)
    let from = 0
    do {
      const part = partOf(text, from)
      yield { kind: 'text', market: number, from, text: part }
      from += part.length
    } while (from < text.length)
  }
}

/** Nothing stands for none. */
const textOf = (market: MarketView): string => market.details().description ?? ''

/** The whole text of a market that has one, for a checkpoint. */
export function* completeText(market: MarketView): Iterable<TextItem> {
  const text = textOf(market)
  if (text !== '') yield { kind: 'text', market: market.ref.number, from: 0, text }
}

/** Never half a character. */
function partOf(text: string, from: number): string {
  const part = text.slice(from, from + PART_CHARACTERS)
  const isCut = from + part.length < text.length && /[\uD800-\uDBFF]$/.test(part)
  return isCut ? part.slice(0, -1) : part
}
