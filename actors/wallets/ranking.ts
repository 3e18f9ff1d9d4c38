// Ranks wallets by realised profit or volume, over all time and over windows of whole hours. Only the sort keys are in
// memory. Names and totals are read from disk for each page.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { DAY_MS, HOUR_MS, usdMicros } from '../../engine/units.ts'
import type { RangeFigures } from '../../engine/wallets/wallet-figures.ts'
import type { WalletTable } from '../../storage/contract/storage.ts'
import { type StoredWallet, WALLET_RULES, type WalletHead } from '../../storage/contract/wallets.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import { type Ranking, Rankings } from '../rows/rankings.ts'
import { sortedPositions } from '../rows/sort.ts'
import type { RankedWallet, WalletsView, WalletWindow } from './views.ts'

interface RankingParts {
  readonly table: Pick<WalletTable, 'get' | 'head'>
  readonly clock: Clock
}

type RankingQuery = Parameters<WalletsView['ranking']>[0]

const DAY_HOURS = DAY_MS / HOUR_MS
/** Length of each window in hours, including the current hour. */
const WINDOW_HOURS: Readonly<Record<Exclude<WalletWindow, 'all_time'>, number>> = {
  one_day: DAY_HOURS,
  seven_day: 7 * DAY_HOURS,
  thirty_day: 30 * DAY_HOURS,
}

type FigureName = keyof RangeFigures

interface RankedRow {
  readonly proxy: WalletAddress
  figures: Readonly<Record<WalletWindow, RangeFigures>>
  lastHour: number
  /** Null: the wallet was not loaded in this process. */
  isComplete: boolean | null
}

/** Each wallet that was ever requested has a row of about 700 bytes. */
export class WalletRanking {
  readonly #parts: RankingParts
  /** In the order in which wallets were added. Rankings identify a wallet by its index. */
  readonly #rows: RankedRow[] = []
  readonly #byProxy = new Map<WalletAddress, RankedRow>()
  readonly #rankings: Rankings
  #hour: number

  constructor(parts: RankingParts) {
    this.#parts = parts
    this.#rankings = new Rankings(parts.clock)
    this.#hour = hourOf(parts.clock)
  }

  get count(): number {
    return this.#rows.length
  }

  /** Sets whether a wallet's answers are complete. Until the first call, the stored record decides. */
  setComplete(proxy: WalletAddress, isComplete: boolean): void {
    const row = this.#byProxy.get(proxy)
    if (row !== undefined) row.isComplete = isComplete
  }

  put(wallet: StoredWallet): void {
    const { proxy } = wallet
    const figures = windowFigures(wallet, this.#hour)
    const lastHour = wallet.hours.at(-1)?.hour ?? 0
    const existing = this.#byProxy.get(proxy)
    if (existing !== undefined) Object.assign(existing, { figures, lastHour })
    else {
      const row = { proxy, figures, lastHour, isComplete: null }
      this.#rows.push(row)
      this.#byProxy.set(proxy, row)
    }
  }

  /** Called once an hour. Recomputes the windows of all wallets with events in them, in time slices. */
  async roll(signal: AbortSignal): Promise<void> {
    const hour = hourOf(this.#parts.clock)
    if (hour === this.#hour) return
    const oldest = this.#hour - WINDOW_HOURS.thirty_day
    this.#hour = hour
    const yielder = new EventLoopYielder(this.#parts.clock)
    // Wallets that are added meanwhile already use the new hour.
    for (const row of this.#rows.slice()) {
      if (row.lastHour <= oldest) continue
      const wallet = this.#parts.table.get(row.proxy)
      if (wallet !== null) row.figures = windowFigures(wallet, this.#hour)
      await yielder.yieldIfDue()
      if (signal.aborted) return
    }
  }

  /** Throws BAD_REQUEST if the pin has expired. */
  page(query: RankingQuery): ReturnType<WalletsView['ranking']> {
    const { window, offset, limit } = query
    const { pin, numbers } = this.#ranking(query)
    const wallets: RankedWallet[] = []
    for (let index = offset; index < Math.min(numbers.length, offset + limit); index += 1) {
      const row = this.#rows[numbers[index] ?? 0]
      const head = row === undefined ? null : this.#parts.table.head(row.proxy)
      if (row === undefined || head === null) continue
      const { proxy, eoa, handle, pseudonym, image, totals, readAtMs } = head
      const profile = { proxy, eoa, handle, pseudonym, image }
      const isComplete = row.isComplete ?? isStoredComplete(head)
      const asOfMs = readAtMs === 0 ? null : readAtMs
      const figures = row.figures[window]
      wallets.push({ rank: index + 1, profile, figures, totals, isComplete, asOfMs })
    }
    const end = offset + limit
    const next = end < numbers.length ? { pin, offset: end } : null
    return { wallets, total: numbers.length, next }
  }

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
    const name = sortBy === 'volume' ? 'volume' : 'realized'
    const keys = new Float64Array(this.#rows.length)
    for (const [index, { figures }] of this.#rows.entries()) keys[index] = figures[window][name]
    return this.#rankings.add(key, sortedPositions(keys, keys.length, 'desc'))
  }
}

function windowFigures({ totals, hours }: StoredWallet, hour: number): RankedRow['figures'] {
  const within = (window: keyof typeof WINDOW_HOURS): RangeFigures =>
    sumFrom(hours, hour - WINDOW_HOURS[window] + 1)
  return {
    one_day: within('one_day'),
    seven_day: within('seven_day'),
    thirty_day: within('thirty_day'),
    all_time: figuresOf((name) => totals[name]),
  }
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
