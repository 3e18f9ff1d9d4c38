// A local order book. Prices and sizes are integers in millionths. Each side is sorted with the best price first.
// Checksums from the server verify the content.

import { crc32 } from './crc32.ts'
import type { SnapshotMessage, UpdateMessage, WireLevel } from './messages.ts'

const MICROS = 1_000_000
const CHECKED_LEVELS = 10

/** `price` is in dollars, `size` in contracts. */
export interface Level {
  readonly price: number
  readonly size: number
}

export interface BookView {
  readonly marketId: string
  readonly epoch: string
  readonly offset: number
  readonly seq: number
  /** The server marked the book as stale when it sent it. */
  readonly isStale: boolean
  /** False from the detection of a gap until the next snapshot. The levels may be outdated while it is false. */
  readonly isInSync: boolean
  /** The venue's time of the last change. Null if the book was always empty. */
  readonly timestampMs: number | null
  readonly receivedMs: number | null
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Best ask minus best bid. Null if a side is empty. */
  readonly spread: number | null
  readonly midPrice: number | null
}

type Applied = 'applied' | 'malformed' | 'checksum'

export class Book {
  readonly marketId: string
  epoch = ''
  offset = 0
  seq = 0
  isStale = true
  isInSync = false
  isGapReported = false
  attempts = 0
  /** Watchdog ticks since the book went out of sync. A tick is half a heartbeat. */
  beats = 0
  #timestampMs: number | null = null
  #receivedMs: number | null = null
  readonly #bids = new Side(true)
  readonly #asks = new Side(false)

  constructor(marketId: string) {
    this.marketId = marketId
  }

  replace(message: SnapshotMessage): Applied {
    this.isInSync = false
    this.#bids.clear()
    this.#asks.clear()
    const result = this.#apply(message)
    if (result !== 'applied') return result
    this.isStale = message.stale === true
    this.isInSync = true
    this.isGapReported = false
    this.attempts = 0
    this.beats = 0
    return 'applied'
  }

  update(message: UpdateMessage): Applied {
    const result = this.#apply(message)
    if (result !== 'applied') this.isInSync = false
    return result
  }

  view(depth = Number.POSITIVE_INFINITY): BookView {
    const bid = this.#bids.best
    const ask = this.#asks.best
    const hasBoth = bid !== undefined && ask !== undefined
    return {
      marketId: this.marketId,
      epoch: this.epoch,
      offset: this.offset,
      seq: this.seq,
      isStale: this.isStale,
      isInSync: this.isInSync,
      timestampMs: this.#timestampMs,
      receivedMs: this.#receivedMs,
      bids: this.#bids.levels(depth),
      asks: this.#asks.levels(depth),
      spread: hasBoth ? (ask - bid) / MICROS : null,
      // Rounded up to a whole millionth, as in the server's messages.
      midPrice: hasBoth ? Math.floor((bid + ask + 1) / 2) / MICROS : null,
    }
  }

  /** CRC-32 of the ten best bids, then the ten best asks, in millionths. */
  checksum(): number {
    const bids = this.#bids.checkedText()
    const asks = this.#asks.checkedText()
    return crc32(bids === '' || asks === '' ? bids + asks : `${bids}:${asks}`)
  }

  #apply(message: SnapshotMessage | UpdateMessage): Applied {
    const { data, checksum } = message
    if (!this.#bids.apply(data.bids) || !this.#asks.apply(data.asks)) return 'malformed'
    this.epoch = message.epoch
    this.offset = message.offset
    this.seq = message.seq
    this.#timestampMs = message.timestamp_ms
    this.#receivedMs = message.received_ms
    if (checksum === undefined || checksum === null) return 'applied'
    return checksum === this.checksum() ? 'applied' : 'checksum'
  }
}

class Side {
  readonly #isBid: boolean
  readonly #prices: number[] = []
  readonly #sizes: number[] = []

  constructor(isBid: boolean) {
    this.#isBid = isBid
  }

  get best(): number | undefined {
    return this.#prices[0]
  }

  clear(): void {
    this.#prices.length = 0
    this.#sizes.length = 0
  }

  apply(levels: readonly WireLevel[]): boolean {
    for (const level of levels) {
      const price = micros(level?.price)
      const size = micros(level?.size)
      if (price < 0 || size < 0) return false
      this.#set(price, size)
    }
    return true
  }

  levels(depth: number): Level[] {
    return this.#prices
      .slice(0, depth)
      .map((price, index) => ({ price: price / MICROS, size: (this.#sizes[index] ?? 0) / MICROS }))
  }

  checkedText(): string {
    let text = ''
    const count = Math.min(this.#prices.length, CHECKED_LEVELS)
    for (let index = 0; index < count; index += 1) {
      text += `${index === 0 ? '' : ':'}${this.#prices[index]}:${this.#sizes[index]}`
    }
    return text
  }

  #set(price: number, size: number): void {
    const index = this.#find(price)
    const isPresent = this.#prices[index] === price
    if (size > 0 && isPresent) this.#sizes[index] = size
    else if (size > 0) {
      this.#prices.splice(index, 0, price)
      this.#sizes.splice(index, 0, size)
    } else if (isPresent) {
      this.#prices.splice(index, 1)
      this.#sizes.splice(index, 1)
    }
  }

  #find(price: number): number {
    let low = 0
    let high = this.#prices.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const levelPrice = this.#prices[middle] ?? 0
      if (this.#isBid ? levelPrice > price : levelPrice < price) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Converts a JSON number to millionths, exact below 2^53. Returns a negative number if the value is invalid. */
function micros(value: unknown): number {
  const rounded = typeof value === 'number' ? Math.round(value * MICROS) : -1
  return Number.isSafeInteger(rounded) ? rounded : -1
}
