// The part of a session (session.ts) that tasks use to answer, send and choose topics. A separate interface, so that
// tasks do not depend on sessions.

import type { MarketView } from '../../../actors/views.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { CommandId, StreamErrorCode } from '../command.ts'
import type { Encoder, Frame, Reply } from '../encode/encoder.ts'
import type { ChannelVariant, WideKey } from '../fan-out/channel-variants.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { WildcardSubscription } from './wildcard-subscription.ts'

/** Work that yields between markets. */
export type Task = Generator<void, void>

/** Markets checked between two yields if most are skipped. */
export const skipsPerTick = 256

export interface Connection {
  readonly encoder: Encoder
  readonly subscriptions: Subscriptions
  /** The wildcard subscription that the current command is filling. */
  wildcard: WildcardSubscription | null
  /** A trade replay is running, whose markets are not yet among the subscriptions. */
  isReplaying: boolean
  /** Resumes the current task when the promise resolves; it must not reject. */
  waitFor(arrival: Promise<void>): void
  /** Sends after everything published to this socket so far. */
  send(frame: Frame): void
  reply(reply: Reply): void
  refuse(id: CommandId, code: StreamErrorCode, message: string): void
  /** Sends a market's state and makes it live in one tick. `isResync`: also reports that it has none. */
  begin(variant: ChannelVariant, view: MarketView, isResync?: boolean): void
  sendState(variant: ChannelVariant, view: MarketView, isResync?: boolean): void
  subscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  unsubscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  /** Everything skipped has been sent: the connection is live as before the lag. */
  resumeLive(): void
}
