// A cache bounded by count and bytes. When full, it evicts the entry that was put first. It does not store an entry
// that is larger than its share.

/** Largest share of the bytes for one entry, so that it cannot evict all others. */
const SHARE_MAX = 1 / 64

/** A cache entry; `bytes` is its approximate size. */
interface Weighed {
  readonly bytes: number
}

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

  /** Stores a value as the newest. */
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

/** Bytes of texts in memory: at most two per character. */
export function weightOf(...texts: readonly string[]): number {
  let length = 0
  for (const text of texts) length += text.length
  return 2 * length
}
