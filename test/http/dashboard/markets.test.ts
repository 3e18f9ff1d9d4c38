// The list of markets without a browser: what an address asks for, and the finder against a server that answers when
// the test says so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { seededRandom } from '../../../engine/random.ts'
import { safeLink } from '../../../http/dashboard/parts/market-facts.ts'
import {
  hrefOfQuery,
  MarketFinder,
  type MarketQuery,
  PAGES_MAX,
  PAUSE_MS,
  queryOf,
  searchText,
} from '../../../http/dashboard/parts/market-search.ts'
import type { Market, MarketPage } from '../../../http/dashboard/records.ts'
import { parseRoute } from '../../../http/dashboard/route.ts'
import { feesRecord } from '../../../http/records/fees.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const EVERYTHING: MarketQuery = {
  ...{ text: '', venue: null, status: 'open', category: null },
  ...{ sort: null, isDown: true, isGrouped: false },
}
const searched = (text: string): MarketQuery => ({ ...EVERYTHING, text })

function market(id: string): Market {
  return {
    id,
    slug: id,
    question: `Will ${id} happen?`,
    description: null,
    status: 'open',
    resolution_status: null,
    settlement_price: null,
    outcomes: [],
    platforms: [],
    volume_24h: 0,
    volume_total: null,
    volume_unit: 'usd_traded',
    as_of_ms: null,
    volume_24h_as_of_ms: null,
    open_interest: null,
    created_at: null,
    close_time: null,
    tags: [],
    category: null,
    event_slug: null,
    image: null,
    price_step: 0.01,
    fees: feesRecord(FEES_UNKNOWN, 0),
  }
}

const page = (ids: readonly string[], cursor: string | null = null): MarketPage => ({
  markets: ids.map(market),
  total: ids.length,
  cursor,
  has_more: cursor !== null,
})

interface Request {
  readonly query: MarketQuery
  readonly cursor: string | null
  readonly signal: AbortSignal
  readonly answer: (page: MarketPage) => void
  readonly fail: (error: unknown) => void
}

/** A finder, and every request that it made. */
function rig() {
  const clock = new ManualClock()
  const requests: Request[] = []
  const finder = new MarketFinder({
    fetchMarkets: (query, cursor, signal) =>
      new Promise((answer, fail) => {
        requests.push({ query, cursor, signal, answer, fail })
      }),
    delay: (ms, action) => clock.after(ms, action),
  })
  const shown = () => finder.state.value.pages.map((markets) => markets.map(({ id }) => id))
  return { clock, requests, finder, shown }
}

/** Resolves once all settled promises have run their handlers. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('searches once after a pause in typing, and immediately when a filter changes', async () => {
  const { clock, requests, finder } = rig()
  finder.search(EVERYTHING)
  assert.equal(requests.length, 1, 'the first list needs no pause')
  requests[0]?.answer(page(['a']))
  await settled()
  for (const text of ['fe', 'fed', 'fed c', 'fed cu']) {
    finder.search(searched(text))
    clock.advance(PAUSE_MS - 1)
  }
  assert.equal(requests.length, 1)
  clock.advance(1)
  assert.deepEqual(
    requests.map(({ query }) => query.text),
    ['', 'fed cu'],
  )
  finder.search({ ...searched('fed cu'), venue: 'venue_b' })
  assert.equal(requests.at(-1)?.query.venue, 'venue_b')
})

test('does not search for a single letter or blanks, or again for unchanged input', () => {
  const { clock, requests, finder } = rig()
  for (const text of ['', ' ', 'f', ' f ']) {
    assert.equal(searchText(searched(text)), '')
    finder.search(searched(text))
    clock.advance(PAUSE_MS)
  }
  assert.equal(requests.length, 1)
})

test('never replaces a newer response with an older one, and cancels the older request', async () => {
  const { clock, requests, finder, shown } = rig()
  finder.search(EVERYTHING)
  requests[0]?.answer(page(['all']))
  await settled()
  finder.search(searched('one'))
  clock.advance(PAUSE_MS)
  finder.search(searched('two'))
  clock.advance(PAUSE_MS)
  assert.equal(requests[1]?.signal.aborted, true)
  assert.equal(requests[2]?.signal.aborted, false)
  assert.deepEqual([finder.state.value.phase, shown()], ['searching', [['all']]])
  requests[2]?.answer(page(['two']))
  await settled()
  requests[1]?.answer(page(['one']))
  await settled()
  assert.deepEqual([finder.state.value.phase, shown()], ['shown', [['two']]])
})

test('shows the results of the last text, whatever the order of input, pauses and responses', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { clock, requests, finder, shown } = rig()
    const random = seededRandom(seed)
    let text = ''
    finder.search(searched(text))
    for (let step = 0; step < 40; step += 1) {
      const kind = random.below(4)
      if (kind === 0) {
        text = `text ${random.below(5)}`
        finder.search(searched(text))
      } else if (kind === 1) clock.advance(random.below(PAUSE_MS * 2))
      else {
        const one = requests[random.below(Math.max(1, requests.length))]
        if (kind === 2) one?.answer(page([one.query.text]))
        else one?.fail(new Error('unreachable'))
      }
      await settled()
    }
    clock.advance(PAUSE_MS)
    if (finder.state.value.phase === 'failed') finder.again()
    requests.at(-1)?.answer(page([text]))
    await settled()
    assert.deepEqual([finder.state.value.phase, shown()], ['shown', [[text]]], `seed ${seed}`)
  }
})

test('requests further pages by cursor, one at a time, and appends them', async () => {
  const { requests, finder, shown } = rig()
  finder.search(EVERYTHING)
  finder.more()
  requests[0]?.answer(page(['a', 'b'], 'after b'))
  await settled()
  finder.more()
  finder.more()
  assert.equal(requests.length, 2)
  assert.equal(requests[1]?.cursor, 'after b')
  requests[1]?.answer(page(['c']))
  await settled()
  assert.deepEqual(shown(), [['a', 'b'], ['c']])
  finder.more()
  assert.equal(requests.length, 2, 'there is no more')
})

test('ignores further pages of a previous list', async () => {
  const { requests, finder, shown } = rig()
  finder.search(EVERYTHING)
  requests[0]?.answer(page(['a'], 'after a'))
  await settled()
  finder.more()
  finder.search({ ...EVERYTHING, status: 'closed' })
  requests[2]?.answer(page(['closed']))
  await settled()
  requests[1]?.answer(page(['b']))
  await settled()
  assert.deepEqual(shown(), [['closed']])
})

test('limits the number of pages and keeps the list when a request fails', async () => {
  const { requests, finder, shown } = rig()
  finder.search(EVERYTHING)
  for (let count = 0; count < PAGES_MAX + 3; count += 1) {
    requests.at(-1)?.answer(page([`page ${count}`], 'more'))
    await settled()
    finder.more()
  }
  assert.equal(shown().length, PAGES_MAX)
  finder.search({ ...EVERYTHING, venue: 'venue_a' })
  requests.at(-1)?.fail(new Error('unreachable'))
  await settled()
  assert.equal(finder.state.value.phase, 'failed')
  assert.equal(shown().length, PAGES_MAX)
  finder.again()
  requests.at(-1)?.answer(page(['back']))
  await settled()
  assert.deepEqual(shown(), [['back']])
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

test('ignores invalid URL parameters and truncates long search text', () => {
  const query = queryOf(new URLSearchParams(`status=wrong&venue=&q=${'x'.repeat(300)}`))
  assert.deepEqual(query, { ...EVERYTHING, text: 'x'.repeat(200) })
})

test('links only https URLs', () => {
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
