// Data API v2 of venue a (engine/venues/polymarket/README.md, Data API v2): pages with signed cursors, errors with a
// code and a trace id, and a cache of first pages for the fault `stale_cache`.

import { LRUCache } from 'lru-cache'
import { hash32 } from '../../../random.ts'
import type { TimeMs } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import { hexWord } from '../world/mix.ts'

const LIMITS = { fallback: 100, max: 1_000 }
const COPIES_MAX = 256
const COPY_CHARACTERS_MAX = 32 * 1_048_576

export type Position = Readonly<Record<string, string | number>>

export interface PageQuery {
  /** Names are in snake_case. */
  readonly query: URLSearchParams
  readonly limit: number
  /** Null for the first page. */
  readonly at: Position | null
}

export interface Page {
  readonly rows: readonly unknown[]
  /** Null on the last page. */
  readonly next: Position | null
}

/** Seconds for which intermediate caches may store an answer. Null: not at all. */
interface Caching {
  readonly maxAgeS: number | null
}

interface PageOptions extends Caching {
  /** Default and maximum number of rows of a page. If absent: 100 and 1,000. */
  readonly limits?: { readonly fallback: number; readonly max: number }
}

interface DataV2Parts {
  readonly faults: Faults
  readonly nowMs: () => TimeMs
}

export class DataV2 {
  readonly #server: RestServer
  readonly #parts: DataV2Parts
  readonly #edge = new Edge()
  #requestCount = 0

  constructor(server: RestServer, parts: DataV2Parts) {
    this.#server = server
    this.#parts = parts
  }

  /** Adds a paged list. Its cursors contain `type`, so that other paths refuse them. */
  pages(
    type: string,
    path: string,
    read: (pageQuery: PageQuery) => Page,
    { maxAgeS, limits = LIMITS }: PageOptions,
  ): void {
    this.#answer(path, maxAgeS, (query) => {
      if (query.has('offset')) throw new QueryError('invalid offset')
      const held = cursorIn(query, type)
      const limit = held?.l ?? limitOf(query, limits)
      const { rows, next } = read({ query, limit, at: held?.at ?? null })
      const before = held?.d ?? 0
      const cursor = next === null ? null : cursorText(type, { l: limit, d: before + limit }, next)
      const pagination = {
        limit,
        offset: before,
        has_more: cursor !== null,
        next_cursor: cursor,
      }
      return { data: rows, pagination }
    })
  }

  value(path: string, read: (query: URLSearchParams) => unknown, { maxAgeS }: Caching): void {
    this.#answer(path, maxAgeS, (query) => ({ data: read(query) }))
  }

  #answer(path: string, maxAgeS: number | null, body: (query: URLSearchParams) => unknown): void {
    this.#server.get(path, ({ query }) => {
      const nowMs = this.#parts.nowMs()
      const url = `${path}?${query}`
      const copy = this.#edge.copyOf(url, nowMs)
      if (copy !== null) return copy
      this.#requestCount += 1
      const traceId = traceIdOf(this.#requestCount)
      try {
        if (maxAgeS === null) return { ...json(body(snakeQuery(query))), headers: headers(traceId) }
        const cacheHeaders = { 'cache-control': `public, max-age=${maxAgeS}` }
        const answer = { ...json(body(snakeQuery(query))), headers: headers(traceId, cacheHeaders) }
        const isCached = !query.has('cursor') && this.#parts.faults.strikes('stale_cache')
        if (isCached) this.#edge.store(url, { answer, madeMs: nowMs, maxAgeS })
        return answer
      } catch (error) {
        return refusal(error, traceId)
      }
    })
  }
}

interface Copy {
  readonly answer: RestAnswer
  readonly madeMs: TimeMs
  readonly maxAgeS: number
}

class Edge {
  readonly #copies = new LRUCache<string, Copy>({
    max: COPIES_MAX,
    maxSize: COPY_CHARACTERS_MAX,
    sizeCalculation: ({ answer }) => answer.body.length,
  })

  copyOf(url: string, nowMs: TimeMs): RestAnswer | null {
    const copy = this.#copies.get(url)
    if (copy === undefined) return null
    const age = Math.floor((nowMs - copy.madeMs) / 1_000)
    if (age < 0 || age >= copy.maxAgeS) return null
    return { ...copy.answer, headers: { ...copy.answer.headers, age: String(age) } }
  }

  store(url: string, copy: Copy): void {
    this.#copies.set(url, copy)
  }
}

function refusal(error: unknown, traceId: string): RestAnswer {
  if (!(error instanceof QueryError)) throw error
  const parameter = /(?:invalid |param ')(\w+)/.exec(error.message)?.[1]
  const named = parameter === undefined ? {} : { parameter }
  return refused(400, { error: error.message, code: 'invalid_request', ...named }, traceId)
}

function refused(
  status: number,
  fields: Readonly<Record<string, string>>,
  traceId: string,
): RestAnswer {
  const { error, code, ...more } = fields
  const body = { error, code, retryable: false, ...more, trace_id: traceId }
  return { ...json(body, status), headers: headers(traceId) }
}

export function unknownPath(status: 404 | 405, path: string): RestAnswer {
  const code = status === 404 ? 'not_found' : 'method_not_allowed'
  return refused(
    status,
    { error: code.replaceAll('_', ' '), code },
    traceIdOf(hash32('path', path)),
  )
}

function headers(traceId: string, more: Readonly<Record<string, string>> = {}) {
  return { 'x-trace-id': traceId, ...more }
}

function traceIdOf(number: number): string {
  return [0, 1, 2, 3].map((part) => hexWord(hash32('trace', number, part))).join('')
}

/** The venue accepts both spellings of a parameter (`sortBy` and `sort_by`). */
function snakeQuery(query: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams()
  for (const [key, value] of query) read.append(snake(key), value)
  const alias = read.get('condition_id')
  if (alias !== null && !read.has('condition')) read.set('condition', alias)
  return read
}

function limitOf(query: URLSearchParams, limits: { fallback: number; max: number }): number {
  const limit = bounded(query, 'limit', limits)
  if (limit === 0) throw new QueryError('invalid limit')
  return limit
}

// Cursors are signed, so that the server can refuse changed cursors. They are JSON in base64url.

interface Held {
  readonly l: number
  readonly d: number
  readonly at: Position
}

function cursorText(
  type: string,
  { l, d }: { readonly l: number; readonly d: number },
  at: Position,
): string {
  const data = { type, params: { l, ...at, d } }
  return Buffer.from(JSON.stringify({ data, sig: signatureOf(data) })).toString('base64url')
}

function cursorIn(query: URLSearchParams, type: string): Held | null {
  const text = query.get('cursor') ?? ''
  if (text === '') return null
  const held = parsed(Buffer.from(text, 'base64url').toString())
  const data = held?.get('data')
  const fields = entriesOf(data)
  if (fields === null || held?.get('sig') !== signatureOf(data) || fields.get('type') !== type) {
    throw new QueryError('invalid cursor')
  }
  const at: Record<string, string | number> = {}
  for (const [key, value] of entriesOf(fields.get('params')) ?? []) {
    if (typeof value === 'string' || typeof value === 'number') at[key] = value
  }
  const { l, d, ...position } = at
  return { l: Number(l), d: Number(d), at: position }
}

/**
 * The cursor contains this parameter. Later pages may repeat the first page's value but not change it. Throws
 * QueryError.
 */
export function pinnedParam<const Value extends string>(
  { query, at }: PageQuery,
  key: string,
  values: readonly Value[],
  fallback: Value,
): Value {
  const given = enumParam(query, key, values, null)
  const held = values.find((each) => each === at?.[key])
  if (held === undefined) return given ?? fallback
  if (given !== null && given !== held)
    throw new QueryError(`invalid ${key}: the cursor is of ${held}`)
  return held
}

function signatureOf(data: unknown): string {
  const text = JSON.stringify(data)
  return [0, 1, 2, 3].map((part) => hexWord(hash32('cursor', part, text))).join('')
}

function parsed(text: string): ReadonlyMap<string, unknown> | null {
  try {
    return entriesOf(JSON.parse(text))
  } catch {
    return null
  }
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return new Map<string, unknown>(Object.entries(value))
}

/** Converts field names of the stream to those of API v2: snake_case, and `token_id` instead of `asset`. */
export function snakeRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [snake(key), value]))
}

function snake(key: string): string {
  if (key === 'asset') return 'token_id'
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The message is that of the venue. */
export class QueryError extends Error {}

export function csv(query: URLSearchParams, key: string): readonly string[] {
  const text = query.getAll(key).join(',')
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

function integer(query: URLSearchParams, key: string, fallback: number): number | null {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** An integer within 0..max. Throws QueryError otherwise. */
export function bounded(
  query: URLSearchParams,
  key: string,
  bounds: { readonly fallback: number; readonly max: number },
): number {
  const value = integer(query, key, bounds.fallback)
  if (value === null || value > bounds.max) throw new QueryError(`invalid ${key}`)
  return value
}

/** An integer above 0. Null when absent or 0. Throws QueryError otherwise. */
export function positive(query: URLSearchParams, key: string): number | null {
  const value = bounded(query, key, { fallback: 0, max: Number.MAX_SAFE_INTEGER })
  return value === 0 ? null : value
}

/** One of the values, in any letter case. Returns `fallback` when absent. Throws QueryError otherwise. */
export function enumParam<const Value extends string, Fallback extends Value | null>(
  query: URLSearchParams,
  key: string,
  values: readonly Value[],
  fallback: Fallback,
): Value | Fallback {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const upper = text.toUpperCase()
  const found = values.find((each) => each === upper)
  if (found === undefined) throw new QueryError(`invalid ${key}`)
  return found
}

/** Null when absent. Throws QueryError for a text other than `true` and `false`. */
export function flag(query: URLSearchParams, key: string): boolean | null {
  const found = enumParam(query, key, ['TRUE', 'FALSE'], null)
  return found === null ? null : found === 'TRUE'
}

/** The requested address in lower case. Throws QueryError if it is missing or invalid. */
export function user(query: URLSearchParams): string {
  const text = query.get('user') ?? ''
  if (text === '') throw new QueryError("required query param 'user' not provided")
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new QueryError('invalid user')
  return text.toLowerCase()
}
