// Word statistics of the markets present: how telling (rare) each word is, and a latent space in which words
// that occur together lie close. Learned in one pass, seeded; nothing is downloaded.
// Not for: what single phrases mean (lexicon.ts). Upholds SCORE5, SCORE6.

import { hash32 } from '../../random.ts'

/** Dimensions of the latent space. */
const LATENT_DIMENSIONS = 48
/** The most words that are counted; further ones weigh as much as unseen ones. */
const WORDS_MAX = 120_000
/** The first words of a text, which alone are learned. */
const TEXT_WORDS_MAX = 120
/** Non-zero coordinates of a text's random vector. */
const RANDOM_PLACES = 8

/** Term weights and latent vectors; cheap to ask, never changes once learned. */
export class Corpus {
  readonly #counts = new Map<string, number>()
  readonly #vectors = new Map<string, Float32Array>()
  readonly #texts: number

  /** Learns from texts as lists of meanings; the seed fixes the latent space. */
  constructor(texts: Iterable<readonly string[]>, seed = 1) {
    const kept: (readonly string[])[] = []
    for (const text of texts) {
      const words = [...new Set(text.slice(0, TEXT_WORDS_MAX))]
      kept.push(words)
      for (const word of words) {
        const count = this.#counts.get(word)
        if (count !== undefined) this.#counts.set(word, count + 1)
        else if (this.#counts.size < WORDS_MAX) this.#counts.set(word, 1)
      }
    }
    this.#texts = kept.length
    this.#learnSpace(kept, seed)
  }

  /** How telling a word is, 0 (everywhere) to 1 (seen once or never). */
  weight(word: string): number {
    const count = this.#counts.get(word) ?? 0
    if (this.#texts < 2) return 1
    const weight = Math.log((this.#texts + 1) / (count + 0.5)) / Math.log(this.#texts * 2 + 2)
    return Math.min(1, Math.max(0.05, weight))
  }

  /** Cosine of two texts in the latent space, -1 to 1; 0 when either is unknown to it. */
  closeness(a: readonly string[], b: readonly string[]): number {
    const [one, other] = [this.#sum(a), this.#sum(b)]
    return one === null || other === null ? 0 : dot(one, other)
  }

  /** Reflective random indexing, two rounds: a word is the sum of its texts' vectors, a text that of its words'. */
  #learnSpace(texts: readonly (readonly string[])[], seed: number): void {
    let ofTexts = texts.map((_, index) => randomVector(hash32(seed, index)))
    for (let round = 0; round < 2; round += 1) {
      this.#vectors.clear()
      texts.forEach((words, index) => {
        const vector = ofTexts[index]
        if (vector === undefined) return
        for (const word of words) {
          const known = this.#vectors.get(word)
          if (known !== undefined) add(known, vector, 1)
          else if ((this.#counts.get(word) ?? 0) > 1) this.#vectors.set(word, vector.slice())
        }
      })
      this.#center()
      ofTexts = texts.map((words) => this.#sum(words) ?? new Float32Array(LATENT_DIMENSIONS))
    }
  }

  /** Subtracts the mean of all vectors and scales each to length 1. */
  #center(): void {
    const mean = new Float32Array(LATENT_DIMENSIONS)
    for (const vector of this.#vectors.values()) {
      normalize(vector)
      add(mean, vector, 1 / this.#vectors.size)
    }
    for (const vector of this.#vectors.values()) {
      add(vector, mean, -1)
      normalize(vector)
    }
  }

  #sum(words: readonly string[]): Float32Array | null {
    const sum = new Float32Array(LATENT_DIMENSIONS)
    let isEmpty = true
    for (const word of words) {
      const vector = this.#vectors.get(word)
      if (vector === undefined) continue
      add(sum, vector, this.weight(word))
      isEmpty = false
    }
    if (isEmpty) return null
    normalize(sum)
    return sum
  }
}

function randomVector(seed: number): Float32Array {
  const vector = new Float32Array(LATENT_DIMENSIONS)
  for (let place = 0; place < RANDOM_PLACES; place += 1) {
    const hash = hash32(seed, place)
    vector[hash % LATENT_DIMENSIONS] = (hash & 0x10000) === 0 ? 1 : -1
  }
  normalize(vector)
  return vector
}

function add(to: Float32Array, vector: Float32Array, factor: number): void {
  for (let index = 0; index < LATENT_DIMENSIONS; index += 1) {
    to[index] = (to[index] ?? 0) + factor * (vector[index] ?? 0)
  }
}

function normalize(vector: Float32Array): void {
  const length = Math.sqrt(dot(vector, vector))
  if (length === 0) return
  for (let index = 0; index < LATENT_DIMENSIONS; index += 1)
    vector[index] = (vector[index] ?? 0) / length
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < LATENT_DIMENSIONS; index += 1)
    sum += (a[index] ?? 0) * (b[index] ?? 0)
  return sum
}
