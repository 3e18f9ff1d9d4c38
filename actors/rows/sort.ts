// Stable radix sort of rows by an integer of at most 53 bits.

const WORD_BITS = 32
const WORD = 2 ** WORD_BITS
/**
 * Few passes with large digits are faster than many passes with small digits if the counts fit into the processor's
 * cache.
 */
const DIGIT_BITS_MAX = 14
const SHORT_ROWS = 4_096
const DIGIT_BITS_SHORT = 8

let scratch = makeScratch(0)
const starts = new Uint32Array(2 ** DIGIT_BITS_MAX)

/**
 * Returns the positions 0 to `count` - 1, sorted by their keys. Keys are integers of at most 53 bits. NaN means unknown
 * and comes last in both orders. Equal keys are sorted by position. The result is valid until the next call.
 */
export function sortedPositions(
  keys: Float64Array,
  count: number,
  order: 'asc' | 'desc',
): Uint32Array {
  if (scratch.low.length < count) scratch = makeScratch(count * 2)
  const keyMax = splitKeys(keys, count, order)
  const bits = Math.ceil(Math.log2(keyMax + 1))
  const lowBits = Math.min(bits, WORD_BITS)
  sortByWord(scratch.low, count, lowBits)
  if (bits > WORD_BITS) sortByWord(scratch.high, count, bits - WORD_BITS)
  return scratch.positions.subarray(0, count)
}

function makeScratch(length: number) {
  return {
    low: new Uint32Array(length),
    high: new Uint32Array(length),
    positions: new Uint32Array(length),
    sorted: new Uint32Array(length),
  }
}

/** Fills `low` and `high` with keys that ascend from 0 in the requested order. Returns the largest. */
function splitKeys(keys: Float64Array, count: number, order: 'asc' | 'desc'): number {
  const { low, high, positions } = scratch
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let position = 0; position < count; position += 1) {
    const key = keys[position] ?? Number.NaN
    if (key < least) least = key
    if (key > most) most = key
    positions[position] = position
  }
  if (least > most) return 0
  const unknown = most - least + 1
  for (let position = 0; position < count; position += 1) {
    const key = keys[position] ?? Number.NaN
    const distance = order === 'asc' ? key - least : most - key
    // Comparisons with NaN are false.
    const shifted = distance >= 0 ? distance : unknown
    const upper = Math.floor(shifted / WORD)
    high[position] = upper
    low[position] = shifted - upper * WORD
  }
  return unknown
}

function sortByWord(words: Uint32Array, count: number, bits: number): void {
  const bitsMax = count < SHORT_ROWS ? DIGIT_BITS_SHORT : DIGIT_BITS_MAX
  const passes = Math.ceil(bits / bitsMax)
  const digitBits = Math.ceil(bits / Math.max(passes, 1))
  for (let pass = 0; pass < passes; pass += 1) {
    const shift = pass * digitBits
    const mask = 2 ** digitBits - 1
    if (!countDigits(words, count, shift, mask)) continue
    const { positions, sorted } = scratch
    for (let index = 0; index < count; index += 1) {
      const position = positions[index] ?? 0
      const digit = ((words[position] ?? 0) >>> shift) & mask
      const start = starts[digit] ?? 0
      starts[digit] = start + 1
      sorted[start] = position
    }
    scratch = { ...scratch, positions: sorted, sorted: positions }
  }
}

/** Computes the start of each digit's rows. Returns false if all rows have the same digit. */
function countDigits(words: Uint32Array, count: number, shift: number, mask: number): boolean {
  starts.fill(0, 0, mask + 1)
  for (let position = 0; position < count; position += 1) {
    const digit = ((words[position] ?? 0) >>> shift) & mask
    starts[digit] = (starts[digit] ?? 0) + 1
  }
  let start = 0
  for (let digit = 0; digit <= mask; digit += 1) {
    const digitCount = starts[digit] ?? 0
    if (digitCount === count) return false
    starts[digit] = start
    start += digitCount
  }
  return true
}
