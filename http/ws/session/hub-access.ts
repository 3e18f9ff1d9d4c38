// What a session and its tasks may ask of the hub: the engine's views, the channels' logs, and a turn.
// An interface of its own, so that sessions do not know the hub.

import type { Caller, EngineView, MarketView } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { Stamp } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Log } from '../../../engine/process/log.ts'
import type { Publisher } from '../../../engine/publisher.ts'
import type { CommandId, Since } from '../command.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type {
  ChannelName,
  ChannelVariant,
  VariantTable,
  WideKey,
} from '../fan-out/channel-variants.ts'
import type { ChannelLog } from '../resume/message-log.ts'
import type { Connection } from './connection.ts'
import type { Resolved } from './resolve.ts'
import type { WildcardSubscription } from './wildcard-subscription.ts'

/** Something whose buffer can have grown by more than what was published. */
export interface Watched {
  /** Nothing but what was published can be in its buffer. */
  readonly isQuiet: boolean
  /** Looks at the buffer; returns the bytes in it. */
  sweep(nowMs: number): number
}

/** `more`: wants another turn; `blocked`: waits for the socket to drain; `idle`: nothing to do. */
export type SliceOutcome = 'idle' | 'more' | 'blocked'

/** Something that runs in slices, in the turns of its account. */
export interface Work {
  readonly caller: Pick<Caller, 'accountId'>
  run(): SliceOutcome
}

/** Subscribes to a channel from a position on. False: it ended in an answer of its own; true: `synced`
 * is due. */
export type Resume = (
  connection: Connection,
  hub: HubAccess,
  wanted: { readonly id: CommandId; readonly since: Since; readonly resolved: Resolved },
) => Generator<void, boolean>

export interface HubAccess {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  /** The channels and their lanes. */
  readonly variants: VariantTable
  /** Where a channel's missed messages are read; null: it has no log. */
  logOf(channel: ChannelName): ChannelLog | null
  /** How a channel answers `since`; null: as every channel with a log or with states does. */
  resumeOf(channel: ChannelName): Resume | null
  /** Why a channel never tells anything under a market; null: it may. */
  unsupportedReason(channel: ChannelName, market: MarketRef): string | null
  /** The newest stamp of a market in a lane, using none up; the offset is its channel's. */
  latest(variant: ChannelVariant, market: MarketNumber): Stamp
  /** A market's present state, in a lane that has one; null: there is none yet. */
  state(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /** Behind a `resync`: that there is none. Null: each market of the channel has a state. */
  emptyState(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /** In a gateway: when it can be told, or never will be; null: it can. It does not reject. */
  arrival(variant: ChannelVariant, view: MarketView): Promise<void> | null
  /** From now on a connection listens to this topic of the lane. */
  markSubscribed(variant: ChannelVariant, key: MarketNumber | WideKey): void
  /**
   * Lets it run for as long as it wants more: at once, unless its account waits or this turn of the loop had a slice of such
   * runs, and in later turns, in which accounts take turns.
   */
  advance(work: Work): void
  /** Sweeps it until it is quiet. */
  watch(watched: Watched): void
  /** From now on the row gets updates of the markets that it has sent. */
  openWildcard(wildcard: WildcardSubscription): void
  closeWildcard(wildcard: WildcardSubscription): void
  countLagging(): void
  countClosed(code: number): void
}
