// Tasks of the thread that exports hours of the tape, and their results.

import type { ExportRequest, HoursQuery } from '../../../actors/views.ts'
import type { Chunk, ReaderTask } from '../tape-readers.ts'

export type ExportTask =
  | { readonly kind: 'list'; readonly folder: string; readonly query: HoursQuery }
  | {
      readonly kind: 'open'
      readonly id: number
      readonly folder: string
      readonly request: ExportRequest
    }
  | ReaderTask

/** Why no file is returned. */
export interface Refusal {
  readonly kind: 'refused'
  readonly code: 'NOT_FOUND' | 'NOT_FINAL' | 'BAD_REQUEST'
  readonly detail: string
}

export type ExportResult =
  /** JSON of the hours. */
  | { readonly kind: 'hours'; readonly text: string }
  | { readonly kind: 'done' }
  | Refusal
  | Chunk
  | { readonly kind: 'unknown' }
