// What this venue is to everything outside its folder (engine/venue-table.ts explains each fact).

import type { VenueFacts } from '../../venue-table.ts'
import { conditionId } from './condition-id.ts'
import { GAMMA_SUBJECTS } from './subjects.ts'

/** The key is the letter in every stored record of this venue. */
export const POLYMARKET: VenueFacts = {
  key: 'a',
  protocol: 'polymarket',
  name: 'venue_a',
  handles: 'slug',
  idFields: { market: 'condition_id', event: null },
  idOf: conditionId,
  exampleMarket: null,
  subjects: GAMMA_SUBJECTS,
  volumeUnit: 'usd_traded',
  figuresIn: null,
  hasWallets: true,
}
