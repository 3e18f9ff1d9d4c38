// Who gets an update. As a watcher of the publisher the hub turns each into at most one frame per
// form, and only when somebody listens, and gives it to the topics; it never loops over connections
// for that. It beats the heart, sweeps the buffers, and gives sessions their turns.
// Not for: what is in a message (encode-json.ts), what a command does (tasks.ts).
// Upholds HUB1 to HUB7.

import type { TemplatedApp } from 'uWebSockets.js'
import type { EngineView } from '../../actors/views.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import type {
  BookReplaced,
  BookUpdate,
  PriceUpdate,
  TradeUpdate,
  Update,
} from '../../engine/events.ts'
import type { KeyId } from '../../engine/ids.ts'
import { bufferSweepMs, heartbeatMs, socketBuffersTotalBytesMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/log.ts'
import type { MarketNumber } from '../../engine/market.ts'
import type { Count, Metrics } from '../../engine/metrics.ts'
import type { CountedChannel, Publisher, Watcher } from '../../engine/publisher.ts'
import { type ChannelName, type Form, heartbeatTopic, statusTopic, topicOf } from './channels.ts'
import { type Close, closeCodes } from './close-codes.ts'
import type { Desk, Work } from './desk.ts'
import { JsonEncoder } from './encode-json.ts'
import type { Encoder, Frame } from './encoder.ts'
import type { Row } from './row.ts'
import type { Session } from './session.ts'
import { TradeHistory } from './trade-history.ts'

/** What the hub needs of the library's app. */
export type Topics = Pick<TemplatedApp, 'publish' | 'numSubscribers'>

type DataUpdate = BookUpdate | TradeUpdate | PriceUpdate

const CHANNEL_OF = { book: 'orderbook', trade: 'trades', price: 'prices' } as const

export class Hub implements Watcher, Desk {
  readonly name = 'hub'
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  readonly trades: TradeHistory
  readonly sessions = new Set<Session>()
  readonly #topics: Topics
  readonly #metrics: Metrics
  readonly #encoders: Readonly<Record<Form, Encoder>>
  /** Wide subscriptions being filled; usually none. */
  readonly #rows = new Set<Row>()
  /** Sessions that want another turn, each once; bounded by the sessions. */
  #ready: Work[] = []
  #isTurnPlanned = false
  /** Newest offset that has come by, so that a heartbeat is never ahead of its data. */
  readonly #seen: Record<CountedChannel, number>
  readonly #timers: StopTimer[]
  readonly #encoded: Readonly<Record<ChannelName, Count>>
  readonly #lagged: Count
  #beats = 0

  constructor(parts: {
    engine: EngineView
    publisher: Publisher
    clock: Clock
    log: Log
    metrics: Metrics
    topics: Topics
  }) {
    const { engine, publisher, clock, metrics } = parts
    this.engine = engine
    this.publisher = publisher
    this.clock = clock
    this.log = parts.log
    this.#topics = parts.topics
    this.#metrics = metrics
    this.trades = new TradeHistory(publisher.offset('trades'))
    this.#encoders = { j: new JsonEncoder({ epoch: publisher.epoch, catalog: engine.catalog }) }
    this.#seen = {
      orderbook: publisher.offset('orderbook'),
      trades: publisher.offset('trades'),
      prices: publisher.offset('prices'),
      lifecycle: publisher.offset('lifecycle'),
    }
    const encoded = (channel: ChannelName): Count =>
      metrics.count('stream_messages_encoded_total', 'Messages encoded, by channel.', { channel })
    this.#encoded = {
      orderbook: encoded('orderbook'),
      trades: encoded('trades'),
      prices: encoded('prices'),
    }
    this.#lagged = metrics.count('stream_lags_total', 'Times a connection began to lag.')
    metrics.gauge('stream_connections', 'Open WebSocket connections.', () => this.sessions.size)
    engine.accounts.onRevoked((key) => this.#revoke(key))
    this.#timers = [
      clock.every(heartbeatMs, () => this.beat()),
      clock.every(bufferSweepMs, () => this.sweep()),
    ]
  }

  encoder(form: Form): Encoder {
    return this.#encoders[form]
  }

  onUpdate(update: Update): void {
    switch (update.kind) {
      case 'trade':
        this.trades.push(update)
        return this.#deliver(update)
      case 'book':
      case 'price':
        return this.#deliver(update)
      case 'bookReplaced':
        return this.#replace(update)
      case 'lifecycle':
        this.#seen.lifecycle = update.offset
        return this.#forms((encoder) => encoder.forget(update.market.number))
      case 'status':
        return this.#forms((encoder) => {
          this.#topics.publish(statusTopic(encoder.form), encoder.status(update), encoder.isBinary)
        })
      case 'gap':
        for (const session of this.sessions) session.tellGap(update)
    }
  }

  /** The catalogue forgot a market: its prepared texts go too. */
  onForget(market: MarketNumber): void {
    this.#forms((encoder) => encoder.forget(market))
  }

  /** Encodes once per form, and not at all when nobody listens. */
  #deliver(update: DataUpdate): void {
    const channel = CHANNEL_OF[update.kind]
    this.#seen[channel] = update.offset
    this.#forms((encoder) => {
      const { market } = update
      let frame = this.#publish(
        topicOf(encoder.form, channel, market.number),
        encoder,
        update,
        null,
      )
      frame = this.#publish(topicOf(encoder.form, channel, market.venue), encoder, update, frame)
      frame = this.#publish(topicOf(encoder.form, channel, '*'), encoder, update, frame)
      for (const row of this.#rows) {
        if (row.connection.encoder !== encoder || !row.isFor(channel, market)) continue
        // A price is a whole state, so it may come before the row has reached its market.
        if (channel === 'prices') row.sent.set(market.number, market)
        if (!row.sent.has(market.number)) continue
        frame ??= this.#encode(encoder, update)
        row.connection.send(frame)
      }
    })
  }

  #publish(topic: string, encoder: Encoder, update: DataUpdate, known: Frame | null): Frame | null {
    if (this.#topics.numSubscribers(topic) === 0) return known
    const frame = known ?? this.#encode(encoder, update)
    this.#topics.publish(topic, frame, encoder.isBinary)
    return frame
  }

  #encode(encoder: Encoder, update: DataUpdate): Frame {
    this.#encoded[CHANNEL_OF[update.kind]].inc()
    if (update.kind === 'book') return encoder.bookUpdate(update)
    return update.kind === 'trade' ? encoder.trade(update) : encoder.priceUpdate(update)
  }

  /** A book was replaced: `resync`, then its snapshot, to all who have it. */
  #replace(update: BookReplaced): void {
    const { market } = update
    // A first book ends a gap too: what was shown before it was empty and marked stale.
    const reason = update.reason === 'restart' ? 'restart' : 'venue_gap'
    this.#forms((encoder) => {
      let frames: readonly [Frame, Frame] | null = null
      const make = (): readonly [Frame, Frame] | null => {
        const view = this.engine.catalog.find(market.id)
        if (view === null) return null
        this.#encoded.orderbook.inc()
        const resync = encoder.resync('orderbook', market, reason)
        return [resync, encoder.snapshot(view, view.book())]
      }
      for (const key of [market.number, market.venue, '*'] as const) {
        const topic = topicOf(encoder.form, 'orderbook', key)
        if (this.#topics.numSubscribers(topic) === 0) continue
        frames ??= make()
        for (const frame of frames ?? []) this.#topics.publish(topic, frame, encoder.isBinary)
      }
      for (const row of this.#rows) {
        if (row.connection.encoder !== encoder || !row.isFor('orderbook', market)) continue
        frames ??= make()
        for (const frame of frames ?? []) row.connection.send(frame)
        row.sent.set(market.number, market)
      }
    })
  }

  #forms(action: (encoder: Encoder) => void): void {
    action(this.#encoders.j)
  }

  /** To all who are live with offsets, to the others without. */
  beat(): void {
    this.#beats += 1
    const beat = { timestampMs: this.clock.nowMs(), counter: this.#beats }
    const { orderbook, trades, lifecycle } = this.#seen
    this.#forms((encoder) => {
      const topic = heartbeatTopic(encoder.form)
      if (this.#topics.numSubscribers(topic) === 0) return
      const frame = encoder.heartbeat({ ...beat, offsets: { orderbook, trades, lifecycle } })
      this.#topics.publish(topic, frame, encoder.isBinary)
    })
    for (const session of this.sessions) session.beat(beat)
  }

  /** Looks at every buffer; beyond the bound of all together the largest is cut. */
  sweep(): void {
    const nowMs = this.clock.monotonicMs()
    let total = 0
    let most = 0
    let largest: Session | null = null
    for (const session of this.sessions) {
      const bytes = session.sweep(nowMs)
      total += bytes
      if (bytes <= most) continue
      most = bytes
      largest = session
    }
    if (total > socketBuffersTotalBytesMax) largest?.cut()
  }

  add(session: Session): void {
    this.sessions.add(session)
  }

  remove(session: Session): void {
    session.closed()
    this.sessions.delete(session)
    for (const row of this.#rows) if (row.connection === session) this.#rows.delete(row)
  }

  advance(work: Work): void {
    if (work.run() !== 'more' || this.#ready.includes(work)) return
    this.#ready.push(work)
    this.#planTurn()
  }

  /** One session a turn of the loop, so that many rows at once do not add up to a stall. */
  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    setImmediate(() => {
      this.#isTurnPlanned = false
      const work = this.#ready.shift()
      if (work !== undefined) this.advance(work)
      if (this.#ready.length > 0) this.#planTurn()
    })
  }

  openRow(row: Row): void {
    this.#rows.add(row)
  }

  closeRow(row: Row): void {
    this.#rows.delete(row)
  }

  countLagging(): void {
    this.#lagged.inc()
  }

  countClosed(code: number): void {
    const labels = { code: String(code) }
    this.#metrics.count('stream_closed_total', 'Connections that we closed, by code.', labels).inc()
  }

  #revoke(key: KeyId): void {
    for (const session of this.sessions) {
      if (session.caller.keyId === key) session.end(closeCodes.keyRevoked)
    }
  }

  /** Ends up to `count` connections; returns how many are left. */
  endSome(count: number, close: Close): number {
    let left = count
    for (const session of this.sessions) {
      if (left === 0) break
      left -= 1
      session.end(close)
    }
    return this.sessions.size
  }

  /** Stops the timers; connections are the server's to end. */
  stop(): void {
    for (const stopTimer of this.#timers) stopTimer()
  }
}
