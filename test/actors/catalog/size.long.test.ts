import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventFilter, MarketFilter } from '../../../actors/views.ts'
import { systemClock } from '../../../engine/clock.ts'
import { nativeEventId, nativeMarketId } from '../../../engine/ids.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import { naiveList } from '../../support/reference/naive/lists.ts'
import { eventListing, listing, NOON, trade } from '../../support/worlds/builders.ts'
import { ANY_EVENT, ANY_MARKET, emptyCatalog } from '../../support/worlds/random-catalog.ts'

const isLong = process.env.TEST_LONG === '1'
const MARKETS = isLong ? 100_000 : 10_000
const ROUNDS = isLong ? 100 : 2
const HELD_MS_MAX = 10
const SLICE = 50
const WORDS =
  'will the rain win election bitcoin above below in of to game final match price token state king'

function randomListing(random: Random, index: number): MarketListing {
  const tags = ['Sports', 'NFL', 'Crypto', 'Politics', `t${random.below(500)}`]
  return listing(`m${index}`, {
    venue: index % 2 === 0 ? 'a' : 'b',
    status: (['open', 'open', 'open', 'closed', 'resolved'] as const)[random.below(5)] ?? 'open',
    event: nativeEventId(`event-${Math.floor(index / 6) * 2 + (index % 2)}`),
    eventSlug: `event-${Math.floor(index / 6) * 2 + (index % 2)}`,
    category: `c${random.below(30)}`,
    tags: tags.slice(random.below(5)),
    volume24h: usdMicros(random.below(3) === 0 ? 0 : Math.floor(random.next() ** 4 * 1e13)),
    volumeTotal: usdMicros(Math.floor(random.next() ** 4 * 1e14)),
    createdAtMs: timeMs(NOON - random.below(2 ** 31) * 30),
    closeAtMs: random.below(5) === 0 ? null : timeMs(NOON + random.below(2 ** 31) * 50),
  })
}

function fill(catalog: ReturnType<typeof emptyCatalog>['catalog'], random: Random): void {
  const terms = WORDS.split(' ')
  for (let start = 0; start < MARKETS; start += SLICE) {
    const markets = Array.from({ length: SLICE }, (_, index) =>
      randomListing(random, start + index),
    )
    const names = new Map(markets.map((market) => [market.event, market]))
    const events = [...names.values()].map(({ event, venue }) => {
      const name = String(event).slice('event-'.length)
      const title = Array.from({ length: 8 }, () => terms[random.below(terms.length)]).join(' ')
      return eventListing(name, { venue, title: `${title} x${name}` })
    })
    catalog.take({ markets, events })
  }
}

const LISTS: readonly (readonly [string, Partial<MarketFilter>])[] = [
  ['all', {}],
  ['open', { status: 'open' }],
  ['venue a', { venue: 'a' }],
  ['tag of half of the markets', { tags: ['sports', 'NFL', 'crypto'] }],
  ['category', { category: 'C7' }],
  ['event', { eventSlug: 'EVENT-8' }],
  ['min volume', { volume24hMin: usdMicros(1_000_000) }],
  ['total, created', { volumeTotalMin: usdMicros(1), createdToMs: timeMs(NOON - 1e9) }],
  ['among 10', { among: { key: 'ten', markets: [9, 8, 7, 6, 5, 4, 3, 2, 1, 10] } }],
  [
    'among half',
    {
      among: {
        key: 'half',
        markets: Array.from({ length: MARKETS / 2 }, (_, index) => index * 2 + 1),
      },
    },
  ],
]
const EVENT_LISTS: readonly (readonly [string, Partial<EventFilter>])[] = [
  ['all', {}],
  ['open', { status: 'open' }],
  ['one word', { search: 'election' }],
  ['prefix that many markets have', { search: 'wi' }],
  ['every word', { search: WORDS }],
  ['rare', { search: 'x17' }],
]
const ORDERS = ['volume', 'created_at', 'close_time'] as const

test('filters a list of 100,000 markets in a median time below 10 ms', async (t) => {
  const random = seededRandom('many markets')
  const { catalog, clock, index } = emptyCatalog()
  const startedAtMs = systemClock.monotonicMs()
  fill(catalog, random)
  t.diagnostic(`filled in ${Math.round(systemClock.monotonicMs() - startedAtMs)} ms`)
  const all = Uint32Array.from({ length: MARKETS }, (_, position) => MARKETS - position)
  index.find = async () => all
  const worst: string[] = []
  const measure = async (what: string, work: () => unknown) => {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      clock.advance(5_000)
      stir(random, catalog)
      const began = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(began)
      times.push((user + system) / 1_000)
    }
    times.sort((one, two) => one - two)
    const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0
    t.diagnostic(
      `${what}: p50 ${at(0.5).toFixed(2)} p99 ${at(0.99).toFixed(2)} max ${at(1).toFixed(2)} ms`,
    )
    if (at(0.5) >= HELD_MS_MAX) worst.push(what)
  }
  const first = { pin: null, offset: 0, limit: 200 } as const
  for (const [what, set] of LISTS) {
    const filter = { ...ANY_MARKET, ...set }
    for (const sortBy of ORDERS) {
      await measure(`list ${what} by ${sortBy}`, () =>
        catalog.list({ ...first, filter, sortBy, order: 'desc' }),
      )
    }
  }
  for (const sortBy of ['volume', 'relevance'] as const) {
    await measure(`search of all by ${sortBy}`, () =>
      catalog.search({ ...first, filter: ANY_MARKET, sortBy, order: 'desc', text: 'will' }),
    )
  }
  for (const [what, set] of EVENT_LISTS) {
    await measure(`events ${what}`, () =>
      catalog.listEvents({ ...first, filter: { ...ANY_EVENT, ...set } }),
    )
  }
  await measure('counts', () => catalog.counts())
  const query = { filter: ANY_MARKET, sortBy: 'volume', order: 'desc' } as const
  clock.advance(5_000)
  const page = catalog.list({ ...first, limit: MARKETS, ...query })
  assert.ok(page !== 'expired')
  assert.deepEqual(
    page.markets.map(({ ref }) => ref.number),
    naiveList(catalog.markets(null), query),
  )
  if (isLong) assert.deepEqual(worst, [])
})

function stir(random: Random, catalog: ReturnType<typeof emptyCatalog>['catalog']): void {
  for (let count = 0; count < 20; count += 1) {
    const name = `m${random.below(MARKETS)}`
    const venue = Number(name.slice(1)) % 2 === 0 ? 'a' : 'b'
    const market = catalog.entryOfNative(venue, nativeMarketId(name))
    market?.send(trade(name, `${random.below(1e9)}`, { venue }))
  }
}
