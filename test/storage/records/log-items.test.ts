import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unpackAll } from '../../../engine/cluster/batch.ts'
import type { Update } from '../../../engine/events.ts'
import { encoded } from '../../../engine/msgpack-writer.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import {
  type BookState,
  type LogItem,
  type ReadItem,
  readItem,
  writeItem,
} from '../../../storage/records/log-items.ts'
import { ask, bid, eventListing, level, marketRef, NOON } from '../../support/worlds/builders.ts'
import { opportunity, publishedOpportunity } from '../../support/worlds/opportunities.ts'
import { marketListing, marketSummary, SOME_FEES } from '../../support/worlds/stored.ts'

const [ONE, OTHER] = [marketRef('one', 1), marketRef('other', 2 ** 32 - 1)]
const marketOf = (number: number) => [ONE, OTHER].find((ref) => ref.number === number) ?? null

const STAMPED = {
  market: ONE,
  venueTimeMs: NOON,
  receivedAtMs: timeMs(NOON + 3),
  offset: 2 ** 40,
  seq: 50,
}
const BOOK: BookState = {
  bids: [level(0.41, 100), level(0.4, 2.5)],
  asks: [level(0.42, 7)],
  isStale: false,
  staleReason: null,
  venueTimeMs: NOON,
  receivedAtMs: null,
  offset: 9,
  seq: 8,
}
const PRICE = {
  price: priceMicros(415_000),
  source: 'midpoint',
  bid: priceMicros(410_000),
  ask: null,
  observedAtMs: NOON,
} as const
const TRADE = {
  nativeId: '0xabc-1',
  timeMs: NOON,
  ordinal: 2,
  price: priceMicros(400_000),
  size: sizeMicros(2 ** 40),
  side: 'sell',
  outcomeIndex: 1,
  usd: usdMicros(600_000),
  maker: null,
  taker: '0xdef',
  txHash: null,
  isBlock: true,
} as const
const WHALE = {
  ...TRADE,
  outcome: 'No',
  question: 'Größe “€”?',
  slug: 's',
  eventSlug: null,
  category: null,
  wallet: '0xdef',
  fills: 3,
}
const STATUS = {
  venue: 'a',
  platform: 'venue_a',
  state: 'stale',
  lagMs: 12.5,
  delayMs: 0,
  completeToMs: null,
  tradesSource: 'activity',
  reason: null,
  staleBooks: 0,
} as const
const SUMMARY = marketSummary(marketListing('one', { fees: SOME_FEES }))
const published = publishedOpportunity(opportunity([ONE, OTHER]))

const UPDATES: readonly Update[] = [
  { kind: 'book', ...STAMPED, changes: [bid(0.4, 0), ask(0.43, 12)], checksum: 2 ** 32 - 1 },
  { kind: 'book', ...STAMPED, changes: [], checksum: null },
  { kind: 'bookStale', ...STAMPED, reason: 'silent', sinceMs: timeMs(3), isOfVenue: true },
  { kind: 'bookConfirmed', ...STAMPED, wasStale: true },
  { kind: 'trade', ...STAMPED, trade: TRADE },
  { kind: 'price', ...STAMPED, price: PRICE },
  { kind: 'whale', ...STAMPED, whale: WHALE },
  { kind: 'lifecycle', ...STAMPED, event: 'changed', facts: factsOf(), matchedMarket: null },
  { kind: 'lifecycle', ...STAMPED, event: 'settled', facts: factsOf(), matchedMarket: null },
  { kind: 'lifecycle', ...STAMPED, event: 'matched', facts: factsOf(), matchedMarket: OTHER },
  { ...published, offset: 4, seq: 5 },
  {
    ...published,
    offset: 4,
    seq: 6,
    event: 'closed',
    reason: 'stale',
    previousPeak: published.peak,
  },
  { kind: 'status', ...STATUS },
  {
    ...{ kind: 'gap', channel: 'trades', market: OTHER, venue: 'a', platform: 'venue_a' },
    ...{ fromMs: timeMs(1), toMs: timeMs(2), count: null },
  },
]

function factsOf() {
  const { status, question, slug, eventSlug, outcomes, closeAtMs, settlementPrice, fees } = SUMMARY
  const named = { status, question, slug, eventSlug, outcomes, closeAtMs }
  return { ...named, settlementPrice, fees, resolutionStatus: 'disputed' as const }
}

const FIGURES = {
  ...{ volume24h: usdMicros(2 ** 40), volumeTotal: usdMicros(4), excess: 3 },
  ...{ lastPrice: priceMicros(410_000), lastPriceAtMs: NOON, previousPrice: null },
  ...{ openInterest: sizeMicros(7), figuresAtMs: NOON, dayFiguresAtMs: null },
}
const quoted = {
  price: PRICE,
  figures: { ...FIGURES, volumeTotal: null },
  tradesSeq: 7,
  pricesSeq: 2 ** 33,
}
const seqs = { trades: 1, prices: 2, whales: 3, lifecycle: 4, arbitrage: 5 }
const STATE = {
  ...{ market: 1, book: BOOK, price: PRICE, seqs, figures: FIGURES },
}
const { description, native, ...EVENT } = eventListing('one')
const ITEMS: readonly LogItem[] = [
  ...UPDATES.map((update): LogItem => ({ kind: 'update', update, book: null })),
  { kind: 'update', update: { kind: 'bookReplaced', ...STAMPED, reason: 'first' }, book: BOOK },
  { kind: 'listed', version: 2 ** 33, market: 1, quoted, summary: SUMMARY },
  { kind: 'quoted', market: 1, quoted },
  { kind: 'forgotten', version: 3, market: 1 },
  { kind: 'text', market: 1, from: 65_536, text: 'Größe “€”' },
  { kind: 'packed', packed: Uint8Array.of(1, 2, 255), texts: null },
  { kind: 'packed', packed: Uint8Array.of(3), texts: { from: 128, to: 256 } },
  { kind: 'event', version: 4, event: EVENT },
  {
    kind: 'matched',
    match: {
      ...{ a: 1, b: 2, matchedAtMs: NOON, score: 91.5, relation: 'identical', inverted: null },
      ...{ outcomeMap: [0, 1], vetoes: [], reasons: ['words'], explanation: 'The same.' },
    },
  },
  { kind: 'unmatched', market: 1 },
  { kind: 'past', markets: [1, 70_000] },
  {
    kind: 'teams',
    listings: [
      {
        ...{ venue: 'a', league: 'nfl', code: 'dal', name: 'Dallas Cowboys' },
        location: '',
        nickname: 'é',
      },
      {
        ...{ venue: 'b', league: 'nfl', code: 'PHI', name: '' },
        location: 'Philadelphia',
        nickname: '',
      },
    ],
  },
  {
    kind: 'figures',
    figures: {
      ...{ trades: 2 ** 40, snapshots: 0, databaseBytes: 2 ** 35, wallets: 7 },
      coverage: { a: { oldestMs: timeMs(1), newestMs: NOON }, b: null },
      books: { a: { covered: 7, open: 430_000, policy: 'top:5,category:Sports' } },
      data: 'simulated',
    },
  },
  { kind: 'feed', feed: { ...STATUS, connectionsOpen: 1, connectionsWanted: 2 } },
  { kind: 'state', state: STATE },
  { kind: 'missing', fromBatch: 12 },
  {
    ...{ kind: 'posting', webhook: 'wh_1', eventId: 'evt_ü', eventType: 'trade.created' },
    ...{ createdAtMs: NOON, dueAtMs: timeMs(7), body: Buffer.from('{"ö":1}') },
  },
  {
    ...{ kind: 'posted', webhook: 'wh_1', eventId: 'evt_ü', status: 'pending' },
    ...{ dueAtMs: null, attempts: 3 },
  },
]

function readBack(bytes: Uint8Array): ReadItem {
  const [fields] = unpackAll(bytes) ?? []
  return Array.isArray(fields) ? readItem(fields, marketOf) : 'damaged'
}

test('encodes and decodes every cluster log item without a change', () => {
  for (const item of ITEMS) {
    const read = readBack(encoded((writer) => writeItem(writer, item)))
    assert.deepEqual(read, item, item.kind === 'update' ? item.update.kind : item.kind)
  }
  assert.equal(description, null)
  assert.deepEqual(native, {})
})

test('reports a log item of an unlisted market as unknown, rejects a damaged log item, and never throws', () => {
  const forwarded = { ...STAMPED, market: marketRef('elsewhere', 77) }
  const unknown: LogItem = {
    kind: 'update',
    update: { kind: 'bookConfirmed', ...forwarded, wasStale: false },
    book: null,
  }
  assert.equal(readBack(encoded((writer) => writeItem(writer, unknown))), 'unknown_market')
  const random = seededRandom('damaged items')
  for (const item of ITEMS) {
    const [fields] = unpackAll(encoded((writer) => writeItem(writer, item))) ?? []
    assert.ok(Array.isArray(fields))
    assert.equal(readItem(fields.slice(0, -1), marketOf), 'damaged', item.kind)
    assert.equal(readItem([...fields, 1], marketOf), 'damaged', item.kind)
    for (let round = 0; round < 50; round += 1) {
      const odd = [null, -1, 0.5, 'x', [], {}, Number.NaN, [[]], [null]]
      const other = fields.map((field: unknown) =>
        random.below(4) === 0 ? random.pick(odd) : field,
      )
      const read = readItem(other, marketOf)
      assert.ok(read !== undefined)
    }
  }
  assert.equal(readItem([99, 1], marketOf), 'damaged', 'a kind of a later engine')
})
