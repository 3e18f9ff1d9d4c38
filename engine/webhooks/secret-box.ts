// Encrypts stored secrets with AES-256-GCM (NIST SP 800-38D). Each ciphertext is bound to its webhook, so it cannot be
// decrypted for another webhook.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { SealedSecret } from './webhook.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export class SecretBox {
  readonly #key: Buffer

  /** `key`: 64 hexadecimal digits are the key itself. Any other text is hashed with SHA-256. */
  constructor(key: string) {
    this.#key = /^[0-9a-f]{64}$/i.test(key)
      ? Buffer.from(key, 'hex')
      : createHash('sha256').update(key).digest()
  }

  /** Returns nonce, tag and ciphertext in base64. The result differs at each call. */
  seal(secret: string, webhookId: string): SealedSecret {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(webhookId))
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }

  /** Throws Error if the data is damaged, or belongs to another key or webhook. */
  open(sealed: SealedSecret, webhookId: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed secret is truncated')
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(webhookId))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    try {
      return Buffer.concat([opened, decipher.final()]).toString('utf8')
    } catch (cause) {
      throw new Error('a sealed secret cannot be decrypted: damaged, or of another key', { cause })
    }
  }

  opens(sealed: SealedSecret, webhookId: string): boolean {
    try {
      this.open(sealed, webhookId)
      return true
    } catch {
      return false
    }
  }
}
