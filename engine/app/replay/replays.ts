// Replays of the tape for clients. One thread reads for all of them.

import type { OpenReplay, ReplayQuery, ReplaysView } from '../../../actors/views.ts'
import { isRecord } from '../../json-record.ts'
import { openPool, type Pool } from '../../pool.ts'
import { TapeReaders } from '../tape-readers.ts'
import type { ReplayResult, ReplayTask } from './replay-task.ts'

const REPLAYS_MAX = 16
const REPLAYS_OF_OWNER_MAX = 2
/** The first chunk of a long range reads the states before it. */
const HANG_MS = 30_000

export class Replays implements ReplaysView {
  readonly #folder: string
  #pool: Pool<ReplayTask, ReplayResult> | null = null
  readonly #readers = new TapeReaders({
    ...{ what: 'replays', max: REPLAYS_MAX, ofOwnerMax: REPLAYS_OF_OWNER_MAX },
  })

  constructor(folder: string) {
    this.#folder = folder
  }

  open(query: ReplayQuery, owner: string): OpenReplay {
    const id = this.#readers.add(owner)
    const pool = this.#thread()
    const chunks = this.#readers.chunksOf(id, (task) => pool.run(task))
    let opened: Promise<unknown> | null = null
    return {
      next: async () => {
        opened ??= pool.run({ kind: 'open', id, folder: this.#folder, query })
        await opened
        return chunks.next()
      },
      close: () => {
        if (opened === null) this.#readers.remove(id)
        else chunks.close()
      },
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.close()
  }

  /** Started at the first replay. */
  #thread(): Pool<ReplayTask, ReplayResult> {
    this.#pool ??= openPool<ReplayTask, ReplayResult>({
      // A replay has at most two tasks: one for its next chunk, and one that closes it.
      ...{ threads: 1, isPersistent: true, queueMax: 2 * REPLAYS_MAX, timeoutMs: HANG_MS },
      worker: new URL('./worker.ts', import.meta.url),
      isResult: (value): value is ReplayResult => isRecord(value) && 'kind' in value,
    })
    return this.#pool
  }
}
