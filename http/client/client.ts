// Connection lifecycle: connect, reconnect, watchdog and event delivery. Invalid server input never throws and never
// rejects a promise.

import type { Chance, ClientClock, SocketConstructor, StopTimer } from './ambient.ts'
import { delayMs, type End } from './back-off.ts'
import type { BookView } from './book.ts'
import { ChannelState } from './channel-state.ts'
import { type Channel, isChannel, isFiltered, isRecord, PerChannel, rulesOf } from './channels.ts'
import { CommandQueue } from './command-queue.ts'
import { EventQueue } from './event-queue.ts'
import { Inbox } from './inbox.ts'
import {
  type ClientState,
  type ConnectedMessage,
  type HeartbeatMessage,
  isDataMessage,
  type Position,
  type ReplyMessage,
  readMessage,
  type ServerMessage,
  type StreamEvent,
} from './messages.ts'
import { ClientSocket } from './socket.ts'
import type { Subscription } from './subscription-handle.ts'
import { type SubscribeRequest, Subscriptions } from './subscriptions.ts'

const QUEUE_EVENTS = 10_000
const IDS_PER_COMMAND = 100
/** Watchdog ticks after which a pending command causes a probe by `ping`. A tick is half a heartbeat. */
const PROBE_BEATS = 4
const TICKET_MS = 10_000
/** Every this many heartbeats, the client compares each market's `seq` with the server's list. */
const COMPARE_HEARTBEATS = 6

interface ClientParts {
  /** Contains the credential unless `ticket` is set. */
  readonly url: string
  readonly ticket: (() => Promise<string>) | null
  readonly WebSocket: SocketConstructor
  readonly clock: ClientClock
  readonly chance: Chance
  readonly decode: (bytes: Uint8Array) => readonly unknown[]
  readonly onEvent: ((event: StreamEvent) => void) | null
}

export class StreamClient {
  readonly #parts: ClientParts
  readonly #channelStates = new PerChannel((channel) => new ChannelState(channel))
  readonly #commandQueue: CommandQueue
  readonly #subscriptions: Subscriptions
  readonly #inbox: Inbox
  readonly #queues = new Set<EventQueue>()
  #state: ClientState = 'connecting'
  #socket: ClientSocket | null = null
  #cancelRetry: StopTimer | null = null
  #cancelTicket: StopTimer | null = null
  #attempts = 0
  #isGreeted = false
  #isCatchingUp = false
  #epoch: string | null = null
  #openBeats = 0
  #heartbeats = 0

  constructor(parts: ClientParts) {
    this.#parts = parts
    const cut = (reason: string): void => this.#socket?.cut(reason)
    this.#commandQueue = new CommandQueue({
      clock: parts.clock,
      send: (text) => this.#socket?.send(text),
      onStuck: cut,
    })
    this.#inbox = new Inbox({
      channelStates: this.#channelStates,
      emit: (event) => this.#emit(event),
      requestSnapshots: (marketIds) => this.snapshot(marketIds),
      onCounted: (key, position) => this.#subscriptions.count(key, position),
      cut,
    })
    this.#subscriptions = new Subscriptions({
      commandQueue: this.#commandQueue,
      channelStates: this.#channelStates,
      isBookInSync: (marketId) => this.#inbox.books.isInSync(marketId),
      onUnwanted: (channelState) => this.#inbox.dropUnwanted(channelState),
      onResubscribe: (channelState, keys) => this.#inbox.expect(channelState.channel, keys),
      onDone: (channelState) => {
        if (channelState.channel === 'orderbook' && channelState.resuming === 0)
          this.#requestMissing()
        this.#noteState()
      },
      onShortResume: (channelState, lost) => this.#inbox.handleShortResume(channelState, lost),
      onStuck: cut,
    })
    this.#open()
  }

  get state(): ClientState {
    return this.#state
  }

  /** Subscribes now or on the next connection. Subscribes again after each reconnect. */
  subscribe(request: SubscribeRequest): Subscription {
    const subscription = this.#subscriptions.subscribe(request)
    if (this.#state === 'closed') this.#subscriptions.end()
    // The client does not reconnect without subscriptions, because the server closes such connections.
    else if (this.#isAway) this.#open()
    return subscription
  }

  /** The book of a market, with at most `depth` levels per side. Null before the first snapshot. */
  book(marketId: string, depth?: number): BookView | null {
    const view = this.#inbox.books.view(marketId, depth)
    return view === null || view.epoch === '' ? null : view
  }

  /** The resume position of a channel. Null before the first message. */
  position(channel: Channel): Position | null {
    return this.#channelStates.of(channel).position
  }

  /** Requests new snapshots of markets with a subscription to `orderbook`. The snapshots arrive as events. */
  snapshot(marketIds: readonly string[]): void {
    const { keys } = this.#channelStates.of('orderbook')
    const wanted = marketIds.filter((marketId) => keys.keyOf(marketId) !== null)
    if (!this.#isGreeted || !this.#commandQueue.hasCapacity) return
    for (let start = 0; start < wanted.length; start += IDS_PER_COMMAND) {
      const fields = { market_ids: wanted.slice(start, start + IDS_PER_COMMAND) }
      const rest = { channel: null, keys: [], since: null, onEnd: null }
      this.#commandQueue.add({ action: 'snapshot', fields, ...rest })
    }
  }

  /** Resolves with the server's list of this connection's subscriptions, or null if the connection ends first. */
  list(): Promise<Extract<ReplyMessage, { type: 'subscriptions' }> | null> {
    return new Promise((resolve) => {
      this.#sendQuery('list', (reply) => resolve(reply?.type === 'subscriptions' ? reply : null))
    })
  }

  /** Resolves with the round-trip time in milliseconds, including pending commands. Null if the connection ends first. */
  ping(): Promise<number | null> {
    const { clock } = this.#parts
    const startMs = clock.monotonicMs()
    return new Promise((resolve) => {
      this.#sendQuery('ping', (reply) =>
        resolve(reply === null ? null : clock.monotonicMs() - startMs),
      )
    })
  }

  /** Iterates over all later events. Each call has its own queue. A slow reader gets a gap event. */
  events(queueMax = QUEUE_EVENTS): AsyncIterableIterator<StreamEvent> {
    const queue = new EventQueue(Math.max(1, queueMax), (returned) => this.#queues.delete(returned))
    this.#queues.add(queue)
    if (this.#state === 'closed') queue.end()
    return queue
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent> {
    return this.events()
  }

  /** Closes the client permanently. The last books can still be read. */
  close(): void {
    if (this.#state === 'closed') return
    this.#socket?.close()
    this.#finish(null, 'closed by the user')
  }

  #open(): void {
    this.#isGreeted = false
    this.#isCatchingUp = false
    this.#openBeats = 0
    this.#change('connecting', null, '', null)
    if (this.#state === 'closed') return
    const { url, ticket } = this.#parts
    if (ticket === null) this.#connect(url)
    else this.#requestTicket(ticket)
  }

  get #isAway(): boolean {
    return this.#socket === null && this.#cancelRetry === null && this.#cancelTicket === null
  }

  #requestTicket(ticket: () => Promise<string>): void {
    let isOver = false
    const settle = (then: () => void): void => {
      if (isOver) return
      isOver = true
      this.#cancelTicket?.()
      this.#cancelTicket = null
      if (this.#state !== 'closed') then()
    }
    const fail = (reason: string, status: number | null): void =>
      settle(() => this.#ended({ code: 1006, reason, status }))
    this.#cancelTicket = this.#parts.clock.after(TICKET_MS, () => fail('no ticket came', null))
    ticket().then(
      (text) =>
        settle(() => {
          const address = new URL(this.#parts.url)
          address.searchParams.set('ticket', text)
          this.#connect(address.toString())
        }),
      (error: unknown) => {
        const status = isRecord(error) && typeof error.status === 'number' ? error.status : null
        // Status 0: the request got no response.
        fail('no ticket was given', status === 0 ? null : status)
      },
    )
  }

  #connect(url: string): void {
    const { WebSocket, clock, decode } = this.#parts
    this.#socket = new ClientSocket({
      url,
      WebSocket,
      clock,
      decode,
      onValue: (value) => this.#receive(value),
      onDamage: (reason) => this.#damaged(reason),
      onBeat: () => this.#beat(),
      onEnd: (end) => this.#ended(end),
    })
  }

  #receive(value: unknown): void {
    const message = readMessage(value)
    if (message === 'damaged') return this.#damaged('a message lacks what its kind must have')
    if (message === 'unknown') {
      return this.#emit({ type: 'fault', reason: 'a message of a kind this client does not know' })
    }
    this.#take(message)
  }

  /** After an unreadable message, any message may be missing, so the client resumes. */
  #damaged(reason: string): void {
    this.#emit({ type: 'fault', reason })
    this.#socket?.cut(reason)
  }

  #take(message: ServerMessage): void {
    if (isDataMessage(message)) return this.#inbox.take(message)
    switch (message.type) {
      case 'resync':
        return this.#inbox.resync(message)
      case 'stale':
      case 'fresh':
        return this.#inbox.handleStaleness(message)
      case 'gap':
        return this.#inbox.lost(message)
      case 'connected':
        return this.#greeted(message)
      case 'heartbeat':
        this.#emit(message)
        return this.#heartbeat(message)
      case 'status':
        return this.#emit(message)
      default:
        this.#emit(message)
        return this.#reply(message)
    }
  }

  #greeted(message: ConnectedMessage): void {
    if (this.#isGreeted) return
    this.#isGreeted = true
    this.#socket?.setBeat(message.heartbeat_s)
    this.#inbox.connect()
    this.#emit(message)
    this.#subscriptions.connect()
    this.#noteState()
    this.#commandQueue.open(message.limits.commands_per_s)
  }

  #reply(reply: ReplyMessage): void {
    if (reply.type === 'pong') this.#commandQueue.pong(reply.id)
    const command = this.#commandQueue.find(reply.id)
    if (command !== null) {
      this.#openBeats = 0
      this.#subscriptions.take(command, reply)
    } else if (reply.type === 'error' && reply.code === 'RATE_LIMITED')
      this.#commandQueue.slowDown(null)
    this.#noteState()
  }

  #heartbeat({ offsets, catching_up, epoch }: HeartbeatMessage): void {
    this.#epoch = epoch
    this.#isCatchingUp = catching_up === true
    this.#noteState()
    if (offsets === undefined || this.#isCatchingUp) return
    if (!this.#subscriptions.isResuming) this.#attempts = 0
    for (const channelState of this.#channelStates.all()) {
      const { channel } = channelState
      const offset = offsets[channel]
      const all = channelState.keys.find({ kind: 'all' })
      const isComplete = all?.phase === 'live' && channelState.resuming === 0
      if (offset === undefined || channelState.position === null || !isComplete) continue
      // Options filter messages on the server, so messages before the heartbeat are not missing.
      if (isFiltered(channel, all.options)) channelState.move(epoch, offset)
      if (channelState.position.epoch !== epoch || channelState.position.offset < offset) {
        return this.#socket?.cut(
          `${channel} is at ${channelState.position.offset}, the server at ${offset}`,
        )
      }
    }
    this.#heartbeats += 1
    if (this.#heartbeats % COMPARE_HEARTBEATS === 0) this.#compare()
  }

  /**
   * Compares each market's `seq` with the server's list. Otherwise the loss of a market's last message would go
   * undetected. Skips wildcard subscriptions, whose lists would be too long.
   */
  #compare(): void {
    const all = this.#channelStates.all()
    const counted = all.filter(({ channel }) => rulesOf(channel).delivery !== 'state')
    if (all.some(({ keys }) => keys.wide.size > 0) || this.#commandQueue.openCount > 0) return
    if (counted.every(({ keys }) => keys.size === 0)) return
    this.#sendQuery('list', (reply) => {
      if (reply?.type === 'subscriptions') this.#compareWith(reply.subscriptions)
    })
  }

  #compareWith(entries: readonly Readonly<Record<string, unknown>>[]): void {
    const epoch = this.#epoch
    for (const entry of entries) {
      const { channel, market_id: marketId, seq } = entry
      if (!isChannel(channel) || typeof marketId !== 'string') continue
      const channelState = this.#channelStates.of(channel)
      const isLive =
        channelState.keys.markets.get(marketId)?.phase === 'live' && channelState.resuming === 0
      if (!isLive || typeof seq !== 'number' || channelState.position?.epoch !== epoch) continue
      const { offset } = channelState.position
      this.#inbox.compare(channel, marketId, { epoch: channelState.position.epoch, offset, seq })
      if (this.#socket === null) return
    }
  }

  #beat(): void {
    if (!this.#isGreeted || this.#isCatchingUp) return
    if (this.#commandQueue.openCount === 0) {
      this.#openBeats = 0
      return this.#inbox.books.beat()
    }
    this.#openBeats += 1
    if (this.#openBeats % PROBE_BEATS === 0) this.#commandQueue.probe()
  }

  #requestMissing(): void {
    if (this.#commandQueue.openCount === 0) this.#inbox.books.requestMissing()
  }

  #ended(end: End): void {
    this.#socket = null
    this.#isGreeted = false
    this.#subscriptions.disconnect()
    this.#commandQueue.close()
    const delay = delayMs(end, this.#attempts, this.#parts.chance)
    const reason = end.status === null ? end.reason : `refused with status ${end.status}`
    if (delay === null) return this.#finish(end.code, reason)
    this.#attempts += 1
    // The server closes connections without subscriptions. The next `subscribe` reconnects.
    const isIdle = end.code === 4001 && this.#subscriptions.isEmpty
    if (!isIdle) {
      this.#cancelRetry = this.#parts.clock.after(delay, () => {
        this.#cancelRetry = null
        this.#open()
      })
    }
    this.#change('waiting', end.code, reason, isIdle ? null : delay)
  }

  #finish(code: number | null, reason: string): void {
    this.#socket = null
    this.#isGreeted = false
    this.#cancelRetry?.()
    this.#cancelRetry = null
    this.#cancelTicket?.()
    this.#change('closed', code, reason, null)
    this.#subscriptions.disconnect()
    this.#commandQueue.close()
    this.#subscriptions.end()
    for (const queue of this.#queues) queue.end()
    this.#queues.clear()
  }

  #sendQuery(action: 'list' | 'ping', onEnd: (reply: ReplyMessage | null) => void): void {
    if (!this.#isGreeted || !this.#commandQueue.hasCapacity) return onEnd(null)
    this.#commandQueue.add({ action, channel: null, keys: [], since: null, fields: {}, onEnd })
  }

  #noteState(): void {
    if (!this.#isGreeted) return
    const isBehind = this.#isCatchingUp || this.#subscriptions.isResuming
    this.#change(isBehind ? 'catching_up' : 'live', null, '', null)
  }

  #change(state: ClientState, code: number | null, reason: string, retry: number | null): void {
    if (this.#state === state && state !== 'connecting') return
    if (this.#state === 'closed') return
    this.#state = state
    this.#emit({ type: 'state', state, code, reason, retry_ms: retry })
  }

  #emit(event: StreamEvent): void {
    for (const queue of this.#queues) queue.push(event)
    const { onEvent } = this.#parts
    if (onEvent === null) return
    try {
      onEvent(event)
    } catch (error) {
      // Rethrows the error of the user's listener in a later task, so that the client's state stays valid.
      queueMicrotask(() => {
        throw error
      })
    }
  }
}
