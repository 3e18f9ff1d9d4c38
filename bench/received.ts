// The messages of a stream client over all of its connections: positions from which it can resume, and losses. A market
// has lost a message if its `seq` does not increase by one.

export interface StreamMessage {
  readonly type: string
  readonly id?: number
  readonly channel?: string
  readonly market_id?: string
  readonly epoch?: string
  readonly offset?: number
  readonly seq?: number
  readonly timestamp_ms?: number
  readonly received_ms?: number
  readonly code?: string
  readonly message?: string
  readonly replayed?: number
  readonly accepted?: readonly string[]
  readonly data?: { readonly market_id?: string; readonly native_trade_id?: string }
}

interface Position {
  readonly epoch: string
  readonly offset: number
}

interface Followed {
  epoch: string
  seq: number
  /** The offset of the market's snapshot. Null: there was none. */
  readonly from: number | null
  count: number
}

export class Received {
  readonly #followed = new Map<string, Followed>()
  readonly #positions = new Map<string, Position>()
  /** The position of the first message on each channel. */
  readonly #firsts = new Map<string, number>()
  deliveryCount = 0
  repeatCount = 0
  snapshotCount = 0
  replayedCount = 0
  /** Number of books that restarted from a snapshot, which the server announced. */
  resyncCount = 0
  /** Number of gaps that the server announced, because messages could not be recovered. */
  gapCount = 0
  /** Losses that the server did not announce, which violates the protocol. */
  readonly holes: string[] = []

  position(channel: string): Position | null {
    return this.#positions.get(channel) ?? null
  }

  /** Number of messages received from a market, and the offset after which the client must have all of them. */
  countOf(channel: string, market: string): { readonly count: number; readonly from: number } {
    const followed = this.#followed.get(`${channel} ${market}`)
    const from = followed?.from ?? this.#firsts.get(channel) ?? 0
    return { count: followed?.count ?? 0, from }
  }

  take(message: StreamMessage): boolean {
    const { type, channel = '', market_id: market = '', epoch, offset, seq } = message
    const key = `${channel} ${market}`
    if (type === 'resync') {
      this.resyncCount += 1
      this.#followed.delete(key)
    } else if (type === 'gap') this.gapCount += 1
    if (epoch === undefined || offset === undefined) return false
    if (type === 'synced' || type === 'resumed') {
      this.#positions.set(channel, { epoch, offset })
      if (!this.#firsts.has(channel)) this.#firsts.set(channel, offset)
      this.replayedCount += message.replayed ?? 0
      return false
    }
    if (seq === undefined || market === '') return false
    if (type === 'snapshot') {
      this.snapshotCount += 1
      this.#followed.set(key, { epoch, seq, from: offset, count: 0 })
      return false
    }
    if (!this.#follow(channel, key, epoch, seq)) return false
    if (this.#positions.has(channel)) this.#positions.set(channel, { epoch, offset })
    this.deliveryCount += 1
    return true
  }

  #follow(channel: string, key: string, epoch: string, seq: number): boolean {
    const last = this.#followed.get(key)
    if (last === undefined) {
      if (channel === 'orderbook') this.holes.push(`${key}: ${seq} before its snapshot`)
      this.#followed.set(key, { epoch, seq, from: null, count: 1 })
      return true
    }
    if (last.epoch === epoch && seq <= last.seq) {
      this.repeatCount += 1
      return false
    }
    const isNext = last.epoch !== epoch || seq === last.seq + 1
    if (!isNext) this.holes.push(`${key}: ${seq} after ${last.seq}`)
    last.epoch = epoch
    last.seq = seq
    last.count += 1
    return true
  }
}
