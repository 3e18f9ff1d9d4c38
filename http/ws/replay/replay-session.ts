// A connection that replays past messages of the stream. It answers the stream's commands. The tape's thread selects and
// encodes the messages, and this file sends them at their times. Time stands until the first subscription and while a
// command is carried out.

import {
  type Caller,
  type OpenReplay,
  REPLAY_CHANNELS,
  type ReplayChannel,
  type ReplayChunk,
  type ReplayQuery,
  type ReplaySelection,
  type ReplaySlot,
} from '../../../actors/views.ts'
import type { StopTimer } from '../../../engine/clock.ts'
import {
  commandsWaitingMax,
  replayPausedMsMax,
  socketBufferBytesLow,
  streamSliceMs,
  subscriptionsMax,
  unsentMsMin,
  unsubscribedMsMax,
} from '../../../engine/limits.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { type TimeMs, timeMs } from '../../../engine/units.ts'
import type { ReplayPeriod } from '../../request/replay-period.ts'
import { ORDERBOOK } from '../channels/orderbook.ts'
import { type Close, closeCodes } from '../close-codes.ts'
import type { Command, CommandId, StreamErrorCode } from '../command.ts'
import type { Encoder, Heartbeat, Reply } from '../encode/encoder.ts'
import type { Socket } from '../fan-out/batches.ts'
import { type ChannelVariant, channelOfVariant } from '../fan-out/channel-variants.ts'
import { parseCommand } from '../protocol.ts'
import { CommandLimits, RATE_MESSAGE, weightOf } from '../session/command-limits.ts'
import type { HubAccess, SliceOutcome, Work } from '../session/connection.ts'
import { connectedMessage } from '../session/greeting.ts'
import { type Subscribed, Subscriptions } from '../session/subscriptions.ts'
import { accepted, isWithinLimit, resolve } from '../session/tasks.ts'
import { ReplayClock } from './replay-clock.ts'
import { TimedFrames } from './timed-frames.ts'

const US_PER_MS = 1_000
const CUT = 1006
/** Longer delays than 2^31 ms would end at once. */
const WAIT_MS_MAX = 60_000

interface Sending {
  readonly frames: TimedFrames
  /** Whether the messages wait for their times, and for commands. */
  readonly isPlayed: boolean
  readonly done: (isComplete: boolean) => void
}

export interface ReplaySessionParts {
  readonly id: string
  readonly caller: Caller
  readonly encoder: Encoder
  readonly ws: Socket
  readonly hub: HubAccess
  readonly period: ReplayPeriod
  /** 0: as fast as the client reads. */
  readonly speed: number
  /** The caller releases it when the connection is closed. */
  readonly slot: ReplaySlot
}

export class ReplaySession implements Work {
  readonly id: string
  readonly caller: Caller
  readonly #encoder: Encoder
  readonly #ws: Socket
  readonly #hub: HubAccess
  readonly #period: ReplayPeriod
  readonly #slot: ReplaySlot
  readonly #clock: ReplayClock
  readonly #limits: CommandLimits
  readonly #subscriptions = new Subscriptions(() => null)
  /** At most `commandsWaitingMax` commands. */
  readonly #waiting: Command[] = []
  #isPaused = false
  /** Reads the messages after the states at its start. Null: the subscriptions or the time have changed. */
  #reader: OpenReplay<ReplayChunk> | null = null
  /** The messages of the reader's newest chunk. Null: the reader has more, or there is no reader. */
  #frames: TimedFrames | null = null
  /** The time after the newest message that was sent. */
  #sentUs: number
  /** No message before this time is left, unless `#frames` has it. */
  #readUs: number
  #epoch = ''
  #sending: Sending | null = null
  #stopTimer: StopTimer = () => undefined
  #wake: () => void = () => undefined
  #isClosed = false
  #isBroken = false
  #bufferedBefore = 0
  #progressAtMs: number
  #activeAtMs: number

  constructor(parts: ReplaySessionParts) {
    this.id = parts.id
    this.caller = parts.caller
    this.#encoder = parts.encoder
    this.#ws = parts.ws
    this.#hub = parts.hub
    this.#period = parts.period
    this.#slot = parts.slot
    const { clock } = parts.hub
    const { fromUs } = parts.period
    this.#clock = new ReplayClock(clock, { fromUs, speed: parts.speed })
    this.#limits = new CommandLimits(clock)
    this.#sentUs = fromUs
    this.#readUs = fromUs
    this.#progressAtMs = clock.monotonicMs()
    this.#activeAtMs = this.#progressAtMs
  }

  get bufferedBytes(): number {
    return this.#isClosed ? 0 : this.#ws.getBufferedAmount()
  }

  get hasWork(): boolean {
    return this.#sending !== null
  }

  open(): void {
    const { fromUs, toUs } = this.#period
    const period = { from_ms: fromUs / US_PER_MS, to_ms: toUs / US_PER_MS }
    const replay = { ...period, speed: this.#clock.speed }
    const nowMs = this.#hub.clock.nowMs()
    this.#reply(connectedMessage({ id: this.id, nowMs, data: 'replay', replay }))
    void this.#run()
  }

  /** Handles a frame of the client. `bytes` are valid during the call only. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isClosed) return
    if (!this.#limits.take(1)) return this.#limit(null, RATE_MESSAGE)
    const command = parseCommand(bytes, isBinary, this.#hub.variants)
    if (command.kind === 'refused') return this.#refuse(command.id, command.code, command.message)
    if (!this.#limits.take(weightOf(command) - 1)) return this.#limit(command.id, RATE_MESSAGE)
    if (this.#waiting.length >= commandsWaitingMax) {
      return this.#limit(command.id, `at most ${commandsWaitingMax} commands wait`)
    }
    this.#waiting.push(command)
    this.#wake()
    if (this.#sending !== null) this.#hub.advance(this)
  }

  receivePing(): void {
    if (!this.#isClosed && !this.#limits.takePing()) this.#limit(null, RATE_MESSAGE)
  }

  #limit(id: CommandId, message: string): void {
    const outcome = this.#limits.refuse()
    if (outcome === 'close') this.end(closeCodes.tooManyErrors)
    else if (outcome === 'answer') this.#reply({ type: 'error', id, code: 'RATE_LIMITED', message })
  }

  #refuse(id: CommandId, code: StreamErrorCode, message: string): void {
    this.#reply({ type: 'error', id, code, message })
    if (!this.#limits.countError()) this.end(closeCodes.tooManyErrors)
  }

  #reply(reply: Reply): void {
    if (!this.#isClosed) this.#write(this.#encoder.reply(reply))
  }

  /** 2: the library dropped the message above the hard limit. */
  #write(frame: string | Uint8Array): void {
    if (this.#ws.send(frame, this.#encoder.isBinary) === 2) this.break()
  }

  async #run(): Promise<void> {
    try {
      while (!this.#isClosed) {
        const command = this.#waiting.shift()
        if (command !== undefined) {
          this.#clock.set(this.#nowUs)
          await this.#carryOut(command)
        } else if (this.#isPlaying) await this.#play()
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  get #isPlaying(): boolean {
    return !this.#isPaused && this.#subscriptions.count > 0
  }

  get #nowUs(): number {
    return this.#clock.nowUs(this.#sentUs, this.#frames?.us ?? this.#readUs)
  }

  get #nowMs(): TimeMs {
    return timeMs(Math.floor(this.#nowUs / US_PER_MS))
  }

  async #play(): Promise<void> {
    if (this.#frames === null) {
      this.#reader ??= this.#read(this.#selections(REPLAY_CHANNELS), 'omit')
      this.#frames = this.#framesOf(await this.#reader.next())
      if (this.#isClosed) return
    }
    const frames = this.#frames
    this.#clock.start()
    const isComplete = await this.#send(frames, true)
    if (frames.takenUs !== null) this.#sentUs = frames.takenUs + 1
    if (!isComplete || this.#isClosed) return
    if (frames.isLast) {
      this.#reply({ type: 'replay_end', position_ms: this.#period.toUs / US_PER_MS })
      return this.end(closeCodes.replayEnded)
    }
    this.#readUs = frames.us
    this.#frames = null
  }

  #framesOf(chunk: ReplayChunk): TimedFrames {
    this.#epoch = chunk.epoch ?? this.#epoch
    return new TimedFrames(chunk)
  }

  /** A reader from the present time on, or of the states at this time. */
  #read(
    selections: readonly ReplaySelection[],
    states: ReplayQuery['states'],
  ): OpenReplay<ReplayChunk> {
    const fromUs = this.#clock.us
    return this.#slot.read({
      ...{ fromUs, toUs: states === 'omit' ? this.#period.toUs : fromUs, selections, states },
      ...{ format: this.#encoder.isBinary ? 'msgpack' : 'ndjson', isTimed: true },
      ...{ isGzip: false, fromOffset: null },
    })
  }

  /** The next messages are read again, from the clock's time on. */
  #dropReader(): void {
    this.#reader?.close()
    this.#reader = null
    this.#frames = null
    this.#sentUs = this.#clock.us
    this.#readUs = this.#clock.us
  }

  async #sendStates(
    selections: readonly ReplaySelection[],
    states: 'send' | 'resync',
  ): Promise<void> {
    const reader = this.#read(selections, states)
    try {
      for (let isLast = false; !isLast && !this.#isClosed; ) {
        const frames = this.#framesOf(await reader.next())
        isLast = frames.isLast
        if (!this.#isClosed) await this.#send(frames, false)
      }
    } finally {
      reader.close()
    }
  }

  /** Resolves with false if a command or the end of the connection interrupts the messages. */
  #send(frames: TimedFrames, isPlayed: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isComplete: boolean) => {
        this.#sending = null
        resolve(isComplete)
      }
      this.#sending = { frames, isPlayed, done }
      this.#hub.advance(this)
    })
  }

  run(): SliceOutcome {
    const sending = this.#sending
    if (sending === null || this.#isClosed) return 'idle'
    this.#stopTimer()
    let outcome: SliceOutcome = 'idle'
    let failure: unknown = null
    this.#ws.cork(() => {
      // An exception must not propagate through the library's native frames.
      try {
        outcome = this.#runSlice(sending)
      } catch (error) {
        failure = error
      }
    })
    if (failure !== null) this.#fail(failure)
    return outcome
  }

  #runSlice({ frames, isPlayed, done }: Sending): SliceOutcome {
    const { clock } = this.#hub
    const startedMs = clock.monotonicMs()
    for (;;) {
      const isAtNewTime = frames.us !== frames.takenUs
      const isInterrupted = isPlayed && this.#waiting.length > 0 && isAtNewTime
      const isAtEnd = isPlayed && frames.isLast && frames.isDone
      if (isInterrupted || (frames.isDone && !isAtEnd)) {
        done(!isInterrupted)
        return 'idle'
      }
      // Behind unsent data, a close frame would wait in the library for up to 16 s.
      if (this.#ws.getBufferedAmount() > (isAtEnd ? 0 : socketBufferBytesLow)) return 'blocked'
      const waitMs = isPlayed ? this.#clock.msUntil(frames.us) : 0
      if (waitMs > 0) {
        this.#stopTimer = clock.after(Math.min(waitMs, WAIT_MS_MAX), () => this.#hub.advance(this))
        return 'idle'
      }
      if (isAtEnd) {
        done(true)
        return 'idle'
      }
      this.#write(frames.take())
      const nowMs = clock.monotonicMs()
      this.#progressAtMs = nowMs
      if (nowMs - startedMs > streamSliceMs) return 'more'
    }
  }

  async #carryOut(command: Command): Promise<void> {
    const { id, kind } = command
    switch (kind) {
      case 'subscribe':
        return this.#subscribe(command)
      case 'unsubscribe':
        return this.#unsubscribe(command)
      case 'snapshot':
        return this.#snapshots(command)
      case 'list':
        return this.#list(id)
      case 'ping':
        return this.#reply({ type: 'pong', id, timestamp_ms: this.#nowMs })
      case 'pause':
      case 'resume':
        this.#isPaused = kind === 'pause'
        return this.#replyState(id)
      case 'seek':
        return this.#seek(id, command.toMs)
    }
  }

  #replyState(id: CommandId): void {
    const state = this.#isPlaying ? 'playing' : this.#isPaused ? 'paused' : 'waiting'
    const { speed } = this.#clock
    this.#reply({ type: 'replay', id, state, position_ms: this.#nowMs, speed })
  }

  async #subscribe(command: Command & { kind: 'subscribe' }): Promise<void> {
    const { id, variants, since } = command
    if (since !== null) {
      const message = 'a replay takes no since: send seek, or connect with a later replay_from'
      return this.#refuse(id, 'INVALID_FILTER', message)
    }
    const refused = this.#refusalOf(variants)
    if (refused !== null) return this.#refuse(id, refused.code, refused.message)
    const { catalog } = this.#hub.engine
    const target = resolve(catalog, command.target)
    if ('refused' in target) return this.#refuse(id, 'INVALID_FILTER', target.refused)
    for (const variant of variants) {
      if (!isWithinLimit({ subscriptions: this.#subscriptions }, variant, target)) {
        const message = `at most ${subscriptionsMax} subscriptions on a connection`
        return this.#refuse(id, 'SUBSCRIPTION_LIMIT', message)
      }
      const channel = channelOfVariant(variant)
      const options = this.#hub.variants.optionsOf(variant)
      this.#reply({ type: 'subscribed', id, channel, ...options, ...accepted(this.#hub, target) })
      const added = this.#add(variant, target)
      if (added.length > 0) {
        this.#dropReader()
        await this.#sendStates(added, 'send')
      }
      this.#replySynced(id, channel)
    }
  }

  /** The tape has every change of some channels. */
  #refusalOf(
    variants: readonly ChannelVariant[],
  ): { readonly code: StreamErrorCode; readonly message: string } | null {
    for (const variant of variants) {
      const channel = channelOfVariant(variant)
      if (!REPLAY_CHANNELS.some((name) => name === channel)) {
        const message = `the channels of a replay are ${REPLAY_CHANNELS.join(', ')}`
        return { code: 'UNKNOWN_CHANNEL', message }
      }
      const { conflate_ms: conflateMs = 0 } = this.#hub.variants.optionsOf(variant)
      if (conflateMs !== 0) {
        const message = `a replay sends every change of ${channel}: conflate_ms is 0`
        return { code: 'INVALID_FILTER', message }
      }
    }
    return null
  }

  /** Adds subscriptions. Returns what no subscription contained before. */
  #add(variant: ChannelVariant, { key, refs }: Subscribed): readonly ReplaySelection[] {
    const subscriptions = this.#subscriptions.ofVariant(variant)
    const channel = channelOfVariant(variant)
    if (key === null) {
      const fresh = refs.filter((ref) => subscriptions.variantOf(ref) === null)
      for (const ref of fresh) subscriptions.add(ref, variant)
      return this.#selectionsOf(channel, { key, refs: fresh })
    }
    if (subscriptions.covers(key)) return []
    subscriptions.take({ key, refs: [] })
    subscriptions.wide.set(key, variant)
    return this.#selectionsOf(channel, { key, refs: [] })
  }

  #selectionsOf(name: string, { key, refs }: Subscribed): readonly ReplaySelection[] {
    const channel = REPLAY_CHANNELS.find((one) => one === name)
    if (channel === undefined) return []
    if (key === '*') return [{ channel, platforms: null, markets: null }]
    const { names } = this.#hub.engine.catalog
    if (key !== null) return [{ channel, platforms: [names.platform(key)], markets: null }]
    const platforms = new Set(refs.map(({ platform }) => platform))
    return [...platforms].map((platform) => {
      const markets = refs.filter((ref) => ref.platform === platform).map(({ id }) => id)
      return { channel, platforms: [platform], markets }
    })
  }

  #selections(channels: readonly ReplayChannel[]): readonly ReplaySelection[] {
    return channels.flatMap((channel) => {
      const { wide, singles } = this.#subscriptions.of(channel)
      const refs = Array.from(singles.values(), ({ ref }) => ref)
      return [
        ...[...wide.keys()].flatMap((key) => this.#selectionsOf(channel, { key, refs: [] })),
        ...this.#selectionsOf(channel, { key: null, refs }),
      ]
    })
  }

  #replySynced(id: CommandId, channel: string): void {
    this.#reply({ type: 'synced', id, channel, epoch: this.#epoch, offset: 0 })
  }

  #unsubscribe(command: Command & { kind: 'unsubscribe' }): void {
    const { id, channels } = command
    const target = resolve(this.#hub.engine.catalog, command.target)
    if ('refused' in target) return this.#refuse(id, 'INVALID_FILTER', target.refused)
    for (const channel of channels) {
      const subscriptions = this.#subscriptions.of(channel)
      if (subscriptions.isPart(target)) {
        const message = 'a market cannot be taken out of a whole venue or *'
        return this.#refuse(id, 'INVALID_FILTER', message)
      }
      if (subscriptions.take(target).length > 0) this.#dropReader()
      this.#reply({ type: 'unsubscribed', id, channel, ...accepted(this.#hub, target) })
    }
  }

  async #snapshots({ id, marketIds }: Command & { kind: 'snapshot' }): Promise<void> {
    const { catalog } = this.#hub.engine
    const refs: MarketRef[] = []
    const unknownIds: string[] = []
    for (const marketId of marketIds) {
      const view = catalog.find(marketId)
      if (view === null) unknownIds.push(marketId)
      else refs.push(view.ref)
    }
    await this.#sendStates(this.#selectionsOf(ORDERBOOK, { key: null, refs }), 'send')
    if (unknownIds.length === 0) return this.#replySynced(id, ORDERBOOK)
    this.#refuse(id, 'UNKNOWN_MARKET', `no such market: ${unknownIds.join(', ')}`)
  }

  #list(id: CommandId): void {
    const { names } = this.#hub.engine.catalog
    const subscriptions = REPLAY_CHANNELS.flatMap((channel) => {
      const { wide, singles } = this.#subscriptions.of(channel)
      return [
        ...Array.from(wide.keys(), (key) => {
          return key === '*'
            ? { channel, market_ids: ['*'] }
            : { channel, platform: names.platform(key) }
        }),
        ...Array.from(singles.values(), ({ ref }) => ({ channel, market_id: ref.id })),
      ]
    })
    this.#reply({ type: 'subscriptions', id, subscriptions })
  }

  async #seek(id: CommandId, toMs: number): Promise<void> {
    if (!this.#contains(toMs)) {
      const { fromUs, toUs } = this.#period
      const range = `from ${fromUs / US_PER_MS} to before ${toUs / US_PER_MS}`
      return this.#refuse(id, 'INVALID_FILTER', `to is a time of this replay: ${range}`)
    }
    this.#clock.set(toMs * US_PER_MS)
    this.#dropReader()
    this.#replyState(id)
    // A user who drags a slider seeks faster than the states of all markets can be read.
    const isReplaced = this.#waiting.some(
      (next) => next.kind === 'seek' && this.#contains(next.toMs),
    )
    if (isReplaced) return
    await this.#sendStates(this.#selections(REPLAY_CHANNELS), 'resync')
    for (const channel of REPLAY_CHANNELS) {
      if (this.#subscriptions.of(channel).count > 0) this.#replySynced(id, channel)
    }
  }

  #contains(atMs: number): boolean {
    const { fromUs, toUs } = this.#period
    return atMs * US_PER_MS >= fromUs && atMs * US_PER_MS < toUs
  }

  /** Its time is that of the replay. */
  beat({ counter }: Pick<Heartbeat, 'counter'>): void {
    this.#reply({ type: 'heartbeat', timestamp_ms: this.#nowMs, counter, epoch: this.#epoch })
  }

  /** Checks the buffer and the deadlines. Returns the number of buffered bytes. */
  sweep(nowMs: number): number {
    if (this.#isClosed) return 0
    const buffered = this.#ws.getBufferedAmount()
    if (buffered === 0 || buffered < this.#bufferedBefore) this.#progressAtMs = nowMs
    this.#bufferedBefore = buffered
    if (nowMs - this.#progressAtMs > unsentMsMin) this.end(closeCodes.slowReader)
    else if (this.#sending !== null) this.#hub.advance(this)
    this.#checkActive(nowMs)
    return this.bufferedBytes
  }

  #checkActive(nowMs: number): void {
    if (this.#isPlaying || this.#sending !== null) this.#activeAtMs = nowMs
    const isSubscribed = this.#subscriptions.count > 0
    if (nowMs - this.#activeAtMs <= (isSubscribed ? replayPausedMsMax : unsubscribedMsMax)) return
    this.end(isSubscribed ? closeCodes.pausedTooLong : closeCodes.unsubscribed)
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return
    this.#hub.log.error({ err: error, connection: this.id }, 'a replay failed')
    this.end(closeCodes.internal)
  }

  /** The library calls this in its `dropped` handler, in which access to the socket crashes the process. */
  break(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    setImmediate(() => this.cut())
  }

  /** Closes without a close frame. The client sees code 1006. */
  cut(): void {
    if (this.#isClosed) return
    this.#hub.countClosed(CUT)
    this.#ws.close()
  }

  end(close: Close): void {
    if (this.#isClosed) return
    this.#hub.countClosed(close.code)
    this.#ws.end(close.code, close.reason)
  }

  /** Called when the socket is closed. No method of the socket may be called any more. */
  closed(): void {
    this.#isClosed = true
    this.#stopTimer()
    this.#waiting.length = 0
    this.#sending?.done(false)
    this.#wake()
  }
}
