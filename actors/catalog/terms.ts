// Maps texts (categories, event slugs, tags) to small numbers, because lists compare numbers faster. Texts are
// case-insensitive. The number of an unreferenced text is reused.

/** Numbers start at 1. 0 means no text. */
export class Terms {
  readonly #ids = new Map<string, number>()
  readonly #texts: string[] = ['']
  readonly #holders: number[] = [0]
  readonly #free: number[] = []

  take(text: string | null): number {
    if (text === null) return 0
    const folded = text.toLowerCase()
    const existing = this.#ids.get(folded)
    if (existing !== undefined) {
      this.#holders[existing] = (this.#holders[existing] ?? 0) + 1
      return existing
    }
    const id = this.#free.pop() ?? this.#texts.length
    this.#ids.set(folded, id)
    this.#texts[id] = folded
    this.#holders[id] = 1
    return id
  }

  release(id: number): void {
    if (id === 0) return
    const left = (this.#holders[id] ?? 0) - 1
    this.#holders[id] = left
    if (left > 0) return
    this.#ids.delete(this.#texts[id] ?? '')
    this.#texts[id] = ''
    this.#free.push(id)
  }

  /** Returns -1 for an unknown text. */
  find(text: string): number {
    return this.#ids.get(text.toLowerCase()) ?? -1
  }

  isHeld(id: number): boolean {
    return (this.#holders[id] ?? 0) > 0
  }

  /** Greater than all numbers in use. */
  get end(): number {
    return this.#texts.length
  }
}

export class TermSets {
  readonly #terms = new Terms()
  readonly #keys = new Terms()
  readonly #members: (readonly number[] | null)[] = []

  /** Returns the number of the set. 0 for an empty set. */
  take(texts: readonly string[]): number {
    if (texts.length === 0) return 0
    const id = this.#keys.take(JSON.stringify(texts))
    this.#members[id] ??= texts.map((text) => this.#terms.take(text))
    return id
  }

  release(id: number): void {
    if (id === 0) return
    this.#keys.release(id)
    if (this.#keys.isHeld(id)) return
    for (const term of this.#members[id] ?? []) this.#terms.release(term)
    this.#members[id] = null
  }

  /** Returns an array with 1 at the number of each set that contains any of the texts. */
  having(texts: readonly string[]): Uint8Array {
    const isWanted = new Uint8Array(this.#terms.end)
    for (const text of texts) {
      const term = this.#terms.find(text)
      if (term >= 0) isWanted[term] = 1
    }
    const has = new Uint8Array(this.#keys.end)
    for (let id = 1; id < has.length; id += 1) {
      for (const term of this.#members[id] ?? []) {
        if (isWanted[term] === 1) {
          has[id] = 1
          break
        }
      }
    }
    return has
  }
}
