// ccxt 4.5.84's two prediction exchanges against both simulated venues: markets, books, trades,
// prices, candles over REST, and its Polymarket stream.

import assert from 'node:assert/strict'
import ccxt from 'ccxt'
import { bookOf, check, finish, micros, truth, urls, whilePaused } from './harness.mjs'

const { kalshi: Kalshi, polymarket: Polymarket } = ccxt.prediction
// Without its own throttle, which is slower than either venue's.
const polymarket = new Polymarket({ enableRateLimit: false })
polymarket.urls.api = {
  ...polymarket.urls.api,
  gamma: urls.gamma,
  clob: urls.clob,
  data: urls.data,
  ws: urls.marketWs,
  wsUser: urls.marketWs,
}
const kalshi = new Kalshi({ rateLimit: 60 })
kalshi.urls.api = {
  kalshi: urls.kalshiRest,
  elections: urls.kalshiRest.replace('/trade-api/v2', '/v1'),
}
console.log(polymarket.urls.api, new Kalshi().urls.api)
const markets = await polymarket.fetchMarkets({ limit: 5_000 })
console.log(markets.length, JSON.stringify(markets[0]).slice(0, 3000))
const km = await kalshi.fetchMarkets({ limit: 5_000 })
console.log(km.length, JSON.stringify(km[0]).slice(0, 3000))
process.exit()
