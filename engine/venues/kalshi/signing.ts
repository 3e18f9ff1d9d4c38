// Kalshi's request signature: RSA-PSS, SHA-256, salt of 32 bytes, over timestamp + METHOD + path.
// The path includes /trade-api/…, without host and query. Upholds KSIGN1, KSIGN2.

import { constants, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../clock.ts'

const SALT_BYTES = 32

/** Makes the three headers that a key holder sends; the key stays inside. */
export class KalshiSigner {
  readonly #keyId: string
  readonly #key: KeyObject
  readonly #clock: Clock

  /** Throws an Error when `privateKeyPem` is no RSA private key: that is a wrong configuration. */
  constructor(options: { keyId: string; privateKeyPem: string; clock: Clock }) {
    this.#keyId = options.keyId
    this.#clock = options.clock
    try {
      this.#key = createPrivateKey(options.privateKeyPem)
    } catch {
      // The parser's own message may quote the file; a key must reach no log.
      throw new Error('the Kalshi private key cannot be read: a PEM file of an RSA key is needed')
    }
    if (this.#key.asymmetricKeyType !== 'rsa') {
      throw new Error('the Kalshi private key is not an RSA key')
    }
  }

  /** Headers for one request now; a signature is good for a few seconds. */
  headers(method: string, path: string): Record<string, string> {
    const timestamp = String(this.#clock.nowMs())
    const signature = sign('sha256', Buffer.from(timestamp + method + path), {
      key: this.#key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: SALT_BYTES,
    })
    return {
      'KALSHI-ACCESS-KEY': this.#keyId,
      'KALSHI-ACCESS-TIMESTAMP': timestamp,
      'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
    }
  }
}
