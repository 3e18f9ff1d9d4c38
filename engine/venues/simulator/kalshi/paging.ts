// Query parameters, errors and cursors of venue b's REST API. A cursor identifies the last row that the client
// received.

import { json, Refusal, type RestAnswer } from '../rest.ts'

const refusal = (status: number, code: string, message: string): RestAnswer =>
  json({ error: { code, message } }, status)

export const badRequest = (message: string): Refusal =>
  new Refusal(refusal(400, 'bad_request', message))

export const notFound = (): RestAnswer => refusal(404, 'not_found', 'not found')
export const methodNotAllowed = (): RestAnswer =>
  refusal(405, 'method_not_allowed', 'method not allowed')
/** The venue's 429, which has no Retry-After. */
export const tooManyRequests = (): RestAnswer => json({ error: 'too many requests' }, 429)

/** Each method throws a 400 if its parameter is invalid. */
export class QueryReader {
  readonly #query: URLSearchParams

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  /** Null: the parameter is absent or empty. Of repeated parameters the first counts. */
  text(name: string): string | null {
    return this.#query.get(name) || null
  }

  has(name: string): boolean {
    return this.text(name) !== null
  }

  integer(name: string, range: { min: number; max: number; fallback: number }): number {
    const text = this.text(name)
    if (text === null) return range.fallback
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= range.min && value <= range.max) return value
    throw badRequest(`${name} must be an integer between ${range.min} and ${range.max}`)
  }

  /** Unix seconds. Null when absent. */
  seconds(name: string): number | null {
    if (!this.has(name)) return null
    return this.integer(name, { min: 0, max: 99_999_999_999, fallback: 0 })
  }

  requiredSeconds(name: string): number {
    const value = this.seconds(name)
    if (value === null) throw badRequest(`${name} is required`)
    return value
  }

  /** False if the parameter is absent. */
  flag(name: string): boolean {
    const text = this.text(name)
    if (text === null || text === 'false' || text === '0') return false
    if (text !== 'true' && text !== '1') throw badRequest(`${name} must be true or false`)
    return true
  }

  /** Null when absent. */
  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | null {
    const text = this.text(name)
    const value = values.find((candidate) => candidate === text) ?? null
    if (text === null || value !== null) return value
    throw badRequest(`${name} must be one of ${values.join(', ')}`)
  }

  /** Null when absent. */
  commaSeparated(name: string): ReadonlySet<string> | null {
    const text = this.text(name)
    return text === null ? null : new Set(text.split(',').map((part) => part.trim()))
  }

  /** A comma does not separate values. */
  repeated(name: string): readonly string[] {
    return this.#query.getAll(name).filter((value) => value !== '')
  }
}

/** Creates the rows of a list on access. A position may have no row. */
export interface Rows<Row> {
  readonly length: number
  at(position: number): Row | undefined
}

interface PageOptions<Row> {
  readonly limit: { readonly name: string; readonly max: number; readonly fallback: number }
  readonly idOf: (row: Row) => string
  readonly isMatch: (row: Row) => boolean
  /** Pages begin with the last row. */
  readonly isReversed?: boolean
  /** True for a row after which no row can match. Paging ends there. */
  readonly isBeyond?: (row: Row) => boolean
}

interface Page<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string
}

/** One page of a list that grows at its end and may lose rows anywhere. Throws a 400 for an invalid cursor. */
export function pageOf<Row>(
  query: QueryReader,
  items: Rows<Row>,
  options: PageOptions<Row>,
): Page<Row> {
  const limit = query.integer(options.limit.name, { min: 1, ...options.limit })
  const cursor = query.text('cursor')
  const step = options.isReversed === true ? -1 : 1
  const first = step === 1 ? 0 : items.length - 1
  let position = cursor === null ? first : locate(items, cursor, options)
  const rows: Row[] = []
  let lastPosition = position
  for (; position >= 0 && position < items.length; position += step) {
    const row = items.at(position)
    if (row === undefined) continue
    if (options.isBeyond?.(row) === true) break
    if (!options.isMatch(row)) continue
    const last = rows.at(-1)
    if (rows.length === limit && last !== undefined) {
      return { rows, cursor: writeCursor(lastPosition, options.idOf(last)) }
    }
    rows.push(row)
    lastPosition = position
  }
  return { rows, cursor: '' }
}

/** The position after the cursor's row. The row may have moved, because earlier rows were removed. */
function locate<Row>(items: Rows<Row>, cursor: string, options: PageOptions<Row>): number {
  const match = /^(\d{1,9}):(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (match === null) throw badRequest('cursor must be a cursor of the previous page')
  const [at, id] = [Number(match[1]), match[2]]
  const step = options.isReversed === true ? -1 : 1
  for (let position = Math.min(at, items.length - 1); position >= 0; position -= 1) {
    const row = items.at(position)
    if (row !== undefined && options.idOf(row) === id) return position + step
  }
  // The cursor's row was removed. The page may repeat rows but skips none.
  return step === 1 ? Math.max(0, at - 1_000) : Math.min(at, items.length)
}

function writeCursor(position: number, id: string): string {
  return Buffer.from(`${position}:${id}`).toString('base64url')
}
