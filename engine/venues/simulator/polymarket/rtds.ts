// Topic `activity` of venue a's real-time data stream (engine/venues/polymarket/README.md, Activity stream). A fill has
// a `trades` row for each of its wallets. A transaction has one `orders_matched` row, for its taker.

import type { Clock } from '../../../clock.ts'
import { isRecord } from '../../../json-record.ts'
import type { Faults } from '../faults.ts'
import type { SimTrade } from '../model.ts'
import { type Conversation, parseRecord, type SimSocket, SocketGroup } from '../sim-socket.ts'
import type { ChannelOptions } from './market-ws.ts'
import { isSameMatch } from './trade-routes.ts'
import { matchRow, participantCount, type TradeRow, tradeRow } from './trade-rows.ts'

const PING_PERIOD_SECONDS = 5
const SILENCE_DRAWN_MS = 1_000
const SILENCE_MS = 120_000

export class Rtds {
  readonly #clock: Clock
  readonly #faults: Faults
  readonly #listeners = new Set<Listener>()
  readonly sockets: SocketGroup
  readonly #stopListening: () => void
  readonly #stopTimer: () => void
  readonly #endsAtMs: number
  #silencedToMs = Number.NEGATIVE_INFINITY
  #match: SimTrade[] = []

  /** `activityEndsS`: seconds after which the stream sends no activity, while its sockets stay open. Null: never. */
  constructor(options: ChannelOptions, activityEndsS: number | null) {
    this.#clock = options.clock
    this.#faults = options.faults
    const lastsMs = activityEndsS === null ? Number.POSITIVE_INFINITY : activityEndsS * 1_000
    this.#endsAtMs = options.clock.monotonicMs() + lastsMs
    this.#stopTimer = options.clock.every(SILENCE_DRAWN_MS, () => this.#drawSilence())
    this.sockets = new SocketGroup({
      ...options,
      ping: { periodSeconds: PING_PERIOD_SECONDS, body: '', pongLimitMs: Number.POSITIVE_INFINITY },
      open: (socket) => this.#open(socket),
    })
    this.#stopListening = options.world.onChange((change) => {
      if (change.kind === 'trade' && change.market.listing.venue === 'a') this.#take(change.trade)
    })
  }

  stop(): void {
    this.#stopListening()
    this.#stopTimer()
    this.sockets.stop()
  }

  #open(socket: SimSocket): Conversation {
    const listener: Listener = { socket, topics: new Map(), held: null }
    this.#listeners.add(listener)
    return {
      receive: (text) => this.#receive(listener, text),
      // The fault `reorder` holds a row back until the next one, at most until the end of the second.
      tick: () => this.#release(listener),
      closed: () => this.#listeners.delete(listener),
    }
  }

  #receive(listener: Listener, text: string): void {
    // The npm client sends `ping` and reports any answer as an error. Newer clients send `PING`.
    if (text === 'ping') return
    const request = text === 'PING' ? null : parseRequest(text)
    if (request === null) {
      const { id } = listener.socket
      const refusal = { message: 'Invalid request body', connectionId: id, requestId: id }
      listener.socket.reply(text === 'PING' ? 'PONG' : JSON.stringify(refusal))
      return
    }
    for (const entry of request.entries) {
      if (request.action === 'unsubscribe') unsubscribe(listener, entry)
      else subscribe(listener, entry)
    }
  }

  /** All fills of a transaction occur in one event-loop tick. */
  #take(trade: SimTrade): void {
    if (this.#match.length > 0 && !isSameMatch(this.#match[0], trade)) this.#publishMatch()
    if (this.#listeners.size === 0) return
    this.#match.push(trade)
    if (this.#match.length === 1) queueMicrotask(() => this.#publishMatch())
  }

  #publishMatch(): void {
    const match = this.#match
    const [first] = match
    this.#match = []
    if (first === undefined || this.#isSilenced()) return
    const second = Math.floor(first.atMs / 1000)
    this.#publishRow({ type: 'orders_matched', row: matchRow(match), second })
    for (const trade of match) {
      const count = participantCount(trade)
      for (let participant = 0; participant < count; participant += 1) {
        this.#publishRow({ type: 'trades', row: tradeRow(trade, participant), second })
      }
    }
  }

  #isSilenced(): boolean {
    const nowMs = this.#clock.monotonicMs()
    return nowMs >= this.#endsAtMs || nowMs < this.#silencedToMs
  }

  #drawSilence(): void {
    if (this.#isSilenced() || !this.#faults.strikes('rtds_silent')) return
    this.#silencedToMs = this.#clock.monotonicMs() + SILENCE_MS
  }

  #publishRow(event: { type: string; row: TradeRow; second: number }): void {
    let body: string | null = null
    for (const listener of this.#listeners) {
      const topic = listener.topics.get('activity')
      if (topic === undefined || !wants(topic, event.type, event.row)) continue
      body ??=
        `"topic":"activity","type":"${event.type}","timestamp":${this.#clock.nowMs()},` +
        `"payload":${JSON.stringify(event.row)}}`
      this.#deliver(listener, `{"connection_id":"${listener.socket.id}",${body}`, event.second)
    }
  }

  #deliver(listener: Listener, frame: string, second: number): void {
    const { held } = listener
    if (held !== null && held.second === second) {
      listener.held = null
      listener.socket.send(frame)
      listener.socket.send(held.frame)
      return
    }
    this.#release(listener)
    if (this.#faults.strikes('reorder')) {
      listener.held = { frame, second }
      return
    }
    listener.socket.send(frame)
    if (this.#faults.strikes('duplicate')) listener.socket.send(frame)
  }

  #release(listener: Listener): void {
    const { held } = listener
    if (held === null) return
    listener.held = null
    listener.socket.send(held.frame)
  }
}

/** `held`: a row that is sent after the next one. */
interface Listener {
  readonly socket: SimSocket
  readonly topics: Map<string, Topic>
  held: { readonly frame: string; readonly second: number } | null
}

/** A connection's subscription to a topic. Its types share one filter. */
interface Topic {
  readonly types: Set<string>
  filter: Filter | null
}

interface Filter {
  readonly eventSlug: string | null
  readonly marketSlug: string | null
}

interface Entry {
  readonly topic: string
  readonly type: string
  readonly filter: Filter | null
}

const TOPICS_MAX = 64
const ALL_TYPES = '*'

function subscribe(listener: Listener, entry: Entry): void {
  let topic = listener.topics.get(entry.topic)
  if (topic === undefined) {
    if (listener.topics.size >= TOPICS_MAX) return
    topic = { types: new Set(), filter: null }
    listener.topics.set(entry.topic, topic)
  }
  if (topic.types.size < TOPICS_MAX) topic.types.add(entry.type)
  topic.filter = entry.filter
}

function unsubscribe(listener: Listener, entry: Entry): void {
  const topic = listener.topics.get(entry.topic)
  if (topic === undefined) return
  if (entry.type === ALL_TYPES) topic.types.clear()
  else topic.types.delete(entry.type)
  if (topic.types.size === 0) listener.topics.delete(entry.topic)
}

// The venue finds slugs by substring, so a filter may match more than one slug.
function wants(topic: Topic, type: string, row: TradeRow): boolean {
  if (!topic.types.has(ALL_TYPES) && !topic.types.has(type)) return false
  if (topic.filter === null) return true
  const { eventSlug, marketSlug } = topic.filter
  if (eventSlug !== null && !row.eventSlug.includes(eventSlug)) return false
  return marketSlug === null || row.slug.includes(marketSlug)
}

function parseRequest(
  text: string,
): { action: 'subscribe' | 'unsubscribe'; entries: readonly Entry[] } | null {
  const { action, subscriptions: list } = parseRecord(text) ?? {}
  if ((action !== 'subscribe' && action !== 'unsubscribe') || !Array.isArray(list)) return null
  const entries: Entry[] = []
  for (const item of list) {
    const entry = isRecord(item) ? entryIn(item) : null
    if (entry === null) return null
    entries.push(entry)
  }
  return { action, entries }
}

function entryIn(item: Readonly<Record<string, unknown>>): Entry | null {
  const { topic, type = ALL_TYPES, filters = '' } = item
  if (typeof topic !== 'string' || typeof type !== 'string') return null
  // A filter is JSON text in a string. The venue refuses a JSON object.
  if (typeof filters !== 'string') return null
  if (filters === '') return { topic, type, filter: null }
  const parsed = parseRecord(filters)
  if (parsed === null) return topic === 'activity' ? null : { topic, type, filter: null }
  const { event_slug: eventSlug, market_slug: marketSlug } = parsed
  return { topic, type, filter: { eventSlug: textOf(eventSlug), marketSlug: textOf(marketSlug) } }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null
