// Orders of positions, cut at one moment and kept while a client pages through them, so that it sees every
// position of that moment once, however figures move meanwhile. Kept 5 minutes; all together so many rows,
// beyond which the oldest end.

import type { Clock } from '../../engine/clock.ts'
import type { OutcomeId } from '../../engine/ids.ts'

const PIN_TTL_MS = 300_000
/** Some 32 MiB: a token is a text of 78 digits. */
const ROWS_MAX = 262_144
const PINS_MAX = 4_096

interface Pin {
  readonly binding: string
  readonly tokens: readonly OutcomeId[]
  readonly usedAtMs: number
}

/** Orders by pin; a pin is an integer that is never used twice in a run. */
export class WalletPins {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #rowsMax: number
  /** Oldest first. */
  readonly #pins = new Map<number, Pin>()
  readonly #newest = new Map<string, number>()
  #rowCount = 0
  #lastPin = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>, rowsMax = ROWS_MAX) {
    this.#clock = clock
    this.#rowsMax = rowsMax
  }

  /** The pin of an order that was cut just now; an old one where nothing has moved since. */
  add(binding: string, tokens: readonly OutcomeId[]): number {
    const usedAtMs = this.#clock.monotonicMs()
    const newest = this.#newest.get(binding)
    const existing = newest === undefined ? undefined : this.#pins.get(newest)
    if (newest !== undefined && existing !== undefined && isSame(existing.tokens, tokens)) {
      this.#pins.delete(newest)
      this.#pins.set(newest, { ...existing, usedAtMs })
      return newest
    }
    this.#lastPin += 1
    this.#pins.set(this.#lastPin, { binding, tokens, usedAtMs })
    this.#newest.set(binding, this.#lastPin)
    this.#rowCount += tokens.length
    this.#expire(usedAtMs)
    return this.#lastPin
  }

  /** The order that a cursor names; null when it is no longer kept. */
  resume(pin: number): readonly OutcomeId[] | null {
    this.#expire(this.#clock.monotonicMs())
    return this.#pins.get(pin)?.tokens ?? null
  }

  #expire(nowMs: number): void {
    for (const [pin, { binding, tokens, usedAtMs }] of this.#pins) {
      const isFull = this.#rowCount > this.#rowsMax || this.#pins.size > PINS_MAX
      // The last one stays however long it is: its client could page no further.
      if (nowMs - usedAtMs < PIN_TTL_MS && !(isFull && this.#pins.size > 1)) return
      this.#pins.delete(pin)
      this.#rowCount -= tokens.length
      if (this.#newest.get(binding) === pin) this.#newest.delete(binding)
    }
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((token, index) => token === other[index])
}
