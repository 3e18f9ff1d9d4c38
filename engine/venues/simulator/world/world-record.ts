// Persists a simulated world. Every trade and wallet action is written before the venues publish it, and a restart
// reads them back. A new part begins with a state, so that the oldest part can be deleted. Books and planned actions
// other than redemptions are not persisted.

import type { Log } from '../../../process/log.ts'
import { DAY_MS, TIME_ZERO, type TimeMs, timeMs } from '../../../units.ts'
import { SIM_VENUES, type SimVenue, type WorldChange } from '../model.ts'
import { type Chapter, Journal, type Row } from './journal.ts'
import { LiveMarket } from './live-market.ts'
import { ROW, RowReader, RowWriter } from './record-rows.ts'
import { RunIds } from './run-ids.ts'
import { LiveTrade } from './sim-trade.ts'
import type { WalletAccount } from './wallet-account.ts'
import type { LedgerRecorder, WalletAction, WalletLedgers } from './wallet-ledgers.ts'
import type { EarlierRuns, SimulatedWorld } from './world.ts'

/** Maximum rows of a part. */
const PART_ROWS_MAX = 75_000
const PARTS_MAX = 4
/** A part whose last row is older is deleted when the next one begins. */
const PART_AGE_MS_MAX = 14 * DAY_MS

/** Rows that count towards a part's size: actual events, without those of a state or a chapter. */
const MEASURED: ReadonlySet<unknown> = new Set([ROW.trade, ROW.action, ROW.conversion])

/** Only the state of the first chapter counts. */
const STATE: ReadonlySet<number> = new Set([
  ROW.accountState,
  ROW.holdingState,
  ROW.marketState,
  ROW.countState,
])

/** Chapters from one with a state up to the next such one, and their content. */
interface Part {
  chapterCount: number
  rowCount: number
  readonly tradeCounts: Record<SimVenue, number>
  eventCount: number
  lastMs: TimeMs
}

type MakeRow = (writer: RowWriter) => Row

interface Entry {
  readonly make: MakeRow
  /** The trade in the row. Null: none. */
  readonly trade: LiveTrade | null
}

/** The record of one world in one folder. */
export class WorldRecord implements LedgerRecorder {
  readonly #journal: Journal
  readonly #log: Log
  readonly #partRowsMax: number
  readonly #partsMax: number
  readonly #parts: Part[] = []
  /** Rows of the current change: those before its trade, and those after. */
  #before: Entry[] = []
  #after: Entry[] = []
  /** Rows not yet on disk. Empty between two changes once `begin` was called. */
  #waiting: Entry[] = []
  #followed: { readonly world: SimulatedWorld; readonly ledgers: WalletLedgers } | null = null
  #writer: RowWriter | null = null
  #isRestoring = false
  #isBroken = false
  #stopListening = (): void => undefined

  /** Throws if the folder can be neither read nor created. */
  constructor(options: { folder: string; log: Log; partRowsMax?: number; partsMax?: number }) {
    this.#journal = new Journal(options.folder)
    this.#log = options.log
    this.#partRowsMax = options.partRowsMax ?? PART_ROWS_MAX
    this.#partsMax = options.partsMax ?? PARTS_MAX
  }

  /** The runs recorded in the folder. Null: none. */
  get earlier(): EarlierRuns | null {
    const last = this.#journal.chapters.at(-1)
    if (last === undefined) return null
    return { bornMs: timeMs(last.head.bornMs), lastStartedMs: timeMs(last.head.startedMs) }
  }

  /** Fills a new world and its ledgers with the recorded state. Throws Error if the record is unusable. */
  restore(world: SimulatedWorld, ledgers: WalletLedgers): void {
    const idsOfRun = runIds(world.seed)
    this.#followed = { world, ledgers }
    this.#isRestoring = true
    try {
      this.#journal.chapters.forEach((chapter, index) => {
        const startedMs = timeMs(chapter.head.startedMs)
        const reader = new RowReader({ world, ledgers, startedMs, idsOfRun })
        this.#readChapter(chapter, index === 0, reader)
      })
    } finally {
      this.#isRestoring = false
    }
    ledgers.restorePlans()
  }

  /** Deletes everything; the world starts anew. */
  clear(): void {
    this.#journal.clear()
    this.#parts.length = 0
    this.#followed = null
  }

  /** Subscribes. Call it after the ledgers subscribed and before the venues do. Nothing is on disk before `begin`. */
  follow(world: SimulatedWorld, ledgers: WalletLedgers): void {
    this.#followed = { world, ledgers }
    this.#stopListening = world.onChange((change) => this.#take(change))
  }

  /** Starts writing, beginning with all changes since `follow`. Throws if the write fails. */
  begin(): void {
    const last = this.#parts.at(-1)
    const { world } = this.#requireWorld()
    if (last === undefined) this.#beginChapter(true)
    else if (last.rowCount >= this.#partRowsMax) this.#beginPart(world.nowMs())
    else this.#beginChapter(false)
    this.#flush()
  }

  onAccount({ wallet, firstMs }: WalletAccount): void {
    if (this.#isRestoring) return
    const make: MakeRow = (writer) => [ROW.account, writer.wallet(wallet), firstMs]
    this.#before.push({ make, trade: null })
  }

  onAction(action: WalletAction): void {
    // A payment for a fill follows the fill in the wallet's activity.
    const isPaid = action.kind === 'REWARD' || action.kind === 'MAKER_REBATE'
    const rows = isPaid ? this.#after : this.#before
    rows.push({ make: (writer) => writer.action(action), trade: null })
  }

  stop(): void {
    this.#stopListening()
    this.#journal.close()
  }

  #readChapter(chapter: Chapter, isFirst: boolean, reader: RowReader): void {
    const { world, ledgers } = this.#requireWorld()
    const part = this.#partOf(chapter.head.hasState)
    part.chapterCount += 1
    const countTrades = (venue: SimVenue): number => world.trades(venue).length
    const tradesBefore = { a: countTrades('a'), b: countTrades('b') }
    const eventsBefore = ledgers.eventCount
    const isWanted = (kind: number): boolean => isFirst || !STATE.has(kind)
    for (const row of this.#journal.rows(chapter, isWanted)) {
      reader.read(row)
      if (MEASURED.has(row[0])) part.rowCount += 1
    }
    for (const venue of SIM_VENUES) {
      part.tradeCounts[venue] += countTrades(venue) - tradesBefore[venue]
      part.lastMs = timeMs(Math.max(part.lastMs, world.trades(venue).at(-1)?.atMs ?? 0))
    }
    part.eventCount += ledgers.eventCount - eventsBefore
  }

  #partOf(hasState: boolean): Part {
    const last = this.#parts.at(-1)
    if (last !== undefined && !hasState) return last
    const tradeCounts = { a: 0, b: 0 }
    const part = { chapterCount: 0, rowCount: 0, tradeCounts, eventCount: 0, lastMs: TIME_ZERO }
    this.#parts.push(part)
    return part
  }

  #take(change: WorldChange): void {
    if (change.kind === 'trade' && change.trade instanceof LiveTrade) {
      const { trade } = change
      this.#before.push({ make: (writer) => writer.trade(trade), trade })
    }
    if (this.#before.length + this.#after.length === 0) return
    this.#waiting.push(...this.#before, ...this.#after)
    this.#before = []
    this.#after = []
    if (this.#writer !== null) this.#flush()
  }

  /** Writes the waiting rows, which belong to the last part. Begins the next part if that one is full. */
  #flush(): void {
    const entries = this.#waiting
    this.#waiting = []
    const part = this.#parts.at(-1)
    if (this.#writer === null || this.#isBroken || part === undefined) return
    const { world, ledgers } = this.#requireWorld()
    const lines = this.#writer.lines(entries.map(({ make }) => make))
    this.#write(() => this.#journal.append(lines))
    part.rowCount += entries.length
    for (const { trade } of entries) {
      if (trade === null) continue
      part.tradeCounts[trade.market.listing.venue] += 1
      part.lastMs = trade.atMs
    }
    part.eventCount = ledgers.eventCount - sum(this.#parts.slice(0, -1), (each) => each.eventCount)
    if (part.rowCount >= this.#partRowsMax) this.#write(() => this.#beginPart(world.nowMs()))
  }

  /** Deletes excess and expired parts, and begins a new part. */
  #beginPart(atMs: TimeMs): void {
    const { world, ledgers } = this.#requireWorld()
    let oldest = this.#parts[0]
    while (
      oldest !== undefined &&
      (this.#parts.length >= this.#partsMax || atMs - oldest.lastMs > PART_AGE_MS_MAX)
    ) {
      for (const venue of SIM_VENUES) world.dropTrades(venue, oldest.tradeCounts[venue])
      ledgers.dropOldest(oldest.eventCount, atMs)
      this.#journal.dropOldest(oldest.chapterCount)
      this.#parts.shift()
      oldest = this.#parts[0]
    }
    this.#beginChapter(true, atMs)
  }

  #beginChapter(hasState: boolean, prunedAtMs: TimeMs | null = null): void {
    const { world, ledgers } = this.#requireWorld()
    const isFirst = this.#parts.length === 0 && this.#journal.chapters.length === 0
    const writer = new RowWriter(new Map(world.wallets.map((wallet, number) => [wallet, number])))
    const { bornMs, startedMs } = world
    const { oldestMs } = ledgers
    let text = prunedAtMs === null ? '' : writer.lines([() => [ROW.prune, prunedAtMs, oldestMs]])
    if (hasState && !isFirst) text += writer.lines(stateRows(world, ledgers))
    this.#journal.begin({ bornMs, startedMs, hasState }, text)
    this.#partOf(hasState).chapterCount += 1
    this.#writer = writer
  }

  /** A disk error ends the record but not the world. */
  #write(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#isBroken = true
      this.#log.error(
        { err: error },
        'the simulated world is no longer recorded: a restart forgets',
      )
    }
  }

  #requireWorld(): { readonly world: SimulatedWorld; readonly ledgers: WalletLedgers } {
    if (this.#followed === null) throw new Error('the record has no world yet')
    return this.#followed
  }
}

/** The state that results from all earlier rows. */
function* stateRows(world: SimulatedWorld, ledgers: WalletLedgers): Generator<MakeRow> {
  const counts = SIM_VENUES.map(
    (venue) => world.droppedTradeCount(venue) + world.trades(venue).length,
  )
  yield () => [ROW.countState, ...counts]
  const markets = new Set<LiveMarket>()
  for (const venue of SIM_VENUES) {
    for (const market of world.markets(venue)) if (market instanceof LiveMarket) markets.add(market)
  }
  for (const account of ledgers.all()) {
    const { wallet, firstMs, droppedEventCount, events, cash, fees, income } = account
    const eventCount = droppedEventCount + events.length
    yield (writer) => {
      const money = [cash, fees, income]
      return [ROW.accountState, writer.wallet(wallet), firstMs, eventCount, ...money]
    }
    for (const { market, positions } of account.holdings.values()) {
      if (market instanceof LiveMarket) markets.add(market)
      yield (writer) => {
        const figures = positions.map((position) => position.figures())
        return [ROW.holdingState, writer.wallet(wallet), writer.market(market), ...figures]
      }
    }
  }
  for (const market of markets) {
    const sums = market.tradedSums()
    const last = market.lastTrade
    if (sums === null || !(last instanceof LiveTrade)) continue
    yield (writer) => {
      const lastRow = [last.ids.startedMs, writer.trade(last)]
      return [ROW.marketState, writer.market(market), ...sums, ...lastRow]
    }
  }
}

function runIds(seed: number): (startedMs: TimeMs) => RunIds {
  const cached = new Map<TimeMs, RunIds>()
  return (startedMs) => {
    const ids = cached.get(startedMs) ?? new RunIds({ seed, startedMs })
    cached.set(startedMs, ids)
    return ids
  }
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
