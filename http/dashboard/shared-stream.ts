// The one stream of a browser, and what its tabs follow on it: it runs in a worker that all tabs share
// (stream-worker.ts), or where a browser has none, in the tab itself. Each tab has a seat and is posted what it follows:
// messages as they come, books whole and at most some thirty times a second. A tab that does not say that it read what was
// posted, since its browser put it to sleep, loses its seat, so that nothing piles up for it; awake, it takes another.

import type { BookView, StreamClient, SubscribeRequest } from '../client/connect.ts'
import type {
  DataMessage,
  GapEvent,
  HeartbeatMessage,
  StateEvent,
  StatusMessage,
  StreamEvent,
} from '../client/messages.ts'

/** What a tab asks of the stream. `id` is the tab's own name for what it follows. */
export type ToStream =
  | { readonly kind: 'follow'; readonly id: number; readonly asked: SubscribeRequest }
  | { readonly kind: 'unfollow'; readonly id: number }
  /** Everything posted so far was read. */
  | { readonly kind: 'seen' }
  /** The browser has another session: a connection that was closed for good is made again. */
  | { readonly kind: 'again' }
  | { readonly kind: 'leave' }

/** What a tab is told. */
export type FromStream =
  | { readonly kind: 'event'; readonly event: Told }
  /** Everything of what it follows is live, or refused. */
  | { readonly kind: 'ready'; readonly id: number }
  /** A book as it is now, after so many messages. */
  | { readonly kind: 'book'; readonly view: BookView; readonly count: number }
  /** The seat is lost, and what came since with it. */
  | { readonly kind: 'dropped' }

type Told = DataMessage | GapEvent | HeartbeatMessage | StateEvent | StatusMessage

interface SharedStreamParts {
  readonly open: (onEvent: (event: StreamEvent) => void) => StreamClient
  /** Runs `action` once after `delayMs`; returns how to stop that. */
  readonly after: (delayMs: number, action: () => void) => () => void
}

/** What a tab follows. */
interface Followed {
  readonly asked: SubscribeRequest
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
  unsubscribe(): void
}

interface Seat {
  readonly post: (told: FromStream) => void
  readonly followed: Map<number, Followed>
  /** Heartbeats that were posted since the tab last said that it had read all. */
  unseenBeats: number
}

/** Of a tab that is awake, at most one is under way. */
const UNSEEN_BEATS_MAX = 4
/** Least time between two looks at a book. */
const BOOK_MS = 33

export class SharedStream {
  readonly #parts: SharedStreamParts
  readonly #seats = new Set<Seat>()
  #client: StreamClient | null = null
  #state: StateEvent | null = null
  readonly #feeds = new Map<string, StatusMessage>()
  /** Messages of books since they were last posted. */
  readonly #changed = new Map<string, number>()
  #isBookPause = false

  constructor(parts: SharedStreamParts) {
    this.#parts = parts
  }

  /** A seat for a tab, which is posted to from now on; returns how the tab asks. */
  attach(post: (told: FromStream) => void): (asked: ToStream) => void {
    const seat: Seat = { post, followed: new Map(), unseenBeats: 0 }
    this.#seats.add(seat)
    // When it is tried again was told from the moment of that attempt.
    if (this.#state !== null) post({ kind: 'event', event: { ...this.#state, retry_ms: null } })
    for (const event of this.#feeds.values()) post({ kind: 'event', event })
    return (asked) => {
      if (this.#seats.has(seat)) this.#receive(seat, asked)
    }
  }

  /** Tabs that have a seat. */
  get seatCount(): number {
    return this.#seats.size
  }

  #receive(seat: Seat, asked: ToStream): void {
    switch (asked.kind) {
      case 'follow':
        return this.#follow(seat, asked.id, asked.asked)
      case 'unfollow':
        seat.followed.get(asked.id)?.unsubscribe()
        seat.followed.delete(asked.id)
        return
      case 'seen':
        seat.unseenBeats = 0
        return
      case 'again':
        return this.#openAgain()
      case 'leave':
        return this.#leave(seat)
    }
  }

  #follow(seat: Seat, id: number, asked: SubscribeRequest): void {
    const marketIds = asked.marketIds === undefined ? null : new Set(asked.marketIds)
    const { ready, unsubscribe } = this.#subscribe(asked)
    const followed = { asked, marketIds, unsubscribe }
    seat.followed.set(id, followed)
    void ready.then(() => {
      if (seat.followed.get(id) === followed) seat.post({ kind: 'ready', id })
    })
    if (asked.channel !== 'orderbook') return
    for (const marketId of asked.marketIds ?? []) {
      const view = this.#client?.book(marketId) ?? null
      if (view !== null) seat.post({ kind: 'book', view, count: 0 })
    }
  }

  #subscribe(asked: SubscribeRequest) {
    this.#client ??= this.#parts.open((event) => this.#hear(event))
    const subscription = this.#client.subscribe(asked)
    return { ready: subscription.ready, unsubscribe: () => subscription.unsubscribe() }
  }

  #openAgain(): void {
    if (this.#client === null || this.#client.state !== 'closed') return
    this.#client = null
    for (const seat of this.#seats) {
      for (const [id, { asked }] of seat.followed) this.#follow(seat, id, asked)
    }
  }

  #leave(seat: Seat): void {
    this.#seats.delete(seat)
    for (const followed of seat.followed.values()) followed.unsubscribe()
    seat.followed.clear()
    if (this.#seats.size > 0) return
    this.#client?.close()
    this.#client = null
    this.#state = null
    this.#feeds.clear()
  }

  #hear(event: StreamEvent): void {
    switch (event.type) {
      case 'state':
        this.#state = event
        // How the feeds are is not known until the server is there again and says it.
        if (event.state === 'waiting') this.#feeds.clear()
        return this.#tellAll(event)
      case 'status':
        this.#feeds.set(event.platform, event)
        return this.#tellAll(event)
      case 'heartbeat':
        return this.#beat(event)
      case 'gap':
        this.#tellAll(event)
        if (event.channel === 'orderbook' && event.market_id !== null) {
          this.#noteBook(event.market_id, 0)
        }
        return
      case 'stale':
      case 'fresh':
        if (event.channel === 'orderbook') this.#noteBook(event.market_id, 0)
        return
      case 'snapshot':
      case 'update':
        return this.#noteBook(event.market_id, 1)
      case 'depth':
      case 'price':
      case 'trade':
      case 'whale':
      case 'lifecycle':
      case 'candle':
      case 'arbitrage':
        for (const seat of this.#seats) {
          if (wants(seat, event.channel, event.market_id)) seat.post({ kind: 'event', event })
        }
        return
    }
  }

  #tellAll(event: Told): void {
    for (const seat of [...this.#seats]) seat.post({ kind: 'event', event })
  }

  #beat(event: HeartbeatMessage): void {
    for (const seat of [...this.#seats]) {
      seat.unseenBeats += 1
      if (seat.unseenBeats <= UNSEEN_BEATS_MAX) seat.post({ kind: 'event', event })
      else {
        seat.post({ kind: 'dropped' })
        this.#leave(seat)
      }
    }
  }

  /** The first change is posted at once; those of the next moment together, behind it. */
  #noteBook(marketId: string, count: number): void {
    this.#changed.set(marketId, (this.#changed.get(marketId) ?? 0) + count)
    if (!this.#isBookPause) this.#postBooks()
  }

  #postBooks(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#isBookPause = changed.length > 0
    if (!this.#isBookPause) return
    this.#parts.after(BOOK_MS, () => this.#postBooks())
    for (const [marketId, count] of changed) {
      const seats = [...this.#seats].filter((seat) => wants(seat, 'orderbook', marketId))
      const view = seats.length === 0 ? null : (this.#client?.book(marketId) ?? null)
      if (view === null) continue
      for (const seat of seats) seat.post({ kind: 'book', view, count })
    }
  }
}

function wants(seat: Seat, channel: DataMessage['channel'], marketId: string): boolean {
  for (const { asked, marketIds } of seat.followed.values()) {
    if (asked.channel === channel && (marketIds === null || marketIds.has(marketId))) return true
  }
  return false
}
