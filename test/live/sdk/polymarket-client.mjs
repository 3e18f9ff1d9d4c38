// @polymarket/client 0.2.0, the newest published client, against the simulated Gamma, CLOB and market stream. Its
// schemas are strict and it drops stream messages they refuse: every frame that reaches the socket must come out of the
// SDK. It knows no market of protocol v2 and no Data API v2: those are polymarket-bindings.mjs's.

import assert from 'node:assert/strict'
import { OrderSide } from '@polymarket/client'
import {
  bookOf,
  check,
  finish,
  isRetired,
  micros,
  sleep,
  truth,
  urls,
  whilePaused,
} from './harness.mjs'
import { clientOf, frames, texts } from './polymarket-sdk.mjs'

const WATCH_MS = Number(process.env.SDK_WATCH_MS ?? 12_000)
const EVENTS_MIN = 20

const client = clientOf(urls)

async function pages(paginator) {
  const items = []
  let count = 0
  for await (const page of paginator) {
    items.push(...page.items)
    count += 1
    assert.ok(count < 2_000, 'pages end')
  }
  return { items, count }
}

let open = []
let tokens = []
const levels = (rows) => rows.map(({ price, size }) => [micros(price), micros(size)])
/** Levels in micros, best first, whatever order the SDK leaves them in. */
const sorted = (rows, sign) => levels(rows).sort((one, other) => sign * (one[0] - other[0]))
const assertBook = (book, { bids, asks }, name) =>
  assert.deepEqual(
    { bids: sorted(book.bids, -1), asks: sorted(book.asks, 1) },
    { bids, asks },
    name,
  )

await check('listMarkets, open and closed, all pages', () =>
  whilePaused(async () => {
    const going = await pages(client.listMarkets({ closed: false, pageSize: 100 }))
    const over = await pages(client.listMarkets({ closed: true, pageSize: 100 }))
    const { venues } = await truth.summary()
    const { markets, statuses } = venues.a
    const ids = [...going.items, ...over.items].map(({ conditionId }) => conditionId)
    assert.equal(new Set(ids).size, ids.length)
    // Gamma's keyset lists what is active: announced markets are not, yet.
    assert.equal(ids.length, markets - (statuses.unopened ?? 0))
    assert.equal(going.items.filter((row) => row.state.acceptingOrders).length, statuses.open)
    open = going.items
    return `${going.items.length} + ${over.items.length} markets, ${going.count + over.count} pages`
  }),
)
await check('fetchMarket by id and slug, fetchMarketTags', async () => {
  const { id, slug, question } = open[0]
  const [byId, bySlug] = [await client.fetchMarket({ id }), await client.fetchMarket({ slug })]
  assert.deepEqual([byId.question, bySlug.question], [question, question])
  const tags = await client.fetchMarketTags({ id })
  return `${slug}, ${tags.length} tags`
})
await check('listEvents, open and closed, all pages', () =>
  whilePaused(async () => {
    const going = await pages(client.listEvents({ closed: false, pageSize: 100 }))
    const over = await pages(client.listEvents({ closed: true, pageSize: 100 }))
    const { venues } = await truth.summary()
    const slugs = [...going.items, ...over.items].map(({ slug }) => slug)
    assert.equal(new Set(slugs).size, venues.a.events)
    return `${going.items.length} + ${over.items.length} events`
  }),
)
await check('fetchEvent by id and slug, fetchEventTags', async () => {
  const { items } = await client.listEvents({ pageSize: 5 }).firstPage()
  const { id, slug, title } = items[0]
  const [byId, bySlug] = [await client.fetchEvent({ id }), await client.fetchEvent({ slug })]
  assert.deepEqual([byId.title, bySlug.title], [title, title])
  assert.ok(bySlug.markets.length > 0)
  const tags = await client.fetchEventTags({ id })
  return `${slug}, ${tags.length} tags`
})
await check('listTags, fetchTag', async () => {
  const { items } = await pages(client.listTags({ pageSize: 100 }))
  const tag = await client.fetchTag({ slug: items[0].slug })
  assert.equal(tag.id, items[0].id)
  return `${items.length} tags, first ${tag.label}`
})
await check('listSports, fetchSportsMarketTypes', async () => {
  const sports = await client.listSports()
  const kinds = await client.fetchSportsMarketTypes()
  assert.ok(sports.length >= 8)
  return `${sports.map(({ sport }) => sport).join(' ')}; ${JSON.stringify(kinds).slice(0, 60)}`
})
await check('listTeams', async () => {
  const { items } = await pages(client.listTeams({ pageSize: 100 }))
  const { items: nfl } = await pages(client.listTeams({ league: ['nfl'], pageSize: 100 }))
  assert.equal(nfl.length, 32)
  return `${items.length} teams, ${nfl.length} of the NFL`
})
await check('search', async () => {
  const q = open[0].question.split(' ').slice(-3).join(' ')
  const { items } = await client.search({ q, pageSize: 10 }).firstPage()
  assert.ok(items.events.length > 0)
  return `"${q}": ${items.events.length} events, first ${items.events[0].slug}`
})

await check('fetchOrderBook, fetchOrderBooks', () =>
  whilePaused(async () => {
    const busy = open
      .filter((row) => row.state.acceptingOrders && row.outcomes.yes.tokenId !== null)
      .toSorted((one, other) => other.metrics.volume24hr - one.metrics.volume24hr)
    tokens = busy.slice(0, 50).flatMap(({ conditionId, outcomes }) =>
      [outcomes.yes, outcomes.no].map(({ tokenId }, outcomeIndex) => ({
        tokenId,
        outcomeIndex,
        id: conditionId,
      })),
    )
    const answers = await client.fetchOrderBooks(tokens.map(({ tokenId }) => ({ tokenId })))
    const books = await truth.books('a')
    for (const [position, { tokenId, outcomeIndex, id }] of tokens.entries()) {
      const book = answers[position]
      assert.equal(book.tokenId ?? book.assetId, tokenId)
      assertBook(book, bookOf(books[id], outcomeIndex), id)
    }
    const [{ tokenId, id }] = tokens
    assertBook(await client.fetchOrderBook({ tokenId }), bookOf(books[id], 0), id)
    return `${answers.length} books equal the truth`
  }),
)
await check('fetchPrice(s), fetchMidpoint(s), fetchSpread(s)', () =>
  whilePaused(async () => {
    const books = await truth.books('a')
    const both = tokens.filter(({ id }) => books[id].bids.length > 0 && books[id].asks.length > 0)
    const [{ tokenId, id }] = both
    const [bid, ask] = [books[id].bids[0][0], books[id].asks[0][0]]
    const buy = await client.fetchPrice({ tokenId, side: OrderSide.BUY })
    const sell = await client.fetchPrice({ tokenId, side: OrderSide.SELL })
    const mid = await client.fetchMidpoint({ tokenId })
    const spread = await client.fetchSpread({ tokenId })
    assert.deepEqual([micros(buy), micros(sell)], [bid, ask])
    assert.deepEqual([micros(mid), micros(spread)], [(bid + ask) / 2, ask - bid])
    const asked = both.map((token) => ({ tokenId: token.tokenId }))
    const sided = asked.flatMap((token) =>
      [OrderSide.BUY, OrderSide.SELL].map((side) => ({ ...token, side })),
    )
    const counts = [
      await client.fetchMidpoints(asked),
      await client.fetchSpreads(asked),
      await client.fetchPrices(sided),
    ].map((answer) => Object.keys(answer).length)
    assert.deepEqual(counts, [both.length, both.length, both.length])
    return `${buy} / ${sell}; ${both.length} tokens`
  }),
)
await check('fetchLastTradePrice(s)', () =>
  whilePaused(async () => {
    const last = await client.fetchLastTradePrices(tokens.map(({ tokenId }) => ({ tokenId })))
    const trades = await truth.trades('a')
    const prices = new Map(trades.map((trade) => [trade.native_id, trade.price_micros]))
    const expected = tokens.filter(({ id }) => prices.has(id))
    assert.deepEqual(
      last.map(({ tokenId, price }) => [tokenId, micros(price)]),
      expected.map(({ tokenId, id }) => [tokenId, prices.get(id)]),
    )
    const one = await client.fetchLastTradePrice({ tokenId: last[0].tokenId })
    return `${last.length} of ${tokens.length} tokens traded, first ${one.side} at ${one.price}`
  }),
)
await check('fetchPriceHistory', async () => {
  const [{ tokenId }] = tokens
  const history = await client.fetchPriceHistory({ tokenId, interval: '1d', fidelity: 60 })
  assert.ok(history.length > 0)
  return `${history.length} points, last ${history.at(-1).p}`
})
// Trades, open interest and volume are read from version 1 of the Data API, as this client was published.
await check('listTrades, listOpenInterest, fetchEventLiveVolume: retired', async () => {
  const market = tokens.slice(0, 1).map(({ id }) => id)
  await assert.rejects(pages(client.listTrades({ pageSize: 500 })), isRetired)
  await assert.rejects(client.listOpenInterest({ market }), isRetired)
  await assert.rejects(client.fetchEventLiveVolume({ id: '1' }), isRetired)
  return '410, as the venue’s version 1'
})

const seen = new Map()
await check('subscribe to market, custom events too', async () => {
  const tokenIds = open.flatMap(({ outcomes }) => [outcomes.yes.tokenId, outcomes.no.tokenId])
  const handle = await client.subscribe([
    { topic: 'market', tokenIds: tokenIds.filter(Boolean), customFeatureEnabled: true },
  ])
  const reading = (async () => {
    for await (const { type } of handle) seen.set(type, (seen.get(type) ?? 0) + 1)
  })()
  const from = Date.now()
  // The SDK's own PING, every ten seconds, is waited for too.
  const isEnough = () =>
    texts.length > 0 &&
    ['book', 'price_change', 'last_trade_price', 'best_bid_ask'].every(
      (type) => (seen.get(type) ?? 0) >= EVENTS_MIN,
    )
  while (Date.now() - from < WATCH_MS || !isEnough()) {
    assert.ok(Date.now() - from < 10 * WATCH_MS, JSON.stringify([...seen]))
    await sleep(100)
  }
  await truth.pause()
  await sleep(300)
  const counts = Object.fromEntries([...seen].sort())
  await handle.close()
  await reading
  await truth.resume()
  assert.deepEqual(counts, Object.fromEntries([...frames].sort()))
  return Object.entries(counts)
    .map(([type, count]) => `${type} ${count}`)
    .join(', ')
})
await check('heartbeat', async () => {
  assert.ok(texts.length > 0 && texts.every((text) => text === 'PONG'), texts.join())
  return `${texts.length} PONG`
})

finish('@polymarket/client 0.2.0')
