/** Mixes two integers to 32 bits. For a fixed `key`, a bijection of `value` modulo 2^32. */
export function mix32(key: number, value: number): number {
  let hash = (value ^ key) | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = (hash ^ (hash >>> 16)) + Math.imul(key, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** A float in [0, 1) from two integers. */
export function mixUnit(key: number, value: number): number {
  return mix32(key, value) / 4_294_967_296
}

export function hexWord(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
