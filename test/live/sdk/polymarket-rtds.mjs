// Tests @polymarket/real-time-data-client 1.4.0 against the simulated RTDS.

import assert from 'node:assert/strict'
import { RealTimeDataClient } from '@polymarket/real-time-data-client'
import { check, finish, micros, sleep, transactions, truth, urls } from './harness.mjs'

const WATCH_MS = Number(process.env.SDK_WATCH_MS ?? 12_000)
const ROWS_MIN = 20

// The client reports unreadable messages only to the console.
const complaints = []
console.log = (...words) => complaints.push(words)
console.error = (...words) => complaints.push(words)

/** Sends `subscriptions` once the client is connected. */
async function connect(subscriptions) {
  const seen = []
  let client
  await new Promise((resolve) => {
    client = new RealTimeDataClient({
      host: urls.rtdsWs,
      onConnect: (each) => {
        each.subscribe({ subscriptions })
        resolve()
      },
      onMessage: (_, message) => seen.push(message),
    }).connect()
  })
  return { client, seen }
}

const keyOf = (row) =>
  [row.transactionHash, row.asset, row.proxyWallet, row.side].join()

const all = await connect([
  { topic: 'activity', type: 'trades' },
  { topic: 'activity', type: 'orders_matched' },
])
const of = (type, seen = all.seen) => seen.filter((message) => message.type === type)
let filtered

await check('subscribe to activity', async () => {
  const from = Date.now()
  const until = async (isEnough) => {
    while (!isEnough()) {
      assert.ok(Date.now() - from < 10 * WATCH_MS, `${all.seen.length} messages only`)
      await sleep(100)
    }
  }
  await until(() => of('orders_matched').length >= ROWS_MIN)
  const slug = busiestEvent()
  filtered = { slug, ...(await connect([filterBy(slug)])) }
  await until(() => Date.now() - from > WATCH_MS && filtered.seen.length >= 2)
  await truth.pause()
  await sleep(300)
  for (const message of all.seen) {
    assert.equal(message.topic, 'activity')
    assert.ok(Number.isInteger(message.timestamp) && typeof message.connection_id === 'string')
  }
  return `${all.seen.length} messages in ${Math.round((Date.now() - from) / 1_000)} s`
})
const real = await truth.trades('a')
await truth.resume()
/** The simulator's trades from the first received message on. */
const sinceFirst = () => {
  const first = of('orders_matched')[0].payload.transactionHash
  return real.slice(real.findIndex((trade) => trade.tx_hash === first))
}
await check('orders_matched rows', async () => {
  const expected = transactions(sinceFirst()).map(({ first, size, price }) => ({
    transactionHash: first.tx_hash,
    conditionId: first.native_id,
    asset: first.token,
    outcomeIndex: first.outcome_index,
    side: first.side.toUpperCase(),
    price,
    size,
    timestamp: Math.floor(first.at_ms / 1_000),
    proxyWallet: first.taker,
  }))
  const seen = of('orders_matched').map(({ payload }) => ({
    transactionHash: payload.transactionHash,
    conditionId: payload.conditionId,
    asset: payload.asset,
    outcomeIndex: payload.outcomeIndex,
    side: payload.side,
    price: micros(payload.price),
    size: micros(payload.size),
    timestamp: payload.timestamp,
    proxyWallet: payload.proxyWallet,
  }))
  assert.deepEqual(seen, expected)
  return `${seen.length}, equal the simulator’s state`
})
await check('trades rows', async () => {
  const participants = sinceFirst().reduce((sum, { makers }) => sum + 1 + makers.length, 0)
  const rows = of('trades').map(({ payload }) => payload)
  assert.equal(rows.length, participants)
  const takers = new Set(of('orders_matched').map(({ payload }) => keyOf(payload)))
  const found = new Set(rows.map(keyOf))
  for (const key of takers) assert.ok(found.has(key))
  for (const row of rows) {
    for (const key of ['title', 'slug', 'eventSlug', 'outcome', 'icon', 'name', 'pseudonym']) {
      assert.equal(typeof row[key], 'string', key)
    }
  }
  return `${rows.length}, one for every participant`
})
await check('filter by event_slug', async () => {
  const mine = filtered.seen.map(({ payload }) => payload.transactionHash)
  const rows = of('orders_matched').map(({ payload }) => payload)
  const from = rows.findIndex(({ transactionHash }) => transactionHash === mine[0])
  const expected = rows.slice(from).filter(({ eventSlug }) => eventSlug.includes(filtered.slug))
  assert.deepEqual(
    mine,
    expected.map(({ transactionHash }) => transactionHash),
  )
  return `${mine.length} of ${filtered.slug}`
})
await check('unsubscribe', async () => {
  const subscriptions = ['trades', 'orders_matched'].map((type) => ({ topic: 'activity', type }))
  all.client.unsubscribe({ subscriptions })
  await sleep(300)
  const [before, tradesBefore] = [all.seen.length, (await truth.summary()).venues.a.trades]
  await sleep(3_000)
  assert.equal(all.seen.length, before)
  const trades = (await truth.summary()).venues.a.trades - tradesBefore
  assert.ok(trades > 0)
  return `silent during ${trades} trades`
})
await check('the client does not complain', async () => {
  assert.deepEqual(
    complaints.filter(([first]) => first !== 'unsubscribing'),
    [],
  )
  return 'its ping is understood, its connection held'
})

function busiestEvent() {
  const counts = new Map()
  for (const { payload } of of('orders_matched')) {
    counts.set(payload.eventSlug, (counts.get(payload.eventSlug) ?? 0) + 1)
  }
  return [...counts].sort((one, other) => other[1] - one[1])[0][0]
}

function filterBy(slug) {
  const filters = JSON.stringify({ event_slug: slug })
  return { topic: 'activity', type: 'orders_matched', filters }
}

finish('@polymarket/real-time-data-client 1.4.0')
