// Parses frames of Kalshi's stream. Never throws. Validation is hand-written for speed, because every delta is
// validated.

import { isRecord, labelOf } from '../../json-record.ts'
import {
  type ErrorReply,
  type FeeMessage,
  type KalshiMessage,
  type LevelText,
  LIFECYCLE_CHANGES,
  type LifecycleMessage,
  type OrderbookDelta,
  type OrderbookSnapshot,
  type TickerMessage,
  type TradeMessage,
  type UnreadMessage,
} from './messages.ts'

export interface Rejected {
  readonly kind: 'rejected'
  readonly reason: string
  /** Absent if the message has no sequence number and does not concern a book. */
  readonly position?: StreamPosition
}

/**
 * Sid, sequence number and market of an unusable message. Ticker null: any market of the sid may be affected. Sid null:
 * any sid.
 */
export interface StreamPosition {
  readonly sid: number | null
  readonly seq: number | null
  readonly ticker: string | null
}

type Fields = { readonly [name: string]: unknown }

/** A grid of 0.0001 has 9,999 prices, so more levels are invalid. */
const LEVELS_MAX = 10_000
const NAME_CHARACTERS_MAX = 60
const TIME_MAX_MS = 4_102_444_800_000
const NO_LEVELS: readonly LevelText[] = []
/** The fee type of a message without a fee type. The fees are then unknown. */
const FEES_UNSTATED = 'unsaid'
const NO_FIELDS: Fields = {}

/** The `position` of a rejection names the market that may have lost a message. */
export function parseFrame(text: string): KalshiMessage | Rejected {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ...rejected(/^\s*</.test(text) ? 'html' : 'not_json'), position: positionIn(text) }
  }
  if (!isRecord(value)) return { ...rejected('not_an_object'), position: positionIn(text) }
  const body = isRecord(value.msg) ? value.msg : NO_FIELDS
  const message = parseMessage(value, body)
  if (message.kind !== 'rejected') return message
  const sid = integerOf(value.sid)
  const seq = integerOf(value.seq)
  const isNumbered = sid !== null && seq !== null
  if (!isNumbered && typeof value.type === 'string' && !BOOK_TYPES.has(value.type)) return message
  return { ...message, position: { sid, seq, ticker: idOf(body.market_ticker) } }
}

const BOOK_TYPES: ReadonlySet<string> = new Set(['orderbook_delta', 'orderbook_snapshot'])
const SID_TEXT = /"sid"\s*:\s*(\d{1,15})[,}\s]/
const TICKER_TEXT = /"market_ticker"\s*:\s*"([^"\\]{1,200})"/

/** Reads sid and ticker from malformed text. Omits the sequence number, so that the next message reveals a gap. */
function positionIn(text: string): StreamPosition {
  const sid = SID_TEXT.exec(text)?.[1]
  const ticker = TICKER_TEXT.exec(text)?.[1] ?? null
  return { sid: sid === undefined ? null : Number(sid), seq: null, ticker }
}

function parseMessage(value: Fields, body: Fields): KalshiMessage | Rejected {
  switch (value.type) {
    case 'orderbook_delta':
      return parseDelta(value, body)
    case 'orderbook_snapshot':
      return parseSnapshot(value, body)
    case 'trade':
      return parseTrade(value, body)
    case 'ticker':
      return parseTicker(value, body)
    case 'market_lifecycle_v2':
      return parseLifecycle(value, body)
    case 'event_fee_update':
      return parseFee(value, body)
    case 'subscribed':
      return parseSubscribed(value, body)
    case 'ok':
    case 'unsubscribed':
      return {
        kind: value.type,
        commandId: integerOf(value.id) ?? 0,
        sid: integerOf(value.sid),
        seq: integerOf(value.seq),
      }
    case 'error':
      return parseError(value, body)
    default:
      if (typeof value.type !== 'string') return rejected('no_type')
      return {
        ...unread(value.type, value),
        ticker: isOfBook(body) ? idOf(body.market_ticker) : null,
        isOfBook: isOfBook(body),
      }
  }
}

export function rejected(reason: string): Rejected {
  return { kind: 'rejected', reason }
}

/** Reads ids and tickers. Null unless the value is text of 1 to 200 characters. */
export function idOf(value: unknown): string | null {
  return typeof value === 'string' && value.length > 0 && value.length <= 200 ? value : null
}

/** A decimal as text. Also accepts numbers, which some rows contain. */
export function decimalOf(value: unknown): string | null {
  if (typeof value === 'string') return value.length > 0 && value.length <= 40 ? value : null
  return typeof value === 'number' ? String(value) : null
}

/** Converts whole cents of the old format to dollar text: 6 → "0.06". */
export function dollarsOfCents(cents: unknown): string | null {
  if (typeof cents !== 'number' || !Number.isInteger(cents) || cents < 0 || cents > 100) return null
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}

/** Payout of one Yes in dollars. Text is in dollars. An integer is in cents; not used if the result is yes or no. */
export function settlementValueIn(body: Fields): string | null {
  const { settlement_value_dollars: dollars, settlement_value: value, result } = body
  const stated = decimalOf(dollars)
  if (stated !== null) return stated
  if (typeof value === 'string') return decimalOf(value)
  return result === 'yes' || result === 'no' ? null : dollarsOfCents(value)
}

/** Parses price levels. An absent side is empty. Returns null if any level is unreadable. */
export function levelsOf(value: unknown): readonly LevelText[] | null {
  if (value === undefined || value === null) return NO_LEVELS
  if (!Array.isArray(value) || value.length > LEVELS_MAX) return null
  const levels: LevelText[] = []
  for (const row of value) {
    if (!Array.isArray(row)) return null
    const price = decimalOf(row[0])
    const count = decimalOf(row[1])
    if (price === null || count === null) return null
    levels.push([price, count])
  }
  return levels
}

function integerOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function timeOf(ms: unknown): number | null {
  return typeof ms === 'number' && ms > 0 && ms < TIME_MAX_MS ? Math.floor(ms) : null
}

function secondsOf(seconds: unknown): number | null {
  return typeof seconds === 'number' ? timeOf(seconds * 1_000) : null
}

function isOfBook(body: Fields): boolean {
  const isDelta =
    body.delta_fp !== undefined || (body.side !== undefined && 'price_dollars' in body)
  return isDelta || Array.isArray(body.yes_dollars_fp) || Array.isArray(body.no_dollars_fp)
}

function unread(name: string, frame: Fields, lifecycle: Fields = NO_FIELDS): UnreadMessage {
  const position = { sid: integerOf(frame.sid), seq: integerOf(frame.seq) }
  const { event_type: change, market_ticker: ticker } = lifecycle
  const changeName = change === undefined ? null : labelOf(change).slice(0, NAME_CHARACTERS_MAX)
  return {
    kind: 'unread',
    name,
    change: changeName,
    ticker: idOf(ticker),
    isOfBook: false,
    ...position,
  }
}

function parseDelta(frame: Fields, body: Fields): OrderbookDelta | Rejected {
  const sid = integerOf(frame.sid)
  const seq = integerOf(frame.seq)
  if (sid === null || seq === null || seq === 0) return rejected('delta_sequence')
  const ticker = idOf(body.market_ticker)
  if (ticker === null) return rejected('delta_ticker')
  const price = decimalOf(body.price_dollars)
  const delta = decimalOf(body.delta_fp)
  const side = body.side
  if (price === null || delta === null || (side !== 'yes' && side !== 'no')) {
    return rejected('delta_fields')
  }
  return {
    kind: 'orderbookDelta',
    sid,
    seq,
    ticker,
    price,
    delta,
    side,
    timeMs: timeOf(body.ts_ms),
  }
}

function parseSnapshot(frame: Fields, body: Fields): OrderbookSnapshot | Rejected {
  const sid = integerOf(frame.sid)
  const seq = integerOf(frame.seq)
  if (sid === null || seq === null || seq === 0) return rejected('snapshot_sequence')
  const ticker = idOf(body.market_ticker)
  if (ticker === null) return rejected('snapshot_ticker')
  const yes = levelsOf(body.yes_dollars_fp)
  const no = levelsOf(body.no_dollars_fp)
  if (yes === null || no === null) return rejected('snapshot_levels')
  return { kind: 'orderbookSnapshot', sid, seq, ticker, yes, no }
}

function parseTrade(frame: Fields, body: Fields): TradeMessage | Rejected {
  const tradeId = idOf(body.trade_id)
  const ticker = idOf(body.market_ticker)
  if (tradeId === null || ticker === null) return rejected('trade_ids')
  const yesPrice = decimalOf(body.yes_price_dollars)
  const count = decimalOf(body.count_fp)
  const taker = body.taker_outcome_side ?? body.taker_side
  if (yesPrice === null || count === null || (taker !== 'yes' && taker !== 'no')) {
    return rejected('trade_fields')
  }
  // A trade without a time cannot be ordered. It is rejected and read again over REST.
  const timeMs = timeOf(body.ts_ms) ?? secondsOf(body.ts)
  if (timeMs === null) return rejected('trade_time')
  return {
    kind: 'trade',
    sid: integerOf(frame.sid) ?? 0,
    seq: integerOf(frame.seq) ?? 0,
    tradeId,
    ticker,
    yesPrice,
    noPrice: decimalOf(body.no_price_dollars),
    count,
    taker,
    timeMs,
    block: body.is_block_trade,
  }
}

function parseTicker(frame: Fields, body: Fields): TickerMessage | Rejected {
  const ticker = idOf(body.market_ticker)
  const price = decimalOf(body.price_dollars)
  const volume = decimalOf(body.volume_fp)
  const openInterest = decimalOf(body.open_interest_fp)
  const isEmpty = price === null && volume === null && openInterest === null
  if (ticker === null || isEmpty) return rejected('ticker_fields')
  const secondMs = secondsOf(body.ts)
  const exactMs = timeOf(body.ts_ms)
  const timeMs = exactMs ?? secondMs
  const tradesToMs = exactMs ?? (secondMs === null ? null : secondMs + 999)
  const sid = integerOf(frame.sid) ?? 0
  return { kind: 'ticker', sid, ticker, price, volume, openInterest, timeMs, tradesToMs }
}

function parseLifecycle(frame: Fields, body: Fields): LifecycleMessage | KalshiMessage | Rejected {
  const ticker = idOf(body.market_ticker)
  if (ticker === null) return rejected('lifecycle_ticker')
  const change = LIFECYCLE_CHANGES.find((name) => name === body.event_type)
  if (change === undefined) return unread('market_lifecycle_v2', frame, body)
  return {
    kind: 'lifecycle',
    sid: integerOf(frame.sid) ?? 0,
    seq: integerOf(frame.seq) ?? 0,
    change,
    ticker,
    openAtMs: secondsOf(body.open_ts),
    closeAtMs: secondsOf(body.close_ts),
    timeMs: secondsOf(body.settled_ts) ?? secondsOf(body.determination_ts),
    result: idOf(body.result),
    settlementValue: settlementValueIn(body),
    priceRanges: body.price_ranges ?? null,
  }
}

function parseFee(frame: Fields, body: Fields): FeeMessage | Rejected {
  const event = idOf(body.event_ticker)
  if (event === null) return rejected('fee_event')
  const { fee_type_override: type = null, fee_multiplier_override: multiplier = null } = body
  const isStated = 'fee_type_override' in body || 'fee_multiplier_override' in body
  // A fee message without terms makes the fees unknown. It does not restore the series' terms.
  const terms = { type: isStated ? type : FEES_UNSTATED, multiplier }
  return { kind: 'fee', sid: integerOf(frame.sid), seq: integerOf(frame.seq), event, terms }
}

function parseSubscribed(frame: Fields, body: Fields): KalshiMessage | Rejected {
  const sid = integerOf(body.sid)
  const channel = idOf(body.channel)
  if (sid === null || channel === null) return rejected('subscribed_fields')
  return { kind: 'subscribed', commandId: integerOf(frame.id) ?? 0, channel, sid }
}

function parseError(frame: Fields, body: Fields): ErrorReply {
  return {
    kind: 'error',
    commandId: integerOf(frame.id) ?? 0,
    sid: integerOf(frame.sid),
    seq: integerOf(frame.seq),
    code: integerOf(body.code) ?? 0,
    text: typeof body.msg === 'string' ? body.msg.slice(0, 200) : '',
    ticker: idOf(body.market_ticker),
  }
}
