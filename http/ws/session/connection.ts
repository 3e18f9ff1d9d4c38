// What a task may do with a connection: the part of a session (session.ts) that answers, sends and
// chooses topics. An interface of its own, so that tasks do not know sessions.

import type { MarketView } from '../../../actors/views.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { CommandId, StreamErrorCode } from '../command.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelVariant, WideKey } from '../fan-out/channel-variants.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { WildcardSubscription } from './wildcard-subscription.ts'

/** A piece of work that pauses between markets. */
export type Task = Generator<void, void>

/** Markets looked at between two pauses where most are passed over. */
export const skipsPerTick = 256

export interface Connection {
  readonly encoder: Encoder
  readonly subscriptions: Subscriptions
  /** The wide subscription that the present command is filling. */
  wildcard: WildcardSubscription | null
  /** A replay of trades is under way, whose markets are not yet among the subscriptions. */
  isReplaying: boolean
  /** The present task goes on once this is resolved; it must not reject. */
  waitFor(arrival: Promise<void>): void
  /** Sends after everything published to this socket so far. */
  send(frame: Frame): void
  reply(type: string, fields: Readonly<Record<string, unknown>>): void
  refuse(id: CommandId, code: StreamErrorCode, message: string): void
  /** Sends a market's state and makes it live, in one turn. `isResync`: also that it has none. */
  begin(variant: ChannelVariant, view: MarketView, isResync?: boolean): void
  sendState(variant: ChannelVariant, view: MarketView, isResync?: boolean): void
  subscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  unsubscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  /** Everything that was left out is out: the connection is as before it lagged. */
  resumeLive(): void
}
