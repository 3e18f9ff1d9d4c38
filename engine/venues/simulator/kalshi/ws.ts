// One client connection of venue b's stream: its subscriptions, their sequence numbers, and answers to its commands.
// kalshi-outbox.ts implements the faults.

import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Clock } from '../../../clock.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket, World } from '../model.ts'
import { type Command, ERRORS, type ErrorCode, type MarketNames, parseCommand } from './commands.ts'
import { KalshiOutbox } from './kalshi-outbox.ts'
import { snapshotMessage, tickerMessage } from './messages.ts'
import type { SimKalshiStream } from './stream.ts'
import { KalshiSubscription } from './subscription.ts'

/** The venue's limits: markets per session, commands a second. */
const MARKETS_MAX = 500_000
const COMMANDS_PER_SECOND_MAX = 10_000

/** Public channels whose subscriptions name markets. */
const MARKET_CHANNELS: ReadonlySet<string> = new Set(['orderbook_delta', 'ticker', 'trade'])
/** Accepted but without messages: the simulated venue has no accounts, combos or index values. */
const EMPTY_CHANNELS: ReadonlySet<string> = new Set([
  'multivariate_market_lifecycle',
  'fill',
  'market_positions',
  'user_orders',
  'order_group_updates',
  'communications',
  'cfbenchmarks_value',
  'cfbenchmarks_value_5hz',
  'pyth_value',
])

interface KalshiConnectionParts {
  readonly world: World
  readonly stream: SimKalshiStream
  readonly faults: Faults
  readonly clock: Clock
  readonly socket: WebSocket
  /** The stream under the socket, so that the frames of one event-loop tick leave in one system call. */
  readonly raw: Duplex
}

/** One open socket. The server calls `tick` every second and `close` at the end. */
export class KalshiConnection {
  readonly #parts: KalshiConnectionParts
  readonly #outbox: KalshiOutbox
  readonly #subscriptions = new Map<number, KalshiSubscription>()
  #nextSid = 1
  #commandCount = 0
  #pongMs: number

  constructor(parts: KalshiConnectionParts) {
    this.#parts = parts
    this.#outbox = new KalshiOutbox(parts)
    this.#pongMs = parts.clock.monotonicMs()
    parts.socket.on('pong', () => {
      this.#pongMs = parts.clock.monotonicMs()
    })
    parts.socket.on('message', (data, isBinary) => {
      this.#receive(isBinary ? '' : String(data))
    })
    parts.socket.on('error', () => parts.socket.terminate())
    parts.socket.on('close', () => this.#removeSubscriptions())
  }

  /** The server's heartbeat: a ping with the venue's body. Closes the socket if no pong arrives for `limitMs`. */
  heartbeat(limitMs: number): void {
    if (this.#parts.clock.monotonicMs() - this.#pongMs > limitMs) this.#parts.socket.terminate()
    else this.#parts.socket.ping('heartbeat')
  }

  /** To be called once a second. */
  tick(): void {
    this.#commandCount = 0
    this.#outbox.tick()
  }

  close(): void {
    this.#parts.socket.terminate()
  }

  #receive(text: string) {
    this.#commandCount += 1
    const command: Command = parseCommand(text)
    if (this.#commandCount > COMMANDS_PER_SECOND_MAX) {
      const id = 'id' in command ? command.id : 0
      return this.#refuse(id, 27)
    }
    switch (command.kind) {
      case 'error':
        return this.#refuse(command.id, command.code)
      case 'list':
        return this.#list(command.id)
      case 'unsubscribe':
        return this.#unsubscribe(command)
      case 'subscribe':
        for (const channel of command.channels) this.#subscribe(command, channel)
        return
      case 'update':
        return this.#update(command)
    }
  }

  #subscribe(command: Extract<Command, { kind: 'subscribe' }>, channel: string) {
    const { id, names } = command
    const hasMarkets = MARKET_CHANNELS.has(channel)
    const isSupported =
      hasMarkets || channel === 'market_lifecycle_v2' || EMPTY_CHANNELS.has(channel)
    if (!isSupported) return this.#refuse(id, 8)
    const isBook = channel === 'orderbook_delta'
    if (isBook && names.tickers.length === 0) return this.#refuse(id, 14)
    if (channel === 'trade' && names.ids.length > 0) return this.#refuse(id, 11)
    const existing = this.#ofChannel(channel)
    // As in recorded sessions: a second subscribe to a channel extends the first one's sid and is answered with `ok`.
    if (existing !== null) return this.#extend(existing, command)
    const isByMarket = hasMarkets && !names.isAbsent
    const subscription = new KalshiSubscription({
      outbox: this.#outbox,
      channel,
      sid: this.#nextSid,
      isByMarket,
      isYesPriced: isBook && command.isYesPriced,
      isAckShort: command.isAckShort,
    })
    this.#nextSid += 1
    this.#subscriptions.set(subscription.sid, subscription)
    for (const value of command.values) subscription.values.add(value)
    this.#outbox.reply(
      `{"type":"subscribed","id":${id},"msg":{"channel":"${channel}","sid":${subscription.sid}}}`,
    )
    if (isByMarket) this.#addMarkets(subscription, { ...command, isAcknowledged: false })
    else this.#parts.stream.watch(subscription, null)
  }

  #extend(subscription: KalshiSubscription, command: Extract<Command, { kind: 'subscribe' }>) {
    const { id, names } = command
    if (subscription.tickers !== null) {
      // A list cannot be extended to the whole exchange. That requires a separate subscription.
      if (names.isAbsent) return this.#refuse(id, 11, { subscription })
      return this.#addMarkets(subscription, { ...command, isAcknowledged: true })
    }
    for (const value of command.values) subscription.values.add(value)
    this.#acknowledge(subscription, id)
  }

  #update(command: Extract<Command, { kind: 'update' }>) {
    const subscription = this.#subscriptions.get(command.sid)
    if (subscription === undefined) return this.#refuse(command.id, 7)
    const refuse = (code: ErrorCode) => this.#refuse(command.id, code, { subscription })
    if (command.action === '') return refuse(15)
    if (subscription.isValueFeed) return this.#updateValues(subscription, command)
    const { tickers, channel } = subscription
    const isSnapshot = command.action === 'get_snapshot'
    const isAction = ['add_markets', 'delete_markets', 'get_snapshot'].includes(command.action)
    if (!isAction || (isSnapshot && channel !== 'orderbook_delta')) return refuse(13)
    // A subscription to the whole exchange has no list to change.
    if (tickers === null) return refuse(13)
    if (command.names === null) return refuse(11)
    if (command.names.isAbsent) return refuse(14)
    if (isSnapshot) return this.#sendSnapshots(subscription, command.names.tickers, command.id)
    if (command.action === 'add_markets') {
      const details = { ...command, names: command.names, isAcknowledged: true }
      return this.#addMarkets(subscription, details)
    }
    const { found } = this.#markets(command.names)
    for (const ticker of [...command.names.tickers, ...found.map((m) => m.listing.nativeId)]) {
      if (tickers.delete(ticker)) this.#parts.stream.unwatch(subscription, ticker)
    }
    this.#acknowledge(subscription, command.id)
  }

  /** The index and underlying feeds retain their list of names, although no value is ever sent. */
  #updateValues(subscription: KalshiSubscription, command: Extract<Command, { kind: 'update' }>) {
    const { action, values, id } = command
    const isPyth = subscription.channel === 'pyth_value'
    const noun = isPyth ? 'underlyings' : 'indices'
    const list = isPyth ? 'underlying_list' : 'indexlist'
    if (action === list) {
      const kind = `${subscription.channel}_${list}`
      const seq = subscription.nextSeq()
      const names = isPyth ? 'underlying_tickers' : 'index_ids'
      return this.#outbox.reply(
        `{"type":"${kind}","id":${id},"sid":${subscription.sid},"seq":${seq},"msg":{"${names}":[]}}`,
      )
    }
    const isAdding = action === `subscribe_${noun}`
    if (!isAdding && action !== `unsubscribe_${noun}`) {
      return this.#refuse(id, 13, { subscription })
    }
    if (values.length === 0) return this.#refuse(id, isPyth ? 28 : 24, { subscription })
    for (const value of values) {
      if (isAdding) subscription.values.add(value)
      else subscription.values.delete(value)
    }
    this.#acknowledge(subscription, id)
  }

  #addMarkets(
    subscription: KalshiSubscription,
    details: {
      id: number
      names: MarketNames
      hasInitialSnapshot: boolean
      isAcknowledged: boolean
    },
  ) {
    const { tickers } = subscription
    if (tickers === null) return
    const { id } = details
    if (details.names.ids.length > 0 && subscription.channel !== 'ticker') {
      return this.#refuse(id, 14, { subscription })
    }
    const { found, missing } = this.#markets(details.names)
    if (tickers.size + found.length > MARKETS_MAX) return this.#refuse(id, 26, { subscription })
    const added = found.filter((market) => !tickers.has(market.listing.nativeId))
    for (const market of added) {
      tickers.add(market.listing.nativeId)
      this.#parts.stream.watch(subscription, market)
    }
    if (details.isAcknowledged) this.#acknowledge(subscription, id)
    // No await between watch and snapshot: a change in between would be counted twice.
    for (const market of added) {
      if (subscription.channel === 'orderbook_delta') this.#sendSnapshot(subscription, market, null)
      else if (subscription.channel === 'ticker' && details.hasInitialSnapshot) {
        const fields = this.#parts.stream.fields(market)
        const atMs = this.#parts.clock.nowMs()
        const body = tickerMessage(market, { fields, atMs })
        this.#outbox.reply(`{"type":"ticker","sid":${subscription.sid},"msg":${body}}`)
      }
    }
    if (missing.length > 0) this.#refuse(id, 11, { subscription, tickers: missing })
  }

  #sendSnapshots(subscription: KalshiSubscription, tickers: readonly string[], id: number) {
    const missing: string[] = []
    for (const ticker of tickers) {
      const market = this.#parts.world.market('b', ticker)
      if (market === null) missing.push(ticker)
      else this.#sendSnapshot(subscription, market, id)
    }
    if (missing.length > 0) this.#refuse(id, 11, { subscription, tickers: missing })
  }

  #sendSnapshot(subscription: KalshiSubscription, market: SimMarket, id: number | null) {
    const { faults, clock } = this.#parts
    if (faults.isFrozen(clock.monotonicMs())) return
    const fields = this.#parts.stream.fields(market)
    const body = snapshotMessage(market, { fields, isYesPriced: subscription.isYesPriced })
    const idPart = id === null || id === 0 ? '' : `"id":${id},`
    const { sid } = subscription
    const seq = subscription.nextSeq()
    this.#outbox.reply(
      `{"type":"orderbook_snapshot",${idPart}"sid":${sid},"seq":${seq},"msg":${body}}`,
    )
  }

  #unsubscribe(command: Extract<Command, { kind: 'unsubscribe' }>) {
    for (const sid of command.sids) {
      const subscription = this.#subscriptions.get(sid)
      if (subscription === undefined) {
        this.#refuse(command.id, 7)
        continue
      }
      this.#removeSubscription(subscription)
      this.#outbox.reply(
        `{"id":${command.id},"sid":${sid},"seq":${subscription.nextSeq()},"type":"unsubscribed"}`,
      )
    }
  }

  #list(id: number) {
    const msg = [...this.#subscriptions.values()].map(({ channel, sid }) => ({ channel, sid }))
    this.#outbox.reply(JSON.stringify({ id, type: 'ok', msg }))
  }

  #acknowledge(subscription: KalshiSubscription, id: number) {
    const { sid } = subscription
    const seq = subscription.nextSeq()
    this.#outbox.reply(
      `{"type":"ok","id":${id},"sid":${sid},"seq":${seq},"msg":${subscription.listText()}}`,
    )
  }

  /** Sends an error. With a subscription it consumes the next number of its sid. */
  #refuse(
    id: number,
    code: ErrorCode,
    of: { subscription?: KalshiSubscription; tickers?: readonly string[] } = {},
  ) {
    const { subscription, tickers } = of
    const scope =
      subscription === undefined
        ? ''
        : `"sid":${subscription.sid},${subscription.channel === 'ticker' ? '' : `"seq":${subscription.nextSeq()},`}`
    const msg: Record<string, unknown> = { code, msg: ERRORS[code] }
    if (tickers?.length === 1) msg.market_ticker = tickers[0]
    else if (tickers !== undefined) msg.market_tickers = tickers
    this.#outbox.reply(`{"id":${id},"type":"error",${scope}"msg":${JSON.stringify(msg)}}`)
  }

  #ofChannel(channel: string): KalshiSubscription | null {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.channel === channel) return subscription
    }
    return null
  }

  #markets(names: MarketNames): {
    found: SimMarket[]
    missing: string[]
  } {
    const { world } = this.#parts
    const found: SimMarket[] = []
    const missing: string[] = []
    for (const ticker of new Set(names.tickers)) {
      const market = world.market('b', ticker)
      if (market === null) missing.push(ticker)
      else found.push(market)
    }
    if (names.ids.length === 0) return { found, missing }
    const wanted = new Set(names.ids)
    for (const market of world.markets('b')) {
      if (wanted.delete(market.listing.uuid)) found.push(market)
    }
    return { found, missing: [...wanted] }
  }

  #removeSubscription(subscription: KalshiSubscription) {
    this.#subscriptions.delete(subscription.sid)
    const { stream } = this.#parts
    if (subscription.tickers === null) stream.unwatch(subscription, null)
    else for (const ticker of subscription.tickers) stream.unwatch(subscription, ticker)
  }

  #removeSubscriptions() {
    for (const subscription of [...this.#subscriptions.values()])
      this.#removeSubscription(subscription)
  }
}
