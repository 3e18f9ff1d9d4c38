import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Level } from '../../../http/client/book.ts'
import { bookStateOf, depthOf, ladderOf } from '../../../http/dashboard/parts/book.ts'
import { contrary, crossingOf } from '../../../http/dashboard/parts/quotes.ts'

const level = (price: number, size: number): Level => ({ price, size })
const BOOK = {
  bids: [level(0.42, 100), level(0.41, 50), level(0.1, 1_000)],
  asks: [level(0.44, 30), level(0.5, 70)],
}

test('computes cumulative sizes of book levels, with bids and asks on the same scale', () => {
  const { bids, asks } = ladderOf(BOOK)
  assert.deepEqual(
    bids.map(({ price, size, total }) => [price, size, total]),
    [
      [0.42, 100, 100],
      [0.41, 50, 150],
      [0.1, 1_000, 1_150],
    ],
  )
  assert.deepEqual(
    asks.map(({ total }) => total),
    [30, 100],
  )
  assert.equal(bids[2]?.share, 1)
  assert.equal(asks[1]?.share, 100 / 1_150)
  assert.deepEqual(ladderOf({ bids: [], asks: [] }), { bids: [], asks: [] })
})

test('shows the most severe state of connection, venue feed and book', () => {
  const good = { isInSync: true, isStale: false }
  const live = { state: 'live', lag_ms: 5, delay_ms: 1 } as const
  assert.equal(bookStateOf(good, 'live', live), 'live')
  assert.equal(bookStateOf(good, 'live', null), 'live')
  assert.equal(bookStateOf(good, 'live', { state: 'stale', lag_ms: null, delay_ms: 1 }), 'stale')
  assert.equal(bookStateOf(good, 'live', { state: 'down', lag_ms: null, delay_ms: 1 }), 'stale')
  assert.equal(bookStateOf({ ...good, isStale: true }, 'live', live), 'stale')
  assert.equal(bookStateOf({ isInSync: false, isStale: true }, 'live', live), 'behind')
  assert.equal(bookStateOf(good, 'catching_up', live), 'behind')
  for (const connection of ['waiting', 'closed', 'off', 'connecting'] as const) {
    assert.equal(
      bookStateOf({ isInSync: false, isStale: true }, connection, live),
      'offline',
      connection,
    )
  }
  assert.equal(bookStateOf(null, 'connecting', null), 'waiting')
  assert.equal(bookStateOf(null, 'live', live), 'waiting')
  assert.equal(bookStateOf(null, 'waiting', null), 'offline')
})

test('draws book depth within 20 cents of the midpoint, with bids and asks on the same scale', () => {
  const drawing = depthOf(BOOK)
  assert.ok(drawing !== null)
  assert.deepEqual([drawing.from.toFixed(4), drawing.to.toFixed(4)], ['0.2300', '0.6300'])
  assert.deepEqual([drawing.bidSize, drawing.askSize], [150, 100])
  // The path starts on the baseline at the best price. 150 contracts take the full height of 240.
  assert.equal(drawing.bidPath, 'M475 240H475V80H450V0H0V240Z')
  assert.equal(drawing.askPath, 'M525 240H525V192H675V80H1000V240Z')
})

test('draws a one-sided book and a book at the price bounds, and draws nothing for an empty book', () => {
  assert.equal(depthOf({ bids: [], asks: [] }), null)
  const oneSide = depthOf({ bids: [level(0.99, 5)], asks: [] })
  assert.deepEqual([oneSide?.to, oneSide?.askPath, oneSide?.askSize], [1, '', 0])
  const low = depthOf({ bids: [level(0.01, 5)], asks: [level(0.02, 5)] })
  assert.equal(low?.from, 0)
})

test('finds the more profitable direction of buying at one venue and selling at the other venue', () => {
  const ours = { bid: 0.42, ask: 0.44 }
  assert.deepEqual(crossingOf(ours, { bid: 0.47, ask: 0.49 }), { left: 0.03, buyAt: 'ours' })
  assert.deepEqual(crossingOf(ours, { bid: 0.3, ask: 0.4 }), { left: 0.02, buyAt: 'theirs' })
  assert.deepEqual(crossingOf(ours, { bid: 0.42, ask: 0.44 }), { left: -0.02, buyAt: 'ours' })
  assert.deepEqual(crossingOf({ bid: null, ask: 0.44 }, { bid: 0.5, ask: null }), {
    left: 0.06,
    buyAt: 'ours',
  })
  assert.deepEqual(crossingOf({ bid: null, ask: null }, ours), { left: null, buyAt: null })
})

test('returns the original quote when a quote is inverted twice, and the same gap when both quotes are inverted', () => {
  for (let bid = 1; bid < 99; bid += 7) {
    for (let ask = bid + 1; ask < 100; ask += 9) {
      const quote = { bid: bid / 100, ask: ask / 100 }
      assert.deepEqual(contrary(contrary(quote)), quote)
      const other = { bid: 0.4, ask: 0.43 }
      const straight = crossingOf(quote, other)
      const turned = crossingOf(contrary(quote), contrary(other))
      assert.equal(turned.left, straight.left)
    }
  }
})
