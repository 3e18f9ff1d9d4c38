// A WebSocket connection. States: live, lagging (unsubscribed since a recorded offset), catching up, and leaving (waits
// until the close frame fits into the buffer).

import type { BookDemand, Caller, MarketView } from '../../../actors/views.ts'
import type { GapUpdate } from '../../../engine/events.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import {
  commandsWaitingMax,
  laggingMsMax,
  leavingMsMax,
  socketBufferBytesLow,
  socketBufferBytesSoft,
  streamSliceMs,
  unsubscribedMsMax,
} from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { type Close, closeCodes } from '../close-codes.ts'
import type { Command, CommandId, StreamErrorCode } from '../command.ts'
import {
  type Encoder,
  type Frame,
  gapMessage,
  type Heartbeat,
  heartbeatMessage,
  type Reply,
  statusMessage,
} from '../encode/encoder.ts'
import type { Socket } from '../fan-out/batches.ts'
import {
  type ChannelName,
  type ChannelVariant,
  heartbeatTopic,
  statusTopic,
  topicOf,
  type WideKey,
} from '../fan-out/channel-variants.ts'
import type { Topic } from '../fan-out/fan-out.ts'
import { parseCommand } from '../protocol.ts'
import { catchUp, type Lag } from '../resume/catch-up.ts'
import { CommandLimits, RATE_MESSAGE, weightOf } from './command-limits.ts'
import type { Connection, HubAccess, SliceOutcome, Task } from './connection.ts'
import { connectedMessage } from './greeting.ts'
import { type BookHolds, type Subscribed, Subscriptions } from './subscriptions.ts'
import { carryOut } from './tasks.ts'
import type { WildcardSubscription } from './wildcard-subscription.ts'

type State =
  | { readonly kind: 'live' }
  | {
      readonly kind: 'lagging'
      readonly sinceMs: TimeMs
      /** All messages up to these offsets are in the socket's buffer. */
      readonly after: Lag['after']
      bufferedMin: number
      progressAtMs: number
    }
  | { readonly kind: 'catchingUp'; progressAtMs: number }
  /** The client read too slowly. The connection waits until its buffer is empty and then sends the close frame. */
  | { readonly kind: 'leaving'; readonly untilMs: number }
  | { readonly kind: 'closed' }

const CUT = 1006

export class Session implements Connection {
  readonly id: string
  readonly caller: Caller
  readonly encoder: Encoder
  readonly subscriptions: Subscriptions
  wildcard: WildcardSubscription | null = null
  isReplaying = false
  /** Empty while the connection lags. */
  readonly #topics = new Map<string, Topic>()
  readonly #ws: Socket
  readonly #hub: HubAccess
  #isWaiting = false
  #state: State = { kind: 'live' }
  /** At most `commandsWaitingMax` commands. */
  readonly #waiting: Command[] = []
  /** A stack: the last task runs. A catch-up is pushed above the task that it interrupts. */
  readonly #tasks: Task[] = []
  #isRunning = false
  #isBroken = false
  #ending: Close | null = null
  readonly #limits: CommandLimits
  #unsubscribedSinceMs: number

  constructor(parts: { id: string; caller: Caller; encoder: Encoder; ws: Socket; hub: HubAccess }) {
    this.id = parts.id
    this.caller = parts.caller
    this.encoder = parts.encoder
    this.#ws = parts.ws
    this.#hub = parts.hub
    this.#limits = new CommandLimits(parts.hub.clock)
    const holds: BookHolds = {
      hold: (market) => this.#holdBook(market),
      release: ({ venue, number }) =>
        this.#coverage(venue)?.release(number, this.caller.accountId, 'subscription'),
    }
    const { variants } = parts.hub
    this.subscriptions = new Subscriptions((channel) =>
      variants.needsBook(channel) ? holds : null,
    )
    this.#unsubscribedSinceMs = parts.hub.clock.monotonicMs()
  }

  #coverage(venue: VenueKey): BookDemand | null {
    return this.#hub.engine.coverage(venue)
  }

  #holdBook({ venue, number }: MarketRef): boolean {
    if (this.isClosed) return false
    const coverage = this.#coverage(venue)
    return coverage?.hold(number, this.caller.accountId, 'subscription') ?? false
  }

  get isClosed(): boolean {
    return this.#state.kind === 'closed'
  }

  /** False while the connection is lagging, catching up, leaving or closed. */
  get isLive(): boolean {
    return this.#state.kind === 'live'
  }

  get bufferedBytes(): number {
    return this.isClosed ? 0 : this.#ws.getBufferedAmount()
  }

  get hasWork(): boolean {
    return this.#tasks.length > 0 || this.#waiting.length > 0
  }

  open(): void {
    this.#ws.subscribe(statusTopic(this.encoder.form))
    this.#ws.subscribe(heartbeatTopic(this.encoder.form))
    const { engine, clock } = this.#hub
    const facts = { id: this.id, nowMs: clock.nowMs(), data: engine.data, replay: null }
    this.reply(connectedMessage(facts))
    for (const venue of engine.venues()) this.reply(statusMessage(venue))
  }

  /** Handles a frame of the client. `bytes` are valid during the call only. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    if (this.isClosed || this.#ending !== null || this.#state.kind === 'leaving') return
    if (!this.#takeCommands(1)) return
    const command = parseCommand(bytes, isBinary, this.#hub.variants)
    if (command.kind === 'refused') return this.refuse(command.id, command.code, command.message)
    if (!this.#takeCommands(weightOf(command) - 1, command.id)) return
    if (this.#waiting.length >= commandsWaitingMax) {
      return this.#limit(command.id, `at most ${commandsWaitingMax} commands wait`)
    }
    this.#waiting.push(command)
    this.#hub.advance(this)
  }

  /** The library sends the pong. */
  receivePing(): void {
    if (this.isClosed || this.#ending !== null || this.#state.kind === 'leaving') return
    if (!this.#limits.takePing()) this.#limit(null, RATE_MESSAGE)
  }

  /** Beyond the limit, refuses the current command and returns false. */
  #takeCommands(count: number, id: CommandId = null): boolean {
    const isWithin = this.#limits.take(count)
    if (!isWithin) this.#limit(id, RATE_MESSAGE)
    return isWithin
  }

  #limit(id: CommandId, message: string): void {
    const outcome = this.#limits.refuse()
    if (outcome === 'close') this.end(closeCodes.tooManyErrors)
    else if (outcome === 'answer') this.reply({ type: 'error', id, code: 'RATE_LIMITED', message })
  }

  /** Sends `error`. Closes the connection after the tenth error within a minute. */
  refuse(id: CommandId, code: StreamErrorCode, message: string): void {
    this.reply({ type: 'error', id, code, message })
    if (!this.#limits.countError()) this.end(closeCodes.tooManyErrors)
  }

  reply(reply: Reply): void {
    this.send(this.encoder.reply(reply))
  }

  /** The library sends earlier published messages first. */
  send(frame: Frame): void {
    if (this.isClosed || this.#state.kind === 'leaving') return
    // 2: the library dropped the message above the hard limit. The stream now has a gap and must be closed.
    if (this.#ws.send(frame, this.encoder.isBinary) === 2) this.break()
  }

  sendState(variant: ChannelVariant, view: MarketView, isResync = false): void {
    const channel = this.#hub.channelOf(variant)
    let frame = channel.state?.(variant, view, this.encoder) ?? null
    if (isResync) frame ??= channel.emptyState?.(variant, view, this.encoder) ?? null
    if (frame !== null) this.send(frame)
  }

  subscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void {
    const { form } = this.encoder
    const name = topicOf(form, variant, key)
    if (this.isClosed || this.#topics.has(name)) return
    this.#topics.set(name, this.#hub.fanOut.addSubscriber(form, variant, key))
    this.#ws.subscribe(name)
  }

  join(variant: ChannelVariant, { key, refs }: Subscribed): void {
    const subscriptions = this.subscriptions.ofVariant(variant)
    if (key !== null && !subscriptions.covers(key)) {
      subscriptions.wide.set(key, variant)
      this.subscribe(variant, key)
    }
    for (const ref of refs) {
      if (subscriptions.variantOf(ref) !== null) continue
      subscriptions.add(ref, variant)
      this.subscribe(variant, ref.number)
    }
  }

  leave(channel: ChannelName, subscribed: Subscribed): void {
    const taken = this.subscriptions.of(channel).take(subscribed)
    for (const { variant, key } of taken) this.unsubscribe(variant, key)
  }

  unsubscribe(variant: ChannelVariant, key: MarketNumber | WideKey): void {
    const topic = this.#topics.get(topicOf(this.encoder.form, variant, key))
    if (topic === undefined) return
    this.#topics.delete(topic.name)
    this.#hub.fanOut.removeSubscriber(topic)
    this.#ws.unsubscribe(topic.name)
  }

  /** Sends `gap` only if the lost messages affect a subscription. */
  sendGap(update: GapUpdate): void {
    const { channel, market, venue, platform, fromMs, toMs, count } = update
    const subscriptions = this.subscriptions.of(channel)
    const isTouched =
      market === null
        ? subscriptions.covers(venue) ||
          [...subscriptions.singles.values()].some(({ ref }) => ref.venue === venue)
        : subscriptions.variantOf(market) !== null
    if (!isTouched && !this.isReplaying) return
    const where = market === null ? { platform } : { marketId: market.id }
    this.reply(gapMessage({ channel, where, fromMs, toMs, count }))
  }

  /**
   * Sends a heartbeat without offsets while the connection is not live, since it may have missed messages up to the
   * current offsets.
   */
  beat(beat: Omit<Heartbeat, 'offsets'>): void {
    if (!this.isLive) this.reply(heartbeatMessage({ ...beat, offsets: null }))
  }

  waitFor(arrival: Promise<void>): void {
    this.#isWaiting = true
    void arrival.then(() => {
      this.#isWaiting = false
      this.#hub.advance(this)
    })
  }

  run(): SliceOutcome {
    const { kind } = this.#state
    if (this.#isRunning || (kind !== 'live' && kind !== 'catchingUp')) return 'idle'
    let outcome: SliceOutcome = 'idle'
    this.#isRunning = true
    this.#ws.cork(() => {
      // An exception must not propagate through the library's native frames.
      try {
        outcome = this.#runSlice()
      } catch (error) {
        this.#hub.log.error({ err: error, connection: this.id }, 'a command failed')
        this.#ending = closeCodes.internal
      }
    })
    this.#isRunning = false
    if (this.#ending !== null) this.end(this.#ending)
    return outcome
  }

  #runSlice(): SliceOutcome {
    const startedMs = this.#hub.clock.monotonicMs()
    for (;;) {
      if (this.isClosed || this.#ending !== null || this.#isBroken) return 'idle'
      const task = this.#tasks[this.#tasks.length - 1]
      if (task === undefined) {
        const command = this.#waiting.shift()
        if (command === undefined) return 'idle'
        this.#tasks.push(carryOut(this, this.#hub, command))
        continue
      }
      if (this.#isWaiting || this.#ws.getBufferedAmount() > socketBufferBytesLow) return 'blocked'
      if (this.#state.kind === 'catchingUp') {
        this.#state.progressAtMs = this.#hub.clock.monotonicMs()
      }
      if (task.next().done === true) this.#tasks.pop()
      if (this.#hub.clock.monotonicMs() - startedMs > streamSliceMs) return 'more'
    }
  }

  /** Checks the buffer and the deadlines. Returns the number of buffered bytes, or 0 after the connection was closed. */
  sweep(nowMs: number): number {
    if (this.isClosed) return 0
    const buffered = this.#ws.getBufferedAmount()
    const state = this.#state
    switch (state.kind) {
      case 'live':
        if (buffered > socketBufferBytesSoft) this.#lag(buffered, nowMs)
        else this.#advance(buffered)
        break
      case 'lagging':
        this.#sweepLagging(state, buffered, nowMs)
        break
      case 'catchingUp':
        if (nowMs - state.progressAtMs > laggingMsMax) this.#leave(nowMs)
        else this.#advance(buffered)
        break
      case 'leaving':
        // Behind unsent data, the close frame would wait in the library for up to 16 s.
        if (buffered === 0) this.end(closeCodes.slowReader)
        else if (nowMs > state.untilMs) this.cut()
        break
      case 'closed':
        return 0
    }
    this.#checkSubscribed(nowMs)
    return this.isClosed ? 0 : buffered
  }

  #advance(buffered: number): void {
    if (this.hasWork && buffered <= socketBufferBytesLow) this.#hub.advance(this)
  }

  #checkSubscribed(nowMs: number): void {
    if (this.isClosed || this.#state.kind === 'leaving') return
    if (this.subscriptions.count > 0 || this.hasWork) this.#unsubscribedSinceMs = nowMs
    else if (nowMs - this.#unsubscribedSinceMs > unsubscribedMsMax) {
      this.end(closeCodes.unsubscribed)
    }
  }

  /** Records the current offsets and unsubscribes from all topics before a message is dropped. */
  #lag(buffered: number, nowMs: number): void {
    this.#hub.countLagging()
    const after = new Map<ChannelName, number>()
    for (const channel of this.#hub.variants.names) {
      const { log } = this.#hub.channelOf(channel)
      if (log !== undefined) after.set(channel, log.messages.newest)
    }
    this.#state = {
      kind: 'lagging',
      sinceMs: this.#hub.clock.nowMs(),
      after,
      bufferedMin: buffered,
      progressAtMs: nowMs,
    }
    this.#unsubscribeAll()
  }

  #unsubscribeAll(): void {
    for (const { variant, key } of this.subscriptions.all()) this.unsubscribe(variant, key)
    if (this.wildcard !== null) this.#hub.fanOut.closeWildcard(this.wildcard)
    this.#ws.unsubscribe(heartbeatTopic(this.encoder.form))
  }

  /** Closes a slow reader when its buffer is empty, or without a close frame after a deadline. */
  #leave(nowMs: number): void {
    this.#state = { kind: 'leaving', untilMs: nowMs + leavingMsMax }
    this.#unsubscribeAll()
  }

  #sweepLagging(state: State & { kind: 'lagging' }, buffered: number, nowMs: number): void {
    if (buffered < socketBufferBytesLow) {
      this.#state = { kind: 'catchingUp', progressAtMs: nowMs }
      this.#tasks.push(catchUp(this, this.#hub, state))
      this.#hub.advance(this)
    } else if (buffered < state.bufferedMin) {
      state.bufferedMin = buffered
      state.progressAtMs = nowMs
    } else if (nowMs - state.progressAtMs > laggingMsMax) this.#leave(nowMs)
  }

  resumeLive(): void {
    if (this.isClosed) return
    this.#state = { kind: 'live' }
    this.#ws.subscribe(heartbeatTopic(this.encoder.form))
  }

  /**
   * The library calls this in its `dropped` handler, in which access to the socket crashes the process. The close is
   * therefore deferred.
   */
  break(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    setImmediate(() => this.cut())
  }

  /** Closes without a close frame. The client sees code 1006. */
  cut(): void {
    if (this.isClosed) return
    this.#hub.countClosed(CUT)
    this.#ws.close()
  }

  /** Closes with a code after the current slice. */
  end(close: Close): void {
    if (this.isClosed) return
    if (this.#isRunning) {
      this.#ending = close
      return
    }
    this.#hub.countClosed(close.code)
    this.#ws.end(close.code, close.reason)
  }

  /** Called when the socket is closed. No method of the socket may be called any more. */
  closed(): void {
    this.#state = { kind: 'closed' }
    for (const topic of this.#topics.values()) this.#hub.fanOut.removeSubscriber(topic)
    this.#topics.clear()
    this.subscriptions.clear()
    this.#tasks.length = 0
    this.#waiting.length = 0
  }
}
