// Converts Kalshi's REST rows of trades and books to messages. Also accepts integer fields, as in old recordings.

import type { JsonReader, Query } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { parseTime } from '../../../units.ts'
import { type AnswerKind, listIn, pagesOf } from '../../answer-checks.ts'
import type { OrderbookSnapshot, TradeMessage } from '../messages.ts'
import { decimalOf, dollarsOfCents, idOf, levelsOf, type Rejected, rejected } from '../parse.ts'

/** Parses a row of `/markets/trades`. Its time is truncated to milliseconds, like the stream's. */
export function parseTradeRow(row: unknown): TradeMessage | Rejected {
  if (!isRecord(row)) return rejected('trade_not_an_object')
  const tradeId = idOf(row.trade_id)
  const ticker = idOf(row.ticker)
  if (tradeId === null || ticker === null) return rejected('trade_ids')
  const yesPrice = decimalOf(row.yes_price_dollars) ?? dollarsOfCents(row.yes_price)
  const count = decimalOf(row.count_fp) ?? decimalOf(row.count)
  const taker = row.taker_outcome_side ?? row.taker_side
  if (yesPrice === null || count === null || (taker !== 'yes' && taker !== 'no')) {
    return rejected('trade_fields')
  }
  const timeMs = typeof row.created_time === 'string' ? parseTime(row.created_time) : null
  if (timeMs === null || timeMs <= 0) return rejected('trade_time')
  const noPrice = decimalOf(row.no_price_dollars)
  return {
    kind: 'trade',
    sid: 0,
    seq: 0,
    tradeId,
    ticker,
    yesPrice,
    noPrice,
    count,
    taker,
    timeMs,
    block: row.is_block_trade,
  }
}

/**
 * Parses a row of `/markets/orderbooks`. With `ticker`, parses the response of `/markets/{ticker}/orderbook`. The
 * format of January 2026 is also accepted.
 */
export function parseOrderbookRow(row: unknown, ticker?: string): OrderbookSnapshot | Rejected {
  if (!isRecord(row)) return rejected('book_not_an_object')
  const name = ticker ?? idOf(row.ticker)
  if (name === null) return rejected('book_ticker')
  const book = isRecord(row.orderbook_fp) ? row.orderbook_fp : row.orderbook
  if (!isRecord(book)) return rejected('book_missing')
  const yes = levelsOf(book.yes_dollars ?? book.yes_dollars_fp)
  const no = levelsOf(book.no_dollars ?? book.no_dollars_fp)
  if (yes === null || no === null) return rejected('book_levels')
  return { kind: 'orderbookSnapshot', sid: 0, seq: 0, ticker: name, yes, no }
}

export function rowsOf(answer: unknown, name: string): readonly unknown[] {
  const rows = isRecord(answer) ? answer[name] : undefined
  return Array.isArray(rows) ? rows : []
}

interface PageList {
  readonly path: string
  readonly name: string
  readonly kind: AnswerKind
  readonly pagesMax: number
  readonly tap?: ((answer: unknown) => void) | undefined
}

export function pagesIn(
  http: JsonReader,
  list: PageList,
  query: Query,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly unknown[]> {
  const { path, name, kind, pagesMax, tap } = list
  const options = signal === undefined ? {} : { signal }
  const fetchPage = async (cursor: string | undefined) => {
    const answer = await http.getJson(path, { ...query, cursor }, options)
    tap?.(answer)
    const next = isRecord(answer) ? answer.cursor : undefined
    const isLast = typeof next !== 'string' || next === ''
    return { rows: listIn(answer, name, kind), next: isLast ? null : next }
  }
  return pagesOf(fetchPage, { kind, name: path, pagesMax })
}
