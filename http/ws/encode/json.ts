// Writes stream messages as JSON text by concatenation, without temporary objects.

import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { MarketTexts } from '../../records/render.ts'
import type { Reply } from './encoder.ts'
import {
  type Dated,
  type Encoder,
  type EncoderParts,
  type MessageKind,
  textsOf,
} from './encoder.ts'

/** The last three digits of a time. */
const THOUSANDTHS = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(3, '0'))

/** Caches the texts of each market it has written; bounded by the catalogue. */
export class JsonEncoder implements Encoder {
  readonly form = 'j'
  readonly isBinary = false
  readonly #parts: EncoderParts
  readonly #epoch: string
  readonly #texts = new Map<MarketNumber, MarketTexts>()
  /** The second of the last written time, which the next time probably shares. */
  #second = 1
  #secondText = '1'

  constructor(parts: EncoderParts) {
    this.#parts = parts
    this.#epoch = JSON.stringify(parts.epoch)
  }

  message<Content>(
    kind: MessageKind<Content>,
    market: MarketRef,
    stamp: Dated,
    content: Content,
    epoch?: string,
  ): string {
    const texts = this.#texts.get(market.number) ?? this.#textsOf(market)
    const quoted = epoch === undefined ? this.#epoch : JSON.stringify(epoch)
    const times = `"timestamp_ms":${this.#timeText(stamp.venueTimeMs)},"received_ms":${this.#timeText(stamp.receivedAtMs)},"published_ms":${this.#timeText(this.#parts.nowMs())}`
    return `${kind.jsonHead}"market_id":${texts.id},"epoch":${quoted},"offset":${stamp.offset},"seq":${stamp.seq},${times},${kind.fields.json(content, texts)}}`
  }

  reply(reply: Reply): string {
    return JSON.stringify({ ...reply, published_ms: this.#parts.nowMs() })
  }

  removeMarket(market: MarketNumber): void {
    this.#texts.delete(market)
  }

  #textsOf(ref: MarketRef): MarketTexts {
    const texts = textsOf(this.#parts.catalog, ref)
    if (texts.labels.length > 0) this.#texts.set(ref.number, texts)
    return texts
  }

  /** A time's digits. The digits of its second are cached, since formatting such a long number takes 100 ns. */
  #timeText(timeMs: TimeMs | null): string {
    if (timeMs === null) return 'null'
    const second = Math.floor(timeMs / 1_000)
    if (second < 1) return String(timeMs)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText = String(second)
    }
    return `${this.#secondText}${THOUSANDTHS[timeMs - second * 1_000]}`
  }
}
