// Compares converted rows and frames of Polymarket with the expected values in the fixtures.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { VenueEvent } from '../../../../engine/events.ts'
import type { JsonReader } from '../../../../engine/fetch.ts'
import { nativeMarketId, outcomeId, walletAddress } from '../../../../engine/ids.ts'
import { isRecord } from '../../../../engine/json-record.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import { Tracks } from '../../../../engine/venues/polymarket/book/tracks.ts'
import { DataApi } from '../../../../engine/venues/polymarket/data-api.ts'
import { PolymarketMap } from '../../../../engine/venues/polymarket/map.ts'
import { parseActivity, parseFrame } from '../../../../engine/venues/polymarket/parse.ts'
import { readTrade } from '../../../../engine/venues/polymarket/trades/trade-ledger.ts'
import { readPositions } from '../../../../engine/venues/polymarket/wallets/positions.ts'
import { venueCounters } from '../../../support/fakes/venue-counters.ts'
import { PolymarketPath } from '../../../support/rigs/book-paths.ts'
import { checkCases } from '../../../support/rigs/fixture-readers.ts'
import {
  casesOf,
  INVENTED,
  POLYMARKET_STREAM,
  polymarketCaptures,
  polymarketSteps,
  RECORDED,
  rowsOfFile,
  type Sources,
  testOnBoth,
} from '../../../support/worlds/recordings.ts'

const AT = timeMs(1_795_000_000_000)

/** `feed` returns one result for each message of a frame. */
function mapper(tokens: readonly string[]) {
  const tracks = new Tracks()
  const events: VenueEvent[] = []
  const outcomes: string[] = []
  const map = new PolymarketMap({
    tracks,
    emit: (event) => events.push(event),
    onRejected: (reason) => outcomes.push(`refused: ${reason}`),
    onBook: () => {},
    onLastTrade: () => {},
    onTick: () => {},
    onFees: () => {},
  })
  tracks.add({
    nativeId: nativeMarketId('fixture'),
    outcomes: tokens.map(outcomeId),
    status: 'open',
    openAtMs: null,
    closeAtMs: null,
  })
  tracks.cover(nativeMarketId('fixture'))
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

test('converts every synthetic Polymarket row to its expected values', async () => {
  assert.equal(await checkCases('polymarket'), 137)
})

/** These ids replace the ids of the recorded market. */
const V2 = {
  market: '0x015a7c0de9f1b2a3c4d5e6f708192a3b4c000000000000000000000001000000',
  tokens: [
    '612185276076822352222062085904664800143776424068230380883718929666120089600',
    '612185276076822352222062085904664800143776424068230380883718929666120089601',
  ],
} as const

for (const version of ['v1', 'v2']) {
  test(`builds the expected book from each frame of the current format for a protocol ${version} market`, () => {
    const stream = polymarketSteps(`${INVENTED}/polymarket/book-stream.jsonl`)
    const { market, tokens, steps } = stream
    const requested = version === 'v1' ? stream : V2
    const sent = (text: string) => {
      if (version === 'v1') return text
      return text
        .replaceAll(market, V2.market)
        .replaceAll(tokens[0], V2.tokens[0])
        .replaceAll(tokens[1], V2.tokens[1])
        .replaceAll('"event_type":"book"', '"event_type":"book","version":"v2"')
    }
    const path = new PolymarketPath(requested.market, requested.tokens)
    for (const { name, text, receivedAtMs, becomes, book } of steps) {
      path.fates.clear()
      path.take(sent(text), receivedAtMs)
      const fates = [...path.fates].flatMap(([fate, count]) => Array<string>(count).fill(fate))
      assert.deepEqual(fates.sort(), [...becomes].sort(), name)
      const { bids, asks } = path.market.actor.book()
      assert.deepEqual({ bids, asks }, book, name)
    }
    assert.deepEqual(path.market.resyncs, [])
    assert.equal(steps.length, 21)
  })
}

test('converts every synthetic wallet position to the expected position', async () => {
  const cases = casesOf(`${INVENTED}/polymarket/data-positions.jsonl`)
  const { counters, drift, metrics } = venueCounters('a')
  const rows = cases.map(({ row }) => row)
  const owner = isRecord(rows[0]) ? walletAddress(String(rows[0].proxy_wallet)) : null
  assert.ok(owner !== null)
  const client: JsonReader = {
    getJson: async (_, query = {}) => {
      return { data: query.status === 'OPEN' ? rows : [], pagination: { has_more: false } }
    },
  }
  const data = new DataApi({ client, drift })
  const { signal } = new AbortController()
  const positions = await readPositions({ data, counters }, owner, signal)
  const wanted = cases.flatMap(({ reads }) => reads)
  assert.equal(positions.length, wanted.length)
  for (const [at, position] of positions.entries()) {
    assert.deepEqual({ ...position, ...(isRecord(wanted[at]) ? wanted[at] : {}) }, position)
  }
  const refused = cases.flatMap(({ becomes }) => becomes).filter((fate) => fate !== 'position')
  const counted = [...metrics.counts('venue_rejected_total')].map(([labels, count]) => ({
    ...JSON.parse(labels),
    count: count.value,
  }))
  assert.deepEqual(counted, [{ venue: 'a', reason: 'bad_position', count: refused.length }])
})

// Either token may be the market's first token, so both orders are tested.
for (const isReversed of [false, true]) {
  const order = isReversed ? "with the second token's books first" : "with the first token's first"
  testOnBoth(
    `rebuilds each recorded book of the 2025 stream exactly, ${order}`,
    POLYMARKET_STREAM,
    (t, path, origin) => {
      const { counts, bookCount } = foldStream(path, isReversed)
      for (const [key, count] of counts) t.diagnostic(`${key.padEnd(30)} ${count}`)
      assert.equal(bookCount, origin === 'invented' ? 12 : 472)
      assert.deepEqual([...counts.keys()].sort(), [
        'book mapped',
        'book mirrored',
        'oldPriceChange mapped',
        'oldPriceChange mirrored',
      ])
    },
  )
}

function foldStream(path: string, isReversed: boolean) {
  const counts = new Map<string, number>()
  let bookCount = 0
  for (const { tokens: inOrder, frames } of polymarketCaptures(path)) {
    const tokens = isReversed ? inOrder.toReversed() : inOrder
    const { feed, events } = mapper(tokens)
    const ours = { bid: new Map<number, number>(), ask: new Map<number, number>() }
    for (const { text } of frames) {
      countInto(counts, feed(text))
      for (const event of events.splice(0)) applyTo(ours, event)
      const row: unknown = JSON.parse(text)
      if (!isRecord(row) || row.event_type !== 'book' || row.asset_id !== tokens[0]) continue
      bookCount += 1
      assert.deepEqual(sorted(ours.bid), wireLevels(row.bids), text.slice(0, 300))
      assert.deepEqual(sorted(ours.ask), wireLevels(row.asks), text.slice(0, 300))
    }
  }
  return { counts, bookCount }
}

const SEEDS: Sources = {
  invented: `${INVENTED}/polymarket`,
  recorded: `${RECORDED}/fixtures/polymarket`,
}

testOnBoth('never throws on 2,000 mutated frames of either stream', SEEDS, (t, root, origin) => {
  const random = seededRandom('polymarket fuzz')
  const seeds = (origin === 'invented' ? inventedSeeds(root) : recordedSeeds(root)).map((row) =>
    JSON.stringify(row),
  )
  const activity = seeds
    .filter((text) => text.includes('proxyWallet') && !text.includes('payload'))
    .map((text) => `{"topic":"activity","type":"orders_matched","payload":${text}}`)
  const tokens = seeds.map((text) => /"asset_id":"(\d+)"/.exec(text)?.[1] ?? '1')
  const { feed, events } = mapper([tokens[0] ?? '1', tokens[1] ?? '2'])
  const fates = new Map<string, number>()
  for (let round = 0; round < 2_000; round += 1) {
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
  assert.ok((fates.get('rejected: not_json') ?? 0) > 100)
  assert.ok((fates.get('rejected: unknown_event_type') ?? 0) > 1)
  t.diagnostic([...fates].map(([key, count]) => `${key} ${count}`).join(', '))
})

function inventedSeeds(root: string): readonly unknown[] {
  const files = ['market-frames', 'activity-frames', 'data-trades']
  return files.flatMap((name) => casesOf(`${root}/${name}.jsonl`).map(({ row }) => row))
}

function recordedSeeds(root: string): readonly unknown[] {
  const names = readdirSync(root).filter((name) => /^(ws_|clob_book|data_api_t)/.test(name))
  return names.flatMap((name) => rowsOfFile(`${root}/${name}`))
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
