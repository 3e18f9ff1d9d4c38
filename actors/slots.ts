// Limits concurrent work. At most `runningMax` tasks run at once and `waitingMax` tasks wait. Slots are distributed
// fairly between requesters, at most `runningOfOneMax` for each.

import type { Clock } from '../engine/clock.ts'
import { FairQueue, type Requester, SYSTEM } from '../engine/fair-queue.ts'
import { onAbort } from '../engine/on-abort.ts'

interface SlotBounds {
  readonly runningMax: number
  readonly waitingMax: number
  /** Maximum concurrent tasks of one requester. Does not apply to the system itself. */
  readonly runningOfOneMax?: number
}

/** `run` and `take` reject with this error if the queue is full. */
export class SlotsFull extends Error {}

export class Slots {
  readonly #runningMax: number
  readonly #runningOfOneMax: number
  readonly #waiting: FairQueue<Waiting>
  readonly #running = new Map<string, number>()
  #runningCount = 0

  constructor({ runningMax, waitingMax, runningOfOneMax }: SlotBounds) {
    this.#runningMax = runningMax
    this.#runningOfOneMax = runningOfOneMax ?? runningMax
    this.#waiting = new FairQueue(waitingMax)
  }

  get isIdle(): boolean {
    return this.#runningCount === 0
  }

  isFull(requester: Requester = SYSTEM): boolean {
    return !this.#isFree(requester) && this.#waiting.isFull(requester)
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0
  }

  hasWaitingWithFewer(requester: Requester): boolean {
    const own = this.#runningOf(requester)
    const isFewer = (other: Requester) => this.#runningOf(other) < own
    return this.#waiting.peek((other) => (isFewer(other) ? 0 : Number.POSITIVE_INFINITY)) !== null
  }

  /**
   * Runs the task when it gets a slot, and settles like the task. Rejects if `signal` aborts while the task waits.
   * Rejects with SlotsFull if the queue is full. A waiting task is also rejected if requesters with fewer tasks fill
   * the queue.
   */
  async run<Result>(
    signal: AbortSignal,
    work: () => Promise<Result>,
    requester: Requester = SYSTEM,
  ): Promise<Result> {
    if (!this.#takeFree(requester)) await this.#waitForSlot(signal, requester)
    try {
      return await work()
    } finally {
      this.release(requester)
    }
  }

  /** Resolves when a slot is assigned. The caller must return the slot with `release`. Rejects like `run`. */
  async take(signal: AbortSignal, requester: Requester = SYSTEM): Promise<void> {
    if (!this.#takeFree(requester)) await this.#waitForSlot(signal, requester)
  }

  release(requester: Requester = SYSTEM): void {
    this.#count(requester, -1)
    while (this.#runningCount < this.#runningMax) {
      const next = this.#waiting.next((other) => this.#load(other))
      if (next === null) return
      this.#count(next.requester, 1)
      next.grant()
    }
  }

  #takeFree(requester: Requester): boolean {
    if (!this.#isFree(requester)) return false
    this.#count(requester, 1)
    this.#waiting.note(requester)
    return true
  }

  #isFree(requester: Requester): boolean {
    return this.#runningCount < this.#runningMax && Number.isFinite(this.#load(requester))
  }

  #load(requester: Requester): number {
    const count = this.#runningOf(requester)
    const isBounded = requester !== SYSTEM
    return isBounded && count >= this.#runningOfOneMax ? Number.POSITIVE_INFINITY : count
  }

  #runningOf(requester: Requester): number {
    return Math.max(...requester.map((name) => this.#running.get(name) ?? 0))
  }

  #count(requester: Requester, change: number): void {
    this.#runningCount += change
    for (const name of requester) {
      const count = (this.#running.get(name) ?? 0) + change
      if (count > 0) this.#running.set(name, count)
      else this.#running.delete(name)
    }
  }

  /** Resolves when the slot of a finished task is assigned to this task. */
  #waitForSlot(signal: AbortSignal, requester: Requester): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        requester,
        grant: () => {
          unsubscribe()
          resolve()
        },
        refuse: () => {
          unsubscribe()
          reject(new SlotsFull('too much work waits'))
        },
      }
      const unsubscribe = onAbort(signal, () => {
        this.#waiting.remove(waiting)
        reject(new Error('aborted while waiting for a slot'))
      })
      if (!signal.aborted) this.#waiting.add(requester, waiting)?.refuse()
    })
  }
}

interface Waiting {
  readonly requester: Requester
  readonly grant: () => void
  readonly refuse: () => void
}

interface FairBounds extends SlotBounds {
  /** A task must yield its slot after this time if a requester with fewer slots waits. */
  readonly heldMs: number
  /** A task must yield its slot after this time if any task waits. */
  readonly heldAnywayMs: number
}

interface FairRun {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly requester?: Requester
}

export type YieldSlot = () => Promise<void>

/** Slots for long tasks. Between two parts a task may release its slot and wait for the next one. */
export class FairSlots {
  readonly #slots: Slots
  readonly #bounds: FairBounds

  constructor(bounds: FairBounds) {
    this.#slots = new Slots(bounds)
    this.#bounds = bounds
  }

  isFull(requester: Requester = SYSTEM): boolean {
    return this.#slots.isFull(requester)
  }

  /** Like Slots.run. A task may also be rejected when it waits again after yielding its slot. */
  async run<Result>(
    { clock, signal, requester = SYSTEM }: FairRun,
    work: (yieldSlot: YieldSlot) => Promise<Result>,
  ): Promise<Result> {
    let isHeld = false
    let sinceMs = 0
    const take = async (): Promise<void> => {
      await this.#slots.take(signal, requester)
      isHeld = true
      sinceMs = clock.monotonicMs()
    }
    const release = (): void => {
      if (isHeld) this.#slots.release(requester)
      isHeld = false
    }
    await take()
    try {
      return await work(async () => {
        if (!this.#isDue(requester, clock.monotonicMs() - sinceMs)) return
        release()
        await take()
      })
    } finally {
      release()
    }
  }

  #isDue(requester: Requester, heldMs: number): boolean {
    if (!this.#slots.hasWaiting || heldMs < this.#bounds.heldMs) return false
    return heldMs >= this.#bounds.heldAnywayMs || this.#slots.hasWaitingWithFewer(requester)
  }
}
