// Compares converted rows and frames of Kalshi with the expected values in the fixtures.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { VenueEvent } from '../../../../engine/events.ts'
import { nativeMarketId } from '../../../../engine/ids.ts'
import { isRecord } from '../../../../engine/json-record.ts'
import { sizeMicros, timeMs } from '../../../../engine/units.ts'
import { KalshiPastPrices } from '../../../../engine/venues/kalshi/catalog/past-prices.ts'
import { KalshiStream } from '../../../../engine/venues/kalshi/stream.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { stubHttp } from '../../../support/fakes/stub-http.ts'
import { venueCounters } from '../../../support/fakes/venue-counters.ts'
import { NaiveBook } from '../../../support/reference/naive/book.ts'
import { checkCases, kalshiRows } from '../../../support/rigs/fixture-readers.ts'
import {
  casesOf,
  INVENTED,
  KALSHI_STREAM,
  kalshiRecording,
  RECORDED,
  rowsOfFile,
  testOnBoth,
} from '../../../support/worlds/recordings.ts'

const FOLDERS = { invented: `${INVENTED}/kalshi`, recorded: `${RECORDED}/fixtures/kalshi` }

test('converts every synthetic Kalshi row to its expected values', async () => {
  assert.equal(await checkCases('kalshi'), 69)
})

testOnBoth('produces a valid listing from every readable row', FOLDERS, (t, folder, origin) => {
  let count = 0
  for (const file of readdirSync(folder)) {
    if (!/\.jsonl?(\.gz)?$/.test(file) || file.includes('stream')) continue
    const path = `${folder}/${file}`
    const rows = origin === 'invented' ? casesOf(path).map(({ row }) => row) : rowsOfFile(path)
    for (const { fate, value } of kalshiRows(rows)) {
      if (!fate.startsWith('market ')) continue
      assertSound(value, path)
      count += 1
    }
  }
  t.diagnostic(`${count} listings`)
  assert.ok(count >= (origin === 'invented' ? 14 : 600))
})

function assertSound(listing: unknown, path: string): void {
  assert.ok(isRecord(listing), path)
  const { outcomes, question, bestBid, status } = listing
  assert.ok(Array.isArray(outcomes) && outcomes.length === 2, path)
  assert.ok(typeof question === 'string' && question.length > 3, path)
  assert.ok(Number(listing.tickMicros) > 0, `${listing.nativeId}`)
  assert.ok(bestBid === null || (Number(bestBid) > 0 && Number(bestBid) < 1_000_000))
  assert.ok(listing.closeAtMs !== null && listing.openAtMs !== null)
  assert.ok(Number(listing.createdAtMs) > Date.UTC(2020, 0, 1))
  if (status === 'resolved') assert.ok(listing.settlementPrice !== null)
}

testOnBoth(
  'rebuilds books from a stream without negative sizes and equal to the recorded reference books',
  KALSHI_STREAM,
  (t, path, origin) => {
    const fold = new StreamFold()
    const { frames, tickers } = kalshiRecording(path)
    let written = 0
    for (const { text, receivedAtMs, frame, book } of frames) {
      fold.stream.take({ connection: 1, receivedAtMs, text })
      if (book === null) continue
      const wanted = new NaiveBook()
      wanted.replace(book.bids, book.asks)
      const ours = fold.books.get(frame.msg.market_ticker ?? '')
      for (const side of ['bid', 'ask'] as const) {
        assert.deepEqual(ours?.levels(side), wanted.levels(side), text)
      }
      written += 1
    }
    t.diagnostic(`${frames.length} frames, ${written} books compared`)
    assert.equal(written, origin === 'invented' ? 37 : 0)
    assert.equal(fold.books.size, tickers.length)
    assert.equal(fold.negatives + fold.crossed + fold.gaps, 0)
  },
)

/** Builds books from the events of a stream and counts invalid states. */
class StreamFold {
  readonly books = new Map<string, NaiveBook>()
  negatives = 0
  crossed = 0
  gaps = 0
  readonly stream = new KalshiStream(
    {
      emit: (event) => this.#apply(event),
      onReply: () => {},
      onGap: () => this.#lose(),
      onLost: () => this.#lose(),
    },
    venueCounters('b').counters,
  )

  #lose(): void {
    this.gaps += 1
  }

  #apply(event: VenueEvent): void {
    if (event.kind === 'bookSnapshot') {
      const book = new NaiveBook()
      book.replace(event.bids, event.asks)
      this.books.set(event.outcome, book)
    } else if (event.kind === 'bookChange') {
      const book = this.books.get(event.outcome)
      assert.ok(book !== undefined, 'a change arrived before its snapshot')
      for (const { side, price, size } of event.changes) {
        const total = book.sizeAt(side, price) + size
        if (total < 0) this.negatives += 1
        book.set({ side, price, size: sizeMicros(Math.max(0, total)) })
      }
      const bid = book.levels('bid')[0]?.price ?? 0
      const ask = book.levels('ask')[0]?.price ?? 1_000_000
      if (bid >= ask) this.crossed += 1
    }
  }
}

test('returns the expected price at the end of each synthetic candle', async () => {
  const cases = casesOf(`${INVENTED}/kalshi/candles.jsonl`)
  const { counters, metrics } = venueCounters('b')
  const answer = { ticker: 'KXT-1', candlesticks: cases.map(({ row }) => row) }
  const http = stubHttp(() => answer)
  const prices = new KalshiPastPrices({ http, clock: new ManualClock(), counters })
  const market = { nativeId: nativeMarketId('KXT-1'), event: null, series: null, outcomes: [] }
  const range = { fromMs: timeMs(1_801_692_000_000), toMs: timeMs(1_801_692_600_000) }
  const points = await prices.read(market, range, new AbortController().signal)
  assert.deepEqual(
    points,
    cases.flatMap(({ reads }) => reads),
  )
  const refused = cases.flatMap(({ becomes }) => becomes).filter((fate) => fate !== 'candle')
  const counted = [...metrics.counts('venue_rejected_total')].map(([labels]) => JSON.parse(labels))
  assert.deepEqual(
    counted.map(({ reason }: { reason?: string }) => `rejected ${reason}`).sort(),
    refused.sort(),
  )
})
