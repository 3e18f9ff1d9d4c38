// Writes stream messages as JSON text by concatenation, without temporary objects.

import type { MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { quoted } from '../../records/render.ts'
import type { Dated, Encoder, EncoderParts, MessageKind, Reply } from './encoder.ts'

const MILLISECONDS = Array.from({ length: 1_000 }, (_, ms) => String(ms).padStart(3, '0'))

export class JsonEncoder implements Encoder {
  readonly form = 'j'
  readonly isBinary = false
  readonly #parts: EncoderParts
  #second = 1
  #secondDigits = '1'

  constructor(parts: EncoderParts) {
    this.#parts = parts
  }

  message<Content>(
    kind: MessageKind<Content>,
    market: MarketRef,
    stamp: Dated,
    content: Content,
    epoch = this.#parts.epoch,
  ): string {
    const { offset, seq, venueTimeMs, receivedAtMs } = stamp
    const { catalog, nowMs } = this.#parts
    const position = `"epoch":${quoted(epoch)},"offset":${offset},"seq":${seq}`
    const times = `"timestamp_ms":${this.#digits(venueTimeMs)},"received_ms":${this.#digits(receivedAtMs)},"published_ms":${this.#digits(nowMs())}`
    return `${kind.jsonHead}"market_id":${quoted(market.id)},${position},${times},${kind.fields.json(content, market, catalog)}}`
  }

  reply(reply: Reply): string {
    return JSON.stringify({ ...reply, published_ms: this.#parts.nowMs() })
  }

  /** Most times share the second of the previous time, whose digits are cached. */
  #digits(timeMs: TimeMs | null): string {
    if (timeMs === null) return 'null'
    const second = Math.floor(timeMs / 1_000)
    if (second < 1) return String(timeMs)
    if (second !== this.#second) {
      this.#second = second
      this.#secondDigits = String(second)
    }
    return `${this.#secondDigits}${MILLISECONDS[timeMs - second * 1_000]}`
  }
}
