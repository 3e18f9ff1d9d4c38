import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '../../../actors/catalog/catalog.ts'
import { System } from '../../../actors/system.ts'
import { DelayWatch } from '../../../actors/venue/delay-watch.ts'
import { EventRoutes } from '../../../actors/venue/event-routes.ts'
import { VenueActor } from '../../../actors/venue/venue.ts'
import { type CoveragePolicy, readCoveragePolicy } from '../../../engine/coverage-policy.ts'
import type {
  BookChangeEvent,
  BookSnapshotEvent,
  FeedEvent,
  TradeEvent,
  TradesSource,
} from '../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import {
  bookAgeMsMax,
  bookRoundMs,
  delayCheckMs,
  firstBookMsMax,
  lateBooksPerCheckMax,
  messageAgeMsMax,
  staleRetryMs,
} from '../../../engine/limits.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { priceMicros, type TimeMs, timeMs, usdMicros } from '../../../engine/units.ts'
import type { CatalogPage, TradesRead, Venue, VenueFeed } from '../../../engine/venues/venue.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { quietDrift } from '../../support/fakes/quiet-drift.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import {
  bid,
  change,
  level,
  listing,
  marketParts,
  NAMES,
  NOON,
  recordingPublisher,
  snapshot,
  trade,
} from '../../support/worlds/builders.ts'
import { FakeIndex } from '../../support/worlds/random-catalog.ts'

function policyOf(text: string): CoveragePolicy {
  const policy = readCoveragePolicy(text)
  assert.ok(!('problem' in policy))
  return policy
}

type TradeRange = Parameters<VenueFeed['fetchTrades']>[0]

function openVenue(
  listings: readonly MarketListing[] = [listing('x'), listing('y')],
  storage = openMemoryStorage(),
  policy = 'all',
) {
  const clock = new ManualClock()
  const { publisher, updates } = recordingPublisher()
  const metrics = new Metrics()
  const ticks = { isHeld: false }
  const system = new System({ clock, log: silentLog, metrics, mustHold: () => ticks.isHeld })
  const delays = new DelayWatch({ clock, log: silentLog, metrics, system })
  const requestsMade = {
    watched: [] as string[],
    unwatched: [] as string[],
    covered: [] as string[],
    uncovered: [] as string[],
    resynced: [] as string[],
    read: [] as string[],
    reconnected: [] as string[],
    checked: [] as string[][],
  }
  const feed = {
    connectionsOpen: 1,
    lastDataAtMs: null as TimeMs | null,
    bookDelayMs: 0,
    tradesSource: 'activity' as TradesSource,
  }
  const first: string[] = []
  const ranges: TradeRange[] = []
  const fetched: string[][] = []
  const held: { answer: () => Promise<TradesRead> } = {
    answer: async () => ({ completeFromMs: timeMs(0), suspectReason: null, newestMs: null }),
  }
  const catalogRows = new Map(listings.map((row) => [row.nativeId, row]))
  const refused = new Set<string>()
  const pageOf = (rows: readonly MarketListing[]): CatalogPage => ({ markets: rows, events: [] })
  const venue: Venue = {
    key: 'a',
    catalog: {
      crawl: async (onPage) => onPage(pageOf([...catalogRows.values()])),
      refresh: async () => undefined,
      async fetchMarkets(ids) {
        fetched.push([...ids])
        const page = pageOf(ids.flatMap((id) => catalogRows.get(id) ?? []))
        return { ...page, refused: ids.filter((id) => refused.has(id)) }
      },
    },
    feed: {
      start: () => undefined,
      stop: async () => undefined,
      watch: (markets) => requestsMade.watched.push(...markets.map(({ nativeId }) => nativeId)),
      unwatch: (ids) => requestsMade.unwatched.push(...ids),
      cover: (ids) => requestsMade.covered.push(...ids),
      uncover: (ids) => requestsMade.uncovered.push(...ids),
      resync: (outcomes) => requestsMade.resynced.push(...outcomes),
      read: (what) => requestsMade.read.push(what),
      reconnect: (reason) => requestsMade.reconnected.push(reason),
      async fetchTrades(range) {
        ranges.push(range)
        return held.answer()
      },
      health: () => ({
        connectionsOpen: feed.connectionsOpen,
        connectionsWanted: 1,
        lastDataAtMs: feed.lastDataAtMs ?? clock.nowMs(),
        lastSignAtMs: null,
        bookDelayMs: feed.bookDelayMs,
        tradesSource: feed.tradesSource,
      }),
      readBooks: (outcomes) => requestsMade.checked.push([...outcomes]),
    },
    pastPrices: { read: async () => [] },
    teams: async () => [],
    wallets: null,
    drift: quietDrift(),
  }
  const market = marketParts({
    ...{ publisher, storage, nowMs: () => clock.nowMs() },
    venue: () => actor,
  })
  const index = new FakeIndex()
  const catalog: Catalog = new Catalog({
    names: NAMES,
    clock,
    system,
    storage,
    index,
    market: market.parts,
  })
  const actor: VenueActor = new VenueActor({
    venue,
    platform: 'venue_a',
    catalog,
    publisher,
    storage,
    clock,
    log: silentLog,
    metrics,
    delays,
    isHandled: () => system.waiting === 0,
    bookLimits: { ageMsMax: bookAgeMsMax, roundMs: bookRoundMs },
    coverage: { policy: policyOf(policy), because: 'test' },
    priorityMarkets: () =>
      first.flatMap((name) => catalog.entryOfNative('a', nativeMarketId(name)) ?? []),
  })
  const open = { venue, actor, actorRef: system.spawn(actor) }
  const routes = new EventRoutes({ catalog, metrics, onWalletFill: () => undefined })
  routes.add(open)
  publisher.watch(actor)
  delays.watch(actor)
  delays.start()
  const crawled = new Promise<void>((resolve) => actor.start(resolve))
  return {
    actor,
    requestsMade,
    catalog,
    catalogRows,
    clock,
    crawled,
    ticks,
    feed,
    fetched,
    held,
    metrics,
    ranges,
    refused,
    routes,
    storage,
    updates,
  }
}

const feedEvent = (set: Partial<FeedEvent>): FeedEvent => ({
  kind: 'feedGap',
  venue: 'a',
  stream: 'books',
  connection: 0,
  outcomes: [outcomeId('x-yes')],
  reason: 'test',
  sinceMs: null,
  venueTimeMs: NOON,
  receivedAtMs: NOON,
  ...set,
})

const ticks = async (count = 20) => {
  for (let tick = 0; tick < count; tick += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('subscribes to all markets of the catalogue except resolved markets', async () => {
  const { requestsMade, crawled } = openVenue([listing('x'), listing('z', { status: 'resolved' })])
  await crawled
  assert.deepEqual(requestsMade.watched, ['x'])
})

test('marks the books of a gap’s markets and no other books as stale, and requests the snapshots of the stale books', async () => {
  const { requestsMade, catalog, crawled, routes } = openVenue()
  await crawled
  for (const name of ['x', 'y']) routes.route(snapshot(name, [level(0.4, 1)], [level(0.5, 1)]))
  routes.route(feedEvent({}))
  assert.deepEqual(requestsMade.resynced, ['x-yes'])
  assert.equal(catalog.find('venue_a_x')?.book().isStale, true)
  assert.equal(catalog.find('venue_a_y')?.book().isStale, false)
})

test('requests a stale book repeatedly until it is live', async () => {
  const { requestsMade, clock, crawled, routes } = openVenue([listing('x')])
  await crawled
  clock.advance(firstBookMsMax - 1_000)
  assert.deepEqual(requestsMade.resynced, [], 'the feed requests first snapshots itself')
  clock.advance(3 * staleRetryMs)
  assert.ok(requestsMade.resynced.length >= 2)
  routes.route(snapshot('x', [level(0.4, 1)], [level(0.5, 1)]))
  requestsMade.resynced.length = 0
  clock.advance(3 * staleRetryMs)
  assert.deepEqual(requestsMade.resynced, [])
})

test('requests the trades missed since a disconnect at once, and a second time seconds later', async () => {
  const { clock, crawled, ranges, routes } = openVenue()
  await crawled
  const sinceMs = timeMs(clock.nowMs() - 20_000)
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs }))
  await ticks()
  clock.advance(15_000)
  await ticks()
  assert.equal(ranges.length, 2)
  assert.ok(ranges.every(({ fromMs, market }) => fromMs <= sinceMs && market === null))
})

test('requests missed trades after the engine was killed until they are read, even when newer trades arrive', async () => {
  const { clock, crawled, held, routes, storage } = openVenue()
  await crawled
  const sinceMs = timeMs(clock.nowMs() - 100_000)
  let answer: () => void = () => undefined
  held.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve({ completeFromMs: timeMs(0), suspectReason: null, newestMs: null })
    })
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs }))
  const liveMs = clock.nowMs()
  routes.route(trade('x', 't1', { venueTimeMs: liveMs }))
  clock.advance(2_000)
  const mark = () => storage.marks.get('newest_trade_ms_a')
  assert.ok((mark() ?? 0) <= sinceMs, 'the next run requests them again')
  answer()
  await ticks()
  clock.advance(2_000)
  assert.ok((mark() ?? 0) <= sinceMs)
  clock.advance(15_000)
  answer()
  await ticks()
  clock.advance(2_000)
  assert.equal(mark(), liveMs)
})

test('requests the missed trades of an outage repeatedly when the answer lacks earlier trades that are stored', async () => {
  const { actor, clock, crawled, held, ranges, routes } = openVenue()
  await crawled
  const retentionMs = clock.nowMs()
  routes.route(trade('x', 't1', { venueTimeMs: retentionMs }))
  await ticks()
  clock.advance(20_000)
  const read = { completeFromMs: timeMs(0), suspectReason: null }
  held.answer = async () => ({ ...read, newestMs: timeMs(retentionMs - 200_000) })
  routes.route(
    feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs: timeMs(retentionMs + 1_000) }),
  )
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second += 1) {
      await ticks()
      clock.advance(1_000)
    }
    await ticks()
  }
  await seconds(30)
  assert.ok(ranges.length >= 4, 'the range is requested repeatedly')
  assert.ok((actor.completeToMs ?? 0) <= retentionMs + 1_000)
  held.answer = async () => ({ ...read, newestMs: retentionMs })
  await seconds(60)
  assert.ok((actor.completeToMs ?? 0) > retentionMs + 1_000)
})

test('announces a gap for missed trades when the venue cannot return the trades', async () => {
  const { clock, crawled, held, routes, updates } = openVenue()
  await crawled
  const sinceMs = timeMs(clock.nowMs() - 20_000)
  held.answer = async () => ({
    completeFromMs: timeMs(sinceMs + 5_000),
    suspectReason: null,
    newestMs: null,
  })
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs }))
  await ticks()
  const gap = updates.find((update) => update.kind === 'gap')
  assert.equal(gap?.kind === 'gap' && gap.toMs, sinceMs + 5_000)
})

test('repeats failing REST requests for missed trades until the trades arrive', async () => {
  const { clock, crawled, held, ranges, routes, updates } = openVenue()
  await crawled
  held.answer = async () => {
    throw new Error('HTML')
  }
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs: clock.nowMs() }))
  for (let round = 0; round < 5; round += 1) {
    await ticks()
    clock.advance(1_000)
  }
  const failed = ranges.length
  assert.ok(failed >= 2)
  held.answer = async () => ({ completeFromMs: timeMs(0), suspectReason: null, newestMs: null })
  clock.advance(30_000)
  await ticks()
  assert.ok(ranges.length > failed)
  assert.equal(
    updates.some((update) => update.kind === 'gap'),
    false,
  )
})

test('reports the time up to which a venue’s trades are complete, during and after an outage', async () => {
  const { actor, clock, crawled, held, routes, updates } = openVenue()
  await crawled
  const published = () =>
    updates.flatMap((update) => (update.kind === 'status' ? [update.completeToMs] : []))
  clock.advance(1_000)
  assert.deepEqual(published(), [null], 'nothing was lost')
  const sinceMs = timeMs(clock.nowMs() - 300_000)
  const answers: (() => void)[] = []
  held.answer = () =>
    new Promise((resolve) => {
      answers.push(() =>
        resolve({ completeFromMs: timeMs(0), suspectReason: null, newestMs: null }),
      )
    })
  routes.route(feedEvent({ kind: 'feedDown', stream: 'trades', sinceMs }))
  clock.advance(1_000)
  assert.equal(published().at(-1), sinceMs)
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs }))
  const upMs = clock.nowMs()
  for (let second = 0; second < 40; second += 1) {
    clock.advance(1_000)
    await ticks()
    for (const answer of answers.splice(0)) answer()
    await ticks()
  }
  const all = published().slice(2).map(Number)
  assert.ok(all.length >= 4, `part by part: ${all}`)
  assert.deepEqual(
    all,
    [...all].sort((one, other) => one - other),
  )
  assert.ok((all[0] ?? 0) >= sinceMs - 5_000 && (all[0] ?? 0) < upMs)
  assert.ok((all.at(-1) ?? 0) >= upMs, 'the last status covers the complete outage')
  assert.equal(actor.completeToMs, all.at(-1))
})

test('publishes a venue status when the source of trades changes, even if the feed stays live', async () => {
  const { actor, clock, crawled, feed, updates } = openVenue()
  await crawled
  const published = () =>
    updates.flatMap((update) => (update.kind === 'status' ? [update.tradesSource] : []))
  clock.advance(5_000)
  assert.deepEqual([published(), actor.state], [['activity'], 'live'])
  feed.tradesSource = 'last_trade_price'
  clock.advance(5_000)
  feed.tradesSource = 'activity'
  clock.advance(5_000)
  assert.deepEqual(published(), ['activity', 'last_trade_price', 'activity'])
})

test('publishes a gap with its start, its end and, if known, the number of lost trades', async () => {
  const { clock, crawled, routes, updates } = openVenue([])
  await crawled
  for (const [index, id] of ['t1', 't2', 't3'].entries()) {
    routes.route(trade('new', id, { venueTimeMs: timeMs(NOON + index) }))
  }
  for (let minute = 0; minute < 6; minute += 1) {
    clock.advance(60_000)
    await ticks()
  }
  const [gap] = updates.filter((update) => update.kind === 'gap')
  assert.ok(gap?.kind === 'gap')
  assert.deepEqual([gap.fromMs, gap.toMs, gap.count], [NOON, NOON + 2, 3])
})

test('delays a trade of an unknown market until the venue lists the market, then publishes the trade', async () => {
  const { catalogRows, clock, crawled, fetched, routes, updates } = openVenue([])
  await crawled
  const late: TradeEvent = trade('new', 't1')
  routes.route(late)
  clock.advance(300)
  await ticks()
  assert.deepEqual(fetched, [['new']])
  assert.equal(updates.length, 0, 'the trade is not published before its market is known')
  const row = listing('new')
  catalogRows.set(row.nativeId, row)
  clock.advance(500)
  await ticks()
  assert.equal(updates.filter(({ kind }) => kind === 'trade').length, 1)
})

test('unsubscribes from a market that is resolved, and subscribes to a market that is reopened', async () => {
  const { requestsMade, crawled, routes } = openVenue([listing('x')])
  await crawled
  const status = (to: 'open' | 'closed' | 'resolved') =>
    routes.route({
      kind: 'marketStatus',
      venue: 'a',
      market: listing('x').nativeId,
      status: to,
      settlementPrice: null,
      venueTimeMs: NOON,
      receivedAtMs: NOON,
    })
  status('closed')
  status('open')
  assert.deepEqual(requestsMade.watched, ['x', 'x'])
  status('resolved')
  assert.deepEqual(requestsMade.unwatched, ['x'])
})

test('stores the time of the newest trade when the venue actor stops', async () => {
  const first = openVenue([listing('x')])
  await first.crawled
  first.routes.route(trade('x', 't1', { venueTimeMs: timeMs(first.clock.nowMs() - 500) }))
  await first.actor.stop()
  assert.equal(first.storage.marks.get('newest_trade_ms_a'), first.clock.nowMs() - 500)
})

test('retains the time of the last trade before a restart until the gap is requested, even if trades arrive first', async () => {
  const storage = openMemoryStorage()
  const endMs = timeMs(new ManualClock().nowMs() - 60_000)
  storage.marks.put('newest_trade_ms_a', endMs)
  const { clock, crawled, ranges, routes } = openVenue([listing('x')], storage)
  await crawled
  routes.route(trade('x', 't1', { venueTimeMs: clock.nowMs() }))
  clock.advance(2_000)
  assert.equal(storage.marks.get('newest_trade_ms_a'), endMs)
  const sinceMs = timeMs(clock.nowMs() - 1_000)
  routes.route(feedEvent({ kind: 'feedDown', stream: 'trades', sinceMs }))
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs }))
  await ticks()
  assert.ok(ranges.length > 0 && ranges.every(({ fromMs }) => fromMs <= endMs))
})

test('announces a loss of trades and frees their memory when the venue never lists the market of the trades', async () => {
  const { catalogRows, clock, crawled, routes, updates } = openVenue([])
  await crawled
  const firstMs = timeMs(clock.nowMs() - 9_000)
  routes.route(trade('never', 't1', { venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }))
  routes.route(trade('never', 't2', { venueTimeMs: firstMs, receivedAtMs: clock.nowMs() }))
  clock.advance(200_000)
  routes.route(trade('later', 't3', { receivedAtMs: clock.nowMs() }))
  clock.advance(99_000)
  assert.deepEqual(
    updates.filter(({ kind }) => kind === 'gap'),
    [],
  )
  clock.advance(2_000)
  const gaps = updates.flatMap((update) => (update.kind === 'gap' ? [update] : []))
  assert.deepEqual(
    gaps.map(({ fromMs, toMs, channel }) => [fromMs, toMs, channel]),
    [[firstMs, firstMs + 9_000, 'trades']],
  )
  const row = listing('later')
  catalogRows.set(row.nativeId, row)
  routes.route(trade('later', 't4', { receivedAtMs: clock.nowMs() }))
  for (let round = 0; round < 3; round += 1) {
    clock.advance(300)
    await ticks()
  }
  assert.equal(
    updates.filter(({ kind }) => kind === 'trade').length,
    2,
    'the waiting trades are published',
  )
})

test('drops the trades of a market that the catalogue rejects without announcing a gap', async () => {
  const { clock, crawled, refused, routes, storage, updates } = openVenue([])
  await crawled
  const mark = () => storage.marks.get('newest_trade_ms_a') ?? 0
  refused.add('combo')
  for (const id of ['t1', 't2']) {
    routes.route(trade('combo', id, { venueTimeMs: NOON, receivedAtMs: clock.nowMs() }))
  }
  clock.advance(300)
  await ticks()
  const liveMs = timeMs(clock.nowMs() - 1)
  routes.route(trade('combo', 't3', { venueTimeMs: liveMs, receivedAtMs: clock.nowMs() }))
  clock.advance(300)
  await ticks()
  clock.advance(2_000)
  assert.equal(mark(), liveMs, 'no trade is waiting')
  clock.advance(400_000)
  assert.deepEqual(
    updates.filter(({ kind }) => kind === 'gap' || kind === 'trade'),
    [],
  )
})

test('drops and reports trades of a different environment when the venue lists no known market', async () => {
  const old = Array.from({ length: 5 }, (_, index) => listing(`old${index}`))
  const { actor, catalogRows, clock, crawled, held, routes, updates } = openVenue(old)
  await crawled
  routes.route(trade('old0', 't1'))
  held.answer = async () => ({
    completeFromMs: timeMs(0),
    suspectReason: 'shorter',
    newestMs: null,
  })
  const sinceMs = timeMs(clock.nowMs() - 3_600_000)
  routes.route(trade('old0', 't0', { venueTimeMs: timeMs(sinceMs - 60_000) }))
  catalogRows.clear()
  const row = listing('new')
  catalogRows.set(row.nativeId, row)
  clock.advance(3_600_000)
  await ticks(200)
  assert.deepEqual(
    actor.drift.map(({ kind, name, weight }) => `${kind} ${name} ${weight}`),
    ['catalogue none of the known markets loss'],
  )
  const requestedAtMs = clock.nowMs()
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs }))
  for (let second = 0; second < 240; second += 1) {
    clock.advance(1_000)
    await ticks(4)
  }
  const gaps = updates.flatMap((update) => (update.kind === 'gap' ? [update] : []))
  assert.ok(gaps.length > 0 && Math.max(...gaps.map(({ toMs }) => toMs)) >= requestedAtMs - 1_000)
})

test('reports a trade stream as lossy when the stream delivers no trades while REST returns many', async () => {
  const { actor, clock, crawled, routes } = openVenue()
  await crawled
  const atMs = clock.nowMs()
  routes.route(feedEvent({ kind: 'feedUp', stream: 'trades', sinceMs: null, venueTimeMs: atMs }))
  const losses = () => actor.drift.map(({ kind, name, weight }) => `${kind} ${name} ${weight}`)
  const pass = (source: 'stream' | 'backfill') => {
    clock.advance(60_000)
    const times = { venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }
    for (let id = 0; id < 20; id += 1) routes.route(trade('x', `t${id}`, { ...times, source }))
    clock.advance(61_000)
  }
  pass('stream')
  assert.deepEqual(losses(), [])
  pass('backfill')
  assert.deepEqual(losses(), ['trades none by stream loss'])
})

test('requests a trade after a restart when the engine was killed while the trade’s market was not yet listed', async () => {
  const { catalogRows, clock, crawled, routes, storage } = openVenue()
  await crawled
  const mark = () => storage.marks.get('newest_trade_ms_a') ?? 0
  const waitingMs = clock.nowMs()
  routes.route(trade('late', 't1', { venueTimeMs: waitingMs, receivedAtMs: waitingMs }))
  clock.advance(2_000)
  const liveMs = clock.nowMs()
  routes.route(trade('x', 't2', { venueTimeMs: liveMs, receivedAtMs: liveMs }))
  clock.advance(2_000)
  assert.equal(mark(), waitingMs, 'the next run requests it again')
  const row = listing('late')
  catalogRows.set(row.nativeId, row)
  routes.route(trade('late', 't3', { venueTimeMs: liveMs, receivedAtMs: liveMs }))
  for (let round = 0; round < 10; round += 1) {
    clock.advance(300)
    await ticks()
  }
  clock.advance(1_000)
  assert.equal(mark(), liveMs)
})

test('drops trades of a market that ended before the retention time', async () => {
  const { catalog, catalogRows, clock, crawled, routes, updates } = openVenue([])
  await crawled
  assert.equal(catalog.removeOld(clock.nowMs(), 1, 1), 0)
  const row = listing('old', { status: 'resolved', closeAtMs: timeMs(NOON - 2 * 86_400_000) })
  catalogRows.set(row.nativeId, row)
  routes.route(trade('old', 't1', { receivedAtMs: clock.nowMs() }))
  clock.advance(300)
  await ticks()
  assert.equal(catalog.find('venue_a_old'), null)
  clock.advance(400_000)
  assert.deepEqual(
    updates.filter(({ kind }) => kind === 'gap' || kind === 'trade'),
    [],
  )
})

test('requests a market once after the first crawl when it closed long ago and is not resolved', async () => {
  const overdue = listing('old', { status: 'closed', closeAtMs: timeMs(NOON - 200_000_000) })
  const { clock, crawled, fetched } = openVenue([listing('x', { closeAtMs: NOON }), overdue])
  await crawled
  clock.advance(300)
  await ticks()
  assert.deepEqual(fetched, [['old']])
})

test('requests a resolved market without a payout until the venue returns the payout, and publishes the payout once', async () => {
  const { actor, catalog, catalogRows, clock, crawled, fetched, routes, updates } = openVenue([
    listing('x'),
  ])
  await crawled
  const unpaid = listing('x', { status: 'resolved' })
  catalogRows.set(unpaid.nativeId, unpaid)
  const { nativeId } = unpaid
  const times = { venueTimeMs: NOON, receivedAtMs: NOON }
  const market = { venue: 'a', market: nativeId } as const
  const status = { status: 'resolved', settlementPrice: null } as const
  routes.route({ kind: 'marketStatus', ...market, ...status, ...times })
  const life = () => updates.flatMap((one) => (one.kind === 'lifecycle' ? [one.event] : []))
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second += 1) {
      clock.advance(1_000)
      await ticks(3)
    }
  }
  await seconds(7)
  assert.deepEqual(fetched, [['x']])
  assert.deepEqual(life(), ['resolved'])
  catalogRows.set(nativeId, { ...unpaid, settlementPrice: priceMicros(0) })
  await seconds(20)
  assert.deepEqual(life(), ['resolved', 'settled'])
  assert.equal(catalog.entryOfNative('a', nativeId)?.actor.price().price, 0)
  await seconds(400)
  assert.deepEqual(fetched, [['x'], ['x']], 'a known result is not requested again')
  assert.deepEqual(life(), ['resolved', 'settled'])
  await actor.stop()
})

test('stores the end of the current feed interval every ten seconds', async () => {
  const { actor, clock, storage } = openVenue()
  const startMs = clock.nowMs()
  assert.equal(actor.liveSinceMs, null)
  clock.advance(35_000)
  const fromMs = timeMs(startMs + 1_000)
  assert.equal(actor.liveSinceMs, fromMs)
  const written = storage.coverage.at('a', timeMs(startMs + 20_000))
  assert.deepEqual(written, { fromMs, toMs: fromMs + 30_000 })
  assert.equal(storage.coverage.at('a', startMs), null, 'no interval exists before the feed was up')
  assert.equal(storage.coverage.at('b', fromMs), null)
  clock.advance(3_000)
  await actor.stop()
  assert.equal(
    storage.coverage.at('a', fromMs)?.toMs,
    clock.nowMs(),
    'the interval is also written at the end',
  )
})

test('ends a feed interval at the last data and begins a new interval when data arrives after a silence', () => {
  const { actor, clock, feed, storage } = openVenue()
  clock.advance(20_000)
  const fromMs = actor.liveSinceMs
  assert.ok(fromMs !== null)
  const lastMs = clock.nowMs()
  feed.lastDataAtMs = lastMs
  clock.advance(29_000)
  assert.equal(actor.liveSinceMs, fromMs, 'a short silence does not end the interval')
  clock.advance(5_000)
  assert.equal(actor.liveSinceMs, null)
  assert.deepEqual(storage.coverage.at('a', lastMs), { fromMs, toMs: lastMs })
  assert.equal(storage.coverage.at('a', timeMs(lastMs + 1)), null)
  feed.lastDataAtMs = null
  clock.advance(2_000)
  assert.ok((actor.liveSinceMs ?? 0) > lastMs + 30_000)
})

test('counts a gap as one resync, whatever the number of affected books', async () => {
  const { crawled, metrics, routes } = openVenue()
  await crawled
  const outcomes = ['x-yes', 'y-yes'].map(outcomeId)
  routes.route(feedEvent({ kind: 'feedGap', reason: 'sequence gap', outcomes }))
  const valuesOf = (name: string) => [...metrics.counts(name).values()].map(({ value }) => value)
  assert.deepEqual([valuesOf('resyncs_total'), valuesOf('resync_books_total')], [[1], [2]])
})

test('ends a feed interval when the connection is lost briefly, and not when a single book has a gap', () => {
  const { actor, clock, feed, routes, storage } = openVenue()
  clock.advance(10_500)
  const fromMs = actor.liveSinceMs
  routes.route(feedEvent({ kind: 'feedGap' }))
  clock.advance(2_000)
  assert.equal(actor.liveSinceMs, fromMs)
  const downMs = clock.nowMs()
  routes.route(feedEvent({ kind: 'feedDown' }))
  assert.equal(actor.liveSinceMs, null)
  clock.advance(1_000)
  const againMs = actor.liveSinceMs
  assert.ok(againMs !== null && againMs > downMs)
  assert.equal(storage.coverage.at('a', againMs)?.fromMs, againMs)
  assert.equal(storage.coverage.at('a', downMs)?.fromMs ?? fromMs, fromMs)
  feed.connectionsOpen = 0
  clock.advance(1_000)
  assert.equal(actor.liveSinceMs, null)
})

test('records no feed interval for a feed that may deliver books more than a minute late', () => {
  const { actor, clock, feed, storage } = openVenue()
  feed.bookDelayMs = 60_000
  clock.advance(5_000)
  const fromMs = actor.liveSinceMs
  assert.ok(fromMs !== null, 'a price may be up to a minute late')
  feed.bookDelayMs = 60_001
  clock.advance(1_000)
  assert.equal(actor.liveSinceMs, null)
  clock.advance(30_000)
  assert.equal(storage.coverage.at('a', timeMs(fromMs + 20_000)), null)
  assert.equal(actor.state, 'live', 'the delay alone does not make the venue stale')
  feed.bookDelayMs = 0
  clock.advance(1_000)
  assert.equal(actor.liveSinceMs, clock.nowMs())
})

async function openLateBooks(count: number) {
  const names = Array.from({ length: count }, (_, index) => `m${index}`)
  const world = openVenue(names.map((name) => listing(name)))
  const { requestsMade, clock, crawled, routes } = world
  await crawled
  const books = () =>
    names.map((name) => world.catalog.find(`venue_a_${name}`)?.book() ?? assert.fail())
  const sendToAll = (make: (name: string) => BookSnapshotEvent | BookChangeEvent) => {
    for (const name of names) routes.route(make(name))
  }
  sendToAll((name) => snapshot(name, [level(0.4, 1)], [level(0.5, 1)]))
  clock.advance(1_000)
  requestsMade.resynced.length = 0
  return {
    ...world,
    books,
    sendToAll,
    names,
    stale: () => books().filter(({ isStale }) => isStale),
  }
}

test('marks books as stale when their changes are delayed, even if no message is handled, and requests snapshots gradually', async () => {
  const world = await openLateBooks(50)
  const { requestsMade, clock, names, stale, sendToAll, ticks: held } = world
  held.isHeld = true
  sendToAll((name) => change(name, [bid(0.4, 2)]))
  clock.advance(messageAgeMsMax)
  assert.equal(stale().length, 0)
  clock.advance(2 * delayCheckMs)
  assert.equal(stale().length, names.length)
  clock.advance(20_000)
  assert.deepEqual(requestsMade.resynced, [], 'no snapshots are requested without capacity')
  held.isHeld = false
  clock.advance(1_000)
  assert.deepEqual(requestsMade.resynced, [], 'no snapshots are requested right after the wait')
  const counts: number[] = []
  for (let checks = 0; checks < 25; checks += 1) {
    const before = requestsMade.resynced.length
    clock.advance(delayCheckMs)
    counts.push(requestsMade.resynced.length - before)
  }
  assert.deepEqual(
    counts.filter((count) => count > 0),
    [lateBooksPerCheckMax, lateBooksPerCheckMax, names.length - 2 * lateBooksPerCheckMax],
  )
  assert.deepEqual([...requestsMade.resynced].sort(), names.map((name) => `${name}-yes`).sort())
  assert.equal(world.books()[0]?.bids[0]?.size, 1_000_000)
  sendToAll((name) => snapshot(name, [level(0.4, 3)], [level(0.5, 1)]))
  assert.equal(stale().length, 0)
  const before = requestsMade.resynced.length
  clock.advance(3 * staleRetryMs)
  assert.equal(requestsMade.resynced.length, before)
})

test('marks the feed as stale during late books and for seconds afterwards, and publishes each state change once', async () => {
  const world = await openLateBooks(3)
  const { actor, clock, sendToAll, ticks: held, updates } = world
  const published = () =>
    updates.filter((update) => update.kind === 'status').map(({ state }) => state)
  assert.deepEqual([actor.state, published().at(-1)], ['live', 'live'])
  updates.length = 0
  for (let round = 0; round < 5; round += 1) {
    held.isHeld = true
    sendToAll((name) => change(name, [bid(0.4, 2 + round)]))
    clock.advance(messageAgeMsMax + 2 * delayCheckMs)
    assert.equal(actor.state, 'stale')
    held.isHeld = false
    clock.advance(500)
    sendToAll((name) => snapshot(name, [level(0.4, 20 + round)], [level(0.5, 1)]))
    clock.advance(500)
    assert.equal(world.stale().length, 0)
  }
  assert.deepEqual(published(), ['stale'], 'the state changes only once')
  const [status] = updates.filter((update) => update.kind === 'status')
  assert.ok((status?.delayMs ?? 0) > messageAgeMsMax)
  assert.equal(status?.lagMs, 0)
  clock.advance(5_000)
  assert.deepEqual(published(), ['stale', 'live'])
  assert.equal(actor.delayMs, 0)
})

test('returns books as stale over REST, without requesting snapshots, while the venue’s data is unread', async () => {
  const { actor, requestsMade, catalog, clock, crawled, routes, updates } = openVenue([
    listing('x'),
  ])
  await crawled
  routes.route(snapshot('x', [level(0.4, 1)], [level(0.5, 1)]))
  routes.route(change('x', [bid(0.4, 2)], { receivedAtMs: clock.nowMs() }))
  clock.advance(1_000)
  requestsMade.resynced.length = 0
  const market = catalog.find('venue_a_x') ?? assert.fail()
  const { version } = market
  assert.equal(market.isBehind, false)
  clock.stall(3_000)
  assert.equal(market.isBehind, true)
  assert.ok(market.version > version, 'the new version invalidates cached answers')
  assert.equal(actor.state, 'stale')
  assert.equal(updates.findLast((update) => update.kind === 'status')?.state, 'stale')
  clock.advance(1_000)
  assert.equal(market.isBehind, false)
  assert.equal(market.book().isStale, false)
  clock.advance(5_000)
  assert.equal(actor.state, 'live')
  assert.deepEqual(requestsMade.resynced, [])
  assert.deepEqual(requestsMade.reconnected, [])
})

test('reconnects the book streams when data is unread for too long, and forwards pause and resume to the feed', async () => {
  const { actor, requestsMade, clock, crawled, routes } = openVenue([listing('x')])
  await crawled
  const arriveLate = (lateMs: number) => {
    const receivedAtMs = clock.nowMs()
    const venueTimeMs = timeMs(receivedAtMs - lateMs)
    routes.route(change('x', [bid(0.4, 2)], { receivedAtMs, venueTimeMs }))
  }
  arriveLate(10)
  clock.advance(delayCheckMs)
  for (let checks = 0; checks < 60; checks += 1) {
    clock.stall(300)
    arriveLate(4_000)
  }
  assert.deepEqual(requestsMade.reconnected, ['read too late'])
  actor.read('nothing')
  actor.read('all')
  assert.deepEqual(requestsMade.read, ['nothing', 'all'])
})

async function openPartlyCovered() {
  const world = openVenue(
    [listing('x', { volume24h: usdMicros(9) }), listing('y')],
    undefined,
    'top:1',
  )
  await world.crawled
  world.clock.advance(1_000)
  const numberOf = (name: string) => world.catalog.find(`venue_a_${name}`)?.ref.number ?? 0
  return { ...world, numberOf }
}

test('never requests, checks or counts the book of a market without book coverage', async () => {
  const { actor, clock, feed, requestsMade, routes, updates } = await openPartlyCovered()
  assert.deepEqual(requestsMade.watched, ['x', 'y'])
  assert.deepEqual(requestsMade.covered, ['x'])
  routes.route(snapshot('x', [level(0.4, 1)], [level(0.5, 1)]))
  requestsMade.resynced.length = 0
  routes.route(feedEvent({ outcomes: [outcomeId('y-yes')] }))
  routes.route(snapshot('y', [level(0.4, 1)], [level(0.5, 1)]))
  routes.route(trade('y', 't1', { price: priceMicros(900_000) }))
  feed.lastDataAtMs = null
  clock.advance(3 * staleRetryMs + bookRoundMs)
  assert.ok(requestsMade.checked.flat().length > 0)
  const requested = [...requestsMade.checked.flat(), ...requestsMade.resynced]
  assert.deepEqual(
    requested.filter((outcome) => outcome.startsWith('y')),
    [],
  )
  assert.equal(actor.staleBooks, 0)
  assert.equal(actor.state, 'live')
  assert.equal(
    updates.some((update) => update.kind === 'bookStale' && update.market.nativeId === 'y'),
    false,
  )
})

test('reports a market as covered under the policy `all` before the market’s book is subscribed', () => {
  assert.equal(openVenue([], undefined, 'all').actor.isCovered(1), true)
  assert.equal(openVenue([], undefined, 'top:1').actor.isCovered(1), false)
})

test('discards the book of a market when its coverage ends, without counting the book as lost', async () => {
  const { actor, catalog, clock, numberOf, requestsMade, routes } = await openPartlyCovered()
  actor.coverage.request(numberOf('y'), 'me')
  for (const name of ['x', 'y']) routes.route(snapshot(name, [level(0.4, 1)], [level(0.5, 1)]))
  assert.equal(actor.coverage.counts.live, 2)
  await actor.setCoverage(policyOf('market:venue_a_y'), 'test')
  assert.deepEqual(requestsMade.uncovered, ['x'])
  const book = catalog.find('venue_a_x')?.book()
  assert.deepEqual([book?.bids, book?.staleReason], [[], 'not_covered'])
  requestsMade.resynced.length = 0
  clock.advance(3 * staleRetryMs)
  assert.deepEqual(requestsMade.resynced, [])
  assert.equal(actor.staleBooks, 0)
  assert.equal(actor.state, 'live')
  assert.equal(actor.coverage.counts.live, 1)
})

test('unsubscribes from a resolved market, and still covers the book of a closed market', async () => {
  const { actor, numberOf, requestsMade, routes } = await openPartlyCovered()
  const status = (name: string, to: 'closed' | 'resolved') =>
    routes.route({
      ...{ kind: 'marketStatus', venue: 'a', market: nativeMarketId(name), status: to },
      ...{ settlementPrice: null, venueTimeMs: NOON, receivedAtMs: NOON },
    })
  status('x', 'closed')
  assert.equal(actor.coverage.isCovered(numberOf('x')), true)
  assert.equal(actor.coverage.counts.covered, 0)
  status('x', 'resolved')
  assert.equal(actor.coverage.isCovered(numberOf('x')), false)
  assert.deepEqual(requestsMade.unwatched, ['x'])
})

test('does not report an unchanged price for a market without book coverage when no tick was recorded', async () => {
  const { actor, clock, numberOf, routes, storage } = await openPartlyCovered()
  routes.route(snapshot('x', [level(0.4, 1)], [level(0.5, 1)]))
  clock.advance(30_000)
  assert.ok(actor.liveSinceMs !== null)
  assert.ok(actor.liveSinceOf(numberOf('x')) !== null)
  assert.equal(actor.liveSinceOf(numberOf('y')), null)
  actor.coverage.request(numberOf('y'), 'me')
  routes.route(snapshot('y', [level(0.4, 1)], [level(0.5, 1)]))
  assert.equal(actor.liveSinceOf(numberOf('y')), clock.nowMs())
  assert.equal(storage.coverage.at('a', clock.nowMs()), null, 'the interval is not of all markets')
  await actor.setCoverage(policyOf('all'), 'test')
  clock.advance(30_000)
  assert.ok(storage.coverage.at('a', timeMs(clock.nowMs() - 15_000)) !== null)
  await actor.stop()
})
