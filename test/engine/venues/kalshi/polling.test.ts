import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import {
  type Bench,
  closeAll,
  count,
  feedEvents,
  ids,
  open,
  row,
  until,
  watched,
} from '../../../support/fakes/kalshi-peer.ts'
import { watchBooks } from '../../../support/fakes/watch-books.ts'

function pollsOfBook(bench: Bench, ticker: string): readonly string[] {
  return bench.requests.filter((path) => {
    const [endpoint = '', query] = path.split('?')
    const tickers = new URLSearchParams(query).getAll('tickers')
    return endpoint.endsWith('/orderbooks') && tickers.includes(ticker)
  })
}

describe('Kalshi feed without a key', () => {
  afterEach(closeAll)

  it('polls all books in rotation, five a second', async () => {
    const bench = await open(false)
    const tickers = Array.from({ length: 150 }, (_, index) => `M${index}`)
    const startMs = bench.clock.nowMs()
    watchBooks(bench.venue.feed, tickers.map(watched))
    bench.venue.feed.start()
    await until(bench, () => count(bench, 'bookSnapshot') >= 150)
    const seconds = (bench.clock.nowMs() - startMs) / 1_000
    assert.ok(count(bench, 'bookSnapshot') <= 15 + 5 * seconds, 'each book costs ten tokens')
    const seen = new Set<string>()
    for (const event of bench.events) {
      if (event.kind !== 'bookSnapshot') continue
      assert.ok(event.isInOrder)
      seen.add(event.outcome)
    }
    assert.equal(seen.size, 150)
    assert.equal(bench.peers.length, 0, 'no socket without a key')
    assert.equal(feedEvents(bench, 'feedUp', 'books').length, 1)
  })

  it('polls the books of covered markets, and emits the trades of all markets', async () => {
    const bench = await open(false)
    const { feed } = bench.venue
    feed.watch(['A', 'B', 'C'].map(watched))
    feed.start()
    bench.trades = [row('t1', bench.clock.nowMs())]
    await until(bench, () => count(bench, 'trade') === 1)
    assert.equal(feed.health().connectionsWanted, 1, 'no book is polled')
    const polled = () =>
      new Set(bench.events.flatMap((event) => (event.kind === 'bookSnapshot' ? event.outcome : [])))
    feed.cover(['B', 'C', 'unwatched'].map(nativeMarketId))
    await until(bench, () => count(bench, 'bookSnapshot') >= 4)
    assert.deepEqual([...polled()].toSorted(), ['B', 'C'])
    feed.uncover([nativeMarketId('B')])
    feed.resync([outcomeId('B')])
    bench.events.length = 0
    await until(bench, () => count(bench, 'bookSnapshot') >= 4)
    assert.deepEqual([...polled()], ['C'])
  })

  it('polls books of a short list before all other books, and books of traded markets more often', async () => {
    const bench = await open(false)
    const { feed } = bench.venue
    watchBooks(
      feed,
      Array.from({ length: 150 }, (_, index) => watched(`M${index}`)),
    )
    feed.start()
    await until(bench, () => count(bench, 'bookSnapshot') >= 20)
    feed.watch(['A', 'B'].map(watched))
    feed.cover(['A', 'B'].map(nativeMarketId))
    const pollsOf = (ticker: string) => pollsOfBook(bench, ticker)
    const before = count(bench, 'bookSnapshot')
    await until(bench, () => pollsOf('A').length === 1 && pollsOf('B').length === 1)
    assert.ok(count(bench, 'bookSnapshot') <= before + 10)
    bench.trades = [row('t1', bench.clock.nowMs())]
    await until(bench, () => pollsOf('A').length === 4)
    assert.equal(pollsOf('B').length, 1)
  })

  it('polls the book of a covered market once when the market is not open', async () => {
    const bench = await open(false)
    const { feed } = bench.venue
    const namesOf = (prefix: string, length: number) =>
      Array.from({ length }, (_, index) => `${prefix}${index}`)
    watchBooks(feed, namesOf('M', 150).map(watched))
    feed.start()
    await until(bench, () => count(bench, 'bookSnapshot') >= 20)
    const closed = namesOf('C', 20)
    watchBooks(
      feed,
      closed.map((ticker) => ({ ...watched(ticker), status: 'closed' as const })),
    )
    const polls = () => closed.map((ticker) => pollsOfBook(bench, ticker).length)
    await until(bench, () => polls().every((times) => times > 0))
    const before = count(bench, 'bookSnapshot')
    await until(bench, () => count(bench, 'bookSnapshot') >= before + 30)
    assert.deepEqual(new Set(polls()), new Set([1]))
  })

  it('emits each trade once, oldest first, when pages repeat trades', async () => {
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

  it('reports the feed as down after three failed polls in a row, recovers, and emits the missed trades', async () => {
    const bench = await open(false)
    bench.venue.feed.start()
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 1)
    bench.isRestUp = false
    await until(bench, () => feedEvents(bench, 'feedDown', 'trades').length === 1)
    for (let ticks = 0; ticks < 100; ticks += 1) {
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

  it('stops polling on stop', async () => {
    const bench = await open(false)
    watchBooks(bench.venue.feed, [watched('A')])
    bench.venue.feed.start()
    await until(bench, () => count(bench, 'bookSnapshot') > 0)
    await bench.venue.feed.stop()
    const before = bench.requests.length
    for (let ticks = 0; ticks < 50; ticks += 1) {
      await nextTurn()
      bench.clock.advance(500)
    }
    assert.deepEqual([bench.requests.length, bench.clock.timerCount], [before, 0])
  })

  it('reports a venue that never responded as down, not as degraded', async () => {
    const bench = await open(false)
    const { feed } = bench.venue
    bench.isRestUp = false
    feed.start()
    await until(bench, () => bench.requests.length >= 3)
    const { connectionsOpen, lastDataAtMs } = feed.health()
    assert.deepEqual({ connectionsOpen, lastDataAtMs }, { connectionsOpen: 0, lastDataAtMs: null })
    bench.isRestUp = true
    await until(bench, () => feedEvents(bench, 'feedUp', 'trades').length === 1)
    const up = feed.health()
    assert.equal(up.connectionsOpen, up.connectionsWanted, 'without markets only the trades count')
    watchBooks(feed, [watched('A')])
    await until(bench, () => count(bench, 'bookSnapshot') > 0)
    const complete = feed.health()
    assert.deepEqual([complete.connectionsOpen, complete.connectionsWanted], [2, 2])
  })

  it('reports the duration of a polling round in the feed’s health', async () => {
    const bench = await open(false)
    const { feed } = bench.venue
    assert.equal(feed.health().bookDelayMs, 0, 'no delay without books')
    watchBooks(
      feed,
      Array.from({ length: 20 }, (_, index) => watched(`M${index}`)),
    )
    feed.start()
    const isOfBooks = (path: string) => path.includes('/orderbooks')
    await until(bench, () => bench.requests.filter(isOfBooks).length >= 12)
    const roundMs = feed.health().bookDelayMs
    // Four polls of five books each, a second apart, plus the time of the responses.
    assert.ok(roundMs >= 3_000, `${roundMs} ms`)
    assert.ok(roundMs < 30_000, `${roundMs} ms`)
    bench.clock.advance(100)
    await feed.stop()
    bench.clock.advance(300_000)
    assert.ok(
      feed.health().bookDelayMs >= 300_000,
      'an unfinished round counts with its duration so far',
    )
  })
})
