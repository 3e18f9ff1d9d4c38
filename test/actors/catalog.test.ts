// Which markets exist, how they are found, listed and pinned, and who gets an event.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '../../actors/catalog.ts'
import { Router } from '../../actors/router.ts'
import { System } from '../../actors/system.ts'
import type { MarketFilter, MarketPage } from '../../actors/views.ts'
import { nativeMarketId, outcomeId, VenueNames } from '../../engine/ids.ts'
import { silentLog } from '../../engine/log.ts'
import type { MarketListing } from '../../engine/market.ts'
import { Metrics } from '../../engine/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { timeMs, usdMicros } from '../../engine/units.ts'
import { openMemoryStorage } from '../../storage/memory.ts'
import {
  eventListing,
  listing,
  marketParts,
  NAMES,
  NOON,
  recordingPublisher,
  trade,
} from '../support/builders.ts'
import { ManualClock } from '../support/manual-clock.ts'

const ANY: MarketFilter = {
  venue: null,
  status: null,
  search: null,
  tags: [],
  category: null,
  eventSlug: null,
  volume24hMin: null,
  createdFromMs: null,
  createdToMs: null,
}

function openCatalog(
  listings: readonly MarketListing[] = [],
  storage = openMemoryStorage(),
  names = NAMES,
) {
  const clock = new ManualClock()
  const { publisher, updates } = recordingPublisher()
  const metrics = new Metrics()
  const system = new System({ clock, log: silentLog, metrics, mustHold: () => false })
  const { parts } = marketParts({ publisher, storage })
  const catalog = new Catalog({ names, clock, system, storage, market: parts })
  catalog.take({ markets: listings, events: [] })
  return { catalog, clock, storage, updates, metrics }
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

test('[CAT1] a market is found by its id in any case, split at the configured name, and by its slug', () => {
  const names = new VenueNames({ a: 'venue', b: 'venue_b' })
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

test('[CAT2] the catalogue comes back from storage with the same numbers', () => {
  const { catalog, storage } = openCatalog([listing('x'), listing('y')])
  const again = openCatalog([], storage).catalog
  assert.equal(again.load(), 2)
  assert.equal(again.find('venue_a_y')?.ref.number, catalog.find('venue_a_y')?.ref.number)
  assert.equal(again.find('venue_a_y')?.details().description, 'Rules of y.')
})

test('[CAT3] a market read again changes, tells of its new status, and is not fresh', () => {
  const { catalog, updates } = openCatalog([listing('x')])
  assert.deepEqual(catalog.take({ markets: [listing('x', { status: 'closed' })], events: [] }), [])
  assert.equal(catalog.find('venue_a_x')?.summary.status, 'closed')
  assert.deepEqual(
    updates.flatMap((update) => (update.kind === 'lifecycle' ? [update.event] : [])),
    ['closed'],
  )
})

test('[CAT4] filters combine, and unopened markets are listed only among the closed', () => {
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

test('[CAT5] every word must be found: prefixes and accents aside', () => {
  const { catalog } = openCatalog([
    listing('x', { question: 'Will Bogotá host the final?' }),
    listing('y', { question: 'Will it rain in Boston?' }),
  ])
  const found = (search: string) =>
    slugs(page(catalog, { filter: { ...ANY, search }, sortBy: 'relevance' }))
  assert.deepEqual(found('bogota final'), ['slug-x'])
  assert.deepEqual(found('RAI bos'), ['slug-y'])
  assert.deepEqual(found('bogota rain'), [])
  assert.deepEqual(found('(a+)+$ \u0000 \ud800'), [])
})

test('[RANK1] pages of a pinned list are every row exactly once, whatever volumes do meanwhile', () => {
  for (let seed = 0; seed < 30; seed += 1) {
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

test('[RANK2] a ranking is shared for five seconds and kept for five minutes', () => {
  const { catalog, clock } = openCatalog([listing('x'), listing('y')])
  const first = page(catalog, { limit: 1 }).next
  assert.equal(page(catalog, { limit: 1 }).next?.pin, first?.pin)
  clock.advance(5_000)
  assert.notEqual(page(catalog, { limit: 1 }).next?.pin, first?.pin)
  const resume = { filter: ANY, sortBy: 'volume', order: 'desc', offset: 1, limit: 1 } as const
  assert.notEqual(catalog.list({ ...resume, pin: first?.pin ?? 0 }), 'expired')
  assert.equal(catalog.list({ ...resume, sortBy: 'created_at', pin: first?.pin ?? 0 }), 'expired')
  clock.advance(300_000)
  assert.equal(catalog.list({ ...resume, pin: first?.pin ?? 0 }), 'expired')
})

test('[ROUTE1] an event reaches its market by outcome or id, and what nobody owns is counted', () => {
  const { catalog, metrics, updates } = openCatalog([listing('x')])
  const router = new Router({ catalog, metrics })
  router.route(trade('x', 't1'))
  router.route(trade('x', 't2', { outcome: outcomeId('x-no') }))
  router.route(trade('x', 't3', { venue: 'b' }))
  router.route({
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

test('[CAT6] events are known by their venue and id', () => {
  const { catalog } = openCatalog()
  catalog.take({ markets: [], events: [eventListing('x')] })
  assert.equal(catalog.event('a', 'event-x')?.title, 'All about x')
  assert.equal(catalog.event('b', 'event-x'), null)
})
