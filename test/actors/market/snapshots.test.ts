import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bookSnapshotEveryMs } from '../../../engine/limits.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, TIME_ZERO, timeMs } from '../../../engine/units.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import {
  ask,
  bid,
  change,
  level,
  NOON,
  recordingPublisher,
  snapshot,
  storedMarket,
} from '../../support/worlds/builders.ts'

const at = (seconds: number) => timeMs(NOON + seconds * 1_000)
const BID = [level(0.4, 10)]
const ASK = [level(0.42, 5)]

function openMarket() {
  const storage = openMemoryStorage()
  const { publisher } = recordingPublisher()
  let nowMs = at(0)
  const { open } = storedMarket({ publisher, storage, nowMs: () => nowMs })
  const actor = open()
  const rows = () =>
    actor
      .snapshots({ fromMs: TIME_ZERO, toMs: at(1e6), after: null, order: 'asc', limit: 10_000 })
      .map((row) => ({ second: (row.timeMs - NOON) / 1_000, ...row }))
  const setNow = (seconds: number) => {
    nowMs = at(seconds)
  }
  return { actor, open, rows, setNow }
}

test('stores a changing book at most every ten seconds, and the last state of the book before a pause', () => {
  const { actor, rows } = openMarket()
  actor.receive(snapshot('m', BID, ASK))
  for (let second = 0; second <= 100; second += 5) {
    actor.tick(at(second))
    if (second < 33) actor.receive(change('m', [bid(0.4, 100 + second)]))
  }
  assert.deepEqual(
    rows().map(({ second, bids }) => [second, bids[0]?.size]),
    [
      [0, 10_000_000],
      [10, 105_000_000],
      [20, 115_000_000],
      [30, 125_000_000],
      [40, 130_000_000],
    ],
  )
  actor.receive(change('m', [bid(0.4, 7)]))
  actor.tick(at(500))
  assert.equal(rows().at(-1)?.second, 500, 'after a pause the book is stored at once')
})

test('stores twenty levels per side of a book, and the total size of all levels', () => {
  const { actor, rows } = openMarket()
  const prices = Array.from({ length: 30 }, (_, rank) => rank)
  const bids = prices.map((rank) => level((45 - rank) / 100, rank + 1))
  const asks = prices.slice(0, 3).map((rank) => level((50 + rank) / 100, 0.5))
  actor.receive(snapshot('m', bids, asks))
  actor.tick(at(1))
  const [row] = rows()
  assert.deepEqual(row?.bids, bids.slice(0, 20))
  assert.deepEqual(row?.asks, asks)
  assert.deepEqual([row?.bidDepth, row?.askDepth], [465_000_000, 1_500_000])
})

test('stores the last state of a book before the book becomes suspect, and no state while the book is suspect', () => {
  const { actor, open, rows, setNow } = openMarket()
  actor.receive(snapshot('m', BID, ASK))
  actor.tick(at(0))
  actor.receive(change('m', [ask(0.42, 6)]))
  setNow(12)
  actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
  actor.tick(at(20))
  assert.deepEqual(
    rows().map(({ second, asks }) => [second, asks[0]?.size]),
    [
      [0, 5_000_000],
      [12, 6_000_000],
    ],
  )
  actor.receive(change('m', [ask(0.42, 7)]))
  actor.tick(at(40))
  actor.checkpoint(at(60))
  const again = open()
  assert.equal(again.book().isStale, true)
  again.tick(at(80))
  assert.equal(rows().length, 2, 'neither a stale book nor a restored book is stored')
})

test('skips a book snapshot that equals the previous stored snapshot, even after a restart', () => {
  const { actor, open, rows } = openMarket()
  actor.receive(snapshot('m', BID, ASK))
  actor.tick(at(0))
  actor.receive(change('m', [bid(0.4, 11)]))
  actor.receive(change('m', [bid(0.4, 10)]))
  actor.tick(at(10))
  const again = open()
  again.receive(snapshot('m', BID, ASK))
  again.tick(at(20))
  assert.equal(rows().length, 1)
  again.receive(change('m', [bid(0.4, 12)]))
  again.tick(at(25))
  assert.deepEqual(
    rows().map(({ second }) => second),
    [0, 25],
  )
})

test('waits ten seconds between two snapshots of a book across a restart, and when the wall clock is set back', () => {
  const { actor, open, rows } = openMarket()
  actor.receive(snapshot('m', BID, ASK))
  actor.tick(at(100))
  const again = open()
  again.receive(snapshot('m', [level(0.3, 1)], ASK))
  again.tick(at(105))
  assert.equal(rows().length, 1)
  again.tick(at(20))
  assert.deepEqual(
    rows().map(({ second }) => second),
    [20, 100],
  )
})

test('retains a market’s last book snapshot from before the market was resolved', () => {
  const { actor, rows } = openMarket()
  actor.receive(snapshot('m', BID, ASK))
  actor.receive({
    kind: 'marketStatus',
    venue: 'a',
    market: actor.ref.nativeId,
    status: 'resolved',
    settlementPrice: priceMicros(1_000_000),
    venueTimeMs: at(1),
    receivedAtMs: at(2),
  })
  actor.tick(at(30))
  assert.deepEqual(
    rows().map(({ second, bids }) => [second, bids.length]),
    [[2, 1]],
  )
})

test('stores each changed live book at most once in ten seconds, and no stale book', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const random = seededRandom('snapshots', seed)
    const { actor, rows, setNow } = openMarket()
    for (let second = 0; second < 400; second += 1) {
      setNow(second)
      const what = random.below(seed % 2 === 0 ? 8 : 60)
      const { price, size } = level((1 + random.below(40)) / 100, random.below(4))
      const times = { venueTimeMs: at(second), receivedAtMs: at(second) }
      if (what === 0) actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
      else if (what === 1) actor.receive(snapshot('m', [level(0.3, 1), level(0.2, 2)], ASK, times))
      else if (what < 4)
        actor.receive(change('m', [{ side: 'bid', price, size: sizeMicros(size) }], times))
      if (second % 5 !== 0) continue
      actor.tick(at(second))
      const newest = rows().at(-1)
      const book = actor.book()
      if (book.isStale) continue
      const isDue = newest === undefined || at(second) - newest.timeMs >= bookSnapshotEveryMs
      const isCurrent = JSON.stringify(newest?.bids) === JSON.stringify(book.bids.slice(0, 20))
      assert.ok(isCurrent || !isDue, `seed ${seed}, second ${second}`)
    }
    const stored = rows()
    assert.ok(stored.length > 0)
    for (const [index, { timeMs: retentionMs }] of stored.entries()) {
      const before = stored[index - 1]
      assert.ok(before === undefined || retentionMs - before.timeMs >= bookSnapshotEveryMs)
    }
  }
})
