// A plain `ws` client for the two streams no npm SDK covers whole: Kalshi's signed WebSocket and
// Polymarket's market channel. Both rebuild every book and are held against the truth.

import assert from 'node:assert/strict'
import { constants, sign } from 'node:crypto'
import { WebSocket } from 'ws'
import { bookOf, check, finish, kalshiKey, micros, sleep, truth, urls, whilePaused } from './harness.mjs'

const WATCH_MS = Number(process.env.SDK_WATCH_MS ?? 12_000)
const MESSAGES_MIN = 20
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

/** Opens a socket; messages go to `take` in order, `pings` counts the server's protocol pings. */
function open(url, headers, take) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers })
    const client = { socket, pings: [], send: (value) => socket.send(JSON.stringify(value)) }
    socket.on('message', (data) => take(String(data)))
    socket.on('ping', (body) => client.pings.push(String(body)))
    socket.on('unexpected-response', (_, response) => resolve({ status: response.statusCode }))
    socket.on('open', () => resolve(client))
    socket.on('error', reject)
  })
}

async function until(isEnough, what) {
  const from = Date.now()
  while (!isEnough()) {
    assert.ok(Date.now() - from < 10 * WATCH_MS, `${what()} in ${10 * WATCH_MS} ms`)
    await sleep(50)
  }
}

/** Sizes by price, both sides; venue b's are bids of yes and of no. */
class Book {
  sides = { bid: new Map(), ask: new Map() }
  set(side, price, size) {
    if (size > 0) this.sides[side].set(price, size)
    else this.sides[side].delete(price)
  }
  rows() {
    const { bid, ask } = this.sides
    return {
      bids: [...bid].sort((one, other) => other[0] - one[0]),
      asks: [...ask].sort((one, other) => one[0] - other[0]),
    }
  }
}

const count = (counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1)
const shown = (counts) => [...counts].sort().map(([name, number]) => `${name} ${number}`).join(', ')

await kalshi()
await polymarket()
finish('plain WebSocket clients')

async function kalshi() {
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
      for (const [price, size] of msg.yes_dollars_fp ?? []) book.set('bid', micros(price), micros(size))
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
    const query = `status=open&limit=1000&cursor=${encodeURIComponent(cursor)}`
    const page = await (await fetch(`${urls.kalshiRest}/markets?${query}`)).json()
    return [...page.markets, ...(page.cursor === '' ? [] : await rest(page.cursor))]
  }
  await check('Kalshi: subscribe to four channels', async () => {
    tickers = (await rest()).map(({ ticker }) => ticker)
    const firstTrade = (await truth.trades('b')).length
    client.firstTrade = firstTrade
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
    await until(() => (replies.get(2) ?? []).length >= 3 && books.size >= tickers.length, () => shown(counts))
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
    await until(() => [80, 81, 82, 83, 90].every((id) => replies.has(id)), () => shown(counts))
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
      const printed = (await truth.trades('b')).slice(-trades.length)
      assert.deepEqual(
        trades.map((trade) => trade.trade_id),
        printed.map((trade) => trade.id),
      )
      assert.deepEqual(faults, [])
      return `${tickers.length} books, ${trades.length} trades equal the truth; no gap in any seq`
    }),
  )
  await check('Kalshi: unsubscribe', async () => {
    const sids = [...replies.get(1), ...replies.get(2)]
      .filter(({ type }) => type === 'subscribed')
      .map(({ msg }) => msg.sid)
    client.send({ id: 99, cmd: 'unsubscribe', params: { sids } })
    await until(() => (replies.get(99) ?? []).length === sids.length, () => shown(counts))
    const before = shown(counts)
    await sleep(1_500)
    assert.equal(shown(counts), before)
    client.socket.close()
    return `${sids.length} sids, then silence`
  })
}

async function polymarket() {
  const books = new Map()
  const counts = new Map()
  const trades = []
  const faults = []
  const tops = (rows) => [rows.bids[0]?.[0] ?? null, rows.asks[0]?.[0] ?? null]
  const top = (text) => (text === '' ? null : micros(text))
  let changes = 0
  const takeOne = (message) => {
    count(counts, message.event_type)
    if (message.event_type === 'book') {
      const book = new Book()
      for (const { price, size } of message.bids) book.set('bid', micros(price), micros(size))
      for (const { price, size } of message.asks) book.set('ask', micros(price), micros(size))
      books.set(message.asset_id, book)
    } else if (message.event_type === 'price_change') {
      for (const entry of message.price_changes) {
        const book = books.get(entry.asset_id)
        if (book === undefined) faults.push(`change before the book of ${entry.asset_id}`)
        book?.set(entry.side === 'BUY' ? 'bid' : 'ask', micros(entry.price), micros(entry.size))
      }
      for (const entry of message.price_changes) {
        const mine = tops(books.get(entry.asset_id).rows())
        const told = [top(entry.best_bid), top(entry.best_ask)]
        if (mine.join() !== told.join()) faults.push(`best ${mine} for ${told}`)
        changes += 1
      }
    } else if (message.event_type === 'last_trade_price') trades.push(message)
  }
  const texts = []
  const take = (text) => {
    if (/^[[{]/.test(text)) for (const message of [JSON.parse(text)].flat()) takeOne(message)
    else texts.push(text)
  }
  const client = await open(urls.marketWs, {}, take)
  let tokens = []
  await check('Polymarket: subscribe to every open token', async () => {
    const answer = await fetch(`${urls.clob}/sampling-markets`)
    const { data } = await answer.json()
    tokens = data.flatMap((row) =>
      row.tokens.map(({ token_id }, outcomeIndex) => ({
        id: row.condition_id,
        token: token_id,
        outcomeIndex,
      })),
    )
    const assets_ids = tokens.map(({ token }) => token)
    client.send({ assets_ids, type: 'market', custom_feature_enabled: true })
    client.socket.send('PING')
    await until(() => books.size >= tokens.length && texts.length > 0, () => `${books.size} books`)
    client.send({ assets_ids: assets_ids.slice(0, 1), operation: 'subscribe' })
    await until(() => texts.length > 1, () => texts.join())
    assert.deepEqual(texts, ['PONG', 'NO NEW ASSETS'])
    return `${books.size} books; PONG, NO NEW ASSETS`
  })
  const kinds = ['book', 'price_change', 'last_trade_price', 'best_bid_ask']
  await check('Polymarket: messages', async () => {
    const from = Date.now()
    await until(
      () =>
        Date.now() - from > WATCH_MS && kinds.every((kind) => (counts.get(kind) ?? 0) >= MESSAGES_MIN),
      () => shown(counts),
    )
    return shown(counts)
  })
  await check('Polymarket: rebuilt books and trades', () =>
    whilePaused(async () => {
      await sleep(300)
      const real = await truth.books('a')
      for (const { id, token, outcomeIndex } of tokens) {
        const open = real[id] ?? { bids: [], asks: [] }
        assert.deepEqual(books.get(token).rows(), bookOf(open, outcomeIndex), token)
      }
      const mine = new Set(tokens.map(({ id }) => id))
      const printed = (await truth.trades('a')).filter((trade) => mine.has(trade.native_id))
      assert.deepEqual(
        trades.map((trade) => [trade.transaction_hash, micros(trade.size)]),
        printed.slice(-trades.length).map((trade) => [trade.tx_hash, trade.size_micros]),
      )
      assert.deepEqual(faults.slice(0, 3), [])
      return `${tokens.length} books, ${trades.length} trades equal the truth; ${changes} best prices agree`
    }),
  )
  client.socket.close()
}
