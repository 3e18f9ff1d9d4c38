// Tests ccxt 4.5.84 against both simulated venues. ccxt does not support markets of protocol v2.

import assert from 'node:assert/strict'
import ccxt from 'ccxt'
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

const WATCH_MS = Number(process.env.SDK_WATCH_MS ?? 12_000)

const { kalshi: Kalshi, polymarket: Polymarket } = ccxt.prediction
// The rate limit of ccxt is stricter than that of either venue.
const polymarket = new Polymarket({ enableRateLimit: false })
// ccxt requires this call before it opens unencrypted WebSockets, even without a proxy.
await polymarket.loadHttpProxyAgent()
polymarket.urls.api = {
  ...polymarket.urls.api,
  gamma: urls.gamma,
  clob: urls.clob,
  data: urls.data,
  ws: urls.marketWs,
  wsUser: urls.marketWs,
}
// ccxt returns a list's cursor only in the raw JSON of the last response.
const kalshi = new Kalshi({ rateLimit: 60, enableLastJsonResponse: true })
kalshi.urls.api = {
  kalshi: urls.kalshiRest,
  elections: urls.kalshiRest.replace('/trade-api/v2', '/v1'),
}

const WITHOUT_COMBOS = { a: {}, b: { mve_filter: 'exclude' } }

// Array.from converts the sides of a ccxt book, which are a subclass of Array.
const inMicros = (rows) => Array.from(rows, ([price, size]) => [micros(price), micros(size)])
const levelsOf = ({ bids, asks }) => ({ bids: inMicros(bids), asks: inMicros(asks) })

/** The market with the most trades of this run is first. */
async function busiest(venue) {
  const counts = new Map()
  for (const { native_id: id } of await truth.trades(venue)) {
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return [...counts].sort((one, other) => other[1] - one[1]).map(([id]) => id)
}

const isV1 = ({ info }) => info.version === 'v1'

async function checkVenue(exchange, venue) {
  const name = `${exchange.id}:`
  let markets = []
  const ofId = (id) => markets.find((market) => market.id === id)

  await check(`${name} fetchMarkets`, () =>
    whilePaused(async () => {
      markets = await exchange.fetchMarkets({ limit: 5_000, ...WITHOUT_COMBOS[venue] })
      const { statuses } = (await truth.summary()).venues[venue]
      const count = new Set(markets.map(({ id }) => id)).size
      assert.equal(count, markets.length)
      if (venue === 'b') assert.equal(count, statuses.open)
      else assert.ok(count > 0 && count < statuses.open && markets.every(isV1))
      assert.ok(markets.every((market) => market.outcomes.length === 2))
      return `${markets.length} open markets, first ${markets[0].market}`
    }),
  )
  await exchange.loadMarkets(false, { limit: 5_000, ...WITHOUT_COMBOS[venue] })
  let busy = []
  await check(`${name} fetchOrderBook, both outcomes`, () =>
    whilePaused(async () => {
      const books = await truth.books(venue)
      busy = (await busiest(venue)).filter((id) => ofId(id) && books[id]?.bids.length > 0)
      let count = 0
      for (const id of busy.slice(0, 5)) {
        for (const [outcomeIndex, { outcomeId }] of ofId(id).outcomes.entries()) {
          const book = await exchange.fetchOrderBook(outcomeId)
          assert.deepEqual(levelsOf(book), bookOf(books[id], outcomeIndex), outcomeId)
          count += 1
        }
      }
      return `${count} books equal the simulator’s state`
    }),
  )
  await check(`${name} fetchTicker`, () =>
    whilePaused(async () => {
      const [id] = busy
      const [{ outcomeId }] = ofId(id).outcomes
      const ticker = await exchange.fetchTicker(outcomeId)
      const { bids, asks } = (await truth.books(venue))[id]
      assert.deepEqual([micros(ticker.bid), micros(ticker.ask)], [bids[0][0], asks[0][0]])
      const last = (await truth.trades(venue)).findLast((trade) => trade.native_id === id)
      const price =
        venue === 'b' && last.outcome_index === 1 ? 1e6 - last.price_micros : last.price_micros
      assert.equal(micros(ticker.last), price)
      return `${ticker.bid} / ${ticker.ask}, last ${ticker.last}`
    }),
  )
  await check(`${name} fetchTickers`, async () => {
    const outcomes = busy.slice(0, 10).map((id) => ofId(id).outcomes[0].outcomeId)
    const tickers = await exchange.fetchTickers(outcomes)
    assert.equal(Object.keys(tickers).length, outcomes.length)
    return `${outcomes.length} outcomes`
  })
  await check(`${name} fetchOHLCV`, async () => {
    const [{ outcomeId }] = ofId(busy[0]).outcomes
    const since = Date.now() - 6 * 3_600_000
    const candles = await exchange.fetchOHLCV(outcomeId, '1h', since, 10)
    assert.ok(candles.length > 0)
    for (const [, open, high, low, close] of candles) {
      if (open !== undefined)
        assert.ok(low <= Math.min(open, close) && high >= Math.max(open, close))
    }
    return `${candles.length} hours`
  })
  await check(`${name} fetchStatus`, async () => (await exchange.fetchStatus()).status)
  return { busy, ofId }
}

async function checkFigures(exchange, { busy, ofId }) {
  await check(`${exchange.id}: fetchTrades, all pages of 1,000`, () =>
    whilePaused(async () => {
      const [id] = busy
      const { outcomeId } = ofId(id).outcomes[0]
      const trades = []
      let params = {}
      do {
        trades.push(...(await exchange.fetchTrades(outcomeId, undefined, 1_000, params)))
        params = { cursor: exchange.last_json_response.cursor }
      } while (params.cursor)
      const real = (await truth.trades('b')).filter((trade) => trade.native_id === id)
      // Venue b reports the Yes price for each trade.
      const yes = (trade) =>
        trade.outcome_index === 0 ? trade.price_micros : 1e6 - trade.price_micros
      const key = (price, size) => `${price} ${size}`
      assert.deepEqual(
        trades.map(({ price, amount }) => key(micros(price), micros(amount))).sort(),
        real.map((trade) => key(yes(trade), trade.size_micros)).sort(),
      )
      return `${trades.length} trades of ${id.slice(0, 40)}`
    }),
  )
  await check(`${exchange.id}: fetchOpenInterest`, async () => {
    const row = await exchange.fetchOpenInterest(ofId(busy[0]).outcomes[0].outcomeId)
    const value = row.openInterestAmount ?? row.openInterestValue
    assert.ok(value >= 0)
    return value
  })
}

await checkFigures(kalshi, await checkVenue(kalshi, 'b'))
const { busy, ofId } = await checkVenue(polymarket, 'a')
// This version of ccxt uses version 1 of the Data API, which the venue has retired.
await check('polymarket: fetchTrades and fetchOpenInterest: retired', async () => {
  const [{ outcomeId }] = ofId(busy[0]).outcomes
  await assert.rejects(polymarket.fetchTrades(outcomeId), isRetired)
  await assert.rejects(polymarket.fetchOpenInterest(outcomeId), isRetired)
  return '410, as the venue’s version 1'
})
await check('polymarket: watchOrderBook', async () => {
  const outcomes = busy.slice(0, 5).flatMap((id) =>
    ofId(id).outcomes.map(({ outcomeId, outcome }, outcomeIndex) => ({
      id,
      outcomeId,
      outcome,
      outcomeIndex,
    })),
  )
  let updates = 0
  const until = Date.now() + WATCH_MS
  const follow = async ({ outcomeId }) => {
    while (Date.now() < until) {
      const late = sleep(until - Date.now()).then(() => null)
      if ((await Promise.race([polymarket.watchOrderBook(outcomeId), late])) !== null) updates += 1
    }
  }
  await Promise.all(outcomes.map(follow))
  return await whilePaused(async () => {
    await sleep(300)
    const books = await truth.books('a')
    for (const { id, outcome, outcomeIndex } of outcomes) {
      const { bids, asks } = polymarket.orderbooks[outcome]
      assert.deepEqual(levelsOf({ bids, asks }), bookOf(books[id], outcomeIndex), outcome)
    }
    assert.ok(updates > outcomes.length)
    return `${updates} updates, ${outcomes.length} rebuilt books equal the simulator’s state`
  })
})
await check('polymarket: watchTrades, watchTicker', async () => {
  const [{ outcomeId }] = ofId(busy[0]).outcomes
  const late = (ms) => sleep(ms).then(() => Promise.reject(new Error(`nothing in ${ms} ms`)))
  const any = busy.slice(0, 30).map((id) => polymarket.watchTrades(ofId(id).outcomes[0].outcomeId))
  const trades = await Promise.race([...any, late(10 * WATCH_MS)])
  const ticker = await Promise.race([polymarket.watchTicker(outcomeId), late(10 * WATCH_MS)])
  assert.ok(trades[0].price > 0 && ticker.bid < ticker.ask)
  return `${trades[0].side} ${trades[0].amount} at ${trades[0].price}; ${ticker.bid} / ${ticker.ask}`
})

finish('ccxt 4.5.84')
