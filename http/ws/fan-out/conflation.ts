// Sends at most one message per market and window. The first change of a market outside a window is sent at once, later
// ones wait for the end of the window, and the last state of a window is always sent. Only markets with an open window
// or a waiting change are stored: bounded by the catalogue, and none without subscribers. Due messages are sent in
// slices, and only a limited number of a burst at once, so that many simultaneous changes do not delay live messages.
//
//   change ──► no window? ──► sent at once ──► window, empty ──► its end: no window
//                 │                             │ change
//                 │ burst                    window, waiting ──► its end: ready ──► sent, window …
//                 └──────────────► ready ──► a slice of a later tick

import { conflationTickCount } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'

/** The waiting change of a market. */
interface Waiting<Change> {
  readonly market: MarketRef
  change: Change
}

/** A market's window. Windows end in the order in which they began. */
interface Window<Change> {
  readonly market: MarketRef
  readonly endsAtMs: number
  change: Change | null
}

/** Sends the changes of a variant. */
interface Sender<Change> {
  readonly windowMs: number
  /** Whether the variant has subscribers for this market. */
  hasSubscribers(market: MarketRef): boolean
  /** Combines a waiting change with a newer one. */
  merge(older: Change, newer: Change): Change
  send(market: MarketRef, change: Change): void
}

/** Windows of one variant. Times are monotonic milliseconds. */
export class Conflation<Change> {
  readonly #sender: Sender<Change>
  readonly #windows = new Map<MarketNumber, Window<Change>>()
  readonly #ready = new Map<MarketNumber, Waiting<Change>>()
  /** Messages sent at once in this event-loop tick. */
  #tickCount = 0

  constructor(sender: Sender<Change>) {
    this.#sender = sender
  }

  /** Sends a change now, or stores it until the end of the market's window. */
  note(market: MarketRef, change: Change, nowMs: number): void {
    const ready = this.#ready.get(market.number)
    if (ready !== undefined) {
      ready.change = this.#sender.merge(ready.change, change)
      return
    }
    const window = this.#windows.get(market.number)
    if (window !== undefined && window.endsAtMs > nowMs) {
      window.change = window.change === null ? change : this.#sender.merge(window.change, change)
      return
    }
    const waited = window?.change ?? null
    const merged = waited === null ? change : this.#sender.merge(waited, change)
    this.#windows.delete(market.number)
    if (!this.#sender.hasSubscribers(market)) return
    if (this.#tickCount >= conflationTickCount) {
      this.#ready.set(market.number, { market, change: merged })
      return
    }
    this.#tickCount += 1
    this.#send(market, merged, nowMs)
  }

  /** Whether a market's window has ended and its change waits for a slice. */
  get hasReady(): boolean {
    return this.#ready.size > 0
  }

  /** End of the first window; null without windows. */
  get dueAtMs(): number | null {
    for (const window of this.#windows.values()) return window.endsAtMs
    return null
  }

  /** Starts an event-loop tick: resets the number of changes that may be sent at once. */
  beginTick(): void {
    this.#tickCount = 0
  }

  get hasSentThisTick(): boolean {
    return this.#tickCount > 0
  }

  /** Sends due changes until `isEnough`. Returns false if some remain. */
  flush(nowMs: number, isEnough: () => boolean): boolean {
    for (const [number, window] of this.#windows) {
      if (window.endsAtMs > nowMs) break
      if (isEnough()) return false
      this.#windows.delete(number)
      if (window.change !== null) {
        this.#ready.set(number, { market: window.market, change: window.change })
      }
    }
    for (const [number, { market, change }] of this.#ready) {
      if (isEnough()) return false
      this.#ready.delete(number)
      if (this.#sender.hasSubscribers(market)) this.#send(market, change, nowMs)
    }
    return true
  }

  removeMarket(market: MarketNumber): void {
    this.#windows.delete(market)
    this.#ready.delete(market)
  }

  /** Markets in memory. */
  get count(): number {
    return this.#windows.size + this.#ready.size
  }

  #send(market: MarketRef, change: Change, nowMs: number): void {
    const endsAtMs = nowMs + this.#sender.windowMs
    this.#windows.set(market.number, { market, endsAtMs, change: null })
    this.#sender.send(market, change)
  }
}
