import { nativeMarketId } from '../../ids.ts'
import type { VenueFacts } from '../../venue-table.ts'
import { KALSHI_SUBJECTS } from './subjects.ts'

/** Stored records identify the venue by this letter. It must not change. */
export const KALSHI: VenueFacts = {
  key: 'b',
  protocol: 'kalshi',
  name: 'venue_b',
  handles: 'ticker',
  idFields: { market: 'ticker', event: 'event_ticker' },
  idOf: nativeMarketId,
  exampleMarket: 'KXNFLGAME-25NOV02DENHOU-DEN',
  subjects: KALSHI_SUBJECTS,
  volumeUnit: 'usd_notional',
  hasWallets: false,
}
