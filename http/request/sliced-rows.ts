// Processes rows in time slices without blocking the event loop: rows may be fast (cached) or slow (on disk). If one
// slice is enough, the work runs synchronously.

import type { Clock } from '../../engine/clock.ts'
import { nextMeasuredTick, sliceEndMs } from './handler-times.ts'
import { type Answer, etagFrom, namedJson, newHash } from './reply.ts'

/** One quarter of a handler's limit without yielding; the last row may exceed it. */
const TIME_SLICE_MS = 2.5
/** More rows are not written in the tick in which they were read. */
const FEW_ROWS = 100

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

/** Like `mapInSlices`, after rows were read in this tick. */
export async function writeInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  write: (row: Row) => string,
): Promise<readonly string[]> {
  if (rows.length > FEW_ROWS) await nextMeasuredTick(clock)
  return mapInSlices(clock, rows, write)
}

/** Runs the work for each row; null if a single time slice was enough. */
export function forEachInSlices<Row>(
  clock: Clock,
  rows: readonly Row[],
  work: (row: Row) => void,
): Promise<void> | null {
  let index = 0
  const runSlice = (): boolean => {
    const endsAtMs = sliceEndMs(clock, TIME_SLICE_MS)
    for (let row = rows[index]; row !== undefined; row = rows[index]) {
      work(row)
      index += 1
      if (clock.monotonicMs() >= endsAtMs) break
    }
    return index >= rows.length
  }
  if (runSlice()) return null
  const rest = async () => {
    do await nextMeasuredTick(clock)
    while (!runSlice())
  }
  return rest()
}

/** Bytes that are hashed at once: about 0.1 ms. */
const HASHED_BYTES = 65_536

/** A JSON answer with an ETag from its parts in order: texts as they are, and rows as `write` writes them. */
export function partsAnswer<Row extends object>(
  clock: Clock,
  parts: readonly (string | Row)[],
  write: (row: Row) => string | Uint8Array,
): Answer | Promise<Answer> {
  const chunks: Uint8Array[] = []
  const written = forEachInSlices(clock, parts, (part) => {
    const text = typeof part === 'string' ? part : write(part)
    chunks.push(typeof text === 'string' ? Buffer.from(text) : text)
  })
  return written === null
    ? hashedAnswer(clock, Buffer.concat(chunks))
    : written.then(() => hashedAnswer(clock, Buffer.concat(chunks)))
}

/** Hashes the body in blocks: a body of megabytes would take too long for one tick. */
function hashedAnswer(clock: Clock, body: Buffer): Answer | Promise<Answer> {
  const hash = newHash()
  const starts = Array.from({ length: Math.ceil(body.length / HASHED_BYTES) }, (_, block) => {
    return block * HASHED_BYTES
  })
  const hashed = forEachInSlices(clock, starts, (start) => {
    hash.update(body.subarray(start, start + HASHED_BYTES))
  })
  const finish = () => namedJson(body, etagFrom(hash))
  return hashed === null ? finish() : hashed.then(finish)
}

/** Rows with commas between them. */
export function separated<Row>(rows: readonly Row[]): (Row | ',')[] {
  return rows.flatMap((row, index): (Row | ',')[] => (index === 0 ? [row] : [',', row]))
}
