// Sends at most one message per market and time window. The first change of a market is sent at once and opens a
// window. The newest change in the window is sent when the window ends. Due messages are sent in time slices that all
// variants share, so that they do not delay live messages.

import type { Clock, StopTimer } from '../../../engine/clock.ts'
import { conflationFlushMs, conflationTickCount, streamSliceMs } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'

interface Sender<Change> {
  readonly windowMs: number
  hasSubscribers(market: MarketRef): boolean
  merge(older: Change, newer: Change): Change
  send(market: MarketRef, change: Change): void
}

/** `change` is sent at `endsAtMs`. */
interface Window<Change> {
  readonly market: MarketRef
  readonly endsAtMs: number
  change: Change | null
}

type Flushed = Pick<Conflation<unknown>, 'flush' | 'isWaiting'>

export class ConflationScheduler {
  readonly clock: Clock
  readonly #conflations = new Set<Flushed>()
  #stopTimer: StopTimer | null = null
  #isTickPlanned = false
  #isStopped = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(conflation: Flushed): void {
    this.#conflations.add(conflation)
  }

  /** Schedules a flush. It repeats while a market has an open window or a waiting change. */
  arm(): void {
    if (this.#isStopped) return
    this.#stopTimer ??= this.clock.after(conflationFlushMs, () => {
      this.#stopTimer = null
      this.#run()
    })
  }

  wake(): void {
    if (this.#isTickPlanned) return
    this.#isTickPlanned = true
    setImmediate(() => {
      this.#isTickPlanned = false
      if (!this.#isStopped) this.#run()
    })
  }

  #run(): void {
    const endsAtMs = this.clock.monotonicMs() + streamSliceMs
    for (const conflation of [...this.#conflations]) {
      const isDone = conflation.flush(endsAtMs)
      if (conflation.isWaiting) this.arm()
      if (isDone) continue
      // Moved to the end, so that the next slice starts with the remaining conflations.
      this.#conflations.delete(conflation)
      this.#conflations.add(conflation)
      this.wake()
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#stopTimer?.()
  }
}

export class Conflation<Change> {
  readonly #scheduler: ConflationScheduler
  readonly #sender: Sender<Change>
  /** Open windows by market, in the order in which they end. The catalogue bounds the number of entries. */
  readonly #windows = new Map<MarketNumber, Window<Change>>()
  /** First changes that exceed the burst limit. They may be sent at any time. */
  readonly #due = new Map<MarketNumber, Window<Change>>()
  #burstCount = 0

  constructor(scheduler: ConflationScheduler, sender: Sender<Change>) {
    this.#scheduler = scheduler
    this.#sender = sender
    scheduler.add(this)
  }

  note(market: MarketRef, change: Change): void {
    const { number } = market
    const waiting = this.#due.get(number) ?? this.#windows.get(number)
    if (waiting !== undefined) {
      const { change: older } = waiting
      waiting.change = older === null ? change : this.#sender.merge(older, change)
    } else if (this.#burstCount < conflationTickCount) {
      if (!this.#sender.hasSubscribers(market)) return
      this.#burstCount += 1
      this.#send(market, change)
    } else {
      this.#due.set(number, { market, endsAtMs: 0, change })
      this.#scheduler.wake()
    }
  }

  get isWaiting(): boolean {
    return this.#windows.size + this.#due.size > 0
  }

  /** Sends due changes until `endsAtMs`. Returns false if some remain. */
  flush(endsAtMs: number): boolean {
    const { clock } = this.#scheduler
    const nowMs = clock.monotonicMs()
    this.#burstCount = 0
    // Changes in `#due` go first: a market has at most one of them, whereas its windows end repeatedly.
    for (const windows of [this.#due, this.#windows]) {
      for (const [number, window] of windows) {
        if (window.endsAtMs > nowMs) break
        if (clock.monotonicMs() > endsAtMs) return false
        windows.delete(number)
        const { market, change } = window
        if (change !== null && this.#sender.hasSubscribers(market)) this.#send(market, change)
      }
    }
    return true
  }

  removeMarket(market: MarketNumber): void {
    this.#windows.delete(market)
    this.#due.delete(market)
  }

  #send(market: MarketRef, change: Change): void {
    const endsAtMs = this.#scheduler.clock.monotonicMs() + this.#sender.windowMs
    this.#windows.set(market.number, { market, endsAtMs, change: null })
    this.#scheduler.arm()
    this.#sender.send(market, change)
  }
}
