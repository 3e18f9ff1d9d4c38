// Verifies the three signature headers of venue b. The signature is Ed25519, or RSA-PSS with SHA-256 and a salt of 32
// bytes, over timestamp + METHOD + path. The path includes /trade-api/v2 and excludes the query.

import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { json, type RestAnswer } from '../rest.ts'

/** anonymous: the request has none of the three headers. */
type KalshiCaller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'refused'; readonly reason: string }

export class KalshiKeys {
  readonly #keys = new Map<string, KeyObject>()

  /** Key id → public key PEM. Throws if a PEM is invalid. */
  constructor(keys: ReadonlyMap<string, string>) {
    for (const [keyId, pem] of keys) this.#keys.set(keyId, createPublicKey(pem))
  }

  caller(request: {
    readonly method: string
    readonly path: string
    readonly headers: IncomingHttpHeaders
  }): KalshiCaller {
    const keyId = single(request.headers['kalshi-access-key'])
    const timestamp = single(request.headers['kalshi-access-timestamp'])
    const signature = single(request.headers['kalshi-access-signature'])
    if (keyId === '' && timestamp === '' && signature === '') return { kind: 'anonymous' }
    if (keyId === '' || timestamp === '' || signature === '') return refused('MISSING_HEADERS')
    // A timestamp in seconds is a common mistake, to which the venue also answers 401.
    if (!/^\d{13}$/.test(timestamp)) return refused('INVALID_TIMESTAMP')
    const key = this.#keys.get(keyId)
    if (key === undefined) return refused('NOT_FOUND')
    const text = Buffer.from(`${timestamp}${request.method}${request.path}`)
    return isSigned(text, { key, signature })
      ? { kind: 'key', keyId }
      : refused('INCORRECT_API_KEY_SIGNATURE')
  }
}

export function unauthorized(reason: string): RestAnswer {
  const error = { code: 'authentication_error', message: 'authentication_error', details: reason }
  return json({ error }, 401)
}

function refused(reason: string): KalshiCaller {
  return { kind: 'refused', reason }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}

function isSigned(text: Buffer, by: { key: KeyObject; signature: string }): boolean {
  const signature = Buffer.from(by.signature, 'base64')
  const options = {
    key: by.key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }
  try {
    if (by.key.asymmetricKeyType === 'ed25519') return verify(null, text, by.key, signature)
    return verify('sha256', text, options, signature)
  } catch {
    // The key has another type, or the signature is not base64.
    return false
  }
}
