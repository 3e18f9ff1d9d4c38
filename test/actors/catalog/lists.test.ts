import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VolumeRange } from '../../../actors/catalog/market-columns.ts'
import type {
  EventFilter,
  EventPage,
  ListQuery,
  MarketFilter,
  MarketPage,
} from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { seededRandom } from '../../../engine/random.ts'
import { runToEnd } from '../../../engine/time-slices.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import { naiveEvents, naiveList } from '../../support/reference/naive/lists.ts'
import { eventListing, listing, NOON } from '../../support/worlds/builders.ts'
import {
  ANY_EVENT,
  ANY_MARKET,
  emptyCatalog,
  RandomCatalog,
} from '../../support/worlds/random-catalog.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 60 : 3
const SHARED_MS = 5_000
const ORDERS = ['volume', 'created_at', 'close_time'] as const
const FIRST = { pin: null, offset: 0, limit: 1_000 } as const
const BY_VOLUME = { sortBy: 'volume', order: 'desc' } as const

function shown<Page>(page: Page | 'expired'): Page {
  assert.ok(page !== 'expired')
  return page
}

const numbersOf = (page: MarketPage) => page.markets.map(({ ref }) => ref.number)

test('lists the same markets as the reference implementation for any filters and sort orders', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('lists', seed)
    const world = new RandomCatalog(random, 60)
    for (let step = 0; step < 40; step += 1) {
      for (let moves = random.below(8); moves > 0; moves -= 1) world.stir()
      const filter = world.marketFilter()
      const sortBy = ORDERS[random.below(3)] ?? 'volume'
      const order = random.below(2) === 0 ? 'asc' : 'desc'
      world.clock.advance(SHARED_MS)
      const page = shown(world.catalog.list({ ...FIRST, filter, sortBy, order }))
      const reference = naiveList(world.catalog.markets(null), { filter, sortBy, order })
      assert.deepEqual(
        numbersOf(page),
        reference,
        `seed ${seed} ${JSON.stringify({ filter, sortBy })}`,
      )
      assert.equal(page.total, reference.length)
      assert.equal(page.next, null)
    }
  }
})

test('ranks the open markets of a venue by volume like the reference implementation', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('open by volume', seed)
    const world = new RandomCatalog(random, 60)
    for (let step = 0; step < 20; step += 1) {
      for (let moves = random.below(8); moves > 0; moves -= 1) world.stir()
      const venue = random.below(2) === 0 ? 'a' : 'b'
      const filter = { ...ANY_MARKET, venue, phase: 'open' } as const
      const ranked = naiveList(world.catalog.markets(null), { ...BY_VOLUME, filter })
      const volumeOf = (number: number) => world.catalog.byNumber(number)?.volume24h ?? 0
      const count = random.below(40)
      const volumeMin = volumeOf(ranked[random.below(ranked.length)] ?? 0)
      const largeCount = ranked.filter((number) => volumeOf(number) >= volumeMin).length
      const of = (range: VolumeRange) => [...runToEnd(world.catalog.openByVolume(venue, range))]
      assert.deepEqual(of({ count, volumeMin: Infinity }), ranked.slice(0, count), `seed ${seed}`)
      assert.deepEqual(
        of({ count, volumeMin }),
        ranked.slice(0, Math.max(count, largeCount)),
        `seed ${seed}`,
      )
    }
  }
})

test('filters and sorts the markets that a search finds in the same way as a list', async () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('searches', seed)
    const world = new RandomCatalog(random, 60)
    for (let step = 0; step < 12; step += 1) {
      for (let moves = random.below(8); moves > 0; moves -= 1) world.stir()
      const filter = world.marketFilter()
      const text = random.below(2) === 0 ? 'rain' : 'E1'
      const sortBy = [...ORDERS, 'relevance' as const][random.below(4)] ?? 'volume'
      const order = random.below(2) === 0 ? 'asc' : 'desc'
      world.clock.advance(SHARED_MS)
      const page = shown(await world.catalog.search({ ...FIRST, filter, sortBy, order, text }))
      const found = [...(await world.index.find(text))]
      const markets = found.flatMap((number) => world.catalog.byNumber(number) ?? [])
      const isRelevance = sortBy === 'relevance'
      const reference = naiveList(markets, {
        filter,
        sortBy: isRelevance ? 'volume' : sortBy,
        order,
      })
      const wanted = isRelevance ? found.filter((number) => reference.includes(number)) : reference
      assert.deepEqual(numbersOf(page), wanted, `seed ${seed} ${JSON.stringify(filter)}`)
      assert.equal(page.total, wanted.length)
    }
  }
})

test('lists the same markets as the reference implementation when a search finds more than half of all markets', () => {
  const { catalog } = emptyCatalog()
  const random = seededRandom('candidates')
  const volume24h = () => usdMicros(random.below(50) * 1_000_000)
  const markets = Array.from({ length: 3_000 }, (_, index) =>
    listing(`m${index}`, { volume24h: volume24h() }),
  )
  catalog.take({ markets, events: [] })
  const numbers = markets.map((_, index) => index + 1).filter(() => random.below(3) > 0)
  assert.ok(numbers.length > 1_500)
  const among = { key: 'many', markets: [...numbers].reverse() }
  const filter = { ...ANY_MARKET, among }
  const page = shown(catalog.list({ ...FIRST, limit: 3_000, filter, ...BY_VOLUME }))
  assert.deepEqual(numbersOf(page), naiveList(catalog.markets(null), { filter, ...BY_VOLUME }))
})

test('lists the same events as the reference implementation, with current sums and statuses', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('events', seed)
    const world = new RandomCatalog(random, 50)
    for (let step = 0; step < 30; step += 1) {
      for (let moves = random.below(8); moves > 0; moves -= 1) world.stir()
      const filter = world.eventFilter()
      world.clock.advance(SHARED_MS)
      const page = shown(world.catalog.listEvents({ ...FIRST, filter }))
      const reference = naiveEvents(world.events.values(), world.catalog.markets(null), filter)
      const seen = page.events.map((event) => ({
        id: `${event.summary.venue}:${event.summary.nativeId}`,
        status: event.status,
        marketCount: event.marketCount,
        volume24h: Number(event.volume24h),
        volumeTotal: Number(event.volumeTotal),
      }))
      const where = `seed ${seed} ${JSON.stringify(filter)}`
      assert.deepEqual(
        seen.map(({ volume24h }) => volume24h),
        reference.map(({ volume24h }) => volume24h),
        where,
      )
      const byId = (one: { id: string }, two: { id: string }) => (one.id < two.id ? -1 : 1)
      assert.deepEqual([...seen].sort(byId), [...reference].sort(byId), where)
      assert.equal(page.total, reference.length)
      for (const event of page.events) {
        const { venue, nativeId } = event.summary
        const children = world.catalog.marketsOfEvent(venue, nativeId.toUpperCase())
        const any = { ...ANY_MARKET, phase: 'any' } as const
        const limit = 1 + random.below(6)
        assert.deepEqual(
          event.markets(limit).map(({ ref }) => ref.number),
          naiveList(children, { filter: any, ...BY_VOLUME }).slice(0, limit),
        )
      }
    }
    const all = naiveEvents(world.events.values(), world.catalog.markets(null), ANY_EVENT)
    assert.equal(world.catalog.eventCount(), all.length)
  }
})

test('caches separate market lists for filters that differ in any field', () => {
  const { catalog } = emptyCatalog()
  const [early, late] = [NOON, timeMs(NOON + 1_000)]
  const of = (name: string, million: number) => ({
    ...{ category: name, tags: [name], volume24h: usdMicros(million * 1e6) },
    volumeTotal: usdMicros(million * 1e6),
  })
  catalog.take({
    markets: [
      listing('one', { ...of('one', 1), createdAtMs: early, resolutionStatus: 'proposed' }),
      listing('two', { ...of('two', 2), createdAtMs: late, venue: 'b', status: 'closed' }),
    ],
    events: [
      eventListing('one', { category: 'one', tags: ['one'] }),
      eventListing('two', { category: 'two', tags: ['two'], venue: 'b' }),
    ],
  })
  const markets: { readonly [Field in keyof MarketFilter]: MarketFilter[Field] } = {
    ...{ venue: 'b', status: 'closed', resolution: 'proposed', tags: ['two'], category: 'one' },
    ...{ eventSlug: 'event-two', volume24hMin: usdMicros(2e6), volumeTotalMin: usdMicros(2e6) },
    ...{ createdFromMs: late, createdToMs: early, phase: 'closed' },
    among: { key: 'one', markets: [1] },
  }
  const list = (set: Partial<MarketFilter>) => {
    const query = { filter: { ...ANY_MARKET, ...set }, ...BY_VOLUME }
    assert.deepEqual(
      numbersOf(shown(catalog.list({ ...FIRST, ...query }))),
      naiveList(catalog.markets(null), query),
      JSON.stringify(set),
    )
    return naiveList(catalog.markets(null), query).length
  }
  assert.equal(list({}), 2)
  for (const [field, value] of Object.entries(markets)) assert.equal(list({ [field]: value }), 1)
  const events: { readonly [Field in keyof EventFilter]: EventFilter[Field] } = {
    ...{ venue: 'b', status: 'closed', search: 'two', tags: ['two'], category: 'one' },
    ...{ volume24hMin: usdMicros(2e6), volumeTotalMin: usdMicros(2e6) },
  }
  const eventsOf = (set: Partial<EventFilter>) =>
    shown(catalog.listEvents({ ...FIRST, filter: { ...ANY_EVENT, ...set } })).total
  assert.equal(eventsOf({}), 2)
  for (const [field, value] of Object.entries(events)) {
    assert.equal(eventsOf({ [field]: value }), 1, field)
  }
})

test('returns every event of a pinned list once while the events’ values change', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('pinned events', seed)
    const world = new RandomCatalog(random, 60)
    const filter = random.below(2) === 0 ? ANY_EVENT : { ...ANY_EVENT, status: 'open' as const }
    const start = shown(world.catalog.listEvents({ ...FIRST, filter }))
    const first = start.events.map(({ summary }) => summary.nativeId + summary.venue)
    const seen: string[] = []
    let next: EventPage['next'] = null
    do {
      const position: { pin: number | null; offset: number } = next ?? { pin: null, offset: 0 }
      const limit = 1 + random.below(5)
      const page: EventPage = shown(world.catalog.listEvents({ filter, limit, ...position }))
      assert.equal(page.total, first.length)
      if (page.next !== null) assert.equal(page.events.length, limit)
      seen.push(...page.events.map(({ summary }) => summary.nativeId + summary.venue))
      next = page.next
      for (let moves = random.below(20); moves > 0; moves -= 1) world.stir()
    } while (next !== null)
    assert.deepEqual(
      seen,
      first.filter((id) => seen.includes(id)),
      `seed ${seed}`,
    )
    const stored = start.events.filter((view) => view.marketCount > 0)
    for (const { summary } of stored) assert.ok(seen.includes(summary.nativeId + summary.venue))
  }
})

test('returns an unchanged pinned list of events when an event gains a market, and rejects the pin for a different filter', () => {
  const { catalog } = emptyCatalog()
  const event = eventListing('x')
  const child = (name: string) => listing(name, { event: event.nativeId })
  catalog.take({ markets: ['1', '2', '3'].map(child), events: [event] })
  const query = (key: string): ListQuery => {
    const markets = catalog.marketsOfEvent('a', 'EVENT-X').map(({ ref }) => ref.number)
    const filter = { ...ANY_MARKET, among: { key, markets } }
    return { pin: null, offset: 0, limit: 2, filter, ...BY_VOLUME }
  }
  const first = shown(catalog.list(query('event x')))
  assert.ok(first.next !== null)
  catalog.take({ markets: [child('4')], events: [] })
  const second = shown(catalog.list({ ...query('event x'), ...first.next }))
  assert.deepEqual([...numbersOf(first), ...numbersOf(second)], [1, 2, 3])
  assert.equal(second.total, 3)
  assert.equal(catalog.list({ ...query('event y'), ...first.next }), 'expired')
})

test('shares one search, or its rejection, between clients that send equal queries within seconds', async () => {
  const { catalog, index, clock } = emptyCatalog()
  catalog.take({ markets: [listing('x'), listing('y')], events: [] })
  const query = { ...FIRST, filter: ANY_MARKET, text: 'happen', ...BY_VOLUME }
  const pages = await Promise.all([catalog.search(query), catalog.search(query)])
  assert.deepEqual(numbersOf(shown(pages[0] ?? 'expired')), [1, 2])
  assert.equal(index.finds, 1)
  await catalog.search(query)
  assert.equal(index.finds, 1)
  await catalog.search({ ...query, text: 'Happen' })
  assert.equal(index.finds, 2)
  clock.advance(SHARED_MS)
  index.find = () => Promise.reject(new EngineError('UNAVAILABLE', 'too many searches wait'))
  const refused = [catalog.search(query), catalog.search(query)].map((one) => Promise.resolve(one))
  for (const one of refused) await assert.rejects(one, /too many searches/)
  index.find = async () => Uint32Array.of(2)
  assert.deepEqual(numbersOf(shown(await catalog.search(query))), [2])
})

test('returns further pages of a search without a second search until the pin of the first page expires', async () => {
  const { catalog, clock, index } = emptyCatalog()
  catalog.take({ markets: ['x', 'y', 'z'].map((name) => listing(name)), events: [] })
  const query = { ...FIRST, filter: ANY_MARKET, text: 'Will', ...BY_VOLUME, limit: 2 }
  const first = shown(await catalog.search(query))
  assert.ok(first.next !== null)
  clock.advance(60_000)
  catalog.take({ markets: [listing('w', { volume24h: usdMicros(9_000_000) })], events: [] })
  assert.deepEqual(numbersOf(shown(await catalog.search({ ...query, ...first.next }))), [3])
  assert.equal(index.finds, 1)
  assert.equal(await catalog.search({ ...query, ...first.next, text: 'other' }), 'expired')
  clock.advance(300_000)
  assert.equal(await catalog.search({ ...query, ...first.next }), 'expired')
})
