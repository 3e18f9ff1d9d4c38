// One recorded file through the readers of its venue: how many rows it holds, what became of each.
// Not for: what is expected of which file (test/contract/fixtures.test.ts).

import { isRecord } from '../../../engine/json-record.ts'
import type { EventListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import {
  parseEvent,
  parseMarket,
  parseSeries,
} from '../../../engine/venues/kalshi/catalog/listing.ts'
import { parseOrderbookRow, parseTradeRow } from '../../../engine/venues/kalshi/catalog/rows.ts'
import { mapMessage, mapTrade } from '../../../engine/venues/kalshi/map.ts'
import { KalshiStream, Tally } from '../../../engine/venues/kalshi/stream.ts'
import {
  nestedEvent,
  readEvent,
  readMarket,
} from '../../../engine/venues/polymarket/catalog/listing.ts'
import { isTrade } from '../../../engine/venues/polymarket/messages.ts'
import { readTrade } from '../../../engine/venues/polymarket/trades/trades.ts'
import { countFate, type Fates, PolymarketPath } from './book-paths.ts'

export type Reader = (rows: readonly unknown[]) => Fates

const NOW = timeMs(1_786_000_000_000)

type Fields = { readonly [name: string]: unknown }

/** Counts what one row, or several, became. */
function each(read: (row: unknown) => string | readonly string[]): Reader {
  return (rows) => {
    const fates: Fates = new Map()
    for (const row of rows) {
      const became = read(row)
      for (const fate of typeof became === 'string' ? [became] : became) countFate(fates, fate)
    }
    return fates
  }
}

// Polymarket

/** Frames of the market channel, and books over REST, which pass the same way. */
export const polymarketFrames: Reader = each((row) => {
  const text = JSON.stringify(row)
  const token = /"asset_id":"(\d+)"/.exec(text)?.[1] ?? '1'
  const path = new PolymarketPath('fixture', [token, `${token}0`])
  path.take(text, NOW)
  return [...path.fates].flatMap(([fate, count]) => Array<string>(count).fill(fate))
})

/** Rows of Gamma's `/markets`. */
export const gammaMarkets: Reader = each((row) =>
  marketFate(readMarket(row, isRecord(row) ? nestedEvent(row) : null)),
)

/** Rows of Gamma's `/events`, or of its search, with their markets. */
export const gammaEvents: Reader = each((row) => {
  const events = isRecord(row) && Array.isArray(row.events) ? row.events : [row]
  return events.flatMap((event: unknown) => {
    const listing = readEvent(event)
    const markets: unknown[] = isRecord(event) && Array.isArray(event.markets) ? event.markets : []
    return [
      typeof listing === 'string' ? `rejected ${listing}` : 'event',
      ...markets.map((market) => marketFate(readMarket(market, isRecord(event) ? event : null))),
    ]
  })
})

/** Rows of the Data API's `/trades`. */
export const dataTrades: Reader = each((row) => {
  const trade = isTrade(row) ? readTrade(row) : 'bad_trade'
  return typeof trade === 'string' ? `rejected ${trade}` : 'trade'
})

/** Rows that no reader of ours is for: neither a market nor a trade may be made of them. */
export const polymarketOther: Reader = each((row) => {
  const fate = marketFate(readMarket(row, null))
  return isTrade(row) ? 'taken for a trade' : fate
})

function marketFate(listing: ReturnType<typeof readMarket>): string {
  return typeof listing === 'string' ? `rejected ${listing}` : `market ${listing.status}`
}

// Kalshi

/** Answers of Kalshi's REST: every row of ours in them, however deep it is nested. */
export const kalshiRows: Reader = (rows) => {
  const fates: Fates = new Map()
  const events = new Map<string, EventListing>()
  for (const row of fieldsIn(rows)) {
    const read = isEventRow(row) ? parseEvent(row, new Map()) : null
    if (read?.kind === 'event') events.set(read.listing.nativeId, read.listing)
  }
  for (const row of fieldsIn(rows)) {
    const event = typeof row.event_ticker === 'string' ? events.get(row.event_ticker) : undefined
    const fate = kalshiFate(row, event ?? null)
    if (fate !== null) countFate(fates, fate)
  }
  return fates
}

function* fieldsIn(value: unknown): Generator<Fields> {
  if (Array.isArray(value)) for (const item of value) yield* fieldsIn(item)
  if (!isRecord(value)) return
  yield value
  for (const item of Object.values(value)) yield* fieldsIn(item)
}

const isEventRow = (row: Fields): boolean =>
  typeof row.event_ticker === 'string' && typeof row.mutually_exclusive === 'boolean'

/** Null when the row has none of the shapes that we read. */
function kalshiFate(row: Fields, event: EventListing | null): string | null {
  if (typeof row.trade_id === 'string') {
    const trade = parseTradeRow(row)
    if (trade.kind === 'rejected') return `rejected ${trade.reason}`
    const mapped = mapTrade(trade, NOW, 'history')
    return mapped.kind === 'trade' ? 'trade' : `rejected ${mapped.reason}`
  }
  if (typeof row.ticker === 'string' && typeof row.market_type === 'string') {
    const market = parseMarket(row, event)
    return market.kind === 'rejected'
      ? `rejected ${market.reason}`
      : `market ${market.listing.status}`
  }
  if (isEventRow(row)) {
    const read = parseEvent(row, new Map())
    return read.kind === 'rejected' ? `rejected ${read.reason}` : 'event'
  }
  if (typeof row.ticker === 'string' && typeof row.fee_type === 'string') {
    const series = parseSeries(row)
    return 'kind' in series ? `rejected ${series.reason}` : 'series'
  }
  return isBookAnswer(row) ? bookFate(row) : null
}

/** `{orderbook_fp: {yes_dollars, …}}`, or the form of January 2026. */
function isBookAnswer(row: Fields): boolean {
  const book = row.orderbook_fp ?? row.orderbook
  return isRecord(book) && ('yes_dollars' in book || 'no_dollars' in book)
}

function bookFate(row: Fields): string {
  const book = parseOrderbookRow(row, 'TICKER')
  if (book.kind === 'rejected') return `rejected ${book.reason}`
  const refusal = mapMessage(book, NOW, () => {})
  return refusal === null ? 'book' : `rejected ${refusal.reason}`
}

/** A recorded socket: `{frames: [{received_ms, frame}]}`. */
export const kalshiFrames: Reader = (rows) => {
  const fates: Fates = new Map()
  const lost = () => countFate(fates, 'LOST')
  const stream = new KalshiStream(
    {
      emit: (event) => countFate(fates, event.kind),
      onReply: () => countFate(fates, 'reply'),
      onGap: lost,
      onLost: lost,
    },
    new Tally(new Metrics(), silentLog),
  )
  for (const recording of rows) {
    const frames = isRecord(recording) && Array.isArray(recording.frames) ? recording.frames : []
    for (const row of frames) {
      const text = JSON.stringify(isRecord(row) ? row.frame : row)
      stream.take({ connection: 1, receivedAtMs: NOW, text })
    }
  }
  return fates
}
