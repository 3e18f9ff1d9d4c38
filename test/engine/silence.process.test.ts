import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../../engine/app/engine.ts'
import type { FeedEvent, Level, VenueEvent } from '../../engine/events.ts'
import { nativeEventId, outcomeId, type VenueKey } from '../../engine/ids.ts'
import { CURVE_ZERO, type MarketFees, MODEL_UNKNOWN } from '../../engine/market/fees.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { DAY_MS, timeMs } from '../../engine/units.ts'
import type { Venue } from '../../engine/venues/venue.ts'
import { type Message, StreamClient } from '../support/clients/stream-client.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { quietVenue } from '../support/fakes/quiet-venue.ts'
import { waitOneTick } from '../support/fakes/real-time-step.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { eventListing, level, listing, NOON, snapshot, trade } from '../support/worlds/builders.ts'

const SETTINGS = {
  ...{ host: '127.0.0.1', port: 0, venueNames: { a: 'venue_a', b: 'venue_b' } },
  ...{ corsOrigins: ['*'], trustedProxies: [], isMetricsPublic: false, retentionDays: 30 },
  ...{ dataBytesMax: 1e10, jwtSecret: 'x'.repeat(32), jwtSecretPrevious: null },
  ...{ secretsKey: 'y'.repeat(32), webhookPolicy: { allowsHttp: false, allowsPrivate: false } },
  bookLimits: { ageMsMax: 60_000, roundMs: 600_000 },
}
const FREE: MarketFees = {
  now: {
    ...{ ...MODEL_UNKNOWN, kind: 'none', taker: CURVE_ZERO, maker: CURVE_ZERO },
    rounding: { fillStepMicros: 10, direction: 'up', orderStepMicros: null },
  },
  next: null,
  waivedUntilMs: null,
}
const NAMES = ['x', 'y'] as const
type Name = (typeof NAMES)[number]

interface Books {
  bids: readonly Level[]
  asks: readonly Level[]
}

async function open(key: VenueKey) {
  const clock = new ManualClock(NOON)
  let emit: (event: VenueEvent) => void = () => undefined
  const requested = { resynced: [] as string[], read: [] as string[] }
  const truth = new Map<string, Books>()
  const feed = { connectionsOpen: 1 }
  const listings = NAMES.map((name) =>
    listing(name, {
      venue: key,
      event: nativeEventId('event-e'),
      fees: FREE,
      closeAtMs: timeMs(NOON + DAY_MS),
    }),
  )
  const event = eventListing('e', { venue: key, winnerAmong: 2 })
  const page = { markets: listings, events: [event] }
  const at = () => ({ venue: key, venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() })
  const nameOf = (outcome: string) => NAMES.find((name) => outcome === `${name}-yes`)
  const book = (name: Name, isInOrder: boolean, { bids, asks }: Books) =>
    emit({ ...snapshot(name, [...bids], [...asks], at()), isInOrder })
  const quiet = quietVenue(key, clock)
  const venue: Venue = {
    ...quiet,
    catalog: { ...quiet.catalog, crawl: async (onPage) => onPage(page) },
    feed: {
      ...quiet.feed,
      resync: (outcomes) => requested.resynced.push(...outcomes),
      readBooks(outcomes) {
        for (const outcome of outcomes) {
          requested.read.push(outcome)
          const name = nameOf(outcome)
          const there = name === undefined ? undefined : truth.get(name)
          if (name !== undefined && there !== undefined) book(name, false, there)
        }
      },
      health: () => ({ ...quiet.feed.health(), ...feed }),
    },
  }
  const otherKey = key === 'a' ? 'b' : 'a'
  const quietOther = quietVenue(otherKey, clock)
  const others = { markets: [listing('z', { venue: otherKey })], events: [] }
  const other: Venue = {
    ...quietOther,
    catalog: { ...quietOther.catalog, crawl: async (onPage) => onPage(others) },
  }
  const engine = createEngine(SETTINGS, {
    ...{ clock, storage: openMemoryStorage(), log: silentLog, metrics: new Metrics() },
    random: seededRandom('silence'),
    venues(parts) {
      emit = parts.emit
      return [venue, other]
    },
    ...{ epoch: 'test', version: '0' },
  })
  const stopTime = waitOneTick(clock)
  const apiKey = await engine.accounts.openLocalAccount(null)
  await engine.start()
  stopTime()
  const platform = `venue_${key}`
  const idOf = (name: Name) => `${platform}_${name}`
  const put = (name: Name, bid: number, ask: number) => {
    const books = { bids: [level(bid, 100)], asks: [level(ask, 100)] }
    truth.set(name, books)
    book(name, true, books)
  }
  const move = (name: Name, bid: number, ask: number) =>
    truth.set(name, { bids: [level(bid, 100)], asks: [level(ask, 100)] })
  const lose = (kind: FeedEvent['kind'], reason: string) => {
    const outcomes = NAMES.map((name) => outcomeId(`${name}-yes`))
    emit({ ...at(), kind, stream: 'books', connection: 1, outcomes, reason, sinceMs: null })
  }
  const buy = (name: Name, id: string, cents: number) =>
    emit(trade(name, id, { ...at(), price: level(cents / 100, 1).price }))
  const get = async (path: string): Promise<Message> => {
    const headers = { 'x-api-key': apiKey }
    const answer = await fetch(`http://127.0.0.1:${engine.port}${path}`, { headers })
    return JSON.parse(await answer.text())
  }
  const client = await StreamClient.open(engine.port, `api_key=${apiKey}`)
  const received: string[] = []
  let read = 0
  const changes = async (): Promise<readonly string[]> => {
    await client.ask({ action: 'ping', id: clock.monotonicMs() }, 'pong')
    const fresh = client.messages.slice(read)
    read = client.messages.length
    return fresh.flatMap(({ type, channel, market_id, reason, state, books }) => {
      if (type === 'status') return platform === 'x' ? [] : [`status ${state} ${reason} ${books}`]
      const isShown = ['stale', 'fresh', 'resync', 'snapshot'].includes(String(type))
      return isShown
        ? [`${type} ${channel} ${String(market_id).slice(-1)} ${reason ?? ''}`.trim()]
        : []
    })
  }
  const stop = async () => {
    await client.close()
    const stopTime = waitOneTick(clock)
    await engine.stop()
    stopTime()
  }
  return {
    clock,
    engine,
    client,
    changes,
    received,
    get,
    put,
    move,
    lose,
    buy,
    requested,
    feed,
    idOf,
    platform,
    stop,
    book,
    truth,
  }
}

type World = Awaited<ReturnType<typeof open>>

async function begin(key: VenueKey): Promise<World> {
  const world = await open(key)
  const { client, put, idOf, clock, changes } = world
  put('x', 0.38, 0.4)
  put('y', 0.38, 0.4)
  clock.advance(1)
  for (const channel of ['orderbook', 'depth', 'prices']) {
    await client.ask({ action: 'subscribe', id: 1, channel, market_ids: NAMES.map(idOf) }, 'synced')
  }
  await changes()
  return world
}

async function rest({ get, idOf, platform }: World, name: Name) {
  const { stale, age_ms: ageMs } = await get(`/v1/markets/${idOf(name)}/orderbook`)
  const { opportunities } = await get(`/v1/markets/${idOf(name)}/arbitrage`)
  const total = Array.isArray(opportunities) ? opportunities.length : null
  const { exchanges, feeds, status } = await get('/health')
  const of = (value: unknown): unknown =>
    Object.entries(Object(value)).find(([of]) => of === platform)?.[1]
  return { stale, ageMs, total, isUp: of(exchanges), feed: of(feeds), status }
}

for (const key of ['a', 'b'] as const) {
  test(`reports a silent market of venue ${key} as stale in every interface five seconds after a trade outside its spread`, async () => {
    const world = await begin(key)
    const { clock, changes, buy, put, move, requested, stop } = world
    try {
      assert.equal((await rest(world, 'x')).total, 1)
      for (let second = 1; second <= 10; second += 1) {
        put('y', 0.38, second % 2 === 0 ? 0.4 : 0.41)
        clock.advance(1_000)
      }
      const quiet = await rest(world, 'x')
      assert.deepEqual([quiet.stale, quiet.total], [false, 1])
      const ageMs = Number(quiet.ageMs)
      assert.ok(
        ageMs > 9_000 && ageMs <= 10_001,
        `${ageMs} is the age of the book, not of its socket`,
      )
      requested.read.length = 0
      move('x', 0.58, 0.6)
      buy('x', 't1', 60)
      await changes()
      for (let second = 1; second < 5; second += 1) {
        clock.advance(1_000)
        assert.equal((await rest(world, 'x')).stale, false, `second ${second}`)
      }
      clock.advance(1_100)
      const published = await changes()
      const reason = 'contradicted_by_trade'
      for (const channel of ['orderbook', 'depth', 'prices']) {
        assert.ok(published.includes(`stale ${channel} x ${reason}`), published.join())
      }
      assert.ok(!published.some((line) => /^stale \w+ y /.test(line)), published.join())
      const after = await rest(world, 'x')
      assert.deepEqual([after.stale, after.total, after.isUp], [true, 0, true])
      assert.deepEqual(after.feed, { state: 'live', reason: null, stale_books: 1 })
      assert.ok(requested.resynced.includes('x-yes'))
      put('x', 0.58, 0.6)
      clock.advance(1)
      const back = await changes()
      assert.ok(
        back.includes('resync orderbook x venue_gap') && back.includes('snapshot orderbook x'),
      )
      const end = await rest(world, 'x')
      assert.deepEqual([end.stale, end.ageMs], [false, 1])
    } finally {
      await stop()
    }
  })

  test(`closes an opportunity in a silent market of venue ${key} after two REST samples, without any trade`, async () => {
    const world = await begin(key)
    const { clock, changes, move, requested, put, stop } = world
    try {
      assert.equal((await rest(world, 'x')).total, 1)
      move('x', 0.58, 0.6)
      let endedAt: number | null = null
      for (let second = 1; second <= 40 && endedAt === null; second += 1) {
        put('y', 0.38, 0.4)
        clock.advance(1_000)
        if ((await rest(world, 'x')).total === 0) endedAt = second
      }
      assert.ok(endedAt !== null && endedAt <= 40, `${endedAt}`)
      assert.ok((await changes()).includes('stale orderbook x contradicted_by_rest'))
      assert.equal((await rest(world, 'x')).stale, true)
      assert.ok(requested.read.filter((outcome) => outcome === 'x-yes').length >= 2)
    } finally {
      await stop()
    }
  })

  test(`confirms an unchanged book of venue ${key} before the book becomes stale, and its opportunity stays open`, async () => {
    const world = await begin(key)
    const { clock, stop } = world
    try {
      for (let second = 1; second <= 180; second += 1) clock.advance(1_000)
      const { total, ageMs, stale } = await rest(world, 'x')
      assert.deepEqual([total, stale], [1, false])
      assert.ok(typeof ageMs === 'number' && ageMs <= 31_000, `${ageMs}`)
    } finally {
      await stop()
    }
  })

  test(`does not change a correct book of venue ${key} when a single REST sample is wrong`, async () => {
    const world = await begin(key)
    const { clock, changes, move, stop, truth } = world
    try {
      const good = truth.get('x')
      assert.ok(good !== undefined)
      move('x', 0.01, 0.99)
      for (let second = 1; second <= 40; second += 1) {
        clock.advance(1_000)
        if (world.requested.read.includes('x-yes')) truth.set('x', good)
      }
      assert.deepEqual(
        (await changes()).filter((line) => line.includes(' x ')),
        [],
      )
      const { total, stale } = await rest(world, 'x')
      assert.deepEqual([total, stale], [1, false])
    } finally {
      await stop()
    }
  })

  test(`reports all stale books of a frozen venue ${key} in one status, and the recovery of the books afterwards`, async () => {
    const world = await begin(key)
    const { clock, changes, lose, feed, put, idOf, client, stop } = world
    try {
      lose('feedGap', 'silent while REST moves')
      lose('feedDown', 'silent while REST moves')
      feed.connectionsOpen = 0.5
      const published = await changes()
      assert.deepEqual(published, ['status stale silent 2'])
      for (let second = 1; second <= 10; second += 1) {
        clock.advance(1_000)
        const { stale, total, isUp, feed: health, status } = await rest(world, 'x')
        assert.deepEqual([stale, total, isUp, status], [true, 0, false, 'degraded'])
        assert.deepEqual(health, { state: 'stale', reason: 'silent', stale_books: 2 })
      }
      const since = { epoch: 'none', offset: 0 }
      const again = { channel: 'orderbook', market_ids: [idOf('x')], since }
      client.send({ action: 'subscribe', id: 2, ...again })
      const late = await client.ofType('snapshot')
      assert.equal(late.stale, true, 'a new subscriber gets a stale snapshot')
      await changes()
      feed.connectionsOpen = 1
      put('x', 0.38, 0.4)
      put('y', 0.37, 0.41)
      clock.advance(1_000)
      const back = await changes()
      assert.ok(back.includes('fresh orderbook x') && back.includes('fresh prices x'), back.join())
      assert.ok(!back.includes('snapshot orderbook x'))
      assert.ok(
        back.includes('resync orderbook y venue_gap') && back.includes('snapshot orderbook y'),
      )
      assert.ok(back.includes('status live undefined undefined'))
      const end = await rest(world, 'x')
      assert.deepEqual([end.stale, end.isUp, end.total], [false, true, 1])
    } finally {
      await stop()
    }
  })
}
