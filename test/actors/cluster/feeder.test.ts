import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { Feeder } from '../../../actors/cluster/feeder.ts'
import type { MarketView, VenueView } from '../../../actors/views.ts'
import { unpackAll } from '../../../engine/cluster/batch.ts'
import { clusterBatchBytesMax } from '../../../engine/cluster/cluster-log.ts'
import type { Trade } from '../../../engine/events.ts'
import { encoded } from '../../../engine/msgpack-writer.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Publisher } from '../../../engine/publisher.ts'
import type { TeamListing } from '../../../engine/team-listing.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { type LogItem, writeItem } from '../../../storage/records/log-items.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { bid, level, listing, marketRef, NOON } from '../../support/worlds/builders.ts'
import { eventListing, eventSummary } from '../../support/worlds/stored.ts'

const times = { venueTimeMs: NOON, receivedAtMs: timeMs(NOON + 1) }

const VENUE: VenueView = {
  ...{ venue: 'a', platform: 'venue_a', state: 'live', lagMs: 1, delayMs: 0 },
  ...{
    completeToMs: null,
    tradesSource: null,
    reason: null,
    staleBooks: 0,
    connectionsOpen: 1,
    connectionsWanted: 1,
    drift: [],
  },
}
const FIGURES = {
  ...{ trades: 5, snapshots: 4, databaseBytes: 3, wallets: 2, coverage: {}, books: {} },
  data: 'live',
} as const

function rig(venues: readonly VenueView[] = []) {
  const publisher = new Publisher({ epoch: 'run', log: silentLog, metrics: new Metrics() })
  const market = fakeMarket()
  const published: { shard: string; item: LogItem; offset: number | null }[] = []
  const event = eventSummary(eventListing('one'))
  const feeder = new Feeder({
    publisher,
    catalog: {
      byNumber: (number) => (number === market.ref.number ? market : null),
      event: () => event,
    },
    venues: () => venues,
    figures: () => FIGURES,
    put: (shard, item, position) =>
      published.push({ shard, item, offset: position?.offset ?? null }),
  })
  publisher.watch(feeder)
  return { publisher, market, feeder, published, event }
}

function fakeMarket(text = 'Rules.'): MarketView {
  const listed = listing('one', { description: text })
  const [ref, { description, native, ...summary }] = [marketRef('one', 7), listed]
  const price = {
    price: priceMicros(500_000),
    source: 'none',
    bid: null,
    ask: null,
    observedAtMs: NOON,
  } as const
  const counts = { offset: 1, seq: 1 }
  const levels = {
    bids: [level(0.4, 3)],
    asks: [],
    isStale: false,
    staleReason: null,
    venueTimeMs: NOON,
    receivedAtMs: NOON,
    ...counts,
  }
  return {
    ...{ ref, summary, volume24h: usdMicros(1), volumeTotal: null, version: 1, tradesVersion: 1 },
    volumeUnit: 'usd_traded',
    figures: { ...summary, lastPriceAtMs: null, excess: 0 },
    ...{ isBehind: false, bookConfirmedAtMs: NOON, price: () => price, priceAt: () => null },
    ...{ book: () => ({ ...levels, checksum: 0 }), levels: () => levels, seq: () => 1 },
    ...{ trades: () => [], snapshots: () => [], bars: () => [] },
    ...{ oldestTradeMs: () => null, oldestSnapshotMs: () => null },
    details: () => ({ description, native }),
  }
}

const kindOf = (item: LogItem) => (item.kind === 'update' ? item.update.kind : item.kind)

test('writes a market update to the log shard of the market and kind, and a market’s listing to both shards of its venue', () => {
  const { publisher, market, feeder, published } = rig()
  const { ref, summary } = market
  feeder.isOpen = true
  feeder.onListed(market)
  feeder.onChanged(market)
  const stamped = { market: ref, ...times }
  const book = { kind: 'book', changes: [bid(0.4, 1)], checksum: null, ...stamped } as const
  publisher.publish({ ...book, ...publisher.stamp('orderbook', ref.number) })
  const replaced = { kind: 'bookReplaced', reason: 'first', ...stamped } as const
  publisher.publish({ ...replaced, ...publisher.latest('orderbook', ref.number) })
  const life = {
    kind: 'lifecycle',
    event: 'opened',
    facts: summary,
    matchedMarket: null,
    ...stamped,
  } as const
  publisher.publish({ ...life, ...publisher.stamp('lifecycle', ref.number) })
  const gap = { kind: 'gap', channel: 'trades', market: null, venue: ref.venue } as const
  const range = { platform: ref.platform, fromMs: NOON, toMs: NOON, count: null }
  publisher.publish({ ...gap, ...range })
  const stale = { kind: 'bookStale', reason: 'silent', sinceMs: NOON, isOfVenue: true } as const
  publisher.publish({ ...stale, ...stamped, ...publisher.latest('orderbook', ref.number) })
  feeder.onRemoved(market)
  const [books, trades] = ['books', 'trades']
  assert.deepEqual(
    published.map(({ shard, item, offset }) => [shard, kindOf(item), offset]),
    [
      [books, 'text', null],
      [trades, 'text', null],
      ...(summary.event === null
        ? []
        : [
            [books, 'event', null],
            [trades, 'event', null],
          ]),
      [books, 'listed', null],
      [trades, 'listed', null],
      [books, 'book', 1],
      [books, 'bookReplaced', null],
      [trades, 'lifecycle', 1],
      [trades, 'gap', null],
      [books, 'bookStale', null],
      [books, 'forgotten', null],
      [trades, 'forgotten', null],
    ],
  )
  const complete = published.find(({ item }) => kindOf(item) === 'bookReplaced')?.item
  assert.ok(complete?.kind === 'update')
  assert.deepEqual(complete.book?.bids, market.book().bids)
})

test('writes a market’s text before its listing, and splits a long text between two characters', () => {
  const { feeder, published, market } = rig()
  const long = 'rules 😀'.repeat(30_000)
  const texts = [long, long, 'shorter', '']
  feeder.isOpen = true
  const existing = new Map<number, string>()
  for (const text of texts) {
    published.length = 0
    Object.assign(market, { details: () => ({ description: text, native: {} }) })
    feeder.onListed(market)
    const items = published.filter(({ shard }) => shard === 'trades').map(({ item }) => item)
    for (const item of items) {
      if (item.kind !== 'text') continue
      assert.ok(Buffer.byteLength(item.text) < clusterBatchBytesMax / 2)
      assert.equal(Buffer.from(item.text).toString(), item.text, 'no character is split')
      existing.set(item.market, (existing.get(item.market) ?? '').slice(0, item.from) + item.text)
    }
    assert.equal(existing.get(market.ref.number), text)
    const [block] = feeder.packedTexts.blocks([market])
    assert.ok(block?.kind === 'packed')
    const retained = unpackAll(inflateRawSync(block.packed)) ?? []
    assert.deepEqual(retained, text === '' ? [] : [[18, market.ref.number, 0, text]])
  }
  feeder.onListed(market)
  assert.equal(
    published.filter(({ item }) => item.kind === 'text').length,
    2,
    'an unchanged text is not sent again',
  )
})

test('writes new teams once in items that fit a batch, and writes all teams to each checkpoint', () => {
  const { feeder, published } = rig([VENUE])
  const teams = Array.from({ length: 3_000 }, (_, index) => ({
    ...{ venue: 'a', league: 'cfb', code: `c${index}`, name: '名'.repeat(30) },
    ...{ location: `Place ${index}`, nickname: '' },
  })) satisfies TeamListing[]
  feeder.learnTeams(teams.slice(0, 10))
  feeder.isOpen = true
  feeder.learnTeams(teams)
  feeder.learnTeams(teams)
  const listed = (items: Iterable<LogItem>) =>
    [...items].flatMap((item) => (item.kind === 'teams' ? item.listings : []))
  const items = published.map(({ item }) => item)
  assert.deepEqual(listed(items), teams.slice(10))
  for (const item of items)
    assert.ok(encoded((to) => writeItem(to, item)).length < clusterBatchBytesMax / 2)
  const standing = [...feeder.otherState()]
  assert.deepEqual(listed(standing), teams)
  feeder.beat()
  const beaten = published.slice(items.length).map(({ shard, item }) => [shard, item.kind])
  assert.deepEqual(beaten, [
    ['trades', 'feed'],
    ['trades', 'figures'],
  ])
  assert.deepEqual(standing.at(-1), { kind: 'figures', figures: FIGURES })
})

test('reports once a second which markets have new past trades other than block trades', () => {
  const { feeder, publisher, published, market } = rig()
  const trade: Trade = {
    ...{ nativeId: 't', timeMs: NOON, ordinal: 1, outcomeIndex: 0, isBlock: false },
    side: 'buy',
    ...{ price: priceMicros(400_000), size: sizeMicros(1e6), usd: usdMicros(4e5) },
    ...{ maker: null, taker: null, txHash: null },
  }
  const past = () =>
    published.flatMap(({ shard, item }) => (item.kind === 'past' ? [[shard, item.markets]] : []))
  publisher.publishPastTrade(market.ref, trade, NOON)
  feeder.isOpen = true
  publisher.publishPastTrade(marketRef('two', 8), { ...trade, isBlock: true }, NOON)
  feeder.beat()
  assert.deepEqual(
    past(),
    [],
    'the first checkpoint contains the trade, and block trades do not change bars',
  )
  for (let left = 3; left > 0; left -= 1) publisher.publishPastTrade(market.ref, trade, NOON)
  publisher.publishPastTrade(marketRef('two', 8), trade, NOON)
  feeder.beat()
  feeder.beat()
  assert.deepEqual(past(), [['trades', [7, 8]]])
})

test('writes a matched pair when the pair is stored and when the pair ends, and nothing before the feeder is open', () => {
  const { market, feeder, published } = rig()
  const { matches } = openMemoryStorage()
  const table = feeder.tap(matches)
  const match = {
    ...{ a: market.ref.number, b: 77, matchedAtMs: NOON, score: 90, relation: 'identical' },
    ...{ inverted: false, outcomeMap: null, vetoes: [], reasons: [], explanation: '' },
  }
  table.put(match)
  feeder.onListed(market)
  feeder.onRemoved(market)
  assert.deepEqual(published, [])
  assert.deepEqual([...table.all()], [match], 'the table retains the match')
  feeder.isOpen = true
  table.put(match)
  table.remove(match.a)
  assert.deepEqual(
    published.map(({ item }) => item),
    [
      { kind: 'matched', match },
      { kind: 'unmatched', market: match.a },
    ],
  )
  assert.deepEqual([...table.all()], [])
})
