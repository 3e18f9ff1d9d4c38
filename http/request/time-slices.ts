// Work on rows that may be quick or slow (kept or still on disk), without holding the loop: for so
// many milliseconds a turn, at once when they all fit in one.

import type { Clock } from '../../engine/clock.ts'
import { sliceEndMs, yieldToEventLoop } from './handler-times.ts'

/** A quarter of what a handler may take in one piece; one row more may begin within it. */
const TIME_SLICE_MS = 2.5

/** Maps rows, for a slice of time in one turn of the loop. */
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
 * The same after rows were read: what was read last, and what is written first, have a turn of the
 * loop each, unless there are so few rows that both fit in one.
 */
export async function writeInSlices<Row, Text>(
  clock: Clock,
  rows: readonly Row[],
  parts: { readonly fewRows: number; readonly write: (row: Row) => Text },
): Promise<readonly Text[]> {
  if (rows.length > parts.fewRows) await yieldToEventLoop(clock)
  return mapInSlices(clock, rows, parts.write)
}

/** Does the work for each row; null when a single slice of time was enough. */
export function forEachInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => void,
): Promise<void> | null {
  const doneCount = runSlice(clock, rows, 0, work)
  return doneCount === rows.length ? null : rest(clock, rows, doneCount, work)
}

/** Does what a turn has time for, from `start` on; returns where it ended. */
function runSlice<Row>(
  clock: Clock,
  rows: readonly Row[],
  start: number,
  work: (row: Row) => void,
): number {
  const endsAtMs = sliceEndMs(clock, TIME_SLICE_MS)
  let count = start
  // By its index: a copy of the rest for each slice would be garbage.
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
    await yieldToEventLoop(clock)
    doneCount = runSlice(clock, rows, doneCount, work)
  }
}
