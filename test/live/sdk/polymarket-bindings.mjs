// Tests the schemas of @polymarket/bindings 0.10.0 against the simulated Gamma, CLOB, Data API v2 and market stream.
// The script sends the requests itself, because no published client supports protocol v2 or Data API v2.

import assert from 'node:assert/strict'
import {
  FetchMarketInfoResponseSchema,
  FetchOrderBookResponseSchema,
  OrderBooksSchema,
} from '@polymarket/bindings/clob'
import {
  FetchEventLiveVolumeResponseSchema,
  FetchOpenInterestResponseSchema,
  FetchPortfolioValueResponseSchema,
  FetchResolutionsResponseSchema,
  FetchUserStatsResponseSchema,
  ListActivityResponseSchema,
  ListMarketHoldersResponseSchema,
  ListPositionsResponseSchema,
  ListPriceHistoryResponseSchema,
  ListTradesResponseSchema,
} from '@polymarket/bindings/data'
import {
  ListEventsKeysetResponseSchema,
  ListMarketsKeysetResponseSchema,
} from '@polymarket/bindings/gamma'
import { WebSocket } from 'ws'
import {
  bookOf,
  check,
  finish,
  micros,
  sleep,
  transactions,
  truth,
  urls,
  whilePaused,
} from './harness.mjs'
import { refusalOf } from './polymarket-sdk.mjs'

const WATCH_MS = Number(process.env.SDK_WATCH_MS ?? 12_000)
const PAGES_MAX = 2_000
const WALLETS = 25
const POSITION_ID = /^\d{60,78}$/

async function fetchParsed(schema, url, query = {}, options = {}) {
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`, options)
  const body = await answer.json()
  assert.equal(answer.status, 200, `${url} ${JSON.stringify(body).slice(0, 200)}`)
  const { success, data, error } = schema.safeParse(body)
  const [issue] = error?.issues ?? []
  assert.ok(success, `${url}: ${issue?.path.join('.')} ${issue?.message}`)
  return data
}
const data = (schema, path, query) => fetchParsed(schema, `${urls.data}/v2/${path}`, query)
const post = (schema, url, body) => {
  const headers = { 'content-type': 'application/json' }
  return fetchParsed(schema, url, {}, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Each request repeats the filters, because the cursor is bound to them. */
async function pages(schema, path, query) {
  const items = []
  let page
  let count = 0
  do {
    const cursor = page === undefined ? {} : { cursor: page.nextCursor }
    page = await data(schema, path, { ...query, ...cursor })
    items.push(...page.items)
    count += 1
    assert.ok(count < PAGES_MAX, 'pages end')
  } while (page.hasMore)
  return { items, count }
}

async function gammaPages(schema, path, query) {
  const items = []
  let cursor
  do {
    const after = cursor === undefined ? {} : { after_cursor: cursor }
    const page = await fetchParsed(schema, `${urls.gamma}/${path}`, { ...query, ...after })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

let markets = []
/** The ids depend on the market's protocol version. */
const idsOf = ({ version, outcomes: { yes, no } }) =>
  version === 'v2' ? [yes.positionId, no.positionId] : [yes.tokenId, no.tokenId]
const ofVersion = (version) => markets.filter((market) => market.version === version)
const isTrading = (market) => market.state.acceptingOrders === true

await check('Gamma /markets/keyset, open and closed, all pages', () =>
  whilePaused(async () => {
    const read = (closed) =>
      gammaPages(ListMarketsKeysetResponseSchema, 'markets/keyset', { limit: 100, closed })
    markets = [...(await read(false)), ...(await read(true))]
    const { markets: all, statuses } = (await truth.summary()).venues.a
    assert.equal(new Set(markets.map(({ id }) => id)).size, all - (statuses.unopened ?? 0))
    for (const market of markets) {
      const { version, outcomes, conditionId } = market
      const [own, other] = version === 'v2' ? ['positionId', 'tokenId'] : ['tokenId', 'positionId']
      for (const outcome of [outcomes.yes, outcomes.no]) {
        assert.match(outcome[own], POSITION_ID, conditionId)
        assert.equal(outcome[other], null, conditionId)
      }
    }
    const [v1, v2] = [ofVersion('v1').length, ofVersion('v2').length]
    assert.ok(v1 > 0 && v2 > 0 && v1 + v2 === markets.length)
    return `${v1} of v1, ${v2} of v2`
  }),
)
await check('Gamma /events/keyset, all pages', async () => {
  const events = await gammaPages(ListEventsKeysetResponseSchema, 'events/keyset', {
    limit: 100,
    closed: false,
  })
  const versions = events.map(({ markets: of }) => new Set(of.map(({ version }) => version)).size)
  return `${events.length} events, ${versions.filter((count) => count > 1).length} with both kinds`
})

const padded = (id) => (id.length === 64 ? `${id}00` : id)

await check('CLOB /clob-markets of 20 markets of each kind', async () => {
  const kinds = new Set()
  for (const version of ['v1', 'v2']) {
    for (const market of ofVersion(version).filter(isTrading).slice(0, 20)) {
      const path = `${urls.clob}/clob-markets/${padded(market.conditionId)}`
      const { tokens, feeInfo, tickSize } = await fetchParsed(FetchMarketInfoResponseSchema, path)
      assert.deepEqual(
        tokens.map(({ assetId }) => assetId),
        idsOf(market),
      )
      assert.equal(feeInfo.rate, Number(market.trading.feeSchedule?.rate ?? 0), path)
      assert.equal(Number(tickSize), Number(market.trading.minimumTickSize), path)
      kinds.add(`${market.trading.feeType ?? 'none'} ${feeInfo.rate}`)
    }
  }
  return [...kinds].sort().join(', ')
})

let tokens = []
await check('CLOB /book and /books, both kinds', () =>
  whilePaused(async () => {
    const books = await truth.books('a')
    const busy = (version) =>
      ofVersion(version)
        .filter((market) => isTrading(market) && books[padded(market.conditionId)] !== undefined)
        .slice(0, 25)
    tokens = [...busy('v1'), ...busy('v2')].flatMap((market) =>
      idsOf(market).map((id, outcomeIndex) => ({
        ...{ id, outcomeIndex, version: market.version, market: padded(market.conditionId) },
      })),
    )
    const levels = (rows) => rows.map(({ price, size }) => [micros(price), micros(size)]).reverse()
    const checkBook = (book, { id, market, outcomeIndex }) => {
      assert.equal(book.assetId, id)
      assert.equal(book.conditionId, market)
      const shown = { bids: levels(book.bids), asks: levels(book.asks) }
      assert.deepEqual(shown, bookOf(books[market], outcomeIndex), id)
    }
    const requested = tokens.map(({ id }) => ({ token_id: id }))
    const answers = await post(OrderBooksSchema, `${urls.clob}/books`, requested)
    assert.equal(answers.length, tokens.length)
    for (const [at, book] of answers.entries()) checkBook(book, tokens[at])
    for (const token of tokens.slice(-10)) {
      const query = { token_id: token.id }
      checkBook(await fetchParsed(FetchOrderBookResponseSchema, `${urls.clob}/book`, query), token)
    }
    const count = (version) => tokens.filter((token) => token.version === version).length
    return `${count('v1')} books of v1, ${count('v2')} of v2 equal the simulator’s state`
  }),
)

let trades = []
const isV2 = ({ assetId }) => assetId.length < 77
await check('Data /v2/trades, all pages of 500', () =>
  whilePaused(async () => {
    const { items, count } = await pages(ListTradesResponseSchema, 'trades', { limit: 500 })
    // The venue lists only trades of at least this size.
    const real = transactions(await truth.trades('a'))
      .filter(({ size }) => size >= 10_000)
      .toReversed()
    const listed = items.slice(0, real.length)
    assert.deepEqual(
      listed.map((row) => [row.transactionHash, micros(row.size), micros(row.price)]),
      real.map(({ hash, size, price }) => [hash, size, price]),
    )
    trades = items
    assert.ok(listed.some(isV2) && !listed.every(isV2))
    return `${items.length} trades, ${count} pages; the ${real.length} of this run equal the simulator’s state`
  }),
)
await check('Data /v2/trades of one market of each kind, taker_only false too', async () => {
  const shown = []
  for (const wanted of [true, false]) {
    const { conditionId } = trades.find((row) => isV2(row) === wanted)
    const query = { condition: padded(conditionId), limit: 1_000 }
    const takers = await pages(ListTradesResponseSchema, 'trades', query)
    const all = await pages(ListTradesResponseSchema, 'trades', { ...query, taker_only: false })
    assert.ok(takers.items.length > 0 && all.items.length >= takers.items.length)
    assert.ok(all.items.every((row) => row.conditionId === conditionId))
    shown.push(`${wanted ? 'v2' : 'v1'} ${takers.items.length} of takers, ${all.items.length} rows`)
  }
  return shown.join('; ')
})

const wallets = () => [...new Set(trades.map(({ wallet }) => wallet))].slice(0, WALLETS)
await check(`Data /v2/activity of ${WALLETS} wallets, all pages, oldest first`, async () => {
  const kinds = new Map()
  for (const user of wallets()) {
    const query = { user, limit: 500, sort_by: 'TIMESTAMP', sort_direction: 'ASC' }
    const { items } = await pages(ListActivityResponseSchema, 'activity', query)
    assert.ok(items.length > 0, user)
    for (const [at, { timestamp, type }] of items.entries()) {
      assert.ok(at === 0 || timestamp >= items[at - 1].timestamp, user)
      kinds.set(type, (kinds.get(type) ?? 0) + 1)
    }
  }
  for (const kind of ['TRADE', 'SPLIT', 'MERGE', 'REDEEM']) assert.ok(kinds.has(kind), kind)
  return [...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ')
})
await check(`Data /v2/positions, OPEN and CLOSED, of ${WALLETS} wallets`, () =>
  whilePaused(async () => {
    const counts = { OPEN: 0, REDEEMABLE: 0, CLOSED: 0, v2: 0 }
    for (const user of wallets()) {
      const sizes = new Map()
      for (const status of ['OPEN', 'CLOSED']) {
        const query = { user, status, limit: 500, filter_amount: 0 }
        const { items } = await pages(ListPositionsResponseSchema, 'positions', query)
        for (const row of items) {
          assert.equal(row.wallet, user)
          counts[row.status] += 1
          if (isV2(row)) counts.v2 += 1
          if (status === 'OPEN') sizes.set(row.assetId, Number(row.currentSize))
        }
      }
      const { balances } = await truth.wallet(user)
      for (const { token, amount_micros: amount } of balances) {
        // The venue rounds sizes to four decimals. It lists positions below 0.1 contracts only on request.
        const shown = sizes.get(token) ?? 0
        assert.ok(Math.abs(shown - amount / 1e6) <= 0.0001, `${user} ${token} ${shown} ${amount}`)
      }
      assert.ok(sizes.size <= balances.length, user)
    }
    assert.ok(counts.OPEN > 0 && counts.CLOSED > 0 && counts.v2 > 0, JSON.stringify(counts))
    return `${JSON.stringify(counts)}; open ones equal the simulator’s state`
  }),
)
await check('Data /v2/value, /v2/user-stats', async () => {
  const [user] = wallets()
  const { value } = await data(FetchPortfolioValueResponseSchema, 'value', { user })
  const stats = await data(FetchUserStatsResponseSchema, 'user-stats', { user })
  const nobody = { user: `0x${'9'.repeat(40)}` }
  assert.ok(stats.tradedMarketCount > 0)
  assert.equal(await data(FetchUserStatsResponseSchema, 'user-stats', nobody), null)
  return `worth ${value}, ${stats.tradedMarketCount} markets`
})
await check('Data /v2/oi, /v2/holders, /v2/live-volume', async () => {
  const requested = [...ofVersion('v1').slice(0, 10), ...ofVersion('v2').slice(0, 10)]
  const ids = requested.map(({ conditionId }) => padded(conditionId))
  const interest = await data(FetchOpenInterestResponseSchema, 'oi', { condition: ids.join() })
  assert.equal(interest.length, 20)
  const [all] = await data(FetchOpenInterestResponseSchema, 'oi')
  const { conditionId } = trades.find(isV2)
  const holders = await data(ListMarketHoldersResponseSchema, 'holders', { condition: conditionId })
  const [{ id }] = markets.find((market) => market.events.length > 0).events
  await data(FetchEventLiveVolumeResponseSchema, 'live-volume', { event_id: id })
  const count = holders.items.reduce((sum, { holders: of }) => sum + of.length, 0)
  return `${interest.length} markets, all together ${all.value}; ${count} holders of one`
})
await check('Data /v2/resolutions, both kinds', async () => {
  const statuses = new Map()
  for (const version of ['v1', 'v2']) {
    const over = ofVersion(version).filter(({ state }) => state.closed)
    const requested = [...over.slice(0, 15), ...ofVersion(version).filter(isTrading).slice(0, 5)]
    const condition = requested.map(({ conditionId }) => padded(conditionId)).join()
    for (const row of await data(FetchResolutionsResponseSchema, 'resolutions', { condition })) {
      const key = `${version} ${row.status}`
      statuses.set(key, (statuses.get(key) ?? 0) + 1)
    }
  }
  assert.ok(statuses.has('v1 resolved') && statuses.has('v2 resolved'))
  return [...statuses].map(([key, count]) => `${key} ${count}`).join(', ')
})
await check('Data /v2/prices-history of a position id', async () => {
  const { id } = tokens.find(({ version }) => version === 'v2')
  const query = { token_id: id, interval: '1d', limit: 500 }
  const { items } = await pages(ListPriceHistoryResponseSchema, 'prices-history', query)
  assert.ok(items.length > 0)
  return `${items.length} points, last ${items.at(-1).price}`
})

await check('market stream of 400 position ids', async () => {
  const ids = ofVersion('v2').filter(isTrading).flatMap(idsOf).slice(0, 400)
  const socket = new WebSocket(urls.marketWs)
  const counts = new Map()
  const refused = []
  socket.on('message', (text) => {
    if (!/^[[{]/.test(String(text))) return
    for (const message of [JSON.parse(String(text))].flat()) {
      const { event_type: type, version } = message
      const problem = refusalOf(message)
      if (problem !== null) refused.push(`${type} ${problem}`)
      const key = type === 'book' ? `book of ${version}` : type
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ assets_ids: ids, type: 'market', custom_feature_enabled: true }))
  await sleep(WATCH_MS)
  socket.terminate()
  assert.deepEqual(refused, [])
  assert.ok(counts.get('book of v2') >= ids.length, JSON.stringify([...counts]))
  assert.ok(!counts.has('book of undefined'))
  return [...counts]
    .sort()
    .map(([type, count]) => `${type} ${count}`)
    .join(', ')
})

finish('@polymarket/bindings 0.10.0')
