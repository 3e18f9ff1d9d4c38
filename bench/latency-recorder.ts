// Times as benches keep them: histograms of nanoseconds, and how they are written. A file of its own because the
// clients among the child processes need no more of the harness, which would bring the database along.

import { build, type Histogram } from 'hdr-histogram-js'
import { HOUR_MS } from '../engine/units.ts'

const NANOS_PER_MS = 1_000_000
/** An hour: nothing measured here takes longer. */
const NANOS_MAX = HOUR_MS * NANOS_PER_MS
/** An empty histogram of nanoseconds, to three significant digits. */
export function newTimes(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: NANOS_MAX,
    numberOfSignificantValueDigits: 3,
  })
}

/** Records a duration; one below zero, which two clocks can show, counts as zero. */
export function record(times: Histogram, durationMs: number): void {
  times.recordValue(Math.min(Math.max(Math.round(durationMs * NANOS_PER_MS), 0), NANOS_MAX))
}

/** Nanoseconds in the unit that suits them. */
export function nanosText(nanos: number): string {
  if (nanos < 1_000) return `${nanos} ns`
  if (nanos < NANOS_PER_MS) return `${digits(nanos / 1_000)} µs`
  if (nanos < 10_000 * NANOS_PER_MS) return `${digits(nanos / NANOS_PER_MS)} ms`
  return `${digits(nanos / (1_000 * NANOS_PER_MS))} s`
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

/** The middle one of the figures of alternating runs, the upper of two; NaN of none. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((one, other) => one - other)[figures.length >> 1] ?? Number.NaN
}
