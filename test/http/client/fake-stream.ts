// A stream server that follows http/ws/README.md and shares no code with the product.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'
import { encode } from '@msgpack/msgpack'
import { WebSocket, WebSocketServer } from 'ws'

type Fields = Readonly<Record<string, unknown>>

interface Logged extends Fields {
  readonly epoch: string
  readonly offset: number
  readonly market_id: string
}

interface Peer {
  readonly socket: WebSocket
  readonly isBinary: boolean
  /** Subscribed market ids, `*` or `venue:NAME`, by channel. */
  readonly topics: Map<string, Set<string>>
  held: Fields | null
}

/** What happens to a data message before it is sent. */
type Damage = 'send' | 'drop' | 'twice' | 'hold'

class FakeBook {
  readonly bids = new Map<number, number>()
  readonly asks = new Map<number, number>()

  /** Best first, in dollars and contracts. */
  levels(side: 'bids' | 'asks'): { price: number; size: number }[] {
    const sign = side === 'bids' ? -1 : 1
    return [...this[side]]
      .sort(([one], [other]) => sign * (one - other))
      .map(([price, size]) => ({ price: price / 1e6, size: size / 1e6 }))
  }

  checksum(): number {
    const rows = [...this.levels('bids').slice(0, 10), ...this.levels('asks').slice(0, 10)]
    const pairs = rows.map(
      ({ price, size }) => `${Math.round(price * 1e6)}:${Math.round(size * 1e6)}`,
    )
    return crc32(pairs.join(':'))
  }
}

export class FakeStream {
  epoch = 'e1'
  readonly books = new Map<string, FakeBook>()
  /** Trades, whales and lifecycle events of all runs; book updates of the current run. */
  readonly logs: Record<string, Logged[]> = { trades: [], whales: [], lifecycle: [], orderbook: [] }
  /** Offset at which a market's book was last replaced. */
  readonly replaced = new Map<string, number>()
  /** Every command in order, with the number of its connection. Numbers start at 1. */
  readonly commands: (Fields & { readonly connection: number })[] = []
  readonly urls: string[] = []
  damage: (message: Fields) => Damage = () => 'send'
  /** Returns true if it has handled the command itself. */
  script: (command: Fields, peer: Peer) => boolean = () => false
  replayMax = 10_000
  limits = { subscriptions: 1000, commands_per_s: 20, message_bytes: 16_384 }
  isMute = false
  #epochs = ['e1']
  #offsets = new Map<string, number>()
  #seqs = new Map<string, number>()
  #counter = 0
  #wake: (() => void)[] = []
  readonly peers = new Set<Peer>()
  readonly #server: WebSocketServer

  constructor(server: WebSocketServer) {
    this.#server = server
    server.on('connection', (socket, request) => this.#welcome(socket, request.url ?? ''))
  }

  static async open(...marketIds: readonly string[]): Promise<FakeStream> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    const fake = new FakeStream(server)
    for (const id of marketIds) fake.books.set(id, new FakeBook())
    return fake
  }

  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${isAddress(address) ? address.port : 0}`
  }

  get connectionCount(): number {
    return this.urls.length
  }

  async stop(): Promise<void> {
    for (const { socket } of this.peers) socket.terminate()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Checks the condition after each command, connection and disconnect. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wake.push(resolve))
  }

  closeAll(code: number): void {
    for (const { socket } of this.peers) socket.close(code, 'scripted')
  }

  cutAll(): void {
    for (const { socket } of this.peers) socket.terminate()
  }

  /** Starts a new run: counters restart, book updates are lost, and trades remain. */
  restart(): void {
    this.cutAll()
    this.epoch = `e${this.#epochs.length + 1}`
    this.#epochs.push(this.epoch)
    this.#offsets = new Map()
    this.#seqs = new Map()
    this.logs.orderbook = []
    this.replaced.clear()
  }

  offset(channel: string): number {
    return this.#offsets.get(channel) ?? 0
  }

  seq(channel: string, marketId: string): number {
    return this.#seqs.get(`${channel} ${marketId}`) ?? 0
  }

  /** Publishes the update. `size` is in millionths. */
  change(marketId: string, side: 'bids' | 'asks', price: number, size: number): void {
    const book = this.#book(marketId)
    if (size === 0) book[side].delete(price)
    else book[side].set(price, size)
    const levels = [{ price: price / 1e6, size: size / 1e6, platform: 'venue_a' }]
    const data = { bids: [], asks: [], [side]: levels }
    const head = this.#head('update', 'orderbook', marketId)
    const message =
      head.seq % 50 === 0 ? { ...head, checksum: book.checksum(), data } : { ...head, data }
    this.logs.orderbook?.push(message)
    this.publish(message)
  }

  /** Replaces a book, as after a venue's gap. */
  replace(marketId: string, reason = 'venue_gap'): void {
    this.replaced.set(marketId, this.offset('orderbook'))
    this.publish({ type: 'resync', channel: 'orderbook', market_id: marketId, reason })
    this.publish(this.snapshot(marketId))
  }

  trade(marketId: string, id: string, channel: 'trades' | 'whales' = 'trades'): void {
    const type = channel === 'trades' ? 'trade' : 'whale'
    const data = { id, market_id: marketId, platform: 'venue_a', price: 0.5, size: 1, side: 'buy' }
    const message = { ...this.#head(type, channel, marketId), data }
    this.logs[channel]?.push(message)
    this.publish(message)
  }

  lifecycle(marketId: string, event: string): void {
    const message = { ...this.#head('lifecycle', 'lifecycle', marketId), data: { event } }
    this.logs.lifecycle?.push(message)
    this.publish(message)
  }

  /** Publishes the next state of a channel with states. */
  state(channel: 'prices' | 'candles' | 'depth', marketId: string): void {
    const head = this.#head(STATE_TYPES[channel], channel, marketId)
    this.publish({ ...head, data: { price: head.seq / 1000, bids: [], asks: [] } })
  }

  snapshot(marketId: string): Fields {
    const book = this.#book(marketId)
    const head = this.#present('snapshot', 'orderbook', marketId)
    const data = {
      bids: book.levels('bids'),
      asks: book.levels('asks'),
      spread: null,
      mid_price: null,
    }
    return { ...head, stale: false, checksum: book.checksum(), data }
  }

  heartbeat(fields: Fields = {}): void {
    this.#counter += 1
    const offsets = Object.fromEntries(
      ['orderbook', 'trades', 'whales', 'lifecycle'].map((name) => [name, this.offset(name)]),
    )
    const beat = { type: 'heartbeat', timestamp_ms: 1, counter: this.#counter, epoch: this.epoch }
    const message = { ...beat, ...('catching_up' in fields ? fields : { offsets, ...fields }) }
    for (const peer of this.peers) this.send(peer, message)
  }

  /** Sends a message to all subscribers with the configured damage. */
  publish(message: Fields): void {
    for (const peer of this.peers) {
      if (isWanted(peer, String(message.channel), String(message.market_id))) {
        this.#deliver(peer, message)
      }
    }
  }

  send(peer: Peer, message: Fields): void {
    if (peer.socket.readyState !== WebSocket.OPEN || this.isMute) return
    peer.socket.send(peer.isBinary ? encode(message) : JSON.stringify(message))
  }

  #deliver(peer: Peer, message: Fields): void {
    const damage = this.damage(message)
    if (damage === 'drop') return
    if (damage === 'hold' && peer.held === null) {
      peer.held = message
      return
    }
    this.send(peer, message)
    if (damage === 'twice') this.send(peer, message)
    if (peer.held !== null) {
      const { held } = peer
      peer.held = null
      this.send(peer, held)
    }
  }

  #welcome(socket: WebSocket, url: string): void {
    this.urls.push(url)
    const isBinary = url.includes('encoding=msgpack')
    const peer: Peer = { socket, isBinary, topics: new Map(), held: null }
    this.peers.add(peer)
    const connection = this.urls.length
    socket.on('message', (bytes) => {
      const command: Fields = JSON.parse(String(bytes))
      this.commands.push({ ...command, connection })
      if (!this.script(command, peer)) this.#carryOut(peer, command)
      this.#wakeAll()
    })
    socket.on('close', () => {
      this.peers.delete(peer)
      this.#wakeAll()
    })
    const head = { type: 'connected', connection_id: `c_${connection}`, server_time_ms: 1 }
    this.send(peer, { ...head, heartbeat_s: 5, limits: this.limits })
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  #carryOut(peer: Peer, command: Fields): void {
    const { id, action } = command
    const channel = String(command.channel)
    const wanted = wantedOf(command)
    switch (action) {
      case 'ping':
        return this.send(peer, { type: 'pong', id, timestamp_ms: 1 })
      case 'list':
        return this.send(peer, { type: 'subscriptions', id, subscriptions: this.#list(peer) })
      case 'snapshot':
        for (const marketId of wanted) this.#deliver(peer, this.snapshot(marketId))
        return this.#synced(peer, id, 'orderbook')
      case 'unsubscribe':
        for (const name of wanted) peer.topics.get(channel)?.delete(name)
        return this.send(peer, { type: 'unsubscribed', id, channel })
      default:
        return this.subscribe(peer, command)
    }
  }

  /** Handles the command in one event-loop tick, as the protocol requires. */
  subscribe(peer: Peer, command: Fields): void {
    const { id, since } = command
    const channel = String(command.channel)
    const accepted: string[] = []
    const rejected: Fields[] = []
    for (const name of wantedOf(command)) {
      const found = this.#canonical(name)
      if (found === null) rejected.push({ market_id: name, code: 'UNKNOWN_MARKET' })
      else accepted.push(found)
    }
    this.send(peer, { type: 'subscribed', id, channel, accepted, rejected })
    const topics = peer.topics.get(channel) ?? new Set<string>()
    peer.topics.set(channel, topics)
    if (isPlace(since)) return this.#resume(peer, { id, channel, accepted, since, topics })
    for (const name of accepted) topics.add(name)
    for (const marketId of this.#expanded(accepted)) this.#sendState(peer, channel, marketId)
    this.#synced(peer, id, channel)
  }

  #resume(
    peer: Peer,
    {
      id,
      channel,
      accepted,
      since,
      topics,
    }: {
      id: unknown
      channel: string
      accepted: string[]
      since: { epoch: string; offset: number }
      topics: Set<string>
    },
  ): void {
    const ids = new Set(this.#expanded(accepted))
    const join = (): void => {
      for (const name of accepted) topics.add(name)
    }
    const run = this.#epochs.indexOf(since.epoch)
    const isBook = channel === 'orderbook'
    const log = this.logs[channel]
    if (log === undefined || (isBook && since.epoch !== this.epoch)) {
      join()
      for (const marketId of ids) {
        if (isBook)
          this.#deliver(peer, { type: 'resync', channel, market_id: marketId, reason: 'restart' })
        this.#sendState(peer, channel, marketId)
      }
      return this.#synced(peer, id, channel)
    }
    if (run < 0) {
      join()
      this.send(peer, { type: 'gap', channel, platform: 'venue_a', from_ms: null, to_ms: 5 })
      return this.#synced(peer, id, channel)
    }
    const missed = log.filter((row) => {
      const rowRun = this.#epochs.indexOf(row.epoch)
      const isBehind = rowRun > run || (rowRun === run && row.offset > since.offset)
      const isReplaced = isBook && (this.replaced.get(row.market_id) ?? -1) >= since.offset
      return isBehind && ids.has(row.market_id) && !isReplaced
    })
    for (const row of missed.slice(0, this.replayMax)) this.#deliver(peer, row)
    const last = missed[this.replayMax - 1]
    if (missed.length > this.replayMax && last !== undefined) {
      const { epoch, offset } = last
      return this.send(peer, { type: 'resume_limited', id, channel, epoch, offset })
    }
    for (const marketId of ids) {
      if (!isBook || (this.replaced.get(marketId) ?? -1) < since.offset) continue
      this.#deliver(peer, { type: 'resync', channel, market_id: marketId, reason: 'venue_gap' })
      this.#deliver(peer, this.snapshot(marketId))
    }
    join()
    const position = { epoch: this.epoch, offset: this.offset(channel) }
    this.send(peer, { type: 'resumed', id, channel, replayed: missed.length, ...position })
  }

  #sendState(peer: Peer, channel: string, marketId: string): void {
    if (channel === 'orderbook') return this.#deliver(peer, this.snapshot(marketId))
    const type = Object.entries(STATE_TYPES).find(([name]) => name === channel)?.[1]
    if (type === undefined) return
    const data = { price: this.seq(channel, marketId) / 1000, bids: [], asks: [] }
    this.#deliver(peer, { ...this.#present(type, channel, marketId), data })
  }

  #synced(peer: Peer, id: unknown, channel: string): void {
    const position = { epoch: this.epoch, offset: this.offset(channel) }
    this.send(peer, { type: 'synced', id, channel, ...position })
  }

  #list(peer: Peer): Fields[] {
    return [...peer.topics].flatMap(([channel, names]) =>
      [...names].map((name) => ({ channel, market_id: name, seq: this.seq(channel, name) })),
    )
  }

  #expanded(names: readonly string[]): string[] {
    return names.some((name) => name === '*' || name.startsWith('venue:'))
      ? [...this.books.keys()]
      : [...names]
  }

  #canonical(name: string): string | null {
    if (name === '*' || name.startsWith('venue:')) return name
    return [...this.books.keys()].find((id) => id.toLowerCase() === name.toLowerCase()) ?? null
  }

  #book(marketId: string): FakeBook {
    const book = this.books.get(marketId) ?? new FakeBook()
    this.books.set(marketId, book)
    return book
  }

  #head(type: string, channel: string, marketId: string) {
    const offset = this.offset(channel) + 1
    const seq = this.seq(channel, marketId) + 1
    this.#offsets.set(channel, offset)
    this.#seqs.set(`${channel} ${marketId}`, seq)
    return this.#present(type, channel, marketId)
  }

  #present(type: string, channel: string, marketId: string) {
    const times = { timestamp_ms: 1_795_000_000_000, received_ms: 1_795_000_000_005 }
    const counts = { offset: this.offset(channel), seq: this.seq(channel, marketId) }
    return { type, channel, market_id: marketId, epoch: this.epoch, ...counts, ...times }
  }
}

const STATE_TYPES = { prices: 'price', candles: 'candle', depth: 'depth' } as const

function isWanted(peer: Peer, channel: string, marketId: string): boolean {
  const topics = peer.topics.get(channel)
  if (topics === undefined) return false
  const isVenue = [...topics].some((name) => marketId.startsWith(`${name.slice(6)}_`))
  return topics.has('*') || topics.has(marketId) || isVenue
}

function wantedOf(command: Fields): string[] {
  if (typeof command.platform === 'string') return [`venue:${command.platform}`]
  return Array.isArray(command.market_ids) ? command.market_ids.map(String) : []
}

function isPlace(value: unknown): value is { epoch: string; offset: number } {
  return typeof value === 'object' && value !== null && 'epoch' in value && 'offset' in value
}

function isAddress(value: unknown): value is AddressInfo {
  return typeof value === 'object' && value !== null && 'port' in value
}
