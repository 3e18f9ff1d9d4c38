// Tasks of the thread that reads the tape for replays, and their results.

import type { ReplayQuery } from '../../../actors/views.ts'

export type ReplayTask =
  | {
      readonly kind: 'open'
      readonly id: number
      readonly folder: string
      readonly query: ReplayQuery
    }
  | { readonly kind: 'next'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }

export type ReplayResult =
  | { readonly kind: 'done' }
  /** `isLast`: the replay has ended, and is closed. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array; readonly isLast: boolean }
  | { readonly kind: 'unknown' }
