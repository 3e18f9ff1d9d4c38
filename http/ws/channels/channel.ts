// What a channel of the stream is: one descriptor, from which the server, the documents and the tests
// read everything that they know of it. README.md says how to add one.

import type { TSchema } from '@sinclair/typebox'
import type { EngineView, MarketView } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { Stamp, Update } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Publisher } from '../../../engine/publisher.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelVariant, ChannelWithVariants } from '../fan-out/channel-variants.ts'
import type { ConflationScheduler } from '../fan-out/conflation-scheduler.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { ChannelLog } from '../resume/message-log.ts'
import type { Resume } from '../session/hub-access.ts'

/** How the messages of a channel come; the offsets of those that send every change stand in heartbeats. */
export type Delivery = 'every' | 'conflated' | 'everyOrConflated' | 'perSecond'

/** What the documents say of a message. */
export interface MessageDocument {
  readonly summary: string
  /** Of the whole message: `counted` of messages.ts makes it. */
  readonly schema: TSchema
  /** A whole message, which the schema allows. */
  readonly example: unknown
}

/** A channel, described once. */
export interface Channel extends ChannelWithVariants {
  readonly delivery: Delivery
  /** The kinds of updates that {@link OpenChannel.onUpdate} gets. */
  readonly updateKinds: readonly Update['kind'][]
  /** Its messages, by `type`. */
  readonly messages: Readonly<Record<string, MessageDocument>>
  /** Parts of those messages that have a name in the documents: the key without `Schema`. */
  readonly shapes: Readonly<Record<string, TSchema>>
  /** Its row in the table of README.md: what its messages hold, when they come, what comes first. */
  readonly row: { readonly messages: string; readonly when: string; readonly begins: string }
  /** Begins to work in a server. */
  open(parts: ChannelParts): OpenChannel
}

/** What a channel works with. */
export interface ChannelParts {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly fanOut: FanOut
  readonly scheduler: ConflationScheduler
}

/** A channel at work in one server. */
export interface OpenChannel {
  /** An update of a kind that the channel hears; on the hot path, so it returns at once. */
  onUpdate(update: Update): void
  /** The newest stamp of a market in a lane, using none up; the offset is the channel's. */
  latest(variant: ChannelVariant, market: MarketNumber): Stamp
  /** A market's present state, of a channel that has one; null: there is none yet. */
  state?(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /** Says that a market has no state, behind a `resync` of it; absent where each market has one. */
  emptyState?(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame
  /** In a gateway: when the market's state can be told, or never will be; null: it can. */
  arrival?(view: MarketView): Promise<void> | null
  /** The newest offset that has come by, of a channel that sends every change. */
  readonly seen?: number
  /** Where messages that were missed are read, of a channel whose every message counts. */
  readonly log?: ChannelLog
  /** How `since` is answered, of a channel that neither has a log nor begins with its states. */
  readonly resume?: Resume
  /** Why nothing is ever told under a market, and what to ask for instead; null: something may be. */
  readonly unsupportedReason?: ((market: MarketRef) => string | null) | undefined
  /** The market is gone for good: what is kept under its number goes too. */
  removeMarket?(market: MarketNumber): void
  /** Stops its timers. */
  stop?(): void
}
