// Tasks of the thread that reads the tape for replays, and their results.

import type { ReplayChunk, ReplayQuery } from '../../../actors/views.ts'
import type { Chunk, ReaderTask } from '../tape-readers.ts'

export type ReplayTask =
  | {
      readonly kind: 'open'
      readonly id: number
      readonly folder: string
      readonly query: ReplayQuery
    }
  | ReaderTask

export type ReplayResult =
  | (Chunk & ReplayChunk)
  | { readonly kind: 'done' }
  | { readonly kind: 'unknown' }
