import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import {
  type Bench,
  closeAll,
  count,
  open,
  row,
  until,
  watched,
} from '../../../../support/fakes/kalshi-peer.ts'
import { watchBooks } from '../../../../support/fakes/watch-books.ts'

const figures = (bench: Bench) =>
  bench.events.flatMap((event) => (event.kind === 'figures' ? [event] : []))
const requested = (bench: Bench) =>
  bench.requests.filter((path) => path.includes('/markets?tickers='))

describe('Kalshi figures over REST', () => {
  afterEach(closeAll)

  it('reads figures of traded markets, most traded first, and repeats a market after new trades', async () => {
    const bench = await open(false)
    watchBooks(bench.venue.feed, ['A', 'B', 'C'].map(watched))
    const at = bench.clock.nowMs()
    bench.trades = ['1', '2', '3'].map((id) => ({ ...row(id, at), ticker: id === '1' ? 'A' : 'B' }))
    bench.venue.feed.start()
    await until(bench, () => figures(bench).length === 2)
    assert.deepEqual(
      requested(bench).map((path) => path.split('?')[1]),
      ['tickers=B%2CA&limit=100'],
    )
    const { lastPrice, previousPrice, volumeTotal, volume24h, openInterest, ...event } =
      figures(bench)[0] ?? assert.fail()
    assert.deepEqual([volumeTotal, volume24h, openInterest], [90_000_000, 8_000_000, 7_000_000])
    assert.deepEqual([lastPrice, previousPrice], [410_000, 390_000])
    assert.ok(event.tradesToMs >= event.venueTimeMs)
    const before = bench.requests.length
    await until(bench, () => bench.requests.length > before + 60)
    assert.equal(requested(bench).length, 1)
    bench.trades = [{ ...row('4', bench.clock.nowMs()), ticker: 'A' }, ...bench.trades]
    await until(bench, () => requested(bench).length === 2, 100)
    assert.ok(requested(bench)[1]?.includes('tickers=A&'))
  })

  it('repeats the request for figures when the venue does not respond', async () => {
    const bench = await open(false)
    watchBooks(bench.venue.feed, [watched('A')])
    bench.marketRows = () => []
    bench.trades = [row('1', bench.clock.nowMs())]
    bench.venue.feed.start()
    await until(bench, () => requested(bench).length === 1)
    bench.marketRows = null
    await until(bench, () => figures(bench).length === 1, 100)
    assert.equal(count(bench, 'trade'), 1)
  })

  it('reads figures over REST less often when an API key is configured', async () => {
    const bench = await open(true)
    bench.venue.feed.start()
    watchBooks(bench.venue.feed, [watched('A')])
    await until(bench, () => count(bench, 'bookSnapshot') === 1)
    const trades = () => bench.peers.findLast((peer) => peer.sids.has('trade'))
    trades()?.trade('1', bench.clock.nowMs())
    await until(bench, () => figures(bench).length === 1)
    trades()?.trade('2', bench.clock.nowMs())
    await until(bench, () => count(bench, 'trade') === 2)
    for (let seconds = 0; seconds < 60; seconds += 2) {
      for (const peer of bench.peers) peer.socket.ping()
      const wanted = bench.clock.nowMs() + 2_000
      await until(bench, () => bench.clock.nowMs() >= wanted, 250)
    }
    assert.equal(requested(bench).length, 1)
  })
})
