import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookSide, Level } from '../../../engine/events.ts'
import { OrderBook } from '../../../engine/market/order-book.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import { NaiveBook } from '../../support/reference/naive/book.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 10_000 : 200

const level = (price: number, size: number): Level => ({
  price: priceMicros(price),
  size: sizeMicros(size),
})

function assertEqual(book: OrderBook, naive: NaiveBook, seed: number): void {
  assert.deepEqual(book.levels('bid'), naive.levels('bid'), `bids, seed ${seed}`)
  assert.deepEqual(book.levels('ask'), naive.levels('ask'), `asks, seed ${seed}`)
  book.assertSound()
}

test('produces the same book as the reference implementation for seeded random changes', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('book', seed)
    const book = new OrderBook()
    const naive = new NaiveBook()
    const grid = 1 + random.below(60)
    const price = () => priceMicros((1 + random.below(grid)) * 10_000)
    const side = (): BookSide => random.pick(['bid', 'ask'])
    const levels = () =>
      Array.from({ length: random.below(20) }, () => ({
        price: price(),
        size: sizeMicros(random.below(5) * 1_000_000),
      }))
    for (let step = 0; step < 40; step += 1) {
      const kind = random.below(20)
      if (kind === 0) {
        const [bids, asks] = [levels(), levels()]
        book.replace(bids, asks)
        naive.replace(bids, asks)
      } else if (kind === 1) {
        const [bids, asks] = [levels(), levels()]
        for (const change of book.differences(bids, asks)) book.set(change)
        naive.replace(bids, asks)
      } else if (kind < 8) {
        const change = { side: side(), price: price(), size: sizeMicros(random.below(9) - 4) }
        const sum = naive.sizeAt(change.side, change.price) + change.size
        book.add(change)
        naive.set({ ...change, size: sizeMicros(Math.max(sum, 0)) })
      } else {
        const change = { side: side(), price: price(), size: sizeMicros(random.below(4) * 500_000) }
        book.set(change)
        naive.set(change)
      }
    }
    assertEqual(book, naive, seed)
    book.trim()
    assertEqual(book, naive, seed)
  }
})

test('produces the same book as the reference implementation when levels are added and removed at any of 120 depths', () => {
  const [book, naive] = [new OrderBook(), new NaiveBook()]
  for (let rank = 0; rank < 120; rank += 1) {
    for (const side of ['bid', 'ask'] as const) {
      const price = 5_000 * (side === 'bid' ? rank + 1 : 199 - rank)
      const change = { side, ...level(price, rank + 1) }
      book.set(change)
      naive.set(change)
    }
  }
  for (let rank = 0; rank < 120; rank += 1) {
    for (const side of ['bid', 'ask'] as const) {
      const known = naive.levels(side)[rank] ?? assert.fail('no level')
      for (const size of [0, known.size]) {
        const change = { side, price: known.price, size: sizeMicros(size) }
        assert.equal(book.set(change), 'applied')
        naive.set(change)
        assertEqual(book, naive, rank)
      }
    }
  }
})

test('removes a level when its size becomes zero, and returns the next level as the best level', () => {
  const book = new OrderBook()
  book.replace([level(400_000, 5), level(410_000, 7)], [level(430_000, 1)])
  assert.equal(book.bestBid, 410_000)
  assert.equal(book.set({ side: 'bid', ...level(410_000, 0) }), 'applied')
  assert.equal(book.bestBid, 400_000)
})

test('reports a delta that removes more than the level’s size, and deletes the level', () => {
  const book = new OrderBook()
  book.replace([level(400_000, 5)], [])
  assert.equal(book.add({ side: 'bid', ...level(400_000, -6) }), 'negative')
  assert.equal(book.bestBid, null)
})

test('reports a book as crossed when a bid is at or above an ask', () => {
  const book = new OrderBook()
  book.replace([level(400_000, 5)], [level(410_000, 5)])
  assert.equal(book.isCrossed, false)
  book.set({ side: 'bid', ...level(410_000, 1) })
  assert.equal(book.isCrossed, true)
})

test('returns no deltas when a snapshot equals the book', () => {
  const book = new OrderBook()
  const bids = [level(400_000, 5), level(390_000, 2)]
  book.replace(bids, [level(500_000, 1)])
  assert.deepEqual(book.differences(bids, [level(500_000, 1)]), [])
})

test('computes a book’s checksum as CRC-32 over the ten best levels per side as integers', () => {
  const book = new OrderBook()
  book.replace(
    Array.from({ length: 12 }, (_, step) => level(400_000 - step * 10_000, 1_000_000 + step)),
    [level(430_000, 2_500_000)],
  )
  const bids = Array.from(
    { length: 10 },
    (_, step) => `${400_000 - step * 10_000}:${1_000_000 + step}`,
  )
  assert.equal(book.checksum(), crcByTable(`${bids.join(':')}:430000:2500000`))
  book.clear()
  assert.equal(book.checksum(), 0)
})

test('refuses a level beyond the book’s level limit, and the book stays valid', () => {
  const book = new OrderBook()
  for (let price = 1; price <= 10_000; price += 1) book.set({ side: 'bid', ...level(price, 1) })
  assert.equal(book.set({ side: 'bid', ...level(20_000, 1) }), 'full')
  assert.equal(book.set({ side: 'bid', ...level(5, 9) }), 'applied')
  book.assertSound()
})

function crcByTable(text: string): number {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
