import { type StopTimer, systemClock } from '../../../engine/clock.ts'
import type { ManualClock } from './manual-clock.ts'

const STEP_MS = 10

/**
 * Advances the clock by 10 ms per event-loop tick, at most once per real millisecond, so a slow machine causes no
 * timeouts. Runs until stopped.
 */
export function waitOneTick(clock: ManualClock): StopTimer {
  return systemClock.every(1, () => clock.advance(STEP_MS))
}
