// Replays of the tape for clients. One thread reads for all of them.

import type {
  OpenReplay,
  ReplayChunk,
  ReplayQuery,
  ReplaySlot,
  ReplaysView,
} from '../../../actors/views.ts'
import { isRecord } from '../../json-record.ts'
import { openPool, type Pool } from '../../pool.ts'
import { chunksOf, TapeReaders } from '../tape-readers.ts'
import type { ReplayResult, ReplayTask } from './replay-task.ts'

const REPLAYS_MAX = 16
const REPLAYS_OF_OWNER_MAX = 2
/** The first chunk of a long range reads the states before it. */
const HANG_MS = 30_000

export class Replays implements ReplaysView {
  readonly #folder: string
  #pool: Pool<ReplayTask, ReplayResult> | null = null
  #lastReaderId = 0
  readonly #slots = new TapeReaders({
    ...{ what: 'replays', max: REPLAYS_MAX, ofOwnerMax: REPLAYS_OF_OWNER_MAX },
  })

  constructor(folder: string) {
    this.#folder = folder
  }

  reserve(owner: string): ReplaySlot {
    const slot = this.#slots.add(owner)
    const readers = new Set<OpenReplay<ReplayChunk>>()
    let isReleased = false
    const free = () => {
      if (isReleased && readers.size === 0) this.#slots.remove(slot)
    }
    return {
      read: (query) => {
        const reader = this.#open(query, () => {
          readers.delete(reader)
          free()
        })
        readers.add(reader)
        return reader
      },
      release: () => {
        isReleased = true
        for (const reader of readers) reader.close()
        free()
      },
    }
  }

  /** The thread opens the reader at its first chunk. */
  #open(query: ReplayQuery, onClosed: () => void): OpenReplay<ReplayChunk> {
    this.#lastReaderId += 1
    const id = this.#lastReaderId
    const pool = this.#thread()
    let opened: Promise<unknown> | null = null
    return chunksOf({
      next: async () => {
        opened ??= pool.run({ kind: 'open', id, folder: this.#folder, query })
        await opened
        const result = await pool.run({ kind: 'next', id })
        return result.kind === 'chunk' ? result : null
      },
      close: async () => {
        if (opened !== null) await pool.run({ kind: 'close', id })
      },
      onClosed,
    })
  }

  async stop(): Promise<void> {
    await this.#pool?.close()
  }

  /** Started at the first replay. */
  #thread(): Pool<ReplayTask, ReplayResult> {
    this.#pool ??= openPool<ReplayTask, ReplayResult>({
      // Each of a replay's two readers has at most two tasks: one for its next chunk, and one that closes it.
      ...{ threads: 1, isPersistent: true, queueMax: 4 * REPLAYS_MAX, timeoutMs: HANG_MS },
      worker: new URL('./worker.ts', import.meta.url),
      isResult: (value): value is ReplayResult => isRecord(value) && 'kind' in value,
    })
    return this.#pool
  }
}
