// At most one message a market and window: a quiet market's first change goes at once, later ones
// wait for the window's end, and the last state of a window always goes. Knows only markets in whose
// window something was sent, or waits to be: bounded by the catalogue, and empty without listeners.
// What is due goes in slices, and of a burst only so many at once, so that thousands of markets that
// change together never hold up what is not conflated.
//
//   change ──► quiet? ──► sent at once ──► window, empty ──► its end: quiet again
//                 │                           │ change
//                 │ burst                  window, waiting ──► its end: ready ──► sent, window …
//                 └────────────► ready ──► a slice of a later turn

import { conflationTickCount } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'

/** What waits for a market. */
interface Waiting<Change> {
  readonly market: MarketRef
  change: Change
}

/** A market's window; they end in the order in which they began. */
interface Window<Change> {
  readonly market: MarketRef
  readonly endsAtMs: number
  change: Change | null
}

/** How the changes of a lane are sent. */
interface Sender<Change> {
  readonly windowMs: number
  /** Whether the lane has listeners for this market. */
  hasSubscribers(market: MarketRef): boolean
  /** What is left to send when a newer change comes while an older one waits. */
  merge(older: Change, newer: Change): Change
  send(market: MarketRef, change: Change): void
}

/** One lane's windows; times are monotonic milliseconds. */
export class Conflation<Change> {
  readonly #sender: Sender<Change>
  readonly #windows = new Map<MarketNumber, Window<Change>>()
  readonly #ready = new Map<MarketNumber, Waiting<Change>>()
  /** Sent at once in this turn of the loop. */
  #tickCount = 0

  constructor(sender: Sender<Change>) {
    this.#sender = sender
  }

  /** A market changed: sends it now, or keeps it for the end of its window. */
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

  /** Whether a market waits for a slice alone, its window being over. */
  get hasReady(): boolean {
    return this.#ready.size > 0
  }

  /** When the first window ends; null: there is none. */
  get dueAtMs(): number | null {
    for (const window of this.#windows.values()) return window.endsAtMs
    return null
  }

  /** A turn of the loop began: what changes now may go at once again. */
  beginTick(): void {
    this.#tickCount = 0
  }

  get hasSentThisTick(): boolean {
    return this.#tickCount > 0
  }

  /** Sends what is due until `isEnough`; false when some is left. */
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
