// Similarity in meaning of two questions: the cosine of their sentence vectors. Texts are encoded in advance and the
// vectors cached, so that scoring is synchronous. A text that was not encoded has no similarity. The least recently
// used vectors are evicted.

import { LRUCache } from 'lru-cache'

/** Converts a text to a vector. Null if the encoder failed. */
export type Embed = (text: string) => Promise<Float32Array | null>

/** What may happen to a text. `takeCounts` returns the counts. */
export const TEXT_OUTCOMES = ['read', 'failed', 'dropped'] as const
export type EncoderCounts = Readonly<Record<(typeof TEXT_OUTCOMES)[number], number>>

interface EncoderBounds {
  readonly texts: number
  readonly bytes: number
}

/** Both venues' open questions and events are some 100,000 texts. Their vectors take 50 MiB with a small encoder. */
const BOUNDS: EncoderBounds = { texts: 200_000, bytes: 128 * 2 ** 20 }
const ENTRY_BYTES = 160
const NOTHING: EncoderCounts = { read: 0, failed: 0, dropped: 0 }

/** A vector with one byte per number. The scale does not affect the cosine, which changes by less than 0.01. */
interface CachedVector {
  readonly values: Int8Array
  readonly length: number
}

export class Encoder {
  readonly #embed: Embed
  readonly #vectors: LRUCache<string, CachedVector>
  #counts = { ...NOTHING }

  constructor(embed: Embed, bounds: EncoderBounds = BOUNDS) {
    this.#embed = embed
    this.#vectors = new LRUCache({
      max: bounds.texts,
      maxSize: bounds.bytes,
      sizeCalculation: ({ values }, text) => 2 * text.length + values.length + ENTRY_BYTES,
      dispose: (_vector, _text, reason) => {
        if (reason === 'evict') this.#counts.dropped += 1
      },
    })
  }

  get size(): EncoderBounds {
    return { texts: this.#vectors.size, bytes: this.#vectors.calculatedSize }
  }

  /** Encodes texts that are not cached, one after another. Marks cached texts as recently used. */
  async read(texts: Iterable<string>): Promise<void> {
    for (const text of new Set(texts)) {
      if (this.#vectors.get(text) !== undefined) continue
      const vector = packed(await this.#embed(text))
      this.#counts[vector === null ? 'failed' : 'read'] += 1
      if (vector !== null) this.#vectors.set(text, vector)
    }
  }

  /** From −1 to 1. Null if a text was not encoded, failed or was evicted. */
  similarity(one: string, other: string): number | null {
    const [a, b] = [this.#vectors.peek(one), this.#vectors.peek(other)]
    if (a === undefined || b === undefined) return null
    let sum = 0
    for (let index = 0; index < a.values.length; index += 1) {
      sum += (a.values[index] ?? 0) * (b.values[index] ?? 0)
    }
    return sum / (a.length * b.length)
  }

  /** Returns and resets the counts. */
  takeCounts(): EncoderCounts {
    const counts = this.#counts
    this.#counts = { ...NOTHING }
    return counts
  }
}

function packed(vector: Float32Array | null): CachedVector | null {
  const most = vector?.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) ?? 0
  if (vector === null || !(most > 0 && most < Number.POSITIVE_INFINITY)) return null
  const values = Int8Array.from(vector, (value) => Math.round((value / most) * 127))
  return { values, length: Math.hypot(...values) }
}
