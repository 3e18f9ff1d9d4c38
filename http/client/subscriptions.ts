// The subscriptions of a client and the commands that make them true on each connection: subscribe,
// resume with `since`, take out; and what the server's replies mean for them.

import { Handle, type Subscription } from './handle.ts'
import type { Line } from './line.ts'
import type { Channel, Position, ReplyMessage } from './messages.ts'
import type { Command, Outbox } from './outbox.ts'
import {
  type ChannelOptions,
  type Key,
  type KeyTarget,
  nameOf,
  parcels,
  sameOptions,
  targetFields,
} from './wanted.ts'

/** What to subscribe to: exactly one of `marketIds`, `eventSlugs`, `platform` and `all`. */
export interface SubscribeRequest {
  readonly channel: Channel
  /** Any number; sent by hundreds. */
  readonly marketIds?: readonly string[]
  /** Expanded to markets once, by the server. */
  readonly eventSlugs?: readonly string[]
  /** A whole venue. */
  readonly platform?: string
  /** Everything. */
  readonly all?: boolean
  readonly options?: ChannelOptions
}

interface RosterParts {
  readonly outbox: Outbox
  readonly lines: Readonly<Record<Channel, Line>>
  /** Whether a market's book is in sync, so that updates alone make it whole again. */
  readonly isBookInSync: (marketId: string) => boolean
  /** These markets, or all of the channel that no handle wants any more, can be forgotten. */
  readonly onUnwanted: (line: Line) => void
  /** The next states of these have other options, or come again. */
  readonly onAnew: (line: Line, keys: readonly Key[]) => void
  /** A command brought everything it was to bring. */
  readonly onDone: (line: Line) => void
  /** A resume ended with fewer messages than the server says it sent. False: begin again. */
  readonly onShort: (line: Line, lost: number) => boolean
  readonly onStuck: (reason: string) => void
}

/** The subscriptions. */
export class Subscriptions {
  readonly #parts: RosterParts
  readonly #handles = new Set<Handle>()
  readonly #carriers = new Map<Key, Command>()
  #isConnected = false

  constructor(parts: RosterParts) {
    this.#parts = parts
  }

  get isResuming(): boolean {
    return Object.values(this.#parts.lines).some((line) => line.resuming > 0)
  }

  get isEmpty(): boolean {
    return Object.values(this.#parts.lines).every((line) => line.keys.size === 0)
  }

  subscribe(request: SubscribeRequest): Subscription {
    const line = this.#parts.lines[request.channel]
    const options = request.options ?? {}
    const handle = new Handle((gone) => this.#release(line, gone))
    const touched: Key[] = []
    for (const target of targetsOf(request)) {
      if (!this.#parts.outbox.hasRoom) handle.refuse(nameOf(target), 'RATE_LIMITED')
      else if (isOtherwiseCovered(line, target, options)) {
        handle.refuse(nameOf(target), 'INVALID_FILTER')
      } else {
        const key = line.keys.add(request.channel, target, options)
        handle.hold(key)
        touched.push(key)
      }
    }
    this.#handles.add(handle)
    this.#send(line, touched)
    handle.check()
    return handle
  }

  /** A connection is open: everything wanted is asked for, with `since` where it was in sync. */
  connect(): void {
    this.#isConnected = true
    for (const line of Object.values(this.#parts.lines)) this.#send(line, line.keys.all())
  }

  disconnect(): void {
    this.#isConnected = false
    this.#carriers.clear()
    for (const line of Object.values(this.#parts.lines)) line.interrupt()
  }

  /** Nothing will be subscribed to any more. */
  end(): void {
    for (const handle of this.#handles) handle.end()
    this.#handles.clear()
  }

  /** A message of this key came: it counts for the `since` command that brings it, if one does.
   *  Returns from where that command resumes. */
  count(key: Key, place: Position): Position | null {
    const command = this.#carriers.get(key)
    if (command === undefined || command.since === null) return null
    const { newest } = command
    // The same message twice in a row counts once.
    if (newest?.offset !== place.offset || newest.epoch !== place.epoch) command.received += 1
    command.newest = place
    return command.since
  }

  /** A reply to a command of ours. */
  take(command: Command, reply: ReplyMessage): void {
    switch (reply.type) {
      case 'subscribed':
        return this.#accept(command, reply)
      case 'synced':
      case 'resumed':
        return this.#finish(command, reply)
      case 'resume_limited':
        return this.#goOn(command, reply)
      case 'unsubscribed':
        this.#parts.outbox.end(command, reply)
        return this.#makeGood(command)
      case 'error':
        return this.#refused(command, reply)
      default:
        return this.#parts.outbox.end(command, reply)
    }
  }

  #send(line: Line, touched: Iterable<Key>): void {
    if (!this.#isConnected) return
    const fresh: Key[] = []
    for (const key of touched) {
      if (key.phase !== 'new') continue
      const cover = coverOf(line, key.target)
      if (cover === null) fresh.push(key)
      else if (cover.phase === 'live') this.#live(key)
    }
    for (const { keys, since } of parcels(line.channel, fresh, (key) => this.#since(line, key))) {
      if (since === null) this.#parts.onAnew(line, keys)
      else line.resuming += 1
      for (const key of keys) key.phase = 'sent'
      const fields = subscribeFields(line.channel, keys, since)
      const { channel } = line
      const command = { action: 'subscribe', channel, keys, since, fields, onEnd: null } as const
      this.#carry(keys, this.#parts.outbox.add(command))
    }
  }

  /** From where a key is resumed; null: it begins anew. */
  #since(line: Line, key: Key): Position | null {
    const place = key.cursor ?? line.position
    const { target } = key
    if (line.channel === 'orderbook' && target.kind === 'market') {
      return this.#parts.isBookInSync(target.marketId) ? place : null
    }
    return key.hasBegun ? place : null
  }

  #carry(keys: readonly Key[], command: Command): void {
    for (const key of keys) this.#carriers.set(key, command)
  }

  #accept(command: Command, reply: ReplyMessage & { type: 'subscribed' }): void {
    if (command.channel === null || command.action !== 'subscribe') return
    const line = this.#parts.lines[command.channel]
    const kind = command.keys[0]?.target.kind
    if (kind === 'market') command.keys = this.#acceptMarkets(line, command, reply)
    else if (kind === 'event') command.keys = this.#acceptEvent(line, command, reply)
    this.#carry(command.keys, command)
  }

  #acceptMarkets(
    line: Line,
    command: Command,
    { accepted, rejected }: ReplyMessage & { type: 'subscribed' },
  ): readonly Key[] {
    const codes = new Map(rejected.map((row) => [row.market_id.toLowerCase(), row.code]))
    const canonical = new Map(accepted.map((id) => [id.toLowerCase(), id]))
    const kept: Key[] = []
    for (const key of command.keys) {
      const name = nameOf(key.target)
      const id = canonical.get(name.toLowerCase())
      this.#carriers.delete(key)
      if (id === undefined) {
        this.#reject(line, key, codes.get(name.toLowerCase()) ?? 'UNKNOWN_MARKET')
        continue
      }
      // Taken out by the user meanwhile: the command that takes it out is on its way.
      if (key.holders.size === 0) continue
      const now = line.keys.rename(key, id)
      if (now !== key) {
        now.phase = key.phase
        for (const holder of [...key.holders]) holder.tellReplaced(key, [now])
      }
      kept.push(now)
    }
    return kept
  }

  #acceptEvent(
    line: Line,
    command: Command,
    { accepted, rejected }: ReplyMessage & { type: 'subscribed' },
  ): readonly Key[] {
    const event = command.keys[0]
    if (event === undefined) return []
    this.#carriers.delete(event)
    line.keys.remove(event)
    const markets = accepted.map((marketId) => {
      const key = line.keys.add(line.channel, { kind: 'market', marketId }, event.options)
      if (key.phase === 'new') key.phase = 'sent'
      return key
    })
    const holders = [...event.holders]
    if (accepted.length === 0) {
      for (const holder of holders) {
        holder.tellRejected(event, rejected[0]?.code ?? 'UNKNOWN_MARKET')
      }
    } else for (const holder of holders) holder.tellReplaced(event, markets)
    // Given up before the answer came: so are its markets, where no other handle wants them.
    this.#takeOut(line, unheld(markets))
    return markets.filter((key) => key.holders.size > 0)
  }

  #finish(command: Command, reply: ReplyMessage & { type: 'synced' | 'resumed' }): void {
    const line = this.#parts.lines[reply.channel]
    const isSince = command.since !== null
    if (isSince && reply.type === 'resumed' && command.received < reply.replayed) {
      if (!this.#parts.onShort(line, reply.replayed - command.received)) return
    }
    this.#parts.outbox.end(command, reply)
    line.finish({ epoch: reply.epoch, offset: reply.offset }, isSince)
    for (const key of command.keys) key.whole = wholeOf(key, command, reply)
    if (command.action === 'subscribe') for (const key of command.keys) this.#live(key)
    this.#parts.onDone(line)
  }

  #live(key: Key): void {
    const line = this.#parts.lines[key.channel]
    this.#carriers.delete(key)
    key.phase = 'live'
    key.hasBegun = true
    key.cursor = null
    for (const holder of key.holders) holder.tellLive(key)
    if (key.target.kind !== 'all' && key.target.kind !== 'platform') return
    for (const other of line.keys.all()) {
      if (other.phase !== 'live' && coverOf(line, other.target) === key) this.#live(other)
    }
  }

  /** A limited resume is repeated from where it stopped. */
  #goOn(command: Command, { epoch, offset }: ReplyMessage & { type: 'resume_limited' }): void {
    const { since, channel } = command
    if (since === null || channel === null) return
    if (since.epoch === epoch && since.offset === offset) {
      return this.#parts.onStuck('a limited resume does not get on')
    }
    command.since = { epoch, offset }
    command.fields = subscribeFields(channel, command.keys, command.since)
    command.attempts = 0
    for (const key of command.keys) key.cursor = command.since
    this.#parts.outbox.again(command)
  }

  #refused(command: Command, reply: ReplyMessage & { type: 'error' }): void {
    if (reply.code === 'RATE_LIMITED') return this.#parts.outbox.slowDown(command)
    this.#parts.outbox.end(command, null)
    if (command.action !== 'subscribe' || command.channel === null) return
    const line = this.#parts.lines[command.channel]
    for (const key of command.keys) this.#reject(line, key, reply.code)
    if (command.since !== null) line.settle()
    this.#parts.onUnwanted(line)
  }

  #reject(line: Line, key: Key, code: string): void {
    line.keys.remove(key)
    this.#carriers.delete(key)
    for (const holder of [...key.holders]) holder.tellRejected(key, code)
  }

  #release(line: Line, handle: Handle): void {
    this.#handles.delete(handle)
    for (const key of handle.keys) key.holders.delete(handle)
    this.#takeOut(line, unheld([...handle.keys]))
  }

  #takeOut(line: Line, keys: readonly Key[]): void {
    if (keys.length === 0) return
    for (const key of keys) line.keys.remove(key)
    const { channel } = line
    // What is still covered by more cannot be taken out; an event has no subscription of its own.
    const told = keys.filter(
      (key) =>
        key.phase !== 'new' && key.target.kind !== 'event' && coverOf(line, key.target) === null,
    )
    if (this.#isConnected) {
      for (const parcel of parcels(channel, told, () => null)) {
        const fields = { channel, ...targetFields(parcel.keys) }
        const rest = { channel, keys: parcel.keys, since: null, fields, onEnd: null }
        this.#parts.outbox.add({ action: 'unsubscribe', ...rest })
      }
    }
    const wide = keys.filter(({ target }) => target.kind === 'all' || target.kind === 'platform')
    if (wide.length > 0) this.#uncover(line)
    this.#parts.onUnwanted(line)
  }

  /** A wide key is gone, and with it, at the server, what it contained: asked for again. */
  #uncover(line: Line): void {
    const bare = [...line.keys.all()].filter((key) => coverOf(line, key.target) === null)
    const replaced = bare.filter((key) => key.phase === 'live' && !this.#carriers.has(key))
    for (const key of replaced) key.phase = 'new'
    this.#send(line, bare)
  }

  /** An `unsubscribe` that had to be repeated may have come after a newer `subscribe`. */
  #makeGood(command: Command): void {
    if (command.attempts < 2 || command.channel === null) return
    const line = this.#parts.lines[command.channel]
    const wanted = command.keys.flatMap(({ target }) => line.keys.find(target) ?? [])
    for (const key of wanted) if (key.phase === 'live') key.phase = 'new'
    this.#send(line, wanted)
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

/** The wide key, other than itself, that contains a target. */
function coverOf(line: Line, target: KeyTarget): Key | null {
  if (target.kind === 'market') return line.keys.cover(target.marketId)
  return target.kind === 'platform' ? line.keys.find({ kind: 'all' }) : null
}

/** The server would refuse it: options are one set a market, and the wider subscription's. */
function isOtherwiseCovered(line: Line, target: KeyTarget, options: ChannelOptions): boolean {
  const cover = coverOf(line, target)
  return cover !== null && !sameOptions(cover.options, options)
}

/** Up to where a key has everything of a run from its first message on; null: not known. */
function wholeOf(
  key: Key,
  { since }: Command,
  { type, epoch, offset }: ReplyMessage & { type: 'synced' | 'resumed' },
): Position | null {
  if (offset === 0) return { epoch, offset }
  if (type !== 'resumed' || since === null) return null
  // Across a restart everything of the new run came. Within a run the first place stays, since what
  // was lost behind it unseen is fetched from there.
  if (since.epoch !== epoch) return { epoch, offset }
  return key.whole?.epoch === epoch ? key.whole : null
}

function subscribeFields(channel: Channel, keys: readonly Key[], since: Position | null) {
  const fields = { channel, ...targetFields(keys), ...keys[0]?.options }
  return since === null ? fields : { ...fields, since }
}

function unheld(keys: readonly Key[]): Key[] {
  return keys.filter((key) => key.holders.size === 0)
}
