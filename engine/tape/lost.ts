// A loss on the tape: a period in which published updates are missing, and why.

import { type OffsetRange, offsetRange, type RawItem } from '../cluster/batch.ts'
import { choice, count, fieldsOf, flat, orNull, readExactly, record } from '../codec.ts'
import { TAPE_CODES } from './item-codes.ts'

/**
 * - `stopped`: the service was stopped.
 * - `killed`: the service ended without closing the tape. The last rows before its end may be missing.
 * - `slow_disk`: rows were published faster than the disk accepted them.
 * - `disk_full`: too little disk space is free.
 * - `disk_error`: writing failed for another reason.
 * - `damaged`: a block cannot be read.
 */
export const LOST_CAUSES = [
  'stopped',
  'killed',
  'slow_disk',
  'disk_full',
  'disk_error',
  'damaged',
] as const
export type LostCause = (typeof LOST_CAUSES)[number]

export interface Lost {
  readonly cause: LostCause
  /** Publish times in microseconds. Rows between them are missing. */
  readonly fromUs: number
  readonly toUs: number
  /** First and last lost offset of each channel. Offsets in between may belong to other venues. Empty: unknown. */
  readonly offsets: readonly OffsetRange[]
  /** Number of lost rows. Null: unknown. */
  readonly rows: number | null
}

export const lost = record<Lost>({
  cause: choice(LOST_CAUSES),
  fromUs: count,
  toUs: count,
  offsets: flat(offsetRange),
  rows: orNull(count),
})

export const lostItem = (of: Lost): RawItem => [TAPE_CODES.lost, ...fieldsOf(lost, of)]

/** Null if the item is of another kind, or damaged. */
export function readLost([code, ...fields]: RawItem): Lost | null {
  if (code !== TAPE_CODES.lost) return null
  try {
    return readExactly(lost, fields)
  } catch {
    return null
  }
}
