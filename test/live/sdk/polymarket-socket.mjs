// A plain `ws` client of the simulated Polymarket market channel: every open token, every book
// rebuilt from books and changes and held against the truth, every best price against the local one.

import assert from 'node:assert/strict'
import { bookOf, check, finish, micros, sleep, truth, urls, whilePaused } from './harness.mjs'
import { Book, count, MESSAGES_MIN, open, shown, until, WATCH_MS } from './stream.mjs'

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
  await until(
    () => books.size >= tokens.length && texts.length > 0,
    () => `${books.size} books`,
  )
  client.send({ assets_ids: assets_ids.slice(0, 1), operation: 'subscribe' })
  await until(
    () => texts.length > 1,
    () => texts.join(),
  )
  assert.deepEqual(texts, ['PONG', 'NO NEW ASSETS'])
  return `${books.size} books; PONG, NO NEW ASSETS`
})
const kinds = ['book', 'price_change', 'last_trade_price', 'best_bid_ask']
await check('Polymarket: messages', async () => {
  const from = Date.now()
  await until(
    () =>
      Date.now() - from > WATCH_MS &&
      kinds.every((kind) => (counts.get(kind) ?? 0) >= MESSAGES_MIN),
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

finish('Polymarket market WebSocket, plain ws client')
