// The first subscription attaches the tab to the shared stream (shared-stream.ts). Without a stream, books and prices
// are polled by REST, and lists are reloaded.

import type { BookView, SubscribeRequest } from '../client/connect.ts'
import type {
  Channel,
  ClientState,
  DataMessage,
  GapEvent,
  PriceMessage,
  StateEvent,
  StatusMessage,
} from '../client/messages.ts'
import { ApiError, request } from './api.ts'
import {
  every,
  isTabHidden,
  isTabOnline,
  monotonicMs,
  onTabEvent,
  openWorker,
  type StopTimer,
} from './browser.ts'
import type { Orderbook, Orderbooks, Prices } from './records.ts'
import { type FromStream, SharedStream, type ToStream } from './shared-stream.ts'
import { Signal } from './signal.ts'

export interface StreamState {
  /**
   * `off`: no subscription yet. `resting`: closed after a minute without subscriptions; the next subscription
   * reconnects. `offline`: the browser has no network. `late`: no message for longer than the heartbeat period.
   * `polling`: no stream is available, so the tab polls the REST API.
   */
  readonly state: ClientState | 'off' | 'resting' | 'offline' | 'late' | 'polling'
  /** Close reason of the last connection; empty if no connection has closed. */
  readonly reason: string
  /** Monotonic time of the next attempt; null if an attempt is running or none will follow. */
  readonly retryAtMs: number | null
  /** The connection was lost and is not live again. The shown data may be outdated. */
  readonly isLost: boolean
}

interface Follower {
  readonly onMessage: (message: DataMessage) => void
  /** Messages of the channel were lost. The shown data may be outdated until it is reloaded. */
  readonly onGap?: () => void
  /** The subscription is live. The stream delivers every change that a later REST request could miss. */
  readonly onReady?: () => void
}

interface Following extends Follower {
  readonly subscription: SubscribeRequest
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
  readonly onBook: () => void
}

export type FeedState = Pick<StatusMessage, 'state' | 'lag_ms' | 'delay_ms'>

const IDLE_CODE = 4_001
const OFF: StreamState = { state: 'off', reason: '', retryAtMs: null, isLost: false }
/** Maximum silence while live. The server sends a heartbeat every 5 s. */
const LATE_MS = 6_500
/** Maximum silence, including state changes, until the tab attaches again. */
const SILENCE_MS_MAX = 20_000
const CHECK_MS = 500
/** After this many failed connections in a row, the tab polls if REST works. */
const FAILED_MAX = 2
export const POLL_MS = 5_000
/** The server's limit of market ids in a request. */
const IDS_MAX = 100
/** Maximum polled markets of each channel. More markets would exhaust the rate limit. */
const MARKETS_MAX = 200

export const streamState = new Signal<StreamState>(OFF)
/** Feed state by the venue's configured name. */
export const feeds = new Signal<ReadonlyMap<string, FeedState>>(new Map())
/** Market messages since the tab was opened. */
export const received = { count: 0 }

/** Id of the logged-in account; null without a login. */
let account: string | null = null
let post: ((command: ToStream) => void) | null = null
let attached = new AbortController()
let lastReceivedMs = 0
let failedCount = 0
let nextId = 0
let polling: AbortController | null = null
const followings = new Map<number, Following>()
const books = new Map<string, BookView>()
/** Does not include the state of the browser's network. */
let connection: StreamState = OFF

/** Called after a login. Subscriptions are possible from then on. */
export function beginStream(of: string): void {
  if (of !== account) endStream()
  account = of
  post?.({ kind: 'again' })
}

export function endStream(): void {
  leave()
  account = null
  followings.clear()
  books.clear()
}

/**
 * Subscribes to markets of a channel, or to all markets with `all`. Returns an unsubscribe function. Subscriptions to
 * the same channel and market share options; the latest options apply.
 */
export function follow(subscription: SubscribeRequest, follower: Follower): () => void {
  return begin(subscription, { ...follower, onBook: () => undefined })
}

/** Returns an unsubscribe function. `bookOf` returns the subscribed books. */
export function followBooks(marketIds: readonly string[], onChange: () => void): () => void {
  const nothing = () => undefined
  const subscription = { channel: 'orderbook', marketIds } as const
  return begin(subscription, { onMessage: nothing, onGap: onChange, onBook: onChange })
}

/** The last known book of a subscribed market, with at most `depth` levels on each side. Null before the first book. */
export function bookOf(marketId: string, depth?: number): BookView | null {
  const view = books.get(marketId) ?? null
  if (view === null || depth === undefined) return view
  return { ...view, bids: view.bids.slice(0, depth), asks: view.asks.slice(0, depth) }
}

function begin(subscription: SubscribeRequest, follower: Follower & Pick<Following, 'onBook'>) {
  if (account === null) return () => undefined
  const marketIds = subscription.marketIds === undefined ? null : new Set(subscription.marketIds)
  nextId += 1
  const id = nextId
  followings.set(id, { ...follower, subscription, marketIds })
  if (post === null) attach()
  else post({ kind: 'follow', id, request: subscription })
  return () => {
    if (!followings.delete(id)) return
    post?.({ kind: 'unfollow', id })
    for (const marketId of marketIds ?? []) {
      if (!isFollowed('orderbook', marketId)) books.delete(marketId)
    }
  }
}

function isFollowed(channel: Channel, marketId: string): boolean {
  for (const { subscription, marketIds } of followings.values()) {
    if (subscription.channel === channel && marketIds?.has(marketId) === true) return true
  }
  return false
}

/** Without a working worker, the tab opens its own stream. */
function attach(isWorkerDead = false): void {
  leave()
  lastReceivedMs = monotonicMs()
  const { signal } = attached
  const onMessage = (message: FromStream) => signal.aborted || handleMessage(message)
  const attachToOwnStream = () => new SharedStream().attach(onMessage)
  const onFailure = () => {
    if (signal.aborted) return
    post?.({ kind: 'leave' })
    post = attachToOwnStream()
    postFollowings(post)
  }
  const name = `twinbook ${account}`
  post = (isWorkerDead ? null : openWorker(name, onMessage, onFailure)) ?? attachToOwnStream()
  postFollowings(post)
  let hasLeft = false
  const stops: readonly StopTimer[] = [
    every(CHECK_MS, check),
    onTabEvent('offline', show),
    onTabEvent('online', show),
    onTabEvent('pagehide', () => {
      post?.({ kind: 'leave' })
      hasLeft = true
    }),
    // A page in the back/forward cache is detached. It attaches again when the user returns to it.
    onTabEvent('pageshow', () => hasLeft && reattach()),
  ]
  signal.addEventListener('abort', () => {
    for (const stop of stops) stop()
  })
}

/** Attaches again and reports a gap, since messages may have been missed. */
function reattach(isWorkerDead = false): void {
  attach(isWorkerDead)
  deliverGap({ channel: null, market_id: null })
}

function postFollowings(to: (command: ToStream) => void): void {
  for (const [id, { subscription }] of followings) to({ kind: 'follow', id, request: subscription })
}

function leave(): void {
  attached.abort()
  attached = new AbortController()
  post?.({ kind: 'leave' })
  post = null
  failedCount = 0
  stopPolling()
  feeds.set(new Map())
  connection = OFF
  show()
}

function handleMessage(message: FromStream): void {
  lastReceivedMs = monotonicMs()
  switch (message.kind) {
    case 'ready':
      return followings.get(message.id)?.onReady?.()
    case 'book':
      return putBook(message.view, message.count)
    case 'dropped':
      // A detached tab may have missed any message.
      return reattach()
    case 'event':
      return handleEvent(message.event)
  }
}

function handleEvent(event: (FromStream & { kind: 'event' })['event']): void {
  if (streamState.value.state === 'late') show()
  switch (event.type) {
    case 'state':
      return noteState(event)
    case 'status':
      return feeds.set(new Map([...feeds.value, [event.platform, event]]))
    case 'gap':
      return deliverGap(event)
    case 'heartbeat':
      return post?.({ kind: 'seen' })
    default:
      received.count += 1
      return deliver(event)
  }
}

function noteState({ state, code, reason, retry_ms: retryMs }: StateEvent): void {
  if (state === 'waiting' && code === IDLE_CODE && retryMs === null) {
    feeds.set(new Map())
    connection = { ...OFF, state: 'resting' }
    return show()
  }
  if (state === 'live') failedCount = 0
  if (state === 'waiting') {
    failedCount += 1
    feeds.set(new Map())
  }
  const isLost = state === 'waiting' || (state !== 'live' && connection.isLost)
  const retryAtMs = retryMs === null ? null : monotonicMs() + retryMs
  connection = { state, reason, retryAtMs, isLost }
  if (state === 'live' || state === 'catching_up') stopPolling()
  else if (state === 'closed') beginPolling()
  show()
  if (state === 'waiting' && failedCount >= FAILED_MAX) void checkRefusal()
}

/**
 * Browsers do not expose why a connection failed. A REST request that returns 401 ends the session. If REST works, the
 * connection limit is the likely cause, and polling starts. If the server does not respond, polling would fail too.
 */
async function checkRefusal(): Promise<void> {
  try {
    await request('/v1/auth/me')
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 0) return
    if (isTrying()) stopPolling()
    return show()
  }
  if (!isTrying()) return
  if (connection.state === 'waiting') {
    connection = { ...connection, reason: 'all connections of this account may be in use' }
  }
  beginPolling()
  show()
}

/** Sets the shown state from the connection, the browser's network and the time of the last message. */
function show(): void {
  const isLate = connection.state === 'live' && monotonicMs() - lastReceivedMs > LATE_MS
  const isPolling = polling !== null && isTrying()
  const isOnline = connection.state === 'off' || isTabOnline()
  const ofTab = isLate ? 'late' : isPolling ? 'polling' : connection.state
  const next: StreamState = { ...connection, state: isOnline ? ofTab : 'offline' }
  if (JSON.stringify(next) !== JSON.stringify(streamState.value)) streamState.set(next)
}

const isTrying = (): boolean => connection.state === 'waiting' || connection.state === 'connecting'

function check(): void {
  const { state } = connection
  const isExpected = state === 'live' || state === 'catching_up' || state === 'off'
  // In state `off`, the worker has never sent a message. The tab then stops using the worker.
  if (isExpected && monotonicMs() - lastReceivedMs > SILENCE_MS_MAX)
    return reattach(state === 'off')
  show()
}

function beginPolling(): void {
  if (polling !== null) return
  polling = new AbortController()
  const { signal } = polling
  void poll(signal)
  signal.addEventListener(
    'abort',
    every(POLL_MS, () => void poll(signal)),
  )
}

function stopPolling(): void {
  polling?.abort()
  polling = null
}

function putBook(view: BookView, count: number): void {
  received.count += count
  if (!isFollowed('orderbook', view.marketId)) return
  books.set(view.marketId, view)
  if (streamState.value.state === 'late') show()
  for (const { subscription, marketIds, onBook } of followings.values()) {
    if (subscription.channel === 'orderbook' && marketIds?.has(view.marketId) === true) onBook()
  }
}

function deliver(message: DataMessage): void {
  for (const { subscription, marketIds, onMessage } of followings.values()) {
    if (subscription.channel !== message.channel) continue
    if (marketIds === null || marketIds.has(message.market_id)) onMessage(message)
  }
}

/** If `channel` and `market_id` are null, all subscriptions may have missed messages. */
function deliverGap({ channel, market_id: id }: Pick<GapEvent, 'channel' | 'market_id'>): void {
  for (const { subscription, marketIds, onGap } of followings.values()) {
    const isChannel = channel === null || channel === subscription.channel
    if (isChannel && (id === null || marketIds === null || marketIds.has(id))) onGap?.()
  }
}

/** Never rejects, because the connection line already reports an unreachable server. */
async function poll(signal: AbortSignal): Promise<void> {
  if (isTabHidden()) return
  for (const { onGap, subscription } of followings.values()) {
    if (subscription.channel !== 'orderbook' && subscription.channel !== 'prices') onGap?.()
  }
  const [booked, priced] = [idsOf('orderbook'), idsOf('prices')]
  try {
    for (const ids of booked) {
      for (const book of await fetchBooks(ids, signal)) {
        if (!signal.aborted) putBook(viewOf(book), 0)
      }
    }
    for (const ids of priced) {
      const query = { market_ids: ids.join(',') }
      const { prices } = await request<Prices>('/v1/prices', { query, signal })
      const tops = await fetchBooks(ids, signal, 1)
      for (const message of messagesOf(prices, tops)) deliver(message)
    }
  } catch {}
}

async function fetchBooks(ids: readonly string[], signal: AbortSignal, depth?: number) {
  const query = { market_ids: ids.join(','), depth }
  return (await request<Orderbooks>('/v1/orderbooks', { query, signal })).orderbooks
}

function idsOf(channel: 'orderbook' | 'prices'): readonly (readonly string[])[] {
  const ids = new Set<string>()
  for (const { subscription, marketIds } of followings.values()) {
    if (subscription.channel === channel) for (const id of marketIds ?? []) ids.add(id)
  }
  const all = [...ids].slice(0, MARKETS_MAX)
  return [all.slice(0, IDS_MAX), all.slice(IDS_MAX)].filter(({ length }) => length > 0)
}

function viewOf(book: Orderbook): BookView {
  return {
    marketId: book.market_id,
    epoch: book.epoch,
    offset: 0,
    seq: book.seq ?? 0,
    isStale: book.stale,
    isInSync: true,
    timestampMs: book.timestamp_ms,
    receivedMs: book.timestamp_ms,
    bids: book.bids,
    asks: book.asks,
    spread: book.spread,
    midPrice: book.mid_price,
  }
}

function messagesOf(prices: Prices['prices'], tops: readonly Orderbook[]): readonly PriceMessage[] {
  const topOf = new Map(tops.map((book) => [book.market_id, book]))
  return prices.map(({ market_id: id, price, timestamp_ms: atMs, source }) => {
    const top = topOf.get(id)
    const data = {
      ...{ price, price_cents: Math.floor((Math.round(price * 1e6) + 5_000) / 10_000), source },
      ...{ best_bid: top?.bids[0]?.price ?? null, best_ask: top?.asks[0]?.price ?? null },
      ...{ mid_price: top?.mid_price ?? null, spread: top?.spread ?? null },
    }
    return {
      ...{ type: 'price', channel: 'prices', market_id: id, epoch: '', offset: 0, seq: 0, data },
      ...{ timestamp_ms: atMs, received_ms: atMs, published_ms: atMs },
    }
  })
}
