// Handles halts of an exchange shard. Its markets are closed until it trades again, although no message reports this.

import type { Clock } from '../../../clock.ts'
import type { VenueEvent } from '../../../events.ts'
import { nativeMarketId } from '../../../ids.ts'
import type { MarketTerms } from '../market-terms.ts'
import type { StatusTimers } from './status-timers.ts'

interface HaltParts {
  readonly clock: Clock
  readonly terms: MarketTerms
  readonly timers: StatusTimers
  readonly emit: (event: VenueEvent) => void
}

export class ExchangeHalts {
  readonly #parts: HaltParts

  constructor(parts: HaltParts) {
    this.#parts = parts
  }

  /** Closes the open markets of the shard. When it trades again, the listings of all its markets are read. */
  note(shard: number, isTrading: boolean): void {
    const { clock, terms, timers, emit } = this.#parts
    const nowMs = clock.nowMs()
    const stamps = { venue: 'b', venueTimeMs: nowMs, receivedAtMs: nowMs } as const
    for (const ticker of terms.tickersOf(shard)) {
      const status = timers.statusOf(ticker)
      if (status === null || status === 'resolved') continue
      const market = nativeMarketId(ticker)
      if (isTrading) timers.confirmSoon(ticker)
      else if (status === 'open') {
        timers.noteStatus(ticker, 'closed')
        emit({ kind: 'marketStatus', ...stamps, market, status: 'closed', settlementPrice: null })
      }
    }
  }
}
