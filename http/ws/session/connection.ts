// Interfaces of the session and the hub for commands. They avoid circular imports.

import type { Caller, EngineView, MarketView } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { Log } from '../../../engine/process/log.ts'
import type { Publisher } from '../../../engine/publisher.ts'
import type { OpenChannel } from '../channels/channel.ts'
import type { CommandId, StreamErrorCode } from '../command.ts'
import type { Encoder, Frame, Reply } from '../encode/encoder.ts'
import type {
  ChannelName,
  ChannelVariant,
  VariantTable,
  WideKey,
} from '../fan-out/channel-variants.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { Subscribed, Subscriptions } from './subscriptions.ts'
import type { WildcardSubscription } from './wildcard-subscription.ts'

/** Work of a command or a catch-up that yields between markets. */
export type Task = Generator<void, void>

/** A loop yields after this many skipped markets. */
export const skipsPerTick = 256

export interface Connection {
  readonly caller: Pick<Caller, 'accountId'>
  readonly encoder: Encoder
  readonly subscriptions: Subscriptions
  /** The current command fills this wildcard subscription. */
  wildcard: WildcardSubscription | null
  /** A trade replay is running. Its markets are not among the subscriptions yet. */
  isReplaying: boolean
  /** Pauses the current task until the promise resolves. The promise must not reject. */
  waitFor(arrival: Promise<void>): void
  /** Sends a frame after all messages that were published to this socket before. */
  send(frame: Frame): void
  reply(reply: Reply): void
  refuse(id: CommandId, code: StreamErrorCode, message: string): void
  /** `isResync`: if the market has no state, sends a message about the missing state. */
  sendState(variant: ChannelVariant, view: MarketView, isResync?: boolean): void
  /** The connection receives later messages only. */
  subscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  unsubscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  /** Adds subscriptions that no wider subscription contains, with their topics. */
  join(variant: ChannelVariant, subscribed: Subscribed): void
  /** Removes subscriptions with their topics. A wide subscription is removed with all that it contains. */
  leave(channel: ChannelName, subscribed: Subscribed): void
  /** Makes the connection live again after a catch-up that has sent all missed messages. */
  resumeLive(): void
}

/** `more`: needs another time slice. `blocked`: waits for the socket to drain or for `waitFor`. `idle`: nothing to do. */
export type SliceOutcome = 'idle' | 'more' | 'blocked'

export interface Work {
  readonly caller: Pick<Caller, 'accountId'>
  run(): SliceOutcome
}

export interface HubAccess {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  readonly variants: VariantTable
  readonly fanOut: FanOut
  channelOf(variant: ChannelVariant): OpenChannel
  /**
   * Runs work until it is done. The first slice runs synchronously, unless the account has queued work or this tick has
   * used up its time.
   */
  advance(work: Work): void
  countLagging(): void
  countClosed(code: number): void
}
