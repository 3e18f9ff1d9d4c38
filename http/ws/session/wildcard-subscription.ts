// A wildcard subscription whose states are being sent market by market. Until all states are sent, the hub sends live
// messages directly to the connection. Topics of single markets would cost 0.5 µs and 100 bytes for each of 100,000
// markets.

import type { MarketId } from '../../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelVariant, WideKey } from '../fan-out/channel-variants.ts'
import { contains } from './subscriptions.ts'

interface FrameReceiver {
  readonly encoder: Encoder
  send(frame: Frame): void
}

export class WildcardSubscription {
  readonly connection: FrameReceiver
  readonly variant: ChannelVariant
  readonly key: WideKey
  readonly sent = new Map<MarketNumber, MarketRef>()
  /** The states are sent after a `resync`. */
  isResync: boolean
  readonly #ids: readonly MarketId[]
  #next = 0

  constructor(parts: {
    connection: FrameReceiver
    variant: ChannelVariant
    key: WideKey
    ids: readonly MarketId[]
    isResync?: boolean
  }) {
    this.connection = parts.connection
    this.variant = parts.variant
    this.key = parts.key
    this.#ids = parts.ids
    this.isResync = parts.isResync ?? false
  }

  take(): MarketId | null {
    const id = this.#ids[this.#next]
    this.#next += 1
    return id ?? null
  }

  /** All states sent so far are out of sync. */
  restart(): void {
    this.#next = 0
    this.isResync = true
    this.sent.clear()
  }

  isFor(variant: ChannelVariant, market: MarketRef): boolean {
    return this.variant === variant && contains(this.key, market.venue)
  }
}
