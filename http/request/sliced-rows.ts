// Processes rows in time slices without blocking the event loop. Rows may be fast (cached) or slow (on disk). If one
// slice is enough, the work runs synchronously.

import type { Clock } from '../../engine/clock.ts'
import { nextMeasuredTick, sliceEndMs } from './handler-times.ts'

/** One quarter of a handler's limit without yielding; the last row may exceed it. */
const TIME_SLICE_MS = 2.5

/** Maps rows, one time slice per event-loop tick. */
export function mapInSlices<Row, Result>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => Result,
): readonly Result[] | Promise<readonly Result[]> {
  const results: Result[] = []
  const rest = forEachInSlices(clock, rows, (row) => {
    results.push(work(row))
  })
  return rest === null ? results : rest.then(() => results)
}

/**
 * Like `mapInSlices`, after rows were read. The last read and the first write run in separate ticks, unless there are
 * few rows.
 */
export async function writeInSlices<Row, Text>(
  clock: Clock,
  rows: readonly Row[],
  parts: { readonly fewRows: number; readonly write: (row: Row) => Text },
): Promise<readonly Text[]> {
  if (rows.length > parts.fewRows) await nextMeasuredTick(clock)
  return mapInSlices(clock, rows, parts.write)
}

/** Runs the work for each row; null if a single time slice was enough. */
export function forEachInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => void,
): Promise<void> | null {
  const doneCount = runSlice(clock, rows, 0, work)
  return doneCount === rows.length ? null : rest(clock, rows, doneCount, work)
}

/** Processes rows from `start` until the slice ends. Returns the index where it stopped. */
function runSlice<Row>(
  clock: Clock,
  rows: readonly Row[],
  start: number,
  work: (row: Row) => void,
): number {
  const endsAtMs = sliceEndMs(clock, TIME_SLICE_MS)
  let count = start
  // By index: slicing the rest per tick would create garbage.
  for (let row = rows[count]; row !== undefined; row = rows[count]) {
    work(row)
    count += 1
    if (clock.monotonicMs() >= endsAtMs) break
  }
  return count
}

async function rest<Row>(
  clock: Clock,
  rows: readonly Row[],
  start: number,
  work: (row: Row) => void,
): Promise<void> {
  let doneCount = start
  while (doneCount < rows.length) {
    await nextMeasuredTick(clock)
    doneCount = runSlice(clock, rows, doneCount, work)
  }
}
