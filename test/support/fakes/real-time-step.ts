// A clock's own time, for a whole engine and its venues in one process: it goes on by a step between the turns of the
// process, so that a slow machine makes everything slower and nothing late.

import { type StopTimer, systemClock } from '../../../engine/clock.ts'
import type { ManualClock } from './manual-clock.ts'

const STEP_MS = 10

/** Moves the clock on, by 10 ms every millisecond or turn of the process, whichever takes longer, until stopped. */
export function waitOneTick(clock: ManualClock): StopTimer {
  return systemClock.every(1, () => clock.advance(STEP_MS))
}
