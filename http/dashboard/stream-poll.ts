// Fallback when no stream is available: polls the followed books and prices by REST, and makes lists reload.

import type { BookView, SubscribeRequest } from '../client/connect.ts'
import type { DataMessage, GapEvent, PriceMessage } from '../client/messages.ts'
import { request } from './api.ts'
import { every, isTabHidden } from './browser.ts'
import type { Orderbook, Orderbooks, Prices } from './records.ts'

/** Callbacks of a subscription. */
export interface Follower {
  readonly onMessage: (message: DataMessage) => void
  /** Messages of the channel are missing. The shown data may be outdated until the next state. */
  readonly onGap?: (gap: GapEvent) => void
  /** The subscription is live: a REST request from now on leaves no gap. */
  readonly onReady?: () => void
}

export interface Following extends Follower {
  readonly subscription: SubscribeRequest
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
  /** Called when one of the followed books has changed. */
  readonly onBook: () => void
}

/** The server's limit of ids in one request. */
const IDS_MAX = 100
/** Limit of polled markets per channel. More would exhaust the browser's quota. */
const MARKETS_MAX = 200

/** Consecutive failed connections after which polling starts, if REST works. */
export const FAILED_MAX = 2
/** Poll period. */
export const POLL_MS = 5_000

interface Polling {
  readonly following: () => readonly Following[]
  readonly putBook: (view: BookView) => void
}

/** Polls immediately and then every `POLL_MS` until `signal` aborts. Later responses are dropped. */
export function pollUntil(signal: AbortSignal, { following, putBook }: Polling): void {
  const put = (view: BookView): void => {
    if (!signal.aborted) putBook(view)
  }
  const round = (): void => void poll(following(), { putBook: put, signal })
  round()
  signal.addEventListener('abort', every(POLL_MS, round))
}

/** Polls everything followed once. Failed requests are repeated in the next round. Never rejects. */
async function poll(
  followings: readonly Following[],
  { putBook, signal }: { putBook: (view: BookView) => void; signal: AbortSignal },
): Promise<void> {
  if (isTabHidden()) return
  for (const { onGap, subscription } of followings) {
    if (subscription.channel !== 'orderbook' && subscription.channel !== 'prices') onGap?.(LOST)
  }
  const booked = idsOf(followings, 'orderbook')
  const priced = idsOf(followings, 'prices')
  try {
    for (const ids of batches(booked)) {
      for (const book of await fetchBooks(ids, signal)) putBook(viewOf(book))
    }
    for (const ids of batches(priced)) {
      const [prices, tops] = [await fetchPrices(ids, signal), await fetchBooks(ids, signal, 1)]
      for (const message of messagesOf(prices, tops)) {
        for (const { subscription, marketIds, onMessage } of followings) {
          if (subscription.channel === 'prices' && marketIds?.has(message.market_id))
            onMessage(message)
        }
      }
    }
  } catch {
    // The status line already shows that the server is unreachable.
  }
}

async function fetchBooks(ids: readonly string[], signal: AbortSignal, depth?: number) {
  const query = { market_ids: ids.join(','), depth }
  return (await request<Orderbooks>('/v1/orderbooks', { query, signal })).orderbooks
}

async function fetchPrices(ids: readonly string[], signal: AbortSignal) {
  return (await request<Prices>('/v1/prices', { query: { market_ids: ids.join(',') }, signal }))
    .prices
}

function idsOf(followings: readonly Following[], channel: 'orderbook' | 'prices') {
  const ids = new Set<string>()
  for (const { subscription, marketIds } of followings) {
    if (subscription.channel === channel) for (const id of marketIds ?? []) ids.add(id)
  }
  return [...ids].slice(0, MARKETS_MAX)
}

function* batches(ids: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < ids.length; start += IDS_MAX) yield ids.slice(start, start + IDS_MAX)
}

/** Converts a REST book to the stream client's format. */
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

/** Converts REST prices to price messages. Exported for tests. */
export function messagesOf(
  prices: Prices['prices'],
  tops: readonly Orderbook[],
): readonly PriceMessage[] {
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

const LOST: GapEvent = {
  ...{ type: 'gap', channel: null, market_id: null, platform: null, cause: 'lost' },
  ...{ state_follows: false, from_ms: null, to_ms: null, from_seq: null, to_seq: null, lost: null },
}
