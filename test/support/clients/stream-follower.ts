// A subscriber written from the protocol alone, independent of http/client/. Checks seq and checksums.

import { crc32 } from 'node:zlib'
import { WebSocket } from 'ws'

interface Row {
  readonly price: number
  readonly size: number
}

export interface Message {
  readonly type: string
  readonly epoch?: string
  readonly published_ms?: number
  readonly channel?: string
  readonly market_id?: string
  readonly seq?: number
  readonly offset?: number
  readonly checksum?: number | null
  readonly stale?: boolean
  readonly received_ms?: number
  readonly data?: {
    readonly bids: readonly Row[]
    readonly asks: readonly Row[]
    readonly id: string
  }
}

export class FollowedBook {
  readonly bids = new Map<number, number>()
  readonly asks = new Map<number, number>()
  seq = 0
  isStale = true

  /** Levels best first, in micros, like the simulator's levels. */
  levels(side: 'bids' | 'asks'): [number, number][] {
    const rows = [...this[side]].map(([price, size]): [number, number] => [
      Math.round(price * 1e6),
      Math.round(size * 1e6),
    ])
    return rows.sort((one, other) => (side === 'bids' ? other[0] - one[0] : one[0] - other[0]))
  }

  checksum(): number {
    const pairs = [...this.levels('bids').slice(0, 10), ...this.levels('asks').slice(0, 10)]
    return crc32(pairs.map(([price, size]) => `${price}:${size}`).join(':'))
  }
}

export class StreamFollower {
  readonly books = new Map<string, FollowedBook>()
  /** Number of arrivals of each trade id, by market. */
  readonly trades = new Map<string, number>()
  readonly counts = { messages: 0, snapshots: 0, updates: 0, resyncs: 0, gaps: 0, checksums: 0 }
  /** Protocol violations: a gap in seq, a wrong checksum, an update without a snapshot. */
  readonly faults: string[] = []
  readonly #socket: WebSocket
  readonly #awaitingSnapshot = new Set<string>()
  #onSynced: (() => void)[] = []
  closedWith: number | null = null

  /** `onMessage` is called after the message was applied. */
  constructor(url: string, onMessage: (message: Message) => void = () => {}) {
    this.#socket = new WebSocket(url)
    this.#socket.on('message', (bytes) => {
      const message: Message = JSON.parse(String(bytes))
      this.#take(message)
      onMessage(message)
    })
    this.#socket.on('close', (code) => {
      this.closedWith = code
    })
    this.#socket.on('error', (error) => this.faults.push(error.message))
  }

  /** Subscribes to all markets. Resolves after `synced`. */
  async follow(channel: 'orderbook' | 'trades'): Promise<void> {
    if (this.#socket.readyState === WebSocket.CONNECTING) {
      await new Promise((resolve) => this.#socket.once('open', resolve))
    }
    const isSynced = new Promise<void>((resolve) => this.#onSynced.push(resolve))
    this.#socket.send(JSON.stringify({ action: 'subscribe', id: 1, channel, market_ids: ['*'] }))
    await isSynced
  }

  close(): void {
    this.#socket.close()
  }

  #take(message: Message): void {
    this.counts.messages += 1
    const id = message.market_id ?? ''
    switch (message.type) {
      case 'synced':
        this.#onSynced.shift()?.()
        break
      case 'snapshot':
        this.#takeSnapshot(id, message)
        break
      case 'update':
        this.#takeUpdate(id, message)
        break
      case 'resync':
        this.counts.resyncs += 1
        this.#awaitingSnapshot.add(id)
        break
      case 'gap':
        this.counts.gaps += 1
        break
      case 'trade': {
        const key = `${id} ${message.data?.id}`
        this.trades.set(key, (this.trades.get(key) ?? 0) + 1)
        break
      }
      case 'error':
        this.faults.push(JSON.stringify(message))
        break
    }
  }

  #takeSnapshot(id: string, message: Message): void {
    this.counts.snapshots += 1
    this.#awaitingSnapshot.delete(id)
    const book = new FollowedBook()
    book.seq = message.seq ?? -1
    book.isStale = message.stale ?? false
    for (const { price, size } of message.data?.bids ?? []) book.bids.set(price, size)
    for (const { price, size } of message.data?.asks ?? []) book.asks.set(price, size)
    this.books.set(id, book)
    if (message.checksum !== book.checksum()) this.faults.push(`${id}: snapshot checksum differs`)
  }

  #takeUpdate(id: string, message: Message): void {
    this.counts.updates += 1
    const book = this.books.get(id)
    if (book === undefined) return void this.faults.push(`${id}: update without snapshot`)
    if (this.#awaitingSnapshot.has(id))
      this.faults.push(`${id}: update between resync and snapshot`)
    const seq = message.seq ?? -1
    if (seq !== book.seq + 1) this.faults.push(`${id}: seq ${seq} after ${book.seq}`)
    book.seq = seq
    for (const side of ['bids', 'asks'] as const) {
      for (const { price, size } of message.data?.[side] ?? []) {
        if (size === 0) book[side].delete(price)
        else book[side].set(price, size)
      }
    }
    if (message.checksum === undefined || message.checksum === null) return
    this.counts.checksums += 1
    if (message.checksum !== book.checksum()) this.faults.push(`${id}: checksum differs at ${seq}`)
  }
}
