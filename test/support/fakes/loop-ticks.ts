import type { StopTimer } from '../../../engine/clock.ts'

/** Counts event-loop ticks until `stop` is called. A running counter keeps the process alive. */
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
