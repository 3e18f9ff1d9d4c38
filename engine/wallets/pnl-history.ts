// Figures of a wallet over time: a row of numbers for each second with activity. Rows that a late resolution inserts
// between other rows are buffered, so that the next read merges all of them at once.

import { DAY_MS, HOUR_MS, type TimeMs, timeMs, usdMicros } from '../units.ts'
import type { HourFigures, PnlGranularity, PnlPoint, RangeFigures } from './wallet-figures.ts'

const SECOND_MS = 1_000
/** 1970-01-01 was a Thursday. Weeks begin on Mondays. */
const WEEK_MS = 7 * DAY_MS
const FIRST_MONDAY_MS = 4 * DAY_MS

/** Positions in a row after the second. Amounts are in micro-dollars. */
const CELL = { realized: 1, volume: 2, fees: 3, income: 4, trades: 5 } as const
const WIDTH = 6
const ROWS_MIN = 16
type SecondFigures = Partial<Readonly<Record<keyof typeof CELL, number>>>

export class PnlHistory {
  /** Rows in ascending order of seconds. A row may be all zeros after realised P&L was reversed. */
  #cells: Float64Array<ArrayBuffer>
  #count: number
  /** Rows by second that must be inserted before the last row. */
  #waiting = new Map<number, Float64Array>()

  private constructor(cells: Float64Array<ArrayBuffer>, count: number) {
    this.#cells = cells
    this.#count = count
  }

  static empty(): PnlHistory {
    return new PnlHistory(new Float64Array(ROWS_MIN * WIDTH), 0)
  }

  /** Reads the bytes that `pack` returned. */
  static unpack(bytes: Uint8Array): PnlHistory {
    const cells = new Float64Array(new Uint8Array(bytes).buffer)
    return new PnlHistory(cells, cells.length / WIDTH)
  }

  /** A view of the internal bytes, valid until the next change. */
  pack(): Uint8Array {
    this.#merge()
    return new Uint8Array(this.#cells.buffer, 0, this.#count * WIDTH * 8)
  }

  copy(): PnlHistory {
    this.#merge()
    return new PnlHistory(this.#cells.slice(0, this.#count * WIDTH), this.#count)
  }

  /** Adds to the figures of a second. A negative `realized` reverses an earlier amount. */
  add(second: number, figures: SecondFigures): void {
    const last = this.#count - 1
    if (last < 0 || second > this.#second(last)) this.#push(second)
    const row = second >= this.#second(last) ? this.#count - 1 : this.#firstFrom(second)
    if (this.#second(row) === second) addFigures(this.#cells, row * WIDTH, figures)
    else {
      const waiting = this.#waiting.get(second) ?? new Float64Array(WIDTH)
      waiting[0] = second
      addFigures(waiting, 0, figures)
      this.#waiting.set(second, waiting)
    }
  }

  #push(second: number): void {
    const start = this.#count * WIDTH
    if (start === this.#cells.length) {
      // Grows by a quarter only, because there are many wallets and most of them never grow again.
      const cells = new Float64Array(Math.max(ROWS_MIN, this.#count + (this.#count >> 2)) * WIDTH)
      cells.set(this.#cells)
      this.#cells = cells
    }
    this.#cells[start] = second
    this.#count += 1
  }

  #second(row: number): number {
    return this.#cells[row * WIDTH] ?? 0
  }

  between(fromMs: number, toMs: number): RangeFigures {
    this.#merge()
    return this.#sum(this.#firstAt(fromMs), this.#firstAfter(toMs))
  }

  #sum(start: number, end: number): RangeFigures {
    const sums = { realized: 0, volume: 0, trades: 0, fees: 0, income: 0 }
    for (let at = start * WIDTH; at < end * WIDTH; at += WIDTH) {
      sums.realized += this.#cells[at + CELL.realized] ?? 0
      sums.volume += this.#cells[at + CELL.volume] ?? 0
      sums.trades += this.#cells[at + CELL.trades] ?? 0
      sums.fees += this.#cells[at + CELL.fees] ?? 0
      sums.income += this.#cells[at + CELL.income] ?? 0
    }
    return {
      realized: usdMicros(sums.realized),
      volume: usdMicros(sums.volume),
      trades: sums.trades,
      fees: usdMicros(sums.fees),
      income: usdMicros(sums.income),
    }
  }

  /**
   * The steps of [fromMs, toMs] with realised P&L in any of their seconds, ascending. The first step may begin before
   * `fromMs`, but its figure begins at `fromMs`.
   */
  series(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): PnlPoint[] {
    this.#merge()
    const realizedIn = (row: number): number => this.#cells[row * WIDTH + CELL.realized] ?? 0
    const start = this.#firstAt(range.fromMs)
    const end = this.#firstAfter(range.toMs)
    let toDate = 0
    for (let row = 0; row < start; row += 1) toDate += realizedIn(row)
    const points: PnlPoint[] = []
    for (let row = start; row < end; ) {
      const step = stepOf(range.granularity, this.#second(row) * SECOND_MS)
      let sum = 0
      let isRealized = false
      for (; row < end && this.#second(row) * SECOND_MS < step.endMs; row += 1) {
        sum += realizedIn(row)
        isRealized ||= realizedIn(row) !== 0
      }
      toDate += sum
      if (!isRealized) continue
      points.push({
        timeMs: timeMs(step.startMs),
        realized: usdMicros(sum),
        toDate: usdMicros(toDate),
      })
    }
    return points
  }

  /** Hours with activity, ascending, from the complete hour of `sinceMs` on. */
  hours(sinceMs: number): HourFigures[] {
    this.#merge()
    const hours: HourFigures[] = []
    for (let row = this.#firstAt(Math.floor(sinceMs / HOUR_MS) * HOUR_MS); row < this.#count; ) {
      const start = row
      const hour = Math.floor((this.#second(row) * SECOND_MS) / HOUR_MS)
      row = this.#firstAt((hour + 1) * HOUR_MS)
      const figures = this.#cells.subarray(start * WIDTH, row * WIDTH)
      const hasAny = figures.some((value, index) => index % WIDTH > 0 && value !== 0)
      if (hasAny) hours.push({ hour, ...this.#sum(start, row) })
    }
    return hours
  }

  #merge(): void {
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting].sort(([one], [other]) => one - other)
    this.#waiting = new Map()
    const count = this.#count + waiting.length
    const cells = new Float64Array(count * WIDTH)
    let start = 0
    for (const [index, [second, row]] of waiting.entries()) {
      const end = this.#firstFrom(second)
      cells.set(this.#cells.subarray(start * WIDTH, end * WIDTH), (start + index) * WIDTH)
      cells.set(row, (end + index) * WIDTH)
      start = end
    }
    const rest = this.#cells.subarray(start * WIDTH, this.#count * WIDTH)
    cells.set(rest, (start + waiting.length) * WIDTH)
    this.#cells = cells
    this.#count = count
  }

  #firstAt(fromMs: number): number {
    return this.#firstFrom(Math.ceil(fromMs / SECOND_MS))
  }

  #firstAfter(toMs: number): number {
    return this.#firstFrom(Math.floor(toMs / SECOND_MS) + 1)
  }

  #firstFrom(second: number): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#second(middle) < second) low = middle + 1
      else high = middle
    }
    return low
  }
}

function addFigures(cells: Float64Array, start: number, figures: SecondFigures): void {
  const add = (at: number, value = 0): void => {
    cells[start + at] = (cells[start + at] ?? 0) + value
  }
  add(CELL.realized, figures.realized)
  add(CELL.volume, figures.volume)
  add(CELL.fees, figures.fees)
  add(CELL.income, figures.income)
  add(CELL.trades, figures.trades)
}

/** The step of a series that contains a time: a UTC day, a week from Monday, a month, or a second. */
function stepOf(granularity: PnlGranularity, atMs: number): { startMs: number; endMs: number } {
  if (granularity === 'all') return { startMs: atMs, endMs: atMs + SECOND_MS }
  if (granularity === 'month') {
    const at = new Date(atMs)
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
    return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) }
  }
  const [lengthMs, firstMs] = granularity === 'day' ? [DAY_MS, 0] : [WEEK_MS, FIRST_MONDAY_MS]
  const startMs = Math.floor((atMs - firstMs) / lengthMs) * lengthMs + firstMs
  return { startMs, endMs: startMs + lengthMs }
}
