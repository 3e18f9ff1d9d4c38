// Pins the order of positions at one moment while a client pages, so that it gets every position of that moment exactly
// once although figures change. Pins expire after 5 minutes. The total rows are bounded; beyond the bound the oldest
// pins expire.

import type { Clock } from '../../engine/clock.ts'
import type { OutcomeId } from '../../engine/ids.ts'

const PIN_TTL_MS = 300_000
/** About 32 MiB: a token id is a text of up to 78 digits. */
const ROWS_MAX = 262_144
const PINS_MAX = 4_096

interface Pin {
  readonly binding: string
  readonly tokens: readonly OutcomeId[]
  readonly usedAtMs: number
}

/** Orders by pin. A pin is an integer that is unique within a run. */
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

  /** Pins an order and returns its pin; an existing one if the order is unchanged. */
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

  /** The order of a pin; null if it has expired. */
  resume(pin: number): readonly OutcomeId[] | null {
    this.#expire(this.#clock.monotonicMs())
    return this.#pins.get(pin)?.tokens ?? null
  }

  #expire(nowMs: number): void {
    for (const [pin, { binding, tokens, usedAtMs }] of this.#pins) {
      const isFull = this.#rowCount > this.#rowsMax || this.#pins.size > PINS_MAX
      // The newest pin is retained however long it is: otherwise its client could not page on.
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
