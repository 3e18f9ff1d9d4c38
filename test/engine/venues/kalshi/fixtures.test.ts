// Every recorded Kalshi file parses and maps, or is refused with the right reason; the counts are
// printed. The recorded stream replays through parse, sequence and map into a naive book.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { VenueEvent } from '../../../../engine/events.ts'
import { isRecord } from '../../../../engine/json-record.ts'
import type { EventListing, MarketListing } from '../../../../engine/market/market.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { sizeMicros, timeMs } from '../../../../engine/units.ts'
import {
  parseEvent,
  parseMarket,
  parseSeries,
} from '../../../../engine/venues/kalshi/catalog/listing.ts'
import { parseOrderbookRow, parseTradeRow } from '../../../../engine/venues/kalshi/catalog/rows.ts'
import { mapMessage, mapTrade } from '../../../../engine/venues/kalshi/map.ts'
import { KalshiStream, Tally } from '../../../../engine/venues/kalshi/stream.ts'
import { NaiveBook } from '../../../support/twins/naive-book.ts'

const ROOT = join(process.env.SHARED_DATA ?? '../shared/data', 'fixtures')
const FOLDERS = ['kalshi', 'kalshi-golden']
const isAbsent = !FOLDERS.every((folder) => existsSync(join(ROOT, folder)))
const skip = isAbsent ? `recorded fixtures are not at ${ROOT}` : false
const NOW = timeMs(1_786_000_000_000)

type Fields = { readonly [name: string]: unknown }
type Counts = Map<string, number>

function readJson(folder: string, file: string): unknown {
  const bytes = readFileSync(join(ROOT, folder, file))
  return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'))
}

/** Everything in the file that looks like a row of ours, wherever it is nested. */
function* rowsIn(value: unknown): Generator<Fields> {
  if (Array.isArray(value)) {
    for (const item of value) yield* rowsIn(item)
  } else if (isRecord(value)) {
    yield value
    for (const item of Object.values(value)) yield* rowsIn(item)
  }
}

function count(counts: Counts, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function checkMarket(listing: MarketListing): void {
  assert.equal(listing.outcomes.length, 2)
  assert.ok(listing.question.length > 3)
  assert.ok(listing.tickMicros !== null && listing.tickMicros > 0, listing.nativeId)
  assert.ok(listing.bestBid === null || (listing.bestBid > 0 && listing.bestBid < 1_000_000))
  assert.ok(listing.closeAtMs !== null && listing.openAtMs !== null)
  assert.ok(listing.createdAtMs !== null && listing.createdAtMs > Date.UTC(2020, 0, 1))
  if (listing.status === 'resolved') assert.ok(listing.settlementPrice !== null)
}

/** Sends one row through the reader that knows its shape; null when it has none of our shapes. */
function readRow(row: Fields, event: EventListing | null): string | null {
  if (typeof row.trade_id === 'string') {
    const trade = parseTradeRow(row)
    if (trade.kind === 'rejected') return `trade ${trade.reason}`
    return mapTrade(trade, NOW, 'history').kind === 'trade' ? 'trade' : 'trade unmapped'
  }
  if (typeof row.ticker === 'string' && typeof row.market_type === 'string') {
    const market = parseMarket(row, event)
    if (market.kind === 'rejected') return `market ${market.reason}`
    checkMarket(market.listing)
    return `market ${market.listing.status}`
  }
  if (typeof row.event_ticker === 'string' && typeof row.mutually_exclusive === 'boolean') {
    const read = parseEvent(row, new Map())
    return read.kind === 'rejected' ? `event ${read.reason}` : 'event'
  }
  if (typeof row.ticker === 'string' && typeof row.fee_type === 'string') {
    return 'kind' in parseSeries(row) ? 'series rejected' : 'series'
  }
  if ('orderbook' in row || 'orderbook_fp' in row) {
    const book = parseOrderbookRow(row, 'T')
    if (book.kind === 'rejected') return `book ${book.reason}`
    return mapMessage(book, NOW, () => {}) === null ? 'book' : 'book unmapped'
  }
  return null
}

/** Market rows take the event they are nested in, as the catalogue does. */
function readFile(value: unknown, counts: Counts): void {
  const events = new Map<string, EventListing>()
  for (const row of rowsIn(value)) {
    if (typeof row.event_ticker !== 'string' || typeof row.mutually_exclusive !== 'boolean')
      continue
    const read = parseEvent(row, new Map())
    if (read.kind === 'event') events.set(row.event_ticker, read.listing)
  }
  for (const row of rowsIn(value)) {
    const event = typeof row.event_ticker === 'string' ? events.get(row.event_ticker) : undefined
    const outcome = readRow(row, event ?? null)
    if (outcome !== null) count(counts, outcome)
  }
}

describe('Kalshi fixtures', { skip }, () => {
  it('[KLIST1] every recorded row parses or is refused with the right reason', (t) => {
    const all = new Map<string, number>()
    for (const folder of FOLDERS) {
      for (const file of readdirSync(join(ROOT, folder)).sort()) {
        if (!/\.json(\.gz)?$/.test(file)) continue
        const counts: Counts = new Map()
        readFile(readJson(folder, file), counts)
        for (const [key, value] of counts) all.set(key, (all.get(key) ?? 0) + value)
        const cells = [...counts].sort().map(([key, value]) => `${key} ${value}`)
        t.diagnostic(`${folder}/${file}: ${cells.join(', ') || 'no market data'}`)
      }
    }
    t.diagnostic(
      `all: ${[...all]
        .sort()
        .map(([key, value]) => `${key} ${value}`)
        .join(', ')}`,
    )
    // Only combinations are refused: everything else in the recordings is readable.
    const refused = [...all.keys()].filter((key) => /rejected|unmapped|_|not_/.test(key))
    assert.deepEqual(refused, [])
    assert.ok((all.get('market combo') ?? 0) > 0)
    assert.ok((all.get('market open') ?? 0) > 500)
    assert.ok((all.get('market resolved') ?? 0) > 30)
    assert.equal(all.get('trade'), 5)
  })

  it('[KMAP1] the recorded stream rebuilds twelve books that never go negative', (t) => {
    const recording = readJson('kalshi', 'ws_orderbook_stream.json')
    assert.ok(isRecord(recording) && Array.isArray(recording.frames))
    const books = new Map<string, NaiveBook>()
    const counts: Counts = new Map()
    let negatives = 0
    let crossed = 0
    let gaps = 0
    let replaced = 0
    const apply = (event: VenueEvent): void => {
      count(counts, event.kind)
      if (event.kind === 'bookSnapshot') {
        if (books.has(event.outcome)) replaced += 1
        const book = new NaiveBook()
        book.replace(event.bids, event.asks)
        books.set(event.outcome, book)
      } else if (event.kind === 'bookChange') {
        const book = books.get(event.outcome)
        assert.ok(book !== undefined, 'a change before its snapshot')
        for (const { side, price, size } of event.changes) {
          const total = book.sizeAt(side, price) + size
          if (total < 0) negatives += 1
          book.set({ side, price, size: sizeMicros(Math.max(0, total)) })
        }
        const bid = book.levels('bid')[0]?.price ?? 0
        const ask = book.levels('ask')[0]?.price ?? 1_000_000
        if (bid >= ask) crossed += 1
      }
    }
    const onGap = () => {
      gaps += 1
    }
    const hooks = { emit: apply, onReply: () => count(counts, 'reply'), onGap, onLost: onGap }
    const stream = new KalshiStream(hooks, new Tally(new Metrics(), silentLog))
    for (const row of recording.frames) {
      assert.ok(isRecord(row) && typeof row.received_ms === 'number')
      const receivedAtMs = timeMs(row.received_ms)
      stream.take({ connection: 1, receivedAtMs, text: JSON.stringify(row.frame) })
    }
    t.diagnostic(
      `12 snapshots, 245 deltas: ${negatives} negative, ${crossed} crossed, ${gaps} gaps, ` +
        `${replaced} later snapshots of a market to compare with`,
    )
    assert.deepEqual(Object.fromEntries(counts), { reply: 12, bookSnapshot: 12, bookChange: 245 })
    assert.equal(negatives + crossed + gaps, 0)
    // The recording holds one snapshot a market, so the venue itself gives nothing to compare with:
    // that no level of 245 changes went below zero and no book crossed is all that it can show.
    assert.equal(replaced, 0)
    let levels = 0
    for (const book of books.values()) {
      for (const side of ['bid', 'ask'] as const) {
        for (const level of book.levels(side)) {
          levels += 1
          assert.ok(level.size > 0 && level.price % 10_000 === 0)
        }
      }
    }
    t.diagnostic(`${books.size} books, ${levels} levels at the end`)
  })
})
