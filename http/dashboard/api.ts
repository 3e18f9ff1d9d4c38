// Requests to the REST API with the browser session.

import { serverBase } from './browser.ts'

/** A failed request. `status` is the HTTP status, or 0 without a response. */
export class ApiError extends Error {
  readonly status: number
  /** Validation messages by field name. A field has at most one message. */
  readonly fields: ReadonlyMap<string, string>
  /** Seconds to wait before a retry; null if the server does not state it. */
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    detail: string,
    fields: ReadonlyMap<string, string> = new Map(),
    retryAfterSeconds: number | null = null,
  ) {
    super(detail)
    this.name = 'ApiError'
    this.status = status
    this.fields = fields
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Rate limit and completeness of the data, from the response headers. */
interface AnswerFacts {
  readonly limit: number | null
  readonly remaining: number | null
  /** False if the server has only part of the wallet's data. */
  readonly isComplete: boolean
  /** Why the data is incomplete; null if it is complete. */
  readonly incomplete: string | null
}

type QueryValue = string | number | boolean | readonly string[] | null | undefined

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Omits parameters that are null or undefined. Repeats the parameter for each entry of a list. */
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: object
  readonly signal?: AbortSignal | undefined
  /** True if the body contains a password. A 401 response then may mean a wrong password. */
  readonly hasPassword?: boolean
}

let onRefused: () => void = () => undefined
let onFacts: (facts: AnswerFacts) => void = () => undefined

export function watchRefusals(refused: () => void): void {
  onRefused = refused
}

export function watchFacts(listener: (facts: AnswerFacts) => void): void {
  onFacts = listener
}

/**
 * Sends a request. Returns null for a response without a body. Rejects with ApiError, or with `AbortError`
 * when `signal` aborts.
 */
export async function request<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  return (await requestWithFacts<Answer>(path, options)).answer
}

/** Also returns the facts of the response headers. */
export async function requestWithFacts<Answer>(
  path: string,
  options: RequestOptions = {},
): Promise<{ readonly answer: Answer; readonly facts: AnswerFacts }> {
  const response = await accepted(path, options)
  const answer: Answer = response.status === 204 ? null : await response.json()
  return { answer, facts: factsOf(response.headers) }
}

export async function requestText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await accepted(path, options)).text()
}

async function accepted(path: string, options: RequestOptions): Promise<Response> {
  // Pages of other origins cannot send this header. The server accepts the session cookie only with it.
  const headers = new Headers({ 'X-Dashboard': '1' })
  if (options.body !== undefined) headers.set('Content-Type', 'application/json')
  const response = await answered(address(path, options.query), {
    method: options.method ?? 'GET',
    headers,
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  onFacts(factsOf(response.headers))
  if (response.ok) return response
  if (response.status === 401 && options.hasPassword !== true) onRefused()
  throw await errorOf(response)
}

async function answered(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'The server does not answer. Is it running, and are you online?')
  }
}

function address(path: string, query: RequestOptions['query'] = {}): string {
  const url = new URL(path.replace(/^\//, ''), serverBase())
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue
    for (const one of typeof value === 'object' ? value : [value]) {
      url.searchParams.append(name, String(one))
    }
  }
  return url.href
}

function factsOf(headers: Headers): AnswerFacts {
  const number = (name: string) => {
    const text = headers.get(name)
    return text === null || !/^\d+$/.test(text) ? null : Number(text)
  }
  return {
    limit: number('X-RateLimit-Limit'),
    remaining: number('X-RateLimit-Remaining'),
    isComplete: headers.get('X-Data-Complete') !== 'false',
    incomplete: headers.get('X-Data-Incomplete'),
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const detail = isRecord(body) ? body.detail : null
  const wait = response.headers.get('Retry-After')
  const waitSeconds = wait !== null && /^\d+$/.test(wait) ? Number(wait) : null
  if (typeof detail === 'string')
    return new ApiError(response.status, detail, new Map(), waitSeconds)
  const fields = new Map<string, string>()
  for (const problem of Array.isArray(detail) ? detail : []) {
    if (!isRecord(problem) || !Array.isArray(problem.loc)) continue
    const name = fieldOf(problem.loc)
    if (!fields.has(name)) fields.set(name, String(problem.msg))
  }
  const summary = [...fields].map(([name, message]) => `${name}: ${message}`).join('; ')
  return new ApiError(
    response.status,
    summary === '' ? `error ${response.status}` : summary,
    fields,
    waitSeconds,
  )
}

/** Returns the last name in the path of a validation error and ignores list indexes. */
export function fieldOf(path: readonly unknown[]): string {
  const [where, ...names] = path
  return String(names.findLast((part) => typeof part === 'string') ?? where)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
