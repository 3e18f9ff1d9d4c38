// Counts the turns of the event loop while a test's work goes on in it, to tell in which turn a piece was done.

import type { StopTimer } from '../../../engine/clock.ts'

/** Counts from now on until stopped; without `stop` the process does not end. */
export function countTicks(): { readonly count: () => number; readonly stop: StopTimer } {
  let count = 0
  let isOn = true
  const check = () => {
    if (!isOn) return
    count += 1
    setImmediate(check)
  }
  setImmediate(check)
  return {
    count: () => count,
    stop: () => {
      isOn = false
    },
  }
}
