import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { formatTime, timeMs } from '../../../../../engine/units.ts'
import { PolymarketCatalog } from '../../../../../engine/venues/polymarket/catalog/catalog.ts'
import { openPolymarket } from '../../../../../engine/venues/polymarket/polymarket.ts'
import type { CatalogPage } from '../../../../../engine/venues/venue.ts'
import { noonClock } from '../../../../support/fakes/noon-clock.ts'
import { PolymarketStub, type StubRequest } from '../../../../support/fakes/polymarket-stub.ts'
import { stubHttp } from '../../../../support/fakes/stub-http.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

const NOW_MS = noonClock.nowMs()
const ago = (ms: number) => formatTime(timeMs(NOW_MS - ms))
const HOUR_MS = 3_600_000

const market = (number: number, more: object = {}) => ({
  conditionId: `0x${number}`,
  question: `Question ${number}`,
  slug: `market-${number}`,
  outcomes: '["Yes", "No"]',
  outcomePrices: '["0.4", "0.6"]',
  clobTokenIds: `["${number}1", "${number}2"]`,
  active: true,
  closed: false,
  acceptingOrders: true,
  updatedAt: ago(HOUR_MS),
  ...more,
})
const event = (number: number, more: object = {}) => ({
  id: String(number),
  slug: `event-${number}`,
  title: `Event ${number}`,
  tags: [{ label: 'Politics' }],
  updatedAt: ago(HOUR_MS),
  markets: [market(number)],
  ...more,
})

/** Accepts only the cursor `after_cursor`, like Gamma. */
function paged(rows: readonly object[], query: URLSearchParams, limit: number) {
  const from = Number(query.get('after_cursor') ?? '0')
  const more = from + limit < rows.length ? { next_cursor: String(from + limit) } : {}
  return { events: rows.slice(from, from + limit), ...more }
}

async function openCatalog(t: TestContext) {
  const stub = new PolymarketStub()
  const hosts = await stub.start()
  const metrics = new Metrics()
  const parts = { clock: noonClock, random: seededRandom(1), log: silentLog, metrics }
  const { catalog, feed, drift } = openPolymarket({ ...parts, emit: () => {} }, hosts)
  t.after(async () => {
    await feed.stop()
    await stub.stop()
  })
  const pages: CatalogPage[] = []
  const onPage = (page: CatalogPage) => void pages.push(page)
  const signal = new AbortController().signal
  const ids = () => pages.flatMap((page) => page.markets.map(({ nativeId }) => nativeId))
  const troubles = () =>
    [...metrics.counts('venue_troubles_total')].map(([key, { value }]) => [key, value])
  return { stub, catalog, onPage, signal, ids, pages, troubles, metrics, drift }
}

const queriesOf = (stub: PolymarketStub, path: string): StubRequest[] =>
  stub.requests.filter((request) => request.path === path)

test('requests all pages of open events and recently closed events with the venue’s after_cursor in a crawl', async (t) => {
  const { stub, catalog, onPage, signal, ids, pages } = await openCatalog(t)
  const open = Array.from({ length: 7 }, (_, number) => event(number))
  const closed = [event(50, { markets: [market(50, { closed: true })] })]
  stub.rest = ({ query }) => paged(query.get('closed') === 'true' ? closed : open, query, 3)
  await catalog.crawl(onPage, signal)
  assert.deepEqual(ids(), ['0x0', '0x1', '0x2', '0x3', '0x4', '0x5', '0x6', '0x50'])
  assert.equal(pages[0]?.events[0]?.nativeId, 'event-0')
  assert.equal(pages[0]?.markets[0]?.event, 'event-0')
  assert.equal(pages[0]?.markets[0]?.category, 'Politics')
  assert.equal('markets' in (pages[0]?.events[0]?.native ?? {}), false)
})

/** A closed event whose only market resolved `hours` ago. */
const over = (number: number, hours: number, more: object = {}) => {
  const at = ago(hours * HOUR_MS)
  const closed = { closed: true, closedTime: at, updatedAt: at }
  const rows = [market(number, { ...closed, umaResolutionStatus: 'resolved' })]
  return event(number, { ...closed, markets: rows, ...more })
}
const closedQueries = (stub: PolymarketStub) =>
  queriesOf(stub, '/events/keyset').filter(({ query }) => query.get('closed') === 'true')
const newestFirst = (rows: readonly Record<string, unknown>[], field: string) =>
  rows.toSorted((one, other) => String(other[field]).localeCompare(String(one[field])))

test('finds recently closed markets whose planned end passed long ago, and stops at markets that closed earlier', async (t) => {
  const { stub, catalog, onPage, signal, ids } = await openCatalog(t)
  const endDate = ago(400 * HOUR_MS)
  const closed = Array.from({ length: 60 }, (_, number) => over(100 + number, 1 + number * 12))
  const late = [over(1, 3, { endDate }), over(2, 20, { endDate })]
  // The event closed five days ago. Its market settled now, after a dispute.
  const settledAt = ago(HOUR_MS)
  const rows = [market(3, { closed: true, closedTime: ago(120 * HOUR_MS), umaEndDate: settledAt })]
  const disputed = over(3, 120, { endDate, updatedAt: settledAt, markets: rows })
  const all = [...closed, ...late, disputed]
  stub.rest = ({ query }) => {
    if (query.get('closed') === 'false') return paged([event(9)], query, 5)
    assert.equal(query.get('end_date_min'), null, 'the planned end is no filter')
    const order = query.get('order') ?? ''
    return query.get('ascending') === 'false' ? paged(newestFirst(all, order), query, 5) : 422
  }
  await catalog.crawl(onPage, signal)
  const lately = ['0x100', '0x101', '0x102', '0x103']
  assert.deepEqual(ids().toSorted(), ['0x9', ...lately, '0x1', '0x2', '0x3'].toSorted())
  assert.ok(closedQueries(stub).length <= 6, 'the history of all closed events is not read')
})

test('filters closed events by planned end when the venue does not sort them by close time', async (t) => {
  const endDate = ago(HOUR_MS)
  const closed = [over(1, 30, { endDate }), over(2, 3, { endDate })]
  const planned = (query: URLSearchParams) => Date.parse(query.get('end_date_min') ?? '')
  for (const isRefused of [true, false]) {
    const { stub, catalog, onPage, signal, ids } = await openCatalog(t)
    stub.rest = ({ query }) => {
      if (query.get('closed') === 'false') return paged([event(9)], query, 5)
      if (query.has('order') && isRefused) return 422
      return paged(closed, query, 5)
    }
    await catalog.crawl(onPage, signal)
    assert.deepEqual(ids(), ['0x9', '0x1', '0x2'])
    const last = closedQueries(stub).at(-1)?.query ?? new URLSearchParams()
    assert.equal(planned(last), NOW_MS - 48 * HOUR_MS)
  }
})

test('finds a market that was resolved since the last refresh, whatever its planned end', async (t) => {
  const { stub, catalog, onPage, signal, ids } = await openCatalog(t)
  const all = Array.from({ length: 40 }, (_, number) => over(100 + number, 2 + number))
  const late = over(1, 0, { endDate: ago(400 * HOUR_MS) })
  stub.rest = ({ query }) => {
    const planned = query.get('end_date_min') ?? ''
    const closed = [...all, late].filter(
      (row) => String(Reflect.get(row, 'endDate') ?? '9') >= planned,
    )
    const rows = query.get('closed') === 'false' ? [event(9)] : closed
    return paged(newestFirst(rows, query.get('order') ?? ''), query, 5)
  }
  await catalog.refresh(timeMs(NOW_MS - HOUR_MS / 2), onPage, signal)
  assert.deepEqual(ids(), ['0x1'])
  assert.ok(closedQueries(stub).length <= 2)
})

test('rejects a list of events whose cursor repeats, and retains the rows that were read before', async (t) => {
  const { stub, catalog, onPage, signal, ids } = await openCatalog(t)
  stub.rest = ({ query }) =>
    query.get('closed') === 'true' ? { events: [] } : { events: [event(1)], next_cursor: 'same' }
  const staleReason = { name: 'SuspectAnswerError', reason: 'cursor' }
  await assert.rejects(catalog.crawl(onPage, signal), staleReason)
  assert.deepEqual(ids(), ['0x1', '0x1'])
  for (const answer of [{ error: 'none' }, [], { events: {} }]) {
    stub.rest = () => answer
    await assert.rejects(catalog.crawl(onPage, signal), {
      name: 'SuspectAnswerError',
      reason: 'shape',
    })
  }
  stub.rest = () => ({ events: [] })
  await assert.rejects(
    catalog.refresh(timeMs(0), onPage, signal),
    { name: 'SuspectAnswerError', reason: 'empty' },
    'the newest rows come first, whatever their age',
  )
})

test('skips and counts markets that were resolved long ago and rows that are not markets', async (t) => {
  const { stub, catalog, onPage, signal, ids, metrics } = await openCatalog(t)
  const settled = { closed: true, umaResolutionStatus: 'resolved' }
  const rows = [
    event(1, {
      markets: [
        market(1, { ...settled, closedTime: '2024-01-05 06:36:50+00' }),
        market(2, { ...settled, closedTime: ago(HOUR_MS) }),
        market(3, { clobTokenIds: '[]' }),
        'nonsense',
      ],
    }),
  ]
  stub.rest = ({ query }) => paged(query.get('closed') === 'true' ? [] : rows, query, 100)
  await catalog.crawl(onPage, signal)
  assert.deepEqual(ids(), ['0x2'])
  assert.deepEqual([...metrics.counts('venue_rejected_total').keys()].sort(), [
    '{"venue":"a","reason":"no_tokens"}',
    '{"venue":"a","reason":"row_not_object"}',
  ])
  assert.deepEqual(
    [...metrics.counts('venue_ignored_total').keys()],
    ['{"venue":"a","reason":"long_settled"}'],
  )
})

test('ends a refresh at the first page of older rows, and reads a list that is not sorted to its end', async (t) => {
  const { stub, catalog, onPage, signal, ids } = await openCatalog(t)
  const ordered = [0.1, 0.2, 3, 4, 5, 6, 7, 8].map((hours, number) => {
    const updatedAt = ago(hours * HOUR_MS)
    return event(number, { updatedAt, markets: [market(number, { updatedAt })] })
  })
  let rows = ordered
  stub.rest = ({ query }) => paged(query.get('closed') === 'true' ? [] : rows, query, 2)
  await catalog.refresh(timeMs(NOW_MS - HOUR_MS), onPage, signal)
  assert.deepEqual(ids(), ['0x0', '0x1'])
  const openQueries = () =>
    queriesOf(stub, '/events/keyset').filter(({ query }) => query.get('closed') === 'false')
  assert.equal(openQueries().length, 2)
  assert.equal(openQueries()[0]?.query.get('order'), 'updatedAt')
  rows = [...ordered].reverse()
  await catalog.refresh(timeMs(NOW_MS - HOUR_MS), onPage, signal)
  assert.deepEqual(ids().slice(2).sort(), ['0x0', '0x1'])
})

test('reads the full list when the server refuses sorting, and does not request sorting afterwards', async (t) => {
  const { stub, catalog, onPage, signal, ids } = await openCatalog(t)
  const rows = [event(1), event(2, { updatedAt: ago(0) })]
  stub.rest = ({ query }) =>
    query.has('order') ? 422 : paged(query.get('closed') === 'true' ? [] : rows, query, 100)
  await catalog.refresh(timeMs(NOW_MS - 60_000), onPage, signal)
  assert.deepEqual(ids(), ['0x2'])
  await catalog.refresh(timeMs(NOW_MS - 60_000), onPage, signal)
  const refused = queriesOf(stub, '/events/keyset').filter(({ query }) => query.has('order'))
  assert.equal(refused.length, 1)
})

test('requests single markets, open or closed, with their event, and omits unknown markets', async (t) => {
  const { stub, catalog, signal } = await openCatalog(t)
  const nested = { events: [{ slug: 'event-9', title: 'Event 9' }] }
  const open = new Map([['0x1', market(1, nested)]])
  const closed = new Map([['0x2', market(2, { ...nested, closed: true })]])
  stub.rest = ({ path, query }) => {
    if (path === '/events/slug/event-9') return event(9)
    if (path !== '/markets/keyset') return 404
    const held = query.get('closed') === 'true' ? closed : open
    const found = query.getAll('condition_ids').map((id) => held.get(id))
    return { markets: found.filter((row) => row !== undefined) }
  }
  const wanted = ['0x1', '0x2', '0x3'].map(nativeMarketId)
  const page = await catalog.fetchMarkets(wanted, signal)
  assert.deepEqual(
    page.markets.map(({ nativeId, status, category }) => [nativeId, status, category]),
    [
      ['0x1', 'open', 'Politics'],
      ['0x2', 'closed', 'Politics'],
    ],
  )
  assert.deepEqual(
    page.events.map(({ nativeId }) => nativeId),
    ['event-9'],
  )
  stub.rest = () => ({ error: 'no' })
  await assert.rejects(catalog.fetchMarkets(wanted, signal))
})

test('finds a protocol v2 market by its short condition id and by its padded condition id', async (t) => {
  const { stub, catalog, signal, drift } = await openCatalog(t)
  const short = `0x01${'7a'.repeat(30)}`
  const nested = { events: [{ slug: 'event-9', title: 'Event 9', tags: [] }] }
  const v2 = { ...nested, version: 'v2', positionIds: ['651', '652'], clobTokenIds: null }
  const v1 = `0x${'ab'.repeat(31)}00`
  for (const listed of [short, `${short}00`]) {
    const rows = [
      { ...market(1, v2), conditionId: listed },
      { ...market(2, nested), conditionId: v1 },
      { ...market(3, { ...v2, version: 'v9' }), conditionId: '0x3' },
    ]
    stub.rest = ({ query }) => {
      const ids = query.getAll('condition_ids')
      return { markets: rows.filter(({ conditionId: id }) => ids.includes(id) || id === '0x3') }
    }
    const page = await catalog.fetchMarkets([`${short}00`, v1].map(nativeMarketId), signal)
    assert.deepEqual(
      page.markets.map(({ nativeId }) => nativeId),
      [`${short}00`, v1],
    )
  }
  const [entry] = drift.entries()
  assert.deepEqual([entry?.kind, entry?.name], ['gamma.version', 'v9'])
})

test('returns all neg-risk markets of an event, including closed markets, and no group for other markets', async () => {
  const inGroup = (number: number, more: object = {}) =>
    market(number, { negRisk: true, negRiskMarketID: '0xgroup', ...more })
  const markets = [
    inGroup(4, { closed: true, umaResolutionStatus: 'resolved' }),
    inGroup(2),
    market(9),
    inGroup(7, { negRiskMarketID: '0xother' }),
    inGroup(5, { active: false, clobTokenIds: '[]' }),
    inGroup(3, { conditionId: '' }),
  ]
  const parent = { slug: 'event-1' }
  const open = [inGroup(2, { events: [parent] }), market(9, { events: [parent] })]
  const closed = [
    inGroup(4, { closed: true, events: [parent] }),
    inGroup(6, { events: [{ slug: 'gone' }] }),
    inGroup(8, { events: [parent] }),
  ]
  let isDown = false
  const gamma = stubHttp((path, query) => {
    if (isDown) return 500
    if (path === '/events/slug/event-1') return event(1, { markets })
    if (path !== '/markets/keyset') return 404
    const ids = query.getAll('condition_ids')
    const held = query.get('closed') === 'true' ? closed : open
    return { markets: held.filter(({ conditionId }) => ids.includes(conditionId)) }
  })
  const catalog = new PolymarketCatalog({
    ...{ clock: noonClock, gamma, counters: venueCounters('a').counters },
    fees: { completed: (market) => market },
  })
  const signal = new AbortController().signal
  const groupOf = (number: number) => catalog.group(nativeMarketId(`0x${number}`), signal)
  for (const number of [2, 4]) {
    assert.deepEqual(await groupOf(number), ['0x4', '0x2', '0x5'], `as seen from ${number}`)
  }
  // A single market, a market of a missing event, a market that its event does not list, and an unknown market.
  for (const number of [9, 6, 8, 77]) assert.equal(await groupOf(number), null, String(number))
  isDown = true
  await assert.rejects(groupOf(2), { name: 'FetchError' })
})
