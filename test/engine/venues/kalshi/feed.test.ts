// The feed with a key and without one, against a small server of Kalshi's protocol on loopback that
// does as it is told. Time is manual.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import type { VenueEvent } from '../../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import { silentLog } from '../../../../engine/log.ts'
import { Metrics } from '../../../../engine/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { formatTime, type TimeMs, timeMs } from '../../../../engine/units.ts'
import { openKalshi } from '../../../../engine/venues/kalshi/kalshi.ts'
import { isFields } from '../../../../engine/venues/kalshi/parse.ts'
import type { Venue, WatchedMarket } from '../../../../engine/venues/venue.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** One socket of the stub: numbers its sids from `firstSid`, and each sid's messages from 1. */
class Peer {
  readonly socket: WebSocket
  readonly sids = new Map<string, number>()
  readonly commands: string[] = []
  readonly #seqs = new Map<number, number>()
  #nextSid: number

  constructor(socket: WebSocket, firstSid: number) {
    this.socket = socket
    this.#nextSid = firstSid
    socket.on('message', (data) => this.#command(data.toString()))
  }

  /** Sends a numbered message; `lost` numbers are used up without being sent. */
  send(channel: string, type: string, msg: object, lost = 0): void {
    const sid = this.sids.get(channel) ?? 0
    const seq = (this.#seqs.get(sid) ?? 0) + 1 + lost
    this.#seqs.set(sid, seq)
    this.socket.send(JSON.stringify({ type, sid, seq, msg }))
  }

  book(ticker: string): void {
    const msg = { market_ticker: ticker, yes_dollars_fp: [['0.4000', '10.00']] }
    this.send('orderbook_delta', 'orderbook_snapshot', msg)
  }

  delta(ticker: string, lost = 0): void {
    const msg = { market_ticker: ticker, price_dollars: '0.3', delta_fp: '1.00', side: 'yes' }
    this.send('orderbook_delta', 'orderbook_delta', msg, lost)
  }

  trade(id: string, atMs: number, lost = 0): void {
    const price = { yes_price_dollars: '0.4', no_price_dollars: '0.6', count_fp: '2.00' }
    const msg = { trade_id: id, market_ticker: 'A', ...price, taker_side: 'yes', ts_ms: atMs }
    this.send('trade', 'trade', msg, lost)
  }

  #command(text: string): void {
    const command: unknown = JSON.parse(text)
    assert.ok(isFields(command) && isFields(command.params))
    const { params } = command
    const tickers = Array.isArray(params.market_tickers) ? params.market_tickers.map(String) : []
    this.commands.push([String(params.action ?? command.cmd), ...tickers].join(' '))
    if (command.cmd === 'subscribe') {
      const channel = String(Array.isArray(params.channels) ? params.channels[0] : '')
      const sid = this.#nextSid
      this.#nextSid += 1
      this.sids.set(channel, sid)
      this.socket.send(
        JSON.stringify({ id: command.id, type: 'subscribed', msg: { channel, sid } }),
      )
    }
    if (command.cmd === 'subscribe' || params.action === 'get_snapshot') {
      for (const ticker of tickers) this.book(ticker)
    }
  }
}

interface Bench {
  readonly clock: ManualClock
  readonly venue: Venue
  readonly events: VenueEvent[]
  readonly peers: Peer[]
  readonly upgrades: IncomingHttpHeaders[]
  readonly requests: string[]
  /** Rows of /markets/trades. */
  trades: object[]
  isRestUp: boolean
  close: () => Promise<void>
}

const benches: Bench[] = []

async function open(isKeyed: boolean): Promise<Bench> {
  const clock = new ManualClock()
  const events: VenueEvent[] = []
  const peers: Peer[] = []
  const upgrades: IncomingHttpHeaders[] = []
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x')
    requests.push(url.pathname + url.search)
    response.statusCode = bench.isRestUp ? 200 : 404
    if (url.pathname.endsWith('/trades')) {
      response.end(JSON.stringify({ trades: bench.trades, cursor: '' }))
      return
    }
    const orderbooks = url.searchParams
      .getAll('tickers')
      .map((ticker) => ({ ticker, orderbook_fp: { yes_dollars: [['0.4', '1.00']] } }))
    response.end(JSON.stringify({ orderbooks }))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    upgrades.push(request.headers)
    peers.push(new Peer(socket, 1 + peers.length * 10))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const venue = openKalshi(
    {
      clock,
      random: seededRandom(1),
      log: silentLog,
      metrics: new Metrics(),
      emit: (event) => events.push(event),
    },
    {
      restUrl: `http://127.0.0.1:${address.port}/trade-api/v2`,
      wsUrl: `ws://127.0.0.1:${address.port}/trade-api/ws/v2`,
      keyId: isKeyed ? 'key' : null,
      privateKeyPem: isKeyed ? privateKeyPem : null,
    },
  )
  const close = async () => {
    await venue.feed.stop()
    for (const { socket } of peers) socket.terminate()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const bench: Bench = {
    ...{ clock, venue, events, peers, upgrades, requests, close },
    trades: [],
    isRestUp: true,
  }
  benches.push(bench)
  return bench
}

afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.close()
})

const watched = (ticker: string): WatchedMarket => ({
  nativeId: nativeMarketId(ticker),
  outcomes: [outcomeId(ticker), outcomeId(`${ticker}:no`)],
  status: 'open',
  openAtMs: null,
  closeAtMs: null,
})

/** Turns the event loop, moving time by `stepMs` a turn, until something is so. */
async function until(bench: Bench, isSo: () => boolean, stepMs = 10): Promise<void> {
  for (let turns = 0; turns < 5_000; turns += 1) {
    if (isSo()) return
    await nextTurn()
    bench.clock.advance(stepMs)
  }
  assert.fail(`it did not come about: ${bench.events.map((event) => event.kind).join(' ')}`)
}

const feedEvents = (bench: Bench, kind: string, stream: string) =>
  bench.events.filter(
    (event) => event.kind === kind && 'stream' in event && event.stream === stream,
  )
const count = (bench: Bench, kind: string) =>
  bench.events.filter((event) => event.kind === kind).length
const books = (bench: Bench): Peer | undefined =>
  bench.peers.findLast((peer) => peer.sids.has('orderbook_delta'))
const trades = (bench: Bench): Peer | undefined =>
  bench.peers.findLast((peer) => peer.sids.has('trade'))

async function startKeyed(tickers: readonly string[]): Promise<Bench> {
  const bench = await open(true)
  bench.venue.feed.start()
  bench.venue.feed.watch(tickers.map(watched))
  await until(
    bench,
    () =>
      count(bench, 'bookSnapshot') === tickers.length &&
      feedEvents(bench, 'feedUp', 'trades').length === 1,
  )
  return bench
}

function row(id: string, atMs: number): object {
  return {
    trade_id: id,
    ticker: 'A',
    yes_price_dollars: '0.4',
    no_price_dollars: '0.6',
    count_fp: '2.00',
    taker_side: 'yes',
    created_time: formatTime(timeMs(atMs)),
  }
}

const ids = (bench: Bench): string[] =>
  bench.events.flatMap((event) => (event.kind === 'trade' ? [event.nativeId] : []))

describe('Kalshi feed with a key', () => {
  it('[KFEED1] it signs the handshake, subscribes, and books begin with their snapshot', async () => {
    const bench = await startKeyed(['A', 'B'])
    assert.ok(bench.upgrades.every((headers) => headers['kalshi-access-signature'] !== undefined))
    const health = bench.venue.feed.health()
    assert.deepEqual([health.connectionsOpen, health.connectionsWanted], [2, 2])
    books(bench)?.delta('A')
    trades(bench)?.trade('t1', bench.clock.nowMs())
    await until(bench, () => count(bench, 'bookChange') === 1 && count(bench, 'trade') === 1)
  })

  it('[KFEED2] a hole is told for the books of its subscription, and snapshots follow in order', async () => {
    const bench = await startKeyed(['A', 'B'])
    books(bench)?.delta('A', 3)
    await until(bench, () => count(bench, 'bookSnapshot') === 4)
    const [gap] = feedEvents(bench, 'feedGap', 'books')
    assert.ok(gap?.kind === 'feedGap')
    assert.deepEqual([...gap.outcomes].sort(), ['A', 'B'])
    assert.ok(gap.sinceMs !== null)
    const kinds = bench.events.map((event) => event.kind)
    assert.ok(kinds.indexOf('feedGap') < kinds.indexOf('bookChange'), 'stale before it changes')
    assert.equal(feedEvents(bench, 'feedGap', 'books').length, 1)
  })

  it('[KFEED3] after a loss everything is subscribed anew, under whatever sids', async () => {
    const bench = await startKeyed(['A', 'B'])
    books(bench)?.socket.terminate()
    await until(bench, () => count(bench, 'bookSnapshot') === 4)
    const [down] = feedEvents(bench, 'feedDown', 'books')
    const up = feedEvents(bench, 'feedUp', 'books')[1]
    assert.ok(down?.kind === 'feedDown' && up?.kind === 'feedUp')
    assert.deepEqual([down.outcomes, up.sinceMs], [['A', 'B'], down.sinceMs])
    books(bench)?.delta('B')
    await until(bench, () => count(bench, 'bookChange') === 1)
    assert.equal(feedEvents(bench, 'feedGap', 'books').length, 0)
  })

  it('[KFEED4] lost trades are told from when on, and are fetched with the same ids', async () => {
    const bench = await startKeyed(['A'])
    const startMs = bench.clock.nowMs()
    trades(bench)?.trade('t1', startMs)
    await until(bench, () => count(bench, 'trade') === 1)
    trades(bench)?.trade('t4', bench.clock.nowMs(), 2)
    await until(bench, () => count(bench, 'trade') === 2)
    const [gap] = feedEvents(bench, 'feedGap', 'trades')
    assert.ok(gap?.kind === 'feedGap' && gap.sinceMs !== null && gap.sinceMs <= startMs)
    bench.trades = ['t4', 't3', 't2', 't1'].map((id, index) => row(id, startMs + 300 - index * 100))
    const range = { market: null, fromMs: gap.sinceMs, toMs: timeMs(startMs + 1_000) }
    let completeFromMs: TimeMs | null = null
    void bench.venue.feed.fetchTrades({ ...range, source: 'backfill' }).then((answer) => {
      completeFromMs = answer.completeFromMs
    })
    await until(bench, () => completeFromMs !== null)
    assert.equal(completeFromMs, gap.sinceMs)
    assert.deepEqual(ids(bench), ['t1', 't4', 't1', 't2', 't3', 't4'])
  })

  it('[KFEED5] a reconnect of the trades is up only when subscribed, with the time of the loss', async () => {
    const bench = await startKeyed(['A'])
    trades(bench)?.socket.terminate()
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 2)
    const [down] = feedEvents(bench, 'feedDown', 'trades')
    const up = feedEvents(bench, 'feedUp', 'trades')[1]
    assert.ok(down?.kind === 'feedDown' && up?.kind === 'feedUp' && down.sinceMs !== null)
    assert.equal(up.sinceMs, down.sinceMs)
  })

  it('[KFEED6] silence while REST shows newer trades is a broken stream; without them it is quiet', async () => {
    const bench = await startKeyed(['A'])
    const startMs = bench.clock.nowMs()
    trades(bench)?.trade('t1', startMs)
    await until(bench, () => count(bench, 'trade') === 1)
    bench.trades = [row('t1', startMs)]
    const keepAlive = () => {
      for (const peer of bench.peers) peer.socket.ping('heartbeat')
    }
    for (let seconds = 0; seconds < 45; seconds += 1) {
      keepAlive()
      for (let turns = 0; turns < 20; turns += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    assert.equal(feedEvents(bench, 'feedDown', 'trades').length, 0)
    bench.trades = [row('t2', startMs + 10_000), row('t1', startMs)]
    for (let seconds = 0; seconds < 30 && count(bench, 'feedDown') === 0; seconds += 1) {
      keepAlive()
      for (let turns = 0; turns < 20; turns += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    const [down] = feedEvents(bench, 'feedDown', 'trades')
    assert.ok(down?.kind === 'feedDown' && down.sinceMs !== null)
    assert.ok(down.sinceMs <= startMs + 1_000, 'from the last trade on, not from the last ping')
  })

  it('[KFEED7] resync asks for snapshots; unwatched books are heard no more', async () => {
    const bench = await startKeyed(['A', 'B'])
    bench.venue.feed.resync([outcomeId('A'), outcomeId('elsewhere')])
    await until(bench, () => count(bench, 'bookSnapshot') === 3)
    assert.ok(books(bench)?.commands.includes('get_snapshot A'))
    bench.venue.feed.unwatch([nativeMarketId('A')])
    await until(bench, () => books(bench)?.commands.includes('delete_markets A') === true)
    books(bench)?.delta('A')
    books(bench)?.delta('B')
    await until(bench, () => count(bench, 'bookChange') === 1)
  })

  it('[KFEED8] a market that was created is seen a little later, when REST knows it', async () => {
    const bench = await startKeyed(['A'])
    const startMs = bench.clock.nowMs()
    const msg = { event_type: 'created', market_ticker: 'NEW' }
    trades(bench)?.send('market_lifecycle_v2', 'market_lifecycle_v2', msg)
    trades(bench)?.send('market_lifecycle_v2', 'market_lifecycle_v2', msg)
    await until(bench, () => count(bench, 'marketSeen') === 1)
    assert.ok(bench.clock.nowMs() - startMs >= 2_000)
  })

  it('[KFEED9] after stop nothing is emitted and no timer is left', async () => {
    const bench = await startKeyed(['A'])
    const before = bench.events.length
    books(bench)?.delta('A')
    await bench.venue.feed.stop()
    for (let turns = 0; turns < 100; turns += 1) await nextTurn()
    bench.clock.advance(60_000)
    assert.deepEqual([bench.events.length, bench.clock.timerCount], [before, 0])
  })
})

describe('Kalshi feed without a key', () => {
  it('[KPOLL1] books are polled and in order, a hundred a request, each market in its round', async () => {
    const bench = await open(false)
    const tickers = Array.from({ length: 250 }, (_, index) => `M${index}`)
    bench.venue.feed.watch(tickers.map(watched))
    bench.venue.feed.start()
    await until(bench, () => count(bench, 'bookSnapshot') >= 250)
    const seen = new Set<string>()
    for (const event of bench.events) {
      if (event.kind !== 'bookSnapshot') continue
      assert.ok(event.isInOrder)
      seen.add(event.outcome)
    }
    assert.equal(seen.size, 250)
    assert.equal(bench.peers.length, 0, 'no socket without a key')
    assert.equal(feedEvents(bench, 'feedUp', 'books').length, 1)
  })

  it('[KPOLL2] trades are told once each, oldest first, however often a page repeats them', async () => {
    const bench = await open(false)
    const startMs = bench.clock.nowMs()
    bench.trades = [row('b', startMs + 20), row('a', startMs + 10)]
    bench.venue.feed.start()
    await until(bench, () => count(bench, 'trade') === 2)
    bench.trades = [row('c', startMs + 500), ...bench.trades]
    await until(bench, () => count(bench, 'trade') === 3)
    await until(bench, () => bench.requests.length > 6)
    assert.deepEqual(ids(bench), ['a', 'b', 'c'])
  })

  it('[KPOLL3] three failures in a row are a lost feed, and the trades of that time come back', async () => {
    const bench = await open(false)
    bench.venue.feed.start()
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 1)
    bench.isRestUp = false
    await until(bench, () => feedEvents(bench, 'feedDown', 'trades').length === 1)
    for (let turns = 0; turns < 100; turns += 1) {
      await nextTurn()
      bench.clock.advance(200)
    }
    bench.trades = [row('late', bench.clock.nowMs() - 9_000)]
    bench.isRestUp = true
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 2)
    const [down] = feedEvents(bench, 'feedDown', 'trades')
    const up = feedEvents(bench, 'feedUp', 'trades')[1]
    assert.ok(down?.kind === 'feedDown' && up?.kind === 'feedUp')
    assert.equal(up.sinceMs, down.sinceMs)
    const late = bench.events.find((event) => event.kind === 'trade')
    assert.ok(late?.kind === 'trade')
    assert.equal(late.source, 'backfill')
  })

  it('[KPOLL4] stop ends the polling', async () => {
    const bench = await open(false)
    bench.venue.feed.watch([watched('A')])
    bench.venue.feed.start()
    await until(bench, () => count(bench, 'bookSnapshot') > 0)
    await bench.venue.feed.stop()
    const before = bench.requests.length
    for (let turns = 0; turns < 50; turns += 1) {
      await nextTurn()
      bench.clock.advance(500)
    }
    assert.deepEqual([bench.requests.length, bench.clock.timerCount], [before, 0])
  })
})
