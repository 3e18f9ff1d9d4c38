// The tab's part in the browser's one stream (shared-stream.ts): it takes a seat when the first part of the page follows
// something, and hands what comes to the parts that follow its channel and market, in the turn in which it comes; they
// bundle their drawing (signal.ts). The top of the page says so whenever the stream is not live: when the browser is
// offline, when nothing has come for more than a heartbeat, when the connection is lost, and that the server is asked again
// and again instead where no stream can be had (stream-poll.ts).

import type { BookView, SubscribeRequest } from '../client/connect.ts'
import type {
  Channel,
  ClientState,
  DataMessage,
  GapEvent,
  StateEvent,
  StatusMessage,
} from '../client/messages.ts'
import { ApiError, request } from './api.ts'
import { after, every, isTabOnline, monotonicMs, onTabEvent, openWorker } from './browser.ts'
import { type FromStream, SharedStream, type ToStream } from './shared-stream.ts'
import { Signal } from './signal.ts'
import { openClient } from './stream-client.ts'
import { FAILED_MAX, type Follower, type Following, pollUntil } from './stream-poll.ts'

/** How the connection is, for the line at the top of the page. */
export interface StreamState {
  /**
   * As the client says it, but: `off`: nothing is followed yet; `resting`: nothing has been for a minute, and what is followed
   * next connects again; `offline`: the browser has no network; `late`: nothing has come for more than a heartbeat; `polling`: no stream can be had, and the server, which answers, is asked every `POLL_MS` instead.
   */
  readonly state: ClientState | 'off' | 'resting' | 'offline' | 'late' | 'polling'
  /** Why the last connection ended; empty: it did not. */
  readonly reason: string
  /** When it will be tried again, on the monotonic clock; null: now, or never. */
  readonly retryAtMs: number | null
  /** It has ended, or did not begin, since it was last live: what is shown may be old. */
  readonly isLost: boolean
}

/** How a venue's feed is, as the server last said. */
export type FeedState = Pick<StatusMessage, 'state' | 'lag_ms' | 'delay_ms'>

/** With this the server ends a connection on which nothing is followed. */
const IDLE_CODE = 4_001
const OFF: StreamState = { state: 'off', reason: '', retryAtMs: null, isLost: false }
/** The server sends something every 5 s: with less than this one heartbeat is missing. */
const LATE_MS = 6_500
/** A seat from which nothing comes for so long, not even that the connection is lost, is given up for another. */
const SILENCE_MS_MAX = 20_000
const CHECK_MS = 500

export const streamState = new Signal<StreamState>(OFF)
/** By the venue's configured name. */
export const feeds = new Signal<ReadonlyMap<string, FeedState>>(new Map())
/** Messages with something of a market that came since the tab was opened. */
export const received = { count: 0 }

/** The account whose stream it is; null: no user is logged in. */
let account: string | null = null
let post: ((command: ToStream) => void) | null = null
/** Aborted when the tab gives up its seat. */
let attached = new AbortController()
let lastReceivedMs = 0
let failedCount = 0
let nextId = 0
let polling: AbortController | null = null
const followings = new Map<number, Following>()
const books = new Map<string, BookView>()
/** As the connection itself is, whatever the browser says of its network. */
let connection: StreamState = OFF

/** A user is logged in: from now on parts of the page may follow markets. */
export function beginStream(of: string): void {
  if (of !== account) endStream()
  account = of
  post?.({ kind: 'again' })
}

/** Gives up the tab's seat, and all that is followed. */
export function endStream(): void {
  leave()
  account = null
  followings.clear()
  books.clear()
}

/**
 * Follows a channel of markets, or of everything with `all`; returns how to stop. Two followers of one market in one
 * channel share one set of options: the later counts.
 */
export function follow(subscription: SubscribeRequest, follower: Follower): () => void {
  return begin(subscription, { ...follower, onBook: () => undefined })
}

/** Follows the books of markets (`bookOf`); returns how to stop. */
export function followBooks(marketIds: readonly string[], onChange: () => void): () => void {
  const nothing = () => undefined
  const subscription = { channel: 'orderbook', marketIds } as const
  return begin(subscription, { onMessage: nothing, onGap: onChange, onBook: onChange })
}

/** The last known book of a market that is followed, at most `depth` levels a side; null before it came. */
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

/** A seat at the browser's stream, or where there is no worker to share, or not any more, at one of the tab's own. */
function attach(isWorkerDead = false): void {
  leave()
  lastReceivedMs = monotonicMs()
  const { signal } = attached
  const onMessage = (message: FromStream) => signal.aborted || handleMessage(message)
  const attachToOwnStream = () => ownStream().attach(onMessage)
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
  const stops = [
    every(CHECK_MS, check),
    onTabEvent('offline', show),
    onTabEvent('online', show),
    onTabEvent('pagehide', () => {
      post?.({ kind: 'leave' })
      hasLeft = true
    }),
    // A page that comes back as it was has given up its seat.
    onTabEvent('pageshow', () => hasLeft && reattach()),
  ]
  signal.addEventListener('abort', () => {
    for (const stop of stops) stop()
  })
}

/** Takes another seat; what came since nothing was heard on the one before is missing. */
function reattach(isWorkerDead = false): void {
  attach(isWorkerDead)
  deliverGap(MISSED)
}

function postFollowings(to: (command: ToStream) => void): void {
  for (const [id, { subscription }] of followings) to({ kind: 'follow', id, request: subscription })
}

/** A stream of this tab alone. */
function ownStream(): SharedStream {
  return new SharedStream({ after, open: openClient })
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
      // While the tab slept, anything may have been missed.
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
    // The states of the feeds are not known until the server is there again and sends them.
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
 * A browser does not say why a connection was refused. REST does: it ends the session when it is no longer good; where it
 * answers, it is the connection that is one too many, and it is asked instead; where it does not, nothing can be had.
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

/** Puts together what the connection, the browser and the clock say. */
function show(): void {
  const isLate = connection.state === 'live' && monotonicMs() - lastReceivedMs > LATE_MS
  const isOff = connection.state === 'off'
  const state = isOff || isTabOnline() ? (isLate ? 'late' : stateNow()) : 'offline'
  const { value: shown } = streamState
  const next = { ...connection, state }
  const isSame = shown.state === state && shown.reason === next.reason
  if (!isSame || shown.retryAtMs !== next.retryAtMs || shown.isLost !== next.isLost) {
    streamState.set(next)
  }
}

const stateNow = (): StreamState['state'] =>
  polling !== null && isTrying() ? 'polling' : connection.state

const isTrying = (): boolean => connection.state === 'waiting' || connection.state === 'connecting'

function check(): void {
  const { state } = connection
  const isExpected = state === 'live' || state === 'catching_up' || state === 'off'
  // A worker that never said anything is none.
  if (isExpected && monotonicMs() - lastReceivedMs > SILENCE_MS_MAX)
    return reattach(state === 'off')
  show()
}

function beginPolling(): void {
  if (polling !== null) return
  polling = new AbortController()
  pollUntil(polling.signal, {
    following: () => [...followings.values()],
    putBook: (view) => putBook(view, 0),
  })
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
  received.count += 1
  for (const { subscription, marketIds, onMessage } of followings.values()) {
    if (subscription.channel !== message.channel) continue
    if (marketIds === null || marketIds.has(message.market_id)) onMessage(message)
  }
}

function deliverGap(gap: GapEvent): void {
  for (const { subscription, marketIds, onGap } of followings.values()) {
    if (onGap === undefined || (gap.channel !== null && gap.channel !== subscription.channel))
      continue
    const isOurs = gap.market_id === null || marketIds === null || marketIds.has(gap.market_id)
    if (isOurs) onGap(gap)
  }
}

/** Of all channels, of unknown length. */
export const MISSED: GapEvent = {
  ...{ type: 'gap', channel: null, market_id: null, platform: null, cause: 'reader_slow' },
  ...{ state_follows: false, from_ms: null, to_ms: null, from_seq: null, to_seq: null, lost: null },
}
