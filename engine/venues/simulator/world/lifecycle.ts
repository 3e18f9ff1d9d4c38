// State transitions of a market at the calendar's times, in order. A market passes through every state, even if the
// clock jumps over several.

import { SIZE_ZERO, type TimeMs } from '../../../units.ts'
import type { SimStatus, WorldChange } from '../model.ts'
import { BookChanges } from './book-changes.ts'
import type { LiveMarket } from './live-market.ts'

/** Each status with the next status and the kind of change that is emitted. */
export const LIFE: Readonly<
  Record<SimStatus, { readonly next: SimStatus; readonly moment: SimMoment } | null>
> = {
  unopened: { next: 'open', moment: 'opened' },
  open: { next: 'closed', moment: 'closed' },
  closed: { next: 'determined', moment: 'determined' },
  determined: { next: 'resolved', moment: 'resolved' },
  resolved: null,
}

/** Time of the market's next status change. Null: it is final. */
export function nextMomentMs({ status, listing }: LiveMarket): TimeMs | null {
  if (status === 'unopened') return listing.openMs
  if (status === 'open') return listing.closeMs
  if (status === 'closed') return listing.determineMs
  return status === 'determined' ? listing.resolveMs : null
}

/** Removes every quote from the book and emits that, as venues cancel resting orders at the close. */
export function endTrading(
  market: LiveMarket,
  atMs: TimeMs,
  emit: (change: WorldChange) => void,
): void {
  if (market.isTouched) {
    const book = market.liveBook()
    if (book !== null) {
      const changes = new BookChanges(market, book)
      for (const { price } of book.bids) changes.set('bid', price, SIZE_ZERO)
      for (const { price } of book.asks) changes.set('ask', price, SIZE_ZERO)
      changes.emit(atMs, emit)
    }
  }
  market.dropBook()
}

type SimMoment = 'opened' | 'closed' | 'determined' | 'resolved'
