// Replays of the tape for clients. One thread reads for all of them, a chunk at a time, when their clients are ready for
// more, so a client that stops reading holds one chunk.

import type { OpenReplay, ReplayQuery, ReplaysView } from '../../../actors/views.ts'
import { EngineError } from '../../errors.ts'
import { isRecord } from '../../json-record.ts'
import { openPool, type Pool } from '../../pool.ts'
import type { ReplayResult, ReplayTask } from './replay-task.ts'

/** Maximum replays at once, of all accounts and of one. */
const REPLAYS_MAX = 16
const REPLAYS_OF_OWNER_MAX = 2
/** The first chunk of a long range reads the states before it. */
const HANG_MS = 30_000

export class Replays implements ReplaysView {
  readonly #folder: string
  #pool: Pool<ReplayTask, ReplayResult> | null = null
  readonly #owners = new Map<number, string>()
  #lastId = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  open(query: ReplayQuery, owner: string): OpenReplay {
    const own = [...this.#owners.values()].filter((other) => other === owner).length
    if (own >= REPLAYS_OF_OWNER_MAX) {
      const detail = `an account may have ${REPLAYS_OF_OWNER_MAX} replays at once`
      throw new EngineError('RATE_LIMITED', detail, { retryAfterSeconds: 5 })
    }
    if (this.#owners.size >= REPLAYS_MAX) {
      const options = { retryAfterSeconds: 5 }
      throw new EngineError('UNAVAILABLE', 'too many replays are running, try again soon', options)
    }
    this.#lastId += 1
    const id = this.#lastId
    this.#owners.set(id, owner)
    const pool = this.#thread()
    let opened: Promise<unknown> | null = null
    return {
      next: async () => {
        opened ??= pool.run({ kind: 'open', id, folder: this.#folder, query })
        await opened
        const result = await pool.run({ kind: 'next', id })
        if (result.kind !== 'chunk') throw new EngineError('INTERNAL', 'the replay was interrupted')
        return result
      },
      close: () => {
        if (!this.#owners.delete(id)) return
        pool.run({ kind: 'close', id }).catch(() => undefined)
      },
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.close()
  }

  /** Started at the first replay. */
  #thread(): Pool<ReplayTask, ReplayResult> {
    this.#pool ??= openPool<ReplayTask, ReplayResult>({
      ...{ threads: 1, isPersistent: true, queueMax: 4 * REPLAYS_MAX, timeoutMs: HANG_MS },
      worker: new URL('./worker.ts', import.meta.url),
      isResult: (value): value is ReplayResult => isRecord(value) && 'kind' in value,
    })
    return this.#pool
  }
}
