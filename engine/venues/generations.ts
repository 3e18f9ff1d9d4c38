/** A map of at most two generations of `countMax`. Reading a value moves it to the young one; the old one is discarded. */
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
