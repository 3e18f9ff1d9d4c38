import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { VenueEvent } from '../../../../../engine/events.ts'
import { nativeMarketId, walletAddress } from '../../../../../engine/ids.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { openPolymarket } from '../../../../../engine/venues/polymarket/polymarket.ts'
import { snakeRow } from '../../../../../engine/venues/simulator/polymarket/envelope.ts'
import type { VenueWallets } from '../../../../../engine/wallet.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { PolymarketStub } from '../../../../support/fakes/polymarket-stub.ts'
import { WALLET } from '../../../../support/fakes/wallet-stub.ts'

const START_MS = 1_795_000_000_000

async function open(t: TestContext) {
  const stub = new PolymarketStub()
  const hosts = await stub.start()
  const clock = new ManualClock(START_MS)
  const events: VenueEvent[] = []
  const emit = (event: VenueEvent) => void events.push(event)
  const parts = { clock, random: seededRandom('follow'), log: silentLog, metrics: new Metrics() }
  const { feed, wallets } = openPolymarket({ ...parts, emit }, hosts)
  assert.ok(wallets !== null)
  t.after(async () => {
    await feed.stop()
    await stub.stop()
  })
  const fills = () => events.flatMap((event) => (event.kind === 'walletFill' ? [event] : []))
  return { stub, clock, feed, wallets, events, fills }
}

async function until(isMet: () => boolean, what: string): Promise<void> {
  for (let tick = 0; tick < 20_000; tick += 1) {
    if (isMet()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.fail(`never: ${what}`)
}

const frame = (type: string, more: object = {}) => ({
  topic: 'activity',
  type,
  timestamp: START_MS,
  payload: {
    proxyWallet: WALLET,
    asset: '11',
    conditionId: '0x1',
    side: 'BUY',
    size: 714.285713,
    price: 0.860000001148,
    timestamp: START_MS / 1_000,
    transactionHash: '0xFEED',
    ...more,
  },
})

test('emits each fill of a subscribed wallet once from the wallet’s own row, and no fills of other wallets', async (t) => {
  const { stub, feed, wallets, events, fills } = await open(t)
  feed.start()
  const rtds = () => stub.sockets.find(({ path }) => path === '/rtds')
  await until(() => (rtds()?.received.length ?? 0) > 0, 'subscribed')
  const send = (...messages: object[]) => {
    for (const message of messages) rtds()?.socket.send(JSON.stringify(message))
  }
  const received = (count: number) =>
    until(() => events.filter(({ kind }) => kind === 'trade').length === count, `trade ${count}`)
  const last = (number: number) =>
    frame('orders_matched', { proxyWallet: '0xlast', transactionHash: `0x${number}` })
  wallets.follow(WALLET)
  wallets.follow(WALLET)
  send(frame('orders_matched'), frame('trades', { proxyWallet: WALLET.toUpperCase() }))
  send(frame('trades', { proxyWallet: `0x${'cd'.repeat(20)}`, side: 'SELL' }), last(1))
  await received(2)
  const { fill, wallet, venueTimeMs } = fills()[0] ?? assert.fail('no fill')
  assert.equal(fills().length, 1)
  assert.equal(wallet, WALLET)
  assert.equal(venueTimeMs, START_MS)
  assert.deepEqual(fill, {
    kind: 'buy',
    timeMs: START_MS,
    txHash: '0xfeed',
    market: '0x1',
    token: '11',
    size: 714_285_713,
    price: 860_000,
    usd: 614_285_714,
    fee: 0,
    role: 'taker',
    converted: [],
  })
  // The maker of the same transaction is now followed too.
  const maker = `0x${'cd'.repeat(20)}`
  wallets.follow(walletAddress(maker) ?? assert.fail())
  send(frame('trades', { proxyWallet: maker, side: 'SELL' }), last(9))
  await received(3)
  assert.equal(fills()[1]?.fill.role, 'maker')
  wallets.unfollow(walletAddress(maker) ?? assert.fail())
  wallets.unfollow(WALLET)
  send(frame('trades', { size: 3 }), last(2))
  await received(4)
  assert.equal(fills().length, 2)
})

test('reads the back-fill of the trade stream without delay while many wallets are read', async (t) => {
  const { stub, clock, feed, wallets } = await open(t)
  const fill = { ...snakeRow(frame('trades').payload), type: 'TRADE', usdc_size: 1 }
  stub.rest = ({ path, query }) => {
    const data = path === '/v2/activity' ? [{ ...fill, proxy_wallet: query.get('user') }] : []
    return path.startsWith('/v2/') ? { data, pagination: { has_more: false } } : []
  }
  const waiting = Promise.allSettled([...askForMany(wallets, 400), ...readMany(wallets, 120)])
  const count = (path: string) =>
    stub.requests.filter((requested) => requested.path === path).length
  const positions = () => count('/v2/positions')
  await until(() => positions() >= 5 && count('/v2/activity') >= 20, 'the bursts')
  await turns(200)
  assert.deepEqual([positions(), count('/v2/activity')], [5, 20])
  for (let second = 0; second < 10; second += 1) {
    clock.advance(1_000)
    await turns(200)
  }
  assert.ok(positions() > 40 && positions() <= 55, `${positions()} in ten seconds`)
  assert.ok(count('/v2/activity') >= 140 && count('/v2/activity') <= 150)
  const tradesCount = count('/v2/trades')
  assert.ok(tradesCount > 20 && tradesCount <= 116, `${tradesCount}`)
  const range = { market: nativeMarketId('0x1'), fromMs: timeMs(START_MS), toMs: timeMs(START_MS) }
  await feed.fetchTrades({ ...range, source: 'history' })
  const all = count('/trades') + count('/v2/trades')
  assert.equal(all, tradesCount + 1, 'at once, before the clock advances')
  await feed.stop()
  const ends = await waiting
  assert.ok(ends.some(({ status }) => status === 'rejected'))
})

function askForMany(wallets: VenueWallets, count: number) {
  const signal = new AbortController().signal
  return Array.from({ length: count }, (_, number) => {
    const address = walletAddress(`0x${String(number).padStart(40, '0')}`) ?? WALLET
    return wallets.positions(address, signal)
  })
}

function readMany(wallets: VenueWallets, count: number) {
  const signal = new AbortController().signal
  return Array.from({ length: count }, (_, number) => {
    const address = walletAddress(`0x${String(number).padStart(40, '0')}`) ?? WALLET
    return wallets.history({ address, fromMs: timeMs(0) }, () => undefined, signal)
  })
}

async function turns(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await new Promise((resolve) => setImmediate(resolve))
}
