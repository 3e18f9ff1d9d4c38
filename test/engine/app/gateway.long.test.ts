// The log between engine and gateways loses batches, becomes unreachable, or gets another engine.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Gateway } from '../../../engine/app/gateway.ts'
import { systemClock } from '../../../engine/clock.ts'
import { revocationMessage } from '../../../engine/cluster/gateway-messages.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ClusterAccounts } from '../../../storage/cluster-accounts.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { StreamClient } from '../../support/clients/stream-client.ts'
import { type FaultyLog, FaultyLogServer } from '../../support/fakes/faulty-log.ts'
import { until } from '../../support/fakes/receivers.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { beforeAgain } from '../../support/rigs/full-service.ts'
import { RecordedEngine, SETTINGS } from '../../support/rigs/recorded-engine.ts'
import { manyMarkets, VenueEvents } from '../../support/worlds/venue-events.ts'

const MARKETS = manyMarkets(4)

async function openCluster() {
  const server = new FaultyLogServer(systemClock, 'gateway')
  const log = server.connect()
  const storage: Storage = openMemoryStorage()
  const engine = new RecordedEngine({ clock: systemClock, markets: MARKETS, storage })
  const key = await engine.engine.accounts.openLocalAccount(null)
  await engine.start(log)
  await new ClusterAccounts(storage.accounts, await log.bucket('accounts')).share()
  const events = new VenueEvents(seededRandom('gateway'), MARKETS)
  const play = async (count: number) => {
    for (let left = count; left > 0; left -= 1) engine.emit(events.next(systemClock.nowMs()))
    await engine.flush()
  }
  const beat = setInterval(() => {
    engine.feeds()
    void engine.flush()
  }, 200)
  const gateways: { readonly gateway: Gateway; readonly link: FaultyLog }[] = []
  const addGateway = async (name: string) => {
    const link = server.connect()
    const settings = { ...SETTINGS, opensLocalAccount: false }
    const gateway = new Gateway(settings, {
      ...{
        clock: systemClock,
        log: silentLog,
        metrics: new Metrics(),
        cluster: link,
        name,
        version: '0',
      },
    })
    await gateway.start()
    gateways.push({ gateway, link })
    return { gateway, link }
  }
  await play(60)
  const stop = async () => {
    clearInterval(beat)
    await Promise.all(gateways.map(({ gateway }) => gateway.stop()))
    await engine.stop()
  }
  return { server, log, engine, key, play, addGateway, stop, storage }
}

const cluster = await openCluster()
const [one, two] = [await cluster.addGateway('g1'), await cluster.addGateway('g2')]
after(() => cluster.stop())

async function get(port: number, path: string, key = cluster.key) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': key } })
  const { status, headers } = response
  return { status, headers, body: await response.text() }
}

/** Resolves when the gateway has received all messages that the engine published. */
async function caughtUp({ gateway }: { readonly gateway: Gateway }): Promise<void> {
  const { publisher } = cluster.engine.engine
  await until(() => {
    const mirror = gateway.mirror
    if (mirror === null || mirror.waiting > 0) return false
    const channels = ['orderbook', 'trades', 'prices'] as const
    return channels.every(
      (channel) => mirror.publisher.offset(channel) === publisher.offset(channel),
    )
  }, 'the gateway has everything')
}

/** Omits fields that depend on the time of the request. */
function lasting(text: string): unknown {
  const moment = ['age_ms', 'timestamp_ms', 'at_time', 'uptime_s', 'delay_ms', 'cursor']
  return JSON.parse(text, (name, value: unknown) => (moment.includes(name) ? undefined : value))
}

const isStale = (body: string): boolean => body.includes('"stale":true')

const ids = MARKETS.map(({ venue, nativeId }) => `venue_${venue}_${nativeId}`)
const HOT = [
  ...ids.flatMap((id) => [`/v1/markets/${id}/orderbook`, `/v1/markets/${id}/price`]),
  `/v1/markets/${ids[0]}/orderbook?depth=2&outcome=no`,
  `/v1/markets/${ids[0]}/price?outcome=no`,
  `/v1/prices?market_ids=${ids.join(',')},venue_a_none`,
  `/v1/orderbooks?market_ids=${ids.slice(0, 3).join(',')}`,
  '/v1/markets/venue_a_none/price',
  `/v1/markets/${ids[0]}/orderbook?depth=0`,
]
const COLD = [
  '/v1/markets?limit=5',
  '/v1/markets/search?search=happen',
  `/v1/markets/${ids[0]}`,
  `/v1/markets/${ids[0]}/trades?limit=5`,
  `/v1/markets/${ids[0]}/candles?interval=1m`,
  '/v1/events',
  '/v1/whales',
  '/v1/matching-markets',
  '/v1/keys',
  '/v1/webhooks',
]

test('returns the engine’s answers with the gateway’s own name, from the mirror or by forwarding', async () => {
  await cluster.play(200)
  await Promise.all([caughtUp(one), caughtUp(two)])
  for (const path of [...HOT, ...COLD]) {
    for (const { gateway } of [one, two]) {
      let [own, answer] = [
        await get(cluster.engine.engine.port, path),
        await get(gateway.port, path),
      ]
      // On a busy machine either process may mark its books as stale.
      while (isStale(own.body) !== isStale(answer.body)) {
        await beforeAgain()
        own = await get(cluster.engine.engine.port, path)
        answer = await get(gateway.port, path)
      }
      assert.equal(answer.status, own.status, path)
      assert.deepEqual(lasting(answer.body), lasting(own.body), path)
      // The entity tag of a page depends on its cursor, which belongs to one process.
      if (!/"cursor":"/.test(own.body))
        assert.equal(answer.headers.get('etag'), own.headers.get('etag'), path)
      for (const name of ['content-type', 'cache-control', 'x-ratelimit-limit', 'x-data-start']) {
        assert.equal(answer.headers.get(name), own.headers.get(name), `${name} of ${path}`)
      }
      assert.equal(answer.headers.get('x-served-by'), gateway === one.gateway ? 'g1' : 'g2')
    }
  }
})

test('forwards write requests with their body to the engine, and returns the engine’s refusals', async () => {
  const send = (path: string, method: string, headers: Record<string, string>, body?: object) =>
    fetch(`http://127.0.0.1:${one.gateway.port}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  assert.equal((await send('/v1/webhooks', 'POST', { 'x-api-key': 'pmk_none' }, {})).status, 401)
  const bad = await send('/v1/webhooks', 'POST', { 'x-api-key': cluster.key }, { url: 7 })
  assert.equal(bad.status, 422)
})

test('accepts a stream ticket of a different gateway once, and limits an account’s streams over all gateways', async () => {
  const { directory } = cluster.engine.engine.accounts
  const made = await directory.add({ email: 'two@example.com', passwordHash: null, tier: 'free' })
  const { key } = await cluster.engine.engine.accounts.createKey(made.id, 'places')
  const bucket = await cluster.log.bucket('accounts')
  await new ClusterAccounts(cluster.storage.accounts, bucket).share()
  for (const { gateway } of [one, two]) {
    for (let left = 100; left > 0; left -= 1) {
      if ((await get(gateway.port, '/v1/stats', key)).status !== 401) break
      await beforeAgain()
    }
  }
  const requested = await fetch(`http://127.0.0.1:${one.gateway.port}/v1/ws/ticket`, {
    method: 'POST',
    headers: { 'x-api-key': key },
  })
  const { ticket } = (await requested.json()) as { ticket: string }
  const first = await StreamClient.open(two.gateway.port, `ticket=${ticket}`)
  await assert.rejects(StreamClient.open(one.gateway.port, `ticket=${ticket}`))
  const second = await StreamClient.open(one.gateway.port, `api_key=${key}`)
  for (const { gateway } of [one, two]) {
    await assert.rejects(StreamClient.open(gateway.port, `api_key=${key}`))
  }
  first.socket.close()
  second.socket.close()
})

test('resumes a stream at a second gateway with every trade once, and with books without a gap', async () => {
  const channel = 'trades'
  const first = await StreamClient.open(one.gateway.port, `api_key=${cluster.key}`)
  first.send({ action: 'subscribe', id: 1, channel, market_ids: ['*'] })
  const synced = await first.next(({ type }) => type === 'synced')
  const { epoch, offset: from } = synced
  await cluster.play(80)
  await caughtUp(one)
  const { publisher } = cluster.engine.engine
  await until(
    () =>
      first.messages.some(
        ({ type, offset }) => type === 'trade' && offset === publisher.offset(channel),
      ),
    'the newest trade',
  )
  const reported = first.messages.filter(({ type }) => type === 'trade')
  assert.deepEqual(
    reported.map(({ offset }) => offset),
    Array.from({ length: reported.length }, (_, index) => Number(from) + 1 + index),
  )
  first.socket.close()
  await cluster.play(80)
  await caughtUp(two)
  const second = await StreamClient.open(two.gateway.port, `api_key=${cluster.key}`)
  const since = { epoch, offset: reported.at(-1)?.offset }
  second.send({ action: 'subscribe', id: 1, channel, market_ids: ['*'], since })
  const resumed = await second.next(({ type }) => type === 'resumed')
  const missed = second.messages.filter(({ type }) => type === 'trade')
  assert.equal(missed.length, publisher.offset(channel) - Number(since.offset))
  assert.equal(resumed.offset, publisher.offset(channel))
  assert.equal(
    second.messages.some(({ type }) => type === 'gap'),
    false,
  )
  second.socket.close()
})

test('starts candle streams with the newest bar of each market, then sends the bars of the engine', async () => {
  const ports = [one.gateway.port, cluster.engine.engine.port]
  const clients = await Promise.all(
    ports.map((port) => StreamClient.open(port, `api_key=${cluster.key}`)),
  )
  const bars = ({ messages }: StreamClient) =>
    new Map(
      messages.flatMap(({ type, market_id: id, data }) =>
        type === 'candle' ? [[String(id), data] as const] : [],
      ),
    )
  for (const client of clients) {
    client.send({
      action: 'subscribe',
      id: 1,
      channel: 'candles',
      interval: '1d',
      market_ids: ['*'],
    })
    await client.next(({ type }) => type === 'synced')
  }
  const [own, validator] = clients
  assert.ok(own !== undefined && validator !== undefined)
  assert.ok(bars(validator).size > 1, 'some markets have trades')
  assert.deepEqual(bars(own), bars(validator), 'both start with the same candles')
  const before = bars(validator)
  await cluster.play(80)
  await caughtUp(one)
  const isPublished = () => {
    const [reported, existing] = [bars(own), bars(validator)]
    const updates = [...existing].filter(([id, bar]) => before.get(id) !== bar)
    return (
      updates.length > 0 &&
      JSON.stringify([...reported].sort()) === JSON.stringify([...existing].sort())
    )
  }
  await until(isPublished, 'the bars with the newest trades')
  for (const client of clients) client.socket.close()
})

test('refuses a revoked API key at every gateway, and ends the streams that were opened with the key', async () => {
  const { accounts } = cluster.engine.engine
  const account = accounts.callerOfKey(cluster.key)?.accountId
  assert.ok(account !== undefined)
  const { view, key } = await accounts.createKey(account, 'short')
  await new ClusterAccounts(cluster.storage.accounts, await cluster.log.bucket('accounts')).share()
  await until(() => one.gateway.view?.accounts.callerOfKey(key) != null, 'the key is known')
  const client = await StreamClient.open(one.gateway.port, `api_key=${key}`)
  assert.equal((await get(one.gateway.port, `/v1/prices?market_ids=${ids[0]}`, key)).status, 200)
  cluster.log.announce('revoked', revocationMessage.encode({ of: 'key', id: view.id }))
  const { code } = await client.closed
  assert.equal(code, 4010)
  assert.equal((await get(one.gateway.port, `/v1/prices?market_ids=${ids[0]}`, key)).status, 401)
})

test('requests a batch from the engine when the log lacks the batch, without ending streams', async () => {
  const client = await StreamClient.open(two.gateway.port, `api_key=${cluster.key}`)
  const book = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
  client.send(book)
  await client.next(({ type }) => type === 'synced')
  const faults = [one.gateway.faults.count, two.gateway.faults.count]
  const events = new VenueEvents(seededRandom('lost and kept'), MARKETS)
  for (let left = 40; left > 0; left -= 1) cluster.engine.emit(events.next(systemClock.nowMs()))
  await cluster.engine.flush(['books', 'trades'])
  await cluster.play(20)
  await Promise.all([caughtUp(one), caughtUp(two)])
  assert.deepEqual([one.gateway.faults.count, two.gateway.faults.count], faults)
  client.send({ action: 'ping', id: 2 })
  await client.next(({ type }) => type === 'pong')
  client.close()
})

test('rebuilds the mirror when a batch cannot be recovered, and closes streams so that clients reconnect', async () => {
  const client = await StreamClient.open(two.gateway.port, `api_key=${cluster.key}`)
  const book = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
  client.send(book)
  await client.next(({ type }) => type === 'synced')
  const before = two.gateway.faults.count
  await cluster.play(20)
  const events = new VenueEvents(seededRandom('lost too'), MARKETS)
  for (let left = 40; left > 0; left -= 1) cluster.engine.emit(events.next(systemClock.nowMs()))
  await cluster.engine.flush(['books'])
  cluster.engine.batches.clear()
  await cluster.play(20)
  const { code } = await client.closed
  assert.equal(code, 4012)
  await until(() => two.gateway.faults.count > before, 'the loss was noticed')
  await Promise.all([caughtUp(one), caughtUp(two)])
  const again = await StreamClient.open(two.gateway.port, `api_key=${cluster.key}`)
  again.send(book)
  await again.next(({ type }) => type === 'synced')
  for (const view of cluster.engine.engine.catalog.markets(null)) {
    const snapshot = again.messages.find(
      ({ type, market_id }) => type === 'snapshot' && market_id === view.ref.id,
    )
    assert.equal(snapshot?.checksum, view.book().checksum, view.ref.id)
    assert.equal(snapshot?.seq, view.book().seq)
  }
  again.socket.close()
})

test('marks data as stale while the log is down, keeps streams open, and recovers when the log returns', async () => {
  const client = await StreamClient.open(one.gateway.port, `api_key=${cluster.key}`)
  client.send({ action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'] })
  await client.next(({ type }) => type === 'synced')
  one.link.setLink('down')
  await client.next(({ type, state }) => type === 'status' && state === 'stale')
  const cut = await get(one.gateway.port, '/v1/webhooks')
  assert.equal(cut.status, 503)
  assert.match(cut.headers.get('retry-after') ?? '', /^\d+$/)
  const book = JSON.parse((await get(one.gateway.port, `/v1/markets/${ids[0]}/orderbook`)).body)
  assert.equal(book.stale, true)
  await cluster.play(40)
  one.link.setLink('up')
  await client.next(({ type, state }) => type === 'status' && state === 'live')
  await caughtUp(one)
  const { publisher } = cluster.engine.engine
  await until(
    () =>
      client.messages.some(
        ({ type, offset }) => type === 'trade' && offset === publisher.offset('trades'),
      ),
    'the newest trade',
  )
  const health = JSON.parse((await get(one.gateway.port, '/health')).body)
  assert.deepEqual(
    [health.cluster.role, health.cluster.name, health.cluster.log],
    ['gateway', 'g1', 'up'],
  )
  client.socket.close()
})
