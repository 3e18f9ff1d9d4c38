// Timers run in real time. The wall clock does not advance, so that results do not depend on a test's duration.

import { type Clock, systemClock } from '../../../engine/clock.ts'
import { timeMs } from '../../../engine/units.ts'

/** The wall clock is fixed at noon UTC of 20 November 2026. */
export const noonClock: Clock = {
  ...systemClock,
  nowMs: () => timeMs(Date.UTC(2026, 10, 20, 12)),
}
