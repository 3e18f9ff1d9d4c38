import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatalogReader, slicesOf } from '../../../actors/venue/catalog-reader.ts'
import { nativeEventId } from '../../../engine/ids.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { SuspectAnswerError, SuspectAnswers } from '../../../engine/venues/answer-checks.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { eventListing, listing } from '../../support/worlds/builders.ts'

const ticks = async () => {
  for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => setImmediate(resolve))
}

function openReader(count: number) {
  const clock = new ManualClock()
  const metrics = new Metrics()
  const all = Array.from({ length: count }, (_, index) => listing(`m${index}`))
  const venue = {
    crawls: 0,
    listed: all as readonly MarketListing[],
    doubt: null as SuspectAnswerError | null,
    requestedIds: [] as string[][],
    answers: all as readonly MarketListing[],
    loaded: 0,
    otherWorlds: [] as (readonly [number, number])[],
  }
  const reader = new CatalogReader({
    catalog: {
      async crawl(onPage) {
        venue.crawls += 1
        await onPage({ markets: venue.listed, events: [] })
        if (venue.doubt !== null) throw venue.doubt
      },
      refresh: async () => undefined,
      async fetchMarkets(ids) {
        venue.requestedIds.push([...ids])
        return {
          markets: venue.answers.filter(({ nativeId }) => ids.includes(nativeId)),
          events: [],
        }
      },
    },
    ...{ clock, log: silentLog, onPage: () => undefined },
    suspectAnswers: new SuspectAnswers({ metrics, log: silentLog, venue: 'a' }),
    expected: () => all.map(({ nativeId }) => nativeId),
    onOtherEnvironment: (existing, got) => void venue.otherWorlds.push([existing, got]),
  })
  const suspected = (reason: string, kind = 'catalogue') => {
    const labels = { venue: 'a', kind, reason }
    return metrics.count('venue_answers_doubted_total', 'x', labels).value
  }
  const seconds = async (number: number) => {
    for (let second = 0; second < number; second += 1) {
      await ticks()
      clock.advance(1_000)
    }
    await ticks()
  }
  const start = () =>
    reader.start(() => {
      venue.loaded += 1
    })
  return { start, reader, venue, suspected, seconds, all }
}

for (const [reason, listed] of [
  ['empty', 0],
  ['shorter', 60],
] as const) {
  test(`repeats a crawl with a suspect list of markets (${reason}) until the venue returns a complete list`, async () => {
    const { start, reader, venue, suspected, seconds, all } = openReader(100)
    venue.listed = all.slice(0, listed)
    start()
    await seconds(2)
    assert.equal(venue.loaded, 0)
    assert.equal(venue.requestedIds.length, 0)
    await seconds(1)
    assert.equal(venue.loaded, 1, 'an incomplete catalogue is loaded at last')
    assert.ok(suspected(reason) >= 3)
    await seconds(1)
    assert.ok(venue.requestedIds.length > 0, 'missing markets are requested one by one')
    const before = venue.crawls
    await seconds(60)
    const repeats = venue.crawls - before
    assert.ok(repeats >= 3 && repeats <= 7, `with back-off: ${repeats} in a minute`)
    venue.listed = all
    await seconds(120)
    const complete = venue.crawls
    await seconds(1_800)
    assert.equal(venue.crawls, complete, 'no further crawl within an hour of a complete one')
    await reader.stop()
  })
}

test('repeats a crawl when page cursors form a circle, and requests single markets when few markets are missing', async () => {
  const { start, reader, venue, suspected, seconds, all } = openReader(100)
  venue.doubt = new SuspectAnswerError('catalogue', 'cursor', 'test')
  start()
  await seconds(2)
  assert.deepEqual([venue.loaded, venue.crawls], [0, 2])
  venue.doubt = null
  venue.listed = all.slice(1)
  await seconds(2)
  assert.deepEqual([venue.loaded, venue.crawls], [1, 3])
  assert.equal(suspected('cursor'), 2)
  assert.equal(suspected('shorter'), 0)
  assert.deepEqual(venue.requestedIds, [['m0']])
  await reader.stop()
})

test('requests a market with back-off when a listing lacks the market, then reports the market as missing', async () => {
  const { start, reader, venue, suspected, seconds } = openReader(1)
  start()
  await ticks()
  venue.answers = []
  const [market] = venue.listed
  assert.ok(market !== undefined)
  reader.request(market.nativeId)
  await seconds(30)
  assert.equal(venue.requestedIds.length, 6)
  assert.equal(suspected('empty', 'market'), 1)
  await reader.stop()
})

test('delivers each market once in time slices with the market’s event, and events without markets last', () => {
  const markets = Array.from({ length: 23 }, (_, index) =>
    listing(`m${index}`, { event: nativeEventId(`event-e${index % 4}`) }),
  )
  const events = ['e0', 'e1', 'e2', 'e3', 'lonely'].map((name) => eventListing(name))
  const slices = slicesOf({ markets, events }, 5)
  assert.deepEqual(
    slices.flatMap((slice) => slice.markets),
    markets,
  )
  assert.deepEqual(
    slices.map((slice) => slice.markets.length),
    [5, 5, 5, 5, 3, 0],
  )
  for (const slice of slices.slice(0, -1)) {
    const named = new Set(slice.markets.map(({ event }) => event))
    assert.deepEqual(new Set(slice.events.map(({ nativeId }) => nativeId)), named)
  }
  assert.deepEqual(
    slices.at(-1)?.events.map(({ slug }) => slug),
    ['event-lonely'],
  )
  assert.deepEqual(slicesOf({ markets: [], events: [] }, 5), [])
})

test('reports when a venue lists markets and none of these markets is known', async () => {
  const { start, reader, venue, seconds, all } = openReader(100)
  venue.listed = []
  start()
  await seconds(2)
  venue.listed = all.slice(60)
  await seconds(3)
  assert.deepEqual(venue.otherWorlds, [], 'an empty or short answer does not show another world')
  venue.listed = [listing('other')]
  await seconds(90)
  assert.deepEqual(venue.otherWorlds[0], [100, 1])
  await reader.stop()
})
