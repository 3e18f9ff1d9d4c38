// Kalshi's budget of read tokens (README.md, Limits).

import type { Clock } from '../../clock.ts'
import type { JsonReader, RequestLimiter } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import type { DriftNotes } from '../drift/drift.ts'
import { TokenBucket, type TokenRate } from '../rate-limit.ts'

const COST_DEFAULT = 10
/** The share of an account's tokens that the service uses. The key's owner may use the remaining tokens. */
const ACCOUNT_SHARE = 2 / 3
const BURST_SHARE = 1 / 2
/** The Basic tier, which is assumed until the account's limits are known. */
const BASIC: TokenRate = { tokensPerSecond: 240, burst: 480 }
/** The venue documents no limit without a key. It refused no request at this rate. */
const KEYLESS: TokenRate = { tokensPerSecond: 80, burst: 240 }
/** The share of the tokens for books. Catalogue, trades and figures use the remaining tokens. */
const BOOK_SHARE = { keyed: 1 / 2, keyless: 5 / 8 }
/**
 * Without a key, this share of the book reads is for recently traded markets. The remaining reads go through all
 * covered books in rotation.
 */
export const HOT_SHARE = 0.4

export const BOOKS_PATH = '/markets/orderbooks'
const PREFIX = '/trade-api/v2'

/** Without a key, every book that is covered by default is read once in this time. A price is valid for a minute. */
const KEYLESS_ROUND_S = 50

/** Streamed books cost no tokens. The venue allows 500,000 markets per session. */
const STREAMED_BOOKS = 20_000

export function booksWithinLimits(isKeyed: boolean): { count: number; because: string } {
  if (isKeyed)
    return { count: STREAMED_BOOKS, because: 'the stream has four connections for books' }
  const perSecond = (KEYLESS.tokensPerSecond * BOOK_SHARE.keyless) / COST_DEFAULT
  const count = Math.floor(perSecond * (1 - HOT_SHARE) * KEYLESS_ROUND_S)
  return { count, because: `without a key ${perSecond} books a second are polled` }
}

export class KalshiBudget implements RequestLimiter {
  readonly #bucket: TokenBucket
  readonly #books: TokenBucket
  readonly #isKeyed: boolean
  #rate: TokenRate
  #costDefault = COST_DEFAULT
  /** Costs of GET requests that differ from the default, by path without variables. */
  #costs: ReadonlyMap<string, number> = new Map()

  constructor(parts: { readonly clock: Clock; readonly isKeyed: boolean }) {
    this.#isKeyed = parts.isKeyed
    this.#rate = parts.isKeyed ? ownShare(BASIC) : KEYLESS
    this.#bucket = new TokenBucket({ ...this.#rate, clock: parts.clock })
    this.#books = new TokenBucket({ ...this.#bookRate, clock: parts.clock })
  }

  get tokensPerSecond(): number {
    return this.#rate.tokensPerSecond
  }

  get bookCount(): number {
    return Math.floor(this.#books.availableCount / this.costOf(BOOKS_PATH))
  }

  /** Takes the tokens for at most `count` books. Returns the number of books for which tokens were available. */
  takeBooks(count: number): number {
    const granted = Math.min(count, this.bookCount)
    return this.#books.tryTake(granted * this.costOf(BOOKS_PATH)) ? granted : 0
  }

  take(signal?: AbortSignal, items = 1, path = ''): Promise<void> {
    return this.#bucket.take(signal, items * this.costOf(path))
  }

  costOf(path: string): number {
    return this.#costs.get(withoutPrefix(path)) ?? this.#costDefault
  }

  /** Reads the limits of the key's account. Rejects if the venue does not respond. */
  async readAccount(http: JsonReader, drift: DriftNotes, signal: AbortSignal): Promise<void> {
    const limits = await http.getJson('/account/limits', {}, { signal })
    const rate = isRecord(limits) ? readRate(limits.read) : null
    if (rate === null) drift.note('account.limits', 'unreadable', limits, 'notice')
    else this.#setRate(ownShare(rate))
    const costs = await http.getJson('/account/endpoint_costs', {}, { signal })
    if (!this.#readCosts(costs)) drift.note('account.endpoint_costs', 'unreadable', costs, 'notice')
  }

  #setRate(rate: TokenRate): void {
    this.#rate = rate
    this.#bucket.setRate(rate)
    this.#books.setRate(this.#bookRate)
  }

  get #bookRate(): TokenRate {
    const share = this.#isKeyed ? BOOK_SHARE.keyed : BOOK_SHARE.keyless
    const { tokensPerSecond, burst } = this.#rate
    return { tokensPerSecond: tokensPerSecond * share, burst: burst * share }
  }

  #readCosts(answer: unknown): boolean {
    if (!isRecord(answer)) return false
    const { default_cost: costDefault, endpoint_costs: rows } = answer
    if (!isCount(costDefault) || !Array.isArray(rows)) return false
    const costs = new Map<string, number>()
    for (const row of rows.filter(isRecord)) {
      const { method, path, cost } = row
      if (method !== 'GET' || typeof path !== 'string' || !isCount(cost)) continue
      costs.set(withoutPrefix(path), cost)
    }
    this.#costDefault = costDefault
    this.#costs = costs
    return true
  }
}

function withoutPrefix(path: string): string {
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path
}

function ownShare({ tokensPerSecond, burst }: TokenRate): TokenRate {
  return { tokensPerSecond: tokensPerSecond * ACCOUNT_SHARE, burst: burst * BURST_SHARE }
}

function readRate(bucket: unknown): TokenRate | null {
  if (!isRecord(bucket)) return null
  const { refill_rate: tokensPerSecond, bucket_capacity: burst } = bucket
  return isCount(tokensPerSecond) && isCount(burst) ? { tokensPerSecond, burst } : null
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < Number.MAX_SAFE_INTEGER
}
