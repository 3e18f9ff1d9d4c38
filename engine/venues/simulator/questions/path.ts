// Smooth random paths. The value at any time is computed directly, so that all questions about one price agree.

import { hash32 } from '../../../random.ts'

/** One wave of a path: its amplitude and its correlation time. */
export interface Wave {
  readonly amplitude: number
  readonly scaleMs: number
}

/** The sum of the waves at a time. Each wave is within ±its amplitude. */
export function pathAt(seed: number, waves: readonly Wave[], atMs: number): number {
  let sum = 0
  for (let index = 0; index < waves.length; index += 1) {
    const wave = waves[index]
    if (wave !== undefined) sum += wave.amplitude * noise(seed + index * 7919, atMs / wave.scaleMs)
  }
  return sum
}

/** A number in [0, 1) that the keys determine. */
export function chanceOf(...keys: readonly (string | number)[]): number {
  return hash32(...keys) / 4_294_967_296
}

/** Smoothly interpolated lattice noise in [-1, 1]. */
function noise(seed: number, position: number): number {
  const cell = Math.floor(position)
  const part = position - cell
  const weight = part * part * (3 - 2 * part)
  return lattice(seed, cell) * (1 - weight) + lattice(seed, cell + 1) * weight
}

function lattice(seed: number, cell: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(cell | 0, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2_147_483_648 - 1
}
