// Venue a's market channel (engine/venues/polymarket/README.md, Market channel). A frame is rendered once for all
// clients.

import type { Clock } from '../../../clock.ts'
import type { Log } from '../../../process/log.ts'
import type { PriceMicros } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket, World, WorldChange } from '../model.ts'
import { type Conversation, parseRecord, type SimSocket, SocketGroup } from '../sim-socket.ts'
import { bookFrame, MarketFrames, marketResolvedFrame, newMarketFrame } from './frames.ts'

export interface ChannelOptions {
  readonly world: World
  readonly faults: Faults
  readonly clock: Clock
  readonly log: Log
}

export class MarketChannel {
  readonly #world: World
  readonly #faults: Faults
  readonly #clock: Clock
  readonly #subscribers = new Map<SimMarket, MarketSubscribers>()
  readonly #readers = new Set<Reader>()
  // Markets whose `new_market` message was already sent when they were announced.
  readonly #announced = new WeakSet<SimMarket>()
  readonly sockets: SocketGroup
  readonly #stopListening: () => void

  constructor(options: ChannelOptions) {
    this.#world = options.world
    this.#faults = options.faults
    this.#clock = options.clock
    this.sockets = new SocketGroup({ ...options, open: (socket) => this.#open(socket) })
    this.#stopListening = options.world.onChange((change) => this.#publish(change))
  }

  stop(): void {
    this.#stopListening()
    this.sockets.stop()
  }

  #open(socket: SimSocket): Conversation {
    const reader: Reader = { socket, tokens: new Map(), isCustom: false }
    this.#readers.add(reader)
    return {
      receive: (text) => this.#receive(reader, text),
      tick: () => {},
      closed: () => {
        this.#readers.delete(reader)
        this.#unsubscribe(reader, [...reader.tokens.keys()])
      },
    }
  }

  #receive(reader: Reader, text: string): void {
    const request = text === 'PING' ? null : parseRequest(text)
    if (request === null) {
      reader.socket.reply(text === 'PING' ? 'PONG' : 'INVALID OPERATION')
      return
    }
    if (request.isCustom !== null) reader.isCustom = request.isCustom
    if (request.operation === 'unsubscribe') {
      this.#unsubscribe(reader, request.tokens)
      return
    }
    const fresh = request.tokens.filter((token) => !reader.tokens.has(token))
    if (fresh.length > 0) this.#subscribe(reader, fresh, request.hasDump)
    else if (request.tokens.length > 0) reader.socket.reply('NO NEW ASSETS')
  }

  // Runs in one event-loop tick, so that no change occurs between the sent books and the subscription.
  #subscribe(reader: Reader, tokens: readonly string[], hasDump: boolean): void {
    const books: string[] = []
    for (const token of tokens) {
      if (reader.tokens.has(token)) continue
      const found = this.#world.marketOfToken(token)
      if (found === null) {
        reader.tokens.set(token, null)
        continue
      }
      this.#addReader(reader, token, found)
      const isShown = hasDump && found.market.status === 'open'
      if (isShown) books.push(bookFrame(found.market, found.outcomeIndex))
    }
    if (!hasDump || this.#faults.isFrozen(this.#clock.monotonicMs())) return
    // The venue sends the books of one subscription in one array frame, or in several frames if there are too many
    // books.
    for (let from = 0; from === 0 || from < books.length; from += DUMP_BOOKS_MAX) {
      reader.socket.send(`[${books.slice(from, from + DUMP_BOOKS_MAX).join(',')}]`)
    }
  }

  #addReader(reader: Reader, token: string, of: { market: SimMarket; outcomeIndex: 0 | 1 }): void {
    const subscribers = this.#subscribersOf(of.market)
    const bit = BITS[of.outcomeIndex]
    reader.tokens.set(token, { subscribers, bit })
    subscribers.readers.set(reader, (subscribers.readers.get(reader) ?? 0) | bit)
  }

  #addWaitingReaders(market: SimMarket): void {
    for (const reader of this.#readers) {
      for (const outcomeIndex of OUTCOMES) {
        const token = market.listing.tokens[outcomeIndex]
        if (reader.tokens.get(token) === null)
          this.#addReader(reader, token, { market, outcomeIndex })
      }
    }
  }

  #unsubscribe(reader: Reader, tokens: readonly string[]): void {
    for (const token of tokens) {
      const subscription = reader.tokens.get(token) ?? null
      reader.tokens.delete(token)
      if (subscription === null) continue
      const { subscribers, bit } = subscription
      const left = (subscribers.readers.get(reader) ?? 0) & ~bit
      if (left === 0) subscribers.readers.delete(reader)
      else subscribers.readers.set(reader, left)
      if (subscribers.readers.size === 0) this.#subscribers.delete(subscribers.market)
    }
  }

  #subscribersOf(market: SimMarket): MarketSubscribers {
    let subscribers = this.#subscribers.get(market)
    if (subscribers === undefined) {
      const { bestBid, bestAsk } = market.book
      subscribers = {
        market,
        frames: new MarketFrames(market),
        readers: new Map(),
        bestBid,
        bestAsk,
      }
      this.#subscribers.set(market, subscribers)
    }
    return subscribers
  }

  #publish(change: WorldChange): void {
    if (change.market.listing.venue !== 'a') return
    if (change.kind === 'created' || change.kind === 'opened') {
      this.#addWaitingReaders(change.market)
      this.#announce(change)
      if (change.kind === 'opened') this.#publishOpening(change)
      return
    }
    const subscribers = this.#subscribers.get(change.market)
    if (subscribers === undefined) return
    if (change.kind === 'levels') this.#publishLevels(subscribers, change)
    else if (change.kind === 'trade') this.#publishTrade(subscribers, change)
    else if (change.kind === 'tick') {
      for (const outcome of OUTCOMES) {
        this.#send(subscribers, BITS[outcome], () =>
          subscribers.frames.tickSizeChange(outcome, change),
        )
      }
    } else if (change.kind === 'resolved') {
      this.#sendCustom(subscribers, BOTH, () => marketResolvedFrame(change.market, change.atMs))
    }
  }

  #publishLevels(
    subscribers: MarketSubscribers,
    change: Extract<WorldChange, { kind: 'levels' }>,
  ): void {
    if (change.changes.length === 0) return
    subscribers.frames.note(change.changes, change.previousSizes)
    if (this.#isSuppressed(subscribers)) return
    const frame = shared(
      subscribers.frames.priceChange(change.changes, change.atMs),
      subscribers.readers.size,
    )
    for (const reader of subscribers.readers.keys()) {
      if (!this.#faults.strikes('lost_delta')) this.#deliver(reader, frame)
    }
    this.#publishTop(subscribers, change)
  }

  #isSuppressed({ market }: MarketSubscribers): boolean {
    const nowMs = this.#clock.monotonicMs()
    return this.#faults.isFrozen(nowMs) || this.#faults.isMuted(market.listing.nativeId, nowMs)
  }

  #publishTrade(
    subscribers: MarketSubscribers,
    change: Extract<WorldChange, { kind: 'trade' }>,
  ): void {
    subscribers.frames.note(change.changes, change.previousSizes)
    if (this.#isSuppressed(subscribers)) return
    for (const outcome of OUTCOMES) {
      this.#send(subscribers, BITS[outcome], () => bookFrame(subscribers.market, outcome))
    }
    const bit = BITS[change.trade.outcomeIndex]
    this.#send(subscribers, bit, () => subscribers.frames.lastTradePrice(change.trade))
    this.#publishTop(subscribers, change)
  }

  #publishTop(subscribers: MarketSubscribers, change: WorldChange): void {
    const { bestBid, bestAsk } = subscribers.market.book
    if (bestBid === subscribers.bestBid && bestAsk === subscribers.bestAsk) return
    subscribers.bestBid = bestBid
    subscribers.bestAsk = bestAsk
    for (const outcome of OUTCOMES) {
      this.#sendCustom(subscribers, BITS[outcome], () =>
        subscribers.frames.bestBidAsk(outcome, change.atMs),
      )
    }
  }

  #publishOpening(change: WorldChange): void {
    const subscribers = this.#subscribers.get(change.market)
    if (subscribers === undefined) return
    subscribers.frames = new MarketFrames(change.market)
    for (const outcome of OUTCOMES) {
      this.#send(subscribers, BITS[outcome], () => bookFrame(subscribers.market, outcome))
    }
    this.#publishTop(subscribers, change)
  }

  #announce(change: WorldChange): void {
    const { market } = change
    if (market.status === 'unopened' || this.#announced.has(market)) return
    this.#announced.add(market)
    let frame: string | null = null
    for (const reader of this.#readers) {
      if (!reader.isCustom) continue
      frame ??= newMarketFrame(market, change.atMs)
      this.#deliver(reader, frame)
    }
  }

  #send(
    subscribers: MarketSubscribers,
    bits: number,
    render: () => string,
    isCustomOnly = false,
  ): void {
    let frame: string | Buffer | null = null
    for (const [reader, mask] of subscribers.readers) {
      if ((mask & bits) === 0 || (isCustomOnly && !reader.isCustom)) continue
      frame ??= shared(render(), subscribers.readers.size)
      this.#deliver(reader, frame)
    }
  }

  #sendCustom(subscribers: MarketSubscribers, bits: number, render: () => string): void {
    this.#send(subscribers, bits, render, true)
  }

  #deliver(reader: Reader, frame: string | Buffer): void {
    reader.socket.send(frame)
    if (this.#faults.strikes('duplicate')) reader.socket.send(frame)
  }
}

const OUTCOMES = [0, 1] as const
const BITS = [1, 2] as const
const BOTH = 3
const DUMP_BOOKS_MAX = 1_000

/** The limit of the frame size also limits the number of a connection's tokens. */
interface Reader {
  readonly socket: SimSocket
  /** The subscriptions by token. Null: no market has this token. */
  readonly tokens: Map<
    string,
    { readonly subscribers: MarketSubscribers; readonly bit: number } | null
  >
  /** `custom_feature_enabled`: a flag of the connection, not of a token. */
  isCustom: boolean
}

/** A market with its subscribers. The number of each reader has one bit for each subscribed token. */
interface MarketSubscribers {
  readonly market: SimMarket
  frames: MarketFrames
  readonly readers: Map<Reader, number>
  bestBid: PriceMicros | null
  bestAsk: PriceMicros | null
}

interface Request {
  readonly operation: 'subscribe' | 'unsubscribe'
  readonly tokens: readonly string[]
  readonly isCustom: boolean | null
  readonly hasDump: boolean
}

function shared(text: string, readerCount: number): string | Buffer {
  return readerCount > 1 ? Buffer.from(text) : text
}

function parseRequest(text: string): Request | null {
  const fields = parseRecord(text)
  if (fields === null) return null
  const { operation = 'subscribe', type = 'market', assets_ids: list = [] } = fields
  const { custom_feature_enabled: custom, initial_dump: dump } = fields
  if (operation !== 'subscribe' && operation !== 'unsubscribe') return null
  if (typeof type !== 'string' || type.toLowerCase() !== 'market') return null
  if (!Array.isArray(list)) return null
  const tokens = list.filter((token): token is string => typeof token === 'string')
  const isCustom = typeof custom === 'boolean' ? custom : null
  return { operation, tokens, isCustom, hasDump: dump !== false }
}
