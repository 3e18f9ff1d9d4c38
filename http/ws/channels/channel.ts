// Descriptor of a stream channel. Server, documents and tests all read it. See README.md for how to add one.

import type { TSchema } from '@sinclair/typebox'
import type { EngineView, MarketView } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { Stamp, Update } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Publisher } from '../../../engine/publisher.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelVariant, ChannelWithVariants } from '../fan-out/channel-variants.ts'
import type { ConflationScheduler } from '../fan-out/conflation.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { ChannelLog } from '../resume/message-log.ts'
import type { RecentBookUpdates } from '../resume/recent-book-updates.ts'

/** When messages of a channel are sent. Heartbeats contain the offsets of channels that send every change. */
export type Delivery = 'every' | 'conflated' | 'everyOrConflated' | 'perSecond'

/** A message's part of the documents. */
export interface MessageDocument {
  readonly summary: string
  /** Schema of the complete message, made by `counted` in messages.ts. */
  readonly schema: TSchema
  /** A complete message that matches the schema. */
  readonly example: unknown
}

export interface Channel extends ChannelWithVariants {
  readonly delivery: Delivery
  /** The kinds of updates passed to {@link OpenChannel.onUpdate}. */
  readonly updateKinds: readonly Update['kind'][]
  readonly messages: Readonly<Record<string, MessageDocument>>
  /** Named parts of the messages in the documents: the key without `Schema`. */
  readonly shapes: Readonly<Record<string, TSchema>>
  /** Its row in the table of README.md: message contents, when they are sent, and the initial message. */
  readonly row: { readonly messages: string; readonly when: string; readonly begins: string }
  open(parts: ChannelParts): OpenChannel
}

export interface ChannelParts {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly fanOut: FanOut
  readonly scheduler: ConflationScheduler
}

export interface OpenChannel {
  /** Handles an update of a subscribed kind. Hot path: must return immediately. */
  onUpdate(update: Update): void
  /** The newest stamp of a market in a variant, without incrementing it. The offset is the channel's. */
  latest(variant: ChannelVariant, market: MarketNumber): Stamp
  /** A market's current state, for channels with states; null: none yet. */
  state?(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /** A message that a market has no state, sent after a `resync` of it. Absent if every market has a state. */
  emptyState?(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame
  /** In a gateway: resolves when the market's state has arrived or will never arrive; null: it can be read now. */
  arrival?(view: MarketView): Promise<void> | null
  /** The newest offset that the channel has processed, for channels that send every change. */
  readonly seen?: number
  /** The log of missed messages, for channels that replay every message. */
  readonly log?: ChannelLog
  /** Recent updates, from which books are resumed. */
  readonly books?: RecentBookUpdates
  /** Why the channel never sends messages about a market, and what to request instead; null if it may. */
  unsupportedReason?(market: MarketRef): string | null
  /** The market was removed permanently: deletes the data stored under its number. */
  removeMarket?(market: MarketNumber): void
  stop?(): void
}
