// A client that reads books over REST, follows all of them on the stream, and computes the age of books served as live.
// A book's age is the time from the venue's sending of the first change that it lacks until the response. Venue, engine
// and client share one clock.

import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { systemClock } from '../engine/clock.ts'
import { newTimes, record } from './latency-recorder.ts'

interface Update {
  readonly seq: number
  readonly venueMs: number
  readonly receivedMs: number
}

interface Answer {
  readonly seq: number
  readonly atMs: number
}

/** State of one market. */
interface Followed {
  /** The newest updates, by `seq` modulo the list's length. */
  readonly recent: (Update | undefined)[]
  /** Responses whose next update has not arrived yet. */
  waiting: Answer[]
}

interface StreamMessage {
  readonly type: string
  readonly market_id?: string
  readonly platform?: string
  readonly state?: string
  readonly seq?: number
  readonly timestamp_ms?: number
  readonly received_ms?: number
  readonly published_ms?: number
  readonly reason?: string
  readonly data?: { readonly id?: string }
  readonly channel?: string
}

interface OrderbookAnswer {
  readonly market_id: string
  readonly seq: number
  readonly stale: boolean
  readonly age_ms: number | null
}

const FOLLOW_MS_MAX = 30_000
const RECENT = 1_024
const WAITING_MAX = 64

/** Key of a trade: market and native id. For venue a only the transaction, since its parts may arrive one by one. */
export function tradeKey(name: string): string {
  const lower = name.toLowerCase()
  return lower.startsWith('venue_a') ? lower.replace(/-.*/, '') : lower
}

const isBooksSynced = (text: string): boolean =>
  text.includes('"synced"') && text.includes('"orderbook"')

/** Milliseconds of each kind, and counts. */
export class BookAges {
  /** Books over REST with `stale: false`: time since the venue sent the first change that they lack. */
  readonly served = newTimes()
  /** Stream updates while `status` was live, and all updates: from the venue's time to their arrival here. */
  readonly toldLive = newTimes()
  readonly told = newTimes()
  /** Updates: within the engine, from arrival to publication. */
  readonly within = newTimes()
  readonly counts = { answers: 0, stale: 0, unjudged: 0, updates: 0, gaps: 0, holes: 0 }
  readonly resyncs = new Map<string, number>()
  /** Trades received from the stream, by {@link tradeKey}. */
  readonly trades = new Set<string>()
  readonly #markets = new Map<string, Followed>()
  readonly #states = new Map<string, string>()
  readonly #socket: WebSocket
  isCounting = false

  constructor(url: string) {
    this.#socket = new WebSocket(url)
    this.#socket.on('message', (bytes) => this.#take(JSON.parse(String(bytes))))
    this.#socket.on('error', () => undefined)
  }

  /**
   * Subscribes to every book and all trades. Resolves when all snapshots have arrived, or after half a minute: an
   * engine short of processor time may need longer, and answers over REST meanwhile.
   */
  async follow(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CONNECTING) {
      await new Promise((resolve) => this.#socket.once('open', resolve))
    }
    const isSynced = new Promise<void>((resolve) => {
      this.#socket.on('message', (bytes) => isBooksSynced(String(bytes)) && resolve())
    })
    for (const channel of ['trades', 'orderbook']) {
      this.#socket.send(JSON.stringify({ action: 'subscribe', channel, market_ids: ['*'] }))
    }
    await Promise.race([isSynced, pause(FOLLOW_MS_MAX)])
    this.#socket.removeAllListeners('message')
    this.#socket.on('message', (bytes) => this.#take(JSON.parse(String(bytes))))
  }

  close(): void {
    this.#socket.terminate()
  }

  /** Records books from `GET /v1/orderbooks`. */
  noteAnswers(books: readonly OrderbookAnswer[]): void {
    const nowMs = systemClock.nowMs()
    for (const { market_id: id, seq, stale, age_ms: ageMs } of books) {
      this.counts.answers += 1
      if (stale) this.counts.stale += 1
      else if (ageMs !== null) this.#judge(id, seq, ageMs, nowMs)
    }
  }

  #judge(id: string, seq: number, ageMs: number, nowMs: number): void {
    const market = this.#followed(id)
    const own = market.recent[seq % RECENT]
    // Time of the response: its age added to the arrival of its newest change.
    const atMs = own?.seq === seq ? own.receivedMs + ageMs : nowMs
    const next = market.recent[(seq + 1) % RECENT]
    if (next?.seq === seq + 1) this.#serve(atMs - next.venueMs)
    else if (market.waiting.length < WAITING_MAX) market.waiting.push({ seq, atMs })
    else this.counts.unjudged += 1
  }

  #serve(ageMs: number): void {
    if (this.isCounting) record(this.served, Math.max(0, ageMs))
  }

  #followed(id: string): Followed {
    let market = this.#markets.get(id)
    if (market === undefined) {
      market = { recent: new Array<Update | undefined>(RECENT), waiting: [] }
      this.#markets.set(id, market)
    }
    return market
  }

  #take(message: StreamMessage): void {
    switch (message.type) {
      case 'update':
        return this.#takeUpdate(message)
      case 'status':
        this.#states.set(message.platform ?? '', message.state ?? '')
        return
      case 'gap':
        this.counts.gaps += 1
        return
      case 'trade':
        this.trades.add(tradeKey(`${message.market_id} ${message.data?.id}`))
        return
      case 'resync': {
        const reason = message.reason ?? ''
        this.resyncs.set(reason, (this.resyncs.get(reason) ?? 0) + 1)
        const market = this.#followed(message.market_id ?? '')
        // The stream never sent the changes that these lack one by one.
        this.counts.unjudged += market.waiting.length
        market.waiting = []
      }
    }
  }

  #takeUpdate(message: StreamMessage): void {
    const id = message.market_id ?? ''
    const { seq = 0, timestamp_ms: venueMs = 0, received_ms: receivedMs = 0 } = message
    const publishedMs = message.published_ms ?? systemClock.nowMs()
    const market = this.#followed(id)
    market.recent[seq % RECENT] = { seq, venueMs, receivedMs }
    if (market.waiting.length > 0) {
      for (const { seq: of, atMs } of market.waiting)
        if (of + 1 === seq) this.#serve(atMs - venueMs)
      market.waiting = market.waiting.filter(({ seq: of }) => of >= seq)
    }
    if (!this.isCounting) return
    this.counts.updates += 1
    const ageMs = Math.max(0, publishedMs - venueMs)
    record(this.told, ageMs)
    record(this.within, Math.max(0, publishedMs - receivedMs))
    const platform = [...this.#states.keys()].find((name) => id.startsWith(name))
    if (this.#states.get(platform ?? '') === 'live') record(this.toldLive, ageMs)
  }
}
