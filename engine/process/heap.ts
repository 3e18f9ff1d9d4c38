// How far the heap may grow between two full collections.

import { setFlagsFromString } from 'node:v8'

/** As in engine/app/start.mjs. */
const GROWTH_PERCENT = 30

/**
 * Only for processes of engine/app/start.mjs, because V8 flags apply to the whole process. Runs work whose allocations
 * stay, such as loading a catalogue, with V8's default growth. With small steps of growth, many full collections would
 * read the same objects again.
 */
export async function withLargeHeapSteps<Result>(work: () => Promise<Result>): Promise<Result> {
  setFlagsFromString('--heap-growing-percent=0')
  try {
    return await work()
  } finally {
    setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  }
}
