// Who gets an update. As a watcher of the publisher the hub gives each to the lanes that carry it: at
// once where every change is told, to the windows where changes are conflated. It beats the heart,
// sweeps the buffers, and gives sessions their turns.
// Not for: what is in a message (http/ws/encode/json.ts), how it reaches listeners (fan-out.ts), what a
// command does (tasks.ts). Upholds HUB1 to HUB8, FAN1.

import type { AccountWatcher } from '../../actors/accounts/directory.ts'
import type { Caller, EngineView, MarketView } from '../../actors/views.ts'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { BookLate, BookReplaced, Stamp, Update } from '../../engine/events.ts'
import type { AccountId } from '../../engine/ids.ts'
import {
  bufferSweepMs,
  candleCloseCheckMs,
  heartbeatMs,
  lifecycleHistoryCount,
  socketBufferBytesSoft,
  socketBuffersTotalBytesMax,
  tradeHistoryCount,
  whaleHistoryCount,
} from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { CountedChannel, Publisher, Watcher } from '../../engine/publisher.ts'
import { Candles } from './channels/candles.ts'
import { ConflatedStates } from './channels/depth.ts'
import { tradeTable } from './channels/trades.ts'
import { whaleTable } from './channels/whales.ts'
import { type Form, heartbeatTopic, statusTopic } from './channels.ts'
import { type Close, closeCodes } from './close-codes.ts'
import type { Encoder, Frame } from './encode/encoder.ts'
import { JsonEncoder } from './encode/json.ts'
import { MsgpackEncoder } from './encode/msgpack.ts'
import { FanOut, type Topics } from './fan-out/fan-out.ts'
import { factsOf, type Lane } from './fan-out/lanes.ts'
import { Slices } from './fan-out/slices.ts'
import { BookHistory, resyncReason } from './resume/book-history.ts'
import { type LoggedChannel, MessageLog, type MessageTable } from './resume/message-log.ts'
import type { Desk, Watched, Work } from './session/desk.ts'
import type { Row } from './session/row.ts'
import type { Session } from './session/session.ts'

/** Every buffer is looked at once so much may have come to one of them, or to all, since the last time:
 * a look is dear, and a buffer that was small then is still far from lagging. */
const GROWTH_BYTES_MAX = socketBufferBytesSoft / 8
const TOTAL_GROWTH_BYTES_MAX = socketBuffersTotalBytesMax / 16
/** In so many sweeps whether each connection is subscribed to something is looked at once. */
const SUBSCRIBED_SWEEPS = 40

export class Hub implements Watcher, Desk {
  readonly name = 'hub'
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  readonly books: BookHistory
  readonly logs: Readonly<Record<LoggedChannel, MessageLog>>
  readonly sessions = new Set<Session>()
  readonly #topics: Topics
  /** Ends sessions of revoked keys, ended log-ins and accounts; the caller registers it, and the hub itself. */
  readonly accountWatcher: AccountWatcher
  readonly #metrics: Metrics
  readonly #encoders: Readonly<Record<Form, Encoder>>
  readonly #fanOut: FanOut
  readonly #slices: Slices
  readonly #states: ConflatedStates
  readonly #candles: Candles
  /** Sessions and rows that wait for a slice, in the order of their turns. */
  readonly #ready = new Set<Work>()
  #isTurnPlanned = false
  /** Sessions that are not quiet: bounded by the sessions. */
  readonly #restless = new Set<Watched>()
  /** Newest offset that has come by, so that a heartbeat is never ahead of its data. */
  readonly #seen: Record<CountedChannel, number>
  readonly #timers: StopTimer[]
  readonly #lagged: Count
  #beats = 0
  #sweeps = 0

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
    this.books = new BookHistory(publisher.offset('orderbook'))
    this.logs = logsOf(engine, publisher)
    const nowMs = () => clock.nowMs()
    const written = { epoch: publisher.epoch, catalog: engine.catalog, nowMs }
    this.#encoders = { j: new JsonEncoder(written), b: new MsgpackEncoder(written) }
    const encoders = Object.values(this.#encoders)
    this.#fanOut = new FanOut({ topics: parts.topics, encoders, metrics })
    this.#slices = new Slices(clock)
    const shared = { catalog: engine.catalog, clock, fanOut: this.#fanOut, slices: this.#slices }
    this.#states = new ConflatedStates(shared)
    this.#candles = new Candles(shared)
    this.#seen = {
      orderbook: publisher.offset('orderbook'),
      trades: publisher.offset('trades'),
      prices: publisher.offset('prices'),
      whales: publisher.offset('whales'),
      lifecycle: publisher.offset('lifecycle'),
    }
    this.#lagged = metrics.count('stream_lags_total', 'Times a connection began to lag.')
    metrics.gauge('stream_connections', 'Open WebSocket connections.', () => this.sessions.size)
    this.accountWatcher = {
      onRevoked: (key) => this.#endThose(({ keyId }) => keyId === key),
      onTokenEnded: (id) => this.#endThose(({ token }) => token?.id === id),
      onTokensEnded: (account) =>
        this.#endThose(({ accountId, token }) => accountId === account && token !== null),
      onAccountGone: (account) => this.#endThose(({ accountId }) => accountId === account),
      onLimits: (account, { socketsMax }) => this.#endBeyond(account, socketsMax),
    }
    this.#timers = [
      clock.every(heartbeatMs, () => this.beat()),
      clock.every(bufferSweepMs, () => this.sweep()),
      clock.every(candleCloseCheckMs, () => this.#candles.close()),
    ]
  }

  encoder(form: Form): Encoder {
    return this.#encoders[form]
  }

  onUpdate(update: Update): void {
    switch (update.kind) {
      case 'book':
        this.books.push(update)
        this.#seen.orderbook = update.offset
        this.#fanOut.send('orderbook', update.market, 'change', (encoder) =>
          encoder.bookUpdate(update),
        )
        if (!this.#fanOut.isChannelAwake('depth')) return
        return this.#states.noteBook(update, null, this.clock.monotonicMs())
      case 'bookReplaced':
        return this.#replace(update)
      case 'bookLate':
        return this.#tellLate(update)
      case 'price':
        this.#seen.prices = update.offset
        this.#fanOut.send('prices:0', update.market, 'state', (encoder) =>
          encoder.priceUpdate(update),
        )
        return this.#states.notePrice(update, this.clock.monotonicMs())
      case 'trade':
        this.logs.trades.push(update)
        this.#seen.trades = update.offset
        this.#fanOut.send('trades', update.market, 'change', (encoder) => encoder.trade(update))
        return this.#candles.noteTrade(update)
      case 'whale':
        this.logs.whales.push(update)
        this.#seen.whales = update.offset
        return this.#fanOut.send('whales', update.market, 'change', (encoder) =>
          encoder.whale(update),
        )
      case 'lifecycle':
        this.logs.lifecycle.push(update)
        this.#seen.lifecycle = update.offset
        this.#forms((encoder) => encoder.forget(update.market.number))
        return this.#fanOut.send('lifecycle', update.market, 'change', (encoder) =>
          encoder.lifecycle(update),
        )
      case 'status':
        return this.#forms((encoder) => {
          this.#topics.publish(statusTopic(encoder.form), encoder.status(update), encoder.isBinary)
        })
      case 'gap':
        for (const session of this.sessions) session.tellGap(update)
    }
  }

  /** The catalogue forgot a market: what is kept under its number goes too. */
  onForget(market: MarketNumber): void {
    this.#forms((encoder) => encoder.forget(market))
    this.books.forget(market)
    this.#states.forget(market)
    this.#candles.forget(market)
  }

  /** A book was replaced: `resync`, then its snapshot, to all who have it. */
  #replace(update: BookReplaced): void {
    const { market } = update
    const reason = resyncReason(update.reason)
    this.books.replace(update)
    this.#fanOut.send('orderbook', market, 'state', (encoder) => {
      const view = this.engine.catalog.find(market.id)
      if (view === null) return null
      return [encoder.resync('orderbook', market, reason), encoder.snapshot(view, view.book())]
    })
    this.#states.noteBook(update, reason, this.clock.monotonicMs())
  }

  /** A book is stale from now on: `resync` at once; its new state follows when it is there. */
  #tellLate(update: BookLate): void {
    const { market } = update
    this.#fanOut.send('orderbook', market, 'change', (encoder) =>
      encoder.resync('orderbook', market, 'delayed'),
    )
    this.#states.noteBook(update, 'delayed', this.clock.monotonicMs())
  }

  latest(lane: Lane, market: MarketNumber): Stamp {
    const facts = factsOf(lane)
    if (facts.channel === 'candles') return this.#candles.latest(facts.lane, market)
    const channel = facts.channel === 'depth' ? 'orderbook' : facts.channel
    return this.publisher.latest(channel, market)
  }

  state(lane: Lane, view: MarketView, encoder: Encoder): Frame | null {
    const facts = factsOf(lane)
    const market = view.ref
    switch (facts.channel) {
      case 'orderbook':
        return encoder.snapshot(view, view.book())
      case 'depth': {
        const book = view.book(facts.levels)
        return encoder.depth({ market, levels: facts.levels, book, stamp: book })
      }
      case 'prices':
        return encoder.priceState(market, view.price(), this.latest(lane, market.number))
      case 'candles':
        return this.#candles.state(facts.lane, view, encoder)
      default:
        return null
    }
  }

  awaken(lane: Lane): void {
    this.#fanOut.awaken(lane)
  }

  #forms(action: (encoder: Encoder) => void): void {
    action(this.#encoders.j)
    action(this.#encoders.b)
  }

  /** To all who are live with offsets, to the others without. */
  beat(): void {
    this.#beats += 1
    const beat = { timestampMs: this.clock.nowMs(), counter: this.#beats }
    const { orderbook, trades, whales, lifecycle } = this.#seen
    this.#forms((encoder) => {
      const topic = heartbeatTopic(encoder.form)
      if (this.#topics.numSubscribers(topic) === 0) return
      const frame = encoder.heartbeat({
        ...beat,
        offsets: { orderbook, trades, whales, lifecycle },
      })
      this.#topics.publish(topic, frame, encoder.isBinary)
    })
    const lanes = new Set<Lane>()
    for (const session of this.sessions) {
      session.beat(beat)
      session.addLanes(lanes)
    }
    this.#fanOut.restrict(lanes)
  }

  /**
   * Looks at the buffers of all who lag or are sent something alone, and at every buffer once so much was
   * published that one may be full; beyond the bound of all together the largest is cut.
   */
  sweep(): void {
    const nowMs = this.clock.monotonicMs()
    const { growth } = this.#fanOut
    const isWhole = growth.bytes >= GROWTH_BYTES_MAX || growth.totalBytes >= TOTAL_GROWTH_BYTES_MAX
    const isRare = this.#sweeps % SUBSCRIBED_SWEEPS === 0
    this.#sweeps += 1
    if (isWhole) {
      growth.bytes = 0
      growth.totalBytes = 0
    }
    if (isWhole) this.#sweepAll(nowMs)
    else {
      for (const watched of this.#restless) {
        watched.sweep(nowMs)
        if (watched.isQuiet) this.#restless.delete(watched)
      }
    }
    if (isRare) for (const session of this.sessions) session.checkSubscribed(nowMs)
  }

  #sweepAll(nowMs: number): void {
    let total = 0
    let most = 0
    let largest: Session | null = null
    for (const session of this.sessions) {
      const bytes = session.sweep(nowMs)
      if (session.isQuiet) this.#restless.delete(session)
      else this.#restless.add(session)
      total += bytes
      if (bytes <= most) continue
      most = bytes
      largest = session
    }
    if (total > socketBuffersTotalBytesMax) largest?.cut()
  }

  add(session: Session): void {
    this.sessions.add(session)
    this.#fanOut.countUser(session.encoder.form, 1)
  }

  remove(session: Session): void {
    session.closed()
    this.#restless.delete(session)
    if (this.sessions.delete(session)) this.#fanOut.countUser(session.encoder.form, -1)
    this.#fanOut.closeRowsOf(session)
  }

  advance(work: Work): void {
    if (work.run() !== 'more') return
    this.#ready.add(work)
    this.#planTurn()
  }

  /** One session a turn of the loop, so that many rows at once do not add up to a stall. */
  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    setImmediate(() => {
      this.#isTurnPlanned = false
      const [work] = this.#ready
      if (work === undefined) return
      this.#ready.delete(work)
      this.advance(work)
      if (this.#ready.size > 0) this.#planTurn()
    })
  }

  watch(watched: Watched): void {
    this.#restless.add(watched)
  }

  openRow(row: Row): void {
    this.#fanOut.openRow(row)
  }

  closeRow(row: Row): void {
    this.#fanOut.closeRow(row)
  }

  countLagging(): void {
    this.#lagged.inc()
  }

  countClosed(code: number): void {
    const labels = { code: String(code) }
    this.#metrics.count('stream_closed_total', 'Connections that we closed, by code.', labels).inc()
  }

  #endThose(isEnded: (caller: Caller) => boolean): void {
    for (const session of this.sessions) {
      if (isEnded(session.caller)) session.end(closeCodes.keyRevoked)
    }
  }

  /** Ends the newest connections beyond what the account may now have. */
  #endBeyond(account: AccountId, socketsMax: number): void {
    let open = 0
    for (const session of this.sessions) {
      if (session.caller.accountId !== account) continue
      open += 1
      if (open > socketsMax) session.end(closeCodes.limitLowered)
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
    this.#slices.stop()
  }
}

/** The logs of a run that has told some messages already. */
function logsOf(engine: EngineView, publisher: Publisher): Hub['logs'] {
  const { present } = engine.tradeLog
  const log = (channel: LoggedChannel, capacity: number, table: MessageTable | null) =>
    new MessageLog({ channel, present, offset: publisher.offset(channel), capacity, table })
  return {
    trades: log('trades', tradeHistoryCount, tradeTable(engine)),
    whales: log('whales', whaleHistoryCount, whaleTable(engine.whaleLog, engine.catalog)),
    lifecycle: log('lifecycle', lifecycleHistoryCount, null),
  }
}
