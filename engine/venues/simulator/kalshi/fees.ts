// Fees of the simulated venue b (engine/venues/kalshi/README.md, Fees). Some series change their fees at midnight. Some
// events override the fee multiplier every other hour.

import { crc32 } from 'node:zlib'
import { DAY_MS, timeMs } from '../../../units.ts'
import type { SimEvent } from '../model.ts'
import { hourOf, hourStart } from './terms.ts'
import { rfc3339 } from './text.ts'

interface SeriesFees {
  readonly fee_type: string
  readonly fee_multiplier: number
}

interface EventFees {
  readonly fee_type_override: string | null
  readonly fee_multiplier_override: number | null
}

const MAKER_FEE_SERIES = /^KX(NFL|NBA|MLB|NHL|NCAAF|NCAAMB)GAME$/
/** Of 16 series, one has no fee, one has half the fee, and one changes its fee at midnight. */
const SERIES_KINDS = 16
const EVENTS_EVERY = 16
const NO_OVERRIDE: EventFees = { fee_type_override: null, fee_multiplier_override: null }
const HALF: EventFees = { fee_type_override: null, fee_multiplier_override: 0.5 }

export function seriesFees(ticker: string, atMs: number): SeriesFees {
  const fee_type = MAKER_FEE_SERIES.test(ticker) ? 'quadratic_with_maker_fees' : 'quadratic'
  const isHalf = isChanging(ticker) && Math.floor(atMs / DAY_MS) % 2 === 1
  return { fee_type, fee_multiplier: isHalf ? 0.5 : baseMultiplier(ticker) }
}

function baseMultiplier(ticker: string): number {
  if (ticker.startsWith('KXMLB')) return 0.5
  const kind = crc32(ticker) % SERIES_KINDS
  return kind === 1 ? 0 : kind === 2 ? 0.5 : 1
}

function isChanging(ticker: string): boolean {
  return baseMultiplier(ticker) === 1 && crc32(ticker) % SERIES_KINDS === 3
}

/** An event that overrides fees does so in every other hour. */
export function eventFees(event: SimEvent, atMs: number): EventFees {
  if (!hasOwnFees(event)) return NO_OVERRIDE
  return hourOf(event, atMs) % 2 === 1 ? HALF : NO_OVERRIDE
}

export function hasOwnFees(event: SimEvent): boolean {
  return event.number % EVENTS_EVERY === 7
}

/** Rows of `/series/fee_changes` for a series: its next change and, with `hasPast`, its last one. */
export function seriesChanges(ticker: string, nowMs: number, hasPast: boolean): readonly unknown[] {
  if (!isChanging(ticker)) return []
  const today = Math.floor(nowMs / DAY_MS)
  return (hasPast ? [today, today + 1] : [today + 1]).map((day) => ({
    id: `${ticker}-${day}`,
    series_ticker: ticker,
    ...seriesFees(ticker, day * DAY_MS),
    scheduled_ts: rfc3339(timeMs(day * DAY_MS)),
  }))
}

export function eventChanges(event: SimEvent, nowMs: number, hasPast: boolean): readonly unknown[] {
  return (hasPast ? [0, 1] : [1]).map((later) => {
    const atMs = hourStart(event, hourOf(event, nowMs) + later)
    return {
      id: `${event.nativeId}-${atMs}`,
      event_ticker: event.nativeId,
      ...eventFees(event, atMs),
      scheduled_ts: rfc3339(atMs),
    }
  })
}

/** Events whose override changed in (afterMs, byMs] and that have not ended. */
export function eventsWithOtherFees(
  events: readonly SimEvent[],
  { afterMs, byMs }: { readonly afterMs: number; readonly byMs: number },
): readonly SimEvent[] {
  return events.filter(
    (event) =>
      hasOwnFees(event) && event.endMs > byMs && hourStart(event, hourOf(event, byMs)) > afterMs,
  )
}
