import { type StopTimer, systemClock } from '../../../engine/clock.ts'
import type { ManualClock } from './manual-clock.ts'

const STEP_MS = 10

/**
 * Advances the clock by 10 ms per event-loop tick, at most once per real millisecond. A slow machine then causes no
 * timeouts.
 */
export function waitOneTick(clock: ManualClock): StopTimer {
  return systemClock.every(1, () => clock.advance(STEP_MS))
}
