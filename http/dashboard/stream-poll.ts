// What stands in for the stream where none can be had: the server is asked for the books and prices that the page
// follows, and parts that read a list are told to read it again.

import type { BookView, SubscribeRequest } from '../client/connect.ts'
import type { DataMessage, GapEvent, PriceMessage } from '../client/messages.ts'
import { request } from './api.ts'
import { every, isTabHidden } from './browser.ts'
import type { Orderbook, Orderbooks, Prices } from './records.ts'

/** A part of the page that follows markets. */
export interface Follower {
  readonly onMessage: (message: DataMessage) => void
  /** Something is missing in the channel: what is shown may be behind until the state follows. */
  readonly onGap?: (gap: GapEvent) => void
  /** Everything of it is live: what the server is asked for from now on leaves no hole. */
  readonly onReady?: () => void
}

/** Something that the page follows. */
export interface Following extends Follower {
  readonly subscription: SubscribeRequest
  /** Null: all markets. */
  readonly marketIds: ReadonlySet<string> | null
  /** Called when the book of one of them has changed. */
  readonly onBook: () => void
}

/** Markets of one request, as the server takes them. */
const IDS_MAX = 100
/** Of what a page shows: more would use up what the browser may ask for. */
const MARKETS_MAX = 200

/** Connections in a row that ended before they were live until the server, if it answers, is asked instead. */
export const FAILED_MAX = 2
/** How often the server is asked. */
export const POLL_MS = 5_000

interface Polling {
  readonly following: () => readonly Following[]
  readonly putBook: (view: BookView) => void
}

/** Asks at once and then every `POLL_MS` until the signal; what comes after it is dropped. */
export function pollUntil(signal: AbortSignal, { following, putBook }: Polling): void {
  const put = (view: BookView): void => {
    if (!signal.aborted) putBook(view)
  }
  const round = (): void => void poll(following(), { putBook: put, signal })
  round()
  signal.addEventListener('abort', every(POLL_MS, round))
}

/** Asks once for all that is followed; what fails is asked for the next time. Never rejects. */
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
    // The line at the top says already that the server is not to be had.
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

/** As the stream's client would keep it. */
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

/** Exported for its test. */
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
