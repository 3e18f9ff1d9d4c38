// Requests to the REST interface: one function, beside whose header the browser's session counts, and one error, which
// says in words what went wrong.

import { serverBase } from './browser.ts'

/** A request that the server refused, or did not answer (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  /** By the name of the field, for forms: what would have been accepted. */
  readonly fields: ReadonlyMap<string, string>
  /** Seconds after which to ask again; null: the server does not say. */
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

/** What a response says of the account's quota, and of what it answers. */
export interface AnswerFacts {
  readonly limit: number | null
  readonly remaining: number | null
  /** False when a wallet's answer is what is known so far. */
  readonly isComplete: boolean
  /** Why it is not. */
  readonly incomplete: string | null
}

type QueryValue = string | number | boolean | readonly string[] | null | undefined

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Values that are null or undefined are left out; a list is repeated. */
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: object
  readonly signal?: AbortSignal
  /** The request has a password in it: a 401 need not mean that the session is over. */
  readonly hasPassword?: boolean
}

let onRefused: () => void = () => undefined
let onFacts: (facts: AnswerFacts) => void = () => undefined

/** From now on `refused` is called when the server no longer takes the session. */
export function watchRefusals(refused: () => void): void {
  onRefused = refused
}

/** Hears what each answer says of the quota. */
export function watchFacts(listener: (facts: AnswerFacts) => void): void {
  onFacts = listener
}

/**
 * Asks the server; the answer is null for one without a body. Rejects with ApiError, or with an `AbortError` when
 * `signal` aborts.
 */
export async function request<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  return (await requestWithFacts<Answer>(path, options)).answer
}

/** The same with what the headers say. */
export async function requestWithFacts<Answer>(
  path: string,
  options: RequestOptions = {},
): Promise<{ readonly answer: Answer; readonly facts: AnswerFacts }> {
  const response = await accepted(path, options)
  const answer: Answer = response.status === 204 ? null : await response.json()
  return { answer, facts: factsOf(response.headers) }
}

/** The same of an answer that is no JSON. */
export async function requestText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await accepted(path, options)).text()
}

/** The response to a request that the server did not refuse. */
async function accepted(path: string, options: RequestOptions): Promise<Response> {
  // No page of another origin can send it, and the session's cookie counts beside it alone.
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
    // What is said first of a field is enough to mend it.
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

/** The field that a problem's place lies in: its last name, of which an entry of a list is only a number. */
export function fieldOf(path: readonly unknown[]): string {
  const [where, ...names] = path
  return String(names.findLast((part) => typeof part === 'string') ?? where)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
