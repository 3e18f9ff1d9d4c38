// Version 2 of the Data API. Every page repeats the filters of the first, to which its cursor is bound.

import type { CallOptions, JsonReader, Query } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import { type AnswerKind, type CursorPage, pagesOf, SuspectAnswerError } from '../answer-checks.ts'
import type { DriftNotes } from '../drift/drift.ts'
import { checkDataRows } from './drift-checks.ts'

/** Maximum rows per page. The API refuses more with 400. */
export const DATA_ROWS_MAX = 1_000

export interface DataApiParts {
  readonly client: JsonReader
  readonly drift: DriftNotes
}

/** A path of the API, and the filters that every page repeats. */
export interface DataRequest {
  readonly path: string
  /** Includes `limit` if the page size matters, and never a cursor. */
  readonly query: Query
  readonly kind: AnswerKind
}

/** Reads the venue's trades, activity, positions and market figures. Rejects with FetchError or SuspectAnswerError. */
export class DataApi {
  readonly #parts: DataApiParts

  constructor(parts: DataApiParts) {
    this.#parts = parts
  }

  async value(request: DataRequest, options: CallOptions = {}): Promise<unknown> {
    return this.#dataOf(await this.#fetch(request, undefined, options), request)
  }

  /** One page of a list, and the cursor of the next page; null after the last page. */
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
