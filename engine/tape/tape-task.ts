// Tasks of the tape's thread and their results.

import type { TapeBatch, TapeSettings, TapeSize, WriteFailure } from './writer.ts'

export type TapeTask =
  /** Opens the tape. Any other task requires it. `nowUs`: the current time in microseconds. */
  | { readonly kind: 'open'; readonly settings: TapeSettings; readonly nowUs: number }
  /** Writes batches, closes hours that are over, and removes old ones. May have no batches. */
  | { readonly kind: 'write'; readonly batches: readonly TapeBatch[]; readonly nowUs: number }
  | { readonly kind: 'close' }

export type TapeResult =
  /** `firstUs`: publish times of rows must not be before it. */
  | { readonly kind: 'opened'; readonly firstUs: number; readonly size: TapeSize }
  /** `failures`: why each batch was not written, or null. `lastError`: message of the newest error. */
  | {
      readonly kind: 'written'
      readonly failures: readonly (WriteFailure | null)[]
      readonly lastError: string | null
      readonly size: TapeSize
    }
  | { readonly kind: 'closed' }
  /** The tape is not open, or could not be opened or closed. */
  | { readonly kind: 'failed'; readonly reason: string }
