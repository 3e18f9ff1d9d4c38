// The subscriptions of a client, and the commands that restore them on each connection: subscribe, resume and
// unsubscribe.

import type { ChannelState } from './channel-state.ts'
import type { Channel, ChannelOptions, PerChannel } from './channels.ts'
import type { Command, CommandQueue } from './command-queue.ts'
import type { Position, ReplyMessage } from './messages.ts'
import { type Subscription, SubscriptionHandle } from './subscription-handle.ts'
import {
  batchKeys,
  type Key,
  type KeyTarget,
  nameOf,
  sameOptions,
  targetFields,
} from './subscription-keys.ts'

/** Set exactly one of `marketIds`, `eventSlugs`, `platform` and `all`. */
export interface SubscribeRequest {
  readonly channel: Channel
  /** Any number of ids, sent in batches of 100. */
  readonly marketIds?: readonly string[]
  /** The server expands events to their current markets once. */
  readonly eventSlugs?: readonly string[]
  readonly platform?: string
  readonly all?: boolean
  readonly options?: ChannelOptions
}

interface SubscriptionsParts {
  readonly commandQueue: CommandQueue
  readonly channelStates: PerChannel<ChannelState>
  /** True if a market's book is in sync. A resume then needs only the updates. */
  readonly isBookInSync: (marketId: string) => boolean
  /** Called when subscriptions have ended and the states of their markets can be deleted. */
  readonly onUnwanted: (channelState: ChannelState) => void
  /** Called before the server repeats the states of these keys or sends them with other options. */
  readonly onResubscribe: (channelState: ChannelState, keys: readonly Key[]) => void
  readonly onDone: (channelState: ChannelState) => void
  /** Called if a resume delivered fewer messages than the server reported. Returns false if the resume must be repeated. */
  readonly onShortResume: (channelState: ChannelState, lost: number) => boolean
  readonly onStuck: (reason: string) => void
}

export class Subscriptions {
  readonly #parts: SubscriptionsParts
  readonly #handles = new Set<SubscriptionHandle>()
  readonly #carriers = new Map<Key, Command>()
  #isConnected = false

  constructor(parts: SubscriptionsParts) {
    this.#parts = parts
  }

  get isResuming(): boolean {
    return this.#parts.channelStates.all().some((channelState) => channelState.resuming > 0)
  }

  get isEmpty(): boolean {
    return this.#parts.channelStates.all().every((channelState) => channelState.keys.size === 0)
  }

  subscribe(request: SubscribeRequest): Subscription {
    const channelState = this.#parts.channelStates.of(request.channel)
    const options = request.options ?? {}
    const handle = new SubscriptionHandle((released) => this.#release(channelState, released))
    const touched: Key[] = []
    for (const target of targetsOf(request)) {
      if (!this.#parts.commandQueue.hasCapacity) handle.refuse(nameOf(target), 'RATE_LIMITED')
      else if (isOtherwiseCovered(channelState, target, options)) {
        handle.refuse(nameOf(target), 'INVALID_FILTER')
      } else {
        const key = channelState.keys.add(request.channel, target, options)
        handle.hold(key)
        touched.push(key)
      }
    }
    this.#handles.add(handle)
    this.#send(channelState, touched)
    handle.check()
    return handle
  }

  connect(): void {
    this.#isConnected = true
    for (const channelState of this.#parts.channelStates.all())
      this.#send(channelState, channelState.keys.all())
  }

  disconnect(): void {
    this.#isConnected = false
    this.#carriers.clear()
    for (const channelState of this.#parts.channelStates.all()) channelState.interrupt()
  }

  end(): void {
    for (const handle of this.#handles) handle.end()
    this.#handles.clear()
  }

  /** Counts a message for the `since` command that delivers it. Returns the `since` of that command, or null. */
  count(key: Key, position: Position): Position | null {
    const command = this.#carriers.get(key)
    if (command === undefined || command.since === null) return null
    const { newest } = command
    // Two consecutive copies of a message count as one.
    if (newest?.offset !== position.offset || newest.epoch !== position.epoch) command.received += 1
    command.newest = position
    return command.since
  }

  take(command: Command, reply: ReplyMessage): void {
    switch (reply.type) {
      case 'subscribed':
        return this.#accept(command, reply)
      case 'synced':
      case 'resumed':
        return this.#finish(command, reply)
      case 'resume_limited':
        return this.#continueResume(command, reply)
      case 'unsubscribed':
        this.#parts.commandQueue.end(command, reply)
        return this.#resubscribe(command)
      case 'error':
        return this.#refused(command, reply)
      default:
        return this.#parts.commandQueue.end(command, reply)
    }
  }

  #send(channelState: ChannelState, touched: Iterable<Key>): void {
    if (!this.#isConnected) return
    const fresh: Key[] = []
    for (const key of touched) {
      if (key.phase !== 'new') continue
      const cover = coverOf(channelState, key.target)
      if (cover === null) fresh.push(key)
      else if (cover.phase === 'live') this.#live(key)
    }
    for (const { keys, since } of batchKeys(channelState.channel, fresh, (key) =>
      this.#since(channelState, key),
    )) {
      if (since === null) this.#parts.onResubscribe(channelState, keys)
      else channelState.resuming += 1
      for (const key of keys) key.phase = 'sent'
      const fields = subscribeFields(channelState.channel, keys, since)
      const { channel } = channelState
      const command = { action: 'subscribe', channel, keys, since, fields, onEnd: null } as const
      this.#carry(keys, this.#parts.commandQueue.add(command))
    }
  }

  /** The position from which a key resumes. Null: the key starts without a resume. */
  #since(channelState: ChannelState, key: Key): Position | null {
    const position = key.cursor ?? channelState.position
    const { target } = key
    if (channelState.channel === 'orderbook' && target.kind === 'market') {
      return this.#parts.isBookInSync(target.marketId) ? position : null
    }
    return key.hasBegun ? position : null
  }

  #carry(keys: readonly Key[], command: Command): void {
    for (const key of keys) this.#carriers.set(key, command)
  }

  #accept(command: Command, reply: ReplyMessage & { type: 'subscribed' }): void {
    if (command.channel === null || command.action !== 'subscribe') return
    const channelState = this.#parts.channelStates.of(command.channel)
    const kind = command.keys[0]?.target.kind
    if (kind === 'market') command.keys = this.#acceptMarkets(channelState, command, reply)
    else if (kind === 'event') command.keys = this.#acceptEvent(channelState, command, reply)
    this.#carry(command.keys, command)
  }

  #acceptMarkets(
    channelState: ChannelState,
    command: Command,
    { accepted, rejected }: ReplyMessage & { type: 'subscribed' },
  ): readonly Key[] {
    const codes = new Map(
      rejected.map((rejection) => [rejection.market_id.toLowerCase(), rejection.code]),
    )
    const canonical = new Map(accepted.map((id) => [id.toLowerCase(), id]))
    const retained: Key[] = []
    for (const key of command.keys) {
      const name = nameOf(key.target)
      const id = canonical.get(name.toLowerCase())
      this.#carriers.delete(key)
      if (id === undefined) {
        this.#reject(channelState, key, codes.get(name.toLowerCase()) ?? 'UNKNOWN_MARKET')
        continue
      }
      if (key.holders.size === 0) continue
      const renamed = channelState.keys.rename(key, id)
      if (renamed !== key) {
        renamed.phase = key.phase
        for (const holder of [...key.holders]) holder.onReplaced(key, [renamed])
      }
      retained.push(renamed)
    }
    return retained
  }

  #acceptEvent(
    channelState: ChannelState,
    command: Command,
    { accepted, rejected }: ReplyMessage & { type: 'subscribed' },
  ): readonly Key[] {
    const event = command.keys[0]
    if (event === undefined) return []
    this.#carriers.delete(event)
    channelState.keys.remove(event)
    const markets = accepted.map((marketId) => {
      const key = channelState.keys.add(
        channelState.channel,
        { kind: 'market', marketId },
        event.options,
      )
      if (key.phase === 'new') key.phase = 'sent'
      return key
    })
    const holders = [...event.holders]
    if (accepted.length === 0) {
      for (const holder of holders) {
        holder.onRejected(event, rejected[0]?.code ?? 'UNKNOWN_MARKET')
      }
    } else for (const holder of holders) holder.onReplaced(event, markets)
    // The user unsubscribed before the reply arrived. Unsubscribe from the event's markets that no other handle uses.
    this.#unsubscribeKeys(channelState, unheld(markets))
    return markets.filter((key) => key.holders.size > 0)
  }

  #finish(command: Command, reply: ReplyMessage & { type: 'synced' | 'resumed' }): void {
    const channelState = this.#parts.channelStates.of(reply.channel)
    const isSince = command.since !== null
    if (isSince && reply.type === 'resumed' && command.received < reply.replayed) {
      if (!this.#parts.onShortResume(channelState, reply.replayed - command.received)) return
    }
    this.#parts.commandQueue.end(command, reply)
    channelState.finish({ epoch: reply.epoch, offset: reply.offset }, isSince)
    for (const key of command.keys) key.completeTo = completeToOf(key, command, reply)
    if (command.action === 'subscribe') for (const key of command.keys) this.#live(key)
    this.#parts.onDone(channelState)
  }

  #live(key: Key): void {
    const channelState = this.#parts.channelStates.of(key.channel)
    this.#carriers.delete(key)
    key.phase = 'live'
    key.hasBegun = true
    key.cursor = null
    for (const holder of key.holders) holder.onLive(key)
    if (key.target.kind !== 'all' && key.target.kind !== 'platform') return
    for (const other of channelState.keys.all()) {
      if (other.phase !== 'live' && coverOf(channelState, other.target) === key) this.#live(other)
    }
  }

  #continueResume(
    command: Command,
    { epoch, offset }: ReplyMessage & { type: 'resume_limited' },
  ): void {
    const { since, channel } = command
    if (since === null || channel === null) return
    if (since.epoch === epoch && since.offset === offset) {
      return this.#parts.onStuck('a limited resume does not get on')
    }
    command.since = { epoch, offset }
    command.fields = subscribeFields(channel, command.keys, command.since)
    command.attempts = 0
    for (const key of command.keys) key.cursor = command.since
    this.#parts.commandQueue.resend(command)
  }

  #refused(command: Command, reply: ReplyMessage & { type: 'error' }): void {
    if (reply.code === 'RATE_LIMITED') return this.#parts.commandQueue.slowDown(command)
    this.#parts.commandQueue.end(command, null)
    if (command.action !== 'subscribe' || command.channel === null) return
    const channelState = this.#parts.channelStates.of(command.channel)
    for (const key of command.keys) this.#reject(channelState, key, reply.code)
    if (command.since !== null) channelState.settle()
    this.#parts.onUnwanted(channelState)
  }

  #reject(channelState: ChannelState, key: Key, code: string): void {
    channelState.keys.remove(key)
    this.#carriers.delete(key)
    for (const holder of [...key.holders]) holder.onRejected(key, code)
  }

  #release(channelState: ChannelState, handle: SubscriptionHandle): void {
    this.#handles.delete(handle)
    for (const key of handle.keys) key.holders.delete(handle)
    this.#unsubscribeKeys(channelState, unheld([...handle.keys]))
  }

  #unsubscribeKeys(channelState: ChannelState, keys: readonly Key[]): void {
    if (keys.length === 0) return
    for (const key of keys) channelState.keys.remove(key)
    const { channel } = channelState
    // The server refuses to unsubscribe a part of a wider subscription, and has no event subscriptions.
    const toUnsubscribe = keys.filter(
      (key) =>
        key.phase !== 'new' &&
        key.target.kind !== 'event' &&
        coverOf(channelState, key.target) === null,
    )
    if (this.#isConnected) {
      for (const batch of batchKeys(channel, toUnsubscribe, () => null)) {
        const fields = { channel, ...targetFields(batch.keys) }
        const rest = { channel, keys: batch.keys, since: null, fields, onEnd: null }
        this.#parts.commandQueue.add({ action: 'unsubscribe', ...rest })
      }
    }
    const wide = keys.filter(({ target }) => target.kind === 'all' || target.kind === 'platform')
    if (wide.length > 0) this.#uncover(channelState)
    this.#parts.onUnwanted(channelState)
  }

  /** Sends subscriptions again that the server dropped because a removed wildcard or venue key contained them. */
  #uncover(channelState: ChannelState): void {
    const uncovered = [...channelState.keys.all()].filter(
      (key) => coverOf(channelState, key.target) === null,
    )
    const replaced = uncovered.filter((key) => key.phase === 'live' && !this.#carriers.has(key))
    for (const key of replaced) key.phase = 'new'
    this.#send(channelState, uncovered)
  }

  /**
   * Subscribes to the wanted keys again. The server may have processed a repeated `unsubscribe` after a newer
   * `subscribe`.
   */
  #resubscribe(command: Command): void {
    if (command.attempts < 2 || command.channel === null) return
    const channelState = this.#parts.channelStates.of(command.channel)
    const wanted = command.keys.flatMap(({ target }) => channelState.keys.find(target) ?? [])
    for (const key of wanted) if (key.phase === 'live') key.phase = 'new'
    this.#send(channelState, wanted)
  }
}

function targetsOf(request: SubscribeRequest): KeyTarget[] {
  const { marketIds, eventSlugs, platform, all } = request
  if (all === true || marketIds?.includes('*') === true) return [{ kind: 'all' }]
  if (platform !== undefined) return [{ kind: 'platform', platform }]
  return [
    ...(marketIds ?? []).map((marketId) => ({ kind: 'market', marketId }) as const),
    ...(eventSlugs ?? []).map((slug) => ({ kind: 'event', slug }) as const),
  ]
}

function coverOf(channelState: ChannelState, target: KeyTarget): Key | null {
  if (target.kind === 'market') return channelState.keys.cover(target.marketId)
  return target.kind === 'platform' ? channelState.keys.find({ kind: 'all' }) : null
}

/** True if a wider subscription has other options. The server would then reject the target. */
function isOtherwiseCovered(
  channelState: ChannelState,
  target: KeyTarget,
  options: ChannelOptions,
): boolean {
  const cover = coverOf(channelState, target)
  return cover !== null && !sameOptions(cover.options, options)
}

/** Position up to which a key has received every message of an epoch. Null if unknown. */
function completeToOf(
  key: Key,
  { since }: Command,
  { type, epoch, offset }: ReplyMessage & { type: 'synced' | 'resumed' },
): Position | null {
  if (offset === 0) return { epoch, offset }
  if (type !== 'resumed' || since === null) return null
  // A resume from an earlier epoch delivers the complete new epoch. A resume within an epoch retains the earlier
  // position, because a loss after that position is fetched from there.
  if (since.epoch !== epoch) return { epoch, offset }
  return key.completeTo?.epoch === epoch ? key.completeTo : null
}

function subscribeFields(channel: Channel, keys: readonly Key[], since: Position | null) {
  const fields = { channel, ...targetFields(keys), ...keys[0]?.options }
  return since === null ? fields : { ...fields, since }
}

function unheld(keys: readonly Key[]): Key[] {
  return keys.filter((key) => key.holders.size === 0)
}
