// A bounded memory of what was seen lately, by halves.
// Not for: what is kept in it (trades.ts, last-trades.ts). Upholds POLYTRADE6.

/** A map that forgets by halves; a value that is read again lives on. */
export class Generations<Value> {
  readonly #countMax: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#countMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
