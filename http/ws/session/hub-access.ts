// The part of the hub that sessions and tasks use: the engine's views, the channels' logs, and scheduling. A separate
// interface, so that sessions do not depend on the hub.

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

/** A session whose buffer may hold more than published messages. */
export interface Watched {
  /** The buffer can contain only published messages. */
  readonly isQuiet: boolean
  /** Checks the buffer and returns its bytes. */
  sweep(nowMs: number): number
}

/** `more`: needs another slice; `blocked`: waits for the socket to drain; `idle`: nothing to do. */
export type SliceOutcome = 'idle' | 'more' | 'blocked'

/** Work that runs in slices, scheduled fairly by account. */
export interface Work {
  readonly caller: Pick<Caller, 'accountId'>
  run(): SliceOutcome
}

/** Subscribes to a channel from a position. False: it has sent its own answer; true: `synced` must follow. */
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
  /** The channels and their variants. */
  readonly variants: VariantTable
  /** The log of a channel's missed messages; null: it has no log. */
  logOf(channel: ChannelName): ChannelLog | null
  /** A channel's own way to answer `since`; null: by its log or its states. */
  resumeOf(channel: ChannelName): Resume | null
  /** Why a channel never sends messages about a market; null: it may. */
  unsupportedReason(channel: ChannelName, market: MarketRef): string | null
  /** The newest stamp of a market in a variant, without incrementing it. The offset is its channel's. */
  latest(variant: ChannelVariant, market: MarketNumber): Stamp
  /** A market's current state in a variant with states; null: none yet. */
  state(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /** A message that the market has no state, sent after a `resync`. Null: every market of the channel has a state. */
  emptyState(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null
  /**
   * In a gateway: resolves, and never rejects, when the state has arrived or will never arrive. Null: it can be read
   * now.
   */
  arrival(variant: ChannelVariant, view: MarketView): Promise<void> | null
  /** Registers a connection's subscription to this topic of the variant. */
  markSubscribed(variant: ChannelVariant, key: MarketNumber | WideKey): void
  /**
   * Runs work until it is done: synchronously, unless its account is queued or this tick has used its slice for such
   * work; the rest in later ticks, alternating between accounts.
   */
  advance(work: Work): void
  /** Sweeps it until it is quiet. */
  watch(watched: Watched): void
  /** From now on the wildcard subscription gets updates of the markets whose state it has sent. */
  openWildcard(wildcard: WildcardSubscription): void
  closeWildcard(wildcard: WildcardSubscription): void
  countLagging(): void
  countClosed(code: number): void
}
