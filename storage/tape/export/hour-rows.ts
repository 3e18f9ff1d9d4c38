// The rows of a table in one hour, sorted by market, publish time and seq. The tape is sorted by time. An hour whose
// records fit into memory is read once, a larger hour once to count and once for each group of markets that fits.

import type { ExportTableName } from '../../../engine/tape/export-names.ts'
import { HOUR_US, type HourFolder } from '../../../engine/tape/layout.ts'
import type { TapeItem } from '../../records/tape-items.ts'
import type { MarketTable, TapeMarket } from '../market-table.ts'
import type { Tape, TapeQuery } from '../tape.ts'
import type { Row } from './columns.ts'
import { type ExportTable, type MarketRecord, type Period, TABLES } from './tables.ts'

type Source = Pick<Tape, 'readBatches'>
type Hour = Pick<HourFolder, 'platform' | 'startUs'>

/** Maximum levels and records in memory, about 250 bytes each. The trades of a single market may exceed it. */
const WEIGHT_MAX = 500_000

/** Null after each block of the tape that was read. `weightMax`: maximum levels and records in memory. */
export function* hourRows(
  tape: Source,
  { platform, startUs }: Hour,
  name: ExportTableName,
  weightMax = WEIGHT_MAX,
): Generator<Row | null> {
  const table = TABLES[name]
  const period = { startUs, endUs: startUs + HOUR_US }
  const query = {
    ...{ fromUs: startUs, toUs: period.endUs, platforms: [platform] },
    withSweeps: table.withSweeps,
  }
  if (name === 'markets') {
    for (const market of yield* listedMarkets(tape, query)) yield* table.rows(market, [], period)
    return
  }
  const first = new Gathered(weightMax)
  yield* gather(first, tape, { query, table })
  const groups = first.isComplete ? [first.weights()] : groupsOf(first.weights(), weightMax)
  for (const group of groups) {
    const [largest] = group
    if (table.isByRecord && largest !== undefined && largest.weight > weightMax) {
      yield* marketRows(tape, { query, table, period }, largest.market)
      continue
    }
    let gathered = first
    if (!first.isComplete) {
      gathered = new Gathered(Number.POSITIVE_INFINITY)
      const markets = group.map(({ market }) => market.ref.id)
      yield* gather(gathered, tape, { query: { ...query, markets }, table })
    }
    for (const { market } of group) yield* table.rows(market, gathered.take(market), period)
  }
}

interface Taken extends MarketRecord {
  readonly market: TapeMarket
}

function* gather(
  gathered: Gathered,
  tape: Source,
  { query, table }: { readonly query: TapeQuery; readonly table: ExportTable },
): Generator<null, void> {
  for (const records of tape.readBatches(query)) {
    for (const { us, item, markets } of records) {
      if (!table.takes(item)) continue
      const market = markets.get(numberOf(item) ?? -1)
      if (market !== null) gathered.add({ us, item, market })
    }
    yield null
  }
}

/** The rows of one market, without its records in memory. The tape has them in the order of the rows. */
function* marketRows(
  tape: Source,
  parts: { readonly query: TapeQuery; readonly table: ExportTable; readonly period: Period },
  market: TapeMarket,
): Generator<Row | null> {
  const { query, table, period } = parts
  const { id } = market.ref
  for (const records of tape.readBatches({ ...query, markets: [id] })) {
    for (const { us, item, markets } of records) {
      if (!table.takes(item) || markets.get(numberOf(item) ?? -1)?.ref.id !== id) continue
      yield* table.rows(market, [{ us, item }], period)
    }
    yield null
  }
}

/** The markets listed in an hour, by id. The newest listing of each. */
function* listedMarkets(tape: Source, query: TapeQuery): Generator<null, readonly TapeMarket[]> {
  const tables = new Set<MarketTable>()
  for (const records of tape.readBatches(query)) {
    for (const { markets } of records) tables.add(markets)
    yield null
  }
  const listed = new Map<string, TapeMarket>()
  for (const table of tables) for (const market of table.all()) listed.set(market.ref.id, market)
  return [...listed.values()].sort((one, other) => (one.ref.id < other.ref.id ? -1 : 1))
}

interface Weight {
  readonly market: TapeMarket
  readonly weight: number
}

interface Entry {
  market: TapeMarket
  weight: number
  records: MarketRecord[]
}

/** Records by market. Above the maximum weight, only the weights. */
class Gathered {
  readonly #weightMax: number
  readonly #entries = new Map<string, Entry>()
  #weight = 0

  constructor(weightMax: number) {
    this.#weightMax = weightMax
  }

  get isComplete(): boolean {
    return this.#weight <= this.#weightMax
  }

  add({ us, item, market }: Taken): void {
    const weight = weightOf(item)
    const wasComplete = this.isComplete
    this.#weight += weight
    let entry = this.#entries.get(market.ref.id)
    if (entry === undefined) {
      entry = { market, weight: 0, records: [] }
      this.#entries.set(market.ref.id, entry)
    }
    entry.market = market
    entry.weight += weight
    if (this.isComplete) entry.records.push({ us, item })
    else if (wasComplete) for (const each of this.#entries.values()) each.records = []
  }

  /** In the order of the ids. */
  weights(): readonly Weight[] {
    const entries = [...this.#entries.values()]
    return entries.sort((one, other) => (one.market.ref.id < other.market.ref.id ? -1 : 1))
  }

  /** Returns the records of a market and releases them. */
  take({ ref }: TapeMarket): readonly MarketRecord[] {
    const entry = this.#entries.get(ref.id)
    if (entry === undefined) return []
    const { records } = entry
    entry.records = []
    return records
  }
}

function* groupsOf(weights: readonly Weight[], weightMax: number): Generator<readonly Weight[]> {
  let group: Weight[] = []
  let sum = 0
  for (const entry of weights) {
    if (group.length > 0 && sum + entry.weight > weightMax) {
      yield group
      group = []
      sum = 0
    }
    group.push(entry)
    sum += entry.weight
  }
  if (group.length > 0) yield group
}

function weightOf(item: TapeItem): number {
  if (item.kind === 'state') return item.state.book.bids.length + item.state.book.asks.length + 1
  if (item.kind !== 'update') return 1
  const levels = item.book === null ? 0 : item.book.bids.length + item.book.asks.length
  return 1 + levels + (item.update.kind === 'book' ? item.update.changes.length : 0)
}

function numberOf(item: TapeItem): number | null {
  if (item.kind === 'state') return item.state.market
  if (item.kind === 'completed') return item.market
  if (item.kind !== 'update' || !('market' in item.update)) return null
  return item.update.market?.number ?? null
}
