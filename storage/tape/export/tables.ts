// The exported tables: their columns, and the rows of one market from its records.

import type { Level, LevelChange, Update } from '../../../engine/events.ts'
import { type Bar, barOf, joined } from '../../../engine/market/candle.ts'
import { takerPrice, takerSide } from '../../../engine/market/taker.ts'
import type { ExportTableName } from '../../../engine/tape/export-names.ts'
import { US_PER_MS } from '../../../engine/tape/layout.ts'
import type { BookState } from '../../records/log-items.ts'
import type { CompletedItem, TapeItem } from '../../records/tape-items.ts'
import type { TapeMarket } from '../market-table.ts'
import { type Column, optional, type Row, required, type Value } from './columns.ts'

/** A record of one market, with its publish time in microseconds. */
export interface MarketRecord {
  readonly us: number
  readonly item: TapeItem
}

export interface Period {
  readonly startUs: number
  readonly endUs: number
}

export interface ExportTable {
  readonly columns: readonly Column[]
  /** Whether the states of sweeps are needed. */
  readonly withSweeps: boolean
  /** Whether each row depends on one record. */
  readonly isByRecord: boolean
  /** Whether the table needs records of this kind. */
  takes(item: TapeItem): boolean
  /** The rows of a market in the order of their publish times. */
  rows(market: TapeMarket, records: readonly MarketRecord[], hour: Period): Iterable<Row>
}

const STAMPS: readonly Column[] = [
  optional('ts_venue', 'time'),
  optional('ts_received', 'time'),
  required('ts_published', 'time'),
  required('market_id', 'text'),
  optional('outcome', 'text'),
  required('offset', 'integer'),
  required('seq', 'integer'),
]

const BOOK_COLUMNS: readonly Column[] = [
  ...STAMPS,
  required('kind', 'text'),
  optional('side', 'text'),
  optional('price', 'decimal'),
  optional('size', 'decimal'),
]

const usOf = (timeMs: number | null): number | null => (timeMs === null ? null : timeMs * US_PER_MS)

const labelOf = ({ summary }: TapeMarket, outcomeIndex: number): string | null =>
  summary.outcomes[outcomeIndex]?.label ?? null

type Stamped = Pick<BookState, 'venueTimeMs' | 'receivedAtMs' | 'offset' | 'seq'>

const stampsOf = (market: TapeMarket, us: number, outcome: string | null, of: Stamped): Value[] => [
  usOf(of.venueTimeMs),
  usOf(of.receivedAtMs),
  us,
  market.ref.id,
  outcome,
  of.offset,
  of.seq,
]

/** `clear`, then one `level` for each level of the complete book, best first, then `stale` if it is stale. */
function* bookRows(market: TapeMarket, us: number, book: BookState): Iterable<Row> {
  const stamps = stampsOf(market, us, labelOf(market, 0), book)
  const ofLevel = (side: LevelChange['side'], { price, size }: Level): Row => {
    return [...stamps, 'level', side, price, size]
  }
  yield [...stamps, 'clear', null, null, null]
  for (const level of book.bids) yield ofLevel('bid', level)
  for (const level of book.asks) yield ofLevel('ask', level)
  if (book.isStale) yield [...stamps, 'stale', null, null, null]
}

type BookChange = Extract<
  Update,
  { readonly kind: 'book' | 'bookReplaced' | 'bookStale' | 'bookConfirmed' }
>

function* changeRows(
  market: TapeMarket,
  us: number,
  update: BookChange,
  book: BookState | null,
): Iterable<Row> {
  if (update.kind === 'bookReplaced') {
    if (book !== null) yield* bookRows(market, us, book)
    return
  }
  const stamps = stampsOf(market, us, labelOf(market, 0), update)
  if (update.kind === 'book') {
    for (const { side, price, size } of update.changes) {
      yield [...stamps, 'change', side, price, size]
    }
  } else yield [...stamps, update.kind === 'bookStale' ? 'stale' : 'confirmed', null, null, null]
}

function bookChangeOf(item: TapeItem): BookChange | null {
  if (item.kind !== 'update') return null
  switch (item.update.kind) {
    case 'book':
    case 'bookReplaced':
    case 'bookStale':
    case 'bookConfirmed':
      return item.update
    default:
      return null
  }
}

type TradeUpdate = Extract<Update, { readonly kind: 'trade' }>

const tradeOf = (item: TapeItem): TradeUpdate | null =>
  item.kind === 'update' && item.update.kind === 'trade' ? item.update : null

/** Each trade once: after a kill, the engine publishes trades again that it had not stored. */
function* tradesOf(
  records: readonly MarketRecord[],
): Iterable<{ readonly us: number; readonly update: TradeUpdate }> {
  const seen = new Set<string>()
  for (const { us, item } of records) {
    const update = tradeOf(item)
    if (update === null || seen.has(update.trade.nativeId)) continue
    seen.add(update.trade.nativeId)
    yield { us, update }
  }
}

const tradeKey = ({ timeMs, ordinal }: Pick<CompletedItem, 'timeMs' | 'ordinal'>): string =>
  `${timeMs}.${ordinal}`

/** Wallets that became known within the hour, by trade. */
function completionsOf(
  records: readonly MarketRecord[],
): ReadonlyMap<string, Partial<Record<CompletedItem['role'], string>>> {
  const wallets = new Map<string, Partial<Record<CompletedItem['role'], string>>>()
  for (const { item } of records) {
    if (item.kind !== 'completed') continue
    const key = tradeKey(item)
    wallets.set(key, { ...wallets.get(key), [item.role]: item.wallet })
  }
  return wallets
}

const trades: ExportTable = {
  columns: [
    ...STAMPS,
    required('kind', 'text'),
    required('side', 'text'),
    required('price', 'decimal'),
    required('size', 'decimal'),
    required('size_usd', 'decimal'),
    required('trade_id', 'text'),
    optional('taker_outcome', 'text'),
    required('taker_side', 'text'),
    required('taker_price', 'decimal'),
    optional('maker', 'text'),
    optional('taker', 'text'),
    optional('tx_hash', 'text'),
    required('is_block_trade', 'boolean'),
  ],
  withSweeps: false,
  isByRecord: false,
  takes: (item) => tradeOf(item) !== null || item.kind === 'completed',
  *rows(market, records) {
    const completions = completionsOf(records)
    for (const { us, update } of tradesOf(records)) {
      const { trade } = update
      const outcome = labelOf(market, trade.outcomeIndex)
      const later = completions.get(tradeKey(trade))
      yield [
        ...stampsOf(market, us, outcome, update),
        ...['trade', trade.side, trade.price, trade.size, trade.usd, trade.nativeId],
        ...[outcome, takerSide(trade), takerPrice(trade)],
        ...[trade.maker ?? later?.maker ?? null, trade.taker ?? later?.taker ?? null],
        ...[trade.txHash, trade.isBlock],
      ]
    }
  },
}

const bookChanges: ExportTable = {
  columns: BOOK_COLUMNS,
  withSweeps: false,
  isByRecord: true,
  takes: (item) => bookChangeOf(item) !== null,
  *rows(market, records) {
    for (const { us, item } of records) {
      const update = bookChangeOf(item)
      const book = item.kind === 'update' ? item.book : null
      if (update !== null) yield* changeRows(market, us, update, book)
    }
  },
}

const bookSnapshots: ExportTable = {
  columns: BOOK_COLUMNS,
  withSweeps: true,
  isByRecord: true,
  takes: (item) => item.kind === 'state',
  *rows(market, records) {
    for (const { us, item } of records) {
      if (item.kind === 'state') yield* bookRows(market, us, item.state.book)
    }
  },
}

const candles: ExportTable = {
  columns: [
    required('ts_start', 'time'),
    required('market_id', 'text'),
    optional('outcome', 'text'),
    ...['open', 'high', 'low', 'close'].map((name) => required(name, 'decimal')),
    required('volume', 'decimal'),
    required('volume_usd', 'decimal'),
    required('trades_count', 'integer'),
  ],
  withSweeps: false,
  isByRecord: false,
  takes: (item) => tradeOf(item) !== null,
  *rows(market, records, { startUs, endUs }) {
    const bars = new Map<number, Bar>()
    for (const { update } of tradesOf(records)) {
      const { trade } = update
      if (trade.isBlock) continue
      const bar = barOf('minute', trade)
      const before = bars.get(bar.startMs)
      bars.set(bar.startMs, before === undefined ? bar : joined(before, bar))
    }
    for (const bar of [...bars.values()].sort((one, other) => one.startMs - other.startMs)) {
      const atUs = bar.startMs * US_PER_MS
      if (atUs < startUs || atUs >= endUs) continue
      yield [
        ...[atUs, market.ref.id, labelOf(market, 0), bar.open, bar.high, bar.low, bar.close],
        ...[bar.size, bar.usd, bar.count],
      ]
    }
  },
}

const markets: ExportTable = {
  columns: [
    required('market_id', 'text'),
    required('platform', 'text'),
    required('native_id', 'text'),
    required('slug', 'text'),
    required('question', 'text'),
    required('status', 'text'),
    required('outcomes', 'text'),
    optional('event_slug', 'text'),
    optional('category', 'text'),
    required('tags', 'text'),
    optional('ts_created', 'time'),
    optional('ts_close', 'time'),
    optional('tick_size', 'decimal'),
    optional('settlement_price', 'decimal'),
  ],
  withSweeps: false,
  isByRecord: false,
  takes: () => false,
  *rows({ ref, summary }) {
    const { slug, question, status, outcomes, eventSlug, category, tags } = summary
    yield [
      ...[ref.id, ref.platform, ref.nativeId, slug, question, status],
      ...[JSON.stringify(outcomes.map(({ label }) => label)), eventSlug, category],
      ...[JSON.stringify(tags), usOf(summary.createdAtMs), usOf(summary.closeAtMs)],
      ...[summary.tickMicros, summary.settlementPrice],
    ]
  },
}

export const TABLES: Readonly<Record<ExportTableName, ExportTable>> = {
  trades,
  book_changes: bookChanges,
  book_snapshots: bookSnapshots,
  candles_1m: candles,
  markets,
}
