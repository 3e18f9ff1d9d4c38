// Advances a manual clock for an engine and its venues in one process. Time advances between event-loop ticks, so a
// slow machine causes no timeouts.

import { type StopTimer, systemClock } from '../../../engine/clock.ts'
import type { ManualClock } from './manual-clock.ts'

const STEP_MS = 10

/** Advances the clock by 10 ms per event-loop tick, at most once per real millisecond. Runs until stopped. */
export function waitOneTick(clock: ManualClock): StopTimer {
  return systemClock.every(1, () => clock.advance(STEP_MS))
}
