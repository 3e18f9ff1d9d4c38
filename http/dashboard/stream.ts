// The tab's one connection to the stream: made when the first part of the page follows something, shared by all of
// them; the top of the page says so whenever it is not live. A message is handed to the parts that follow its channel
// and market, in the turn in which it comes; they bundle their drawing (signal.ts). Not for: keeping books, coming
// back, gaps: the package's own client does all that. Upholds DASH5, DASH6.

import { connect, type StreamClient, type SubscribeRequest } from '../client/connect.ts'
import type {
  Channel,
  ClientState,
  DataMessage,
  GapEvent,
  StateEvent,
  StatusMessage,
} from '../client/messages.ts'
import { request } from './api.ts'
import { monotonicMs, serverBase } from './browser.ts'
import { Signal } from './signal.ts'

/** How the connection is, for the line at the top of the page. */
export interface StreamState {
  readonly state: ClientState | 'off'
  /** Why the last connection ended; empty: it did not. */
  readonly reason: string
  /** When it will be tried again, on the monotonic clock; null: now, or never. */
  readonly retryAtMs: number | null
  /** It has ended, or did not begin, since it was last live: what is shown may be old. */
  readonly isLost: boolean
}

/** How a venue's feed is, as the server last said. */
export type FeedState = Pick<StatusMessage, 'state' | 'lag_ms' | 'delay_ms'>

const OFF: StreamState = { state: 'off', reason: '', retryAtMs: null, isLost: false }

export const streamState = new Signal<StreamState>(OFF)
/** By the venue's configured name. */
export const feeds = new Signal<ReadonlyMap<string, FeedState>>(new Map())
/** Messages with something of a market that came since the tab was opened. */
export const received = { count: 0 }

/** A part of the page that follows markets. */
interface Follower {
  readonly onMessage: (message: DataMessage) => void
  /** Something is missing in the channel: what is shown may be behind until the state follows. */
  readonly onGap?: (gap: GapEvent) => void
}

interface Following extends Follower {
  readonly channel: Channel
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
}

let client: StreamClient | null = null
let credential: string | null = null
/** Connections in a row that ended before they were live. */
let failedCount = 0
const followings = new Set<Following>()

/** The token with which the connection is made once a part of the page follows markets. */
export function setStreamToken(token: string): void {
  if (token === credential) return
  endStream()
  credential = token
}

/** Ends the connection and forgets the token. */
export function endStream(): void {
  client?.close()
  client = null
  credential = null
  failedCount = 0
  followings.clear()
  feeds.set(new Map())
  streamState.set(OFF)
}

/**
 * Follows a channel of markets, or of everything with `all`; returns how to stop. Two followers of one market in one
 * channel share one set of options: the later counts.
 */
export function follow(asked: SubscribeRequest, follower: Follower): () => void {
  const stream = opened()
  if (stream === null) return () => undefined
  const marketIds = asked.marketIds === undefined ? null : new Set(asked.marketIds)
  const following: Following = { ...follower, channel: asked.channel, marketIds }
  followings.add(following)
  const subscription = stream.subscribe(asked)
  return () => {
    followings.delete(following)
    subscription.unsubscribe()
  }
}

/** The client, for its books; null while the tab has no session. */
export const streamClient = (): StreamClient | null => client

function opened(): StreamClient | null {
  if (client !== null || credential === null) return client
  client = connect({
    url: new URL('v1/ws', serverBase()).href,
    accessToken: credential,
    onEvent: (event) => {
      switch (event.type) {
        case 'state':
          return tellState(event)
        case 'status':
          return feeds.set(new Map([...feeds.value, [event.platform, event]]))
        case 'gap':
          return tellGap(event)
        case 'snapshot':
        case 'update':
        case 'depth':
        case 'price':
        case 'trade':
        case 'whale':
        case 'lifecycle':
        case 'candle':
        case 'arbitrage':
          return tell(event)
      }
    },
  })
  return client
}

function tellState({ state, reason, retry_ms: retryMs }: StateEvent): void {
  if (state === 'live') failedCount = 0
  if (state === 'waiting') {
    failedCount += 1
    // The states of the feeds are not known until the server is there again and sends them.
    feeds.set(new Map())
  }
  streamState.set({
    state,
    reason,
    retryAtMs: retryMs === null ? null : monotonicMs() + retryMs,
    isLost: state === 'waiting' || (state !== 'live' && streamState.value.isLost),
  })
  if (state === 'waiting' && failedCount > 1) void askWhy(client)
}

/**
 * A browser does not say why a connection was refused. REST does: it ends the session when the token is no longer
 * good; and where it answers, it is the connection that is one too many.
 */
async function askWhy(refused: StreamClient | null): Promise<void> {
  try {
    await request('/v1/auth/me')
  } catch {
    return
  }
  const { value: state } = streamState
  if (client !== refused || state.state !== 'waiting') return
  streamState.set({ ...state, reason: 'all connections of this account may be in use' })
}

function tell(message: DataMessage): void {
  received.count += 1
  for (const { channel, marketIds, onMessage } of followings) {
    if (channel !== message.channel) continue
    if (marketIds === null || marketIds.has(message.market_id)) onMessage(message)
  }
}

function tellGap(gap: GapEvent): void {
  for (const { channel, marketIds, onGap } of followings) {
    if (onGap === undefined || (gap.channel !== null && gap.channel !== channel)) continue
    const isOurs = gap.market_id === null || marketIds === null || marketIds.has(gap.market_id)
    if (isOurs) onGap(gap)
  }
}
