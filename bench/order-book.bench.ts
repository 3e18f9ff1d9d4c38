// How fast is the order book, against the naive one? Each operation sets one level of a book and then
// reads both best prices, as every change of a market does.
// Loads: what the simulated world does to its own books (about ten levels a side), and books of 1,000
// levels a side changed near the top, where the naive twin's sort shows.
// Excluded: parsing, mapping, checksums, publishing, and the making of snapshots.

import type { LevelChange } from '../engine/events.ts'
import { OrderBook } from '../engine/order-book.ts'
import { seededRandom } from '../engine/random.ts'
import { priceMicros, sizeMicros } from '../engine/units.ts'
import { NaiveBook } from '../test/support/naive-book.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  timeInTurns,
  timesRow,
} from './harness.ts'
import { bookLine, simLoad } from './sim-load.ts'

const SEED = 1
const DEEP_LEVELS = 1_000
const TICK = 100
const BATCH = 100

export const bench: Bench = {
  name: 'order-book',
  question:
    'How long does one level change and a look at the best prices take, fast book vs naive?',
  excludes: 'parsing, mapping, checksums, publishing, snapshots',
  async run(setting) {
    const shallow = compare('world books', worldOperations(setting), BATCH)
    const deep = compare('1,000 levels a side', deepOperations(setting), setting.isSmall ? 10 : 20)
    return {
      rows: [...shallow.rows, ...deep.rows],
      state: {
        hash: hashOf([...shallow.lines, ...deep.lines]),
        checked: `${shallow.lines.length + deep.lines.length} fast books equal their naive twins`,
        isRepeatable: true,
      },
    }
  },
}

/** One change of one book; books are numbered from 0. */
interface Operation {
  readonly book: number
  readonly change: LevelChange
}

interface Operations {
  readonly bookCount: number
  /** Applied before the clock runs. */
  readonly first: readonly Operation[]
  readonly timed: readonly Operation[]
}

function compare(what: string, operations: Operations, batchCount: number) {
  const { bookCount, first, timed } = operations
  const fastBooks = Array.from({ length: bookCount }, () => new OrderBook())
  const naiveBooks = Array.from({ length: bookCount }, () => new NaiveBook())
  for (const { book, change } of first) {
    fastBooks[book]?.set(change)
    naiveBooks[book]?.set(change)
  }
  const fast = newTimes()
  const naive = newTimes()
  // Read so that nothing can be left out by the compiler, and compared: equal prices, equal sums.
  let fastSum = 0
  let naiveSum = 0
  const fastBatch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) {
      const operation = timed[index]
      const book = operation === undefined ? undefined : fastBooks[operation.book]
      if (operation === undefined || book === undefined) continue
      book.set(operation.change)
      fastSum += (book.bestBid ?? 0) + (book.bestAsk ?? 0)
    }
  }
  const naiveBatch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) {
      const operation = timed[index]
      const book = operation === undefined ? undefined : naiveBooks[operation.book]
      if (operation === undefined || book === undefined) continue
      book.set(operation.change)
      naiveSum += (book.levels('bid')[0]?.price ?? 0) + (book.levels('ask')[0]?.price ?? 0)
    }
  }
  timeInTurns(
    [
      { times: fast, batch: fastBatch },
      { times: naive, batch: naiveBatch },
    ],
    { operationCount: timed.length, batchCount },
  )
  check(fastSum === naiveSum, `${what}: the best prices differ on the way`)
  const lines = fastBooks.map((book, index) => line(String(index), book))
  naiveBooks.forEach((book, index) => {
    check(line(String(index), book) === lines[index], `${what}: book ${index} differs`)
  })
  for (const book of fastBooks) book.assertSound()
  const rows: Row[] = [
    timesRow(`${what}: fast`, fast),
    timesRow(`${what}: naive`, naive),
    ratioRow(`${what}: naive / fast`, naive, fast),
  ]
  return { rows, lines }
}

function line(id: string, book: Pick<OrderBook, 'levels'> | NaiveBook): string {
  return bookLine(id, { bids: book.levels('bid'), asks: book.levels('ask') })
}

function worldOperations({ isSmall }: BenchSetting): Operations {
  const frameCount = isSmall ? 2_000 : 200_000
  const { changes } = simLoad({ seed: SEED, marketsPerVenue: isSmall ? 20 : 100, frameCount })
  const books = new Map<unknown, number>()
  const timed: Operation[] = []
  for (const { market, changes: levels } of changes) {
    const book = books.get(market) ?? books.size
    books.set(market, book)
    for (const change of levels) timed.push({ book, change })
  }
  return { bookCount: books.size, first: [], timed }
}

/** Nine in ten changes fall within 20 ticks of the top, as they do on real books. */
function deepOperations({ isSmall }: BenchSetting): Operations {
  const random = seededRandom('bench deep book', SEED)
  const middle = 5_000
  const change = (side: 'bid' | 'ask', rank: number, size: number): Operation => ({
    book: 0,
    change: {
      side,
      price: priceMicros((side === 'bid' ? middle - rank : middle + 1 + rank) * TICK),
      size: sizeMicros(size * 1_000_000),
    },
  })
  const first: Operation[] = []
  for (let rank = 0; rank < DEEP_LEVELS; rank += 1) {
    first.push(
      change('bid', rank, 1 + random.below(500)),
      change('ask', rank, 1 + random.below(500)),
    )
  }
  const timed = Array.from({ length: isSmall ? 100 : 4_000 }, () => {
    const rank = random.below(10) === 0 ? random.below(DEEP_LEVELS) : random.below(20)
    return change(random.pick(['bid', 'ask']), rank, random.below(3) === 0 ? 0 : random.below(500))
  })
  return { bookCount: 1, first, timed }
}
