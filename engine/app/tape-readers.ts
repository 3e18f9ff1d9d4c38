// Readers of the tape that a thread holds for clients, one for each running replay or export. The thread computes a
// chunk at a time, when the client is ready for more, so a client that stops reading holds one chunk.

import type { BodyChunk, OpenReplay } from '../../actors/views.ts'
import { EngineError } from '../errors.ts'

export type ReaderTask =
  | { readonly kind: 'next'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }

/** `isLast`: the reader has ended, and is closed. */
export interface Chunk extends BodyChunk {
  readonly kind: 'chunk'
}

interface ReaderLimits {
  /** Plural noun for error messages. */
  readonly what: string
  readonly max: number
  readonly ofOwnerMax: number
}

const RETRY = { retryAfterSeconds: 5 }

/** Counts the readers of all accounts and of each. A reader counts until the thread has closed it. */
export class TapeReaders {
  readonly #limits: ReaderLimits
  readonly #owners = new Map<number, string>()
  #lastId = 0

  constructor(limits: ReaderLimits) {
    this.#limits = limits
  }

  /** Returns the id of a new reader. Throws EngineError RATE_LIMITED or UNAVAILABLE if there are too many. */
  add(owner: string): number {
    const { what, max, ofOwnerMax } = this.#limits
    const own = [...this.#owners.values()].filter((other) => other === owner).length
    if (own >= ofOwnerMax) {
      throw new EngineError(
        'RATE_LIMITED',
        `an account may have ${ofOwnerMax} ${what} at once`,
        RETRY,
      )
    }
    if (this.#owners.size >= max) {
      throw new EngineError('UNAVAILABLE', `too many ${what} are running, try again soon`, RETRY)
    }
    this.#lastId += 1
    this.#owners.set(this.#lastId, owner)
    return this.#lastId
  }

  remove(id: number): void {
    this.#owners.delete(id)
  }
}

/**
 * The chunks of a reader that the thread has opened. The thread closes the reader after its last chunk. `onClosed` is
 * called once the reader is closed.
 */
export function chunksOf<C extends BodyChunk>(parts: {
  /** Runs the reader's next task. Null: the thread does not have the reader. */
  readonly next: () => Promise<C | null>
  /** Runs the task that closes the reader. */
  readonly close: () => Promise<unknown>
  readonly onClosed: () => void
}): OpenReplay<C> {
  let state: 'open' | 'ended' | 'closed' = 'open'
  return {
    next: async () => {
      const chunk = await parts.next()
      if (chunk === null) throw new EngineError('INTERNAL', 'the thread has lost the reader')
      if (chunk.isLast && state === 'open') state = 'ended'
      return chunk
    },
    close: () => {
      const hasEnded = state === 'ended'
      if (state === 'closed') return
      state = 'closed'
      if (hasEnded) parts.onClosed()
      else parts.close().then(parts.onClosed, parts.onClosed)
    },
  }
}
