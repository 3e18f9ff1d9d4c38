import type { VenueFacts } from '../../venue-table.ts'
import { conditionId } from './condition-id.ts'
import { GAMMA_SUBJECTS } from './subjects.ts'

/** Stored records identify the venue by this letter. It must not change. */
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
  hasWallets: true,
}
