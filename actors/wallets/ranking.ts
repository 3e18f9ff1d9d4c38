// Ranks wallets by realised profit and volume, over all time and over the last days in whole hours. Uses sorted columns
// (sorted-rows.ts), from which a ranking is selected at most every 5 s. Names and totals stay on disk and are read for
// each page.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { DAY_MS, HOUR_MS, usdMicros } from '../../engine/units.ts'
import type { RangeFigures } from '../../engine/wallets/wallet-figures.ts'
import {
  type StoredWallet,
  WALLET_RULES,
  type WalletHead,
  type WalletTable,
} from '../../storage/contract/wallets.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import { type Column, Columns } from '../rows/columns.ts'
import { type Ranking, Rankings } from '../rows/rankings.ts'
import { SortedRows } from '../rows/sorted-rows.ts'
import {
  type RankedWallet,
  WALLET_WINDOWS,
  type WalletOrder,
  type WalletsView,
  type WalletWindow,
} from './views.ts'

interface RankingParts {
  readonly table: Pick<WalletTable, 'get' | 'head'>
  readonly clock: Clock
}

type RankingQuery = Parameters<WalletsView['ranking']>[0]

const DAY_HOURS = DAY_MS / HOUR_MS
/** Hours counted, including the current one. */
const WINDOW_HOURS: Readonly<Record<Exclude<WalletWindow, 'all_time'>, number>> = {
  one_day: DAY_HOURS,
  seven_day: 7 * DAY_HOURS,
  thirty_day: 30 * DAY_HOURS,
}

type FigureName = keyof RangeFigures

interface WindowColumns {
  readonly figures: Readonly<Record<FigureName, Column<Float64Array>>>
  readonly sorted: Readonly<Record<WalletOrder, SortedRows>>
}

/** Bounded by the wallets that were ever requested; about 500 bytes each. */
export class WalletRanking {
  readonly #parts: RankingParts
  readonly #rows = new Columns()
  readonly #isRanked = this.#rows.bytes()
  /** 0: unknown in this process, 1: incomplete, 2: complete. */
  readonly #completeness = this.#rows.bytes()
  /** The last hour with an event of the wallet; 0: none. */
  readonly #lastHour = this.#rows.integers()
  readonly #windows: ReadonlyMap<WalletWindow, WindowColumns>
  readonly #numbers = new Map<WalletAddress, number>()
  /** By number − 1. */
  readonly #addresses: WalletAddress[] = []
  readonly #rankings: Rankings
  /** The last hour of the windows. */
  #hour: number

  constructor(parts: RankingParts) {
    this.#parts = parts
    this.#windows = new Map(WALLET_WINDOWS.map((window) => [window, windowColumns(this.#rows)]))
    this.#rankings = new Rankings(parts.clock)
    this.#hour = hourOf(parts.clock)
  }

  get count(): number {
    return this.#rows.count
  }

  /** Sets whether a wallet's answers are complete; before the first call the stored value counts. */
  setComplete(proxy: WalletAddress, isComplete: boolean): void {
    const number = this.#numbers.get(proxy)
    if (number !== undefined)
      this.#completeness.values[this.#rows.slot(number)] = isComplete ? 2 : 1
  }

  /** Adds or updates a wallet. */
  put(wallet: StoredWallet): void {
    const existing = this.#numbers.get(wallet.proxy)
    const number = existing ?? this.#addresses.push(wallet.proxy)
    if (existing === undefined) this.#numbers.set(wallet.proxy, number)
    const slot = existing === undefined ? this.#rows.add(number) : this.#rows.slot(number)
    this.#isRanked.values[slot] = 1
    this.#lastHour.values[slot] = wallet.hours.at(-1)?.hour ?? 0
    this.#write(slot, wallet)
  }

  /** After each hour, recomputes the windows of all wallets with events in them, in time slices. */
  async roll(signal: AbortSignal): Promise<void> {
    const hour = hourOf(this.#parts.clock)
    if (hour === this.#hour) return
    const oldest = this.#hour - WINDOW_HOURS.thirty_day
    this.#hour = hour
    const yielder = new EventLoopYielder(this.#parts.clock)
    // Wallets added meanwhile already have the new hour.
    for (const address of this.#addresses.slice()) {
      const slot = this.#rows.slot(this.#numbers.get(address) ?? 0)
      if ((this.#lastHour.values[slot] ?? 0) <= oldest) continue
      const wallet = this.#parts.table.get(address)
      if (wallet !== null) this.#write(slot, wallet)
      await yielder.yieldIfDue()
      if (signal.aborted) return
    }
  }

  /** Throws BAD_REQUEST for an expired pin. */
  page(query: RankingQuery): ReturnType<WalletsView['ranking']> {
    const { window, offset, limit } = query
    const { pin, numbers } = this.#ranking(query)
    const wallets: RankedWallet[] = []
    for (let index = offset; index < Math.min(numbers.length, offset + limit); index += 1) {
      const number = numbers[index] ?? 0
      const address = this.#addresses[number - 1]
      const head = address === undefined ? null : this.#parts.table.head(address)
      if (head === null) continue
      const { proxy, eoa, handle, pseudonym, image, totals, readAtMs } = head
      const profile = { proxy, eoa, handle, pseudonym, image }
      const slot = this.#rows.slot(number)
      const completeness = this.#completeness.values[slot] ?? 0
      const isComplete = completeness === 0 ? isStoredComplete(head) : completeness === 2
      const asOfMs = readAtMs === 0 ? null : readAtMs
      const figures = this.#figures(window, slot)
      wallets.push({ rank: index + 1, profile, figures, totals, isComplete, asOfMs })
    }
    const end = offset + limit
    const next = end < numbers.length ? { pin, offset: end } : null
    return { wallets, total: numbers.length, next }
  }

  /** All wallets, best first. */
  #ranking({ window, sortBy, pin }: RankingQuery): Ranking {
    const key = `${window} ${sortBy}`
    if (pin !== undefined && pin !== null) {
      const pinned = this.#rankings.resume(pin, key)
      if (pinned === null)
        throw new EngineError('BAD_REQUEST', 'the cursor has expired; start again without it')
      return pinned
    }
    const shared = this.#rankings.shared(key)
    if (shared !== null) return shared
    const numbers = new Uint32Array(this.#rows.length)
    this.#windows.get(window)?.sorted[sortBy].select(this.#isRanked.values, 'desc', numbers)
    return this.#rankings.add(key, numbers)
  }

  #write(slot: number, { totals, hours }: StoredWallet): void {
    for (const [window, columns] of this.#windows) {
      const fromHour = window === 'all_time' ? 0 : this.#hour - WINDOW_HOURS[window] + 1
      const figures: RangeFigures = window === 'all_time' ? totals : sumFrom(hours, fromHour)
      for (const name of FIGURE_NAMES) columns.figures[name].values[slot] = figures[name]
      columns.sorted.realized_pnl.touch(slot)
      columns.sorted.volume.touch(slot)
    }
  }

  #figures(window: WalletWindow, slot: number): RangeFigures {
    const columns = this.#windows.get(window)
    return figuresOf((name) => columns?.figures[name].values[slot] ?? 0)
  }
}

function windowColumns(rows: Columns): WindowColumns {
  const [realized, volume, trades] = [rows.floats(), rows.floats(), rows.floats()]
  const figures = { realized, volume, trades, fees: rows.floats(), income: rows.floats() }
  const sorted = {
    realized_pnl: new SortedRows(rows, realized),
    volume: new SortedRows(rows, volume),
  }
  return { figures, sorted }
}

function sumFrom(hours: StoredWallet['hours'], fromHour: number): RangeFigures {
  const sums = { realized: 0, volume: 0, trades: 0, fees: 0, income: 0 }
  for (let index = hours.length - 1; index >= 0; index -= 1) {
    const row = hours[index]
    if (row === undefined || row.hour < fromHour) break
    for (const name of FIGURE_NAMES) sums[name] += row[name]
  }
  return figuresOf((name) => sums[name])
}

/** Whether the record states that the stored figures contain everything that the venue lists. */
function isStoredComplete({ isComplete, rules, totals }: WalletHead): boolean {
  return isComplete && rules >= WALLET_RULES && totals.comboEvents === 0
}

const FIGURE_NAMES: readonly FigureName[] = ['realized', 'volume', 'trades', 'fees', 'income']

function figuresOf(of: (name: FigureName) => number): RangeFigures {
  return {
    realized: usdMicros(of('realized')),
    volume: usdMicros(of('volume')),
    trades: of('trades'),
    fees: usdMicros(of('fees')),
    income: usdMicros(of('income')),
  }
}

const hourOf = (clock: Clock): number => Math.floor(clock.nowMs() / HOUR_MS)
