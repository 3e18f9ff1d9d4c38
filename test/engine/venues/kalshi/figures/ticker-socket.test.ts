import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import {
  type Bench,
  closeAll,
  count,
  open,
  tickers,
  trades,
  until,
  watched,
} from '../../../../support/fakes/kalshi-peer.ts'
import { watchBooks } from '../../../../support/fakes/watch-books.ts'

async function startWatching(): Promise<Bench> {
  const bench = await open(true)
  bench.venue.feed.start()
  watchBooks(bench.venue.feed, [watched('A')])
  const areUp = () => tickers(bench) !== undefined && trades(bench) !== undefined
  await until(bench, () => areUp() && count(bench, 'bookSnapshot') === 1)
  return bench
}

const figures = (bench: Bench) =>
  bench.events.flatMap((event) => (event.kind === 'figures' ? [event] : []))

describe('Kalshi tickers', () => {
  afterEach(closeAll)

  it('subscribes to the tickers of all markets on a separate connection', async () => {
    const bench = await startWatching()
    assert.notEqual(tickers(bench), trades(bench))
    assert.deepEqual(tickers(bench)?.commands, ['subscribe'])
    const { connectionsOpen, connectionsWanted } = bench.venue.feed.health()
    assert.deepEqual(
      [connectionsOpen, connectionsWanted],
      [2, 2],
      'the health ignores the ticker connection',
    )
  })

  it('emits changed figures of watched markets, from the latest of several ticker messages', async () => {
    const bench = await startWatching()
    const ticker = (market: string, volume: string) =>
      tickers(bench)?.ticker(market, bench.clock.nowMs(), { volume_fp: volume })
    ticker('OTHER', '5.00')
    ticker('A', '10.00')
    ticker('A', '12.00')
    await until(bench, () => figures(bench).length === 1)
    ticker('A', '12.00')
    ticker('A', '13.00')
    await until(bench, () => figures(bench).length === 2)
    const volumes = figures(bench).map(({ outcome, volumeTotal }) => [outcome, volumeTotal])
    assert.deepEqual(volumes, [
      ['A', 12_000_000],
      ['A', 13_000_000],
    ])
  })

  it('emits unchanged figures once a minute to update their time', async () => {
    const bench = await startWatching()
    const ticker = () => tickers(bench)?.ticker('A', bench.clock.nowMs())
    ticker()
    await until(bench, () => figures(bench).length === 1)
    for (let second = 0; second < 65; second += 1) {
      ticker()
      for (const peer of bench.peers) peer.socket.ping()
      for (let ticks = 0; ticks < 20; ticks += 1) await nextTurn()
      bench.clock.advance(1_000)
    }
    await until(bench, () => figures(bench).length === 2)
    const [first, second] = figures(bench)
    assert.ok((second?.tradesToMs ?? 0) >= (first?.tradesToMs ?? 0) + 59_000)
  })

  it('records an unconfirmed ticker subscription, and accepts ticker messages of the subscription', async () => {
    const bench = await open(true)
    bench.acknowledges = false
    bench.venue.feed.start()
    watchBooks(bench.venue.feed, [watched('A')])
    const named = () => bench.venue.drift.entries().map(({ kind, name }) => `${kind} ${name}`)
    await until(bench, () => named().includes('ws.unacknowledged ticker'))
    tickers(bench)?.ticker('A', bench.clock.nowMs())
    await until(bench, () => figures(bench).length === 1)
  })

  it('reconnects when markets trade and no ticker message arrives', async () => {
    const bench = await startWatching()
    const first = tickers(bench)
    for (let second = 0; second < 60 && tickers(bench) === first; second += 1) {
      trades(bench)?.trade(`t${second}`, bench.clock.nowMs())
      await until(bench, () => count(bench, 'trade') === second + 1)
      for (const peer of bench.peers) peer.socket.ping()
      bench.clock.advance(1_000)
    }
    await until(bench, () => tickers(bench) !== first)
    const named = bench.venue.drift.entries().map(({ kind, name }) => `${kind} ${name}`)
    assert.ok(named.includes('ws.silent ticker'))
  })

  it('emits no figures for a market that is no longer watched', async () => {
    const bench = await startWatching()
    bench.venue.feed.unwatch([nativeMarketId('A')])
    watchBooks(bench.venue.feed, [watched('B')])
    tickers(bench)?.ticker('A', bench.clock.nowMs())
    tickers(bench)?.ticker('B', bench.clock.nowMs())
    await until(bench, () => figures(bench).length === 1)
    assert.equal(figures(bench)[0]?.outcome, 'B')
  })
})
