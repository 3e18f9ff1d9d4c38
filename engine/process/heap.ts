// How far the heap may grow between two full collections.

import { setFlagsFromString } from 'node:v8'

/**
 * Growth after which a full collection runs, as in engine/app/start.mjs. By default V8 lets the heap grow to four times
 * its size under load, and the process never returns the memory.
 */
const GROWTH_PERCENT = 30

/**
 * Runs work whose allocations stay, such as loading a catalogue, with V8's default growth. With small steps of growth,
 * many full collections would read the same objects again.
 */
export async function withLargeHeapSteps<Result>(
  work: () => Result | Promise<Result>,
): Promise<Result> {
  setFlagsFromString('--heap-growing-percent=0')
  try {
    return await work()
  } finally {
    setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  }
}
