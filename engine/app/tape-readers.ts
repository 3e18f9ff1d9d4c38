// Readers of the tape that a thread holds for clients, one for each running replay or export. The thread computes a
// chunk at a time, when the client is ready for more, so a client that stops reading holds one chunk.

import type { OpenReplay } from '../../actors/views.ts'
import { EngineError } from '../errors.ts'

export type ReaderTask =
  | { readonly kind: 'next'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }

/** `isLast`: the reader has ended, and is closed. */
export interface Chunk {
  readonly kind: 'chunk'
  readonly bytes: Uint8Array
  readonly isLast: boolean
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

  /** The chunks of a reader that the thread has opened. `run` passes a task to the thread. */
  chunksOf(
    id: number,
    run: (task: ReaderTask) => Promise<Chunk | { readonly kind: string }>,
  ): OpenReplay {
    let isOpen = true
    return {
      next: async () => {
        const result = await run({ kind: 'next', id })
        if (!('bytes' in result))
          throw new EngineError('INTERNAL', 'the thread has lost the reader')
        if (result.isLast) isOpen = false
        return result
      },
      close: () => {
        if (!isOpen) return this.remove(id)
        isOpen = false
        const remove = () => this.remove(id)
        run({ kind: 'close', id }).then(remove, remove)
      },
    }
  }
}
