// Exports of the tape for clients. One thread writes all files. Chunks are computed in the order of their requests, so
// accounts take turns.

import type { ExportRequest, ExportsView, HoursQuery, OpenReplay } from '../../../actors/views.ts'
import { EngineError } from '../../errors.ts'
import { isRecord } from '../../json-record.ts'
import { openPool, type Pool } from '../../pool.ts'
import { type Chunk, chunksOf, TapeReaders } from '../tape-readers.ts'
import type { ExportResult, ExportTask } from './export-task.ts'

const EXPORTS_MAX = 8
const EXPORTS_OF_OWNER_MAX = 2
/** Lists that wait for the thread. */
const LISTS_MAX = 16
const LISTS_OF_OWNER_MAX = 4
const HANG_MS = 120_000

export class Exports implements ExportsView {
  readonly #folder: string
  #pool: Pool<ExportTask, ExportResult> | null = null
  readonly #readers = new TapeReaders({
    ...{ what: 'exports', max: EXPORTS_MAX, ofOwnerMax: EXPORTS_OF_OWNER_MAX },
  })
  readonly #lists = new TapeReaders({
    ...{ what: 'lists of hours', max: LISTS_MAX, ofOwnerMax: LISTS_OF_OWNER_MAX },
  })

  /** `folder`: that of the tape. */
  constructor(folder: string) {
    this.#folder = folder
  }

  async list(query: HoursQuery, owner: string): Promise<string> {
    const id = this.#lists.add(owner)
    try {
      const result = await this.#thread().run({ kind: 'list', folder: this.#folder, query })
      if (result.kind === 'hours') return result.text
      throw new EngineError('INTERNAL', 'the hours of the tape could not be listed')
    } finally {
      this.#lists.remove(id)
    }
  }

  async open(request: ExportRequest, owner: string): Promise<OpenReplay> {
    const id = this.#readers.add(owner)
    try {
      const pool = this.#thread()
      const opened = await pool.run({ kind: 'open', id, folder: this.#folder, request })
      if (opened.kind === 'refused') throw new EngineError(opened.code, opened.detail)
      return chunksOf({
        next: async () => chunkIn(await pool.run({ kind: 'next', id })),
        close: () => pool.run({ kind: 'close', id }),
        onClosed: () => this.#readers.remove(id),
      })
    } catch (error) {
      this.#readers.remove(id)
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.close()
  }

  /** Started at the first export. */
  #thread(): Pool<ExportTask, ExportResult> {
    this.#pool ??= openPool<ExportTask, ExportResult>({
      // An export has at most two tasks: one for its next chunk, and one that closes it.
      ...{ threads: 1, isPersistent: true, queueMax: 2 * EXPORTS_MAX + LISTS_MAX },
      timeoutMs: HANG_MS,
      worker: new URL('./worker.ts', import.meta.url),
      isResult: (value): value is ExportResult => isRecord(value) && 'kind' in value,
    })
    return this.#pool
  }
}

const chunkIn = (result: ExportResult): Chunk | null => (result.kind === 'chunk' ? result : null)
