import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog } from '../../../actors/catalog/catalog.ts'
import { EventRoutes } from '../../../actors/venue/event-routes.ts'
import type { CatalogWatcher, MarketFilter, MarketPage } from '../../../actors/views.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import {
  CURVE_ZERO,
  FEES_UNKNOWN,
  type FeeModel,
  type MarketFees,
  MODEL_UNKNOWN,
} from '../../../engine/market/fees.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { seededRandom } from '../../../engine/random.ts'
import { DAY_MS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { venueTable } from '../../../engine/venues/venues.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { eventListing, listing, NAMES, NOON, trade } from '../../support/worlds/builders.ts'
import { ANY_MARKET as ANY, emptyCatalog } from '../../support/worlds/random-catalog.ts'

function openCatalog(
  listings: readonly MarketListing[] = [],
  storage = openMemoryStorage(),
  names = NAMES,
) {
  const opened = emptyCatalog(storage, names)
  opened.catalog.take({ markets: listings, events: [] })
  return opened
}

const page = (catalog: Catalog, set: Partial<Parameters<Catalog['list']>[0]> = {}): MarketPage => {
  const result = catalog.list({
    filter: ANY,
    sortBy: 'volume',
    order: 'desc',
    pin: null,
    offset: 0,
    limit: 100,
    ...set,
  })
  assert.ok(result !== 'expired')
  return result
}

const slugs = (shown: MarketPage) => shown.markets.map(({ summary }) => summary.slug)

test('finds a market by slug and by id when the name of one venue’s platform is a prefix of the other platform’s name', () => {
  const names = venueTable({ a: 'venue', b: 'venue_b' })
  const { catalog } = openCatalog(
    [listing('0xAB'), listing('KX_b-1', { venue: 'b' })],
    undefined,
    names,
  )
  assert.equal(catalog.find('VENUE_0xab')?.ref.id, 'venue_0xAB')
  assert.equal(catalog.find('venue_b_kx_B-1')?.ref.nativeId, 'KX_b-1')
  assert.equal(catalog.find('venue_unknown'), null)
  assert.equal(catalog.find('0xAB'), null)
  assert.equal(catalog.findBySlug('SLUG-0xab')?.ref.nativeId, '0xAB')
})

test('restores the catalogue from storage with unchanged market numbers', () => {
  const { catalog, storage } = openCatalog([listing('x'), listing('y')])
  const again = openCatalog([], storage).catalog
  assert.equal(again.load(), 2)
  assert.equal(again.find('venue_a_y')?.ref.number, catalog.find('venue_a_y')?.ref.number)
  assert.equal(again.find('venue_a_y')?.details().description, 'Rules of y.')
})

test('updates a market and publishes its new status when a second crawl lists it, without reporting a new market', () => {
  const { catalog, updates } = openCatalog([listing('x')])
  assert.deepEqual(catalog.take({ markets: [listing('x', { status: 'closed' })], events: [] }), [])
  assert.equal(catalog.find('venue_a_x')?.summary.status, 'closed')
  assert.deepEqual(
    updates.flatMap((update) => (update.kind === 'lifecycle' ? [update.event] : [])),
    ['closed'],
  )
})

test('publishes the lifecycle event `opened` for an open market that a venue lists after the catalogue was loaded', () => {
  const { catalog, updates } = openCatalog([listing('first')])
  const published = () =>
    updates.flatMap((update) =>
      update.kind === 'lifecycle' ? [[update.market.nativeId, update.event]] : [],
    )
  assert.deepEqual(published(), [], 'the first crawl publishes nothing')
  catalog.isLoaded = true
  const markets = [listing('first'), listing('new'), listing('over', { status: 'closed' })]
  catalog.take({ markets, events: [] })
  assert.deepEqual(published(), [['new', 'opened']])
})

test('combines list filters, and lists unopened markets for the status closed and for no other status', () => {
  const rows = [
    listing('one', { tags: ['Sports', 'NFL'], volume24h: usdMicros(5_000_000) }),
    listing('two', { tags: ['sports'], category: 'Culture', createdAtMs: timeMs(NOON - 1_000) }),
    listing('three', { venue: 'b', status: 'closed', volume24h: usdMicros(9_000_000) }),
    listing('four', { status: 'closed', isUnopened: true }),
  ]
  const { catalog } = openCatalog(rows)
  const found = (set: Partial<MarketFilter>) => slugs(page(catalog, { filter: { ...ANY, ...set } }))
  assert.deepEqual(found({}), ['slug-three', 'slug-one', 'slug-two'])
  assert.deepEqual(found({ status: 'closed' }), ['slug-three', 'slug-four'])
  assert.deepEqual(found({ tags: ['SPORTS'] }), ['slug-one', 'slug-two'])
  assert.deepEqual(found({ tags: ['sports'], category: 'politics' }), ['slug-one'])
  assert.deepEqual(found({ volume24hMin: usdMicros(5_000_000) }), ['slug-three', 'slug-one'])
  assert.deepEqual(found({ venue: 'b', status: 'open' }), [])
  assert.deepEqual(found({ eventSlug: 'EVENT-two' }), ['slug-two'])
  assert.deepEqual(found({ createdFromMs: NOON }), ['slug-three', 'slug-one'])
  assert.deepEqual(found({ createdToMs: timeMs(NOON - 1) }), ['slug-two'])
})

test('filters open and closed markets by resolution status', () => {
  const { catalog } = openCatalog([
    listing('quiet'),
    listing('doubtful', { resolutionStatus: 'disputed' }),
    listing('shut', { status: 'closed', resolutionStatus: 'disputed' }),
    listing('done', { status: 'resolved', resolutionStatus: null }),
  ])
  const found = (set: Partial<MarketFilter>) => slugs(page(catalog, { filter: { ...ANY, ...set } }))
  assert.deepEqual(found({ resolution: 'disputed' }), ['slug-doubtful', 'slug-shut'])
  assert.deepEqual(found({ resolution: 'disputed', status: 'open' }), ['slug-doubtful'])
  assert.deepEqual(found({ resolution: 'resolved' }), ['slug-done'])
  assert.deepEqual(found({ resolution: 'proposed' }), [])
})

test('filters markets by phase, which includes values that status lacks, such as unopened', () => {
  const { catalog } = openCatalog([
    listing('new', { status: 'closed', isUnopened: true }),
    listing('live'),
    listing('shut', { status: 'closed' }),
    listing('done', { status: 'resolved', volumeTotal: null }),
  ])
  const found = (set: Partial<MarketFilter>) => slugs(page(catalog, { filter: { ...ANY, ...set } }))
  assert.deepEqual(found({ phase: 'unopened' }), ['slug-new'])
  assert.deepEqual(found({ phase: 'open' }), ['slug-live'])
  assert.deepEqual(found({ phase: 'closed' }), ['slug-shut'])
  assert.deepEqual(found({ phase: 'settled' }), ['slug-done'])
  assert.deepEqual(found({ phase: 'ended' }), ['slug-shut', 'slug-done'])
  assert.equal(found({ phase: 'any' }).length, 4)
  assert.deepEqual(found({ phase: 'any', status: 'closed' }), ['slug-new', 'slug-shut'])
  assert.deepEqual(found({ volumeTotalMin: usdMicros(1) }), ['slug-live', 'slug-shut'])
})

test('returns every market of a pinned list once while volumes change', () => {
  const seeds = process.env.TEST_LONG === '1' ? 30 : 3
  for (let seed = 0; seed < seeds; seed += 1) {
    const random = seededRandom('pages', seed)
    const volume = () => usdMicros(random.below(1_000) * 1_000_000)
    const names = Array.from({ length: 57 }, (_, index) => `m${index}`)
    const { catalog } = openCatalog(names.map((name) => listing(name, { volume24h: volume() })))
    const seen: string[] = []
    let next: MarketPage['next'] = { pin: -1, offset: 0 }
    for (let first = true; next !== null; first = false) {
      const shown = page(catalog, {
        pin: first ? null : next.pin,
        offset: next.offset,
        limit: 1 + random.below(9),
      })
      seen.push(...slugs(shown))
      assert.equal(shown.total, 57)
      next = shown.next
      catalog.take({
        markets: names.map((name) => listing(name, { volume24h: volume() })),
        events: [],
      })
      catalog.take({ markets: [listing(`late${seen.length}`)], events: [] })
    }
    assert.equal(new Set(seen).size, 57, `seed ${seed}`)
    assert.equal(seen.length, 57)
  }
})

test('shares a ranking between clients for five seconds, and accepts the pin of that ranking for five more minutes', () => {
  const { catalog, clock } = openCatalog([listing('x'), listing('y')])
  const first = page(catalog, { limit: 1 }).next
  assert.equal(page(catalog, { limit: 1 }).next?.pin, first?.pin)
  clock.advance(5_000)
  assert.equal(page(catalog, { limit: 1 }).next?.pin, first?.pin, 'the order has not changed')
  clock.advance(5_000)
  catalog.take({ markets: [listing('y', { volume24h: usdMicros(9_000_000) })], events: [] })
  assert.notEqual(page(catalog, { limit: 1 }).next?.pin, first?.pin)
  const resume = { filter: ANY, sortBy: 'volume', order: 'desc', offset: 1, limit: 1 } as const
  assert.notEqual(catalog.list({ ...resume, pin: first?.pin ?? 0 }), 'expired')
  assert.equal(catalog.list({ ...resume, sortBy: 'created_at', pin: first?.pin ?? 0 }), 'expired')
  clock.advance(294_999)
  assert.notEqual(catalog.list({ ...resume, pin: first?.pin ?? 0 }), 'expired')
  clock.advance(1)
  assert.equal(catalog.list({ ...resume, pin: first?.pin ?? 0 }), 'expired')
})

test('sends a venue’s message to the market with the given outcome or id, and counts messages of unknown markets', () => {
  const { catalog, metrics, updates } = openCatalog([listing('x')])
  const routes = new EventRoutes({ catalog, metrics, onWalletFill: () => undefined })
  routes.route(trade('x', 't1'))
  routes.route(trade('x', 't2', { outcome: outcomeId('x-no') }))
  routes.route(trade('x', 't3', { venue: 'b' }))
  routes.route({
    kind: 'marketStatus',
    venue: 'a',
    market: nativeMarketId('X'),
    status: 'closed',
    settlementPrice: null,
    venueTimeMs: NOON,
    receivedAtMs: NOON,
  })
  assert.equal(updates.filter(({ kind }) => kind === 'trade').length, 2)
  assert.equal(updates.filter(({ kind }) => kind === 'lifecycle').length, 1)
  const total = (name: string) =>
    [...metrics.counts(name).values()].reduce((sum, { value }) => sum + value, 0)
  assert.deepEqual([total('events_routed_total'), total('events_unowned_total')], [3, 1])
})

test('finds events by venue and id', () => {
  const { catalog } = openCatalog()
  catalog.take({ markets: [listing('x')], events: [eventListing('x')] })
  assert.equal(catalog.event('a', 'event-x')?.title, 'All about x')
  assert.equal(catalog.event('b', 'event-x'), null)
})

const DAYS = 30
const daysAgo = (days: number) => timeMs(NOON - days * DAY_MS)

const over = (name: string, set: Partial<MarketListing> = {}) =>
  listing(name, { status: 'resolved', closeAtMs: daysAgo(DAYS + 1), ...set })

const forget = (catalog: Catalog, countMax = 1_000, nowMs = NOON) =>
  catalog.removeOld(nowMs, DAYS, countMax)

test('removes a market when the retention days since its resolution and since its close time have passed', () => {
  const { catalog } = openCatalog([
    over('closed-long-ago'),
    over('closed-lately', { closeAtMs: daysAgo(DAYS) }),
    over('closes-later', { closeAtMs: timeMs(NOON + DAY_MS) }),
    over('not-resolved', { status: 'closed' }),
    over('still-open', { status: 'open' }),
    over('created-long-ago', { closeAtMs: null, createdAtMs: daysAgo(DAYS + 1) }),
    over('created-lately', { closeAtMs: null }),
    over('without-times', { closeAtMs: null, createdAtMs: null }),
  ])
  assert.equal(forget(catalog), 3)
  assert.deepEqual([...catalog.markets(null)].map(({ ref }) => ref.nativeId).sort(), [
    'closed-lately',
    'closes-later',
    'created-lately',
    'not-resolved',
    'still-open',
  ])
  assert.equal(forget(catalog), 0)
  assert.equal(
    forget(catalog, 1_000, timeMs(NOON + 1)),
    1,
    'one market expires a millisecond later',
  )
  assert.equal(forget(catalog, 1_000, timeMs(NOON + 40 * DAY_MS)), 2)
  assert.equal(catalog.marketCount, 2)
})

test('retains a market that settled within the retention days, even if the market closed long before', () => {
  const { catalog } = openCatalog([over('x', { settledAtMs: daysAgo(1) })])
  assert.equal(forget(catalog), 0)
  catalog.take({ markets: [over('y', { settledAtMs: daysAgo(2) })], events: [] })
  assert.notEqual(catalog.find('venue_a_y'), null)
  assert.equal(forget(catalog, 9, timeMs(NOON + (DAYS - 1) * DAY_MS)), 1)
})

test('retains a market that resolves while the engine runs for the full retention time', () => {
  const { catalog } = openCatalog([over('x', { status: 'closed' })])
  catalog.take({ markets: [over('x')], events: [] })
  assert.equal(catalog.find('venue_a_x')?.summary.status, 'resolved')
  assert.equal(forget(catalog), 0)
  assert.equal(forget(catalog, 1, timeMs(NOON + DAYS * DAY_MS)), 0)
  assert.equal(forget(catalog, 1, timeMs(NOON + DAYS * DAY_MS + 1)), 1)
})

test('retains a market while a stored trade, a tick or a queued message refers to it', () => {
  const { catalog, storage, held } = openCatalog([over('x')])
  const number = catalog.find('venue_a_x')?.ref.number ?? 0
  const open = catalog.entryOfNative('a', nativeMarketId('x'))
  const prune = (days: number) => {
    const nowMs = timeMs(NOON + days * DAY_MS)
    const limits = { nowMs, retentionDays: DAYS, sizeBytesMax: Number.MAX_SAFE_INTEGER }
    assert.equal(storage.prune({ ...limits, rowsMax: 100 }), false)
  }
  storage.ticks.put(number, Math.floor(NOON / 3_600_000), { seconds: [], prices: [] })
  assert.equal(forget(catalog), 0)
  held.mustHold = true
  open?.send(trade('x', 'late', { venueTimeMs: timeMs(NOON + DAY_MS), source: 'history' }))
  prune(DAYS + 1)
  assert.equal(storage.ticks.oldestHour(number), null)
  assert.equal(forget(catalog), 0, 'a market with an unprocessed message is retained')
  held.mustHold = false
  open?.send({ kind: 'void', reason: 'disconnected', isOfVenue: false })
})

test('retains a market whose trades arrived late until those trades expire', () => {
  const { catalog, storage } = openCatalog([over('x')])
  const open = catalog.entryOfNative('a', nativeMarketId('x'))
  open?.send(trade('x', 'late', { source: 'history' }))
  assert.equal(forget(catalog, 9, timeMs(NOON + 2 * DAYS * DAY_MS)), 0)
  const nowMs = timeMs(NOON + 2 * DAYS * DAY_MS)
  storage.prune({ nowMs, retentionDays: DAYS, sizeBytesMax: 1e12, rowsMax: 100 })
  assert.equal(forget(catalog, 9, nowMs), 1)
})

test('deletes every lookup key and all stored data of a market when it expires', () => {
  const { catalog, storage, publisher, updates, index } = openCatalog([
    over('x', { slug: 'Shared', question: 'Will zebras vote?' }),
    over('x', { venue: 'b', slug: 'shared', status: 'open', question: 'Will zebras win?' }),
  ])
  const removed: number[] = []
  publisher.watch({
    name: 'recorder',
    onUpdate: () => undefined,
    onMarketRemoved: (market) => removed.push(market),
  })
  const number = catalog.find('venue_a_x')?.ref.number ?? 0
  publisher.stamp('prices', number)
  const view = catalog.find('venue_a_x')
  assert.equal(forget(catalog), 1)
  assert.equal(catalog.find('venue_a_x'), null)
  assert.equal(catalog.entryOfNative('a', nativeMarketId('x')), null)
  assert.equal(catalog.entryOfOutcome('a', outcomeId('x-no')), null)
  assert.equal(catalog.findBySlug('shared')?.ref.venue, 'b')
  assert.notEqual(catalog.entryOfOutcome('b', outcomeId('x-no')), null)
  assert.deepEqual([...index.texts.values()], ['Will zebras win? '])
  assert.equal(catalog.byNumber(number), null)
  assert.equal(catalog.findByOutcome('a', 'x-no'), null)
  assert.equal(storage.markets.number('a', nativeMarketId('x')), null)
  assert.equal(storage.markets.count(), 1)
  assert.equal(view?.details().description, null)
  assert.equal(publisher.latest('prices', number).seq, 0)
  assert.deepEqual(removed, [number])
  assert.deepEqual(catalog.counts().a, { open: 0, closed: 0, resolved: 0 })
  assert.deepEqual(updates, [])
})

test('finds a changed market by its new slug and outcomes, and finds a removed market by no key', () => {
  const outcomes = [
    { label: 'Yes', id: outcomeId('new-yes') },
    { label: 'No', id: outcomeId('new-no') },
  ]
  const { catalog } = openCatalog([over('x')])
  catalog.take({ markets: [over('x', { slug: 'renamed', outcomes })], events: [] })
  assert.equal(catalog.findBySlug('slug-x'), null)
  assert.equal(catalog.findBySlug('renamed')?.ref.nativeId, 'x')
  assert.equal(catalog.entryOfOutcome('a', outcomeId('x-yes')), null)
  assert.notEqual(catalog.entryOfOutcome('a', outcomeId('new-yes')), null)
  assert.equal(forget(catalog), 1)
  assert.equal(catalog.findBySlug('renamed'), null)
  assert.equal(catalog.entryOfOutcome('a', outcomeId('new-yes')), null)
})

test('removes an event from memory and storage when its last market expires, and adds the event again with an open market', () => {
  const { catalog, storage } = openCatalog()
  const event = eventListing('both').nativeId
  const first = over('one', { event })
  const second = over('two', { event, closeAtMs: daysAgo(DAYS - 1) })
  catalog.take({ markets: [first, second], events: [eventListing('both'), eventListing('empty')] })
  assert.equal(catalog.event('a', 'event-empty'), null, 'an event without a market is not added')
  assert.equal(forget(catalog), 1)
  assert.equal(catalog.event('a', event)?.title, 'All about both')
  const later = timeMs(NOON + 2 * DAY_MS)
  assert.equal(forget(catalog, 9, later), 1)
  assert.equal(catalog.event('a', event), null)
  assert.equal(storage.events.count(), 0)
  catalog.take({ markets: [first], events: [eventListing('both')] })
  assert.equal(storage.events.count(), 0)
  catalog.take({ markets: [{ ...first, status: 'open' }], events: [eventListing('both')] })
  assert.equal(catalog.event('a', event)?.title, 'All about both')
})

test('removes an event when its last market moves to a different event', () => {
  const { catalog, storage } = openCatalog()
  catalog.take({ markets: [listing('x')], events: [eventListing('x')] })
  const moved = listing('x', { event: eventListing('y').nativeId })
  catalog.take({ markets: [moved], events: [eventListing('y')] })
  assert.deepEqual(
    [...storage.events.all()].map(({ nativeId }) => nativeId),
    ['event-y'],
  )
  storage.events.put(eventListing('left-behind'))
  const again = openCatalog([], storage).catalog
  again.load()
  assert.notEqual(again.event('a', 'event-y'), null)
  assert.equal(again.event('a', 'event-left-behind'), null)
  assert.equal(storage.events.count(), 1)
})

test('does not restore a removed market when a later crawl lists it', () => {
  const listings = [over('old'), listing('new')]
  const { catalog, storage, publisher } = openCatalog(listings)
  for (let hour = 0; hour < 5; hour += 1) {
    assert.equal(forget(catalog), hour === 0 ? 1 : 0)
    assert.deepEqual(catalog.take({ markets: listings, events: [eventListing('old')] }), [])
    assert.equal(catalog.marketCount, 1)
  }
  assert.deepEqual([storage.markets.count(), storage.events.count()], [1, 0])
  const again = openCatalog([], storage)
  again.catalog.load()
  assert.equal(forget(again.catalog, 0), 0)
  assert.deepEqual(again.catalog.take({ markets: listings, events: [] }), [])
  assert.equal(catalog.take({ markets: [over('old', { status: 'open' })], events: [] }).length, 1)
  assert.equal(catalog.find('venue_a_old')?.ref.number, 3)
  assert.equal(publisher.latest('trades', 3).seq, 0)
})

test('checks every market for expiry in small time slices, including markets that are added during the check', () => {
  const random = seededRandom('forgetting')
  const retained = new Set<string>()
  const { catalog } = openCatalog()
  const add = (name: string) => {
    const isOver = random.below(2) === 0
    const closeAtMs = daysAgo(DAYS)
    catalog.take({ markets: [isOver ? over(name, { closeAtMs }) : listing(name)], events: [] })
    if (!isOver) retained.add(name)
  }
  for (let call = 0; call < 300; call += 1) {
    add(`m${call}`)
    assert.equal(forget(catalog, 1 + random.below(4)), 0)
  }
  for (let call = 0; call < 300; call += 1) {
    const countMax = 1 + random.below(4)
    assert.ok(forget(catalog, countMax, timeMs(NOON + 1)) <= countMax)
  }
  const left = [...catalog.markets(null)].map(({ ref }) => String(ref.nativeId))
  assert.deepEqual(left, [...retained])
})

function listener(): { watcher: CatalogWatcher; received: string[] } {
  const received: string[] = []
  const watcher: CatalogWatcher = {
    onListed: ({ ref, summary }) => received.push(`${ref.nativeId} ${summary.status}`),
    onRemoved: ({ ref }) => received.push(`${ref.nativeId} gone`),
  }
  return { watcher, received }
}

test('stores new details of a market even if its summary is unchanged, and writes nothing when the details are equal', () => {
  const { catalog, storage } = openCatalog([listing('x')])
  let putCount = 0
  const { put } = storage.markets
  storage.markets.put = (changed) => {
    putCount += 1
    return put.call(storage.markets, changed)
  }
  const details = () => catalog.find('venue_a_x')?.details()
  const take = (set: Partial<MarketListing>) =>
    catalog.take({ markets: [listing('x', set)], events: [] })
  take({})
  take({ volume24h: usdMicros(1) })
  assert.equal(putCount, 0)
  take({ native: { conditionId: 'x', closed: true }, volume24h: usdMicros(1) })
  assert.deepEqual(details()?.native, { conditionId: 'x', closed: true })
  take({ native: { conditionId: 'x', closed: true }, description: 'New rules.' })
  assert.equal(details()?.description, 'New rules.')
  assert.equal(putCount, 2)
  const again = openCatalog([], storage).catalog
  again.load()
  again.take({
    markets: [
      listing('x', { native: { conditionId: 'x', closed: true }, description: 'New rules.' }),
    ],
    events: [],
  })
  assert.equal(putCount, 2, 'an unchanged listing is not stored again after a restart')
})

test('ignores and reports a listing of a market that is older than the current listing', () => {
  const { catalog } = openCatalog([])
  const take = (set: object) => {
    const older: string[] = []
    const row = { ...listing('x', { question: 'New?' }), ...set }
    catalog.take({ markets: [row], events: [] }, (market) => older.push(market))
    return older
  }
  const view = () => catalog.find('venue_a_x')?.summary
  assert.deepEqual(take({ changedAtMs: timeMs(2_000), status: 'closed' }), [])
  assert.deepEqual(take({ changedAtMs: timeMs(1_999), question: 'Old?' }), ['x'])
  assert.equal(view()?.question, 'New?')
  assert.equal(view()?.status, 'closed')
  assert.deepEqual(take({ question: 'Newer?' }), [])
  assert.deepEqual(take({ changedAtMs: timeMs(2_001), question: 'Newest?' }), [])
  assert.equal(view()?.question, 'Newest?')
})

test('retains a market’s result when a later listing contains no result', () => {
  const settled = { status: 'resolved', settlementPrice: priceMicros(1_000_000) } as const
  const { catalog, storage } = openCatalog([listing('x', { ...settled, tags: ['sports'] })])
  const older: string[] = []
  const take = (set: object) =>
    catalog.take({ markets: [{ ...listing('x'), ...set }], events: [] }, (id) => older.push(id))
  take({ status: 'resolved', settlementPrice: null, tags: [], lacksEvent: true })
  take({ status: 'open' })
  take({ status: 'closed', closeAtMs: null })
  assert.deepEqual(older, ['x', 'x'])
  for (const retained of [
    catalog.find('venue_a_x')?.summary,
    [...storage.markets.all()][0]?.summary,
  ]) {
    assert.equal(retained?.status, 'resolved')
    assert.equal(retained?.settlementPrice, 1_000_000)
  }
})

test('retains a market’s event fields when a later listing names no event', () => {
  const rich = { question: 'Who? A', tags: ['sports'], category: 'Sports' }
  const { catalog } = openCatalog([listing('x', rich)])
  const poor = { ...listing('x', { question: 'A', tags: [], category: null }), lacksEvent: true }
  catalog.take({ markets: [poor], events: [] })
  const { question, tags, category } = catalog.find('venue_a_x')?.summary ?? assert.fail()
  assert.deepEqual({ question, tags, category }, rich)
})

test('retains a market’s fees when a listing contains none, and removes the fees when a listing’s fees are unreadable', () => {
  const { catalog, storage } = openCatalog([listing('x')])
  const stated = (now: Partial<FeeModel>) => ({
    now: { ...MODEL_UNKNOWN, source: 'an answer', ...now },
    next: null,
    waivedUntilMs: null,
  })
  const free = stated({ kind: 'none', taker: CURVE_ZERO, maker: CURVE_ZERO })
  const unread = stated({})
  const take = (fees: MarketFees) => catalog.take({ markets: [listing('x', { fees })], events: [] })
  const retained = () => [...storage.markets.all()].map(({ summary }) => summary.fees)
  take(free)
  assert.deepEqual(retained(), [free])
  take(FEES_UNKNOWN)
  assert.deepEqual(catalog.find('venue_a_x')?.summary.fees, free)
  assert.deepEqual(retained(), [free])
  take(unread)
  assert.deepEqual(catalog.find('venue_a_x')?.summary.fees, unread)
  assert.deepEqual(retained(), [unread])
})

test('retains the status of a resolved market when a later listing states that the market is open', () => {
  const { catalog, storage } = openCatalog([listing('x', { status: 'resolved' })])
  catalog.take({ markets: [listing('x', { native: { other: 1 } })], events: [] })
  assert.deepEqual(
    [...storage.markets.all()].map(({ summary }) => summary.status),
    ['resolved'],
  )
  assert.deepEqual(catalog.find('venue_a_x')?.details().native, { other: 1 })
})

test('stores new details of an event and finds the event’s markets by its new title', () => {
  const { catalog, storage, index } = openCatalog()
  const event = eventListing('x')
  catalog.take({ markets: [listing('x')], events: [event] })
  catalog.take({ markets: [], events: [{ ...event, native: { live: true } }] })
  assert.deepEqual(storage.events.details('a', event.nativeId)?.native, { live: true })
  catalog.take({ markets: [], events: [{ ...event, title: 'Otters' }] })
  assert.deepEqual([...index.texts.values()], ['Will x happen? Otters'])
  catalog.take({ markets: [listing('x', { question: 'Why?' })], events: [] })
  assert.deepEqual([...index.texts.values()], ['Why? Otters'])
})

test('sends an event with all its markets to watchers when the event’s summary changes, and nothing when details change', () => {
  const { catalog } = openCatalog([])
  const received: string[][] = []
  catalog.watch({
    onListed() {},
    onRemoved() {},
    onEvent: (markets) => received.push(markets.map(({ ref }) => String(ref.nativeId))),
  })
  const event = eventListing('x')
  const inEvent = { event: event.nativeId }
  catalog.take({ markets: [listing('x', inEvent), listing('y', inEvent)], events: [event] })
  received.length = 0
  catalog.take({ markets: [listing('x', inEvent)], events: [event] })
  catalog.take({ markets: [], events: [{ ...event, native: { live: true } }] })
  assert.deepEqual(received, [])
  catalog.take({ markets: [], events: [{ ...event, startAtMs: NOON }] })
  catalog.take({ markets: [], events: [{ ...event, startAtMs: NOON, title: 'Otters' }] })
  assert.deepEqual(received, [
    ['x', 'y'],
    ['x', 'y'],
  ])
})

test('notifies watchers of every market that is loaded, added, changed or removed', () => {
  const { storage } = openCatalog([listing('kept')])
  const { catalog } = openCatalog([], storage)
  const { watcher, received } = listener()
  catalog.watch(watcher)
  catalog.load()
  assert.deepEqual(received.splice(0), ['kept open'])
  const late = listener()
  catalog.watch(late.watcher)
  assert.deepEqual(late.received, ['kept open'])
  const take = (market: MarketListing) => catalog.take({ markets: [market], events: [] })
  take(over('new', { status: 'open' }))
  take(over('new', { status: 'open', volume24h: usdMicros(5), native: { conditionId: 'new' } }))
  assert.deepEqual(received.splice(0), ['new open'], 'changed volumes are not published')
  take(over('new', { status: 'closed' }))
  assert.deepEqual(received.splice(0), ['new closed'])
  take(over('new', { status: 'closed', native: { game: 1 } }))
  assert.deepEqual(received.splice(0), ['new closed'])
  take(over('new'))
  forget(catalog, 9, timeMs(NOON + 40 * DAY_MS))
  assert.deepEqual(received, ['new resolved', 'new gone'])
})

test('finds markets by outcome, slug, number, event and series, ignoring case', () => {
  const event = eventListing('X', { venue: 'b', series: 'KXRAIN' })
  const other = eventListing('Y', { venue: 'b', series: 'kxrain' })
  const market = (name: string, of: typeof event) =>
    listing(name, { venue: 'b', event: of.nativeId, slug: 'Same' })
  const { catalog } = openCatalog([listing('0xA', { slug: 'same' })])
  catalog.take({
    markets: [market('K-1', event), market('K-2', event), market('K-3', other)],
    events: [event, other],
  })
  const names = (views: readonly { ref: { nativeId: string } }[]) =>
    views.map(({ ref }) => ref.nativeId)
  assert.deepEqual(names(catalog.marketsOfEvent('b', 'event-x')), ['K-1', 'K-2'])
  assert.deepEqual(names(catalog.marketsOfEvent('a', 'event-x')), [])
  assert.deepEqual(names(catalog.marketsOfSeries('b', 'KXrain')), ['K-1', 'K-2', 'K-3'])
  assert.deepEqual(names(catalog.marketsOfSeries('b', 'none')), [])
  assert.deepEqual(names(catalog.allBySlug('b', 'SAME')), ['K-1', 'K-2', 'K-3'])
  assert.deepEqual(names(catalog.allBySlug('a', 'SAME')), ['0xA'])
  assert.equal(catalog.findByOutcome('a', '0xA-no')?.ref.nativeId, '0xA')
  assert.equal(catalog.findByOutcome('b', '0xA-no'), null)
  assert.equal(catalog.byNumber(2)?.ref.nativeId, 'K-1')
  assert.equal(catalog.event('b', 'EVENT-x')?.title, 'All about X')
})

test('computes an event’s status: open if any market is open, resolved if all markets are resolved, else closed', () => {
  const event = eventListing('x')
  const { catalog } = openCatalog()
  const take = (name: string, set: Partial<MarketListing>) => {
    const volumeTotal = usdMicros(2_000_000)
    const market = listing(name, { event: event.nativeId, volumeTotal, ...set })
    catalog.take({ markets: [market], events: [event] })
    return catalog.eventBySlug('EVENT-X')
  }
  assert.equal(take('1', { status: 'closed', isUnopened: true })?.status, 'closed')
  assert.equal(take('2', { volume24h: usdMicros(3_000_000) })?.status, 'open')
  assert.equal(take('2', { status: 'resolved' })?.status, 'closed')
  assert.equal(take('1', { status: 'resolved' })?.status, 'resolved')
  const shown = take('3', {
    status: 'resolved',
    volume24h: usdMicros(1_000_000),
    volumeTotal: null,
  })
  assert.deepEqual(
    [shown?.marketCount, shown?.volume24h, shown?.volumeTotal, shown?.platform],
    [3, 1_000_000, 4_000_000, 'venue_a'],
  )
  assert.equal(shown?.description(), null)
  assert.equal(catalog.eventBySlug('none'), null)
})

test('resolves a slug that both venues use to the event with the higher volume', () => {
  const { catalog } = openCatalog()
  const events = [eventListing('x'), eventListing('x', { venue: 'b' })]
  const markets = [listing('1'), listing('2', { venue: 'b', volume24h: usdMicros(1) })]
  const event = events[0]?.nativeId ?? null
  catalog.take({ markets: markets.map((market) => ({ ...market, event })), events })
  assert.equal(catalog.eventBySlug('event-x')?.platform, 'venue_b')
})

test('returns each remaining market of a pinned list once, and sets has_more if and only if more markets follow', () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const random = seededRandom('forgotten pages', seed)
    const rows = Array.from({ length: 40 }, (_, index) =>
      over(`m${index}`, {
        volume24h: usdMicros(random.below(1_000) * 1_000_000),
        closeAtMs: daysAgo(DAYS - random.below(10)),
      }),
    )
    const { catalog } = openCatalog(rows)
    const seen: string[] = []
    let nowMs: number = NOON
    let next: MarketPage['next'] = { pin: -1, offset: 0 }
    for (let first = true; next !== null; first = false) {
      const limit = 1 + random.below(7)
      const set = { pin: first ? null : next.pin, offset: next.offset, limit }
      const shown = page(catalog, set)
      assert.equal(shown.total, 40)
      if (shown.next !== null) {
        assert.equal(shown.markets.length, limit)
        const following = page(catalog, { pin: shown.next.pin, offset: shown.next.offset, limit })
        assert.ok(following.markets.length > 0, 'an announced next page has rows')
      }
      seen.push(...slugs(shown))
      next = shown.next
      nowMs += random.below(2) * DAY_MS
      forget(catalog, random.below(20), timeMs(nowMs))
    }
    assert.equal(new Set(seen).size, seen.length, `seed ${seed}: nothing twice`)
    for (const { summary } of catalog.markets(null)) {
      assert.ok(seen.includes(summary.slug), `seed ${seed}: ${summary.slug} was shown`)
    }
  }
})

test('restores a market’s volume after the engine was killed, including trades after the last checkpoint', () => {
  const storage = openMemoryStorage()
  const figuresAtMs = timeMs(NOON - 1_000)
  const { catalog } = openCatalog([listing('KX', { venue: 'b', figuresAtMs })], storage)
  const market = catalog.entryOfNative('b', nativeMarketId('KX'))
  assert.ok(market !== null)
  const done = (id: string, afterMs: number) => {
    const venueTimeMs = timeMs(NOON + afterMs)
    market.send(trade('KX', id, { venue: 'b', venueTimeMs, receivedAtMs: venueTimeMs }))
  }
  done('t1', 1)
  market.actor.checkpoint(timeMs(NOON + 2))
  done('t2', 3)
  done('t3', 4)
  assert.equal(market.actor.volumeTotal, 35_000_000)
  for (const restart of [1, 2]) {
    const again = openCatalog([], storage).catalog
    again.load()
    assert.equal(again.find('venue_b_KX')?.volumeTotal, 35_000_000, `start ${restart}`)
    assert.equal(page(again).markets[0]?.volume24h, 30_000_000)
    again.entryOfNative('b', nativeMarketId('KX'))?.actor.checkpoint(timeMs(NOON + 10))
  }
})

test('retains a market’s newer figures and its higher total volume when an older listing arrives', () => {
  const total = (contracts: number, set: Partial<MarketListing> = {}) =>
    listing('KX', { venue: 'b', volumeTotal: usdMicros(contracts * 1e6), ...set })
  const { catalog } = openCatalog([total(100, { openInterest: sizeMicros(5) })])
  const take = (...listed: MarketListing[]) => catalog.take({ markets: listed, events: [] })
  const shown = () => {
    const { volumeTotal, openInterest } = catalog.find('venue_b_KX')?.figures ?? assert.fail()
    return [volumeTotal, openInterest]
  }
  take(total(120, { openInterest: sizeMicros(6) }))
  take(total(110, { openInterest: sizeMicros(5), question: 'Older?' }))
  assert.deepEqual(shown(), [120_000_000, 6])
  assert.equal(
    catalog.find('venue_b_KX')?.summary.question,
    'Older?',
    'all other fields are as listed',
  )
  assert.equal(catalog.find('venue_b_KX')?.summary.volumeTotal, 120_000_000)
})
