// Speed of the order book, against a sorted array, a Map, and the package `sorted-btree`. Each operation sets one
// level, checks whether the book changed, and reads both best prices, as each change of a market does. The blind tree
// skips the check; the naive array cannot do it. The array (test/support/reference/naive/book.ts, also the reference)
// is sorted on each read, the Map is searched, and the tree returns its first and last key. Each has its own loop, so
// that the compiler sees one kind of book in each.
// Loads: the simulated world's changes to its books (about ten levels a side), and changes near the top of books of
// 1,000 levels a side. The latter show the cost of sorting.
// Excluded: parsing, mapping, checksums, publishing, snapshots.

import type { LevelChange } from '../engine/events.ts'
import { OrderBook } from '../engine/market/order-book.ts'
import { seededRandom } from '../engine/random.ts'
import { priceMicros, sizeMicros } from '../engine/units.ts'
import { NaiveBook } from '../test/support/reference/naive/book.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  timeInRotation,
  timesRow,
} from './harness.ts'
import { MapBook, TreeBook } from './order-book/peers.ts'
import { bookLine, simLoad } from './sim-load.ts'

const SEED = 1
const DEEP_LEVELS = 1_000
const TICK = 100
const BATCH = 100
/** Target: minimum ratio of the tree's median time to ours. */
const TREE_TIMES_MIN = 3

export const bench: Bench = {
  name: 'order-book',
  question:
    'How long do one level change, whether it was one, and a look at the best prices take, against a sorted array, a Map and `sorted-btree`?',
  excludes: 'parsing, mapping, checksums, publishing, snapshots',
  async run(setting) {
    const shallow = compare('world books', worldOperations(setting), {
      naiveCount: 40_000,
      naiveBatch: BATCH,
    })
    const deep = compare('1,000 levels a side', deepOperations(setting), {
      naiveCount: setting.isSmall ? 100 : 4_000,
      naiveBatch: setting.isSmall ? 10 : 20,
    })
    return {
      rows: [...shallow.rows, ...deep.rows],
      state: {
        hash: hashOf([...shallow.lines, ...deep.lines]),
        checked: `${shallow.lines.length + deep.lines.length} books equal their twins of all three kinds`,
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
  /** Applied before the timing. */
  readonly first: readonly Operation[]
  readonly timed: readonly Operation[]
}

/**
 * Performs a range of operations. The values read are summed, so that the compiler cannot remove them, and compared.
 */
type Batch = (from: number, count: number) => void

const KINDS = ['fast', 'naive', 'map', 'tree', 'blind'] as const
type Kind = (typeof KINDS)[number]
type Sums = Record<Kind, number>
const NAMES: Readonly<Record<Kind, string>> = {
  fast: 'fast',
  naive: 'sorted array',
  map: 'Map',
  tree: 'sorted-btree',
  blind: 'sorted-btree, blind',
}

/** The array is compared with our book apart from the other two, since it evicts the processor's caches. */
function compare(what: string, operations: Operations, size: Size) {
  const { timed } = operations
  const slow = race(what, ['fast', 'naive'], operations, {
    operationCount: Math.min(size.naiveCount, timed.length),
    batchCount: size.naiveBatch,
  })
  for (const { book, change } of timed.slice(size.naiveCount)) slow.books.naive[book]?.set(change)
  const quick = race(what, QUICK, operations, {
    operationCount: timed.length,
    batchCount: BATCH,
  })
  const lines = quick.books.fast.map((book, index) => line(String(index), book))
  for (const books of [slow.books.naive, quick.books.map, quick.books.tree, quick.books.blind]) {
    books.forEach((book, index) => {
      check(line(String(index), book) === lines[index], `${what}: book ${index} differs`)
    })
  }
  for (const book of quick.books.fast) book.assertSound()
  const middle = (kind: Kind) => Math.max(quick.times[kind].getValueAtPercentile(50), 1)
  const rows: Row[] = [
    timesRow(`${what}: ${NAMES.naive}`, slow.times.naive),
    timesRow(`${what}: fast beside the array`, slow.times.fast),
    ...QUICK.map((kind) => timesRow(`${what}: ${NAMES[kind]}`, quick.times[kind])),
    ratioRow(`${what}: sorted array / fast`, slow.times.naive, slow.times.fast),
    figureRow(
      `${what}: changes a second, by the medians`,
      QUICK.map((kind) => `${NAMES[kind]} ${Math.round(1e9 / middle(kind))}`).join(', '),
    ),
    ratioRow(`${what}: Map / fast`, quick.times.map, quick.times.fast),
    ratioRow(`${what}: ${NAMES.blind} / fast`, quick.times.blind, quick.times.fast),
    aimedRow(`${what}: sorted-btree / fast`, middle('tree') / middle('fast'), {
      atLeast: TREE_TIMES_MIN,
    }),
  ]
  return { rows, lines }
}

const QUICK = ['fast', 'map', 'tree', 'blind'] as const

/** The number of operations for the array, which takes hundreds of times as long, and their batch size. */
interface Size {
  readonly naiveCount: number
  readonly naiveBatch: number
}

/** Runs several books through the same operations alternately, from the beginning. */
function race(
  what: string,
  kinds: readonly Kind[],
  { bookCount, first, timed }: Operations,
  size: { readonly operationCount: number; readonly batchCount: number },
) {
  const some = <Book>(make: () => Book) => Array.from({ length: bookCount }, make)
  const books = {
    fast: some(() => new OrderBook()),
    naive: some(() => new NaiveBook()),
    map: some(() => new MapBook()),
    tree: some(() => new TreeBook()),
    blind: some(() => new TreeBook()),
  }
  for (const { book, change } of first) for (const kind of KINDS) books[kind][book]?.set(change)
  const sums: Sums = { fast: 0, naive: 0, map: 0, tree: 0, blind: 0 }
  const applied: Sums = { ...sums }
  const fresh: Operation[] = []
  /** Creates the changes just before the batch, as a frame's are, so that they are in the processor's caches. */
  const beforeBatch = (from: number, count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const operation = timed[from + index]
      if (operation === undefined) continue
      fresh[index] = { book: operation.book, change: { ...operation.change } }
    }
  }
  const loops: Record<Kind, Batch> = {
    fast: fastLoop(books.fast, fresh, sums, applied),
    naive: naiveLoop(books.naive, fresh, sums),
    map: mapLoop(books.map, fresh, sums, applied),
    tree: treeLoop(books.tree, fresh, sums, applied),
    blind: blindLoop(books.blind, fresh, sums),
  }
  const times = {
    ...{ fast: newTimes(), naive: newTimes(), map: newTimes() },
    ...{ tree: newTimes(), blind: newTimes() },
  }
  timeInRotation(
    kinds.map((kind) => ({ times: times[kind], batch: loops[kind], beforeBatch })),
    size,
  )
  for (const kind of kinds) {
    check(sums[kind] === sums.fast, `${what}: the best prices of ${NAMES[kind]} differ on the way`)
    const isAgreed = kind === 'naive' || kind === 'blind' || applied[kind] === applied.fast
    check(isAgreed, `${what}: ${NAMES[kind]} does not say of the same changes that they are some`)
  }
  return { books, times }
}

function fastLoop(
  books: readonly OrderBook[],
  fresh: readonly Operation[],
  sums: Sums,
  applied: Sums,
): Batch {
  return (_from, count) => {
    for (let index = 0; index < count; index += 1) {
      const operation = fresh[index]
      const book = operation === undefined ? undefined : books[operation.book]
      if (operation === undefined || book === undefined) continue
      if (book.set(operation.change) === 'applied') applied.fast += 1
      sums.fast += (book.bestBid ?? 0) + (book.bestAsk ?? 0)
    }
  }
}

function naiveLoop(books: readonly NaiveBook[], fresh: readonly Operation[], sums: Sums): Batch {
  return (_from, count) => {
    for (let index = 0; index < count; index += 1) {
      const operation = fresh[index]
      const book = operation === undefined ? undefined : books[operation.book]
      if (operation === undefined || book === undefined) continue
      book.set(operation.change)
      sums.naive += (book.levels('bid')[0]?.price ?? 0) + (book.levels('ask')[0]?.price ?? 0)
    }
  }
}

function mapLoop(
  books: readonly MapBook[],
  fresh: readonly Operation[],
  sums: Sums,
  applied: Sums,
): Batch {
  return (_from, count) => {
    for (let index = 0; index < count; index += 1) {
      const operation = fresh[index]
      const book = operation === undefined ? undefined : books[operation.book]
      if (operation === undefined || book === undefined) continue
      if (book.set(operation.change) === 'applied') applied.map += 1
      sums.map += (book.bestBid ?? 0) + (book.bestAsk ?? 0)
    }
  }
}

function treeLoop(
  books: readonly TreeBook[],
  fresh: readonly Operation[],
  sums: Sums,
  applied: Sums,
): Batch {
  return (_from, count) => {
    for (let index = 0; index < count; index += 1) {
      const operation = fresh[index]
      const book = operation === undefined ? undefined : books[operation.book]
      if (operation === undefined || book === undefined) continue
      if (book.set(operation.change) === 'applied') applied.tree += 1
      sums.tree += (book.bestBid ?? 0) + (book.bestAsk ?? 0)
    }
  }
}

function blindLoop(books: readonly TreeBook[], fresh: readonly Operation[], sums: Sums): Batch {
  return (_from, count) => {
    for (let index = 0; index < count; index += 1) {
      const operation = fresh[index]
      const book = operation === undefined ? undefined : books[operation.book]
      if (operation === undefined || book === undefined) continue
      book.setBlindly(operation.change)
      sums.blind += (book.bestBid ?? 0) + (book.bestAsk ?? 0)
    }
  }
}

function line(id: string, book: Pick<OrderBook, 'levels'>): string {
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

/** Nine in ten changes are within 20 ticks of the top, as in real books. */
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
  const timed = Array.from({ length: isSmall ? 1_000 : 200_000 }, () => {
    const rank = random.below(10) === 0 ? random.below(DEEP_LEVELS) : random.below(20)
    return change(random.pick(['bid', 'ask']), rank, random.below(3) === 0 ? 0 : random.below(500))
  })
  return { bookCount: 1, first, timed }
}
