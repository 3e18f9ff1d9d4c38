// A clock for components that wait on real sockets, threads and disks: timers run in real time, but the calendar does
// not move, so that results do not depend on a test's duration.

import { type Clock, systemClock } from '../../../engine/clock.ts'
import { timeMs } from '../../../engine/units.ts'

/** Real timers, with the calendar fixed at noon UTC of 20 November 2026. */
export const noonClock: Clock = {
  ...systemClock,
  nowMs: () => timeMs(Date.UTC(2026, 10, 20, 12)),
}
