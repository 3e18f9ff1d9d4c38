// Signs timestamp + METHOD + path (/trade-api/…, without query) with Ed25519, or RSA-PSS with SHA-256 and a salt of 32
// bytes.

import { constants, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../clock.ts'

const SALT_BYTES = 32

export class KalshiSigner {
  readonly #keyId: string
  readonly #key: KeyObject
  readonly #clock: Clock

  /** Throws an Error if `privateKeyPem` is not an RSA or Ed25519 private key. */
  constructor(options: { keyId: string; privateKeyPem: string; clock: Clock }) {
    this.#keyId = options.keyId
    this.#clock = options.clock
    try {
      this.#key = createPrivateKey(options.privateKeyPem)
    } catch {
      // The parser's own message may quote the file, and a key must not appear in a log.
      throw new Error(
        'the Kalshi private key cannot be read: a PEM file of an RSA or Ed25519 key is needed',
      )
    }
    const { asymmetricKeyType: kind } = this.#key
    if (kind !== 'rsa' && kind !== 'ed25519') {
      throw new Error(`the Kalshi private key is of kind ${kind}: RSA or Ed25519 is needed`)
    }
  }

  /** Headers for one request. The signature is valid for a few seconds. */
  headers(method: string, path: string): Record<string, string> {
    const timestamp = String(this.#clock.nowMs())
    const signature = this.#sign(Buffer.from(timestamp + method + path))
    return {
      'KALSHI-ACCESS-KEY': this.#keyId,
      'KALSHI-ACCESS-TIMESTAMP': timestamp,
      'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
    }
  }

  #sign(text: Buffer): Buffer {
    // Ed25519 includes its hash. Node rejects an explicit hash.
    if (this.#key.asymmetricKeyType === 'ed25519') return sign(null, text, this.#key)
    const padding = constants.RSA_PKCS1_PSS_PADDING
    return sign('sha256', text, { key: this.#key, padding, saltLength: SALT_BYTES })
  }
}
