// One client connection of venue b's stream: its subscriptions, their sequence numbers, and answers to its commands.

import type { Clock } from '../../../clock.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket, World } from '../model.ts'
import type { Conversation, SimSocket } from '../sim-socket.ts'
import { type Command, ERRORS, type ErrorCode, parseCommand } from './commands.ts'
import { snapshotMessage, tickerMessage } from './messages.ts'
import type { SimKalshiStream } from './stream.ts'
import { KalshiOutbox, KalshiSubscription } from './subscription.ts'

/** The venue's limits: markets per session, commands a second. */
const MARKETS_MAX = 500_000
const COMMANDS_PER_SECOND_MAX = 10_000

const MARKET_CHANNELS: ReadonlySet<string> = new Set(['orderbook_delta', 'ticker', 'trade'])
interface KalshiConnectionParts {
  readonly world: World
  readonly stream: SimKalshiStream
  readonly faults: Faults
  readonly clock: Clock
  readonly socket: SimSocket
}

export class KalshiConnection implements Conversation {
  readonly #parts: KalshiConnectionParts
  readonly #outbox: KalshiOutbox
  readonly #subscriptions = new Map<number, KalshiSubscription>()
  #nextSid = 1
  #commandCount = 0

  constructor(parts: KalshiConnectionParts) {
    this.#parts = parts
    this.#outbox = new KalshiOutbox(parts.socket, parts.faults)
  }

  tick(): void {
    this.#commandCount = 0
    this.#outbox.releaseHeld()
  }

  closed(): void {
    for (const subscription of [...this.#subscriptions.values()])
      this.#removeSubscription(subscription)
  }

  receive(text: string) {
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
    const { id, tickers } = command
    const hasMarkets = MARKET_CHANNELS.has(channel)
    if (!hasMarkets && channel !== 'market_lifecycle_v2') return this.#refuse(id, 8)
    const isBook = channel === 'orderbook_delta'
    if (isBook && tickers.length === 0) return this.#refuse(id, 14)
    const existing = this.#ofChannel(channel)
    // As at the venue, a second subscribe to a channel extends the first subscription. The answer is `ok` with the
    // first sid.
    if (existing !== null) return this.#extend(existing, command)
    const isByMarket = hasMarkets && tickers.length > 0
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
    this.#outbox.reply(
      `{"type":"subscribed","id":${id},"msg":{"channel":"${channel}","sid":${subscription.sid}}}`,
    )
    if (isByMarket) this.#addMarkets(subscription, { ...command, isAcknowledged: false })
    else this.#parts.stream.watch(subscription, null)
  }

  #extend(subscription: KalshiSubscription, command: Extract<Command, { kind: 'subscribe' }>) {
    const { id, tickers } = command
    if (subscription.tickers !== null) {
      // A subscription with a list of markets cannot be extended to the whole exchange.
      if (tickers.length === 0) return this.#refuse(id, 11, { subscription })
      return this.#addMarkets(subscription, { ...command, isAcknowledged: true })
    }
    this.#acknowledge(subscription, id)
  }

  #update(command: Extract<Command, { kind: 'update' }>) {
    const subscription = this.#subscriptions.get(command.sid)
    if (subscription === undefined) return this.#refuse(command.id, 7)
    const refuse = (code: ErrorCode) => this.#refuse(command.id, code, { subscription })
    if (command.action === '') return refuse(15)
    const { tickers, channel } = subscription
    const isSnapshot = command.action === 'get_snapshot'
    const isAction = ['add_markets', 'delete_markets', 'get_snapshot'].includes(command.action)
    if (!isAction || (isSnapshot && channel !== 'orderbook_delta')) return refuse(13)
    if (tickers === null) return refuse(13)
    const named = command.tickers
    if (named === null) return refuse(11)
    if (named.length === 0) return refuse(14)
    if (isSnapshot) return this.#sendSnapshots(subscription, named, command.id)
    if (command.action === 'add_markets') {
      return this.#addMarkets(subscription, { ...command, tickers: named, isAcknowledged: true })
    }
    for (const ticker of named) {
      if (tickers.delete(ticker)) this.#parts.stream.unwatch(subscription, ticker)
    }
    this.#acknowledge(subscription, command.id)
  }

  #addMarkets(
    subscription: KalshiSubscription,
    details: {
      id: number
      tickers: readonly string[]
      hasInitialSnapshot: boolean
      isAcknowledged: boolean
    },
  ) {
    const { tickers } = subscription
    if (tickers === null) return
    const { id } = details
    const { found, missing } = this.#markets(details.tickers)
    if (tickers.size + found.length > MARKETS_MAX) return this.#refuse(id, 26, { subscription })
    const added = found.filter((market) => !tickers.has(market.listing.nativeId))
    for (const market of added) {
      tickers.add(market.listing.nativeId)
      this.#parts.stream.watch(subscription, market)
    }
    if (details.isAcknowledged) this.#acknowledge(subscription, id)
    // No `await` may be between watching and the snapshot. A change in between would be in the snapshot and in a delta.
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

  /** An error about a subscription uses the next sequence number of its sid. */
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

  #markets(tickers: readonly string[]): { found: SimMarket[]; missing: string[] } {
    const found: SimMarket[] = []
    const missing: string[] = []
    for (const ticker of new Set(tickers)) {
      const market = this.#parts.world.market('b', ticker)
      if (market === null) missing.push(ticker)
      else found.push(market)
    }
    return { found, missing }
  }

  #removeSubscription(subscription: KalshiSubscription) {
    this.#subscriptions.delete(subscription.sid)
    const { stream } = this.#parts
    if (subscription.tickers === null) stream.unwatch(subscription, null)
    else for (const ticker of subscription.tickers) stream.unwatch(subscription, ticker)
  }
}
