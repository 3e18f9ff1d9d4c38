// Error codes of the API with HTTP status and meaning. A code is never reused for another meaning.

const CATALOGUE = {
  BAD_REQUEST: { status: 400, retry: false, means: 'each part is valid but not together' },
  UNAUTHORIZED: { status: 401, retry: false, means: 'missing or invalid credential' },
  FORBIDDEN: { status: 403, retry: false, means: 'the key lacks a scope, or sign-up is closed' },
  MARKET_NOT_FOUND: { status: 404, retry: false, means: 'no such market' },
  NOT_FOUND: { status: 404, retry: false, means: 'no such path or record' },
  METHOD_NOT_ALLOWED: { status: 405, retry: false, means: 'the path exists, the method does not' },
  NOT_FINAL: { status: 409, retry: true, means: 'the hour of the tape is still being written' },
  BODY_TOO_LARGE: { status: 413, retry: false, means: 'request body above its limit' },
  INVALID: { status: 422, retry: false, means: 'a parameter or field fails validation' },
  UPGRADE_REQUIRED: {
    status: 426,
    retry: false,
    means: 'the path speaks WebSocket, the request no handshake',
  },
  RATE_LIMITED: { status: 429, retry: true, means: 'a quota is used up' },
  INTERNAL: { status: 500, retry: true, means: 'our bug' },
  TIMED_OUT: { status: 503, retry: true, means: 'an answer was not ready within its deadline' },
  UNAVAILABLE: { status: 503, retry: true, means: 'draining, starting, or a queue is full' },
} as const satisfies Record<string, { status: number; retry: boolean; means: string }>

const TIMED_OUT_RETRY_SECONDS = 5

export type ErrorCode = keyof typeof CATALOGUE
export const errorCatalogue: Readonly<
  Record<ErrorCode, { readonly status: number; readonly retry: boolean; readonly means: string }>
> = CATALOGUE

/** The only error class that crosses packages or threads. `detail` is a text for users. */
export class EngineError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  /** Integer seconds after which a retry may succeed. Null if the code does not define it. */
  readonly retryAfterSeconds: number | null

  constructor(
    code: ErrorCode,
    detail: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(`${code}: ${detail}`, options)
    this.name = 'EngineError'
    this.code = code
    this.detail = detail
    const waitSeconds = code === 'TIMED_OUT' ? TIMED_OUT_RETRY_SECONDS : null
    this.retryAfterSeconds = options.retryAfterSeconds ?? waitSeconds
  }

  get status(): number {
    return CATALOGUE[this.code].status
  }
}

export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${invariant}`)
}
