// Signatures by Standard Webhooks 1.0.0 (symmetric, v1): secrets, and the three headers of an attempt.

import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** Length of secrets that the standard allows users to supply. */
const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64

interface SignatureHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** Returns a new secret: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * Whether a text is a secret: `whsec_` and the base64 of 24..64 bytes. Only canonical base64 (padded, standard
 * alphabet), because receivers' libraries disagree about other forms.
 */
export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false
  const encoded = text.slice(PREFIX.length)
  const key = Buffer.from(encoded, 'base64')
  const isLongEnough = key.length >= SECRET_BYTES_MIN && key.length <= SECRET_BYTES_MAX
  return isLongEnough && key.toString('base64') === encoded
}

/**
 * The headers of an attempt, with one signature per secret. Receivers accept any matching signature, so that a secret
 * can be rotated. `timeSeconds`: Unix time of the attempt. `eventId` must not contain '.'. `secrets` must not be empty.
 */
export function signatureHeaders({
  secrets,
  eventId,
  timeSeconds,
  body,
}: {
  readonly secrets: readonly string[]
  readonly eventId: string
  readonly timeSeconds: number
  readonly body: Uint8Array
}): SignatureHeaders {
  const head = `${eventId}.${timeSeconds}.`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`
  })
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(timeSeconds),
    'webhook-signature': signatures.join(' '),
  }
}
