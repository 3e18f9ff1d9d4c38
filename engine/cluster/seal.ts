// Authenticated encryption with the cluster's key: AES-256-GCM for messages, authentication codes for larger data. Both
// include the purpose (`context`), so bytes of one subject or record are invalid for another. Each process derives its
// own key from the cluster's key and a random salt. It numbers its messages, so that no nonce is used twice.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type Hmac,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const FORMAT = 1
const SALT_BYTES = 16
/** Bytes of a message's number, and of its stamp. */
const NUMBER_BYTES = 6
const NUMBER_AT = 1 + SALT_BYTES
const STAMP_AT = NUMBER_AT + NUMBER_BYTES
const HEADER_BYTES = STAMP_AT + NUMBER_BYTES
const TAG_BYTES = 16
const NONCE_BYTES = 12
/** Half of an HMAC-SHA-256 (RFC 4868). */
const CODE_BYTES = 16
const KEYS_MAX = 1_024

export interface Opened {
  readonly sender: string
  /** The sender's messages are numbered from 1. */
  readonly number: number
  /** An integer of the sender's choice: a time or a version. */
  readonly stamp: number
  readonly body: Buffer
}

export class ClusterSeal {
  readonly #secret: KeyObject
  readonly #codeKey: KeyObject
  readonly #salt = randomBytes(SALT_BYTES)
  readonly #key: KeyObject
  readonly #keys = new Map<string, KeyObject>()
  #count = 0

  /** `clusterKey`: at least 32 bytes, the same in all processes. */
  constructor(clusterKey: string) {
    this.#secret = createSecretKey(Buffer.from(clusterKey))
    this.#codeKey = this.#derive(new Uint8Array(), 'twinbook code')
    this.#key = this.#derive(this.#salt, 'twinbook message')
  }

  /** Returns the sealed bytes and their {@link nameOf name}. `stamp`: an integer from 0 to 2^48 - 1. */
  seal(context: string, stamp: number, body: Uint8Array): { bytes: Buffer; name: string } {
    this.#count += 1
    const header = Buffer.allocUnsafe(HEADER_BYTES)
    header[0] = FORMAT
    header.set(this.#salt, 1)
    header.writeUIntBE(this.#count, NUMBER_AT, NUMBER_BYTES)
    header.writeUIntBE(stamp, STAMP_AT, NUMBER_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(header))
    cipher.setAAD(boundTo(header, context))
    const text = cipher.update(body)
    cipher.final()
    const bytes = Buffer.concat([header, text, cipher.getAuthTag()])
    return { bytes, name: nameOf({ sender: this.#salt.toString('hex'), number: this.#count }) }
  }

  /** Null unless a holder of the key sealed these bytes for this context. */
  open(context: string, bytes: Uint8Array): Opened | null {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const end = all.length - TAG_BYTES
    if (end < HEADER_BYTES || all[0] !== FORMAT) return null
    const header = all.subarray(0, HEADER_BYTES)
    const salt = header.subarray(1, NUMBER_AT)
    const sender = salt.toString('hex')
    const key = this.#keys.get(sender) ?? this.#derive(salt, 'twinbook message')
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(header))
    decipher.setAAD(boundTo(header, context)).setAuthTag(all.subarray(end))
    const body = decipher.update(all.subarray(HEADER_BYTES, end))
    try {
      decipher.final()
    } catch {
      return null
    }
    this.#cacheKey(sender, key)
    const number = header.readUIntBE(NUMBER_AT, NUMBER_BYTES)
    return { sender, number, stamp: header.readUIntBE(STAMP_AT, NUMBER_BYTES), body }
  }

  /** The bytes, followed by their authentication code. */
  signed(context: string, bytes: Uint8Array): Buffer {
    return Buffer.concat([
      bytes,
      this.#codeOf(context).update(bytes).digest().subarray(0, CODE_BYTES),
    ])
  }

  /** The bytes before the code. Null unless a holder of the key created the code for these bytes and this context. */
  checked(context: string, signed: Uint8Array): Uint8Array | null {
    const end = signed.length - CODE_BYTES
    if (end < 0) return null
    const bytes = signed.subarray(0, end)
    const code = this.#codeOf(context).update(bytes).digest().subarray(0, CODE_BYTES)
    return timingSafeEqual(code, signed.subarray(end)) ? bytes : null
  }

  /** Like {@link signed}, for large bytes: awaits `yieldToEventLoop` after every part. */
  async signedInParts(context: string, bytes: Uint8Array, yieldToEventLoop: () => Promise<void>) {
    return Buffer.concat([bytes, await this.#codeInParts(context, bytes, yieldToEventLoop)])
  }

  /** Like {@link checked}, for large bytes: awaits `yieldToEventLoop` after every part. */
  async checkedInParts(context: string, signed: Uint8Array, yieldToEventLoop: () => Promise<void>) {
    const end = signed.length - CODE_BYTES
    if (end < 0) return null
    const bytes = signed.subarray(0, end)
    const code = await this.#codeInParts(context, bytes, yieldToEventLoop)
    return timingSafeEqual(code, signed.subarray(end)) ? bytes : null
  }

  async #codeInParts(context: string, bytes: Uint8Array, yieldToEventLoop: () => Promise<void>) {
    const code = this.#codeOf(context)
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      if (from > 0) await yieldToEventLoop()
      code.update(bytes.subarray(from, from + PART_BYTES))
    }
    return code.digest().subarray(0, CODE_BYTES)
  }

  #codeOf(context: string): Hmac {
    return createHmac('sha256', this.#codeKey).update(`${context}\0`)
  }

  #derive(salt: Uint8Array, use: string): KeyObject {
    return createSecretKey(Buffer.from(hkdfSync('sha256', this.#secret, salt, use, 32)))
  }

  /** Only senders that know the cluster's key reach the cache. */
  #cacheKey(sender: string, key: KeyObject): void {
    if (this.#keys.has(sender)) return
    if (this.#keys.size >= KEYS_MAX) {
      const [oldest] = this.#keys.keys()
      if (oldest !== undefined) this.#keys.delete(oldest)
    }
    this.#keys.set(sender, key)
  }
}

/** Hashing this many bytes takes 1 or 2 ms. */
const PART_BYTES = 512 * 1_024

/** Unique name of a sealed message: its sender and number. */
export const nameOf = ({ sender, number }: Pick<Opened, 'sender' | 'number'>): string =>
  `${sender}.${number}`

function nonceOf(header: Buffer): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  header.copy(nonce, NONCE_BYTES - NUMBER_BYTES, NUMBER_AT, STAMP_AT)
  return nonce
}

const boundTo = (header: Buffer, context: string): Buffer =>
  Buffer.concat([header, Buffer.from(context)])
