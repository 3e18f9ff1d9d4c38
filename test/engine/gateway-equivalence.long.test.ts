// Sends every read request, with every filter, to an engine and to a gateway, and compares the answers.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { KindGuard } from '@sinclair/typebox'
import { Gateway } from '../../engine/app/gateway.ts'
import { systemClock } from '../../engine/clock.ts'
import { nativeEventId } from '../../engine/ids.ts'
import type { EventListing, MarketListing } from '../../engine/market/market.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { easternDate } from '../../engine/sports/eastern-date.ts'
import type { TeamListing } from '../../engine/team-listing.ts'
import { timeMs, usdMicros } from '../../engine/units.ts'
import { api } from '../../http/api.ts'
import type { Route } from '../../http/request/route.ts'
import { ClusterAccounts } from '../../storage/cluster-accounts.ts'
import { FaultyLogServer } from '../support/fakes/faulty-log.ts'
import { until } from '../support/fakes/receivers.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { beforeAgain } from '../support/rigs/full-service.ts'
import { RecordedEngine, SETTINGS } from '../support/rigs/recorded-engine.ts'
import { eventListing, listing, NOON } from '../support/worlds/builders.ts'
import { valuesOf } from '../support/worlds/parameter-values.ts'
import { SAMPLES, seedOf } from '../support/worlds/route-seeds.ts'
import { VenueEvents } from '../support/worlds/venue-events.ts'

const VENUES = ['a', 'b'] as const
const TODAY = easternDate(systemClock.nowMs())
/** The ids of a game of today at both venues. */
const [YEAR = '', MONTH = '', DAY = ''] = TODAY.split('-')
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const GAMES = [
  ['a', `nfl-dal-phi-${TODAY}`, 'Cowboys vs. Eagles', ['']],
  [
    'b',
    `KXNFLGAME-${YEAR.slice(2)}${MONTHS[Number(MONTH) - 1]}${DAY}DALPHI`,
    'Dallas at Philadelphia',
    ['-DAL', '-PHI'],
  ],
  // The boundary between this ticker's two team codes is only known from the venue's list of teams.
  [
    'b',
    `KXNCAAFSPREAD-${YEAR.slice(2)}${MONTHS[Number(MONTH) - 1]}${DAY}XSTTMIZ`,
    'Oregon St. at Missouri: Spread',
    ['-7', '-9'],
  ],
] as const
const TEAMS = [
  ['xst', 'Oregon St.'],
  ['tmiz', 'Missouri'],
].map(([code = '', name = '']) => ({
  ...{ venue: 'b', league: 'cfb', code, name, location: '', nickname: '' },
})) satisfies TeamListing[]

/** The markets differ in all fields by which lists filter and sort. */
function listings() {
  const random = seededRandom('twin')
  const markets: MarketListing[] = []
  const events: EventListing[] = []
  for (const venue of VENUES) {
    for (let index = 0; index < 14; index += 1) {
      const name = `${venue}${index}`
      const event = `${venue}${index - (index % 3)}`
      if (event === name)
        events.push(eventListing(name, { venue, tags: ['Politics'], series: `S${index % 2}` }))
      const at = () => (random.below(5) === 0 ? null : timeMs(NOON - random.below(50) * 86_400_000))
      markets.push(
        listing(name, {
          ...{ venue, event: nativeEventId(`event-${event}`), eventSlug: `event-${event}` },
          description:
            random.below(4) === 0 ? null : `Rules of ${name}: “${'x'.repeat(index * 9)}”.`,
          status: random.pick(['open', 'open', 'open', 'closed', 'resolved'] as const),
          category: random.pick([null, 'Politics', 'culture']),
          tags: ['Politics', 'sports', 'NFL'].filter(() => random.below(2) === 0),
          volume24h: usdMicros(random.below(4) * 1_000_000),
          volumeTotal: random.below(5) === 0 ? null : usdMicros(random.below(9) * 10_000_000),
          ...{ createdAtMs: at(), closeAtMs: at() },
        }),
      )
    }
  }
  for (const [venue, id, title, ends] of GAMES) {
    const event = nativeEventId(id)
    const slug = venue === 'a' ? id : id.toLowerCase()
    events.push(
      eventListing(id, {
        ...{ venue, nativeId: event, slug, title, tags: ['Sports', 'NFL'] },
        series: venue === 'a' ? null : id.replace(/-.*/, ''),
        startAtMs: timeMs(Date.parse(`${TODAY}T18:00:00Z`)),
      }),
    )
    for (const end of ends) {
      const facts = { venue, event, eventSlug: slug, question: title }
      markets.push(listing(`${id}${end}`, { ...facts, slug: `${slug}${end}` }))
    }
  }
  return { markets, events }
}

async function openCluster() {
  const server = new FaultyLogServer(systemClock, 'twin')
  const log = server.connect()
  const storage = openMemoryStorage()
  const world = listings()
  const engine = new RecordedEngine({ clock: systemClock, ...world, teams: TEAMS, storage })
  const key = await engine.engine.accounts.openLocalAccount(null)
  await engine.start(log)
  await new ClusterAccounts(storage.accounts, await log.bucket('accounts')).share()
  const events = new VenueEvents(seededRandom('twin events'), world.markets)
  const play = async (count: number) => {
    for (let left = count; left > 0; left -= 1) engine.emit(events.next(systemClock.nowMs()))
    await engine.flush()
  }
  await play(300)
  const { catalog, overrides: results } = engine.engine
  for (const index of [0, 1, 4]) {
    const [one, other] = VENUES.map((venue) => catalog.find(`venue_${venue}_${venue}${index}`))
    if (one == null || other == null) throw new Error('a market is missing')
    await results.set(one, other, 'confirmed')
  }
  const gateways = ['g1', 'g2'].map(
    (name) =>
      new Gateway(SETTINGS, {
        ...{ clock: systemClock, log: silentLog, metrics: new Metrics(), name, version: '0' },
        cluster: server.connect(),
      }),
  )
  const beat = setInterval(() => {
    engine.feeds()
    void engine.flush()
  }, 200)
  for (const gateway of gateways) await gateway.start()
  const [one, two] = gateways
  if (one === undefined || two === undefined) throw new Error('there are two gateways')
  const stop = async () => {
    clearInterval(beat)
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await engine.stop()
  }
  return { engine, key, play, one, two, stop, storage }
}

const cluster = await openCluster()
after(() => cluster.stop())

async function get(port: number, path: string) {
  const headers = { 'x-api-key': cluster.key }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

type Answered = Awaited<ReturnType<typeof get>>

/** Fields that depend on the time of the request or belong to one process. */
const VARYING_FIELDS = new Set([
  ...['age_ms', 'timestamp_ms', 'at_time', 'uptime_s', 'delay_ms', 'cursor', 'lag_ms'],
  ...['as_of_ms', 'database_bytes'],
])

function withoutVarying({ text }: Answered): unknown {
  if (!text.startsWith('{')) return text
  return JSON.parse(text, (name, value: unknown) => (VARYING_FIELDS.has(name) ? undefined : value))
}

/** Headers that must be equal. */
const HEADERS = [
  ...['content-type', 'cache-control', 'vary', 'x-data-start', 'x-data-complete', 'x-data-as-of'],
  ...['x-ratelimit-limit', 'retry-after', 'access-control-allow-origin', 'x-content-type-options'],
]

/** Returns a request without parameters, and requests with valid and invalid values of each query parameter. */
function requestsOf(route: Route): readonly string[] {
  const seed = seedOf(route).query ?? {}
  const parameters = Object.entries(route.querySchema.properties).map(([name, schema]) => {
    const { valid, invalid } = valuesOf(name, schema, seed[name] ?? SAMPLES[name])
    const isNeeded = !KindGuard.IsOptional(schema) && schema.default === undefined
    return { name, texts: [...valid.slice(0, 4), ...invalid.slice(0, 1)], isNeeded }
  })
  const base = parameters.flatMap(({ name, texts: [text = ''], isNeeded }) =>
    isNeeded ? [[name, text] as const] : [],
  )
  const path = route.pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(PATHS[name] ?? SAMPLES[name] ?? 'none'),
  )
  const queries = [
    base,
    ...parameters.flatMap(({ name, texts }) =>
      texts.map((text) => [...base.filter(([other]) => other !== name), [name, text] as const]),
    ),
  ]
  return queries.map((pairs) => {
    const query = new URLSearchParams(Object.fromEntries(pairs)).toString()
    return query === '' ? path : `${path}?${query}`
  })
}

const PATHS: Readonly<Record<string, string>> = { slug: 'event-a0', sport: 'nfl' }
/** Paths that `requestsOf` does not produce. */
const MORE = [
  ...['/v1/sports/cfb', '/v1/matching-markets/sports/cfb', '/v1/sports/chess'],
  ...['/v1/markets/venue_a_none', '/v1/events/none', '/v1/events/event-b3', '/v1/none'],
]

/** The gateway receives changes later, so unequal answers are requested again up to a hundred times. */
async function equalAnswers(path: string): Promise<readonly [Answered, Answered]> {
  const { engine, one } = cluster
  let pair = [await get(engine.engine.port, path), await get(one.port, path)] as const
  const isSame = () =>
    JSON.stringify(withoutVarying(pair[0])) === JSON.stringify(withoutVarying(pair[1]))
  for (let tries = 0; tries < 100 && !isSame(); tries += 1) {
    await beforeAgain()
    engine.feeds()
    await cluster.play(0)
    pair = [await get(engine.engine.port, path), await get(one.port, path)]
  }
  return pair
}

test('answers every read request at a gateway with the engine’s status, body and headers, except for the process name', async () => {
  const { engine, one } = cluster
  const { publisher } = engine.engine
  const parts = { clock: systemClock, metrics: new Metrics(), isMetricsPublic: false }
  const routes = api({ ...parts, ...SETTINGS, engine: engine.engine.view }).filter(
    ({ method, pattern }) => method === 'GET' && pattern.startsWith('/v1/') && pattern !== '/v1/ws',
  )
  await until(() => {
    const { mirror } = one
    const channels = ['orderbook', 'trades', 'prices', 'lifecycle'] as const
    return channels.every(
      (channel) => mirror?.publisher.offset(channel) === publisher.offset(channel),
    )
  }, 'the gateway has everything')
  const statuses = new Set<number>()
  for (const paths of [MORE, ...routes.map(requestsOf)]) {
    for (const path of paths) {
      const [own, answer] = await equalAnswers(path)
      statuses.add(own.status)
      assert.equal(answer.status, own.status, path)
      assert.deepEqual(withoutVarying(answer), withoutVarying(own), path)
      for (const name of HEADERS) {
        assert.equal(answer.headers.get(name), own.headers.get(name), `${name} of ${path}`)
      }
      // The entity tag of a page depends on its cursor, which belongs to one process.
      if (own.text === answer.text)
        assert.equal(answer.headers.get('etag'), own.headers.get('etag'), path)
      assert.equal(answer.headers.get('x-served-by'), 'g1')
    }
  }
  const { text: games } = await get(one.port, '/v1/sports/cfb')
  assert.match(games, /cfb-xst-tmiz/)
  const { text: pairs } = await get(one.port, '/v1/matching-markets')
  assert.match(pairs, /"total":[1-9]/)
  for (const status of [200, 400, 404, 422]) assert.ok(statuses.has(status), String(status))
})

test('answers at a gateway like the engine after new listings, changed texts, new pairs, ended pairs and removals', async () => {
  const { catalog, overrides: results } = cluster.engine.engine
  const [{ markets }, reworded] = [listings(), 'Is this reworded?']
  const existing = markets.find(({ nativeId }) => nativeId === 'a1')
  assert.ok(existing !== undefined)
  const long = 'Long rules. '.repeat(20_000)
  catalog.take({
    markets: [
      { ...existing, question: reworded, description: long },
      listing('a90', { description: 'New rules.' }),
      listing('a91', { status: 'resolved', closeAtMs: timeMs(systemClock.nowMs() - 86_400_000) }),
    ],
    events: [eventListing('a0', { title: 'Another title' }), eventListing('a90')],
  })
  const pair = (index: number) => {
    const [one, other] = VENUES.map((venue) => catalog.find(`venue_${venue}_${venue}${index}`))
    if (one == null || other == null) throw new Error('a market is missing')
    return [one, other] as const
  }
  await results.set(...pair(0), 'rejected')
  await results.set(...pair(7), 'confirmed')
  const before = catalog.marketCount
  for (let check = 0; check < 50; check += 1) catalog.removeOld(systemClock.nowMs(), 0, 100)
  assert.equal(catalog.marketCount, before - 1)
  await cluster.play(100)
  const search = '/v1/markets/search?search=reworded'
  for (const path of [
    ...['/v1/markets?limit=200', '/v1/events?limit=200', '/v1/matching-markets', search],
    ...[
      '/v1/markets/venue_a_a91',
      '/v1/markets/venue_a_a1',
      '/v1/markets/venue_a_a90',
      '/v1/stats',
      '/v1/events/event-a90',
    ],
  ]) {
    const [own, answer] = await equalAnswers(path)
    assert.equal(answer.status, own.status, path)
    assert.deepEqual(withoutVarying(answer), withoutVarying(own), path)
  }
  const { text } = await get(cluster.one.port, search)
  assert.equal(JSON.parse(text).markets[0].description, long)
})

test('continues a list at a second gateway with every row once, and rejects the cursor of a stopped gateway', async () => {
  const { one, two } = cluster
  for (const list of [
    '/v1/markets?limit=7',
    '/v1/markets?limit=7&search=happen',
    '/v1/events?limit=3',
  ]) {
    const seen: string[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null; page += 1) {
      const { port } = page % 2 === 0 ? one : two
      const { status, text } = await get(port, cursor === '' ? list : `${list}&cursor=${cursor}`)
      assert.equal(status, 200, text)
      const body = JSON.parse(text)
      for (const { id, slug } of body.markets ?? body.events) seen.push(id ?? slug)
      cursor = body.cursor
    }
    const full = JSON.parse((await get(one.port, list.replace(/limit=\d+/, 'limit=100'))).text)
    const rows: { id?: string; slug?: string }[] = full.markets ?? full.events
    assert.deepEqual(
      seen,
      rows.map(({ id, slug }) => id ?? slug),
      list,
    )
  }
  const { cursor } = JSON.parse((await get(one.port, '/v1/markets?limit=7')).text)
  const foreign = String(cursor).replace(/~g1$/, '~g9')
  const { status, text } = await get(one.port, `/v1/markets?limit=7&cursor=${foreign}`)
  assert.equal(status, 400)
  assert.match(text, /expired/)
})
