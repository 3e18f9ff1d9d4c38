// Rules for accounts: limits of tiers, the format of API keys, and the quota window.

import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type Tier = 'free' | 'pro' | 'enterprise'

/** Requests per minute and concurrent sockets of each tier. */
export const TIERS: Readonly<Record<Tier, { requestsPerMinute: number; socketsMax: number }>> = {
  free: { requestsPerMinute: 60, socketsMax: 2 },
  pro: { requestsPerMinute: 600, socketsMax: 20 },
  enterprise: { requestsPerMinute: 2_147_483_647, socketsMax: 100_000 },
}

export const TIER_NAMES: readonly Tier[] = ['free', 'pro', 'enterprise']

/** The limits of an account: those that the operator set, else those of its tier. */
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

/** Scopes of a key: `read` reads data, `webhooks` creates and changes webhooks. Every key has `read`. */
export const KEY_SCOPES = ['read', 'webhooks'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The requested scopes in order and without duplicates, always with `read`. */
export function scopesOf(requested: readonly KeyScope[]): readonly KeyScope[] {
  return KEY_SCOPES.filter((scope) => scope === 'read' || requested.includes(scope))
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_PREFIX = 'pmk_'
const KEY_RANDOM = 32
const KEY_CHECK = 6
const KEY_PATTERN = /^pmk_[0-9A-Za-z]{38}$/

/** Base 62, most significant digit first, padded to `length`. */
function base62(value: number, length: number): string {
  let rest = value
  let text = ''
  while (text.length < length) {
    text = (BASE62[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** A new API key: `pmk_`, 32 random base-62 characters (190 bits), 6 characters of their CRC-32. */
export function makeKey(): string {
  let random = ''
  for (let count = 0; count < KEY_RANDOM; count += 1) random += BASE62[randomInt(62)] ?? ''
  return `${KEY_PREFIX}${random}${base62(crc32(random), KEY_CHECK)}`
}

/** Whether a text begins like an API key. Tokens begin differently. */
export function isKeyLike(text: string): boolean {
  return text.startsWith(KEY_PREFIX)
}

/** Whether a text has the form of a key and a valid checksum, so that mistyped keys need no lookup. */
export function isKeyShaped(text: string): boolean {
  if (!KEY_PATTERN.test(text)) return false
  const random = text.slice(KEY_PREFIX.length, -KEY_CHECK)
  return text.endsWith(base62(crc32(random), KEY_CHECK))
}

/** The stored form of a key: its SHA-256, lower-case hex. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The part of a key that may be displayed. */
export function keyPrefix(key: string): string {
  return key.slice(0, KEY_PREFIX.length + 6)
}

export const WINDOW_MS = 60_000

/**
 * A window of fixed length (default 60 s) for requests or bytes. It begins with the first one. Rejected requests do not
 * count.
 */
export class QuotaWindow {
  readonly #lengthMs: number
  #startedAtMs = Number.NEGATIVE_INFINITY
  #used = 0

  constructor(lengthMs = WINDOW_MS) {
    this.#lengthMs = lengthMs
  }

  /** Takes `amount` if anything is left of the limit. The last amount may exceed the limit. */
  take(nowMs: number, limit: number, amount = 1): boolean {
    this.#roll(nowMs)
    if (this.#used >= limit) return false
    if (this.#used === 0) this.#startedAtMs = nowMs
    this.#used += amount
    return true
  }

  /** The remaining quota at `nowMs`, and the end of the window. If no window runs, it would end after its full length. */
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
