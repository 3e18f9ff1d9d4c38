// Descriptions of markets at a gateway. A checkpoint's descriptions stay compressed until a client requests one, because
// most are never requested. A description that arrives after the checkpoint replaces the checkpoint's description.

import type { MarketNumber } from '../../engine/market/market.ts'
import { readItem, type TextItem } from '../../storage/records/log-items.ts'
import { itemsIn, type PackedTexts } from '../cluster/packed.ts'

export class MirrorDescriptions {
  readonly #texts = new Map<MarketNumber, string>()
  readonly #packed: PackedTexts[] = []
  readonly #onDamaged: () => void

  constructor(onDamaged: () => void) {
    this.#onDamaged = onDamaged
  }

  addBlock({ from, to, packed }: PackedTexts): void {
    // A copy, because a slice would keep the complete checkpoint in memory.
    this.#packed.push({ from, to, packed: Uint8Array.from(packed) })
  }

  of(market: MarketNumber): string | null {
    this.#open(market)
    return this.#texts.get(market) ?? null
  }

  take({ market, from, text }: TextItem): void {
    this.#open(market)
    this.#put({ market, from, text })
  }

  remove(market: MarketNumber): void {
    this.#open(market)
    this.#texts.delete(market)
  }

  #put({ market, from, text }: Omit<TextItem, 'kind'>): void {
    const complete = (this.#texts.get(market) ?? '').slice(0, from) + text
    if (complete === '') this.#texts.delete(market)
    else this.#texts.set(market, complete)
  }

  #open(market: MarketNumber): void {
    const index = this.#packed.findIndex(({ from, to }) => from <= market && market < to)
    const [block] = index < 0 ? [] : this.#packed.splice(index, 1)
    if (block === undefined) return
    try {
      for (const raw of itemsIn(block.packed)) {
        const item = readItem(raw, () => null)
        if (typeof item === 'string' || item.kind !== 'text')
          throw new Error('the block contains an item that is not a text')
        this.#put(item)
      }
    } catch {
      this.#onDamaged()
    }
  }
}
