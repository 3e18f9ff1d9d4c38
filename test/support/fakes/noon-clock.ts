// For parts that wait on real sockets, threads and disks: timers go on with the machine, but the calendar stands still, so
// that no answer depends on how long a test takes.

import { type Clock, systemClock } from '../../../engine/clock.ts'
import { timeMs } from '../../../engine/units.ts'

/** The machine's timers, at noon UTC of 20 November 2026 for ever. */
export const noonClock: Clock = {
  ...systemClock,
  nowMs: () => timeMs(Date.UTC(2026, 10, 20, 12)),
}
