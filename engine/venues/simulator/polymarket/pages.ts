// Gamma's two paging schemes (engine/venues/polymarket/README.md, Gamma): `limit` and `offset` with a bare array, and
// keysets with `after_cursor` in and `next_cursor` out, absent on the last page. `cursor` is ignored as live, so a
// client that sends it always gets the first page.

import { json, type RestAnswer } from '../rest.ts'

/** Order of rows. Null: by number, ascending. */
export interface RowOrder<Row> {
  readonly value: (row: Row) => number
  readonly isAscending: boolean
}

interface PageRequest<Row> {
  readonly rows: RowsByNumber<Row>
  readonly filter: (row: Row) => boolean
  readonly order: RowOrder<Row> | null
  readonly query: URLSearchParams
  readonly limitDefault: number
  /** A larger limit is silently reduced to this one. */
  readonly limitMax: number
  readonly render: (row: Row) => unknown
}

/** A bare array from `offset` on. */
export function offsetPage<Row>(request: PageRequest<Row>): RestAnswer {
  const limit = limitOf(request)
  const offset = Number(request.query.get('offset') ?? '0')
  if (limit === null) return refusal('limit must be a non-negative integer')
  if (!Number.isSafeInteger(offset) || offset < 0) {
    return refusal('offset must be a non-negative integer')
  }
  return json(
    take({ ...request, limit: offset + limit })
      .slice(offset)
      .map(request.render),
  )
}

/** `{[key]: rows, next_cursor}`. */
export function keysetPage<Row>(request: PageRequest<Row> & { readonly key: string }): RestAnswer {
  if (request.query.has('offset')) return refusal('offset is not supported, use after_cursor')
  const limit = limitOf(request)
  if (limit === null) return refusal('limit must be a non-negative integer')
  const text = request.query.get('after_cursor') ?? ''
  const after = text === '' ? null : parseCursor(text)
  if (text !== '' && after === null) return refusal('invalid cursor')
  // One extra row shows whether there is another page.
  const found = take({ ...request, limit: limit + 1, after })
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const body = { [request.key]: rows.map(request.render) }
  if (found.length <= limit || last === undefined) return json(body)
  const value = request.order?.value(last) ?? 0
  return json({ ...body, next_cursor: cursorText({ value, number: request.rows.number(last) }) })
}

/** All rows of a list by number. Sorted again only when the list changes. */
export class RowsByNumber<Row> {
  readonly number: (row: Row) => number
  readonly #read: () => readonly Row[]
  #sorted: readonly Row[] = []
  #source: readonly Row[] | null = null

  constructor(read: () => readonly Row[], number: (row: Row) => number) {
    this.#read = read
    this.number = number
  }

  all(): readonly Row[] {
    const rows = this.#read()
    // The world creates a new array whenever a row is added or removed.
    if (rows !== this.#source || rows.length !== this.#sorted.length) {
      this.#sorted = rows.toSorted((one, other) => this.number(one) - this.number(other))
      this.#source = rows
    }
    return this.#sorted
  }

  /** The position of the first row whose number is above `number`. */
  positionAfter(number: number): number {
    const rows = this.all()
    let low = 0
    let high = rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const row = rows[middle]
      if (row !== undefined && this.number(row) <= number) low = middle + 1
      else high = middle
    }
    return low
  }
}

interface Cursor {
  readonly value: number
  readonly number: number
}

function take<Row>(
  request: PageRequest<Row> & { readonly limit: number; readonly after?: Cursor | null },
): readonly Row[] {
  const { rows, filter, order, limit } = request
  const after = request.after ?? null
  if (order !== null) return takeOrdered({ ...request, order, after })
  const all = rows.all()
  const found: Row[] = []
  const start = after === null ? 0 : rows.positionAfter(after.number)
  for (let position = start; position < all.length && found.length < limit; position += 1) {
    const row = all[position]
    if (row !== undefined && filter(row)) found.push(row)
  }
  return found
}

function takeOrdered<Row>(
  request: PageRequest<Row> & {
    readonly order: RowOrder<Row>
    readonly limit: number
    readonly after: Cursor | null
  },
): readonly Row[] {
  const { rows, filter, order, limit, after } = request
  const sign = order.isAscending ? 1 : -1
  const compare = (one: Cursor, other: Cursor): number =>
    one.value === other.value ? one.number - other.number : sign * (one.value - other.value)
  const keyed: (Cursor & { readonly row: Row })[] = []
  for (const row of rows.all()) {
    if (!filter(row)) continue
    const entry = { value: order.value(row), number: rows.number(row), row }
    if (after === null || compare(entry, after) > 0) keyed.push(entry)
  }
  keyed.sort(compare)
  return keyed.slice(0, limit).map((entry) => entry.row)
}

function limitOf<Row>(request: PageRequest<Row>): number | null {
  const text = request.query.get('limit')
  const limit = text === null || text === '' ? request.limitDefault : Number(text)
  return Number.isSafeInteger(limit) && limit >= 0 ? Math.min(limit, request.limitMax) : null
}

function cursorText(cursor: Cursor): string {
  return Buffer.from(`${cursor.value}:${cursor.number}`).toString('base64url')
}

function parseCursor(text: string): Cursor | null {
  const match = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?):(\d+)$/.exec(
    Buffer.from(text, 'base64url').toString(),
  )
  return match === null ? null : { value: Number(match[1]), number: Number(match[2]) }
}

function refusal(reason: string): RestAnswer {
  return json({ type: 'validation error', error: reason }, 422)
}
