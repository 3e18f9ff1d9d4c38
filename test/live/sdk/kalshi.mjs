// Tests kalshi-typescript 3.30.0 against the simulated Kalshi: all public REST endpoints with signed requests.

import assert from 'node:assert/strict'
import axios from 'axios'
import kalshi from 'kalshi-typescript'
import {
  busiestOf,
  check,
  finish,
  kalshiKey,
  micros,
  sleep,
  truth,
  urls,
  whilePaused,
  withoutCombos,
} from './harness.mjs'
import { differences } from './kalshi-shapes.mjs'

const key = kalshiKey()
const settings = (apiKey) =>
  new kalshi.Configuration({ basePath: urls.kalshiRest, apiKey, privateKeyPem: key.pem })
const signed = settings(key.id)
const [market, events, exchange, milestones, targets, search] = [
  kalshi.MarketApi,
  kalshi.EventsApi,
  kalshi.ExchangeApi,
  kalshi.MilestoneApi,
  kalshi.StructuredTargetsApi,
  kalshi.SearchApi,
].map((Api) => new Api(signed))

/** Checks the type of the response. Pauses afterwards, because the key may send 20 requests a second. */
async function checkedData(promise, kind) {
  const { data } = await promise
  await sleep(55)
  const wrong = differences(data, kind)
  if (wrong.length > 0)
    throw new Error(`${wrong.length} differences: ${wrong.slice(0, 4).join('; ')}`)
  return data
}

async function pages(read, list) {
  const rows = []
  let cursor
  let count = 0
  do {
    const page = await read(cursor)
    rows.push(...page[list])
    cursor = page.cursor
    count += 1
    assert.ok(count < 5_000, 'pages end')
  } while (cursor)
  return { rows, count }
}

const ALL = Array(8).fill(undefined)
const listMarkets = (status, limit) =>
  pages(
    (cursor) =>
      checkedData(
        market.getMarkets(
          limit,
          cursor,
          ...ALL.slice(0, 8),
          undefined,
          status,
          undefined,
          'exclude',
        ),
        'GetMarketsResponse',
      ),
    'markets',
  )

/** [[price, size]] in millionths, best first. The venue sends the best level last. */
const levels = (rows) => (rows ?? []).map(([p, n]) => [micros(p), micros(n)]).reverse()
const oneLess = (rows) => rows.map(([price, size]) => [1_000_000 - price, size])
const bookOf = ({ yes_dollars, no_dollars }) => ({
  bids: levels(yes_dollars),
  asks: oneLess(levels(no_dollars)),
})

let all = []
let busy = []

await check('ExchangeApi.getExchangeStatus', async () => {
  const status = await checkedData(exchange.getExchangeStatus(), 'ExchangeStatus')
  assert.equal(status.exchange_active, true)
  return `trading_active ${status.trading_active}`
})
await check('ExchangeApi.getExchangeSchedule', async () => {
  const { schedule } = await checkedData(exchange.getExchangeSchedule(), 'GetExchangeScheduleResponse')
  return `${schedule.standard_hours.length} standard hours`
})
await check('an unknown key is refused', async () => {
  const stranger = new kalshi.ExchangeApi(settings('somebody'), urls.kalshiRest, signedApart())
  const failure = await stranger.getExchangeStatus().catch((error) => error)
  assert.equal(failure.response?.status, 401)
  return `401 ${failure.response.data.error.code}`
})
await check('MarketApi.getMarkets, all pages of 100', () =>
  whilePaused(async () => {
    const { rows, count } = await listMarkets(undefined, 100)
    all = rows
    const { markets } = (await truth.summary()).venues.b
    assert.equal(new Set(rows.map(({ ticker }) => ticker)).size, markets)
    assert.equal(rows.length, markets)
    return `${rows.length} markets, ${count} pages`
  }),
)
for (const [status, mine] of [
  ['unopened', ['unopened']],
  ['open', ['open']],
  ['closed', ['closed', 'determined']],
  ['settled', ['resolved']],
]) {
  await check(`MarketApi.getMarkets status=${status}`, () =>
    whilePaused(async () => {
      const { rows } = await listMarkets(status, 1_000)
      const { statuses } = (await truth.summary()).venues.b
      assert.equal(
        rows.length,
        mine.reduce((sum, name) => sum + (statuses[name] ?? 0), 0),
      )
      return `${rows.length} markets`
    }),
  )
}
await check('MarketApi.getMarket', () =>
  whilePaused(async () => {
    const { rows } = await listMarkets('open', 1_000)
    busy = rows.toSorted((one, other) => other.volume_24h_fp - one.volume_24h_fp)
    const { ticker } = busy[0]
    const { market: alone } = await checkedData(market.getMarket(ticker), 'GetMarketResponse')
    // These figures change with time even while the simulation is paused.
    const moving = /^(?:previous_|volume_|open_interest_)/
    const still = (row) => Object.entries(row).filter(([name]) => !moving.test(name))
    assert.deepEqual(still(alone), still(busy[0]))
    assert.ok(Number(alone.volume_fp) >= Number(busy[0].volume_fp))
    return `${ticker} ${alone.yes_bid_dollars} / ${alone.yes_ask_dollars}`
  }),
)
await check('MarketApi.getMarketOrderbook, 10 books', () =>
  whilePaused(async () => {
    const books = await truth.books('b')
    let levelCount = 0
    for (const { ticker } of busy.slice(0, 10)) {
      const { orderbook_fp } = await checkedData(
        market.getMarketOrderbook(ticker),
        'GetMarketOrderbookResponse',
      )
      const { bids, asks } = books[ticker]
      assert.deepEqual(bookOf(orderbook_fp), { bids, asks })
      levelCount += bids.length + asks.length
    }
    return `${levelCount} levels equal the simulator’s state`
  }),
)
await check('MarketApi.getMarketOrderbooks, 100 books', () =>
  whilePaused(async () => {
    const tickers = busy.slice(0, 100).map(({ ticker }) => ticker)
    const answer = await checkedData(market.getMarketOrderbooks(tickers), 'GetMarketOrderbooksResponse')
    const books = await truth.books('b')
    assert.deepEqual(
      answer.orderbooks.map(({ ticker }) => ticker),
      tickers,
    )
    for (const { ticker, orderbook_fp } of answer.orderbooks) {
      const { bids, asks } = books[ticker]
      assert.deepEqual(bookOf(orderbook_fp), { bids, asks }, ticker)
    }
    return `${answer.orderbooks.length} books equal the simulator’s state`
  }),
)
await check('prices of getMarkets', () =>
  whilePaused(async () => {
    const { rows } = await listMarkets('open', 1_000)
    const books = await truth.books('b')
    for (const row of rows) {
      const { bids, asks } = books[row.ticker]
      // The venue sends 0.0000 as the price of an empty side.
      const [bid, ask] = [bids[0]?.[0] ?? null, asks[0]?.[0] ?? null]
      assert.equal(micros(row.yes_bid_dollars), bid ?? 0, row.ticker)
      assert.equal(micros(row.yes_ask_dollars), ask ?? 0, row.ticker)
      assert.equal(micros(row.no_ask_dollars), bid === null ? 0 : 1_000_000 - bid)
      assert.equal(micros(row.no_bid_dollars), ask === null ? 0 : 1_000_000 - ask)
    }
    return `${rows.length} markets' bid and ask equal the simulator’s state`
  }),
)
await check('MarketApi.getTrades, all pages of 100', () =>
  whilePaused(async () => {
    const read = (cursor) => checkedData(market.getTrades(100, cursor), 'GetTradesResponse')
    const { rows: listed, count } = await pages(read, 'trades')
    const real = await truth.trades('b')
    const rows = withoutCombos(listed, real)
    const expected = real.toReversed().map((trade) => ({
      id: trade.id,
      ticker: trade.native_id,
      yes: trade.outcome_index === 0 ? trade.price_micros : 1_000_000 - trade.price_micros,
      size: trade.size_micros,
      atMs: trade.at_ms,
    }))
    const seen = rows.map((trade) => ({
      id: trade.trade_id,
      ticker: trade.ticker,
      yes: micros(trade.yes_price_dollars),
      size: micros(trade.count_fp),
      atMs: Date.parse(trade.created_time),
    }))
    assert.deepEqual(seen, expected)
    return `${rows.length} trades, ${count} pages, equal the simulator’s state`
  }),
)
await check('MarketApi.getTrades of one market, all pages of 1,000', () =>
  whilePaused(async () => {
    const real = await truth.trades('b')
    const ticker = busiestOf(real)
    const read = (cursor) => checkedData(market.getTrades(1_000, cursor, ticker), 'GetTradesResponse')
    const { rows, count } = await pages(read, 'trades')
    const expected = real.toReversed().filter((trade) => trade.native_id === ticker)
    assert.deepEqual(
      rows.map((trade) => trade.trade_id),
      expected.map(({ id }) => id),
    )
    return `${rows.length} of ${ticker}, ${count} pages`
  }),
)

const nowS = () => Math.floor(Date.now() / 1_000)
const eventOf = (ticker) => all.find((row) => row.ticker === ticker).event_ticker
const seriesOf = (ticker) => eventOf(ticker).split('-')[0]

await check('MarketApi.getMarketCandlesticks', async () => {
  const { ticker } = busy[0]
  const startS = nowS() - 6 * 3_600
  const { candlesticks } = await checkedData(
    market.getMarketCandlesticks(seriesOf(ticker), ticker, startS, nowS(), 60),
    'GetMarketCandlesticksResponse',
  )
  assert.ok(candlesticks.length >= 5)
  for (const [position, { end_period_ts: end, yes_bid: bid }] of candlesticks.entries()) {
    assert.equal(end % 3_600, 0)
    assert.ok(position === 0 || end > candlesticks[position - 1].end_period_ts)
    assert.ok(Number(bid.low_dollars) <= Number(bid.high_dollars))
  }
  return `${candlesticks.length} hours, close ${candlesticks.at(-1).price.close_dollars ?? 'none'}`
})
await check('MarketApi.batchGetMarketCandlesticks', async () => {
  const tickers = busy.slice(0, 20).map(({ ticker }) => ticker)
  const { markets } = await checkedData(
    market.batchGetMarketCandlesticks(tickers.join(','), nowS() - 3_600, nowS(), 1),
    'BatchGetMarketCandlesticksResponse',
  )
  assert.deepEqual(
    markets.map((row) => row.market_ticker),
    tickers,
  )
  return `${markets.length} markets, ${markets[0].candlesticks.length} minutes`
})
await check('EventsApi.getMarketCandlesticksByEvent', async () => {
  const { ticker } = busy[0]
  const answer = await checkedData(
    events.getMarketCandlesticksByEvent(
      eventOf(ticker),
      seriesOf(ticker),
      nowS() - 3_600,
      nowS(),
      1,
    ),
    'GetEventCandlesticksResponse',
  )
  assert.equal(answer.market_tickers.length, answer.market_candlesticks.length)
  assert.ok(answer.market_tickers.includes(ticker))
  return `${answer.market_tickers.length} markets`
})
await check('EventsApi.getEvents nested, all pages', () =>
  whilePaused(async () => {
    const read = (cursor) => checkedData(events.getEvents(100, cursor, true), 'GetEventsResponse')
    const { rows, count } = await pages(read, 'events')
    const { venues } = await truth.summary()
    assert.equal(rows.length, venues.b.events)
    const tickers = rows.flatMap((event) => event.markets.map(({ ticker }) => ticker))
    assert.equal(new Set(tickers).size, venues.b.markets)
    return `${rows.length} events, ${tickers.length} markets, ${count} pages`
  }),
)
await check('EventsApi.getEvent, getEventMetadata', async () => {
  const ticker = eventOf(busy[0].ticker)
  const { event, markets } = await checkedData(events.getEvent(ticker), 'GetEventResponse')
  const metadata = await checkedData(events.getEventMetadata(ticker), 'GetEventMetadataResponse')
  assert.equal(metadata.market_details.length, markets.length)
  return `${event.event_ticker} "${event.title}", ${markets.length} markets`
})
await check('MarketApi.getSeriesList, getSeries', async () => {
  const { series } = await checkedData(market.getSeriesList(), 'GetSeriesListResponse')
  const known = new Set(series.map(({ ticker }) => ticker))
  for (const row of all) assert.ok(known.has(seriesOf(row.ticker)), row.event_ticker)
  const one = await checkedData(market.getSeries(series[0].ticker, true), 'GetSeriesResponse')
  assert.equal(one.series.title, series[0].title)
  return `${series.length} series, first ${series[0].ticker}`
})
await check('MilestoneApi.getMilestones, getMilestone', async () => {
  const read = (cursor) =>
    checkedData(
      milestones.getMilestones(
        50,
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
        cursor,
      ),
      'GetMilestonesResponse',
    )
  const { rows } = await pages(read, 'milestones')
  assert.ok(rows.length > 0)
  const one = await checkedData(milestones.getMilestone(rows[0].id), 'GetMilestoneResponse')
  assert.equal(one.milestone.id, rows[0].id)
  return `${rows.length} games, first "${rows[0].title}"`
})
await check('StructuredTargetsApi.getStructuredTargets', async () => {
  const read = (cursor) =>
    checkedData(
      targets.getStructuredTargets(undefined, undefined, undefined, 500, cursor),
      'GetStructuredTargetsResponse',
    )
  const { rows } = await pages(read, 'structured_targets')
  assert.ok(rows.length > 0)
  return `${rows.length} targets, first ${rows[0].name}`
})
await check('SearchApi.getTagsForSeriesCategories', async () => {
  const { tags_by_categories } = await checkedData(
    search.getTagsForSeriesCategories(),
    'GetTagsForSeriesCategoriesResponse',
  )
  return `${Object.keys(tags_by_categories).length} categories`
})

/** Without a separate axios instance each API of the SDK would add a signing interceptor to the global instance. */
function signedApart() {
  return axios.create()
}

finish('kalshi-typescript 3.30.0')
