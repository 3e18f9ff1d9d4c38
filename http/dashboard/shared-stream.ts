// One stream for all tabs of a browser, in a shared worker or, without shared workers, in the tab. Tabs receive the
// messages of their subscriptions and acknowledge heartbeats. Tabs that stop acknowledging are detached, so that
// messages do not accumulate.

import {
  type BookView,
  connect,
  type StreamClient,
  type SubscribeRequest,
} from '../client/connect.ts'
import {
  type DataMessage,
  type GapEvent,
  type HeartbeatMessage,
  isDataMessage,
  type StateEvent,
  type StatusMessage,
  type StreamEvent,
} from '../client/messages.ts'
import { request } from './api.ts'
import { after, serverBase } from './browser.ts'
import type { Ticket } from './records.ts'

/** The tab chooses `id`. */
export type ToStream =
  | { readonly kind: 'follow'; readonly id: number; readonly request: SubscribeRequest }
  | { readonly kind: 'unfollow'; readonly id: number }
  /** Acknowledgement: the tab has processed all messages posted so far. */
  | { readonly kind: 'seen' }
  /** The browser has a new session. Reopens a closed connection. */
  | { readonly kind: 'again' }
  | { readonly kind: 'leave' }

export type FromStream =
  | { readonly kind: 'event'; readonly event: TabEvent }
  | { readonly kind: 'ready'; readonly id: number }
  /** The current book of a market. `count`: stream messages since the last posted book. */
  | { readonly kind: 'book'; readonly view: BookView; readonly count: number }
  /** The tab is detached and misses all later messages. */
  | { readonly kind: 'dropped' }

type TabEvent = DataMessage | GapEvent | HeartbeatMessage | StateEvent | StatusMessage

/** Each connection uses a ticket, so that no URL contains the session's token. */
const openClient = (onEvent: (event: StreamEvent) => void): StreamClient =>
  connect({
    url: new URL('v1/ws', serverBase()).href,
    ticket: async () => (await request<Ticket>('/v1/ws/ticket', { method: 'POST' })).ticket,
    onEvent,
  })

interface SharedStreamParts {
  readonly open: (onEvent: (event: StreamEvent) => void) => StreamClient
  readonly after: (delayMs: number, action: () => void) => () => void
}

interface Followed {
  readonly request: SubscribeRequest
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
  unsubscribe(): void
}

interface Tab {
  readonly post: (message: FromStream) => void
  readonly followed: Map<number, Followed>
  unseenBeats: number
}

/** Tabs with more unacknowledged heartbeats are detached. A running tab has at most one. */
const UNSEEN_BEATS_MAX = 4
/** Minimum time between two posts of changed books. */
const BOOK_MS = 33

export class SharedStream {
  readonly #parts: SharedStreamParts
  readonly #tabs = new Set<Tab>()
  #client: StreamClient | null = null
  #state: StateEvent | null = null
  readonly #feeds = new Map<string, StatusMessage>()
  readonly #changed = new Map<string, number>()
  #isBookPause = false

  constructor(parts: SharedStreamParts = { open: openClient, after }) {
    this.#parts = parts
  }

  /** Attaches a tab, which receives messages through `post`. Returns the handler of the tab's commands. */
  attach(post: (message: FromStream) => void): (command: ToStream) => void {
    const tab: Tab = { post, followed: new Map(), unseenBeats: 0 }
    this.#tabs.add(tab)
    // The stored `retry_ms` is outdated, since it is relative to the time of the event.
    if (this.#state !== null) post({ kind: 'event', event: { ...this.#state, retry_ms: null } })
    for (const event of this.#feeds.values()) post({ kind: 'event', event })
    return (command) => {
      if (this.#tabs.has(tab)) this.#receive(tab, command)
    }
  }

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
        // Feed states are unknown until the next connection reports them.
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
      default:
        if (!isDataMessage(event)) return
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

  /** Posts the first change at once. Further changes within BOOK_MS are posted together. */
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
