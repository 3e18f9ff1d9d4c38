// Venue a's Data API v2 (engine/venues/polymarket/README.md, Data API v2), what its paths share: queries in either
// spelling, `{"data", "pagination"}`, signed cursors that hold a position, errors with a code and a trace id, the
// caching that each answer allows. Under the fault `stale_cache` a first page is a copy from before.
// Not for: what a path answers (data-api.ts, wallet-v2.ts). Upholds SIMPM40 and SIMWALLET13.

import { hash32 } from '../../../random.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import { hexWord } from '../world/mix.ts'
import { bounded, QueryError } from './data-query.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000
/** The ages that a copy may have, from none to the greatest. */
const AGES = 1_024

/** What a cursor holds besides its page size: where the next page begins. */
export type Position = Readonly<Record<string, string | number>>

/** A question for a page. */
export interface AskedPage {
  /** In snake_case. */
  readonly query: URLSearchParams
  readonly limit: number
  /** Null: the first page. */
  readonly at: Position | null
  /** What is younger is not shown: a cached copy was made then. */
  readonly asOfMs: TimeMs
}

export interface Page {
  readonly rows: readonly unknown[]
  /** Where the next page begins; null on the last. */
  readonly next: Position | null
}

/** How long an answer may be kept by caches on the way, in seconds; null: not at all. */
export interface Caching {
  readonly maxAgeS: number | null
}

/** An error that is no unreadable parameter. */
export class DataError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface DataV2Parts {
  readonly faults: Faults
  readonly nowMs: () => TimeMs
}

/** Adds paths of v2 to a listener. */
export class DataV2 {
  readonly #server: RestServer
  readonly #parts: DataV2Parts
  #requestCount = 0

  constructor(server: RestServer, parts: DataV2Parts) {
    this.#server = server
    this.#parts = parts
  }

  /** A list in pages. Its cursors carry `type` and are refused by other paths. */
  pages(type: string, path: string, read: (asked: AskedPage) => Page, caching: Caching): void {
    this.#answer(path, caching, (query) => {
      if (query.has('offset')) throw new QueryError('invalid offset')
      const held = cursorIn(query, type)
      const limit = held?.l ?? limitOf(query)
      const asOfMs = this.#asOf(held === null ? caching : { maxAgeS: null })
      const { rows, next } = read({ query, limit, at: held?.at ?? null, asOfMs })
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

  /** One value, or rows without pages. */
  value(
    path: string,
    read: (query: URLSearchParams, asOfMs: TimeMs) => unknown,
    caching: Caching,
  ): void {
    this.#answer(path, caching, (query) => ({ data: read(query, this.#asOf(caching)) }))
  }

  #answer(path: string, { maxAgeS }: Caching, body: (query: URLSearchParams) => unknown): void {
    this.#server.get(path, (request) => {
      this.#requestCount += 1
      const traceId = traceIdOf(this.#requestCount)
      try {
        const cached = maxAgeS === null ? {} : { 'cache-control': `public, max-age=${maxAgeS}` }
        return { ...json(body(snakeQuery(request.query))), headers: headers(traceId, cached) }
      } catch (error) {
        return refusal(error, traceId)
      }
    })
  }

  /** The present, or under `stale_cache` the moment at which an edge made its copy. */
  #asOf({ maxAgeS }: Caching): TimeMs {
    const { faults, nowMs } = this.#parts
    const now = nowMs()
    if (maxAgeS === null || !faults.strikes('stale_cache')) return now
    const age = (hash32('age', this.#requestCount) % AGES) / AGES
    return timeMs(now - Math.floor(age * maxAgeS * 1_000))
  }
}

function refusal(error: unknown, traceId: string): RestAnswer {
  if (error instanceof QueryError) {
    const parameter = /(?:invalid |param ')(\w+)/.exec(error.message)?.[1]
    const named = parameter === undefined ? {} : { parameter }
    const body = { error: error.message, code: 'invalid_request', retryable: false, ...named }
    return { ...json({ ...body, trace_id: traceId }, 400), headers: headers(traceId) }
  }
  if (!(error instanceof DataError)) throw error
  const { status, code, message } = error
  const body = { error: message, code, retryable: status >= 500, trace_id: traceId }
  return { ...json(body, status), headers: headers(traceId) }
}

/** The answer to a path of v2 that does not exist, or not with this method. */
export function unknownPath(status: 404 | 405, path: string): RestAnswer {
  const traceId = traceIdOf(hash32('path', path))
  const code = status === 404 ? 'not_found' : 'method_not_allowed'
  return refusal(new DataError(status, code, code.replaceAll('_', ' ')), traceId)
}

function headers(traceId: string, more: Readonly<Record<string, string>> = {}) {
  return { 'x-trace-id': traceId, ...more }
}

function traceIdOf(number: number): string {
  return [0, 1, 2, 3].map((part) => hexWord(hash32('trace', number, part))).join('')
}

/** Both spellings are understood: `sortBy` is read as `sort_by`. */
function snakeQuery(query: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams()
  for (const [key, value] of query) read.append(snake(key), value)
  const alias = read.get('condition_id')
  if (alias !== null && !read.has('condition')) read.set('condition', alias)
  return read
}

function limitOf(query: URLSearchParams): number {
  const limit = bounded(query, 'limit', { fallback: LIMIT_DEFAULT, max: LIMIT_MAX })
  if (limit === 0) throw new QueryError('invalid limit')
  return limit
}

// Cursors: opaque for clients, base64url of JSON, signed so that a made-up one is refused.

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

/** v1's keys as v2 spells them; what was an asset is a token id. */
export function snakeRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [snake(key), value]))
}

function snake(key: string): string {
  if (key === 'asset') return 'token_id'
  if (key === 'oppositeAsset') return 'opposite_token_id'
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
