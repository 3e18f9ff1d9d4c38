// Text off a socket to Polymarket's messages, or a counted rejection; nothing here throws.
// Numbers stay strings. What a message means for our books and trades is map.ts and trades.ts.
// Upholds POLYPARSE1 to POLYPARSE5.

import { isRecord, wordOf } from '../../json-record.ts'
import {
  type ActivityMessage,
  isBook,
  isLastTrade,
  isNewMarket,
  isOldPriceChange,
  isPriceChange,
  isResolved,
  isTickSize,
  isTrade,
  type Json,
  type MarketMessage,
} from './messages.ts'

/** Why a message was refused; a fixed set, so that it can label a counter. */
type ParseReason =
  | 'not_json'
  | 'html'
  | 'not_object'
  | 'no_event_type'
  | 'unknown_event_type'
  | 'bad_book'
  | 'bad_price_change'
  | 'bad_last_trade_price'
  | 'bad_tick_size_change'
  | 'bad_new_market'
  | 'bad_market_resolved'
  | 'bad_activity'

interface ParseRejection {
  readonly kind: 'rejected'
  readonly reason: ParseReason
  /** What it would have been read as; absent where that cannot be said. */
  readonly of?: string
  /** The type that is not known, in the venue's word. */
  readonly unknownType?: string
  /** Tokens whose book messages were lost with it, as far as they can be read. */
  readonly tokens: readonly string[]
}

/** A page that something on the way sent in place of the venue. */
const MARKUP = /^\s*</

/** The activity stream's words for a command that it does not take. */
const REFUSAL =
  /"(?:message|error|body)"\s*:\s*"[^"]*(?:invalid|not allowed|denied|forbidden|unknown|unsupported|not found)/i

type ParsedFrame =
  /** A heartbeat's answer. */
  | { readonly kind: 'sign' }
  /** Plain words of the server: `NO NEW ASSETS`, `INVALID OPERATION`. */
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'messages'; readonly messages: readonly (MarketMessage | ParseRejection)[] }

/** Reads one frame of the market channel: an object, an array of objects, or plain words. */
export function parseFrame(text: string): ParsedFrame {
  const first = text.charCodeAt(0)
  if (first !== 123 /* { */ && first !== 91 /* [ */) return parseWords(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'messages', messages: [reject('not_json', tokensNamedIn(text))] }
  }
  if (!Array.isArray(value)) return { kind: 'messages', messages: [parseMessage(value)] }
  return { kind: 'messages', messages: value.map(parseMessage) }
}

function parseMessage(value: unknown): MarketMessage | ParseRejection {
  if (!isRecord(value)) return reject('not_object', [])
  switch (value.event_type) {
    case 'price_change':
      if (isPriceChange(value)) return { kind: 'priceChange', body: value }
      if (isOldPriceChange(value)) return { kind: 'oldPriceChange', body: value }
      return reject('bad_price_change', tokensOf(value))
    case 'book':
      return isBook(value) ? { kind: 'book', body: value } : reject('bad_book', tokensOf(value))
    case 'last_trade_price':
      return isLastTrade(value)
        ? { kind: 'lastTrade', body: value }
        : reject('bad_last_trade_price', [])
    case 'tick_size_change':
      return isTickSize(value)
        ? { kind: 'tickSize', body: value }
        : reject('bad_tick_size_change', tokensOf(value))
    case 'best_bid_ask':
      return { kind: 'bestBidAsk' }
    case 'new_market':
      return isNewMarket(value) ? { kind: 'newMarket', body: value } : reject('bad_new_market', [])
    case 'market_resolved':
      return isResolved(value)
        ? { kind: 'resolved', body: value }
        : reject('bad_market_resolved', [])
    case undefined:
      // The first books of a subscription may have the shape of REST, which has no event_type.
      return isBook(value)
        ? { kind: 'book', body: value }
        : reject('no_event_type', tokensOf(value))
    default: {
      // What has the form of a book or of its changes was one, under another name.
      const lost = isOfBook(value) ? tokensOf(value) : []
      return { ...reject('unknown_event_type', lost), unknownType: wordOf(value.event_type) }
    }
  }
}

type ParsedActivity =
  /** Heartbeats, empty frames and acknowledgements: whatever carries no payload. */
  | { readonly kind: 'sign' }
  | { readonly kind: 'activity'; readonly message: ActivityMessage }
  /** Another topic or type than the two we read, by name. */
  | { readonly kind: 'other'; readonly name: string }
  /** The server does not take what it was asked. */
  | { readonly kind: 'refused' }
  | ParseRejection

/** Reads one frame of the activity stream (RTDS). */
export function parseActivity(text: string): ParsedActivity {
  if (!text.includes('payload')) {
    if (MARKUP.test(text)) return reject('html', [])
    return REFUSAL.test(text) ? { kind: 'refused' } : { kind: 'sign' }
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return reject('not_json', [])
  }
  if (!isRecord(value)) return reject('not_object', [])
  const isRead = value.type === 'orders_matched' || value.type === 'trades'
  if (value.topic !== 'activity' || !isRead) {
    return { kind: 'other', name: `${wordOf(value.topic)} ${wordOf(value.type)}` }
  }
  const row = value.payload
  if (!isTrade(row)) return reject('bad_activity', [])
  const kind = value.type === 'trades' ? 'participant' : 'matched'
  return { kind: 'activity', message: { kind, row } }
}

function parseWords(frame: string): ParsedFrame {
  // The venue ends some frames with a line feed.
  const text = frame.trim()
  if (text === 'PONG' || text === 'pong' || text === '') return { kind: 'sign' }
  if (MARKUP.test(text)) return { kind: 'messages', messages: [reject('html', [])] }
  if (/^[A-Za-z][A-Za-z0-9 _.,:'-]{0,199}$/.test(text)) return { kind: 'notice', text }
  return { kind: 'messages', messages: [reject('not_json', tokensNamedIn(text))] }
}

function reject(reason: ParseReason, tokens: readonly string[]): ParseRejection {
  const of = KINDS[reason]
  return { kind: 'rejected', reason, tokens, ...(of === undefined ? {} : { of }) }
}

/** What a message would have been read as. */
const KINDS: Readonly<Partial<Record<ParseReason, string>>> = {
  bad_book: 'book',
  bad_price_change: 'priceChange',
  bad_last_trade_price: 'lastTrade',
  bad_tick_size_change: 'tickSize',
  bad_new_market: 'newMarket',
  bad_market_resolved: 'resolved',
}

function isOfBook({ price_changes: entries, changes, bids, asks }: Json): boolean {
  return [entries, changes, bids, asks].some(Array.isArray)
}

/** Wherever the message names them: what is rejected may have other fields than those known. */
function tokensOf(value: Json): readonly string[] {
  const named = [
    value,
    ...Object.values(value).flatMap((list) => (Array.isArray(list) ? list : [])),
  ]
  return named.flatMap((entry) =>
    isRecord(entry) && typeof entry.asset_id === 'string' ? [entry.asset_id] : [],
  )
}

const NAMED_TOKEN = /"asset_id"\s*:\s*"(\d{1,100})"/g
const TOKENS_NAMED_MAX = 100

/** The tokens that broken JSON still names: their books have lost a message. */
function tokensNamedIn(text: string): readonly string[] {
  const tokens = new Set<string>()
  for (const match of text.matchAll(NAMED_TOKEN)) {
    if (match[1] !== undefined) tokens.add(match[1])
    if (tokens.size >= TOKENS_NAMED_MAX) break
  }
  return [...tokens]
}
