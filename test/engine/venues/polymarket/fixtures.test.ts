// Recorded data as the judge of parser and mapper: every file of the fixtures with its count, the
// captured stream of 2025 held against the venue's own next books, and mutations of both.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { VenueEvent } from '../../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import { isRecord } from '../../../../engine/json-record.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import { Tracks } from '../../../../engine/venues/polymarket/book/tracks.ts'
import {
  nestedEvent,
  readEvent,
  readMarket,
} from '../../../../engine/venues/polymarket/catalog/listing.ts'
import { PolymarketMap } from '../../../../engine/venues/polymarket/map.ts'
import { isTrade } from '../../../../engine/venues/polymarket/messages.ts'
import { parseActivity, parseFrame } from '../../../../engine/venues/polymarket/parse.ts'
import { readTrade } from '../../../../engine/venues/polymarket/trades/trades.ts'

const SHARED = process.env.SHARED_DATA ?? '../shared/data'
const FIXTURES = `${SHARED}/fixtures/polymarket`
const STREAM = `${SHARED}/polymarket-book-stream-2025.jsonl.gz`
const AT = timeMs(1_795_000_000_000)

function isAbsent(t: TestContext, path: string): boolean {
  if (existsSync(path)) return false
  t.diagnostic(`RECORDED DATA ABSENT: ${path}`)
  t.skip(`${path} is absent`)
  return true
}

function read(name: string): unknown[] {
  const path = `${FIXTURES}/${name}`
  const text = name.endsWith('.gz')
    ? gunzipSync(readFileSync(path)).toString()
    : readFileSync(path, 'utf8')
  if (name.endsWith('.jsonl'))
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const value: unknown = JSON.parse(text)
  return Array.isArray(value) ? value : [value]
}

/** Everything the map makes of frames about these tokens. */
function mapper(tokens: readonly string[]) {
  const tracks = new Tracks()
  const events: VenueEvent[] = []
  const outcomes: string[] = []
  const map = new PolymarketMap({
    tracks,
    emit: (event) => events.push(event),
    onRejected: (reason) => outcomes.push(`refused: ${reason}`),
    onBook: () => {},
    onTick: () => {},
  })
  tracks.add({
    nativeId: nativeMarketId('fixture'),
    outcomes: tokens.map(outcomeId),
    status: 'open',
    openAtMs: null,
    closeAtMs: null,
  })
  const feed = (text: string) => {
    outcomes.length = 0
    const parsed = parseFrame(text)
    if (parsed.kind !== 'messages') return [parsed.kind]
    for (const message of parsed.messages) {
      if (message.kind === 'rejected') outcomes.push(`rejected: ${message.reason}`)
      else {
        const fate = map.map(message, AT)
        if (fate !== 'rejected') outcomes.push(`${message.kind} ${fate}`)
      }
    }
    return [...outcomes]
  }
  return { feed, events }
}

function countInto(counts: Map<string, number>, keys: readonly string[]): void {
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** A row of any file, by what kind of row the file holds. */
function outcomeOf(name: string, row: unknown): readonly string[] {
  if (name.startsWith('ws_') || name === 'clob_book_response.json') {
    const first = /"asset_id":"(\d+)"/.exec(JSON.stringify(row))?.[1] ?? '1'
    return mapper([first, 'other']).feed(JSON.stringify(row))
  }
  if (name.startsWith('data_api_trades')) {
    const trade = isTrade(row) ? readTrade(row) : 'bad_trade'
    return [typeof trade === 'string' ? `rejected: ${trade}` : 'trade']
  }
  if (/^gamma.*events|^gamma_event|^search/.test(name)) {
    const events = isRecord(row) && Array.isArray(row.events) ? row.events : [row]
    return events.flatMap((event) => {
      const listing = readEvent(event)
      const markets = isRecord(event) && Array.isArray(event.markets) ? event.markets : []
      const parent = isRecord(event) ? event : null
      return [
        typeof listing === 'string' ? `rejected: ${listing}` : 'event',
        ...markets.map((market) => marketOutcome(readMarket(market, parent))),
      ]
    })
  }
  return [marketOutcome(readMarket(row, isRecord(row) ? nestedEvent(row) : null))]
}

function marketOutcome(listing: ReturnType<typeof readMarket>): string {
  return typeof listing === 'string' ? `rejected: ${listing}` : `market ${listing.status}`
}

const EXPECTED: Readonly<Record<string, string>> = {
  'clob_book_response.json': 'book mapped 1',
  'clob_fee_rate_response_nonzero.json': 'rejected: no_condition_id 1',
  'clob_fee_rate_response_zero.json': 'rejected: no_condition_id 1',
  'clob_market_closed_binary_accepting_false.json': 'rejected: no_condition_id 1',
  'clob_market_closed_binary_accepting_true.json': 'rejected: no_condition_id 1',
  'data_api_positions_response.json': 'rejected: no_question 4',
  'data_api_trades_response.json': 'trade 3',
  'gamma-markets-2025-11-08.jsonl': 'market open 175, market closed 4',
  'gamma-nba-events-2026-01.json.gz':
    'event 50, market closed 10, market resolved 218, market open 510',
  'gamma_event.json': 'event 1, market open 2',
  'gamma_market.json': 'market open 1',
  'gamma_market_closed_binary_accepting_false.json': 'market resolved 1',
  'gamma_market_closed_binary_accepting_true.json': 'market resolved 1',
  'gamma_market_closed_nonbinary_legacy.json': 'market closed 1',
  'gamma_market_closed_zero_zero_legacy.json': 'market closed 1',
  'gamma_market_sports_market_map_handicap.json': 'market resolved 1',
  'gamma_market_sports_market_money_line.json': 'market resolved 1',
  'gamma_tags.json': 'rejected: no_condition_id 5',
  'search_response.json': 'event 1, market open 1',
  'ws_book_snapshot.json': 'book mapped 1',
  'ws_last_trade.json': 'rejected: no_event_type 1',
  'ws_market_best_bid_ask_msg.json': 'bestBidAsk ignored 1',
  'ws_market_book_msg.json': 'book mapped 1',
  'ws_market_last_trade_msg.json': 'lastTrade mapped 1',
  'ws_market_new_market_msg.json': 'newMarket mapped 1',
  'ws_market_price_change_msg.json': 'priceChange mapped 1',
  'ws_market_resolved_msg.json': 'resolved mapped 1',
  'ws_market_tick_size_msg.json': 'tickSize mapped 1',
  'ws_quotes.json': 'rejected: no_event_type 1',
  'ws_tick_size_change.json': 'rejected: no_event_type 1',
}

test('[POLYPARSE1] every recorded file parses and maps, or is rejected with its reason', (t) => {
  if (isAbsent(t, FIXTURES)) return
  for (const name of readdirSync(FIXTURES).sort()) {
    const counts = new Map<string, number>()
    for (const row of read(name)) countInto(counts, outcomeOf(name, row))
    const text = [...counts].map(([key, count]) => `${key} ${count}`).join(', ')
    t.diagnostic(`${name.padEnd(50)} ${text}`)
    assert.equal(text, EXPECTED[name], name)
  }
})

// Either token may be the market's first: in this order the first's books come before the second's,
// in the other one behind them.
for (const isReversed of [false, true]) {
  const order = isReversed ? "with the second token's books first" : "with the first token's first"
  test(`[POLYMAP4] after each book of the recorded stream ours equals it, ${order}`, (t) =>
    foldRecorded(t, isReversed))
}

function foldRecorded(t: TestContext, isReversed: boolean): void {
  if (isAbsent(t, STREAM)) return
  const lines = gunzipSync(readFileSync(STREAM)).toString().trim().split('\n')
  const counts = new Map<string, number>()
  let bookCount = 0
  for (const [inOrder, texts] of byCapture(lines)) {
    const tokens = isReversed ? inOrder.toReversed() : inOrder
    const { feed, events } = mapper(tokens)
    const ours = { bid: new Map<number, number>(), ask: new Map<number, number>() }
    for (const text of texts) {
      countInto(counts, feed(text))
      for (const event of events.splice(0)) applyTo(ours, event)
      const row: unknown = JSON.parse(text)
      if (!isRecord(row) || row.event_type !== 'book' || row.asset_id !== tokens[0]) continue
      bookCount += 1
      assert.deepEqual(sorted(ours.bid), wireLevels(row.bids), text.slice(0, 300))
      assert.deepEqual(sorted(ours.ask), wireLevels(row.asks), text.slice(0, 300))
    }
  }
  for (const [key, count] of counts) t.diagnostic(`${key.padEnd(30)} ${count}`)
  assert.equal(bookCount, 472)
  assert.deepEqual([...counts.keys()].sort(), [
    'book mapped',
    'book mirrored',
    'oldPriceChange mapped',
    'oldPriceChange mirrored',
  ])
}

test('[POLYPARSE3] 20,000 mutated frames never throw, on either stream', (t) => {
  if (isAbsent(t, FIXTURES)) return
  const random = seededRandom('polymarket fuzz')
  const names = readdirSync(FIXTURES).filter((name) => /^(ws_|clob_book|data_api_t)/.test(name))
  const seeds = names.flatMap((name) => read(name)).map((row) => JSON.stringify(row))
  const activity = seeds
    .filter((text) => text.includes('proxyWallet'))
    .map((text) => `{"topic":"activity","type":"orders_matched","payload":${text}}`)
  const tokens = seeds.map((text) => /"asset_id":"(\d+)"/.exec(text)?.[1] ?? '1')
  const { feed, events } = mapper([tokens[0] ?? '1', tokens[1] ?? '2'])
  const fates = new Map<string, number>()
  for (let round = 0; round < 20_000; round += 1) {
    const text = mutate(random.pick([...seeds, ...activity]), random)
    countInto(fates, feed(text))
    const parsed = parseActivity(text)
    countInto(fates, [`activity ${parsed.kind}`])
    if (parsed.kind === 'activity') {
      const row = readTrade(parsed.message.row)
      if (typeof row !== 'string') {
        assert.ok(Number.isInteger(row.price) && Number.isSafeInteger(row.size), text)
      }
    }
    for (const event of events.splice(0)) assertSane(event, text)
  }
  assert.ok((fates.get('rejected: not_json') ?? 0) > 1_000)
  assert.ok((fates.get('rejected: unknown_event_type') ?? 0) > 10)
  t.diagnostic([...fates].map(([key, count]) => `${key} ${count}`).join(', '))
})

function byCapture(lines: readonly string[]): Map<string[], string[]> {
  const texts = new Map<string, string[]>()
  const tokens = new Map<string, string[]>()
  for (const line of lines) {
    const row: { capture: string; asset_id: string } = JSON.parse(line)
    const known = tokens.get(row.capture) ?? []
    if (!known.includes(row.asset_id)) known.push(row.asset_id)
    tokens.set(row.capture, known)
    texts.set(row.capture, [...(texts.get(row.capture) ?? []), line])
  }
  return new Map([...texts].map(([capture, list]) => [tokens.get(capture) ?? [], list]))
}

function applyTo(
  book: { bid: Map<number, number>; ask: Map<number, number> },
  event: VenueEvent,
): void {
  if (event.kind === 'bookSnapshot') {
    book.bid = new Map(event.bids.map(({ price, size }) => [price, size]))
    book.ask = new Map(event.asks.map(({ price, size }) => [price, size]))
  } else if (event.kind === 'bookChange') {
    for (const { side, price, size } of event.changes) {
      if (size === 0) book[side].delete(price)
      else book[side].set(price, size)
    }
  }
}

const sorted = (levels: Map<number, number>) => [...levels].sort(([one], [other]) => one - other)

function wireLevels(value: unknown): [number, number][] {
  assert.ok(Array.isArray(value))
  const levels = value.map((level: { price: string; size: string }): [number, number] => [
    Math.round(Number(level.price) * 1e6),
    Math.round(Number(level.size) * 1e6),
  ])
  return levels.filter(([, size]) => size > 0).sort(([one], [other]) => one - other)
}

const BITS = [
  '',
  '<html>',
  '"',
  'null',
  '1e309',
  '-1',
  '{}',
  '[]',
  '"event_type":"x",',
  '0.0000001',
  '\u0000',
]

function mutate(text: string, random: ReturnType<typeof seededRandom>): string {
  const at = random.below(text.length + 1)
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + random.pick(BITS) + text.slice(at)
    case 2:
      return text.slice(0, at) + text.slice(at + 1 + random.below(20))
    case 3:
      return text.replace(/"[^"]*"/g, (part) => (random.below(12) === 0 ? random.pick(BITS) : part))
    case 4:
      return text.replace(/[0-9.]+/g, (part) =>
        random.below(6) === 0 ? `${random.below(1e9)}${random.pick(['', 'e99', '.5', '-'])}` : part,
      )
    default:
      return `[${text},${random.pick(BITS)}]`.replace(/"event_type":"\w+"/, (part) =>
        random.below(3) === 0 ? '"event_type":"surprise"' : part,
      )
  }
}

function assertSane(event: VenueEvent, text: string): void {
  assert.ok(Number.isSafeInteger(event.venueTimeMs) && event.receivedAtMs === AT, text)
  const levels =
    event.kind === 'bookSnapshot'
      ? [...event.bids, ...event.asks]
      : event.kind === 'bookChange'
        ? event.changes
        : []
  for (const { price, size } of levels) {
    assert.ok(Number.isInteger(price) && price >= 0 && price <= 1_000_000, text)
    assert.ok(Number.isSafeInteger(size) && size >= 0, text)
  }
}
