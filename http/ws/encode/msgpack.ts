// Writes stream messages as MessagePack: the same fields and values as JSON (json.ts), as plain maps, with integers of
// up to 64 bits as integers (engine/msgpack-writer.ts). Counted messages are written field by field, the rare others
// from the object of the JSON form.

import type { CatalogView } from '../../../actors/views.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { MsgpackWriter, writeValue } from '../../../engine/msgpack-writer.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { ChannelName } from '../fan-out/channel-variants.ts'
import * as forms from './encoder.ts'

/** Number of fields in the head of every counted message. */
const HEAD_FIELDS = 9
const EPOCH = forms.keyOf('epoch')
const OFFSET = forms.keyOf('offset')
const SEQ = forms.keyOf('seq')
const TIMESTAMP = forms.keyOf('timestamp_ms')
const RECEIVED = forms.keyOf('received_ms')
const PUBLISHED = forms.keyOf('published_ms')

/** Writes MessagePack. Takes markets' labels from the catalogue. */
export class MsgpackEncoder implements forms.Encoder {
  readonly form = 'b'
  readonly isBinary = true
  readonly #epoch: string
  readonly #catalog: CatalogView
  readonly #nowMs: () => TimeMs
  readonly #to = new MsgpackWriter()
  /** A separate writer, because `resync` must stay valid beside a counted message. */
  readonly #rare = new MsgpackWriter()

  constructor(parts: forms.EncoderParts) {
    this.#epoch = parts.epoch
    this.#catalog = parts.catalog
    this.#nowMs = parts.nowMs
  }

  message<Content>(
    kind: forms.MessageKind<Content>,
    market: MarketRef,
    stamp: forms.Dated,
    content: Content,
    epoch = this.#epoch,
  ): Uint8Array {
    const to = this.#to
    to.begin()
    to.map(HEAD_FIELDS + kind.fieldCount(content))
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
    to.integer(this.#nowMs())
    kind.msgpack(to, content, market, this.#catalog)
    return to.end()
  }

  resync(channel: ChannelName, market: MarketRef, reason: forms.ResyncReason): Uint8Array {
    return this.reply({ type: 'resync', channel, market_id: market.id, reason })
  }

  gap(gap: forms.Gap): Uint8Array {
    return this.reply(forms.gapMessage(gap))
  }

  status(status: forms.Status): Uint8Array {
    return this.reply(forms.statusMessage(status))
  }

  heartbeat({ timestampMs, counter, offsets }: forms.Heartbeat): Uint8Array {
    const rest = offsets === null ? { catching_up: true } : { offsets }
    const head = { type: 'heartbeat', timestamp_ms: timestampMs, counter, epoch: this.#epoch }
    return this.reply({ ...head, ...rest })
  }

  /** The time of writing is the last field. */
  reply(reply: forms.Reply): Uint8Array {
    this.#rare.begin()
    writeValue(this.#rare, { ...reply, published_ms: this.#nowMs() })
    return this.#rare.end()
  }

  removeMarket(_market: MarketNumber): void {}
}
