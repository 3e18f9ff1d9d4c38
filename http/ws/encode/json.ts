// Writes stream messages as JSON text by concatenation, without temporary objects.

import type { MarketRef } from '../../../engine/market/market.ts'
import { quoted } from '../../records/render.ts'
import type { Dated, Encoder, EncoderParts, MessageKind, Reply } from './encoder.ts'

export class JsonEncoder implements Encoder {
  readonly form = 'j'
  readonly isBinary = false
  readonly #parts: EncoderParts

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
    const times = `"timestamp_ms":${venueTimeMs},"received_ms":${receivedAtMs},"published_ms":${nowMs()}`
    return `${kind.jsonHead}"market_id":${quoted(market.id)},${position},${times},${kind.fields.json(content, market, catalog)}}`
  }

  reply(reply: Reply): string {
    return JSON.stringify({ ...reply, published_ms: this.#parts.nowMs() })
  }
}
