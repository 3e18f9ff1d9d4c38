// Seeded random numbers for the simulator, jitter and test ids. Other files must not call Math.random. Not for secrets:
// keys and tokens use node:crypto.

export interface Random {
  /** A float in [0, 1) with 32 random bits. */
  next(): number
  /** An integer in [0, bound). */
  below(bound: number): number
  /** Throws RangeError on an empty list. */
  pick<T>(items: readonly T[]): T
}

/** A 32-bit hash of texts and numbers (FNV-1a, then the murmur3 finalizer), for seeds. */
export function hash32(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const part of parts) {
    const text = typeof part === 'number' ? String(part) : part
    for (let position = 0; position < text.length; position += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(position), 0x01000193)
    }
    hash = Math.imul(hash ^ 0xff, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Math.random, for jitter. Tests use a seeded source instead. */
export function systemRandom(): Random {
  return {
    next: () => Math.random(),
    below: (bound) => Math.floor(Math.random() * bound),
    pick(items) {
      const item = items[Math.floor(Math.random() * items.length)]
      if (item === undefined) throw new RangeError('pick needs at least one item')
      return item
    },
  }
}

/** A generator seeded by any texts and numbers (sfc32, seeded with hash32). */
export function seededRandom(...seed: readonly (string | number)[]): Random {
  let a = hash32(...seed, 'a')
  let b = hash32(...seed, 'b')
  let c = hash32(...seed, 'c')
  let counter = 1
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return (sum >>> 0) / 4_294_967_296
  }
  for (let round = 0; round < 12; round += 1) next()
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    pick(items) {
      const item = items[Math.floor(next() * items.length)]
      if (item === undefined) throw new RangeError('pick needs at least one item')
      return item
    },
  }
}
