// Tests @polymarket/clob-client 5.8.1 and @polymarket/clob-client-v2 1.1.0 against the simulated CLOB.

import assert from 'node:assert/strict'
import { ClobClient, PriceHistoryInterval, Side } from '@polymarket/clob-client'
import { ClobClient as ClobClientV2 } from '@polymarket/clob-client-v2'
import { bookOf, check as checkRow, finish, micros, truth, urls, whilePaused } from './harness.mjs'

const END = 'LTE='

async function pages(read) {
  const rows = []
  let cursor
  let count = 0
  while (cursor !== END) {
    const page = await read(cursor)
    assert.equal(page.error, undefined)
    assert.equal(page.count, page.data.length)
    rows.push(...page.data)
    cursor = page.next_cursor
    count += 1
    assert.ok(count < 1_000, 'pages end')
  }
  return { rows, count }
}

/** Levels in millionths, best first. The venue sends the best level last. */
const levels = (rows) => rows.map(({ price, size }) => [micros(price), micros(size)]).reverse()

async function checkClient(name, client) {
  const check = (call, work) => checkRow(`${name} ${call}`, work)

  async function assertBook(book, real, outcomeIndex) {
    const { bids, asks } = bookOf(real, outcomeIndex)
    assert.deepEqual({ bids: levels(book.bids), asks: levels(book.asks) }, { bids, asks })
    // The SDK changes its argument.
    const { hash } = book
    assert.equal(await client.getOrderBookHash({ ...book }), hash, 'hash of the book')
  }

  /** The most traded market is first. Both outcomes of a market are adjacent. */
  let tokens = []

  await check('getOk, getServerTime', async () => {
    assert.equal(await client.getOk(), 'OK')
    const second = await client.getServerTime()
    assert.ok(Math.abs(second - Date.now() / 1_000) < 5)
    return second
  })
  await check('getMarkets, all pages', () =>
    whilePaused(async () => {
      const { rows, count } = await pages((cursor) => client.getMarkets(cursor))
      const { venues } = await truth.summary()
      assert.equal(new Set(rows.map((row) => row.condition_id)).size, venues.a.markets)
      assert.equal(rows.length, venues.a.markets)
      const open = rows.filter((row) => row.accepting_orders)
      assert.equal(open.length, venues.a.statuses.open)
      const won = rows.filter((row) => row.tokens.some((token) => token.winner))
      return `${rows.length} markets, ${open.length} open, ${won.length} won, ${count} pages`
    }),
  )
  await check('getSimplifiedMarkets, getSamplingMarkets, getSamplingSimplifiedMarkets', () =>
    whilePaused(async () => {
      const simple = await pages((cursor) => client.getSimplifiedMarkets(cursor))
      const sampled = await pages((cursor) => client.getSamplingMarkets(cursor))
      const both = await pages((cursor) => client.getSamplingSimplifiedMarkets(cursor))
      const { venues } = await truth.summary()
      assert.equal(simple.rows.length, venues.a.markets)
      assert.equal(sampled.rows.length, venues.a.statuses.open)
      assert.deepEqual(
        both.rows.map((row) => row.condition_id),
        sampled.rows.map((row) => row.condition_id),
      )
      return `${simple.rows.length}, ${sampled.rows.length}, ${both.rows.length}`
    }),
  )
  await check('getMarket', async () => {
    const { rows } = await pages((cursor) => client.getSamplingMarkets(cursor))
    const books = await truth.books('a')
    const sides = (id) => Math.min(books[id]?.bids.length ?? 0, books[id]?.asks.length ?? 0)
    const traded = new Map()
    for (const { native_id: id } of await truth.trades('a')) traded.set(id, (traded.get(id) ?? 0) + 1)
    const rank = (row) => traded.get(row.condition_id) ?? 0
    const best = rows.filter((row) => sides(row.condition_id) > 1).sort((a, b) => rank(b) - rank(a))
    tokens = best.slice(0, 20).flatMap((row) =>
      row.tokens.map(({ token_id }, outcomeIndex) => ({
        token_id,
        outcomeIndex,
        id: row.condition_id,
        row,
      })),
    )
    assert.ok(tokens.length >= 20)
    const { condition_id, question, market_slug } = await client.getMarket(tokens[0].id)
    assert.equal(condition_id, tokens[0].id)
    assert.equal(question, tokens[0].row.question)
    return market_slug
  })
  await check('getOrderBook, both outcomes', () =>
    whilePaused(async () => {
      const books = await truth.books('a')
      for (const { token_id, outcomeIndex, id } of tokens.slice(0, 10)) {
        const book = await client.getOrderBook(token_id)
        assert.equal(book.asset_id, token_id)
        await assertBook(book, books[id], outcomeIndex)
      }
      return '10 books and their hashes equal the truth'
    }),
  )
  await check('getOrderBooks', () =>
    whilePaused(async () => {
      const answers = await client.getOrderBooks(tokens.map(({ token_id }) => ({ token_id })))
      const books = await truth.books('a')
      assert.equal(answers.length, tokens.length)
      for (const [position, book] of answers.entries()) {
        await assertBook(book, books[tokens[position].id], tokens[position].outcomeIndex)
      }
      return `${answers.length} books equal the simulator’s state`
    }),
  )
  await check('getPrice, getMidpoint, getSpread', () =>
    whilePaused(async () => {
      const books = await truth.books('a')
      const { token_id, id } = tokens[0]
      const [bid, ask] = [books[id].bids[0][0], books[id].asks[0][0]]
      const { price: buy } = await client.getPrice(token_id, Side.BUY)
      const { price: sell } = await client.getPrice(token_id, Side.SELL)
      const { mid } = await client.getMidpoint(token_id)
      const { spread } = await client.getSpread(token_id)
      assert.deepEqual([micros(buy), micros(sell)], [bid, ask])
      assert.deepEqual([micros(mid), micros(spread)], [(bid + ask) / 2, ask - bid])
      return `${buy} / ${sell}, mid ${mid}, spread ${spread}`
    }),
  )
  await check('getPrices, getMidpoints, getSpreads', () =>
    whilePaused(async () => {
      const books = await truth.books('a')
      const sides = tokens.flatMap(({ token_id }) => [
        { token_id, side: Side.BUY },
        { token_id, side: Side.SELL },
      ])
      const prices = await client.getPrices(sides)
      const mids = await client.getMidpoints(sides)
      const spreads = await client.getSpreads(sides)
      for (const { token_id, outcomeIndex, id } of tokens) {
        const { bids, asks } = bookOf(books[id], outcomeIndex)
        const [bid, ask] = [bids[0][0], asks[0][0]]
        const { BUY, SELL } = prices[token_id]
        assert.deepEqual([micros(BUY), micros(SELL)], [bid, ask])
        assert.equal(micros(mids[token_id]), (bid + ask) / 2)
        assert.equal(micros(spreads[token_id]), ask - bid)
      }
      return `${tokens.length} tokens`
    }),
  )
  await check('getLastTradePrice, getLastTradesPrices', () =>
    whilePaused(async () => {
      const trades = await truth.trades('a')
      const known = tokens.filter(({ id }) => trades.some((trade) => trade.native_id === id))
      assert.ok(known.length > 0)
      const answers = await client.getLastTradesPrices(known.map(({ token_id }) => ({ token_id })))
      for (const [position, { token_id, id }] of known.entries()) {
        const last = trades.findLast((trade) => trade.native_id === id)
        assert.equal(answers[position].token_id, token_id)
        assert.equal(micros(answers[position].price), last.price_micros)
        assert.equal(answers[position].side, last.side.toUpperCase())
      }
      const { price, side } = await client.getLastTradePrice(known[0].token_id)
      assert.deepEqual([price, side], [answers[0].price, answers[0].side])
      return `${known.length} tokens, first ${side} at ${price}`
    }),
  )
  await check('getTickSize, getNegRisk, getFeeRateBps', async () => {
    const { token_id, row } = tokens[0]
    const tick = await client.getTickSize(token_id)
    const isNegRisk = await client.getNegRisk(token_id)
    const fee = await client.getFeeRateBps(token_id)
    assert.equal(Number(tick), row.minimum_tick_size)
    assert.equal(isNegRisk, row.neg_risk)
    return `${tick}, ${isNegRisk}, ${fee}`
  })
  await check('getPricesHistory', async () => {
    const { token_id } = tokens[0]
    const lengths = []
    for (const interval of Object.values(PriceHistoryInterval)) {
      const { history } = await client.getPricesHistory({ market: token_id, interval, fidelity: 60 })
      for (const [position, { t, p }] of history.entries()) {
        assert.ok(Number.isInteger(t) && p >= 0 && p <= 1)
        assert.ok(position === 0 || t > history[position - 1].t)
      }
      lengths.push(`${interval} ${history.length}`)
    }
    const endTs = Math.floor(Date.now() / 1_000)
    const spanned = await client.getPricesHistory({
      market: token_id,
      startTs: endTs - 3_600,
      endTs,
      fidelity: 1,
    })
    assert.ok(spanned.history.length >= 59)
    return `${lengths.join(', ')}, one hour ${spanned.history.length}`
  })
  await check('getOrderBook of no token', async () => {
    const answer = await client.getOrderBook('1').catch((error) => error)
    assert.equal(answer.error, 'No orderbook exists for the requested token id')
    assert.equal(answer.status, 404)
    return `${answer.status} ${answer.error}`
  })
}

await checkClient('clob-client', new ClobClient(urls.clob, 137))
/** The first market that charges takers a fee. */
async function paying(rows) {
  for (const row of rows) {
    if ((await newest.getClobMarketInfo(row.condition_id)).fd?.r > 0) return row
  }
  assert.fail('no market has a fee')
}

const newest = new ClobClientV2({ host: urls.clob, chain: 137 })
await checkClient('clob-client-v2', newest)
await checkRow('clob-client-v2 getClobMarketInfo, getFeeExponent', async () => {
  const { data } = await newest.getSamplingMarkets()
  const shown = []
  for (const version of ['v1', 'v2']) {
    // Position ids of protocol v2 are shorter than token ids of v1.
    const isOf = ({ tokens: [one] }) => one.token_id.length < 77 === (version === 'v2')
    const { condition_id, tokens: both } = await paying(data.filter(isOf))
    const info = await newest.getClobMarketInfo(condition_id)
    assert.deepEqual(info.t.map(({ t }) => t), both.map(({ token_id }) => token_id))
    assert.equal(info.v, version)
    const exponent = await newest.getFeeExponent(both[0].token_id)
    assert.equal(exponent, info.fd?.e ?? 0)
    shown.push(`${version} ${info.t.length} ids, fee ${info.fd?.r ?? 'none'} ^${exponent}`)
  }
  return shown.join('; ')
})

finish('@polymarket/clob-client 5.8.1, @polymarket/clob-client-v2 1.1.0')
