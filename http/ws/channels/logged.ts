// Base of channels that replay every message. Each message is sent at once and appended to a log. Lagging and resuming
// connections read missed messages from the log.

import type { CountedChannel, Stamp, Update } from '../../../engine/events.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelVariant } from '../fan-out/channel-variants.ts'
import { type ChannelLog, isLogged, MessageLog, type MessageTable } from '../resume/message-log.ts'
import type { ChannelParts, OpenChannel } from './channel.ts'

export class LoggedChannel implements OpenChannel {
  readonly log: ChannelLog
  seen: number
  readonly #parts: ChannelParts
  readonly #name: CountedChannel
  readonly #variants: readonly ChannelVariant[]

  /** `variants`: the variants of a channel with options. `isIn` decides which messages a variant gets. */
  constructor(
    parts: ChannelParts,
    set: Omit<ChannelLog, 'messages'> & {
      readonly name: CountedChannel
      readonly capacity: number
      /** Table of older messages, or null if they are not persisted. */
      readonly table: MessageTable | null
      readonly variants?: readonly ChannelVariant[]
    },
  ) {
    const { name, capacity, table, variants = [name], ...rules } = set
    this.#parts = parts
    this.#name = name
    this.#variants = variants
    this.seen = parts.publisher.offset(name)
    const { present } = parts.engine.tradeLog
    const messages = new MessageLog({ channel: name, present, offset: this.seen, capacity, table })
    this.log = { messages, ...rules }
  }

  onUpdate(update: Update): void {
    if (!isLogged(update)) return
    const { messages, write, isIn } = this.log
    messages.push(update)
    this.seen = update.offset
    const { fanOut } = this.#parts
    // Encode once per encoding, since all variants send the same bytes.
    const frames = new Map<Encoder, Frame | null>()
    const written = (encoder: Encoder): Frame | null => {
      const cached = frames.get(encoder)
      if (cached !== undefined) return cached
      const frame = write(encoder, update)
      frames.set(encoder, frame)
      return frame
    }
    for (const variant of this.#variants) {
      if (isIn?.(variant, update) === false) continue
      fanOut.send(variant, update.market, 'change', written)
    }
  }

  latest(_variant: ChannelVariant, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest(this.#name, market)
  }
}
