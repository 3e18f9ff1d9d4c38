// Descriptor of a stream channel. README.md explains how to add a channel.

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

/** When a channel sends its messages. Heartbeats include the offsets of channels that send every change. */
export type Delivery = 'every' | 'conflated' | 'everyOrConflated' | 'perSecond'

export interface MessageDocument {
  readonly summary: string
  /** Schema of the complete message, made by `counted` in messages.ts. */
  readonly schema: TSchema
  readonly example: unknown
}

export interface Channel extends ChannelWithVariants {
  readonly delivery: Delivery
  readonly updateKinds: readonly Update['kind'][]
  readonly messages: Readonly<Record<string, MessageDocument>>
  /** Named schemas in the AsyncAPI document. Each name is the key without `Schema`. */
  readonly shapes: Readonly<Record<string, TSchema>>
  /** The channel's row in the table of README.md. */
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
  /** Runs for every update of `updateKinds`, so it must return within microseconds. */
  onUpdate(update: Update): void
  /** The latest `seq` of a market in a variant and the latest `offset` of the channel. Increments neither. */
  latest(variant: ChannelVariant, market: MarketNumber): Stamp
  /** The current state of a market, for channels with states. Null if the market has no state yet. */
  state?(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /** Sent after `resync` for a market without a state. Absent if every market has a state. */
  emptyState?(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame
  /** Gateway only: resolves when the market's state has arrived or will never arrive. Null: the state can be read now. */
  arrival?(view: MarketView): Promise<void> | null
  /** The latest offset that the channel has processed, for channels that send every change. */
  readonly seen?: number
  readonly log?: ChannelLog
  readonly books?: RecentBookUpdates
  /** Why the channel never sends messages about a market, and what to request instead. Null: it may send messages. */
  unsupportedReason?(market: MarketRef): string | null
  /** Deletes the data stored under a market number. Called when the market is removed permanently. */
  removeMarket?(market: MarketNumber): void
  stop?(): void
}
