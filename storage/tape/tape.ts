// Reads records of a period and of selected markets, with the state of the markets at its start. Reading is
// synchronous, so a service must read in a worker thread.

import type { RawItem } from '../../engine/cluster/batch.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { TapeRows } from '../../engine/tape/columns.ts'
import { marketOfItem, TAPE_CODES } from '../../engine/tape/item-codes.ts'
import { HOUR_US, type HourFolder, listHours, partsOf } from '../../engine/tape/layout.ts'
import type { Lost } from '../../engine/tape/lost.ts'
import { type Manifest, readManifest } from '../../engine/tape/manifest.ts'
import { openPart, type Part, type PartBlock } from '../../engine/tape/part.ts'
import { type ReadTapeItem, readTapeItem, type TapeItem } from '../records/tape-items.ts'
import { MarketStates } from './market-states.ts'
import { MarketTable } from './market-table.ts'

/** Selects records that were published in [fromUs, toUs). */
export interface TapeQuery {
  readonly fromUs: number
  readonly toUs: number
  /** Public names of venues. Null: all. */
  readonly platforms?: readonly string[] | null
  /** Public ids of markets, case-insensitive. Null: all. Records without a market are always included. */
  readonly markets?: readonly string[] | null
  /** Whether to start with the state of each selected market at `fromUs`, as far as the tape has the state. */
  readonly withStates?: boolean
  /** Whether to include all states of sweeps. Otherwise only states after a loss are included. */
  readonly withSweeps?: boolean
}

export interface TapeRecord {
  /** Publish time in microseconds since 1970. Increases within a venue. */
  readonly us: number
  readonly platform: string
  /** The engine run that published the record. */
  readonly epoch: string
  /** Never `listed` or `swept`. A `state` is a complete book at the start, after a loss, or of a sweep. */
  readonly item: TapeItem
  /** The markets of the record's file, by the numbers in its items. */
  readonly markets: MarketTable
  /** Whether it is a state at the query's start, which no row of the tape contains. */
  readonly isAtStart: boolean
}

export interface TapeHour extends HourFolder {
  /** Null: the hour is not final. */
  readonly manifest: Manifest | null
}

export class Tape {
  readonly #folder: string

  /** `folder`: the folder of the tape (see `tapeFolder`). It need not exist. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** All hours, oldest first, and by venue within an hour. */
  hours(): readonly TapeHour[] {
    return listHours(this.#folder).map((hour) => ({ ...hour, manifest: readManifest(hour) }))
  }

  /** Start of the oldest hour, in microseconds. Null: the tape is empty. */
  oldestUs(): number | null {
    return listHours(this.#folder)[0]?.startUs ?? null
  }

  /** The records of a query in order of their publish times. Unreadable blocks are reported as `lost`. */
  *read(query: TapeQuery): Generator<TapeRecord> {
    for (const records of this.readBatches(query)) yield* records
  }

  /** As `read`, in batches that each need one block of the tape. A batch without selected records is empty. */
  *readBatches(query: TapeQuery): Generator<readonly TapeRecord[]> {
    const hours = listHours(this.#folder)
    const platforms = [...new Set(hours.map(({ platform }) => platform))]
    const readers = platforms
      .filter((platform) => query.platforms?.includes(platform) ?? true)
      .map((platform) => {
        const own = hours.filter((hour) => hour.platform === platform)
        return new VenueReader(platform, own, query).read()
      })
    yield* merged(readers)
  }
}

type Batches = Generator<readonly TapeRecord[]>

interface Head {
  readonly source: Batches
  /** Records of the newest batch. Empty after the source has ended. */
  records: readonly TapeRecord[]
  /** Index of the first record that was not returned. */
  next: number
}

/** Merges sequences that are ordered by time, and ends them with itself. */
function* merged(sources: readonly Batches[]): Batches {
  const heads = sources.map((source): Head => ({ source, records: [], next: 0 }))
  try {
    for (const head of heads) yield* advance(head)
    for (let batch: TapeRecord[] = []; ; ) {
      const head = earliest(heads)
      const record = head?.records[head.next]
      if (head === null || record === undefined) return
      batch.push(record)
      head.next += 1
      if (head.next < head.records.length) continue
      yield batch
      batch = []
      yield* advance(head)
    }
  } finally {
    for (const source of sources) source.return(undefined)
  }
}

/** Reads the next batch that has records, and passes empty ones on. */
function* advance(head: Head): Batches {
  head.records = []
  head.next = 0
  for (let read = head.source.next(); read.done !== true; read = head.source.next()) {
    head.records = read.value
    if (read.value.length > 0) return
    yield []
  }
}

/** The source of the earliest record. Null: all have ended. */
function earliest(heads: readonly Head[]): Head | null {
  let [first, firstUs]: [Head | null, number] = [null, Number.POSITIVE_INFINITY]
  for (const head of heads) {
    const us = head.records[head.next]?.us
    if (us === undefined || us >= firstUs) continue
    first = head
    firstUs = us
  }
  return first
}

interface Sweep {
  readonly fromUs: number
  readonly endUs: number
  readonly isFull: boolean
}

/** The rows of a part from which the states at the query's start are computed. */
interface Base {
  /** Periods whose states are needed. */
  readonly sweeps: readonly Sweep[]
  /** All rows from this time on are needed. */
  readonly rowsFromUs: number
  /** Whether the states do not depend on earlier parts. */
  readonly isComplete: boolean
}

interface PartRef {
  readonly hour: HourFolder
  readonly number: number
}

/** Maximum states of a batch. A state has all levels of a book. */
const STATES_MAX = 100
/** Kinds without a market, which every query includes. */
const OF_ALL: readonly number[] = [8, TAPE_CODES.gap, TAPE_CODES.lost]

/** Reads the records of one venue. */
class VenueReader {
  readonly #platform: string
  readonly #hours: readonly HourFolder[]
  readonly #query: TapeQuery
  /** Lower case. Null: all. */
  readonly #wanted: ReadonlySet<string> | null
  readonly #states = new MarketStates()
  /** Markets of which a state or a replaced book was returned since the last loss. */
  readonly #known = new Set<MarketNumber>()
  /** Whether the states at the start were returned. */
  #hasBegun: boolean
  #epoch: string | null = null

  constructor(platform: string, hours: readonly HourFolder[], query: TapeQuery) {
    this.#platform = platform
    this.#hours = hours
    this.#query = query
    const { markets = null, withStates = false } = query
    this.#wanted = markets === null ? null : new Set(markets.map((id) => id.toLowerCase()))
    this.#hasBegun = !withStates
  }

  *read(): Batches {
    const { fromUs, toUs } = this.#query
    const parts = this.#hours
      .filter(({ startUs }) => startUs < toUs)
      .flatMap((hour) => partsOf(hour).map((number) => ({ hour, number })))
    const bases = this.#hasBegun ? new Map<PartRef, Base>() : this.#basesOf(parts)
    const based = parts.findIndex((part) => bases.has(part))
    const inTime = parts.findIndex(({ hour }) => hour.startUs + HOUR_US > fromUs)
    const first = based >= 0 ? based : inTime
    const last = [...bases.keys()].at(-1) ?? null
    if (first < 0) return
    for (const ref of parts.slice(first)) {
      const part = openPart(ref.hour, ref.number)
      if (part === null) continue
      try {
        yield* this.#pass(part, { base: bases.get(ref) ?? null, isLastBase: ref === last })
        yield []
      } finally {
        part.close()
      }
    }
  }

  /**
   * The parts that give the states at the start: the newest part that begins before the start, and earlier parts of the
   * same run.
   */
  #basesOf(parts: readonly PartRef[]): ReadonlyMap<PartRef, Base> {
    const bases: [PartRef, Base][] = []
    let epoch: string | null = null
    for (const ref of parts.toReversed()) {
      if (ref.hour.startUs > this.#query.fromUs) continue
      const part = openPart(ref.hour, ref.number)
      if (part === null) continue
      try {
        if ((part.blocks[0]?.head.firstUs ?? Number.POSITIVE_INFINITY) > this.#query.fromUs)
          continue
        epoch ??= part.head.epoch
        if (part.head.epoch !== epoch) break
        const base = this.#baseOf(part)
        bases.unshift([ref, base])
        if (base.isComplete) break
      } finally {
        part.close()
      }
    }
    return new Map(bases)
  }

  #baseOf({ blocks }: Part): Base {
    const { fromUs } = this.#query
    const sweeps: Sweep[] = []
    for (const block of blocks) {
      if (block.head.firstUs > fromUs || !block.head.counts.has(TAPE_CODES.swept)) continue
      const rows = block.read() ?? { us: [], items: [] }
      for (const [index, raw] of rows.items.entries()) {
        const endUs = rows.us[index] ?? 0
        if (raw[0] !== TAPE_CODES.swept || endUs > fromUs) continue
        const item = readTapeItem(raw, () => null)
        if (typeof item !== 'string' && item.kind === 'swept') sweeps.push({ ...item, endUs })
      }
    }
    const full = sweeps.findLastIndex(({ isFull }) => isFull)
    const needed = sweeps.slice(Math.max(full, 0))
    return { sweeps: needed, rowsFromUs: needed.at(-1)?.fromUs ?? 0, isComplete: full >= 0 }
  }

  *#pass(
    part: Part,
    { base, isLastBase }: { readonly base: Base | null; readonly isLastBase: boolean },
  ): Batches {
    const { toUs } = this.#query
    if (part.head.epoch !== this.#epoch) this.#known.clear()
    this.#epoch = part.head.epoch
    const markets = new MarketTable(part.head.names)
    for (const block of part.blocks) {
      if (block.head.firstUs >= toUs) break
      if (!this.#isNeeded(block, base, markets)) continue
      const rows = block.read()
      if (rows === null) yield* this.#damaged(block, markets)
      else yield* this.#select(rows, base, markets)
    }
    if (isLastBase) yield* this.#begin(markets)
  }

  #isNeeded({ head }: PartBlock, base: Base | null, markets: MarketTable): boolean {
    const { fromUs } = this.#query
    const { counts, firstUs, lastUs } = head
    if (counts.has(TAPE_CODES.listed)) return true
    const isOfAll = OF_ALL.some((code) => counts.has(code))
    const isWanted = isOfAll || head.markets.some((number) => this.#isWanted(number, markets))
    if (!isWanted) return false
    if (lastUs >= fromUs) return true
    if (base === null) return false
    if (lastUs >= base.rowsFromUs || counts.has(TAPE_CODES.lost)) return true
    const isInSweep = base.sweeps.some((sweep) => firstUs <= sweep.endUs && lastUs >= sweep.fromUs)
    return isInSweep && counts.has(TAPE_CODES.state)
  }

  /** The selected records of a block. Applies rows before the query's start to the states. */
  *#select({ us, items }: TapeRows, base: Base | null, markets: MarketTable): Batches {
    const { fromUs, toUs } = this.#query
    const records: TapeRecord[] = []
    const unreadable = { fromUs: 0, toUs: 0, rows: 0 }
    for (let index = 0; index < items.length; index += 1) {
      const [atUs, raw] = [us[index] ?? 0, items[index] ?? []]
      if (atUs >= toUs) break
      const [code] = raw
      if (atUs < fromUs) {
        if (code === TAPE_CODES.listed) this.#list(raw, markets)
        else if (base !== null && this.#isOfBase(atUs, code, base)) this.#applyRaw(raw, markets)
        continue
      }
      if (!this.#hasBegun) yield* this.#begin(markets)
      if (code === TAPE_CODES.listed) this.#list(raw, markets)
      else if (code !== TAPE_CODES.swept && this.#isSelected(raw, markets)) {
        const item = this.#decode(raw, markets)
        if (typeof item === 'string') {
          if (unreadable.rows === 0) unreadable.fromUs = atUs
          unreadable.toUs = atUs
          unreadable.rows += 1
        } else if (this.#isNew(item)) records.push(this.#record(atUs, item, markets))
      }
    }
    if (unreadable.rows > 0) records.push(this.#lost(unreadable, markets))
    yield records
  }

  #isOfBase(us: number, code: unknown, { sweeps, rowsFromUs }: Base): boolean {
    if (us >= rowsFromUs || code === TAPE_CODES.lost) return true
    return (
      code === TAPE_CODES.state && sweeps.some(({ fromUs, endUs }) => us >= fromUs && us <= endUs)
    )
  }

  #applyRaw(raw: RawItem, markets: MarketTable): void {
    if (!this.#isSelected(raw, markets)) return
    const item = this.#decode(raw, markets)
    if (typeof item !== 'string') this.#states.apply(item)
  }

  /** Returns the states at the query's start, once. */
  *#begin(markets: MarketTable): Batches {
    if (this.#hasBegun) return
    this.#hasBegun = true
    let records: TapeRecord[] = []
    for (const number of this.#states.numbers()) {
      const state = this.#states.get(number)
      if (state === null || markets.get(number) === null) continue
      this.#known.add(number)
      const record = this.#record(this.#query.fromUs, { kind: 'state', state }, markets)
      records.push({ ...record, isAtStart: true })
      if (records.length < STATES_MAX) continue
      yield records
      records = []
    }
    yield records
    this.#states.clear()
  }

  /** Whether an item must be returned. Records the markets whose books are known. */
  #isNew(item: TapeItem): boolean {
    const { withStates = false, withSweeps = false } = this.#query
    if (item.kind === 'lost') this.#known.clear()
    if (item.kind === 'update' && item.update.kind === 'bookReplaced') {
      this.#known.add(item.update.market.number)
    }
    if (item.kind !== 'state') return true
    const isNew = withStates && !this.#known.has(item.state.market)
    this.#known.add(item.state.market)
    return isNew || withSweeps
  }

  *#damaged({ head }: PartBlock, markets: MarketTable): Batches {
    const { fromUs, toUs } = this.#query
    const range = { fromUs: head.firstUs, toUs: head.lastUs, rows: head.rows }
    if (head.lastUs < fromUs)
      this.#states.apply({ kind: 'lost', cause: 'damaged', ...range, offsets: head.offsets })
    else if (head.firstUs < toUs) {
      yield* this.#begin(markets)
      yield [this.#lost({ ...range, offsets: head.offsets }, markets)]
    }
  }

  #lost(
    range: Pick<Lost, 'fromUs' | 'toUs' | 'rows'> & Partial<Pick<Lost, 'offsets'>>,
    markets: MarketTable,
  ): TapeRecord {
    this.#known.clear()
    const item = { kind: 'lost', cause: 'damaged', offsets: [], ...range } as const
    return this.#record(Math.max(range.toUs, this.#query.fromUs), item, markets)
  }

  #record(us: number, item: TapeItem, markets: MarketTable): TapeRecord {
    const epoch = this.#epoch ?? ''
    return { us, platform: this.#platform, epoch, item, markets, isAtStart: false }
  }

  #decode(raw: RawItem, markets: MarketTable): ReadTapeItem {
    return readTapeItem(raw, markets.refOf)
  }

  #list(raw: RawItem, markets: MarketTable): void {
    const item = this.#decode(raw, markets)
    if (typeof item !== 'string' && item.kind === 'listed') markets.list(item)
  }

  #isSelected(raw: RawItem, markets: MarketTable): boolean {
    if (this.#wanted === null) return true
    const number = marketOfItem(raw)
    return number === null || this.#isWanted(number, markets)
  }

  #isWanted(number: MarketNumber, markets: MarketTable): boolean {
    if (this.#wanted === null) return true
    const id = markets.get(number)?.ref.id
    return id !== undefined && this.#wanted.has(id.toLowerCase())
  }
}
