// Messages between gateways and the engine: forwarded HTTP requests, requests for missing batches, and revocations.
// Decoders reject any deviation, because bytes from the log are untrusted.

import {
  bytes,
  choice,
  type Field,
  flat,
  mapped,
  message,
  number,
  record,
  text,
  where,
} from '../codec.ts'

type Headers = Readonly<Record<string, string>>

export interface GatewayRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
  /** Header names are in lower case. */
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface GatewayResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** A revoked key, login token or account, or all tokens of an account. */
export interface Revocation {
  readonly of: 'key' | 'token' | 'tokens' | 'account'
  readonly id: string
}

const header: Field<readonly [name: string, value: string]> = {
  put: (to, pair) => to.push(...pair),
  take: (from) => [text.take(from), text.take(from)],
}
const headers = mapped<readonly (readonly [string, string])[], Headers>(
  flat(header),
  Object.entries,
  Object.fromEntries,
)

export const gatewayRequestMessage = message<GatewayRequest>(
  record<GatewayRequest>({
    method: text,
    path: where(text, (path) => path.startsWith('/')),
    headers,
    body: bytes,
  }),
)

const isStatus = (status: number) => Number.isInteger(status) && status >= 100 && status <= 599

export const gatewayResponseMessage = message<GatewayResponse>(
  record<GatewayResponse>({ status: where(number, isStatus), headers, body: bytes }),
)

export const revocationMessage = message<Revocation>(
  record<Revocation>({ of: choice(['key', 'token', 'tokens', 'account']), id: text }),
)

/** Returns a batch by its id. Throws if the batch is not retained. */
export function answerBatches(batchOf: (id: string) => Uint8Array | null) {
  return async (body: Uint8Array): Promise<Uint8Array> => {
    const batch = batchOf(Buffer.from(body).toString())
    if (batch === null) throw new Error('the batch is no longer cached')
    return batch
  }
}
