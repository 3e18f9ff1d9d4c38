// Query parameters and cursors of venue b's REST API. An invalid parameter becomes the message of a 400, never an
// exception. A cursor is opaque to clients and names the last row that they received.

/** Parses parameters one by one and retains the first error. */
export class QueryReader {
  /** The first error, in the venue's wording. Null: none. */
  problem: string | null = null
  readonly #query: URLSearchParams

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  /** A text. Null: absent or empty. Of a repeated parameter only the first counts. */
  text(name: string): string | null {
    const value = this.#query.get(name)
    return value === null || value === '' ? null : value
  }

  has(name: string): boolean {
    return this.text(name) !== null
  }

  /** An integer in a range. */
  integer(name: string, range: { min: number; max: number; fallback: number }): number {
    const text = this.text(name)
    if (text === null) return range.fallback
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= range.min && value <= range.max) return value
    this.#reportProblem(`${name} must be an integer between ${range.min} and ${range.max}`)
    return range.fallback
  }

  /** Unix seconds; null when absent. */
  seconds(name: string): number | null {
    if (!this.has(name)) return null
    return this.integer(name, { min: 0, max: 99_999_999_999, fallback: 0 })
  }

  /** Unix seconds; required. */
  requiredSeconds(name: string): number {
    const value = this.seconds(name)
    if (value === null) this.#reportProblem(`${name} is required`)
    return value ?? 0
  }

  /** true or false; absent is false. */
  flag(name: string): boolean {
    const text = this.text(name)
    if (text === null || text === 'false' || text === '0') return false
    if (text !== 'true' && text !== '1') this.#reportProblem(`${name} must be true or false`)
    return true
  }

  /** One of a set of values; null when absent. */
  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | null {
    const text = this.text(name)
    if (text === null) return null
    const value = values.find((candidate) => candidate === text)
    if (value === undefined) this.#reportProblem(`${name} must be one of ${values.join(', ')}`)
    return value ?? null
  }

  /** "a,b,c" as a set; null when absent. */
  commaSeparated(name: string): ReadonlySet<string> | null {
    const text = this.text(name)
    return text === null ? null : new Set(text.split(',').map((part) => part.trim()))
  }

  /** `name=a&name=b`; commas are part of a value. */
  repeated(name: string): readonly string[] {
    return this.#query.getAll(name).filter((value) => value !== '')
  }

  /** Records an error of the caller, unless there is one already. */
  reject(problem: string): void {
    this.#reportProblem(problem)
  }

  #reportProblem(problem: string): void {
    this.problem ??= problem
  }
}

/** The rows of a list: an array, or an object that creates rows on demand. A position may have no row. */
export interface Rows<Row> {
  readonly length: number
  at(position: number): Row | undefined
}

interface PageOptions<Row> {
  /** Null: the first page. */
  readonly cursor: string | null
  readonly limit: number
  readonly idOf: (row: Row) => string
  readonly isMatch: (row: Row) => boolean
  /** Last row first. */
  readonly isReversed?: boolean
  /** A row after which no later one can match. */
  readonly isBeyond?: (row: Row) => boolean
}

interface Page<Row> {
  readonly rows: readonly Row[]
  /** Empty if there are no more rows. */
  readonly cursor: string
}

/** One page of a list that grows at its end and may lose rows anywhere. Null: the cursor is invalid. */
export function pageOf<Row>(items: Rows<Row>, options: PageOptions<Row>): Page<Row> | null {
  const step = options.isReversed === true ? -1 : 1
  let position = step === 1 ? 0 : items.length - 1
  if (options.cursor !== null) {
    const found = locate(items, options)
    if (found === null) return null
    position = found
  }
  const rows: Row[] = []
  let lastPosition = position
  for (; position >= 0 && position < items.length; position += step) {
    const row = items.at(position)
    if (row === undefined) continue
    if (options.isBeyond?.(row) === true) break
    if (!options.isMatch(row)) continue
    const last = rows.at(-1)
    if (rows.length === options.limit && last !== undefined) {
      return { rows, cursor: writeCursor(lastPosition, options.idOf(last)) }
    }
    rows.push(row)
    lastPosition = position
  }
  return { rows, cursor: '' }
}

/** Position after the cursor's row. Earlier rows may have been removed, so it searches for the row. */
function locate<Row>(items: Rows<Row>, options: PageOptions<Row>): number | null {
  const cursor = readCursor(options.cursor ?? '')
  if (cursor === null) return null
  const step = options.isReversed === true ? -1 : 1
  for (let position = Math.min(cursor.position, items.length - 1); position >= 0; position -= 1) {
    const row = items.at(position)
    if (row !== undefined && options.idOf(row) === cursor.id) return position + step
  }
  // The row was removed. Rows may repeat, but none is skipped.
  return step === 1 ? Math.max(0, cursor.position - 1_000) : Math.min(cursor.position, items.length)
}

function writeCursor(position: number, id: string): string {
  return Buffer.from(`${position}:${id}`).toString('base64url')
}

function readCursor(cursor: string): { position: number; id: string } | null {
  const match = /^(\d{1,9}):(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (match === null) return null
  return { position: Number(match[1]), id: match[2] ?? '' }
}
