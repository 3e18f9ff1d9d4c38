import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { record, signedHeaders, twoMarkets } from '../../../../support/clients/kalshi-client.ts'

const PATH = '/trade-api/ws/v2'

async function refusal(port: number, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${PATH}`, { headers })
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  const { statusCode } = response
  response.destroy()
  return statusCode
}

test('returns 401 for a WebSocket handshake without a valid signature', async (t) => {
  const { venue, world } = await twoMarkets(t)
  const client = await venue.connect()
  client.socket.terminate()
  assert.equal(await refusal(venue.port, {}), 401)
  assert.equal(await refusal(venue.port, signedHeaders({ path: '/trade-api/v2/ws' })), 401)
  assert.equal(await refusal(venue.port, signedHeaders({ path: PATH, keyId: 'other' })), 401)
  assert.equal(await refusal(venue.port, signedHeaders({ path: PATH, salt: 20 })), 401)
  assert.equal(await refusal(venue.port, signedHeaders({ path: PATH, timestamp: '179001' })), 401)
  const forged = { ...signedHeaders({ path: PATH }), 'KALSHI-ACCESS-SIGNATURE': 'bm8=' }
  assert.equal(await refusal(venue.port, forged), 401)
  await venue.stop()
  assert.equal(world.listenerCount, 0)
})

test('sends a ping every 10 s, and closes the socket when the client sends no pong', async (t) => {
  const { venue, clock } = await twoMarkets(t)
  const client = await venue.connect()
  const pinged = once(client.socket, 'ping')
  clock.advance(10_000)
  assert.equal(String((await pinged)[0]), 'heartbeat')
  await client.drain()
  const mute = new WebSocket(`ws://127.0.0.1:${venue.port}${PATH}`, {
    headers: signedHeaders({ path: PATH }),
    autoPong: false,
  })
  await once(mute, 'open')
  const closed = once(mute, 'close')
  for (let round = 0; round < 5; round += 1) {
    clock.advance(10_000)
    await client.drain()
  }
  await closed
  assert.equal(client.socket.readyState, WebSocket.OPEN)
})

test('acknowledges each channel with a separate sid, and lists the client’s subscriptions', async (t) => {
  const { venue, first } = await twoMarkets(t)
  const client = await venue.connect()
  const id = client.send('subscribe', {
    channels: ['trade', 'orderbook_delta', 'market_lifecycle_v2'],
    market_tickers: [first.listing.nativeId],
  })
  const messages = await client.drain()
  assert.deepEqual(
    messages.filter(({ type }) => type === 'subscribed'),
    ['trade', 'orderbook_delta', 'market_lifecycle_v2'].map((channel, position) => ({
      type: 'subscribed',
      id,
      msg: { channel, sid: position + 1 },
    })),
  )
  assert.equal(messages.filter(({ type }) => type === 'orderbook_snapshot').length, 1)
  client.send('list_subscriptions')
  const listed = await client.next()
  assert.deepEqual(listed.msg, [
    { channel: 'trade', sid: 1 },
    { channel: 'orderbook_delta', sid: 2 },
    { channel: 'market_lifecycle_v2', sid: 3 },
  ])
})

test('numbers all messages of a sid consecutively, including replies and errors', async (t) => {
  const { venue, world, first, second } = await twoMarkets(t)
  const client = await venue.connect()
  const a = first.listing.nativeId
  const b = second.listing.nativeId
  client.send('subscribe', { channels: ['orderbook_delta'], market_ticker: a })
  await client.drain()
  world.setLevels(first, [['bid', 44, 6]])
  client.send('update_subscription', { sid: 1, action: 'add_markets', market_tickers: [b] })
  await client.drain()
  world.setLevels(second, [['bid', 80, 2]])
  client.send('update_subscription', { sids: [1], action: 'get_snapshot', market_tickers: [a, b] })
  client.send('update_subscription', { sids: [1], action: 'nonsense', market_tickers: [a] })
  client.send('subscribe', { channels: ['orderbook_delta'], market_ticker: b })
  client.send('update_subscription', { sid: 1, action: 'delete_markets', market_tickers: [a] })
  await client.drain()
  world.setLevels(first, [['bid', 44, 1]])
  world.setLevels(second, [['bid', 80, 3]])
  const unsubscribed = client.send('unsubscribe', { sids: [1] })
  const rest = await client.drain()
  world.setLevels(second, [['bid', 80, 4]])
  assert.deepEqual(rest.at(-1), { id: unsubscribed, sid: 1, seq: 12, type: 'unsubscribed' })
  assert.deepEqual(await client.drain(), [])
})

test('sends a snapshot with bids of Yes and No in ascending order, without a key for an empty side', async (t) => {
  const { venue, first, second, world } = await twoMarkets(t)
  const client = await venue.connect()
  const tickers = [first.listing.nativeId, second.listing.nativeId]
  client.send('subscribe', { channels: ['orderbook_delta'], market_tickers: tickers })
  const [, one, two] = await client.take(3)
  assert.deepEqual(one, {
    type: 'orderbook_snapshot',
    sid: 1,
    seq: 1,
    msg: {
      market_ticker: first.listing.nativeId,
      market_id: first.listing.uuid,
      yes_dollars_fp: [
        ['0.4300', '7.25'],
        ['0.4400', '10.00'],
      ],
      no_dollars_fp: [
        ['0.5300', '5.00'],
        ['0.5400', '3.00'],
      ],
    },
  })
  assert.deepEqual(Object.keys(record(two?.msg)), ['market_ticker', 'market_id', 'no_dollars_fp'])
  world.setLevels(first, [['ask', 47, 0.75]])
  const delta = await client.next()
  assert.deepEqual(delta, {
    type: 'orderbook_delta',
    sid: 1,
    seq: 3,
    msg: {
      market_ticker: first.listing.nativeId,
      market_id: first.listing.uuid,
      price_dollars: '0.5300',
      delta_fp: '-4.25',
      side: 'no',
      ts: new Date(world.nowMs()).toISOString(),
      ts_ms: world.nowMs(),
    },
  })
})

test('sends the prices of the No side as Yes prices when use_yes_price is set', async (t) => {
  const { venue, world, first } = await twoMarkets(t)
  const client = await venue.connect()
  const ticker = first.listing.nativeId
  client.send('subscribe', {
    channels: ['orderbook_delta'],
    market_ticker: ticker,
    use_yes_price: true,
  })
  const [, snapshot] = await client.take(2)
  assert.deepEqual(record(snapshot?.msg).no_dollars_fp, [
    ['0.4600', '3.00'],
    ['0.4700', '5.00'],
  ])
  world.setLevels(first, [['ask', 46, 4]])
  const delta = record((await client.next()).msg)
  assert.deepEqual([delta.price_dollars, delta.side, delta.delta_fp], ['0.4600', 'no', '1.00'])
})

test('returns a different error code for each kind of malformed command', async (t) => {
  const { venue, first } = await twoMarkets(t)
  const client = await venue.connect()
  const ticker = first.listing.nativeId
  const code = async (cmd: string, params?: Record<string, unknown>) => {
    const id = client.send(cmd, params)
    const message = await client.next()
    assert.equal(message.type, 'error')
    assert.equal(message.id, id)
    return record(message.msg).code
  }
  client.socket.send('{"id":1,')
  assert.deepEqual(await client.next(), {
    id: 0,
    type: 'error',
    msg: { code: 1, msg: 'Unable to process message' },
  })
  assert.equal(await code('subscribe'), 2)
  assert.equal(await code('subscribe', { market_ticker: ticker }), 3)
  assert.equal(await code('unsubscribe', {}), 4)
  assert.equal(await code('dance', {}), 5)
  assert.equal(await code('unsubscribe', { sids: [9] }), 7)
  assert.equal(await code('update_subscription', { sid: 9, action: 'add_markets' }), 7)
  assert.equal(await code('subscribe', { channels: ['orderbook'] }), 8)
  assert.equal(await code('subscribe', { channels: ['ticker'], market_tickers: 'KX' }), 11)
  assert.equal(await code('update_subscription', { action: 'add_markets' }), 12)
  assert.equal(await code('update_subscription', { sids: [1, 2], action: 'add_markets' }), 12)
  assert.equal(await code('subscribe', { channels: ['orderbook_delta'] }), 14)
  client.send('subscribe', {
    channels: ['orderbook_delta'],
    market_ticker: ticker,
  })
  await client.drain()
  assert.equal(await code('update_subscription', { sid: 1, action: 'fly' }), 13)
  assert.equal(await code('update_subscription', { sid: 1, action: 'add_markets' }), 14)
  assert.equal(await code('update_subscription', { sid: 1 }), 15)
  const id = client.send('update_subscription', {
    sid: 1,
    action: 'add_markets',
    market_tickers: ['KXNONE-1'],
  })
  await client.next()
  assert.deepEqual(await client.next(), {
    id,
    type: 'error',
    sid: 1,
    seq: 6,
    msg: { code: 11, msg: 'Invalid parameter', market_ticker: 'KXNONE-1' },
  })
})

test('adds markets to the existing sid when a client subscribes to a channel a second time', async (t) => {
  const { venue, first, second } = await twoMarkets(t)
  const client = await venue.connect()
  const a = first.listing.nativeId
  const b = second.listing.nativeId
  client.send('subscribe', { channels: ['orderbook_delta'], market_ticker: b })
  await client.drain()
  const id = client.send('subscribe', { channels: ['orderbook_delta'], market_ticker: a })
  const [ok, snapshot] = await client.take(2)
  assert.deepEqual(ok, { type: 'ok', id, sid: 1, seq: 2, msg: { market_tickers: [a, b] } })
  assert.deepEqual([snapshot?.type, snapshot?.seq], ['orderbook_snapshot', 3])
})
