import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hrefOfQuery,
  type MarketQuery,
  pauseMsBefore,
  queryOf,
  searchText,
} from '../../../http/dashboard/pages/markets.ts'
import { type PricedMarket, sumOfYes } from '../../../http/dashboard/parts/event-outcomes.ts'
import { safeLink } from '../../../http/dashboard/parts/market-facts.ts'
import { parseRoute } from '../../../http/dashboard/route.ts'

const EVERYTHING: MarketQuery = {
  ...{ text: '', venue: null, status: 'open', category: null },
  ...{ sort: null, isDown: true, isGrouped: false },
}

test('does not search for a single letter or for blank text', () => {
  for (const text of ['', ' ', 'f', ' f ']) assert.equal(searchText({ ...EVERYTHING, text }), '')
  assert.equal(searchText({ ...EVERYTHING, text: ' fed ' }), 'fed')
})

test('loads markets at once after a filter change, and after a pause after a text change', () => {
  const typed = { ...EVERYTHING, text: 'fed' }
  assert.equal(pauseMsBefore(typed, EVERYTHING), 250)
  assert.equal(pauseMsBefore({ ...typed, text: 'fed rate' }, typed), 250)
  const filters = [{ venue: 'venue_a' }, { status: null }, { isDown: false }, { isGrouped: true }]
  for (const change of filters) {
    assert.equal(pauseMsBefore({ ...typed, ...change }, typed), 0)
    assert.equal(pauseMsBefore({ ...typed, ...change }, EVERYTHING), 0, 'before the pause is over')
  }
})

test('restores a search with any text from its URL', () => {
  const texts = ['', 'fed', 'a & b=c', '50% off?', 'é ✓ #1/2', ' two  blanks ', '+1', '<b>']
  for (const text of texts) {
    for (const status of [null, 'open', 'closed', 'resolved'] as const) {
      for (const category of [null, 'Climate & Weather']) {
        const sort = text === 'fed' ? ('close_time' as const) : null
        const chosen = { sort, isDown: category === null, isGrouped: status === 'open' }
        const query = { ...chosen, text, venue: 'venue_a', status, category }
        const there = parseRoute(hrefOfQuery(query))
        assert.equal(there.page, 'markets')
        assert.deepEqual(queryOf(there.query), query)
      }
    }
  }
})

test('replaces invalid URL parameters by defaults, and truncates a long search text', () => {
  const query = queryOf(new URLSearchParams(`status=wrong&venue=&q=${'x'.repeat(300)}`))
  assert.deepEqual(query, { ...EVERYTHING, text: 'x'.repeat(200) })
})

test('accepts https URLs as links, and rejects all other URLs', () => {
  assert.equal(safeLink('https://venue.example/a?b=c'), 'https://venue.example/a?b=c')
  const others = [
    null,
    '',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>',
    'http://venue.example/',
    '//venue.example',
    '/markets',
    'https://',
    'file:///etc/passwd',
    'blob:https://venue.example/1',
  ]
  for (const address of others) assert.equal(safeLink(address), null, String(address))
})

test('sums the first outcomes of open markets, and returns null when a price is unknown or no market is open', () => {
  const market = (id: string, price: number | null, status: PricedMarket['status'] = 'open') => ({
    ...{ id, status },
    outcomes: price === null ? [] : [{ label: 'Yes', price, price_cents: price * 100 }],
  })
  const known = [market('one', 0.25), market('two', 0.5), market('three', 1, 'resolved')]
  assert.equal(sumOfYes(known, new Map()), 0.75)
  assert.equal(sumOfYes([...known, market('four', null)], new Map()), null)
  assert.equal(sumOfYes(known.slice(2), new Map()), null)
  assert.equal(sumOfYes([], new Map()), null)
})
