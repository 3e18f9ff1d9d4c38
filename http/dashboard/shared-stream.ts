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
  | { readonly kind: 'follow'; readonly id: number; readonly request: SubscribeRequest }
  | { readonly kind: 'unfollow'; readonly id: number }
  /** Everything posted so far was read. */
  | { readonly kind: 'seen' }
  /** The browser has another session: a connection that was closed for good is made again. */
  | { readonly kind: 'again' }
  | { readonly kind: 'leave' }

/** What a tab is told. */
export type FromStream =
  | { readonly kind: 'event'; readonly event: TabEvent }
  /** Everything of what it follows is live, or refused. */
  | { readonly kind: 'ready'; readonly id: number }
  /** A book as it is now, after so many messages. */
  | { readonly kind: 'book'; readonly view: BookView; readonly count: number }
  /** The seat is lost, and what came since with it. */
  | { readonly kind: 'dropped' }

type TabEvent = DataMessage | GapEvent | HeartbeatMessage | StateEvent | StatusMessage

interface SharedStreamParts {
  readonly open: (onEvent: (event: StreamEvent) => void) => StreamClient
  /** Runs `action` once after `delayMs`; returns how to stop that. */
  readonly after: (delayMs: number, action: () => void) => () => void
}

/** What a tab follows. */
interface Followed {
  readonly request: SubscribeRequest
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
  unsubscribe(): void
}

interface Tab {
  readonly post: (message: FromStream) => void
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
  readonly #tabs = new Set<Tab>()
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
  attach(post: (message: FromStream) => void): (command: ToStream) => void {
    const tab: Tab = { post, followed: new Map(), unseenBeats: 0 }
    this.#tabs.add(tab)
    // When it is tried again was told from the moment of that attempt.
    if (this.#state !== null) post({ kind: 'event', event: { ...this.#state, retry_ms: null } })
    for (const event of this.#feeds.values()) post({ kind: 'event', event })
    return (command) => {
      if (this.#tabs.has(tab)) this.#receive(tab, command)
    }
  }

  /** Tabs that have a seat. */
  get tabCount(): number {
    return this.#tabs.size
  }

  #receive(tab: Tab, command: ToStream): void {
    switch (command.kind) {
      case 'follow':
        return this.#follow(tab, command.id, command.request)
      case 'unfollow':
        tab.followed.get(command.id)?.unsubscribe()
        tab.followed.delete(command.id)
        return
      case 'seen':
        tab.unseenBeats = 0
        return
      case 'again':
        return this.#openAgain()
      case 'leave':
        return this.#leave(tab)
    }
  }

  #follow(tab: Tab, id: number, request: SubscribeRequest): void {
    const marketIds = request.marketIds === undefined ? null : new Set(request.marketIds)
    const { ready, unsubscribe } = this.#subscribe(request)
    const followed = { request, marketIds, unsubscribe }
    tab.followed.set(id, followed)
    void ready.then(() => {
      if (tab.followed.get(id) === followed) tab.post({ kind: 'ready', id })
    })
    if (request.channel !== 'orderbook') return
    for (const marketId of request.marketIds ?? []) {
      const view = this.#client?.book(marketId) ?? null
      if (view !== null) tab.post({ kind: 'book', view, count: 0 })
    }
  }

  #subscribe(request: SubscribeRequest) {
    this.#client ??= this.#parts.open((event) => this.#receiveEvent(event))
    const subscription = this.#client.subscribe(request)
    return { ready: subscription.ready, unsubscribe: () => subscription.unsubscribe() }
  }

  #openAgain(): void {
    if (this.#client === null || this.#client.state !== 'closed') return
    this.#client = null
    for (const tab of this.#tabs) {
      for (const [id, { request }] of tab.followed) this.#follow(tab, id, request)
    }
  }

  #leave(tab: Tab): void {
    this.#tabs.delete(tab)
    for (const followed of tab.followed.values()) followed.unsubscribe()
    tab.followed.clear()
    if (this.#tabs.size > 0) return
    this.#client?.close()
    this.#client = null
    this.#state = null
    this.#feeds.clear()
  }

  #receiveEvent(event: StreamEvent): void {
    switch (event.type) {
      case 'state':
        this.#state = event
        // How the feeds are is not known until the server is there again and says it.
        if (event.state === 'waiting') this.#feeds.clear()
        return this.#postToAll(event)
      case 'status':
        this.#feeds.set(event.platform, event)
        return this.#postToAll(event)
      case 'heartbeat':
        return this.#beat(event)
      case 'gap':
        this.#postToAll(event)
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
        for (const tab of this.#tabs) {
          if (wants(tab, event.channel, event.market_id)) tab.post({ kind: 'event', event })
        }
        return
    }
  }

  #postToAll(event: TabEvent): void {
    for (const tab of [...this.#tabs]) tab.post({ kind: 'event', event })
  }

  #beat(event: HeartbeatMessage): void {
    for (const tab of [...this.#tabs]) {
      tab.unseenBeats += 1
      if (tab.unseenBeats <= UNSEEN_BEATS_MAX) tab.post({ kind: 'event', event })
      else {
        tab.post({ kind: 'dropped' })
        this.#leave(tab)
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
      const tabs = [...this.#tabs].filter((tab) => wants(tab, 'orderbook', marketId))
      const view = tabs.length === 0 ? null : (this.#client?.book(marketId) ?? null)
      if (view === null) continue
      for (const tab of tabs) tab.post({ kind: 'book', view, count })
    }
  }
}

function wants(tab: Tab, channel: DataMessage['channel'], marketId: string): boolean {
  for (const { request, marketIds } of tab.followed.values()) {
    if (request.channel === channel && (marketIds === null || marketIds.has(marketId))) return true
  }
  return false
}
