// Compares cached answers with uncached answers after random events of markets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CatalogView, ListQuery, PastPricesView } from '../../../actors/views.ts'
import { priceMicros, timeMs } from '../../../engine/units.ts'
import { BookRecords } from '../../../http/records/books.ts'
import { AnswerCache } from '../../../http/records/fact-cache.ts'
import { MarketRecords } from '../../../http/records/markets.ts'
import { type Answer, jsonText } from '../../../http/request/reply.ts'
import type { Route } from '../../../http/request/route.ts'
import { candleRoutes } from '../../../http/routes/candles.ts'
import { marketRoutes } from '../../../http/routes/markets.ts'
import { orderbookRoutes } from '../../../http/routes/orderbooks.ts'
import { tradeRoutes } from '../../../http/routes/trades.ts'
import { parseQuery } from '../../../http/validation/query.ts'
import { level, NAMES, NOON, snapshot } from '../../support/worlds/builders.ts'
import { openMarkets, someMessage } from '../../support/worlds/moved-markets.ts'

/** Limits that leave no space for any entry. */
const NOTHING = { countMax: 1, bytesMax: 1 }
const LIMIT = 3
const STEPS = process.env.TEST_LONG === '1' ? 600 : 80

const BOOKS = {
  epoch: 'k3f9c2',
  bookAgeMsMax: 60_000,
  confirmBook: () => null,
  coverage: () => null,
}

type World = ReturnType<typeof openMarkets>

/** Pages list the world's markets in their current order. */
function routesOf({ clock, storage, markets, matches }: World, bounds: typeof NOTHING | undefined) {
  const found = (id: string) => markets.find(({ ref }) => ref.id === id) ?? null
  // Each route signs cursors with its own key, so the pages have no cursor.
  const list = ({ offset, limit }: ListQuery) => {
    const total = markets.length + storage.pruneCount
    return { markets: markets.slice(offset, offset + limit), total, next: null }
  }
  const catalog: CatalogView = Object.assign(Object.create(null), {
    ...{ names: NAMES, recordsSinceMs: NOON, find: found, list, search: list },
  })
  const pastPrices: PastPricesView = {
    at: () => null,
    range: async (_, { toMs }) => [
      { price: priceMicros(clock.nowMs() % 1_000_000), timeMs: timeMs(toMs - 1) },
    ],
  }
  const records = new MarketRecords(matches, bounds)
  const engine = { catalog, pastPrices, ...BOOKS, matches }
  const shared = { catalog, clock, records, answers: new AnswerCache(bounds), engine }
  return [
    ...marketRoutes(shared),
    ...orderbookRoutes(shared, bounds),
    ...tradeRoutes(shared),
    ...candleRoutes(shared),
  ]
}

/** The answer of a route, with its body as text. */
async function asked(routes: readonly Route[], pattern: string, query: string, id: string) {
  const route = routes.find((one) => one.pattern === pattern) ?? assert.fail(pattern)
  const raw = parseQuery(query) ?? assert.fail(query)
  const facts = {
    ...{
      caller: null,
      dashboard: null,
      address: '',
      isLocal: true,
      requester: () => ['test'],
      path: () => id,
    },
    header: () => '',
    signal: () => new AbortController().signal,
  }
  const { body, ...rest } = await route.respond(facts, raw, new Uint8Array())
  const text = Buffer.from(body ?? '').toString()
  return { text, body, ...rest }
}

const ADDRESSES = [
  ['/v1/markets', `limit=${LIMIT}`],
  ['/v1/markets/search', `search=rain&limit=${LIMIT}`],
  ['/v1/markets/{market_id}', ''],
  ['/v1/markets/{market_id}/orderbook', ''],
  ['/v1/markets/{market_id}/trades', 'limit=5'],
  ['/v1/markets/{market_id}/trades', 'limit=5&side=buy&start_time=9'],
  ['/v1/markets/{market_id}/candles', 'interval=1m&limit=5&start_time=9'],
  ['/v1/markets/{market_id}/candles', 'interval=1m&limit=5&gap_fill=true&outcome=no'],
  ['/v1/markets/{market_id}/candles', 'interval=1m&limit=5&history=true'],
] as const

for (const seed of [1, 2, 3]) {
  test(`returns the same bytes from cached and freshly written pages after random market changes (seed ${seed})`, async () => {
    const world = openMarkets(seed)
    const { random, clock, storage, markets, matches } = world
    const [stored, plain] = [routesOf(world, undefined), routesOf(world, NOTHING)]
    const bodies = new Map<string, Answer['body']>()
    let againCount = 0
    for (let step = 0; step < STEPS; step += 1) {
      const market = random.pick(markets)
      const what = random.below(24)
      if (what === 0) matches.put(random.pick(markets.slice(0, 2)), random.pick(markets.slice(2)))
      else if (what === 1) matches.remove(market.ref)
      else if (what === 2) market.restart()
      else if (what === 3) market.tick(clock.nowMs())
      else if (what === 4) markets.reverse()
      else if (what === 5) {
        const sizeBytesMax = Math.max(1, storage.sizeBytes() - random.below(2_000))
        storage.prune({ nowMs: clock.nowMs(), retentionDays: 1, sizeBytesMax, rowsMax: 9 })
      } else if (what < 9) clock.advance(random.pick([1, 999, 30_000, 400_000]))
      else market.receive(someMessage(random, market, clock.nowMs()))
      for (const [pattern, query] of ADDRESSES) {
        const { id } = random.pick(markets).ref
        const address = `${pattern}?${query} ${id}`
        const { body, ...got } = await asked(stored, pattern, query, id)
        const { body: _, ...wanted } = await asked(plain, pattern, query, id)
        assert.deepEqual(got, wanted, `${address}, step ${step}`)
        if (bodies.get(address) === body) againCount += 1
        bodies.set(address, body)
      }
    }
    assert.ok(againCount > STEPS / 2, `${againCount} answers were given again`)
  })
}

test('writes a response again when an input is unknown, has changed, or changes during writing', async () => {
  const answers = new AnswerCache()
  let fact: number | null = 1
  let writtenCount = 0
  const write = () => {
    writtenCount += 1
    return jsonText(String(writtenCount))
  }
  const text = async (late = false, during = () => {}) => {
    const given = answers.getLate(
      'asked',
      () => [fact],
      () => {
        if (!late) return write()
        return Promise.resolve().then(() => {
          during()
          return write()
        })
      },
    )
    return Buffer.from((await given).body ?? '').toString()
  }
  assert.deepEqual([await text(), await text(), await text(true)], ['1', '1', '1'])
  fact = 2
  assert.deepEqual([await text(), await text()], ['2', '2'])
  fact = null
  assert.deepEqual([await text(), await text()], ['3', '4'])
  fact = 3
  // The value changes and changes back while the answer is written, so the answer must not be cached.
  const change = () => {
    fact = 4
  }
  assert.equal(await text(true, change), '5')
  fact = 3
  assert.deepEqual([await text(), await text(true)], ['6', '6'])
  fact = 5
  assert.deepEqual([await text(true), await text()], ['7', '7'])
})

test('reads the book and the description of a market once while nothing changes', () => {
  const { clock, markets, matches } = openMarkets(9)
  const market = markets[0] ?? assert.fail()
  const bids = [level(0.4, 1)]
  market.receive(snapshot('Rain', bids, [level(0.45, 1)], { receivedAtMs: clock.nowMs() }))
  const reads: string[] = []
  const view = new Proxy(market, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (args[0] !== 0) reads.push(String(name))
        return Reflect.apply(value, target, args)
      }
    },
  })
  const [books, records] = [new BookRecords(BOOKS), new MarketRecords(matches)]
  const read = () => {
    records.bytes(view, clock.nowMs())
    return books.text(view, clock.nowMs())
  }
  clock.advance(10)
  assert.match(read(), /"age_ms":10\}$/)
  assert.ok(reads.includes('details') && reads.includes('levels'))
  reads.length = 0
  clock.advance(500)
  assert.match(read(), /"age_ms":510\}$/)
  assert.deepEqual(reads, [])
})
