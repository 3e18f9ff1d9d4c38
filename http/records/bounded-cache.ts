// What is kept of the things asked for last, within bounds. When full, whatever was put first
// goes and is made anew when it is asked for again; something larger than its share is not kept at
// all.

/** A single one may take this share of the bytes, so that it cannot push out all the others. */
const SHARE_MAX = 1 / 64

/** Something kept; `bytes` is what it weighs, about. */
interface Weighed {
  readonly bytes: number
}

/** Values by key, at most `countMax` of them and `bytesMax` altogether. */
export class BoundedCache<Key, Value extends Weighed> {
  readonly #values = new Map<Key, Value>()
  readonly #countMax: number
  readonly #bytesMax: number
  #bytes = 0

  constructor(bounds: { readonly countMax: number; readonly bytesMax: number }) {
    this.#countMax = bounds.countMax
    this.#bytesMax = bounds.bytesMax
  }

  get count(): number {
    return this.#values.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  /** Keeps a value, as the newest. */
  put(key: Key, value: Value): void {
    this.#drop(key)
    if (value.bytes > this.#bytesMax * SHARE_MAX) return
    this.#values.set(key, value)
    this.#bytes += value.bytes
    while (this.#values.size > this.#countMax || this.#bytes > this.#bytesMax) {
      const oldest = this.#values.keys().next().value
      if (oldest === undefined) break
      this.#drop(oldest)
    }
  }

  #drop(key: Key): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#bytes -= value.bytes
  }
}

/** Bytes of a text in memory: at most two a character. */
export function weightOf(...texts: readonly string[]): number {
  let length = 0
  for (const text of texts) length += text.length
  return 2 * length
}
