// Sends book streams with lost, repeated, swapped, truncated and corrupted frames through the parser, the mapper and
// the market actor. Nothing may throw, and no live book may be crossed.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Random, seededRandom } from '../../engine/random.ts'
import { priceMicros, sizeMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import { DAMAGES, HONEST, UnreliableWire } from '../support/fakes/unreliable-wire.ts'
import { NaiveBook } from '../support/reference/naive/book.ts'
import { bookFrame, changeV1 } from '../support/reference/protocol-v1.ts'
import { type Fates, KalshiPath, PolymarketPath } from '../support/rigs/book-paths.ts'
import { isCrossed } from '../support/rigs/capture-replay.ts'
import { KalshiBooks } from '../support/worlds/kalshi-books.ts'
import {
  type Capture,
  type CapturedFrame,
  KALSHI_STREAM,
  kalshiRecording,
  POLYMARKET_STREAM,
  polymarketCaptures,
  testOnBoth,
} from '../support/worlds/recordings.ts'

const isLong = process.env.TEST_LONG === '1'
const DAMAGED_MIN = isLong ? 20_000 : 1_000
const FRAMES_MAX = isLong ? Number.POSITIVE_INFINITY : 250
/** Minimum number of best prices to compare. */
const TOPS_MIN = isLong ? 5_000 : 700
/** Minimum number of frames over a transport that never changes the content of frames. */
const LOSSY_MIN = isLong ? 7_500 : 700
/** One frame in forty carries no book data. */
const ASIDE_EVERY = 40

type Shape = '2025' | 'today'

interface Counts {
  sent: number
  /** Number of comparisons of a live book with the venue's book. */
  live: number
  liveUnequal: number
  topsCompared: number
  readonly fates: Fates
  readonly resyncs: Fates
}

const newTally = (): Counts => ({
  sent: 0,
  live: 0,
  liveUnequal: 0,
  topsCompared: 0,
  fates: new Map(),
  resyncs: new Map(),
})

class PolymarketRun {
  readonly #capture: Capture
  readonly #shape: Shape
  readonly #wire: UnreliableWire
  readonly #random: Random
  readonly #path: PolymarketPath
  readonly #venue = new NaiveBook()
  readonly #counters: Counts
  #atMs: TimeMs = timeMs(0)

  constructor(capture: Capture, shape: Shape, parts: RunParts) {
    this.#capture = capture
    this.#shape = shape
    this.#wire = parts.wire
    this.#random = parts.random
    this.#counters = parts.counters
    this.#path = new PolymarketPath(capture.name, capture.tokens)
  }

  play(): void {
    for (const frame of this.#capture.frames.slice(0, FRAMES_MAX)) {
      this.#atMs = frame.timeMs
      if (frame.isFirst) this.#happen(frame)
      for (const text of this.#textsOf(frame)) this.#send(text, frame.book === null)
      if (this.#random.below(ASIDE_EVERY) === 0) this.#send(this.#aside(), false)
      this.#answer()
    }
    for (const text of this.#wire.flush()) this.#path.take(text, this.#atMs)
    this.#heal()
    this.#end()
  }

  #happen({ book, changes }: CapturedFrame): void {
    if (book !== null) this.#venue.replace(book.bids, book.asks)
    for (const change of changes) this.#venue.set(change)
  }

  #textsOf(frame: CapturedFrame): string[] {
    if (this.#shape === '2025') return [frame.text]
    if (frame.book !== null) return [frame.text]
    // Protocol v2 reports both tokens in one message, so the second token's message is skipped.
    return frame.isFirst ? [changeV1(frame, this.#capture.tokens, { book: this.#venue })] : []
  }

  #send(text: string, isChange: boolean): void {
    const { actor } = this.#path.market
    const arrived = this.#wire.send(text)
    for (const one of arrived) this.#path.take(one, this.#atMs)
    this.#counters.sent += 1
    if (!actor.isBookLive) return
    this.#counters.live += 1
    if (!this.#path.market.equalsBook(this.#venue)) this.#counters.liveUnequal += 1
    const isClean = arrived.length === 1 && arrived[0] === text
    if (this.#shape === 'today' && isChange && isClean) this.#compareTop(text)
  }

  /** Compares the best prices of a live book with those in the last accepted change. */
  #compareTop(text: string): void {
    const view = this.#path.market.actor.book()
    this.#counters.topsCompared += 1
    assert.equal(view.bids[0]?.price, this.#venue.levels('bid')[0]?.price, text)
    assert.equal(view.asks[0]?.price, this.#venue.levels('ask')[0]?.price, text)
  }

  #answer(): void {
    if (this.#path.market.actor.isBookLive || this.#random.below(4) > 0) return
    this.#countResyncs()
    this.#path.resubscribe()
    for (const isFirst of [true, false]) this.#send(this.#bookOf(isFirst), false)
  }

  #bookOf(isFirst: boolean): string {
    return bookFrame(this.#venue, this.#capture.tokens, isFirst, this.#atMs)
  }

  #countResyncs(): void {
    for (const reason of this.#path.market.resyncs) {
      this.#counters.resyncs.set(reason, (this.#counters.resyncs.get(reason) ?? 0) + 1)
    }
  }

  /** Once the transport has no faults, one snapshot must correct every book. */
  #heal(): void {
    this.#countResyncs()
    this.#path.resubscribe()
    this.#path.take(this.#bookOf(true), this.#atMs)
    assert.ok(this.#path.market.equalsBook(this.#venue), this.#capture.name)
    assert.equal(this.#path.market.actor.isBookLive, !isCrossed(this.#venue))
  }

  #end(): void {
    for (const [fate, count] of this.#path.fates) {
      this.#counters.fates.set(fate, (this.#counters.fates.get(fate) ?? 0) + count)
    }
  }

  /** Messages of the market channel without book data. */
  #aside(): string {
    const { tokens, name } = this.#capture
    const timestamp = String(this.#atMs)
    const asset_id = this.#random.pick(tokens)
    return JSON.stringify(
      this.#random.pick([
        { event_type: 'last_trade_price', asset_id, price: '0.51', size: '5', timestamp },
        { event_type: 'tick_size_change', asset_id, new_tick_size: '0.001', timestamp },
        { event_type: 'best_bid_ask', asset_id, best_bid: '0.4', best_ask: '0.5', timestamp },
        { event_type: 'new_market', market: '0xnew', assets_ids: [], timestamp },
        { event_type: 'market_resolved', market: '0xother', assets_ids: ['1', '2'], timestamp },
        [{ event_type: 'last_trade_price', asset_id, price: '0.5', timestamp, market: name }],
      ]),
    )
  }
}

interface RunParts {
  readonly wire: UnreliableWire
  readonly random: Random
  readonly counters: Counts
}

function report(t: TestContext, wire: UnreliableWire, counters: Counts): void {
  const list = (counts: Iterable<[string, number]>) =>
    [...counts]
      .sort()
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  t.diagnostic(`${counters.sent} frames sent, damaged: ${list(Object.entries(wire.counts))}`)
  t.diagnostic(`frames ended as: ${list(counters.fates)}`)
  t.diagnostic(
    `live ${counters.live} times after a frame, then other than the venue's ${counters.liveUnequal} times; ` +
      `asked again for: ${list(counters.resyncs)}`,
  )
}

testOnBoth(
  'never throws for thousands of damaged Polymarket frames, and rebuilds the book from the next intact frames',
  POLYMARKET_STREAM,
  (t, path) => {
    const random = seededRandom('damaged polymarket')
    const wire = new UnreliableWire(random, { damages: DAMAGES, percent: 60 })
    const counters = newTally()
    for (let pass = 0; pass < 2 || wire.damagedCount < DAMAGED_MIN; pass += 1) {
      for (const capture of polymarketCaptures(path)) {
        new PolymarketRun(capture, pass % 2 === 0 ? '2025' : 'today', {
          wire,
          random,
          counters,
        }).play()
      }
    }
    report(t, wire, counters)
    assert.ok(counters.live > counters.sent / 4, 'the book is live often enough for the comparison')
  },
)

testOnBoth(
  'leaves no Polymarket book live that contradicts the best prices of a message after lost, repeated, swapped or truncated frames',
  POLYMARKET_STREAM,
  (t, path) => {
    const random = seededRandom('lossy polymarket')
    const wire = new UnreliableWire(random, { damages: HONEST, percent: 5 })
    const counters = newTally()
    while (counters.topsCompared < TOPS_MIN) {
      for (const capture of polymarketCaptures(path)) {
        new PolymarketRun(capture, 'today', { wire, random, counters }).play()
      }
    }
    report(t, wire, counters)
    t.diagnostic(`${counters.topsCompared} best prices compared; what differs lies below them`)
    assert.ok(
      counters.liveUnequal > 0,
      'losses below the best prices cannot be detected on this stream',
    )
  },
)

class KalshiRun {
  readonly path: KalshiPath
  readonly venue = new KalshiBooks()
  readonly #tickers: readonly string[]
  readonly #wire: UnreliableWire
  readonly #random: Random
  readonly #counters: Counts
  readonly #isHonest: boolean
  #seq = 0
  #atMs: TimeMs = timeMs(0)

  constructor(tickers: readonly string[], parts: RunParts & { readonly isHonest: boolean }) {
    this.#tickers = tickers
    this.#wire = parts.wire
    this.#random = parts.random
    this.#counters = parts.counters
    this.#isHonest = parts.isHonest
    this.path = new KalshiPath(tickers)
  }

  round(frames: ReturnType<typeof kalshiRecording>['frames']): void {
    for (const { frame, receivedAtMs } of frames) {
      if (frame.seq === undefined) continue
      this.#atMs = receivedAtMs
      this.venue.take(frame)
      this.#send(JSON.stringify({ ...frame, seq: this.#next() }), true)
      if (this.#random.below(ASIDE_EVERY) === 0) this.#send(this.#aside(), false)
      this.#answer()
    }
  }

  #next(): number {
    this.#seq += 1
    return this.#seq
  }

  /** `isOfBooks`: the frame is a book message, so its sequence number reveals earlier losses. */
  #send(text: string, isOfBooks: boolean): void {
    const arrived = this.#wire.send(text)
    for (const one of arrived) this.path.take(one, this.#atMs)
    const isTelling = isOfBooks && arrived.length === 1 && arrived[0] === text
    this.#counters.sent += 1
    if (!isTelling) return
    for (const market of this.path.markets.values()) {
      if (!market.actor.isBookLive || !this.venue.has(market.name)) continue
      this.#counters.live += 1
      if (market.equals(this.venue.quotedForYes(market.name))) continue
      this.#counters.liveUnequal += 1
      // The next undamaged frame reveals an earlier loss.
      assert.ok(!this.#isHonest, `${market.name} is wrong and live after ${text}`)
    }
  }

  #answer(): void {
    if (this.#random.below(10) > 0) return
    for (const [ticker, market] of this.path.markets) {
      if (market.actor.isBookLive || !this.venue.has(ticker)) continue
      for (const reason of market.resyncs.splice(0)) {
        this.#counters.resyncs.set(reason, (this.#counters.resyncs.get(reason) ?? 0) + 1)
      }
      this.#send(this.venue.snapshotFrame(ticker, { sid: 1, seq: this.#next() }), true)
    }
  }

  /** Sends undamaged frames until every book is live. Returns the number of snapshots. */
  heal(): number {
    for (const text of this.#wire.flush()) this.path.take(text, this.#atMs)
    let count = 0
    for (; count < HEAL_MAX; count += 1) {
      const ticker = this.#tickers[count % this.#tickers.length] ?? ''
      const isComplete = [...this.path.markets.values()].every(
        (market) => market.actor.isBookLive && market.equals(this.venue.quotedForYes(market.name)),
      )
      if (isComplete) break
      const text = this.venue.snapshotFrame(ticker, { sid: 1, seq: this.#next() })
      this.path.take(text, this.#atMs)
    }
    for (const [fate, number] of this.path.fates) this.#counters.fates.set(fate, number)
    for (const family of ['venue_rejected_total', 'venue_ignored_total']) {
      for (const [reason, number] of this.path.counted(family)) {
        this.#counters.fates.set(`${family.split('_')[1]} ${reason}`, number)
      }
    }
    return count
  }

  #aside(): string {
    const market_ticker = this.#random.pick(this.#tickers)
    const sid = 1
    const ts = Math.floor(this.#atMs / 1000)
    return JSON.stringify(
      this.#random.pick([
        { type: 'ticker', sid: 2, msg: { market_ticker, price_dollars: '0.5100', ts } },
        {
          type: 'trade',
          sid: 3,
          seq: this.#seq,
          msg: {
            trade_id: `t${this.#seq}`,
            market_ticker,
            yes_price_dollars: '0.5100',
            no_price_dollars: '0.4900',
            count_fp: '3.00',
            taker_side: 'yes',
            ts,
          },
        },
        { type: 'ok', id: 9, sid, seq: this.#next(), msg: { market_tickers: [market_ticker] } },
        { type: 'surprise', sid, seq: this.#next(), msg: {} },
      ]),
    )
  }
}

/** Covers a corrupted sequence number that is too high: the actor then skips up to 200 frames. */
const HEAL_MAX = 400

testOnBoth(
  'never throws for thousands of damaged Kalshi frames, and rebuilds the books from the next intact frames',
  KALSHI_STREAM,
  (t, path) => {
    const { tickers, frames } = kalshiRecording(path)
    const random = seededRandom('damaged kalshi')
    const wire = new UnreliableWire(random, { damages: DAMAGES, percent: 30 })
    const counters = newTally()
    const run = new KalshiRun(tickers, { wire, random, counters, isHonest: false })
    while (wire.damagedCount < DAMAGED_MIN) run.round(frames)
    const healedAfter = run.heal()
    report(t, wire, counters)
    t.diagnostic(`healed by ${healedAfter} snapshots of ${tickers.length} markets`)
    assert.ok(healedAfter < HEAL_MAX, 'the books are correct again')
    const liveMin = (counters.sent * tickers.length) / 12
    assert.ok(counters.live > liveMin, 'the books are live often enough for the comparison')
  },
)

testOnBoth(
  'marks a wrong Kalshi book as stale at the next intact frame after lost, repeated, swapped or truncated frames',
  KALSHI_STREAM,
  (t, path) => {
    const { tickers, frames } = kalshiRecording(path)
    const random = seededRandom('lossy kalshi')
    const wire = new UnreliableWire(random, { damages: HONEST, percent: 10 })
    const counters = newTally()
    const run = new KalshiRun(tickers, { wire, random, counters, isHonest: true })
    while (counters.sent < LOSSY_MIN) run.round(frames)
    const healedAfter = run.heal()
    report(t, wire, counters)
    t.diagnostic(`healed by ${healedAfter} snapshots`)
    assert.ok(healedAfter <= tickers.length, 'one snapshot per market corrects all books')
  },
)

test('accepts the next price of a market after a price whose timestamp is far in the future', () => {
  const path = new PolymarketPath('future', ['11', '12'])
  const now = timeMs(1_795_000_000_000)
  const notify = (price: string, timestamp: number) =>
    path.take(
      JSON.stringify({
        event_type: 'last_trade_price',
        asset_id: '11',
        price,
        timestamp: `${timestamp}`,
      }),
      now,
    )
  notify('0.9', 4_000_000_000_000)
  notify('0.4', now + 1)
  assert.equal(path.market.actor.price().price, 400_000)
})

test('leaves the book of a resolved market empty when book messages arrive after the resolution', () => {
  const path = new PolymarketPath('resolved', ['11', '12'])
  const now = timeMs(1_795_000_000_000)
  const book = new NaiveBook()
  book.set({ side: 'bid', price: priceMicros(400_000), size: sizeMicros(5_000_000) })
  path.take(bookFrame(book, ['11', '12'], true, now), now)
  assert.equal(path.market.actor.book().bids.length, 1)
  const resolution = { assets_ids: ['11', '12'], winning_asset_id: '11', timestamp: `${now}` }
  path.take(
    JSON.stringify({ event_type: 'market_resolved', market: 'resolved', ...resolution }),
    now,
  )
  assert.equal(path.market.actor.book().bids.length, 0)
  path.take(bookFrame(book, ['11', '12'], true, now + 5), now)
  const change = { asset_id: '11', price: '0.3', size: '7', side: 'BUY' }
  const late = { event_type: 'price_change', price_changes: [change], timestamp: `${now + 6}` }
  path.take(JSON.stringify(late), now)
  assert.equal(path.market.actor.book().bids.length, 0)
  assert.equal(path.market.actor.summary.status, 'resolved')
})
