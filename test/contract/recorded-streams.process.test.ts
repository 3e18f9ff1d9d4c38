// Sends invented and recorded book streams through the parser, the mapper and the market actor. The books must equal
// the venue's next snapshots and reference books built from the same JSON.

import assert from 'node:assert/strict'
import type { LevelChange } from '../../engine/events.ts'
import { EXPLANATIONS } from '../support/reference/book-differences.ts'
import { NaiveBook } from '../support/reference/naive/book.ts'
import { changeV1 } from '../support/reference/protocol-v1.ts'
import { KalshiPath, PolymarketPath } from '../support/rigs/book-paths.ts'
import {
  type CaptureReplay,
  isEqual,
  type Meeting,
  replayCapture,
  totals,
} from '../support/rigs/capture-replay.ts'
import { KalshiBooks } from '../support/worlds/kalshi-books.ts'
import {
  KALSHI_STREAM,
  kalshiRecording,
  mirrored,
  POLYMARKET_STREAM,
  polymarketCaptures,
  testOnBoth,
} from '../support/worlds/recordings.ts'

/** These markets were in play, so a pause of 30 s in a recording is probably a loss. */
const HOLE_MS = 30_000
/** Every LOST_STEP-th Kalshi frame is lost, in a separate run each. */
const LOST_STEP = process.env.TEST_LONG === '1' ? 1 : 10

/** The numbers of the invented stream were counted by hand. */
const EXPECTED = {
  invented: {
    books: 12,
    differences: { fill: 4, rest: 1, ahead: 1, unexplained: 1 },
    crossings: 1,
    fates: { reply: 3, bookSnapshot: 4, bookChange: 33 },
    laterSnapshots: 1,
  },
  recorded: {
    books: 472,
    differences: { fill: 543, rest: 28, ahead: 50, unexplained: 60 },
    crossings: 5,
    fates: { reply: 12, bookSnapshot: 12, bookChange: 245 },
    laterSnapshots: 0,
  },
} as const

const stored = new Map<string, readonly CaptureReplay[]>()
function replaysOf(path: string): readonly CaptureReplay[] {
  const replays = stored.get(path) ?? polymarketCaptures(path).map(replayCapture)
  stored.set(path, replays)
  return replays
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Number of book levels that differ without an explanation. */
const riddles = (meetings: readonly Meeting[]): number => totals(meetings).unexplained

testOnBoth(
  'builds books equal to each recorded Polymarket book, and equal to a reference book between recorded books',
  POLYMARKET_STREAM,
  (t, source, origin) => {
    for (const replay of replaysOf(source)) {
      const { name, booksCompared, booksUnequal, stepsCompared, stepsUnequal, fates } = replay
      const ended = [...fates].map(([fate, count]) => `${fate} ${count}`).join(', ')
      t.diagnostic(
        `${name}: ${booksCompared - booksUnequal} of ${booksCompared} books equal after them, ` +
          `${stepsCompared - stepsUnequal} of ${stepsCompared} live steps equal a naive book; ${ended}`,
      )
      assert.equal(booksUnequal + stepsUnequal, 0, name)
      assert.ok([...fates.keys()].every((fate) => / (mapped|mirrored)$/.test(fate)))
    }
    assert.equal(
      sum(replaysOf(source).map((replay) => replay.booksCompared)),
      EXPECTED[origin].books,
    )
  },
)

testOnBoth(
  'differs from the next recorded Polymarket book by fills, later changes and lost messages, and by nothing else',
  POLYMARKET_STREAM,
  (t, source, origin) => {
    for (const { name, meetings } of replaysOf(source)) {
      const live = meetings.filter((meeting) => meeting.wasLive)
      const stale = meetings.filter((meeting) => !meeting.wasLive)
      t.diagnostic(
        `${name}: ${live.length} books met a live book: ${live.filter(isEqual).length} equal, ` +
          `differing levels ${countsOf(live)}; ${stale.length} met a stale book: ${countsOf(stale)}`,
      )
      for (const { examples, atMs, silentMs, wasLive } of meetings) {
        if (examples.length === 0) continue
        t.diagnostic(
          `  at ${atMs} ms${wasLive ? '' : ' (stale)'}, after ${silentMs} ms of silence, ` +
            `${examples.length} unexplained: ${examples.slice(0, 3).join('; ')}`,
        )
      }
    }
    const live = replaysOf(source).flatMap(({ meetings }) =>
      meetings.filter((meeting) => meeting.wasLive),
    )
    const holes = live.filter((meeting) => meeting.silentMs >= HOLE_MS)
    const others = live.filter((meeting) => meeting.silentMs < HOLE_MS)
    const puzzling = holes.filter((meeting) => riddles([meeting]) > 0)
    t.diagnostic(
      `all: ${live.length} books met a live book, differing levels ${countsOf(live)}. ` +
        `${holes.length} of them came after a silence of ${HOLE_MS / 1000} s or more: ` +
        `${riddles(holes)} unexplained in ${puzzling.length} of these; in the other ` +
        `${others.length}: ${countsOf(others)}`,
    )
    assert.deepEqual(totals(live), EXPECTED[origin].differences)
    assert.ok(
      riddles(others) <= 2,
      'at most two levels are unexplained outside the recording’s gaps',
    )
  },
)

function countsOf(meetings: readonly Meeting[]): string {
  const counts = totals(meetings)
  return EXPLANATIONS.map((name) => `${name} ${counts[name]}`).join(', ')
}

testOnBoth(
  'publishes updates from which a subscriber rebuilds the market actor’s book at every step',
  POLYMARKET_STREAM,
  (t, source) => {
    // FollowedMarket checks after every event that seq has no gap and that every checksum matches.
    for (const { name, path } of replaysOf(source)) {
      const { updateCount, replacedCount, checksumCount } = path.market
      t.diagnostic(
        `${name}: ${updateCount} updates, ${replacedCount} replacements, ${checksumCount} checksums`,
      )
      assert.ok(updateCount > 0 && replacedCount > 0)
    }
  },
)

testOnBoth(
  'marks a book as stale and requests one resync when a change crosses bid and ask, and recovers with the next book',
  POLYMARKET_STREAM,
  (t, source, origin) => {
    const all = replaysOf(source)
    for (const { name, changeCount, changesCrossed, crossings, path } of all) {
      const reported = crossings.map(
        ({ lastedMs, messageCount, ignoredCount }) =>
          `${lastedMs} ms (${messageCount} messages, ${ignoredCount} left out)`,
      )
      t.diagnostic(
        `${name}: ${changesCrossed} of ${changeCount} changes leave a book crossed, in ` +
          `${crossings.length} times: ${reported.join(', ') || 'none'}`,
      )
      assert.deepEqual(path.market.resyncs, Array(crossings.length).fill('crossed'), name)
      for (const { resyncCount, ignoredCount, messageCount } of crossings) {
        assert.equal(resyncCount, 1)
        assert.equal(ignoredCount, messageCount - 1)
      }
      // The first book is a replacement, and so is each recovery.
      assert.equal(path.market.replacedCount, 1 + crossings.length)
    }
    t.diagnostic(
      `all: ${sum(all.map((replay) => replay.changesCrossed))} of ` +
        `${sum(all.map((replay) => replay.changeCount))} changes of both tokens`,
    )
    assert.equal(sum(all.map(({ crossings }) => crossings.length)), EXPECTED[origin].crossings)
  },
)

testOnBoth(
  'builds the same books when the second token of each market is the only source',
  POLYMARKET_STREAM,
  (t, source) => {
    for (const capture of polymarketCaptures(source)) {
      const [first, second] = capture.tokens
      const firstBooks = capture.frames.filter(({ isFirst, book }) => isFirst && book !== null)
      const folded = new PolymarketPath(capture.name, [first, second])
      const asFirst = new PolymarketPath(capture.name, [second, first])
      let [count, compared] = [0, 0]
      for (const frame of capture.frames.filter(({ isFirst }) => !isFirst)) {
        folded.take(frame.text, frame.timeMs)
        asFirst.take(frame.text, frame.timeMs)
        if (frame.book === null) continue
        const reference = firstBooks[count]
        count += 1
        // The two books of one pair were recorded 2 ms apart, with a change in between.
        if (reference?.book == null || reference.timeMs !== frame.timeMs) continue
        compared += 1
        const { bids, asks } = reference.book
        assert.ok(folded.market.equals({ bids, asks }), `${capture.name}, book ${count}`)
        const turned = { bids: asks.map(mirrored), asks: bids.map(mirrored) }
        assert.ok(asFirst.market.equals(turned), `${capture.name}, book ${count} as first`)
      }
      t.diagnostic(`${capture.name}: ${compared} of ${count} books are the first's, mirrored`)
      assert.equal(count, firstBooks.length)
      assert.ok(compared >= count - 1)
    }
  },
)

testOnBoth(
  'builds the same books from the price change formats of 2025 and 2026, with entries of one or both tokens',
  POLYMARKET_STREAM,
  (t, source) => {
    for (const capture of polymarketCaptures(source)) {
      const recorded = new PolymarketPath(capture.name, capture.tokens)
      const both = new PolymarketPath(capture.name, capture.tokens)
      const own = new PolymarketPath(capture.name, capture.tokens)
      const best = new NaiveBook()
      let compared = 0
      for (const frame of capture.frames.filter(({ isFirst }) => isFirst)) {
        recorded.take(frame.text, frame.timeMs)
        for (const change of frame.changes) best.set(change)
        if (frame.book !== null) {
          best.replace(frame.book.bids, frame.book.asks)
          both.take(frame.text, frame.timeMs)
          own.take(frame.text, frame.timeMs)
        } else {
          const { tokens } = capture
          both.take(changeV1(frame, tokens, { book: best }), frame.timeMs)
          own.take(changeV1(asSecond(frame), tokens, { only: 'own' }), frame.timeMs)
        }
        const { bids, asks } = recorded.market.actor.book()
        assert.ok(both.market.equals({ bids, asks }), capture.name)
        assert.ok(own.market.equals({ bids, asks }), capture.name)
        compared += 1
      }
      const { resyncs } = both.market
      t.diagnostic(
        `${capture.name}: ${compared} steps equal, asked again for: ${resyncs.join(', ')}`,
      )
      assert.deepEqual(resyncs, recorded.market.resyncs)
    }
  },
)

function asSecond<T extends { changes: readonly LevelChange[] }>(frame: T): T {
  const changes = frame.changes.map((change) => ({
    ...mirrored(change),
    side: change.side === 'bid' ? ('ask' as const) : ('bid' as const),
  }))
  return { ...frame, isFirst: false, changes }
}

testOnBoth(
  'builds the same books from the Kalshi stream as the reference implementation of the protocol',
  KALSHI_STREAM,
  (t, source, origin) => {
    const expected = EXPECTED[origin]
    const { tickers, frames } = kalshiRecording(source)
    const path = new KalshiPath(tickers)
    const books = new KalshiBooks()
    let [compared, laterSnapshots] = [0, 0]
    for (const { text, frame, receivedAtMs } of frames) {
      const ticker = frame.msg.market_ticker ?? ''
      if (frame.type === 'orderbook_snapshot' && books.has(ticker)) laterSnapshots += 1
      books.take(frame)
      path.take(text, receivedAtMs)
      for (const [name, market] of path.markets) {
        if (!books.has(name)) continue
        assert.ok(market.equals(books.quotedForYes(name)), `${name} after ${text}`)
        assert.equal(market.actor.book().isStale, false, name)
        compared += 1
      }
    }
    const markets = [...path.markets.values()]
    const fates = [...path.fates].map(([fate, count]) => `${fate} ${count}`).join(', ')
    t.diagnostic(
      `${frames.length} frames: ${fates}; ${compared} comparisons with a naive book, all equal; ` +
        `${path.gapCount} gaps; ${laterSnapshots} later snapshots of a market, which the venue ` +
        `itself gives to compare with; ${books.negativeCount} sizes below zero, ` +
        `${sum(markets.map((market) => market.resyncs.length))} books asked for again`,
    )
    assert.deepEqual(Object.fromEntries(path.fates), expected.fates)
    assert.equal(laterSnapshots, expected.laterSnapshots)
    assert.equal(path.gapCount + books.negativeCount, 0)
    assert.equal(sum(markets.map((market) => market.resyncs.length)), 0)
    assert.equal(sum(markets.map((market) => market.updateCount)), expected.fates.bookChange)
  },
)

testOnBoth(
  'marks every book stale at the next frame when any single Kalshi frame is lost',
  KALSHI_STREAM,
  (t, source) => {
    const { tickers, frames } = kalshiRecording(source)
    const numbered = frames.filter(({ frame }) => frame.seq !== undefined)
    let noticed = 0
    for (let lost = 0; lost < numbered.length - 1; lost += LOST_STEP) {
      const path = new KalshiPath(tickers)
      for (const { text, receivedAtMs } of numbered.slice(0, lost)) path.take(text, receivedAtMs)
      const next = numbered[lost + 1]
      assert.ok(next !== undefined)
      path.take(next.text, next.receivedAtMs)
      assert.equal(path.gapCount, 1, `frame ${lost}`)
      const isHealed = next.frame.type === 'orderbook_snapshot'
      for (const [ticker, market] of path.markets) {
        const isLive = !market.actor.book().isStale
        assert.equal(isLive, isHealed && ticker === next.frame.msg.market_ticker, ticker)
      }
      noticed += 1
    }
    t.diagnostic(`${noticed} of ${numbered.length - 1} losses noticed at the next frame`)
  },
)

testOnBoth(
  'builds a book with the levels of the reference book after the last change of a Kalshi stream',
  KALSHI_STREAM,
  (t, source) => {
    const { tickers, frames } = kalshiRecording(source)
    const path = new KalshiPath(tickers)
    const books = new KalshiBooks()
    for (const { text, frame, receivedAtMs } of frames) {
      books.take(frame)
      path.take(text, receivedAtMs)
    }
    let seq = Math.max(...frames.map(({ frame }) => frame.seq ?? 0))
    const atMs = frames.at(-1)?.receivedAtMs
    assert.ok(atMs !== undefined)
    for (const ticker of tickers) {
      seq += 1
      const before = path.markets.get(ticker)?.updateCount
      path.take(books.snapshotFrame(ticker, { sid: 1, seq }), atMs)
      const market = path.markets.get(ticker)
      assert.equal(market?.updateCount, before, 'an unchanged snapshot is not published')
      assert.ok(market?.ignored.includes('book_unchanged'))
    }
    const levels = tickers.map((ticker) => books.quotedForYes(ticker))
    const count = sum(levels.map(({ bids, asks }) => bids.length + asks.length))
    t.diagnostic(`${tickers.length} books of ${count} levels are found equal`)
  },
)
