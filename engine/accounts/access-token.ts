// Log-in tokens: JWT with HS256. The signature is verified synchronously, because uWebSockets.js may close a WebSocket
// that is upgraded after an await (uWebSockets pull request 1929).

import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose'
import type { Clock } from '../clock.ts'
import { type TimeMs, timeMs, toSeconds } from '../units.ts'

export const TOKEN_SECONDS = 86_400
export const TOKEN_ISSUER = 'twinbook'
export const TOKEN_AUDIENCE = 'twinbook-api'
const ALGORITHM = 'HS256'
const TYPE = 'at+jwt'
/** A longer text cannot be a valid token and is rejected without hashing. */
const TOKEN_CHARACTERS_MAX = 2_048
const ID_CHARACTERS_MAX = 128

interface TokenClaims {
  readonly subject: string
  readonly tokenId: string
  /** Generation of the account's tokens at the time of issue. 0 if the token states none. */
  readonly generation: number
  readonly expiresAtMs: TimeMs
}

/** Signs tokens with the current secret. Verifies them with the current and the previous secret. */
export class AccessTokens {
  readonly #secret: Uint8Array
  readonly #secrets: readonly Uint8Array[]
  readonly #clock: Clock

  /**
   * `previous`: a replaced secret. Its tokens stay valid until they expire. Throws RangeError for a secret of less than
   * 32 bytes.
   */
  constructor(parts: { secret: string; previous?: string | null; clock: Clock }) {
    const { secret, previous = null } = parts
    this.#secret = secretBytes(secret)
    this.#secrets = previous === null ? [this.#secret] : [this.#secret, secretBytes(previous)]
    this.#clock = parts.clock
  }

  issue(subject: string, generation = 0): Promise<string> {
    const issuedAt = toSeconds(this.#clock.nowMs())
    return new SignJWT({ gen: generation })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(TOKEN_ISSUER)
      .setAudience(TOKEN_AUDIENCE)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + TOKEN_SECONDS)
      .sign(this.#secret)
  }

  /** Null if the token is invalid or expired. */
  claimsOf(token: string): TokenClaims | null {
    if (token.length > TOKEN_CHARACTERS_MAX || !this.#isSigned(token)) return null
    try {
      const header = decodeProtectedHeader(token)
      // The verification does not use the header's algorithm (RFC 8725, section 3.1). Further fields are rejected.
      if (header.alg !== ALGORITHM || header.typ !== TYPE) return null
      if (Object.keys(header).length !== 2) return null
      return this.#claimsIn(decodeJwt(token))
    } catch {
      return null
    }
  }

  #isSigned(token: string): boolean {
    const end = token.lastIndexOf('.')
    if (end < 0) return false
    const [signed, given] = [token.slice(0, end), Buffer.from(token.slice(end + 1))]
    return this.#secrets.some((secret) => {
      const right = Buffer.from(createHmac('sha256', secret).update(signed).digest('base64url'))
      return given.length === right.length && timingSafeEqual(given, right)
    })
  }

  #claimsIn({ iss, aud, sub, jti, iat, exp, nbf, gen = 0 }: JWTPayload): TokenClaims | null {
    const nowSeconds = toSeconds(this.#clock.nowMs())
    if (iss !== TOKEN_ISSUER || aud !== TOKEN_AUDIENCE || typeof sub !== 'string') return null
    if (typeof jti !== 'string' || jti.length < 1 || jti.length > ID_CHARACTERS_MAX) return null
    if (!isSafeInteger(gen)) return null
    if (!isSafeInteger(iat) || iat > nowSeconds || nowSeconds - iat > TOKEN_SECONDS) return null
    if (!isSafeInteger(exp) || exp <= nowSeconds) return null
    if (nbf !== undefined && !(isSafeInteger(nbf) && nbf <= nowSeconds)) return null
    const endSeconds = Math.min(exp, iat + TOKEN_SECONDS + 1)
    return { subject: sub, tokenId: jti, generation: gen, expiresAtMs: timeMs(endSeconds * 1_000) }
  }
}

function secretBytes(secret: string): Uint8Array {
  const bytes = new TextEncoder().encode(secret)
  if (bytes.length < 32) throw new RangeError('the token secret needs at least 32 bytes')
  return bytes
}

function isSafeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}
