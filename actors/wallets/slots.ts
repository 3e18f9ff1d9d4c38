// Places for work that may last long. Whoever has had a place for some time gives it back between two pieces of its
// work, when others wait, and takes its turn again behind them: two enormous wallets must not keep everybody else's
// from being read. Not for: work that is short (slots.ts).

import type { Clock } from '../../engine/clock.ts'
import { Slots } from '../slots.ts'

export interface FairBounds {
  readonly runningMax: number
  readonly waitingMax: number
  /** How long a place is kept while others wait. */
  readonly heldMs: number
}

/** To be awaited between two pieces of the work. */
export type Pass = () => Promise<void>

export class FairSlots {
  readonly #slots: Slots
  readonly #heldMs: number
  readonly #clock: Clock

  constructor({ heldMs, ...bounds }: FairBounds, clock: Clock) {
    this.#slots = new Slots(bounds)
    this.#heldMs = heldMs
    this.#clock = clock
  }

  /** Nothing more should be given: as many as may run and wait do. */
  get isFull(): boolean {
    return this.#slots.isFull
  }

  /** Runs the work in its turn; rejects as it does, or when `signal` aborts before its turn. */
  async run<Result>(signal: AbortSignal, work: (pass: Pass) => Promise<Result>): Promise<Result> {
    let isHeld = false
    let sinceMs = 0
    const take = async (): Promise<void> => {
      await this.#slots.take(signal)
      isHeld = true
      sinceMs = this.#clock.monotonicMs()
    }
    const give = (): void => {
      if (isHeld) this.#slots.give()
      isHeld = false
    }
    await take()
    try {
      return await work(async () => {
        const heldMs = this.#clock.monotonicMs() - sinceMs
        if (!this.#slots.isAwaited || heldMs < this.#heldMs) return
        give()
        await take()
      })
    } finally {
      give()
    }
  }
}
