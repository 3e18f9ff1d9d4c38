// Times of a slot's cycles. A cycle is announced at the moment when an older one, `copies` cycles before it, is
// removed. A cycle is removed two days after its resolution. Therefore exactly `copies` cycles exist at any time.

import { DAY_MS, HOUR_MS, MINUTE_MS, timeMs } from '../../../units.ts'
import type { SimListing, SimVenue } from '../model.ts'
import { chanceOf } from './path.ts'
import type { Slot } from './slots.ts'

const RETENTION_MS = 2 * DAY_MS

export type SlotTimes = Pick<
  SimListing,
  'createdMs' | 'openMs' | 'closeMs' | 'determineMs' | 'resolveMs'
>

export function timesOf(slot: Slot, venue: SimVenue, cycle: number): SlotTimes {
  const createdMs = createdOf(slot, venue, cycle)
  const closeMs = closeOf(slot, venue, cycle)
  const lifeMs = closeMs - createdMs
  const lead = 0.05 + 0.3 * chanceOf(slot.variant.key, cycle, venue, 'lead') ** 2
  const { determineMs, resolveMs } = resultTimes(slot, venue, cycle)
  return {
    createdMs: timeMs(createdMs),
    openMs: timeMs(createdMs + Math.min(lifeMs * lead, 30 * HOUR_MS)),
    closeMs: timeMs(closeMs),
    determineMs: timeMs(determineMs),
    resolveMs: timeMs(resolveMs),
  }
}

/** Under the trap other_date venue b's close differs. */
export function closeOf(slot: Slot, venue: SimVenue, cycle: number): number {
  const isShifted = venue === 'b' && slot.trap === 'other_date'
  return slot.variant.schedule.closeMs(cycle) + (isShifted ? slot.variant.otherDateMs : 0)
}

export function createdOf(slot: Slot, venue: SimVenue, cycle: number): number {
  return endOf(slot, venue, cycle - slot.variant.copies) + 1
}

/** The first cycle that exists at a time. The next `copies` − 1 cycles exist too. */
export function presentFrom(slot: Slot, venue: SimVenue, atMs: number): number {
  let cycle = slot.variant.schedule.cycleNear(atMs - RETENTION_MS)
  while (endOf(slot, venue, cycle) >= atMs) cycle -= 1
  while (endOf(slot, venue, cycle) < atMs) cycle += 1
  return cycle
}

function endOf(slot: Slot, venue: SimVenue, cycle: number): number {
  return Math.floor(resultTimes(slot, venue, cycle).resolveMs) + RETENTION_MS
}

/** The result follows some minutes after the close. The resolution follows up to an hour later. */
function resultTimes(
  slot: Slot,
  venue: SimVenue,
  cycle: number,
): { determineMs: number; resolveMs: number } {
  const jitterMs = Math.min(slot.variant.schedule.periodMs / 8, 20 * MINUTE_MS)
  const first = chanceOf(slot.variant.key, venue, cycle, 'determine')
  const second = chanceOf(slot.variant.key, venue, cycle, 'resolve')
  const determineMs =
    closeOf(slot, venue, cycle) +
    slot.determineMs[venue] +
    first * Math.min(jitterMs, 5 * MINUTE_MS)
  return { determineMs, resolveMs: determineMs + slot.resolveMs[venue] + second * jitterMs }
}
