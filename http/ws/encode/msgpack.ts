// Writes stream messages as MessagePack maps with the fields and values of the JSON messages.

import type { MarketRef } from '../../../engine/market/market.ts'
import { MsgpackWriter, writeValue } from '../../../engine/msgpack-writer.ts'
import {
  type Dated,
  type Encoder,
  type EncoderParts,
  keyOf,
  type MessageKind,
  type Reply,
} from './encoder.ts'

const HEAD_FIELDS = 9
const EPOCH = keyOf('epoch')
const OFFSET = keyOf('offset')
const SEQ = keyOf('seq')
const TIMESTAMP = keyOf('timestamp_ms')
const RECEIVED = keyOf('received_ms')
const PUBLISHED = keyOf('published_ms')

export class MsgpackEncoder implements Encoder {
  readonly form = 'b'
  readonly isBinary = true
  readonly #parts: EncoderParts
  readonly #to = new MsgpackWriter()
  /** A second writer, because a `resync` must stay valid while a counted message is written. */
  readonly #rare = new MsgpackWriter()

  constructor(parts: EncoderParts) {
    this.#parts = parts
  }

  message<Content>(
    kind: MessageKind<Content>,
    market: MarketRef,
    stamp: Dated,
    content: Content,
    epoch = this.#parts.epoch,
  ): Uint8Array {
    const { fields } = kind
    const to = this.#to
    to.begin()
    to.map(HEAD_FIELDS + fields.count(content))
    to.bytes(kind.msgpackHead)
    to.text(market.id)
    to.bytes(EPOCH)
    to.text(epoch)
    to.bytes(OFFSET)
    to.integer(stamp.offset)
    to.bytes(SEQ)
    to.integer(stamp.seq)
    to.bytes(TIMESTAMP)
    to.integerOrNil(stamp.venueTimeMs)
    to.bytes(RECEIVED)
    to.integerOrNil(stamp.receivedAtMs)
    to.bytes(PUBLISHED)
    to.integer(this.#parts.nowMs())
    fields.msgpack(to, content, market, this.#parts.catalog)
    return to.end()
  }

  reply(reply: Reply): Uint8Array {
    this.#rare.begin()
    writeValue(this.#rare, { ...reply, published_ms: this.#parts.nowMs() })
    return this.#rare.end()
  }
}
