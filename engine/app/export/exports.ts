// Exports of the tape for clients. One thread writes all files, a chunk at a time, when their clients are ready for more.
// Chunks are computed in the order of their requests, so accounts take turns.

import type { ExportRequest, ExportsView, HoursQuery, OpenReplay } from '../../../actors/views.ts'
import { EngineError } from '../../errors.ts'
import { isRecord } from '../../json-record.ts'
import { openPool, type Pool } from '../../pool.ts'
import type { ExportResult, ExportTask } from './export-task.ts'

/** Maximum exports at once, of all accounts and of one. */
const EXPORTS_MAX = 8
const EXPORTS_OF_OWNER_MAX = 2
const RETRY = { retryAfterSeconds: 5 }
/** The first chunk reads the whole hour. */
const HANG_MS = 120_000

export class Exports implements ExportsView {
  readonly #folder: string
  #pool: Pool<ExportTask, ExportResult> | null = null
  readonly #owners = new Map<number, string>()
  #lastId = 0

  /** `folder`: that of the tape. */
  constructor(folder: string) {
    this.#folder = folder
  }

  async list(query: HoursQuery): Promise<string> {
    const result = await this.#thread().run({ kind: 'list', folder: this.#folder, query })
    if (result.kind === 'hours') return result.text
    throw new EngineError('INTERNAL', 'the hours of the tape could not be listed')
  }

  async open(request: ExportRequest, owner: string): Promise<OpenReplay> {
    const own = [...this.#owners.values()].filter((other) => other === owner).length
    if (own >= EXPORTS_OF_OWNER_MAX) {
      const detail = `an account may have ${EXPORTS_OF_OWNER_MAX} exports at once`
      throw new EngineError('RATE_LIMITED', detail, RETRY)
    }
    if (this.#owners.size >= EXPORTS_MAX) {
      throw new EngineError('UNAVAILABLE', 'too many exports are running, try again soon', RETRY)
    }
    this.#lastId += 1
    const id = this.#lastId
    this.#owners.set(id, owner)
    try {
      const pool = this.#thread()
      const opened = await pool.run({ kind: 'open', id, folder: this.#folder, request })
      if (opened.kind === 'refused') throw new EngineError(opened.code, opened.detail)
      return this.#source(pool, id)
    } catch (error) {
      this.#owners.delete(id)
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.close()
  }

  #source(pool: Pool<ExportTask, ExportResult>, id: number): OpenReplay {
    return {
      next: async () => {
        const result = await pool.run({ kind: 'next', id })
        if (result.kind !== 'chunk') throw new EngineError('INTERNAL', 'the export was interrupted')
        return result
      },
      close: () => {
        if (!this.#owners.delete(id)) return
        pool.run({ kind: 'close', id }).catch(() => undefined)
      },
    }
  }

  /** Started at the first export. */
  #thread(): Pool<ExportTask, ExportResult> {
    this.#pool ??= openPool<ExportTask, ExportResult>({
      ...{ threads: 1, isPersistent: true, queueMax: 4 * EXPORTS_MAX, timeoutMs: HANG_MS },
      worker: new URL('./worker.ts', import.meta.url),
      isResult: (value): value is ExportResult => isRecord(value) && 'kind' in value,
    })
    return this.#pool
  }
}
