// Client of the Data API v2. A cursor is bound to the filters of the first page, so every page repeats them.

import type { CallOptions, JsonReader, Query } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import { type AnswerKind, type CursorPage, pagesOf, SuspectAnswerError } from '../answer-checks.ts'
import type { DriftNotes } from '../drift/drift.ts'
import { checkDataRows } from './drift-checks.ts'

/** Maximum rows per page. The API responds with 400 to a higher limit. */
export const DATA_ROWS_MAX = 1_000

export interface DataApiParts {
  readonly client: JsonReader
  readonly drift: DriftNotes
}

export interface DataRequest {
  readonly path: string
  /** The filters of every page, including `limit` if the page size matters. Never contains a cursor. */
  readonly query: Query
  readonly kind: AnswerKind
}

/** Reads trades, activity, positions and market figures. Rejects with FetchError or SuspectAnswerError. */
export class DataApi {
  readonly #parts: DataApiParts

  constructor(parts: DataApiParts) {
    this.#parts = parts
  }

  async value(request: DataRequest, options: CallOptions = {}): Promise<unknown> {
    return this.#dataOf(await this.#fetch(request, undefined, options), request)
  }

  async page(
    request: DataRequest,
    cursor?: string,
    options: CallOptions = {},
  ): Promise<CursorPage> {
    const answer = await this.#fetch(request, cursor, options)
    const rows = this.#listOf(this.#dataOf(answer, request), request)
    const pagination = isRecord(answer) ? answer.pagination : undefined
    if (!isRecord(pagination) || typeof pagination.has_more !== 'boolean') {
      throw this.#suspectAnswer(request, 'no pagination', pagination)
    }
    const { has_more: hasMore, next_cursor: next } = pagination
    if (!hasMore || (typeof next === 'string' && next !== '')) {
      checkDataRows(request.path, rows, this.#parts.drift)
      return { rows, next: hasMore ? String(next) : null }
    }
    throw this.#suspectAnswer(request, 'more without a cursor', pagination)
  }

  /** Reads all pages of a list. Throws SuspectAnswerError if a cursor repeats. */
  async *pages(
    request: DataRequest,
    pagesMax: number,
    options: CallOptions = {},
  ): AsyncGenerator<readonly unknown[]> {
    const { path: name, kind } = request
    try {
      yield* pagesOf((cursor) => this.page(request, cursor, options), { kind, name, pagesMax })
    } catch (error) {
      if (error instanceof SuspectAnswerError && error.reason === 'cursor') {
        this.#parts.drift.note('data.pages', `${name} cursor`, error.message)
      }
      throw error
    }
  }

  #fetch({ path, query }: DataRequest, cursor: string | undefined, options: CallOptions) {
    return this.#parts.client.getJson(path, { ...query, cursor }, options)
  }

  #dataOf(answer: unknown, request: DataRequest): unknown {
    if (isRecord(answer) && answer.data !== undefined) return answer.data
    throw this.#suspectAnswer(request, 'no data', answer)
  }

  #listOf(data: unknown, request: DataRequest): readonly unknown[] {
    if (Array.isArray(data)) return data
    if (data === null) return []
    throw this.#suspectAnswer(request, 'no list', data)
  }

  #suspectAnswer({ path, kind }: DataRequest, what: string, sample: unknown): SuspectAnswerError {
    this.#parts.drift.note('data.answer', `${path} ${what}`, sample)
    return new SuspectAnswerError(kind, 'shape', `${what} in the answer of ${path}`)
  }
}
