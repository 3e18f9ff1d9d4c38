// A seeded sequence of records for the tape, and the books that they describe by the reference implementation.

import type { LevelChange, Update } from '../../../engine/events.ts'
import { seededRandom } from '../../../engine/random.ts'
import { tapeDisk } from '../../../engine/tape/disk.ts'
import { type TapeSettings, TapeWriter } from '../../../engine/tape/writer.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { BookState, MarketState } from '../../../storage/records/log-items.ts'
import { type TapeItem, tapeItemNames } from '../../../storage/records/tape-items.ts'
import { TapeBatcher } from '../../../storage/tape/batcher.ts'
import { NaiveBook } from '../reference/naive/book.ts'
import { ask, bid, marketRef, NOON } from './builders.ts'
import { marketListing, marketSummary } from './stored.ts'

export const NOON_US = NOON * 1_000

const PRICE = {
  price: priceMicros(415_000),
  source: 'midpoint',
  bid: priceMicros(410_000),
  ask: null,
  observedAtMs: NOON,
} as const
const FIGURES = {
  ...{ volume24h: usdMicros(0), volumeTotal: null, excess: 0 },
  ...{ lastPrice: null, lastPriceAtMs: null, previousPrice: null },
  ...{ openInterest: null, figuresAtMs: null, dayFiguresAtMs: null },
}
const QUOTED = { price: PRICE, figures: FIGURES, tradesSeq: 0, pricesSeq: 0 }

export interface WorldRecord {
  readonly us: number
  readonly item: TapeItem
}

interface WorldMarket {
  readonly ref: ReturnType<typeof marketRef>
  readonly book: NaiveBook
  seq: number
  offset: number
  tradesSeq: number
  readonly history: { readonly us: number; readonly changes: readonly LevelChange[] }[]
}

/** Text of a book, for comparisons. */
export const bookText = ({ bids, asks }: Pick<BookState, 'bids' | 'asks'>): string =>
  JSON.stringify([bids, asks])

/** Markets whose books change at random. */
export class TapeWorld {
  readonly markets: readonly WorldMarket[]
  readonly #random
  #offset = 0
  #tradesOffset = 0
  us: number

  constructor(parts: {
    readonly seed: string
    readonly markets: number
    readonly fromUs?: number
  }) {
    this.#random = seededRandom(parts.seed)
    this.us = parts.fromUs ?? NOON_US
    this.markets = Array.from({ length: parts.markets }, (_, index) => ({
      ref: marketRef(`market-${index}`, index + 1),
      book: new NaiveBook(),
      ...{ seq: 0, offset: 0, tradesSeq: 0, history: [] },
    }))
  }

  /** Yields the listing and the state of each market, which a file starts with. */
  *sweep(isFull: boolean): Generator<WorldRecord> {
    const fromUs = this.#tick()
    for (const market of this.markets) {
      const summary = marketSummary(marketListing(market.ref.nativeId))
      if (isFull) {
        const number = market.ref.number
        yield this.#record({ kind: 'listed', version: 1, market: number, quoted: QUOTED, summary })
      }
      yield this.#record({ kind: 'state', state: this.#stateOf(market) })
    }
    yield this.#record({ kind: 'swept', fromUs, isFull })
  }

  /** `stepUs` is the mean distance from the previous update. */
  next(stepUs = 2_000): WorldRecord {
    const random = this.#random
    const market = random.pick(this.markets)
    this.us += random.below(2 * stepUs)
    const us = this.#tick()
    const time = timeMs(Math.floor(us / 1_000))
    const head = {
      market: market.ref,
      venueTimeMs: timeMs(time - random.below(40)),
      receivedAtMs: time,
    }
    if (random.below(10) === 0) return { us, item: updateItem(this.#trade(market, head)) }
    const changes = Array.from({ length: 1 + random.below(2) }, () => {
      const price = (1 + random.below(49)) / 100
      const size = random.below(4) === 0 ? 0 : 1 + random.below(500)
      return random.below(2) === 0 ? bid(price, size) : ask(1 - price, size)
    })
    for (const change of changes) market.book.set(change)
    this.#offset += 1
    market.seq += 1
    market.offset = this.#offset
    market.history.push({ us, changes })
    const stamp = { offset: this.#offset, seq: market.seq }
    return { us, item: updateItem({ kind: 'book', ...head, ...stamp, changes, checksum: null }) }
  }

  /** The book of a market at a time, as text. */
  bookAt(market: WorldMarket, us: number): string {
    const book = new NaiveBook()
    for (const entry of market.history) {
      if (entry.us > us) break
      for (const change of entry.changes) book.set(change)
    }
    return bookText({ bids: book.levels('bid'), asks: book.levels('ask') })
  }

  #trade(
    market: WorldMarket,
    head: Pick<Extract<Update, { kind: 'trade' }>, 'market' | 'venueTimeMs' | 'receivedAtMs'>,
  ): Update {
    this.#tradesOffset += 1
    market.tradesSeq += 1
    const trade = {
      nativeId: `0x${this.#tradesOffset.toString(16).padStart(64, '0')}`,
      ...{ timeMs: head.venueTimeMs, ordinal: 0, price: priceMicros(400_000) },
      size: sizeMicros((1 + this.#random.below(100)) * 1_000_000),
      ...({ side: 'buy', outcomeIndex: 0, usd: usdMicros(1), maker: null } as const),
      ...{ taker: null, txHash: null, isBlock: false },
    }
    return { kind: 'trade', ...head, offset: this.#tradesOffset, seq: market.tradesSeq, trade }
  }

  #levelsOf({ book }: WorldMarket): Pick<BookState, 'bids' | 'asks'> {
    return { bids: book.levels('bid'), asks: book.levels('ask') }
  }

  #stateOf(market: WorldMarket): MarketState {
    const { seq, offset, tradesSeq } = market
    const times = { venueTimeMs: null, receivedAtMs: null }
    return {
      market: market.ref.number,
      book: { ...this.#levelsOf(market), isStale: false, staleReason: null, ...times, offset, seq },
      price: PRICE,
      figures: FIGURES,
      seqs: { trades: tradesSeq, prices: 0, whales: 0, lifecycle: 0, arbitrage: 0 },
    }
  }

  #record(item: TapeItem): WorldRecord {
    return { us: this.#tick(), item }
  }

  #tick(): number {
    this.us += 1
    return this.us
  }
}

const updateItem = (update: Update): TapeItem => ({ kind: 'update', update, book: null })

/** Settings of a tape of venue a. */
export function tapeSettings(folder: string, set: Partial<TapeSettings> = {}): TapeSettings {
  return {
    ...{ folder, epoch: 'run1', daysMax: 7, bytesMax: 2 ** 30, itemNames: tapeItemNames },
    venues: [
      { venue: 'a', platform: 'venue_a' },
      { venue: 'b', platform: 'venue_b' },
    ],
    ...set,
  }
}

/** A writer that takes single records of venue a. */
export function recordingTape(settings: TapeSettings, nowUs: number, disk = tapeDisk) {
  const writer = new TapeWriter(settings, disk, nowUs)
  const batcher = new TapeBatcher()
  const flush = () => batcher.take().map((batch) => writer.append(batch))
  return {
    writer,
    flush,
    /** Each 20 records form a batch. */
    put({ us, item }: WorldRecord, count = 20) {
      batcher.put('a', us, item)
      if (us % count === 0) flush()
    },
    close() {
      flush()
      return writer.close()
    },
  }
}
