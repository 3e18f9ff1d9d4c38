/**
 * Exported tables as files of nautilus_trader's Parquet catalog, in the format of version 1.231.0 with 128-bit values
 * (its wheels for Linux and macOS): `OrderBookDelta` and `TradeTick` of crates/serialization/src/arrow, the folders of
 * `ParquetDataCatalog` in nautilus_trader/persistence/catalog/parquet.py, the enumerations of crates/model/src/enums.rs.
 */

import { createHash } from 'node:crypto'
import { type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { type HourFolder, US_PER_MS } from '../../../engine/tape/layout.ts'
import { formatTime, HOUR_MS, timeMs } from '../../../engine/units.ts'
import type { Row, Value } from './columns.ts'
import { ChunkWriter } from './parquet-file.ts'
import { TABLES } from './tables.ts'

export const NAUTILUS_TABLES = ['book_snapshots', 'trades'] as const
export type NautilusTable = (typeof NAUTILUS_TABLES)[number]

export const isNautilusTable = (table: string): table is NautilusTable =>
  NAUTILUS_TABLES.some((name) => name === table)

/** A file of the catalog. `chunks` must be read to its end before the next file. */
interface NautilusFile {
  /** Path within the catalog. */
  readonly path: string
  readonly chunks: Iterable<Uint8Array<ArrayBuffer>>
}

type Cell = number | bigint | string | Uint8Array

interface NautilusRow {
  readonly market: string
  /** In the order of the columns. */
  readonly cells: readonly Cell[]
}

interface NautilusType {
  readonly folder: string
  readonly columns: readonly SchemaElement[]
  rows(rows: Iterable<Row | null>): Iterable<NautilusRow | null>
}

/** Rows of a row group. */
const GROUP_ROWS = 20_000
/** Decimals of prices and sizes. */
const PRECISION = 6
/** A raw value has 16 decimals. */
const RAW_PER_MICRO = 10n ** 10n
const NS_PER_US = 1_000n

const BookAction = { add: 1, clear: 4 } as const
const Side = { none: 0, buy: 1, sell: 2 } as const
const RecordFlag = { last: 128, snapshot: 32 } as const

/** The longest `trade_id` that the catalog's reader accepts. */
const TRADE_ID_CHARS = 36

const required = { repetition_type: 'REQUIRED' } as const
/** Without the logical type, of which hyparquet-writer 0.17.0 encodes the width in a wrong Thrift type. */
const unsigned = (name: string, bitWidth: 8 | 64): SchemaElement => ({
  ...{ name, ...required, type: bitWidth === 8 ? 'INT32' : 'INT64' },
  converted_type: bitWidth === 8 ? 'UINT_8' : 'UINT_64',
})
const fixed = (name: string): SchemaElement => ({
  ...{ name, ...required, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 },
})
const text = (name: string): SchemaElement => ({
  ...{ name, ...required, type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  logical_type: { type: 'STRING' },
})

const DELTAS: NautilusType = {
  folder: 'order_book_deltas',
  columns: [
    ...[unsigned('action', 8), unsigned('side', 8), fixed('price'), fixed('size')],
    ...[unsigned('order_id', 64), unsigned('flags', 8), unsigned('sequence', 64)],
    ...[unsigned('ts_event', 64), unsigned('ts_init', 64)],
  ],
  rows: deltaRows,
}

const TICKS: NautilusType = {
  folder: 'trade_tick',
  columns: [
    ...[fixed('price'), fixed('size'), unsigned('aggressor_side', 8), text('trade_id')],
    ...[unsigned('ts_event', 64), unsigned('ts_init', 64)],
  ],
  rows: tickRows,
}

const TYPES: Readonly<Record<NautilusTable, NautilusType>> = {
  book_snapshots: DELTAS,
  trades: TICKS,
}

/**
 * One file for each market, named by the first and last nanosecond of the hour. `rows`: the exported rows of the table
 * in the hour, sorted by market. Passes on null.
 */
export function* nautilusFiles(
  rows: Iterable<Row | null>,
  table: NautilusTable,
  { platform, startUs }: Pick<HourFolder, 'platform' | 'startUs'>,
): Generator<NautilusFile | null> {
  const { folder, columns, rows: convert } = TYPES[table]
  const startMs = startUs / US_PER_MS
  const [first, last] = [fileTime(startMs, '000000'), fileTime(startMs + HOUR_MS - 1, '999999')]
  const source = convert(rows)[Symbol.iterator]()
  let head = source.next()
  function* ofMarket(market: string): Generator<NautilusRow> {
    for (; head.done !== true; head = source.next()) {
      if (head.value === null) continue
      if (head.value.market !== market) return
      yield head.value
    }
  }
  while (head.done !== true) {
    if (head.value === null) {
      yield null
      head = source.next()
      continue
    }
    const { market } = head.value
    const instrument = `${market.slice(platform.length + 1)}.${platform.toUpperCase()}`
    yield {
      path: `data/${folder}/${instrument.replaceAll('/', '')}/${first}_${last}.parquet`,
      chunks: parquetFile(columns, instrument, ofMarket(market)),
    }
  }
}

/** As 2026-11-26T15-00-00-000000000Z. `rest`: the digits after the millisecond. */
const fileTime = (ms: number, rest: string): string =>
  formatTime(timeMs(ms)).replaceAll(/[:.]/g, '-').replace('Z', `${rest}Z`)

function* parquetFile(
  columns: readonly SchemaElement[],
  instrument: string,
  rows: Iterable<NautilusRow>,
): Generator<Uint8Array<ArrayBuffer>> {
  const bytes = new ChunkWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: columns.length }, ...columns],
    kvMetadata: [
      { key: 'instrument_id', value: instrument },
      { key: 'price_precision', value: String(PRECISION) },
      { key: 'size_precision', value: String(PRECISION) },
    ],
  })
  let group: NautilusRow[] = []
  const flush = () => {
    const columnData = columns.map(({ name, type }, at): ColumnSource => {
      const data = group.map(({ cells }) => cells[at])
      return { name, data, statistics: type === 'INT32' || type === 'INT64' }
    })
    writer.write({ columnData, rowGroupSize: group.length })
    group = []
    return bytes.take()
  }
  for (const row of rows) {
    group.push(row)
    if (group.length === GROUP_ROWS) yield flush()
  }
  if (group.length > 0) yield flush()
  writer.finish()
  yield bytes.take()
}

/** A snapshot is `clear` and one `add` for each level. A stale book is only `clear`: levels cannot be marked as stale. */
function* deltaRows(rows: Iterable<Row | null>): Generator<NautilusRow | null> {
  const read = reader('book_snapshots')
  let book: NautilusRow[] = []
  for (const row of rows) {
    if (row === null) {
      yield null
      continue
    }
    const kind = read.text(row, 'kind')
    if (kind === 'clear') {
      yield* withLast(book)
      book = []
    }
    if (kind === 'stale') book = book.slice(0, 1)
    else book.push({ market: read.text(row, 'market_id'), cells: deltaOf(read, row) })
  }
  yield* withLast(book)
}

const FLAGS = DELTAS.columns.findIndex(({ name }) => name === 'flags')

/** Marks the last row of a snapshot. */
function* withLast(book: readonly NautilusRow[]): Generator<NautilusRow> {
  yield* book.slice(0, -1)
  const last = book.at(-1)
  if (last === undefined) return
  yield { ...last, cells: last.cells.with(FLAGS, RecordFlag.snapshot | RecordFlag.last) }
}

function deltaOf(read: Reader, row: Row): readonly Cell[] {
  const side = row[read.at('side')] ?? null
  const level = side !== null
  return [
    level ? BookAction.add : BookAction.clear,
    level ? sideOf(side === 'bid') : Side.none,
    raw(level ? read.number(row, 'price') : 0),
    raw(level ? read.number(row, 'size') : 0),
    ...[0n, RecordFlag.snapshot, BigInt(read.number(row, 'seq')), ...read.times(row)],
  ]
}

/** Without block trades: they are negotiated, so they would not fill the orders of a backtest. */
function* tickRows(rows: Iterable<Row | null>): Generator<NautilusRow | null> {
  const read = reader('trades')
  for (const row of rows) {
    if (row === null) yield null
    else if (row[read.at('is_block_trade')] !== true) {
      const cells = [
        ...[raw(read.number(row, 'price')), raw(read.number(row, 'size'))],
        ...[sideOf(read.text(row, 'side') === 'buy'), tradeId(read.text(row, 'trade_id'))],
        ...read.times(row),
      ]
      yield { market: read.text(row, 'market_id'), cells }
    }
  }
}

const sideOf = (isBuy: boolean): number => (isBuy ? Side.buy : Side.sell)

/** A longer id is replaced by the first half of its SHA-256. */
const tradeId = (id: string): string =>
  id.length <= TRADE_ID_CHARS ? id : createHash('sha256').update(id).digest('hex').slice(0, 32)

/** A 128-bit little-endian integer with 16 decimals. `micros` is not negative. */
function raw(micros: number): Uint8Array {
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  const value = BigInt(micros) * RAW_PER_MICRO
  view.setBigUint64(0, BigInt.asUintN(64, value), true)
  view.setBigUint64(8, value >> 64n, true)
  return bytes
}

type Reader = ReturnType<typeof reader>

/** Reads columns of the exported rows of a table by name. */
function reader(table: NautilusTable) {
  const indexes = new Map(TABLES[table].columns.map(({ name }, index) => [name, index]))
  const at = (name: string): number => indexes.get(name) ?? -1
  const value = (row: Row, name: string): Value => row[at(name)] ?? null
  const number = (row: Row, name: string): number => {
    const found = value(row, name)
    if (typeof found === 'number') return found
    throw new Error(`${table}.${name} is not a number`)
  }
  const time = (row: Row): number => {
    const found = value(row, 'ts_venue') ?? value(row, 'ts_received')
    return typeof found === 'number' ? found : number(row, 'ts_published')
  }
  return {
    at,
    number,
    text(row: Row, name: string): string {
      const found = value(row, name)
      if (typeof found === 'string') return found
      throw new Error(`${table}.${name} is not a text`)
    },
    /** `ts_event`: the venue's time, else the first known one. `ts_init`: the publish time. Nanoseconds. */
    times: (row: Row): readonly [bigint, bigint] => [
      BigInt(time(row)) * NS_PER_US,
      BigInt(number(row, 'ts_published')) * NS_PER_US,
    ],
  }
}
