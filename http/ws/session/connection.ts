// The parts of a session (session.ts) and of the hub (hub.ts) that commands use. Interfaces, because imports form no
// cycle.

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
  /** Sends a market's state in a channel with states. `isResync`: or that it has none. */
  sendState(variant: ChannelVariant, view: MarketView, isResync?: boolean): void
  /** Subscribes to a topic, from the next message on. */
  subscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  unsubscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void
  /** Adds subscriptions that no other contains, with their topics. */
  join(variant: ChannelVariant, subscribed: Subscribed): void
  /** Removes subscriptions, or those that a wide one contains, with their topics. */
  leave(channel: ChannelName, subscribed: Subscribed): void
  /** Everything skipped has been sent: the connection is live as before the lag. */
  resumeLive(): void
}

/** `more`: needs another slice; `blocked`: waits for the socket to drain; `idle`: nothing to do. */
export type SliceOutcome = 'idle' | 'more' | 'blocked'

/** Work that runs in slices, scheduled fairly by account. */
export interface Work {
  readonly caller: Pick<Caller, 'accountId'>
  run(): SliceOutcome
}

export interface HubAccess {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  /** The channels and their variants. */
  readonly variants: VariantTable
  readonly fanOut: FanOut
  channelOf(variant: ChannelVariant): OpenChannel
  /**
   * Runs work until it is done: synchronously, unless its account is queued or this tick has used its slice for such
   * work; the rest in later ticks, alternating between accounts.
   */
  advance(work: Work): void
  countLagging(): void
  countClosed(code: number): void
}
