// When a wallet realised what and traded how much: one row a second in which anything happened, in four columns.
// A resolution that is learned late puts rows between others; these wait and are merged in at the next look, so
// that ten thousand of them cost one pass. Not for: why something was realised (tally.ts).
// Upholds WALLET7, WALLET8.

import { DAY_MS, HOUR_MS, type TimeMs, timeMs, usdMicros } from '../units.ts'
import { IntegerColumn, WordColumn } from './columns.ts'
import type { HourFigures, PnlGranularity, PnlPoint, RangeFigures } from './figures.ts'

const SECOND_MS = 1_000
const WORD_MAX = 0xffff_ffff
/** 1970 began on a Thursday; weeks begin on Mondays. */
const WEEK_MS = 7 * DAY_MS
const FIRST_MONDAY_MS = 4 * DAY_MS

/** What happened in a second: dollars in micros, and how many fills. */
interface Happened {
  readonly realized: number
  readonly volume: number
  readonly trades: number
}

interface Columns {
  readonly seconds: WordColumn
  readonly realized: IntegerColumn
  readonly volume: IntegerColumn
  readonly trades: WordColumn
}

export class Moments {
  /** Ascending by second, each once. A row may come to hold nothing but zeros: what was realised was taken back. */
  #rows: Columns
  /** Of seconds before the last row's that had none, by second. */
  #waiting = new Map<number, Happened>()

  private constructor(rows: Columns) {
    this.#rows = rows
  }

  static empty(): Moments {
    return new Moments(emptyRows())
  }

  /** Over the four sections that `sections` gave; null when they are damaged. */
  static over(sections: readonly Uint8Array<ArrayBuffer>[]): Moments | null {
    const [first, second, third, fourth] = sections
    if (first === undefined || second === undefined) return null
    if (third === undefined || fourth === undefined) return null
    const count = first.byteLength / 4
    if (!Number.isInteger(count)) return null
    const seconds = WordColumn.over(first, count, WORD_MAX)
    const realized = IntegerColumn.over(second, count)
    const volume = IntegerColumn.over(third, count)
    const trades = WordColumn.over(fourth, count, WORD_MAX)
    if (seconds === null || realized === null || volume === null || trades === null) return null
    for (let index = 1; index < count; index += 1) {
      if (seconds.at(index) <= seconds.at(index - 1)) return null
    }
    return new Moments({ seconds, realized, volume, trades })
  }

  /** Adds to what happened in a second; `realized` below 0 takes back. */
  add(second: number, happened: Happened): void {
    const { seconds } = this.#rows
    const lastIndex = seconds.count - 1
    if (lastIndex < 0 || second > seconds.at(lastIndex)) {
      push(this.#rows, second, happened)
      return
    }
    const index = second === seconds.at(lastIndex) ? lastIndex : this.#firstFrom(second)
    if (seconds.at(index) === second) {
      this.#rows.realized.add(index, happened.realized)
      this.#rows.volume.add(index, happened.volume)
      this.#rows.trades.put(index, this.#rows.trades.at(index) + happened.trades)
      return
    }
    const before = this.#waiting.get(second)
    this.#waiting.set(second, {
      realized: happened.realized + (before?.realized ?? 0),
      volume: happened.volume + (before?.volume ?? 0),
      trades: happened.trades + (before?.trades ?? 0),
    })
  }

  /** Sums of whole seconds in [fromMs, toMs]. */
  between(fromMs: number, toMs: number): RangeFigures {
    const { realized, volume, trades } = this.#merged()
    const end = this.#firstAfter(toMs)
    let realizedSum = 0
    let volumeSum = 0
    let tradeCount = 0
    for (let index = this.#firstAt(fromMs); index < end; index += 1) {
      realizedSum += realized.at(index)
      volumeSum += volume.at(index)
      tradeCount += trades.at(index)
    }
    return { realized: usdMicros(realizedSum), volume: usdMicros(volumeSum), trades: tradeCount }
  }

  /**
   * The steps of [fromMs, toMs] in which something was realised in any second, ascending. The first step may begin
   * before `fromMs`; its figure counts from there.
   */
  series(range: {
    readonly fromMs: TimeMs
    readonly toMs: TimeMs
    readonly granularity: PnlGranularity
  }): PnlPoint[] {
    const { seconds, realized } = this.#merged()
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

  /** Whole hours in which anything happened, the one of `sinceMs` from its beginning, ascending. */
  hours(sinceMs: number): HourFigures[] {
    const { seconds, realized, volume, trades } = this.#merged()
    const hours: HourFigures[] = []
    for (
      let index = this.#firstAt(Math.floor(sinceMs / HOUR_MS) * HOUR_MS);
      index < seconds.count;
    ) {
      const hour = Math.floor((seconds.at(index) * SECOND_MS) / HOUR_MS)
      const endSecond = ((hour + 1) * HOUR_MS) / SECOND_MS
      const sum = { realized: 0, volume: 0, trades: 0 }
      let hasAny = false
      for (; index < seconds.count && seconds.at(index) < endSecond; index += 1) {
        sum.realized += realized.at(index)
        sum.volume += volume.at(index)
        sum.trades += trades.at(index)
        hasAny ||= realized.at(index) !== 0 || trades.at(index) > 0
      }
      if (!hasAny) continue
      const { trades: tradeCount } = sum
      hours.push({
        hour,
        realized: usdMicros(sum.realized),
        volume: usdMicros(sum.volume),
        trades: tradeCount,
      })
    }
    return hours
  }

  copy(): Moments {
    const { seconds, realized, volume, trades } = this.#merged()
    return new Moments({
      seconds: seconds.copy(),
      realized: realized.copy(),
      volume: volume.copy(),
      trades: trades.copy(),
    })
  }

  /** As `over` takes them; views, good until the next change. */
  sections(): readonly Uint8Array<ArrayBuffer>[] {
    const { seconds, realized, volume, trades } = this.#merged()
    return [seconds.bytes(), realized.bytes(), volume.bytes(), trades.bytes()]
  }

  #merged(): Columns {
    if (this.#waiting.size === 0) return this.#rows
    const waiting = [...this.#waiting].sort(([one], [other]) => one - other)
    this.#waiting = new Map()
    const old = this.#rows
    const places = waiting.map(([second]) => this.#firstFrom(second))
    const rows = {
      seconds: old.seconds.spread(places),
      realized: old.realized.spread(places),
      volume: old.volume.spread(places),
      trades: old.trades.spread(places),
    }
    for (const [before, [second, happened]] of waiting.entries()) {
      const index = (places[before] ?? 0) + before
      rows.seconds.put(index, second)
      rows.realized.put(index, happened.realized)
      rows.volume.put(index, happened.volume)
      rows.trades.put(index, happened.trades)
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

  /** The first row of that second or later; their count when there is none. */
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

const emptyRows = (): Columns => ({
  seconds: WordColumn.empty(),
  realized: IntegerColumn.empty(),
  volume: IntegerColumn.empty(),
  trades: WordColumn.empty(),
})

function push(rows: Columns, second: number, happened: Happened): void {
  rows.seconds.push(second)
  rows.realized.push(happened.realized)
  rows.volume.push(happened.volume)
  rows.trades.push(happened.trades)
}

/** The step of a series that a moment belongs to: UTC days, weeks from Monday, months, single seconds. */
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
