import assert from 'node:assert/strict'
import { test } from 'node:test'
import { priceOf } from '../../../engine/market/price.ts'
import { priceMicros } from '../../../engine/units.ts'

test('selects the price source in this order: settlement, narrow-spread midpoint, last trade, venue, single side, one half', () => {
  const nothing = {
    status: 'open',
    settlement: null,
    bid: null,
    ask: null,
    lastTrade: null,
    venuePrice: null,
  } as const
  const p = (value: number) => priceMicros(value)
  const table = [
    [{ ...nothing }, 500_000, 'none'],
    [{ ...nothing, ask: p(300_000) }, 300_000, 'one_side'],
    [{ ...nothing, ask: p(300_000), venuePrice: p(1) }, 1, 'venue'],
    [{ ...nothing, ask: p(300_000), venuePrice: p(1), lastTrade: p(2) }, 2, 'last_trade'],
    [{ ...nothing, bid: p(200_000), ask: p(300_000), lastTrade: p(2) }, 250_000, 'midpoint'],
    [{ ...nothing, bid: p(199_999), ask: p(300_000), lastTrade: p(2) }, 2, 'last_trade'],
    [
      { ...nothing, bid: p(200_000), ask: p(300_000), settlement: p(1_000_000) },
      250_000,
      'midpoint',
    ],
    [
      {
        ...nothing,
        status: 'resolved',
        bid: p(200_000),
        ask: p(300_000),
        settlement: p(1_000_000),
      },
      1_000_000,
      'settlement',
    ],
  ] as const
  for (const [facts, price, source] of table) assert.deepEqual(priceOf(facts), { price, source })
})

test('prefers a trade newer than the listing, then the listing’s prices, then an older trade when no book is subscribed', () => {
  const p = (value: number) => priceMicros(value)
  const listed = {
    status: 'open',
    ...{ settlement: null, isListed: true, isTradeNewer: false },
    ...{ bid: p(200_000), ask: p(300_000), lastTrade: p(2), venuePrice: p(1) },
  } as const
  const table = [
    [{ ...listed }, 250_000, 'venue'],
    [{ ...listed, isTradeNewer: true }, 2, 'last_trade'],
    [{ ...listed, ask: p(900_000) }, 1, 'venue'],
    [{ ...listed, ask: p(900_000), venuePrice: null }, 2, 'last_trade'],
    [{ ...listed, ask: null, venuePrice: null, lastTrade: null }, 200_000, 'one_side'],
  ] as const
  for (const [facts, price, source] of table) assert.deepEqual(priceOf(facts), { price, source })
})
