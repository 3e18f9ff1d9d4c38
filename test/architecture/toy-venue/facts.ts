import { nativeMarketId } from '../../../engine/ids.ts'
import type { VenueFacts } from '../../../engine/venue-table.ts'

export const TOY: VenueFacts = {
  key: 't',
  protocol: 'toy',
  name: 'toy',
  handles: 'slug',
  idFields: { market: 'toy_id', event: null },
  subjects: {
    market: (row) => ({
      ...{ venue: 't', handles: 'slug', key: String(row.id), title: String(row.asks) },
      ...{ subtitle: '', outcomes: ['Yes', 'No'], rules: '', handle: '', eventKey: null },
      ...{ eventTitle: '', eventSubtitle: '', series: null, category: null, tags: [] },
      ...{ startMs: null, closeMs: null, strike: null, betType: '', line: null },
    }),
    event: (row) => ({
      ...{ venue: 't', handles: 'slug', key: String(row.id), title: '', subtitle: '', rules: '' },
      ...{ handle: '', series: null, category: null, tags: [], startMs: null, closeMs: null },
      ...{ isExclusive: null, markets: [] },
    }),
    isEvent: () => false,
  },
  idOf: nativeMarketId,
  exampleMarket: null,
  volumeUnit: 'usd_traded',
  hasWallets: false,
}
