import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../../../engine/units.ts'
import {
  type Bench,
  books,
  closeAll,
  count,
  feedEvents,
  ids,
  open,
  row,
  trades,
  until,
  watched,
} from '../../../support/fakes/kalshi-peer.ts'
import { watchBooks } from '../../../support/fakes/watch-books.ts'

async function startKeyed(tickers: readonly string[]): Promise<Bench> {
  const bench = await open(true)
  bench.venue.feed.start()
  watchBooks(bench.venue.feed, tickers.map(watched))
  await until(
    bench,
    () =>
      count(bench, 'bookSnapshot') === tickers.length &&
      feedEvents(bench, 'feedUp', 'trades').length === 1,
  )
  return bench
}

describe('Kalshi feed with a key', () => {
  afterEach(closeAll)

  it('signs the handshake, subscribes to books, and starts each book with its snapshot', async () => {
    const bench = await startKeyed(['A', 'B'])
    assert.ok(bench.upgrades.every((headers) => headers['kalshi-access-signature'] !== undefined))
    const health = bench.venue.feed.health()
    assert.deepEqual([health.connectionsOpen, health.connectionsWanted], [2, 2])
    books(bench)?.delta('A')
    trades(bench)?.trade('t1', bench.clock.nowMs())
    await until(bench, () => count(bench, 'bookChange') === 1 && count(bench, 'trade') === 1)
  })

  it('reports a gap for all books of a subscription after a lost message, then emits new snapshots in order', async () => {
    const bench = await startKeyed(['A', 'B'])
    books(bench)?.delta('A', 3)
    await until(bench, () => count(bench, 'bookSnapshot') === 4)
    const [gap] = feedEvents(bench, 'feedGap', 'books')
    assert.ok(gap?.kind === 'feedGap')
    assert.deepEqual([...gap.outcomes].sort(), ['A', 'B'])
    assert.ok(gap.sinceMs !== null)
    const kinds = bench.events.map((event) => event.kind)
    assert.ok(
      kinds.indexOf('feedGap') < kinds.indexOf('bookChange'),
      'the gap is reported before the change',
    )
    assert.equal(feedEvents(bench, 'feedGap', 'books').length, 1)
  })

  it('pauses trades without losing them, and reconnects to drop queued book messages', async () => {
    const bench = await startKeyed(['A'])
    const { feed } = bench.venue
    feed.read('books')
    trades(bench)?.trade('t1', bench.clock.nowMs())
    books(bench)?.delta('A')
    await until(bench, () => count(bench, 'bookChange') === 1)
    assert.equal(count(bench, 'trade'), 0)
    feed.read('nothing')
    books(bench)?.delta('A')
    for (let tick = 0; tick < 200; tick += 1) await nextTurn()
    assert.deepEqual([count(bench, 'trade'), count(bench, 'bookChange')], [0, 1])
    feed.read('all')
    await until(bench, () => count(bench, 'trade') === 1 && count(bench, 'bookChange') === 2)
    feed.reconnect('test')
    await until(bench, () => feedEvents(bench, 'feedUp', 'books').length === 2)
    assert.equal(feedEvents(bench, 'feedDown', 'trades').length, 0)
  })

  it('subscribes to all markets after a lost connection, whatever subscription ids the server assigns', async () => {
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

  it('reports the time range of lost trades and requests the lost trades with unchanged ids', async () => {
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

  it('emits the trades of a long range in batches in separate event-loop ticks', async () => {
    const bench = await startKeyed(['A'])
    const startMs = bench.clock.nowMs()
    bench.trades = Array.from({ length: 50 }, (_, index) => row(`t${50 - index}`, startMs - index))
    let ofTurn = 0
    let most = 0
    bench.onEvent = () => {
      ofTurn += 1
      most = Math.max(most, ofTurn)
      bench.clock.advance(0.5)
    }
    const range = { market: null, fromMs: timeMs(startMs - 100), toMs: timeMs(startMs) }
    let isRead = false
    void bench.venue.feed.fetchTrades({ ...range, source: 'backfill' }).then(() => {
      isRead = true
    })
    await until(bench, () => {
      ofTurn = 0
      return isRead
    })
    assert.equal(count(bench, 'trade'), 50)
    assert.equal(most, 2, 'a batch has the trades of one millisecond')
  })

  it('reports the trade stream as up after a reconnect when its subscription is confirmed, not earlier', async () => {
    const bench = await startKeyed(['A'])
    trades(bench)?.socket.terminate()
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 2)
    const [down] = feedEvents(bench, 'feedDown', 'trades')
    const up = feedEvents(bench, 'feedUp', 'trades')[1]
    assert.ok(down?.kind === 'feedDown' && up?.kind === 'feedUp' && down.sinceMs !== null)
    assert.equal(up.sinceMs, down.sinceMs)
  })

  it('accepts a trade as proof of an unconfirmed subscription, and records that the confirmation is missing', async () => {
    const bench = await open(true)
    bench.acknowledges = false
    bench.venue.feed.start()
    await until(bench, () => trades(bench) !== undefined)
    trades(bench)?.trade('t1', bench.clock.nowMs())
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 1)
    assert.deepEqual(ids(bench), ['t1'])
    const named = () => bench.venue.drift.entries().map(({ kind, name }) => `${kind} ${name}`)
    await until(bench, () => named().length > 0)
    assert.deepEqual(named(), ['ws.unacknowledged trade'])
    bench.clock.advance(1_000)
    assert.deepEqual([bench.peers.length, feedEvents(bench, 'feedDown', 'trades').length], [1, 0])
  })

  it('treats a silent trade stream as broken if REST returns newer trades, and otherwise as live', async () => {
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
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    assert.equal(feedEvents(bench, 'feedDown', 'trades').length, 0)
    bench.trades = [row('t2', startMs + 10_000), row('t1', startMs)]
    for (let seconds = 0; seconds < 30 && count(bench, 'feedDown') === 0; seconds += 1) {
      keepAlive()
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    const [down] = feedEvents(bench, 'feedDown', 'trades')
    assert.ok(down?.kind === 'feedDown' && down.sinceMs !== null)
    assert.ok(
      down.sinceMs <= startMs + 1_000,
      'the gap starts at the last trade, not at the last ping',
    )
  })

  it('requests a snapshot during silence, detects that the last message was lost, then requests all books', async () => {
    const bench = await startKeyed(['A', 'B'])
    books(bench)?.lose('orderbook_delta')
    for (let seconds = 0; seconds < 40 && count(bench, 'feedGap') === 0; seconds += 1) {
      for (const peer of bench.peers) peer.socket.ping('heartbeat')
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    const [gap] = feedEvents(bench, 'feedGap', 'books')
    assert.ok(gap?.kind === 'feedGap')
    assert.deepEqual([...gap.outcomes].sort(), ['A', 'B'])
    const requestsMade = () =>
      books(bench)?.commands.filter((one) => one.startsWith('get_snapshot')) ?? []
    assert.equal(requestsMade().length, 1, 'one request per subscription')
    await until(bench, () => requestsMade().length === 2 && count(bench, 'bookSnapshot') === 4)
    assert.equal(requestsMade()[1]?.split(' ').length, 2)
    assert.equal(feedEvents(bench, 'feedDown', 'books').length, 0)
  })

  it('reports all books of a socket as down when the socket is silent and a requested snapshot does not arrive', async () => {
    const bench = await startKeyed(['A', 'B'])
    const dataAtMs = bench.venue.feed.health().lastDataAtMs
    const frozen = books(bench)
    if (frozen !== undefined) frozen.isFrozen = true
    const downs = () => feedEvents(bench, 'feedDown', 'books')
    for (let seconds = 0; seconds < 60 && downs().length === 0; seconds += 1) {
      for (const peer of bench.peers) peer.socket.ping('heartbeat')
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    const [down] = downs()
    assert.ok(down?.kind === 'feedDown')
    assert.deepEqual([...down.outcomes].sort(), ['A', 'B'])
    assert.match(down.reason, /^silent/)
    assert.ok(down.sinceMs !== null && dataAtMs !== null && down.sinceMs <= dataAtMs)
    const { connectionsOpen, connectionsWanted } = bench.venue.feed.health()
    assert.ok(connectionsOpen < connectionsWanted)
    await until(bench, () => feedEvents(bench, 'feedUp', 'books').length === 2)
  })

  it('does not replace a socket that answers snapshot requests while no messages except block trades arrive', async () => {
    const bench = await startKeyed(['A', 'B'])
    const refuse = () => {
      const peer = books(bench)
      if (peer === undefined) return
      peer.isFrozen = true
      peer.socket.on('message', () =>
        peer.socket.send(JSON.stringify({ id: 0, type: 'error', msg: { code: 11, msg: 'no' } })),
      )
    }
    const prices = { yes_price_dollars: '0.4', no_price_dollars: '0.6', count_fp: '2.00' }
    for (let seconds = 0; seconds < 90; seconds += 1) {
      if (seconds === 45) refuse()
      const msg = { trade_id: `b${seconds}`, market_ticker: 'A', taker_side: 'yes', ...prices }
      const atMs = { is_block_trade: true, ts_ms: bench.clock.nowMs() }
      trades(bench)?.send('trade', 'trade', { ...msg, ...atMs })
      for (const peer of bench.peers) peer.socket.ping('heartbeat')
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    const requestsMade =
      books(bench)?.commands.filter((one) => one.startsWith('get_snapshot')) ?? []
    assert.ok(requestsMade.length > 4)
    assert.equal(feedEvents(bench, 'feedDown', 'books').length, 0)
  })

  it('requests snapshots when a resync is requested, and ignores books that are not watched', async () => {
    const bench = await startKeyed(['A', 'B'])
    bench.venue.feed.resync([outcomeId('A'), outcomeId('unwatched')])
    await until(bench, () => count(bench, 'bookSnapshot') === 3)
    assert.ok(books(bench)?.commands.includes('get_snapshot A'))
    bench.venue.feed.unwatch([nativeMarketId('A')])
    await until(bench, () => books(bench)?.commands.includes('delete_markets A') === true)
    books(bench)?.delta('A')
    books(bench)?.delta('B')
    await until(bench, () => count(bench, 'bookChange') === 1)
  })

  it('subscribes to the books of covered markets, and reads figures of all watched markets', async () => {
    const bench = await open(true)
    const { feed } = bench.venue
    feed.start()
    feed.watch(['A', 'B'].map(watched))
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 1)
    assert.equal(feed.health().connectionsWanted, 1, 'no connection for books')
    feed.cover([nativeMarketId('B'), nativeMarketId('unwatched')])
    await until(bench, () => count(bench, 'bookSnapshot') === 1)
    assert.deepEqual(books(bench)?.commands, ['subscribe B'])
    trades(bench)?.trade('t1', bench.clock.nowMs())
    await until(bench, () => count(bench, 'figures') === 1)
    feed.uncover([nativeMarketId('B')])
    await until(bench, () => books(bench)?.commands.includes('unsubscribe') === true)
    books(bench)?.delta('B')
    for (let turns = 0; turns < 20; turns += 1) await nextTurn()
    feed.cover([nativeMarketId('B')])
    await until(bench, () => count(bench, 'bookSnapshot') === 2)
    assert.equal(count(bench, 'bookChange'), 0)
  })

  it('compares books with REST within the request budget, and all remaining books with snapshots on the stream', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `M${index}`)
    const bench = await startKeyed(names)
    bench.events.length = 0
    bench.venue.feed.readBooks(names.map(outcomeId))
    await until(bench, () => count(bench, 'bookSnapshot') === 40)
    const isComparison = bench.events.flatMap((event) =>
      event.kind === 'bookSnapshot' ? [event.isInOrder] : [],
    )
    assert.ok(isComparison.every((isInOrder) => !isInOrder))
    const read = bench.requests.flatMap((path) =>
      path.includes('/orderbooks') ? new URLSearchParams(path.split('?')[1]).getAll('tickers') : [],
    )
    assert.equal(read.length, 12, 'half of the burst of 240 tokens')
    bench.venue.feed.resync([outcomeId('M0')])
    await until(bench, () => count(bench, 'bookSnapshot') === 41)
    const last = bench.events.findLast((event) => event.kind === 'bookSnapshot')
    assert.ok(last?.kind === 'bookSnapshot' && last.isInOrder)
  })

  it('uses the limits and request costs that the venue reports for the account', async () => {
    const bench = await open(true)
    bench.account.limits = {
      usage_tier: 'premier',
      read: { refill_rate: 1_200, bucket_capacity: 1_200 },
    }
    bench.account.endpoint_costs = {
      default_cost: 10,
      endpoint_costs: [{ method: 'GET', path: '/trade-api/v2/markets/orderbooks', cost: 5 }],
    }
    const names = Array.from({ length: 90 }, (_, index) => `M${index}`)
    bench.venue.feed.start()
    watchBooks(bench.venue.feed, names.map(watched))
    await until(bench, () => count(bench, 'bookSnapshot') === 90)
    const sizes = () =>
      bench.requests
        .filter((path) => path.includes('/orderbooks'))
        .map((path) => new URLSearchParams(path.split('?')[1]).getAll('tickers').length)
    let readAtMs = 0
    await until(bench, () => {
      const nowMs = bench.clock.nowMs()
      if (nowMs - readAtMs < 1_000) return false
      readAtMs = nowMs
      bench.venue.feed.readBooks(names.map(outcomeId))
      return sizes().includes(60)
    })
    assert.equal(Math.max(...sizes()), 60, 'half of the burst of 600 tokens')
  })

  it('opens connections one after another, and starts with the connections of the first markets', async () => {
    const bench = await open(true)
    const names = Array.from({ length: 15_001 }, (_, index) => `M${index}`)
    watchBooks(bench.venue.feed, names.map(watched))
    const beganAtMs = bench.clock.nowMs()
    bench.venue.feed.start()
    // The connections for trades and tickers are not queued.
    await until(bench, () => bench.peers.length === 6)
    assert.ok(bench.clock.nowMs() - beganAtMs >= 750)
    const bookPeers = () => bench.peers.filter((peer) => peer.sids.has('orderbook_delta'))
    await until(bench, () => bookPeers().length === 4)
    assert.match(bookPeers()[0]?.commands[0] ?? '', /^subscribe M0 M1 /)
    assert.match(bookPeers()[3]?.commands[0] ?? '', /^subscribe M15000$/)
  })

  it('closes connections without markets, and leaves the last connection open', async () => {
    const bench = await open(true)
    const { feed } = bench.venue
    const names = Array.from({ length: 5_001 }, (_, index) => `M${index}`)
    feed.start()
    watchBooks(feed, names.map(watched))
    await until(bench, () => count(bench, 'bookSnapshot') === 5_001)
    const bookPeers = () => bench.peers.filter((peer) => peer.sids.has('orderbook_delta'))
    assert.equal(bookPeers().length, 2)
    feed.uncover(names.slice(0, 5_000).map(nativeMarketId))
    await until(bench, () => bookPeers().some(({ socket }) => socket.readyState === 3))
    feed.uncover([nativeMarketId('M5000')])
    await until(bench, () => bookPeers()[1]?.commands.includes('unsubscribe') === true)
    assert.equal(feed.health().connectionsWanted, 1)
    assert.equal(feedEvents(bench, 'feedDown', 'books').length, 0)
    feed.cover([nativeMarketId('M0')])
    await until(bench, () => count(bench, 'bookSnapshot') === 5_002)
    assert.equal(bookPeers().length, 2)
  })

  it('adds a newly created market when REST lists the market', async () => {
    const bench = await startKeyed(['A'])
    const startMs = bench.clock.nowMs()
    const msg = { event_type: 'created', market_ticker: 'NEW' }
    trades(bench)?.send('market_lifecycle_v2', 'market_lifecycle_v2', msg)
    trades(bench)?.send('market_lifecycle_v2', 'market_lifecycle_v2', msg)
    await until(bench, () => count(bench, 'marketSeen') === 1)
    assert.ok(bench.clock.nowMs() - startMs >= 2_000)
  })

  it('requests the markets of an event whose fees changed, and no other markets', async () => {
    const bench = await startKeyed(['E-1', 'E-2', 'EE-1'])
    const msg = { event_ticker: 'E', fee_type_override: null, fee_multiplier_override: 0.5 }
    trades(bench)?.send('market_lifecycle_v2', 'event_fee_update', msg)
    await until(bench, () => count(bench, 'marketSeen') === 2)
    bench.clock.advance(10_000)
    const seen = bench.events.flatMap((event) =>
      event.kind === 'marketSeen' ? [event.market] : [],
    )
    assert.deepEqual(seen.sort(), ['E-1', 'E-2'])
  })

  it('emits no event and leaves no timer after stop', async () => {
    const bench = await startKeyed(['A'])
    const before = bench.events.length
    books(bench)?.delta('A')
    await bench.venue.feed.stop()
    for (let ticks = 0; ticks < 100; ticks += 1) await nextTurn()
    bench.clock.advance(60_000)
    assert.deepEqual([bench.events.length, bench.clock.timerCount], [before, 0])
  })
})
