// Describes the outcome of a call to the webhook's owner. Error messages of Node are never shown, because they contain
// addresses.

import type { IncomingHttpHeaders } from 'node:http'
import type { TimeMs } from '../units.ts'
import { RefusedError } from './guarded-lookup.ts'
import type { PostOutcome } from './post.ts'
import { RETRY_AFTER_MAX_MS } from './retry-schedule.ts'
import type { ReceiverAnswer } from './webhook.ts'

export type CallPhase = 'connecting' | 'securing' | 'sent'
type Failure = Extract<PostOutcome, { readonly kind: 'failed' }>

const DETAIL_CHARACTERS_MAX = 200
/** IMF-fixdate, the only date format that RFC 9110 section 5.6.7 allows senders to use. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/
/** Headers that help to debug a receiver and contain no secrets. */
const RECORDED_HEADERS = [
  ...['content-type', 'content-length', 'content-encoding', 'date', 'retry-after', 'server'],
  ...['x-ratelimit-remaining', 'x-ratelimit-reset-after', 'x-request-id'],
]
const HEADER_CHARACTERS_MAX = 200
const RECORDED_BYTES_MAX = 2_048

export class AnswerHead {
  readonly #headers: ReceiverAnswer['headers']
  readonly #chunks: Uint8Array[] = []
  #byteCount = 0

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = RECORDED_HEADERS.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value.slice(0, HEADER_CHARACTERS_MAX)]] : []
    })
  }

  add(chunk: Uint8Array): void {
    const remaining = RECORDED_BYTES_MAX - this.#byteCount
    if (remaining > 0) this.#chunks.push(chunk.subarray(0, remaining))
    this.#byteCount += chunk.length
  }

  get(): ReceiverAnswer {
    const isCut = this.#byteCount > RECORDED_BYTES_MAX
    return { headers: this.#headers, body: Buffer.concat(this.#chunks), isCut }
  }
}

export function failure(reason: Failure['reason'], detail: string): Failure {
  return { kind: 'failed', reason, detail: detail.slice(0, DETAIL_CHARACTERS_MAX) }
}

export function failureOf(error: Error, phase: CallPhase): Failure {
  if (error instanceof RefusedError) return failure('refused', error.message)
  const code = codeOf(error)
  const suffix = code === null ? '' : ` (${code})`
  if (phase === 'securing' || (code !== null && /^ERR_(SSL|TLS)_/.test(code))) {
    return failure('tls', `no secure connection${suffix}`)
  }
  if (phase === 'connecting') return failure('network', `no connection${suffix}`)
  const description = code?.startsWith('HPE_') ? 'the answer is not proper HTTP' : 'no whole answer'
  return failure('network', `${description}${suffix}`)
}

export function isCutOff(error: Error): boolean {
  const code = codeOf(error)
  return code === 'ECONNRESET' || code === 'EPIPE'
}

function codeOf(error: Error): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return CODE.test(code) ? code : null
}

/** The class of the status, or the failure reason. */
export function outcomeLabel(outcome: PostOutcome): OutcomeLabel {
  if (outcome.kind === 'failed') return outcome.reason
  const { status } = outcome
  if (status >= 200 && status < 300) return '2xx'
  if (status >= 300 && status < 400) return '3xx'
  if (status >= 400 && status < 500) return '4xx'
  return status >= 500 && status < 600 ? '5xx' : 'other'
}

export type OutcomeLabel = Failure['reason'] | '2xx' | '3xx' | '4xx' | '5xx' | 'other'
export const OUTCOME_LABELS: readonly OutcomeLabel[] = [
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  'other',
  'refused',
  'timeout',
  'network',
  'tls',
  'aborted',
]

/** Parses `Retry-After` (seconds or a date) to ms from now, 0..86,400,000. Null: absent or invalid. */
export function readRetryAfter(header: string | undefined, nowMs: TimeMs): number | null {
  if (header === undefined) return null
  const text = header.trim()
  const requestedMs = /^\d{1,15}$/.test(text)
    ? Number(text) * 1_000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN
  return Number.isNaN(requestedMs) ? null : Math.min(Math.max(requestedMs, 0), RETRY_AFTER_MAX_MS)
}
