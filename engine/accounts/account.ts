import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type Tier = 'free' | 'pro' | 'enterprise'

export const TIERS: Readonly<Record<Tier, { requestsPerMinute: number; socketsMax: number }>> = {
  free: { requestsPerMinute: 60, socketsMax: 2 },
  pro: { requestsPerMinute: 600, socketsMax: 20 },
  enterprise: { requestsPerMinute: 2_147_483_647, socketsMax: 100_000 },
}

export const TIER_NAMES: readonly Tier[] = ['free', 'pro', 'enterprise']

export function limitsOf(account: {
  readonly tier: Tier
  readonly requestsPerMinute: number | null
  readonly socketsMax: number | null
}): { requestsPerMinute: number; socketsMax: number } {
  const plan = TIERS[account.tier]
  return {
    requestsPerMinute: account.requestsPerMinute ?? plan.requestsPerMinute,
    socketsMax: account.socketsMax ?? plan.socketsMax,
  }
}

/** `read` allows reading data. `webhooks` allows creating and changing webhooks. Every key has `read`. */
export const KEY_SCOPES = ['read', 'webhooks'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Returns the scopes in order and without duplicates, always with `read`. */
export function scopesOf(requested: readonly KeyScope[]): readonly KeyScope[] {
  return KEY_SCOPES.filter((scope) => scope === 'read' || requested.includes(scope))
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_PREFIX = 'pmk_'
const KEY_RANDOM = 32
const KEY_CHECK = 6
const KEY_PATTERN = /^pmk_[0-9A-Za-z]{38}$/

function base62(value: number, length: number): string {
  let rest = value
  let text = ''
  while (text.length < length) {
    text = (BASE62[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** An API key: `pmk_`, 32 random base-62 characters (190 bits), 6 characters of their CRC-32. */
export function makeKey(): string {
  let random = ''
  for (let count = 0; count < KEY_RANDOM; count += 1) random += BASE62[randomInt(62)] ?? ''
  return `${KEY_PREFIX}${random}${base62(crc32(random), KEY_CHECK)}`
}

export function isKeyLike(text: string): boolean {
  return text.startsWith(KEY_PREFIX)
}

/** Whether a text has the form of a key and a valid checksum. Mistyped keys then need no lookup. */
export function isKeyShaped(text: string): boolean {
  if (!KEY_PATTERN.test(text)) return false
  const random = text.slice(KEY_PREFIX.length, -KEY_CHECK)
  return text.endsWith(base62(crc32(random), KEY_CHECK))
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export function keyPrefix(key: string): string {
  return key.slice(0, KEY_PREFIX.length + 6)
}

export const WINDOW_MS = 60_000

/**
 * A quota window of fixed length (default 60 s) for requests or bytes. It begins with the first accepted request.
 * Rejected requests do not count.
 */
export class QuotaWindow {
  readonly #lengthMs: number
  #startedAtMs = Number.NEGATIVE_INFINITY
  #used = 0

  constructor(lengthMs = WINDOW_MS) {
    this.#lengthMs = lengthMs
  }

  /** Accepts `amount` if any quota is left, even if `amount` exceeds the remaining quota. */
  take(nowMs: number, limit: number, amount = 1): boolean {
    this.#roll(nowMs)
    if (this.#used >= limit) return false
    if (this.#used === 0) this.#startedAtMs = nowMs
    this.#used += amount
    return true
  }

  peek(nowMs: number, limit: number): { remaining: number; endsAtMs: number } {
    this.#roll(nowMs)
    const startedAtMs = this.#used === 0 ? nowMs : this.#startedAtMs
    return { remaining: Math.max(0, limit - this.#used), endsAtMs: startedAtMs + this.#lengthMs }
  }

  isOver(nowMs: number): boolean {
    return nowMs - this.#startedAtMs >= this.#lengthMs
  }

  #roll(nowMs: number): void {
    if (this.isOver(nowMs)) this.#used = 0
  }
}
