// A plain `ws` client of the simulated Kalshi's signed WebSocket, for which no npm SDK exists: every
// channel and command, every book rebuilt from snapshots and deltas and held against the truth.

import assert from 'node:assert/strict'
import { constants, sign } from 'node:crypto'
import {
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
import { Book, count, MESSAGES_MIN, open, shown, until, WATCH_MS } from './stream.mjs'

const ONE = 1_000_000
const key = kalshiKey()

/** The three headers: RSA-PSS, SHA-256, salt 32, over timestamp + GET + path. */
function signedHeaders(path) {
  const timestamp = String(Date.now())
  const signature = sign('sha256', Buffer.from(`${timestamp}GET${path}`), {
    key: key.pem,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 32,
  })
  return {
    'KALSHI-ACCESS-KEY': key.id,
    'KALSHI-ACCESS-TIMESTAMP': timestamp,
    'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
  }
}

const path = new URL(urls.kalshiWs).pathname
await check('Kalshi: handshake without headers, with a wrong path signed', async () => {
  const bare = await open(urls.kalshiWs, {}, () => {})
  const wrong = await open(urls.kalshiWs, signedHeaders('/trade-api/v2'), () => {})
  assert.deepEqual([bare.status, wrong.status], [401, 401])
  return '401, 401'
})
const books = new Map()
const counts = new Map()
const replies = new Map()
const trades = []
const lastSeq = new Map()
const faults = []
const take = (text) => {
  const message = JSON.parse(text)
  count(counts, message.type)
  if (message.seq !== undefined) {
    const expected = (lastSeq.get(message.sid) ?? 0) + 1
    if (message.seq !== expected) faults.push(`sid ${message.sid}: ${message.seq} for ${expected}`)
    lastSeq.set(message.sid, message.seq)
  }
  if (message.id) replies.set(message.id, [...(replies.get(message.id) ?? []), message])
  const { msg } = message
  if (message.type === 'orderbook_snapshot') {
    const book = new Book()
    for (const [price, size] of msg.yes_dollars_fp ?? [])
      book.set('bid', micros(price), micros(size))
    for (const [price, size] of msg.no_dollars_fp ?? [])
      book.set('ask', ONE - micros(price), micros(size))
    books.set(msg.market_ticker, book)
  } else if (message.type === 'orderbook_delta') {
    const book = books.get(msg.market_ticker)
    if (book === undefined) return faults.push(`delta before snapshot of ${msg.market_ticker}`)
    const side = msg.side === 'yes' ? 'bid' : 'ask'
    const price = msg.side === 'yes' ? micros(msg.price_dollars) : ONE - micros(msg.price_dollars)
    const size = (book.sides[side].get(price) ?? 0) + micros(msg.delta_fp)
    if (size < 0) faults.push(`size ${size} of ${msg.market_ticker}`)
    book.set(side, price, size)
  } else if (message.type === 'trade') trades.push(msg)
  else if (message.type === 'error' && message.id !== 90) faults.push(JSON.stringify(message))
}
let client
await check('Kalshi: signed handshake', async () => {
  client = await open(urls.kalshiWs, signedHeaders(path), take)
  assert.equal(client.status, undefined)
  return 'open'
})
let tickers = []
const rest = async (cursor = '') => {
  const query = `status=open&mve_filter=exclude&limit=1000&cursor=${encodeURIComponent(cursor)}`
  const page = await (await fetch(`${urls.kalshiRest}/markets?${query}`)).json()
  return [...page.markets, ...(page.cursor === '' ? [] : await rest(page.cursor))]
}
await check('Kalshi: subscribe to four channels', async () => {
  tickers = (await rest()).map(({ ticker }) => ticker)
  client.send({
    id: 1,
    cmd: 'subscribe',
    params: { channels: ['orderbook_delta'], market_tickers: tickers },
  })
  client.send({
    id: 2,
    cmd: 'subscribe',
    params: { channels: ['trade', 'ticker', 'market_lifecycle_v2'] },
  })
  await until(
    () => (replies.get(2) ?? []).length >= 3 && books.size >= tickers.length,
    () => shown(counts),
  )
  const channels = [...replies.get(1), ...replies.get(2)]
    .filter(({ type }) => type === 'subscribed')
    .map(({ msg }) => msg.channel)
  assert.deepEqual(channels.sort(), ['market_lifecycle_v2', 'orderbook_delta', 'ticker', 'trade'])
  return `${books.size} snapshots of ${tickers.length} markets`
})
await check('Kalshi: commands', async () => {
  const sid = replies.get(1).find(({ type }) => type === 'subscribed').msg.sid
  const [first] = tickers
  const update = (id, action, list) =>
    client.send({
      id,
      cmd: 'update_subscription',
      params: { sids: [sid], action, market_tickers: list },
    })
  client.send({ id: 80, cmd: 'list_subscriptions' })
  update(81, 'get_snapshot', [first])
  update(82, 'delete_markets', [first])
  update(83, 'add_markets', [first])
  client.send({ id: 90, cmd: 'subscribe', params: { channels: ['nothing'] } })
  await until(
    () => [80, 81, 82, 83, 90].every((id) => replies.has(id)),
    () => shown(counts),
  )
  assert.equal(replies.get(80)[0].msg.length, 4)
  assert.equal(replies.get(81)[0].type, 'orderbook_snapshot')
  assert.equal(replies.get(82)[0].msg.market_tickers.length, tickers.length - 1)
  assert.equal(replies.get(83)[0].msg.market_tickers.length, tickers.length)
  assert.equal(replies.get(90)[0].msg.code, 8)
  return '4 subscriptions; get_snapshot, delete_markets, add_markets; error 8'
})
const kinds = ['orderbook_delta', 'trade', 'ticker']
await check('Kalshi: messages', async () => {
  const from = Date.now()
  await until(
    () =>
      Date.now() - from > WATCH_MS &&
      client.pings.length > 0 &&
      kinds.every((kind) => (counts.get(kind) ?? 0) >= MESSAGES_MIN),
    () => shown(counts),
  )
  assert.ok(client.pings.every((body) => body === 'heartbeat'))
  return `${shown(counts)}, heartbeat ${client.pings.length}`
})
await check('Kalshi: rebuilt books and trades', () =>
  whilePaused(async () => {
    await sleep(300)
    const real = await truth.books('b')
    for (const ticker of tickers) {
      const { bids, asks } = real[ticker] ?? { bids: [], asks: [] }
      assert.deepEqual(books.get(ticker).rows(), { bids, asks }, ticker)
    }
    const all = await truth.trades('b')
    const told = withoutCombos(trades, all)
    assert.deepEqual(
      told.map((trade) => trade.trade_id),
      all.slice(-told.length).map((trade) => trade.id),
    )
    assert.deepEqual(faults, [])
    const others = `${trades.length - told.length} of combinations`
    return `${tickers.length} books, ${told.length} trades equal the truth, ${others}; no gap in any seq`
  }),
)
await check('Kalshi: unsubscribe', async () => {
  const sids = [...replies.get(1), ...replies.get(2)]
    .filter(({ type }) => type === 'subscribed')
    .map(({ msg }) => msg.sid)
  client.send({ id: 99, cmd: 'unsubscribe', params: { sids } })
  await until(
    () => (replies.get(99) ?? []).length === sids.length,
    () => shown(counts),
  )
  const before = shown(counts)
  await sleep(1_500)
  assert.equal(shown(counts), before)
  client.socket.close()
  return `${sids.length} sids, then silence`
})

finish('Kalshi WebSocket, plain ws client')
