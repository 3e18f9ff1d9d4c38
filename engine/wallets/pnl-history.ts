// Realised PnL, volume, payments and receipts of a wallet over time: one row per second with any activity,
// in columns. A resolution that becomes known late inserts rows between others. These are buffered and
// merged at the next read, so that ten thousand of them cost one pass.

import { DAY_MS, HOUR_MS, type TimeMs, timeMs, usdMicros } from '../units.ts'
import { IntegerColumn, WordColumn } from './columns.ts'
import type { HourFigures, PnlGranularity, PnlPoint, RangeFigures } from './wallet-figures.ts'

const SECOND_MS = 1_000
const UINT32_MAX = 0xffff_ffff
/** 1970-01-01 was a Thursday. Weeks begin on Mondays. */
const WEEK_MS = 7 * DAY_MS
const FIRST_MONDAY_MS = 4 * DAY_MS

/** Figures of one second: dollars in micros, and the number of fills. */
type SecondFigures = Readonly<Record<FigureName, number>>

const FIGURE_NAMES = ['realized', 'volume', 'fees', 'income', 'trades'] as const
type FigureName = (typeof FIGURE_NAMES)[number]
const NOTHING: SecondFigures = { realized: 0, volume: 0, fees: 0, income: 0, trades: 0 }

/** Number of sections of a packed history: the seconds and a column for each figure. */
export const HISTORY_SECTIONS = 1 + FIGURE_NAMES.length

interface Columns {
  readonly seconds: WordColumn
  readonly figures: Readonly<Record<FigureName, IntegerColumn>>
}

export class PnlHistory {
  /** Ascending by second, without duplicates. A row may be all zeros after realised PnL was reversed. */
  #rows: Columns
  /** Rows to insert before the last row, by second. */
  #waiting = new Map<number, SecondFigures>()

  private constructor(rows: Columns) {
    this.#rows = rows
  }

  static empty(): PnlHistory {
    return new PnlHistory({ seconds: WordColumn.empty(), figures: figuresOf(IntegerColumn.empty) })
  }

  /** Opens the sections that `sections` returned. Null when they are damaged. */
  static over(sections: readonly Uint8Array<ArrayBuffer>[]): PnlHistory | null {
    const [first, ...others] = sections
    const count = (first?.byteLength ?? Number.NaN) / 4
    if (first === undefined || !Number.isInteger(count)) return null
    const seconds = WordColumn.over(first, count, UINT32_MAX)
    const columns = others.map((bytes) => IntegerColumn.over(bytes, count))
    if (seconds === null || columns.length !== FIGURE_NAMES.length) return null
    if (columns.includes(null)) return null
    for (let index = 1; index < count; index += 1) {
      if (seconds.at(index) <= seconds.at(index - 1)) return null
    }
    const figures = figuresOf((_, index) => columns[index] ?? IntegerColumn.empty())
    return new PnlHistory({ seconds, figures })
  }

  /** Adds to the figures of a second. A negative `realized` reverses. */
  add(second: number, some: Partial<SecondFigures>): void {
    const { seconds, figures } = this.#rows
    const added = { ...NOTHING, ...some }
    const lastIndex = seconds.count - 1
    if (lastIndex < 0 || second > seconds.at(lastIndex)) {
      seconds.push(second)
      for (const name of FIGURE_NAMES) figures[name].push(added[name])
      return
    }
    const index = second === seconds.at(lastIndex) ? lastIndex : this.#firstFrom(second)
    if (seconds.at(index) === second) {
      for (const name of FIGURE_NAMES) figures[name].add(index, added[name])
      return
    }
    const before = this.#waiting.get(second) ?? NOTHING
    this.#waiting.set(
      second,
      figuresOf((name) => added[name] + before[name]),
    )
  }

  /** Sums of whole seconds in [fromMs, toMs]. */
  between(fromMs: number, toMs: number): RangeFigures {
    this.#merged()
    return this.#sum(this.#firstAt(fromMs), this.#firstAfter(toMs))
  }

  /** Sums of the rows in [start, end). */
  #sum(start: number, end: number): RangeFigures {
    const { figures } = this.#rows
    const sum = figuresOf((name) => {
      let of = 0
      for (let index = start; index < end; index += 1) of += figures[name].at(index)
      return of
    })
    return {
      realized: usdMicros(sum.realized),
      volume: usdMicros(sum.volume),
      trades: sum.trades,
      fees: usdMicros(sum.fees),
      income: usdMicros(sum.income),
    }
  }

  /**
   * The steps of [fromMs, toMs] in which something was realised in any second, ascending. The first step
   * may begin before `fromMs`. Its figure counts from `fromMs`.
   */
  series(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): PnlPoint[] {
    const { seconds, figures } = this.#merged()
    const { realized } = figures
    const start = this.#firstAt(range.fromMs)
    const end = this.#firstAfter(range.toMs)
    let toDate = 0
    for (let index = 0; index < start; index += 1) toDate += realized.at(index)
    const points: PnlPoint[] = []
    for (let index = start; index < end; ) {
      const step = stepOf(range.granularity, seconds.at(index) * SECOND_MS)
      let sum = 0
      let isRealized = false
      for (; index < end && seconds.at(index) * SECOND_MS < step.endMs; index += 1) {
        sum += realized.at(index)
        isRealized ||= realized.at(index) !== 0
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

  /** Whole hours with any activity, ascending. Includes the hour of `sinceMs` from its start. */
  hours(sinceMs: number): HourFigures[] {
    const { seconds, figures } = this.#merged()
    const hours: HourFigures[] = []
    const first = this.#firstAt(Math.floor(sinceMs / HOUR_MS) * HOUR_MS)
    for (let index = first; index < seconds.count; ) {
      const hour = Math.floor((seconds.at(index) * SECOND_MS) / HOUR_MS)
      const start = index
      let hasAny = false
      for (; index < seconds.count && seconds.at(index) * SECOND_MS < (hour + 1) * HOUR_MS; ) {
        hasAny ||= FIGURE_NAMES.some((name) => figures[name].at(index) !== 0)
        index += 1
      }
      if (hasAny) hours.push({ hour, ...this.#sum(start, index) })
    }
    return hours
  }

  copy(): PnlHistory {
    const { seconds, figures } = this.#merged()
    return new PnlHistory({
      seconds: seconds.copy(),
      figures: figuresOf((name) => figures[name].copy()),
    })
  }

  /** The sections for `over`, as views that are valid until the next change. */
  sections(): readonly Uint8Array<ArrayBuffer>[] {
    const { seconds, figures } = this.#merged()
    return [seconds.bytes(), ...FIGURE_NAMES.map((name) => figures[name].bytes())]
  }

  #merged(): Columns {
    if (this.#waiting.size === 0) return this.#rows
    const waiting = [...this.#waiting].sort(([one], [other]) => one - other)
    this.#waiting = new Map()
    const old = this.#rows
    const positions = waiting.map(([second]) => this.#firstFrom(second))
    const rows = {
      seconds: old.seconds.spread(positions),
      figures: figuresOf((name) => old.figures[name].spread(positions)),
    }
    for (const [before, [second, added]] of waiting.entries()) {
      const index = (positions[before] ?? 0) + before
      rows.seconds.put(index, second)
      for (const name of FIGURE_NAMES) rows.figures[name].put(index, added[name])
    }
    this.#rows = rows
    return rows
  }

  #firstAt(fromMs: number): number {
    return this.#firstFrom(Math.ceil(fromMs / SECOND_MS))
  }

  #firstAfter(toMs: number): number {
    return this.#firstFrom(Math.floor(toMs / SECOND_MS) + 1)
  }

  /** The first row of that second or later. The row count when there is none. */
  #firstFrom(second: number): number {
    const { seconds } = this.#rows
    let low = 0
    let high = seconds.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (seconds.at(middle) < second) low = middle + 1
      else high = middle
    }
    return low
  }
}

function figuresOf<Of>(make: (name: FigureName, index: number) => Of): Record<FigureName, Of> {
  return {
    realized: make('realized', 0),
    volume: make('volume', 1),
    fees: make('fees', 2),
    income: make('income', 3),
    trades: make('trades', 4),
  }
}

/** The step of a series that contains a moment: UTC days, weeks from Monday, months, single seconds. */
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
