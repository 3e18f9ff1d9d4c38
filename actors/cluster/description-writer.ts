import { crc32 } from 'node:zlib'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { TextItem } from '../../storage/records/log-items.ts'
import type { MarketView } from '../views.ts'

/** An item may have up to twice as many bytes and must fit a batch. */
const PART_CHARACTERS = 65_536

export class DescriptionWriter {
  readonly #writtenChecksums = new Map<MarketNumber, number>()

  remove(market: MarketView): void {
    this.#writtenChecksums.delete(market.ref.number)
  }

  *changedParts(market: MarketView): Iterable<TextItem> {
    const { number } = market.ref
    const text = textOf(market)
    const sum = crc32(text)
    // Each run writes every description once, even if an old checkpoint contains it.
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

/** An empty text means that the market has no description. */
const textOf = (market: MarketView): string => market.details().description ?? ''

export function* completeText(market: MarketView): Iterable<TextItem> {
  const text = textOf(market)
  if (text !== '') yield { kind: 'text', market: market.ref.number, from: 0, text }
}

/** Does not split surrogate pairs. */
function partOf(text: string, from: number): string {
  const part = text.slice(from, from + PART_CHARACTERS)
  const isCut = from + part.length < text.length && /[\uD800-\uDBFF]$/.test(part)
  return isCut ? part.slice(0, -1) : part
}
