import { DAY_MS, MINUTE_MS } from '../../../units.ts'
import { easternMs, easternTime } from './eastern.ts'

/** The closing time strictly increases with the cycle. */
export interface Schedule {
  /** Approximate time between two closes. */
  readonly periodMs: number
  closeMs(cycle: number): number
  /** A cycle that closes within about two periods of the time. */
  cycleNear(atMs: number): number
}

/** A close every `periodMs`. The first close is `phaseMs` after the start of 1970. */
export function everyPeriod(periodMs: number, phaseMs: number): Schedule {
  return {
    periodMs,
    closeMs: (cycle) => phaseMs + cycle * periodMs,
    cycleNear: (atMs) => Math.floor((atMs - phaseMs) / periodMs),
  }
}

/** A close every `days` days at `minuteOfDay` in New York, which may be above a day. */
export function everyDays(rule: { days: number; dayPhase: number; minuteOfDay: number }): Schedule {
  const { days, dayPhase, minuteOfDay } = rule
  return {
    periodMs: days * DAY_MS,
    closeMs: (cycle) => easternMs({ dayNumber: dayPhase + cycle * days, minuteOfDay }),
    cycleNear: (atMs) => Math.floor(((atMs - minuteOfDay * MINUTE_MS) / DAY_MS - dayPhase) / days),
  }
}

/** A close every `months` months on a day of the month (1 to 28), at `minuteOfDay` in New York. */
export function everyMonths(rule: {
  months: number
  monthPhase: number
  day: number
  minuteOfDay: number
}): Schedule {
  const { months, monthPhase, day, minuteOfDay } = rule
  return {
    periodMs: months * 30 * DAY_MS,
    closeMs(cycle) {
      const dayNumber = Date.UTC(1970, monthPhase + cycle * months, day) / DAY_MS
      return easternMs({ dayNumber, minuteOfDay })
    },
    cycleNear(atMs) {
      const at = easternTime(atMs)
      return Math.floor(((at.year - 1970) * 12 + at.month - 1 - monthPhase) / months)
    },
  }
}
