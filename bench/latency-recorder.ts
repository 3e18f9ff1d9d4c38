// Histograms of nanoseconds. The file is separate from harness.ts, which would load the database into client processes.

import { build, type Histogram } from 'hdr-histogram-js'
import { HOUR_MS } from '../engine/units.ts'

const NANOS_PER_MS = 1_000_000
const NANOS_MAX = HOUR_MS * NANOS_PER_MS
/** An empty histogram of nanoseconds with three significant digits. */
export function newTimes(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: NANOS_MAX,
    numberOfSignificantValueDigits: 3,
  })
}

/** Records a negative duration, which two clocks can produce, as zero. */
export function record(times: Histogram, durationMs: number): void {
  times.recordValue(Math.min(Math.max(Math.round(durationMs * NANOS_PER_MS), 0), NANOS_MAX))
}

export function nanosText(nanos: number): string {
  if (nanos < 1_000) return `${nanos} ns`
  if (nanos < NANOS_PER_MS) return `${digits(nanos / 1_000)} µs`
  if (nanos < 10_000 * NANOS_PER_MS) return `${digits(nanos / NANOS_PER_MS)} ms`
  return `${digits(nanos / (1_000 * NANOS_PER_MS))} s`
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

/** With an even count, the upper one of the two middle figures. NaN if there are no figures. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((one, other) => one - other)[figures.length >> 1] ?? Number.NaN
}

export function sum(figures: readonly number[]): number {
  return figures.reduce((total, one) => total + one, 0)
}

/** Milliseconds of a clock that all processes of a machine share. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
