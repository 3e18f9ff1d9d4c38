// One simulated book: order of levels, look-ups, and what it refuses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { MICROS, priceMicros, SIZE_ZERO, sizeMicros } from '../../../../../engine/units.ts'
import { seedBook } from '../../../../../engine/venues/simulator/world/quotes.ts'
import { LiveBook } from '../../../../../engine/venues/simulator/world/sim-book.ts'

test('lists both sides best first and matches a reference map at each level', () => {
  const random = seededRandom('sim-book')
  const book = new LiveBook()
  const matchedMarket = { bid: new Map<number, number>(), ask: new Map<number, number>() }
  for (let change = 0; change < 5_000; change += 1) {
    const side = random.next() < 0.5 ? 'bid' : 'ask'
    const price = priceMicros((side === 'bid' ? 1 : 51) * 10_000 + random.below(49) * 10_000)
    const size = random.next() < 0.4 ? SIZE_ZERO : sizeMicros(1 + random.below(1_000))
    assert.equal(book.set(side, price, size), matchedMarket[side].get(price) ?? 0)
    if (size === 0) matchedMarket[side].delete(price)
    else matchedMarket[side].set(price, size)
    assert.equal(book.sizeAt(side, price), size)
    assert.equal(book.count(side), matchedMarket[side].size)
  }
  const pairs = (levels: LiveBook['bids']) => levels.map(({ price, size }) => [price, size])
  assert.deepEqual(
    pairs(book.bids),
    [...matchedMarket.bid].sort(([left], [right]) => right - left),
  )
  assert.deepEqual(
    pairs(book.asks),
    [...matchedMarket.ask].sort(([left], [right]) => left - right),
  )
  assert.equal(book.bestBid, Math.max(...matchedMarket.bid.keys()))
  assert.equal(book.bestAsk, Math.min(...matchedMarket.ask.keys()))
  assert.equal(book.priceAt('bid', 1), book.bids[1]?.price)
})

test('refuses a level that would cross the book or lies at 0 or 1', () => {
  const book = new LiveBook()
  book.set('bid', priceMicros(400_000), sizeMicros(1))
  book.set('ask', priceMicros(410_000), sizeMicros(1))
  assert.throws(() => book.set('bid', priceMicros(410_000), sizeMicros(1)), /cross/)
  assert.throws(() => book.set('ask', priceMicros(400_000), sizeMicros(1)), /cross/)
  assert.throws(() => book.set('bid', priceMicros(0), sizeMicros(1)), /between/)
  assert.throws(() => book.set('ask', priceMicros(MICROS), sizeMicros(1)), /between/)
})

test('seeds a book on its tick around every fair price', () => {
  for (const tick of [priceMicros(10_000), priceMicros(1_000)]) {
    for (let fair = 1_000; fair < MICROS; fair += 7_000) {
      for (const spread of [1, 2, 3, 4]) {
        const book = new LiveBook()
        const random = seededRandom(fair, spread)
        seedBook({ book, fair: priceMicros(fair), tick, spread, depth: 20, random })
        const { bids, asks, bestBid, bestAsk } = book
        assert.ok(bids.length + asks.length > 0)
        for (const { price, size } of [...bids, ...asks]) {
          assert.ok(price % tick === 0 && size > 0 && size % 10_000 === 0)
        }
        if (bestBid === null || bestAsk === null) continue
        assert.equal(bestAsk - bestBid, spread * tick)
        assert.ok(bestBid <= fair + tick && bestAsk >= fair - tick)
      }
    }
  }
})
