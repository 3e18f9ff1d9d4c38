// Encoding of messages between gateways and the engine: HTTP requests that a mirror cannot answer, missing
// batches, and revocations. Bytes from the log are untrusted.

import { Packr } from 'msgpackr'
import { isRecord } from '../json-record.ts'

/** A client's request, without its connection. */
export interface GatewayRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface GatewayResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** What has ended, and must end on every process: a key, a login token, all tokens of an account, an account. */
export type Revocation = {
  readonly of: 'key' | 'token' | 'tokens' | 'account'
  readonly id: string
}
const REVOCATION_TARGETS = ['key', 'token', 'tokens', 'account'] as const

const packr = new Packr({ useRecords: false, variableMapSize: true })

export const encodeGatewayRequest = (request: GatewayRequest): Uint8Array =>
  packr.pack({ ...request })
export const encodeGatewayResponse = (answer: GatewayResponse): Uint8Array =>
  packr.pack({ ...answer })
export const encodeRevocation = (revocation: Revocation): Uint8Array =>
  packr.pack({ ...revocation })

/** Null unless the bytes are a request. */
export function decodeGatewayRequest(bytes: Uint8Array): GatewayRequest | null {
  const value = unpack(bytes)
  if (!isRecord(value)) return null
  const { method, path, body } = value
  const headers = readHeaders(value.headers)
  if (typeof method !== 'string' || typeof path !== 'string' || !path.startsWith('/')) return null
  return headers === null || !(body instanceof Uint8Array) ? null : { method, path, headers, body }
}

/** Null unless the bytes are a response. */
export function decodeGatewayResponse(bytes: Uint8Array): GatewayResponse | null {
  const value = unpack(bytes)
  if (!isRecord(value)) return null
  const { status, body } = value
  const headers = readHeaders(value.headers)
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599)
    return null
  return headers === null || !(body instanceof Uint8Array) ? null : { status, headers, body }
}

/** Null unless the bytes are a revocation. */
export function decodeRevocation(bytes: Uint8Array): Revocation | null {
  const value = unpack(bytes)
  if (!isRecord(value) || typeof value.id !== 'string') return null
  const of = REVOCATION_TARGETS.find((one) => one === value.of)
  return of === undefined ? null : { of, id: value.id }
}

/** Answers with a batch by its id. Throws for one that is not retained. */
export function answerBatches(batchOf: (id: string) => Uint8Array | null) {
  return async (body: Uint8Array): Promise<Uint8Array> => {
    const bytes = batchOf(Buffer.from(body).toString())
    if (bytes === null) throw new Error('that batch is not kept')
    return bytes
  }
}

function unpack(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes)
  } catch {
    return null
  }
}

function readHeaders(value: unknown): Readonly<Record<string, string>> | null {
  if (!isRecord(value)) return null
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return null
    headers[name] = text
  }
  return headers
}
