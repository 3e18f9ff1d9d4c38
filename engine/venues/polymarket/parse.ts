// Parses socket frames into Polymarket's messages or rejections. Never throws. Numbers remain text.

import { isRecord, labelOf } from '../../json-record.ts'
import { tokenId } from './condition-id.ts'
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

/** The reasons are a fixed set, because they are metric labels. */
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

/** A rejected message. The books of its tokens and market may have missed a change. */
export interface ParseRejection {
  readonly kind: 'rejected'
  readonly reason: ParseReason
  readonly of?: string
  readonly unknownType?: string
  readonly tokens: readonly string[]
  readonly isOfBook: boolean
  /** Condition id that the message names. Null if it cannot be parsed. */
  readonly market: string | null
}

/** HTML from an intermediary such as a proxy. */
const MARKUP = /^\s*</

/** Matches an error that the activity stream sends for a rejected command. */
const REFUSAL =
  /"(?:message|error|body)"\s*:\s*"[^"]*(?:invalid|not allowed|denied|forbidden|unknown|unsupported|not found)/i

type ParsedFrame =
  | { readonly kind: 'sign' }
  /** Plain text from the venue: `NO NEW ASSETS`, `INVALID OPERATION`. */
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'messages'; readonly messages: readonly (MarketMessage | ParseRejection)[] }

/**
 * Parses an object, an array of objects, or plain text. Converts hexadecimal token ids and reports them to
 * `onHexTokens`.
 */
export function parseFrame(text: string, onHexTokens: () => void = () => {}): ParsedFrame {
  const first = text.charCodeAt(0)
  if (first !== 123 /* { */ && first !== 91 /* [ */) return parsePlainText(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'messages', messages: [reject('not_json', tokensNamedIn(text))] }
  }
  const parse = (given: unknown) => parseMessage(inDecimals(given, onHexTokens))
  if (!Array.isArray(value)) return { kind: 'messages', messages: [parse(value)] }
  return { kind: 'messages', messages: value.map(parse) }
}

const isHex = (value: unknown): boolean => typeof value === 'string' && value.startsWith('0x')

/**
 * Converts hexadecimal token ids of a message to decimal ids. Every book change passes through this function, so only
 * the first id is checked.
 */
export function inDecimals(value: unknown, onHexTokens: () => void = () => {}): unknown {
  if (!isRecord(value)) return value
  const { asset_id: asset, assets_ids: assets, price_changes: entries } = value
  const entry: unknown = Array.isArray(entries) ? entries[0] : null
  const isHexNamed =
    isHex(asset) ||
    (isRecord(entry) && isHex(entry.asset_id)) ||
    (Array.isArray(assets) && isHex(assets[0]))
  if (!isHexNamed) return value
  onHexTokens()
  const decimal = (id: unknown) => (typeof id === 'string' ? tokenId(id) : id)
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
    if (key === 'assets_ids' && Array.isArray(inner)) return inner.map(decimal)
    return key === 'asset_id' || key === 'winning_asset_id' ? decimal(inner) : inner
  })
}

function parseMessage(value: unknown): MarketMessage | ParseRejection {
  if (!isRecord(value)) return reject('not_object', [])
  const message = readMessage(value)
  if (message.kind !== 'rejected' || typeof value.market !== 'string') return message
  return { ...message, market: value.market }
}

function readMessage(value: Json): MarketMessage | ParseRejection {
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
      // The first books of a subscription may have REST's format, which has no event_type.
      return isBook(value)
        ? { kind: 'book', body: value }
        : reject('no_event_type', tokensOf(value))
    default: {
      // A message of unknown type counts as a lost book message if it has the fields of a book or of changes.
      const hasForm = isOfBook(value)
      const refused = reject('unknown_event_type', hasForm ? tokensOf(value) : [])
      return { ...refused, isOfBook: hasForm, unknownType: labelOf(value.event_type) }
    }
  }
}

type ParsedActivity =
  /** A heartbeat, an empty frame or an acknowledgement. */
  | { readonly kind: 'sign' }
  | { readonly kind: 'activity'; readonly message: ActivityMessage }
  /** A message of an unused topic or type. `name` is the topic or type. */
  | { readonly kind: 'other'; readonly name: string }
  | { readonly kind: 'refused' }
  | ParseRejection

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
  const { topic, type, payload: row } = value
  const kind = ACTIVITY_KINDS.get(type)
  // A frame may lack topic and type. The fields of its payload then identify it.
  const isOurs = topic === 'activity' || isUnnamed(topic)
  const isShown = isTrade(row) || !(kind === 'unnamed' || isUnnamed(topic))
  if (!isOurs || !isShown || kind === undefined) {
    return { kind: 'other', name: `${labelOf(topic)} ${labelOf(type)}` }
  }
  if (!isTrade(row)) return reject('bad_activity', [])
  return { kind: 'activity', message: { kind, row } }
}

const ACTIVITY_KINDS = new Map<unknown, ActivityMessage['kind']>([
  ['orders_matched', 'matched'],
  ['trades', 'participant'],
  [undefined, 'unnamed'],
  [null, 'unnamed'],
  ['', 'unnamed'],
])

function isUnnamed(topic: unknown): boolean {
  return topic === undefined || topic === null || topic === ''
}

function parsePlainText(frame: string): ParsedFrame {
  // Some frames end with a line feed.
  const text = frame.trim()
  if (text === 'PONG' || text === 'pong' || text === '') return { kind: 'sign' }
  if (MARKUP.test(text)) return { kind: 'messages', messages: [reject('html', [])] }
  if (/^[A-Za-z][A-Za-z0-9 _.,:'-]{0,199}$/.test(text)) return { kind: 'notice', text }
  return { kind: 'messages', messages: [reject('not_json', tokensNamedIn(text))] }
}

function reject(reason: ParseReason, tokens: readonly string[]): ParseRejection {
  const of = KINDS[reason]
  const isOfBook = !NOT_OF_BOOKS.has(reason)
  const rejection = { kind: 'rejected', reason, tokens, isOfBook, market: null } as const
  return of === undefined ? rejection : { ...rejection, of }
}

const NOT_OF_BOOKS: ReadonlySet<ParseReason> = new Set([
  'bad_last_trade_price',
  'bad_new_market',
  'bad_market_resolved',
])

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

/** All token ids in a message. A rejected message may have them in unknown fields. */
export function tokensOf(value: Json): readonly string[] {
  const named = [
    value,
    ...Object.values(value).flatMap((list) => (Array.isArray(list) ? list : [])),
  ]
  return named.flatMap((entry) =>
    isRecord(entry) && typeof entry.asset_id === 'string' ? [entry.asset_id] : [],
  )
}

const NAMED_TOKEN = /"asset_id"\s*:\s*"(\d{1,100}|0x[0-9a-f]{1,64})"/gi
const TOKENS_NAMED_MAX = 100

/** Token ids in malformed JSON. The books of these tokens have missed a message. */
function tokensNamedIn(text: string): readonly string[] {
  const tokens = new Set<string>()
  for (const match of text.matchAll(NAMED_TOKEN)) {
    if (match[1] !== undefined) tokens.add(tokenId(match[1]))
    if (tokens.size >= TOKENS_NAMED_MAX) break
  }
  return [...tokens]
}
