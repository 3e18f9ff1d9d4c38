// What this venue is to everything outside its folder (engine/venue-table.ts explains each fact).

import { nativeMarketId } from '../../ids.ts'
import type { VenueFacts } from '../../venue-table.ts'
import { tradingFigures } from './catalog/listing.ts'
import { KALSHI_SUBJECTS } from './subjects.ts'

/** The key is the letter in every stored record of this venue. */
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
  figuresIn: tradingFigures,
  hasWallets: false,
}
