// Passes each update of the publisher to the channels whose `updateKinds` include it. Sends heartbeats, checks the
// sockets' buffers and schedules the sessions' work.

import type { AccountWatcher } from '../../actors/accounts/directory.ts'
import type { Caller, EngineView } from '../../actors/views.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import { assert } from '../../engine/errors.ts'
import type { Update } from '../../engine/events.ts'
import type { AccountId } from '../../engine/ids.ts'
import {
  bufferSweepMs,
  heartbeatMs,
  socketBuffersTotalBytesMax,
  streamSliceMs,
} from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Publisher, Watcher } from '../../engine/publisher.ts'
import type { Channel, OpenChannel } from './channels/channel.ts'
import { CHANNELS } from './channels/channels.ts'
import { type Close, closeCodes } from './close-codes.ts'
import { type Encoder, heartbeatMessage, type Reply, statusMessage } from './encode/encoder.ts'
import { JsonEncoder } from './encode/json.ts'
import { MsgpackEncoder } from './encode/msgpack.ts'
import type { Topics } from './fan-out/batches.ts'
import { Batches } from './fan-out/batches.ts'
import {
  type ChannelName,
  type ChannelVariant,
  channelOfVariant,
  type Form,
  heartbeatTopic,
  statusTopic,
  VariantTable,
} from './fan-out/channel-variants.ts'
import { ConflationScheduler } from './fan-out/conflation.ts'
import { FanOut } from './fan-out/fan-out.ts'
import type { ReplaySession } from './replay/replay-session.ts'
import type { HubAccess, Work } from './session/connection.ts'
import type { Session } from './session/session.ts'

export class Hub implements Watcher, HubAccess {
  readonly name = 'hub'
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  readonly variants: VariantTable
  readonly sessions = new Set<Session>()
  readonly replays = new Set<ReplaySession>()
  readonly batches: Batches
  /**
   * Closes sessions of revoked keys, ended logins and deactivated accounts. The caller registers it, and also the hub,
   * as watchers.
   */
  readonly accountWatcher: AccountWatcher
  readonly #metrics: Metrics
  readonly #encoders: Readonly<Record<Form, Encoder>>
  readonly fanOut: FanOut
  readonly #scheduler: ConflationScheduler
  readonly #channels: ReadonlyMap<ChannelName, OpenChannel>
  /** Channels by kind of update, in the order of the channel table. */
  readonly #subscribers = new Map<Update['kind'], [ChannelName, OpenChannel][]>()
  readonly #failures = new LogSampler()
  /** Queued work by account. Accounts, and the work of one account, run in insertion order. */
  readonly #ready = new Map<AccountId, Set<Work>>()
  #isTickPlanned = false
  #isSettlePlanned = false
  /** Milliseconds of work that ran synchronously in this event-loop tick. */
  #spentMs = 0
  readonly #stopBeat: StopTimer
  readonly #stopSweeps: StopTimer
  readonly #lagged: Count
  #beats = 0

  constructor(parts: {
    engine: EngineView
    publisher: Publisher
    clock: Clock
    log: Log
    metrics: Metrics
    topics: Topics
    /** Default: `CHANNELS`. */
    channels?: readonly Channel[]
  }) {
    const { engine, publisher, clock, metrics, topics, channels = CHANNELS } = parts
    this.engine = engine
    this.publisher = publisher
    this.clock = clock
    this.log = parts.log
    this.batches = new Batches(topics)
    this.#metrics = metrics
    this.variants = new VariantTable(channels)
    const nowMs = () => clock.nowMs()
    const written = { epoch: publisher.epoch, catalog: engine.catalog, nowMs }
    this.#encoders = { j: new JsonEncoder(written), b: new MsgpackEncoder(written) }
    const encoders = Object.values(this.#encoders)
    const { variants } = this.variants
    const fanOut = new FanOut({
      topics: this.batches,
      variants,
      encoders,
      metrics,
    })
    this.fanOut = fanOut
    this.#scheduler = new ConflationScheduler(clock)
    const shared = { engine, publisher, clock, fanOut, scheduler: this.#scheduler }
    this.#channels = new Map(channels.map((channel) => [channel.name, channel.open(shared)]))
    for (const { name, updateKinds } of channels) {
      for (const kind of updateKinds) {
        const subscribers = this.#subscribers.get(kind) ?? []
        this.#subscribers.set(kind, [...subscribers, [name, this.channelOf(name)]])
      }
    }
    this.#lagged = metrics.count('stream_lags_total', 'Times a connection began to lag.')
    metrics.gauge('stream_connections', 'Open WebSocket connections.', () => this.count)
    metrics.gauge(
      'stream_replays',
      'Open WebSocket connections that replay.',
      () => this.replays.size,
    )
    this.accountWatcher = {
      onRevoked: (key) => this.#endThose(({ keyId }) => keyId === key),
      onTokenEnded: (id) => this.#endThose(({ token }) => token?.id === id),
      onTokensEnded: (account) =>
        this.#endThose(({ accountId, token }) => accountId === account && token !== null),
      onAccountDeactivated: (account) => this.#endThose(({ accountId }) => accountId === account),
      onLimits: (account, { socketsMax }) => this.endBeyond(account, socketsMax),
    }
    this.#stopBeat = clock.every(heartbeatMs, () => this.beat())
    this.#stopSweeps = clock.every(bufferSweepMs, () => this.sweep())
  }

  /** Number of connections, live and replaying. */
  get count(): number {
    return this.sessions.size + this.replays.size
  }

  encoder(form: Form): Encoder {
    return this.#encoders[form]
  }

  onUpdate(update: Update): void {
    switch (update.kind) {
      case 'status':
        this.#publish(statusTopic, statusMessage(update))
        break
      case 'gap':
        for (const session of this.sessions) session.sendGap(update)
    }
    for (const [name, channel] of this.#subscribers.get(update.kind) ?? []) {
      // An exception in one channel must not affect other channels. Its subscribers detect the loss by a gap in `seq`.
      try {
        channel.onUpdate(update)
      } catch (error) {
        this.#countFailure(name, update.kind, error)
      }
    }
  }

  #countFailure(channel: ChannelName, kind: Update['kind'], error: unknown): void {
    const help = 'Updates at which a channel of the stream threw.'
    this.#metrics.count('stream_channel_failures_total', help, { channel }).inc()
    const { isWritten, count } = this.#failures.admit(`${channel} ${kind}`)
    if (isWritten) this.log.error({ err: error, channel, kind, count }, 'a channel failed')
  }

  onMarketRemoved(market: MarketNumber): void {
    for (const channel of this.#channels.values()) channel.removeMarket?.(market)
  }

  channelOf(variant: ChannelVariant): OpenChannel {
    const channel = this.#channels.get(channelOfVariant(variant))
    assert(channel !== undefined, `${variant} has no channel`)
    return channel
  }

  #publish(topicOf: (form: Form) => string, message: Reply): void {
    for (const encoder of Object.values(this.#encoders)) {
      this.batches.publish(topicOf(encoder.form), encoder.reply(message), encoder.isBinary)
    }
  }

  beat(): void {
    this.#beats += 1
    const { epoch } = this.publisher
    const beat = { timestampMs: this.clock.nowMs(), counter: this.#beats, epoch }
    const offsets: Record<string, number> = {}
    for (const [name, { seen }] of this.#channels) if (seen !== undefined) offsets[name] = seen
    this.#publish(heartbeatTopic, heartbeatMessage({ ...beat, offsets }))
    for (const connection of this.#all()) connection.beat(beat)
  }

  sweep(): void {
    const nowMs = this.clock.monotonicMs()
    this.#settleBatches()
    let total = 0
    for (const connection of this.#all()) total += connection.sweep(nowMs)
    if (total > socketBuffersTotalBytesMax) this.#cutLargest()
  }

  /** Closes the connection with the largest buffer of the account with the most buffered bytes. */
  #cutLargest(): void {
    const accounts = new Map<AccountId, { bytes: number; largest: Session | ReplaySession }>()
    for (const session of this.#all()) {
      const { accountId } = session.caller
      const { bytes, largest } = accounts.get(accountId) ?? { bytes: 0, largest: session }
      const isLarger = session.bufferedBytes > largest.bufferedBytes
      accounts.set(accountId, {
        bytes: bytes + session.bufferedBytes,
        largest: isLarger ? session : largest,
      })
    }
    const [most] = [...accounts.values()].sort((one, other) => other.bytes - one.bytes)
    most?.largest.cut()
  }

  /** Groups batched connections by their topics in time slices, one per event-loop tick. */
  #settleBatches(): void {
    const endsAtMs = this.clock.monotonicMs() + streamSliceMs
    const isDone = this.batches.settle(() => this.clock.monotonicMs() >= endsAtMs)
    if (isDone || this.#isSettlePlanned) return
    this.#isSettlePlanned = true
    setImmediate(() => {
      this.#isSettlePlanned = false
      this.#settleBatches()
    })
  }

  *#all(): Iterable<Session | ReplaySession> {
    yield* this.sessions
    yield* this.replays
  }

  add(session: Session): void {
    this.sessions.add(session)
  }

  addReplay(session: ReplaySession): void {
    this.replays.add(session)
  }

  remove(session: Session): void {
    session.closed()
    this.sessions.delete(session)
    this.fanOut.closeWildcardsOf(session)
  }

  removeReplay(session: ReplaySession): void {
    session.closed()
    this.replays.delete(session)
  }

  advance(work: Work): void {
    const waiting = this.#ready.get(work.caller.accountId)
    if (waiting !== undefined || this.#spentMs >= streamSliceMs) return this.#queue(work)
    const startedMs = this.clock.monotonicMs()
    if (work.run() === 'more') this.#queue(work)
    this.#spentMs += this.clock.monotonicMs() - startedMs
    if (this.#spentMs > 0) this.#planTick()
  }

  #queue(work: Work): void {
    const { accountId } = work.caller
    const waiting = this.#ready.get(accountId)
    if (waiting === undefined) this.#ready.set(accountId, new Set([work]))
    else waiting.add(work)
    this.#planTick()
  }

  /** Runs about one time slice of queued work per event-loop tick, so that many connections do not block the event loop. */
  #planTick(): void {
    if (this.#isTickPlanned) return
    this.#isTickPlanned = true
    setImmediate(() => {
      this.#isTickPlanned = false
      this.#spentMs = 0
      const endsAtMs = this.clock.monotonicMs() + streamSliceMs
      do {
        const work = this.#takeNext()
        if (work?.run() === 'more') this.#queue(work)
      } while (this.#ready.size > 0 && this.clock.monotonicMs() < endsAtMs)
      if (this.#ready.size > 0) this.#planTick()
    })
  }

  #takeNext(): Work | null {
    for (const [account, waiting] of this.#ready) {
      this.#ready.delete(account)
      for (const work of waiting) {
        waiting.delete(work)
        if (waiting.size > 0) this.#ready.set(account, waiting)
        return work
      }
    }
    return null
  }

  countLagging(): void {
    this.#lagged.inc()
  }

  countClosed(code: number): void {
    const labels = { code: String(code) }
    this.#metrics.count('stream_closed_total', 'Connections that we closed, by code.', labels).inc()
  }

  #endThose(isEnded: (caller: Caller) => boolean): void {
    for (const connection of this.#all()) {
      if (isEnded(connection.caller)) connection.end(closeCodes.keyRevoked)
    }
  }

  /** Closes the newest connections of an account until `socketsMax` remain. */
  endBeyond(account: AccountId, socketsMax: number): void {
    let open = 0
    for (const connection of this.#all()) {
      if (connection.caller.accountId !== account) continue
      open += 1
      if (open > socketsMax) connection.end(closeCodes.limitLowered)
    }
  }

  /** Closes up to `count` connections. Returns the number of connections that remain. */
  endSome(count: number, close: Close): number {
    let left = count
    for (const connection of this.#all()) {
      if (left === 0) break
      left -= 1
      connection.end(close)
    }
    return this.count
  }

  stop(): void {
    this.#stopBeat()
    this.#stopSweeps()
    for (const channel of this.#channels.values()) channel.stop?.()
    this.#scheduler.stop()
  }
}
