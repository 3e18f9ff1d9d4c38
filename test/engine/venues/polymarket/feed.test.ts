import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FeedEvent, TradeEvent, VenueEvent } from '../../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import type { PolymarketFeedOptions } from '../../../../engine/venues/polymarket/feed.ts'
import type { WireTrade } from '../../../../engine/venues/polymarket/messages.ts'
import { openPolymarket } from '../../../../engine/venues/polymarket/polymarket.ts'
import type { WatchedMarket } from '../../../../engine/venues/venue.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { PolymarketStub, type StubSocket } from '../../../support/fakes/polymarket-stub.ts'
import { watchBooks } from '../../../support/fakes/watch-books.ts'
import { dataRow } from '../../../support/worlds/data-api-rows.ts'

const START_MS = 1_795_000_000_000

async function openFeed(t: TestContext, options: PolymarketFeedOptions = {}) {
  const stub = new PolymarketStub()
  const hosts = await stub.start()
  const clock = new ManualClock(START_MS)
  const metrics = new Metrics()
  const events: VenueEvent[] = []
  const parts = { clock, random: seededRandom('feed'), log: silentLog, metrics }
  const emit = (event: VenueEvent) => {
    events.push(event)
  }
  const { feed, drift } = openPolymarket({ ...parts, emit }, hosts, options)
  t.after(async () => {
    await feed.stop()
    await stub.stop()
  })
  const ofKind = <Kind extends VenueEvent['kind']>(kind: Kind) =>
    events.filter((event): event is Extract<VenueEvent, { kind: Kind }> => event.kind === kind)
  const feedEvents = (kind: FeedEvent['kind'], stream: FeedEvent['stream']) =>
    events.filter(
      (event): event is FeedEvent =>
        event.kind === kind && 'stream' in event && event.stream === stream,
    )
  const trades = () => ofKind('trade')
  return { stub, clock, feed, events, metrics, ofKind, feedEvents, trades, drift }
}

const AUDITED: PolymarketFeedOptions = { bookNoDataAfterMs: 3_600_000, auditEveryMs: 5_000 }

/** Resolves when the stub has received the subscriptions to trades and to these markets' books. */
async function watching(
  t: TestContext,
  markets: readonly number[],
  options?: PolymarketFeedOptions,
) {
  const opened = await openFeed(t, options)
  const { stub, feed } = opened
  feed.start()
  if (markets.length > 0)
    watchBooks(
      feed,
      markets.map((number) => market(number)),
    )
  await until(() => commands(sockets(stub, '/rtds')[0]).length === 1, 'trades subscribed')
  const areBooked = () => markets.length === 0 || commands(books(stub)[0]).length === 1
  await until(areBooked, 'books subscribed')
  return opened
}

/** The clock does not advance. */
async function until(isMet: () => boolean, what: string): Promise<void> {
  for (let round = 0; round < 20_000; round += 1) {
    if (isMet()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.fail(`never: ${what}`)
}

const market = (number: number, more: Partial<WatchedMarket> = {}): WatchedMarket => ({
  nativeId: nativeMarketId(`0x${number}`),
  outcomes: [outcomeId(`${number}1`), outcomeId(`${number}2`)],
  status: 'open',
  openAtMs: null,
  closeAtMs: null,
  ...more,
})

const commands = (socket: StubSocket | undefined): Record<string, unknown>[] =>
  (socket?.received ?? []).filter((text) => text !== 'PING').map((text) => JSON.parse(text))
const sockets = (stub: PolymarketStub, path: string) =>
  stub.sockets.filter((socket) => socket.path === path)
const books = (stub: PolymarketStub) => sockets(stub, '/ws/market')
const send = (socket: StubSocket | undefined, message: unknown) =>
  socket?.socket.send(typeof message === 'string' ? message : JSON.stringify(message))

const book = (asset: string, atMs: number, bid = '0.4') => ({
  event_type: 'book',
  asset_id: asset,
  market: '0x',
  timestamp: String(atMs),
  hash: `${asset}@${atMs}`,
  bids: [{ price: bid, size: '5' }],
  asks: [{ price: '0.6', size: '5' }],
})
const row = (more: Partial<WireTrade> = {}): WireTrade => ({
  proxyWallet: '0xaa',
  asset: '11',
  conditionId: '0x1',
  side: 'BUY',
  size: 10,
  price: 0.5,
  timestamp: START_MS / 1_000,
  transactionHash: '0xfeed',
  ...more,
})
const lastTrade = (more: object = {}) => ({
  event_type: 'last_trade_price',
  market: '0x1',
  asset_id: '11',
  price: '0.5',
  size: '10',
  side: 'BUY',
  fee_rate_bps: '0',
  timestamp: String(START_MS),
  transaction_hash: '0xfeed',
  ...more,
})
const activity = (type: string, more: Partial<WireTrade> = {}) => ({
  topic: 'activity',
  type,
  timestamp: START_MS,
  payload: row(more),
})

test('subscribes to the two tokens of a market on one socket, and to venue-wide messages on one socket', async (t) => {
  const { stub, feed, clock, feedEvents } = await openFeed(t, { assetsPerSocketMax: 4 })
  watchBooks(feed, [market(1), market(2), market(3), market(1)])
  feed.start()
  clock.advance(100)
  const hasBoth = () => books(stub).length === 2
  await until(() => hasBoth() && books(stub).every((one) => commands(one).length > 0), 'commands')
  assert.deepEqual(feedEvents('feedUp', 'books'), [], 'no data has arrived yet')
  for (const [index, asset] of ['11', '31'].entries()) {
    send(books(stub)[index], [book(asset, START_MS)])
    await until(() => feedEvents('feedUp', 'books').length === index + 1, 'up')
  }
  const first = books(stub).map((socket) => commands(socket)[0])
  assert.deepEqual(first, [
    { assets_ids: ['11', '12', '21', '22'], type: 'market', custom_feature_enabled: true },
    { assets_ids: ['31', '32'], type: 'market' },
  ])
  const up = feedEvents('feedUp', 'books')
  assert.deepEqual(
    up.map(({ outcomes, sinceMs, connection }) => ({ outcomes, sinceMs, connection })),
    [
      { outcomes: ['11', '21'], sinceMs: null, connection: 1 },
      { outcomes: ['31'], sinceMs: null, connection: 2 },
    ],
  )
  watchBooks(feed, [market(4)])
  await until(() => commands(books(stub)[1]).length === 2, 'a later market joins')
  assert.deepEqual(commands(books(stub)[1])[1], {
    assets_ids: ['41', '42'],
    operation: 'subscribe',
  })
  assert.deepEqual(feed.health().connectionsWanted, 3)
  feed.unwatch([nativeMarketId('0x4'), nativeMarketId('0x9')])
  await until(() => commands(books(stub)[1]).length === 3, 'unsubscribed')
  assert.deepEqual(commands(books(stub)[1])[2], {
    assets_ids: ['41', '42'],
    operation: 'unsubscribe',
  })
})

test('subscribes to the books of covered markets, and reports trades and closing times of all watched markets', async (t) => {
  const { stub, feed, clock, feedEvents, ofKind, trades } = await openFeed(t)
  const closeAtMs = timeMs(START_MS + 1_000)
  feed.watch([market(1, { closeAtMs }), market(2, { closeAtMs })])
  feed.start()
  await until(() => commands(sockets(stub, '/rtds')[0]).length === 1, 'trades subscribed')
  const { connectionsOpen, connectionsWanted } = feed.health()
  assert.deepEqual([connectionsOpen, connectionsWanted], [1, 1], 'no connection for books')
  feed.cover([nativeMarketId('0x2'), nativeMarketId('0x2'), nativeMarketId('0x9')])
  await until(() => commands(books(stub)[0]).length === 1, 'subscribed')
  assert.deepEqual(commands(books(stub)[0])[0]?.assets_ids, ['21', '22'])
  assert.equal(feed.health().connectionsWanted, 2)
  send(books(stub)[0], [book('11', START_MS), book('21', START_MS)])
  send(books(stub)[0], { event_type: 'price_change', market: '0x1', price_changes: 5 })
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  send(sockets(stub, '/rtds')[0], activity('orders_matched'))
  await until(() => trades().length === 1, 'a trade of an uncovered market')
  clock.advance(4_000)
  const closed = ofKind('marketSeen').map(({ market }) => market)
  assert.deepEqual(closed.toSorted(), ['0x1', '0x2'])
  assert.deepEqual(feedEvents('feedGap', 'books'), [])
})

test('unsubscribes from an uncovered book, drops its late messages, and starts with a snapshot when coverage returns', async (t) => {
  const { stub, feed, clock, feedEvents, ofKind } = await watching(t, [1, 2])
  const snapshots = () => ofKind('bookSnapshot').map(({ outcome }) => outcome)
  const change = (asset: string) => ({
    event_type: 'price_change',
    timestamp: String(START_MS + 5),
    price_changes: [{ asset_id: asset, price: '0.3', size: '2', side: 'BUY', ...COMPLETE }],
  })
  send(books(stub)[0], [book('11', START_MS), book('21', START_MS)])
  await until(() => snapshots().length === 2, 'both books')
  feed.uncover([nativeMarketId('0x1'), nativeMarketId('0x9')])
  await until(() => commands(books(stub)[0]).length === 2, 'unsubscribed')
  assert.deepEqual(commands(books(stub)[0])[1], {
    assets_ids: ['11', '12'],
    operation: 'unsubscribe',
  })
  feed.resync([outcomeId('11')])
  feed.readBooks([outcomeId('11')])
  clock.advance(8_000)
  send(books(stub)[0], [book('11', START_MS + 5), change('11'), change('21')])
  await until(() => ofKind('bookChange').length === 1, 'the change of the covered book')
  assert.deepEqual(snapshots(), ['11', '21'])
  assert.equal(commands(books(stub)[0]).length, 2, 'no snapshot of an uncovered book')
  assert.deepEqual(feedEvents('feedGap', 'books'), [], 'its messages name no unknown token')
  feed.cover([nativeMarketId('0x1')])
  await until(() => commands(books(stub)[0]).length === 3, 'subscribed again')
  send(books(stub)[0], book('11', START_MS))
  await until(() => snapshots().length === 3, 'a snapshot with an equal timestamp is accepted')
  feed.uncover([nativeMarketId('0x1'), nativeMarketId('0x2')])
  assert.equal(feed.health().connectionsWanted, 1)
})

test('reports the outcomes of a lost socket as down, reconnects and subscribes to the outcomes on the new socket', async (t) => {
  const { stub, clock, feedEvents, ofKind } = await watching(t, [1])
  clock.advance(1_000)
  send(books(stub)[0], [book('11', START_MS), book('12', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  clock.advance(500)
  books(stub)[0]?.socket.terminate()
  await until(() => feedEvents('feedDown', 'books').length === 1, 'down')
  const [down] = feedEvents('feedDown', 'books')
  assert.deepEqual(down?.outcomes, ['11'])
  assert.equal(down?.sinceMs, START_MS + 1_000)
  clock.advance(1_000)
  await until(() => commands(books(stub)[1]).length === 1, 'subscribed again')
  assert.equal(feedEvents('feedUp', 'books').length, 1, 'no data has arrived on the new socket')
  send(books(stub)[1], [book('12', START_MS), book('11', START_MS)])
  await until(
    () => ofKind('bookSnapshot').length === 3,
    'a book with an equal timestamp is accepted again',
  )
  assert.equal(feedEvents('feedUp', 'books')[1]?.sinceMs, START_MS + 1_000)
})

test('sends PING every ten seconds, and does not treat PONG and notices as data', async (t) => {
  const { stub, feed, clock } = await watching(t, [1])
  clock.advance(10_000)
  await until(() => books(stub)[0]?.received.includes('PING') === true, 'PING')
  send(books(stub)[0], 'PONG')
  send(books(stub)[0], 'NO NEW ASSETS')
  await until(() => feed.health().lastSignAtMs === START_MS + 10_000, 'a heartbeat')
  assert.equal(feed.health().lastDataAtMs, null)
})

const COMPLETE = { best_bid: '0.4', best_ask: '0.6', hash: 'h' }
test('marks a book as suspect when the book’s hash contradicts a change, and records missing hashes or best prices', async (t) => {
  const { stub, clock, feedEvents, ofKind, drift } = await watching(t, [1, 2], AUDITED)
  const change = (asset: string, more: object) => ({
    event_type: 'price_change',
    timestamp: String(START_MS + 5),
    price_changes: [{ asset_id: asset, price: '0.4', size: '2.5', side: 'BUY', ...more }],
  })
  send(books(stub)[0], [book('11', START_MS), book('21', START_MS)])
  send(books(stub)[0], [change('11', COMPLETE), change('21', { ...COMPLETE, size: '5' })])
  await until(() => ofKind('bookChange').length === 2, 'changes')
  assert.deepEqual(drift.entries(), [])
  const rest = ['11', '21'].map((asset) => ({ ...book(asset, START_MS + 5), hash: 'h' }))
  stub.rest = ({ path }) => (path === '/books' ? rest : [])
  clock.advance(5_000)
  const requested = () => stub.requests.filter(({ path }) => path === '/books').length
  for (const [count, ms] of [
    [1, 3_000],
    [2, 1_500],
  ] as const) {
    await until(() => requested() === count, 'a REST read')
    await settle()
    assert.equal(feedEvents('feedGap', 'books').length, 0, 'a single REST read proves nothing')
    clock.advance(ms)
  }
  await until(() => feedEvents('feedGap', 'books').length === 1, 'gap')
  assert.deepEqual(feedEvents('feedGap', 'books')[0]?.outcomes, ['11'])
  send(books(stub)[0], change('21', {}))
  await until(() => ofKind('bookChange').length === 3, 'a change without hash and best prices')
  assert.deepEqual(
    drift.entries().map(({ kind, name }) => `${kind}=${name}`),
    [
      'book.audit=other sizes',
      'ws.price_change=best prices missing',
      'ws.price_change=hash missing',
    ],
  )
})

test('reads books under hexadecimal ids, and marks books as suspect when messages name unknown tokens', async (t) => {
  const { stub, feed, clock, feedEvents, ofKind, drift } = await watching(t, [1, 2, 3])
  feed.unwatch([nativeMarketId('0x3')])
  const gaps = () => feedEvents('feedGap', 'books').flatMap(({ outcomes }) => outcomes)
  const change = (asset: string, marketId = '0x') => ({
    event_type: 'price_change',
    market: marketId,
    timestamp: String(START_MS + 5),
    price_changes: [{ asset_id: asset, price: '0.3', size: '2', side: 'BUY', ...COMPLETE }],
  })
  send(books(stub)[0], [book('0xb', START_MS), book('21', START_MS), change('0xB'), change('31')])
  await until(() => ofKind('bookChange').length === 1, 'a change under an id in hexadecimal')
  assert.deepEqual(
    [...ofKind('bookSnapshot'), ...ofKind('bookChange')].map(({ outcome }) => outcome),
    ['11', '21', '11'],
  )
  send(books(stub)[0], change('911', '0x1'))
  await until(() => gaps().length === 1, 'a gap of the named market')
  // Two messages in a row about unknown tokens have no effect. The third makes all books suspect.
  send(books(stub)[0], [change('921'), change('922')])
  send(books(stub)[0], [change('21'), change('921'), change('31'), change('31'), change('922')])
  await until(() => ofKind('bookChange').length === 2, 'a change of a known token')
  assert.deepEqual(gaps(), ['11'])
  send(books(stub)[0], change('0xdddd'))
  await until(() => gaps().length === 2, 'gaps of all books')
  assert.deepEqual(gaps(), ['11', '21'], 'no second gap for a suspect market')
  const found = drift.entries().map(({ kind, name }) => `${kind}=${name}`)
  assert.deepEqual(found, ['ws.asset_id=hexadecimal', 'ws.asset_id=not subscribed'])
  clock.advance(10_000)
  send(books(stub)[0], [book('11', START_MS + 9), book('21', START_MS + 9)])
  send(books(stub)[0], { event_type: 'price_change', timestamp: '1', price_changes: [{}] })
  await until(() => gaps().length === 4, 'gaps of all books for a message without ids')
  assert.deepEqual(gaps().slice(2), ['11', '21'])
})

test('reports an unreadable book as a gap of its market and requests a snapshot', async (t) => {
  const { stub, clock, feedEvents, metrics } = await watching(t, [1, 2])
  send(books(stub)[0], [book('11', START_MS), book('21', START_MS)])
  clock.advance(2_000)
  send(books(stub)[0], { ...book('11', START_MS + 5), bids: [{ price: '0.1234567', size: '1' }] })
  await until(() => feedEvents('feedGap', 'books').length === 1, 'gap')
  assert.deepEqual(feedEvents('feedGap', 'books')[0]?.outcomes, ['11'])
  send(books(stub)[0], '{"event_type":"price_change","price_changes":[{"asset_id":"21",')
  await until(() => feedEvents('feedGap', 'books').length === 2, 'gap of a truncated frame')
  assert.deepEqual(feedEvents('feedGap', 'books')[1]?.outcomes, ['21'])
  clock.advance(50)
  await until(() => commands(books(stub)[0]).length === 3, 'resubscribed')
  assert.deepEqual(commands(books(stub)[0]).slice(1), [
    { assets_ids: ['11', '12', '21', '22'], operation: 'unsubscribe' },
    { assets_ids: ['11', '12', '21', '22'], operation: 'subscribe', custom_feature_enabled: true },
  ])
  // A market has only one gap until its next snapshot.
  const renamed = { event_type: 'price_change', entries: [{ asset_id: '11' }] }
  send(books(stub)[0], renamed)
  send(books(stub)[0], [book('11', START_MS + 2_050), book('21', START_MS + 2_050)])
  send(books(stub)[0], renamed)
  send(books(stub)[0], { ...renamed, event_type: 'change_2', changes: [{ asset_id: '21' }] })
  await until(() => feedEvents('feedGap', 'books').length === 4, 'gaps of renamed messages')
  assert.deepEqual(
    feedEvents('feedGap', 'books')
      .slice(2)
      .map(({ outcomes }) => outcomes),
    [['11'], ['21']],
  )
  const counts = [...metrics.counts('venue_rejected_total')].map(([key, { value }]) => [key, value])
  assert.deepEqual(counts, [
    ['{"venue":"a","reason":"price"}', 1],
    ['{"venue":"a","reason":"not_json"}', 1],
    ['{"venue":"a","reason":"bad_price_change"}', 2],
    ['{"venue":"a","reason":"unknown_event_type"}', 1],
  ])
})

test('combines snapshot requests into at most one command a second, and sends fewer commands while no snapshot arrives', async (t) => {
  const { stub, feed, clock, ofKind } = await watching(t, [1, 2])
  const subscribed = () =>
    commands(books(stub)[0]).filter((command) => command.operation === 'subscribe').length
  const ask = async (advanceMs: number) => {
    for (let time = 0; time < 5; time += 1) feed.resync([outcomeId('11'), outcomeId('12')])
    clock.advance(advanceMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
  send(books(stub)[0], [book('11', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  await ask(900)
  assert.equal(subscribed(), 0, 'the subscription itself was less than a second ago')
  clock.advance(150)
  await until(() => subscribed() === 1, 'the first')
  await ask(500)
  send(books(stub)[0], [book('11', START_MS + 1)])
  await until(() => ofKind('bookSnapshot').length === 2, 'its book')
  clock.advance(2_000)
  assert.equal(subscribed(), 1, 'the book that arrived meanwhile satisfies the request')
  await ask(50)
  await until(() => subscribed() === 2, 'the second')
  stub.rest = () => [book('11', START_MS + 9)]
  for (let second = 0; second < 60; second += 2) {
    clock.advance(2_000)
    send(books(stub)[0], [book('21', START_MS + 10 + second)])
    const received = 1 + second / 2
    await until(
      () => ofKind('bookSnapshot').filter((e) => e.outcome === '21').length >= received,
      'more',
    )
  }
  await until(() => subscribed() >= 5, 'requests are repeated')
  assert.ok(subscribed() <= 8, `${subscribed()} in a minute without an answer`)
  assert.equal(books(stub).length, 1, 'the socket is not replaced')
  await until(() => ofKind('bookSnapshot').some(({ isInOrder }) => !isInOrder), 'a book over REST')
})

const marketsTo = (count: number) => Array.from({ length: count }, (_, index) => market(index + 1))
const subscribedTo = (socket: StubSocket | undefined) =>
  commands(socket).flatMap(({ operation, assets_ids: ids }) =>
    operation === 'unsubscribe' || !Array.isArray(ids) ? [] : ids.filter((_, at) => at % 2 === 0),
  )

test('waits for first books on at most 16 sockets, at the start and when all sockets are lost together', async (t) => {
  const { stub, feed, clock, feedEvents } = await openFeed(t, { assetsPerSocketMax: 2 })
  const opened = async (from: number) => {
    for (let step = 0; step < 100; step += 1) {
      clock.advance(25)
      await settle()
    }
    return books(stub).length - from
  }
  const answer = (socket: StubSocket | undefined) =>
    send(
      socket,
      subscribedTo(socket).map((token) => book(token, START_MS)),
    )
  watchBooks(feed, marketsTo(20))
  feed.start()
  assert.equal(await opened(0), 16)
  const tokens = marketsTo(20).map(({ outcomes }) => outcomes[0])
  assert.deepEqual(books(stub).flatMap(subscribedTo), tokens.slice(0, 16))
  answer(books(stub)[9])
  assert.equal(await opened(0), 17, 'the next one when one has its books')
  for (const socket of books(stub)) answer(socket)
  assert.equal(await opened(0), 20)
  assert.deepEqual(books(stub).flatMap(subscribedTo), tokens)
  for (const { socket } of books(stub)) socket.terminate()
  await until(() => feedEvents('feedDown', 'books').length === 20, 'all lost')
  assert.equal(await opened(20), 16)
})

test('subscribes to the next markets of a socket when the snapshots of the previous markets have arrived', async (t) => {
  const { stub, feed, clock, ofKind } = await openFeed(t)
  const markets = marketsTo(120)
  watchBooks(feed, markets)
  feed.start()
  await until(() => commands(books(stub)[0]).length === 1, 'subscribed')
  feed.resync(markets.flatMap(({ outcomes }) => outcomes))
  clock.advance(2_000)
  const counts: number[] = []
  for (let answered = 0; answered < 120; answered += 1) {
    if (answered % 24 === 0) {
      await settle()
      counts.push(subscribedTo(books(stub)[0]).length)
    }
    send(books(stub)[0], book(`${answered + 1}1`, START_MS))
    await until(() => ofKind('bookSnapshot').length === answered + 1, 'a book')
  }
  assert.deepEqual(counts, [50, 50, 75, 120, 120], 'never more than 50 without a book')
  const first = markets.map(({ outcomes }) => outcomes[0])
  assert.deepEqual(subscribedTo(books(stub)[0]), first, 'each once, in order of priority')
})

test('requests a missing snapshot five seconds after the venue began to answer', async (t) => {
  const { stub, clock, ofKind } = await watching(t, [1, 2])
  clock.advance(8_000)
  send(books(stub)[0], book('11', START_MS))
  await until(() => ofKind('bookSnapshot').length === 1, 'the first book')
  clock.advance(4_900)
  await settle()
  assert.equal(commands(books(stub)[0]).length, 1)
  clock.advance(400)
  await until(() => commands(books(stub)[0]).length === 3, 'requested again')
  const again = commands(books(stub)[0]).slice(1)
  assert.deepEqual(
    again.map(({ operation, assets_ids }) => [operation, assets_ids]),
    ['unsubscribe', 'subscribe'].map((operation) => [operation, ['21', '22']]),
  )
  assert.equal(books(stub).length, 1)
})

test('does not replace a socket that delivers data when one book is missing, and reads that book over REST', async (t) => {
  const { stub, feed, clock, ofKind } = await watching(t, [1])
  send(books(stub)[0], book('11', START_MS))
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  watchBooks(feed, [market(2)])
  for (let second = 0; second < 120; second += 1) {
    clock.advance(1_000)
    send(books(stub)[0], 'PONG')
    await settle()
  }
  assert.equal(books(stub).length, 1)
  const read = stub.requests.filter(({ path }) => path === '/books').map(({ body }) => body)
  assert.ok(read.some((body) => JSON.stringify(body) === '[{"token_id":"21"}]'))
})

test('neither repeats book requests nor replaces the books’ socket while the feed’s reading is paused', async (t) => {
  const { stub, feed, clock, ofKind } = await watching(t, [1, 2])
  feed.read('nothing')
  send(books(stub)[0], book('11', START_MS))
  for (let second = 0; second < 40; second += 1) clock.advance(1_000)
  feed.read('all')
  await until(() => ofKind('bookSnapshot').length === 1, 'the unread book')
  await settle()
  assert.deepEqual([books(stub).length, commands(books(stub)[0]).length], [1, 1])
})

test('reports a connection as missing when it delivers no data in the ten seconds after it opened', async (t) => {
  const { stub, feed, clock, ofKind } = await watching(t, [1], { assetsPerSocketMax: 2 })
  const health = () => {
    const { connectionsOpen, connectionsWanted } = feed.health()
    return [connectionsOpen, connectionsWanted]
  }
  assert.deepEqual(health(), [1, 2], 'the first connection has delivered nothing')
  send(books(stub)[0], book('11', START_MS))
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  clock.advance(100)
  watchBooks(feed, [market(2)])
  await until(() => commands(books(stub)[1]).length === 1, 'a second connection')
  assert.deepEqual(health(), [2, 2])
  clock.advance(9_000)
  assert.deepEqual(health(), [2, 2])
  clock.advance(1_000)
  assert.deepEqual(health(), [2, 3])
  send(books(stub)[1], book('21', START_MS))
  await until(() => ofKind('bookSnapshot').length === 2, 'its book')
  assert.deepEqual(health(), [3, 3])
})

test('replaces a connected socket that does not send a requested book', async (t) => {
  const { stub, clock, ofKind } = await watching(t, [1])
  for (let second = 0; second < 14; second += 1) {
    clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => books(stub).length === 2, 'a second socket')
  await until(() => commands(books(stub)[1]).length === 1, 'subscribed again')
  send(books(stub)[1], [book('11', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
})

test('requests a book when no book arrives within a second of a tick size change', async (t) => {
  const { stub, clock, ofKind } = await watching(t, [1])
  send(books(stub)[0], [book('11', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  clock.advance(5_000)
  const tick = { event_type: 'tick_size_change', asset_id: '11', old_tick_size: '0.01' }
  send(books(stub)[0], { ...tick, new_tick_size: '0.001', timestamp: String(START_MS + 5_000) })
  await until(() => ofKind('tickSize').length === 1, 'the tick')
  clock.advance(900)
  assert.equal(commands(books(stub)[0]).length, 1)
  clock.advance(600)
  await until(() => commands(books(stub)[0]).length === 3, 'the book was requested')
})

test('records unknown message types and book versions, and still reads the books', async (t) => {
  const { stub, feed, ofKind, drift } = await openFeed(t)
  watchBooks(feed, [market(1)])
  feed.start()
  await until(() => books(stub).length === 1 && commands(books(stub)[0]).length > 0, 'subscribed')
  send(books(stub)[0], { event_type: 'book_v9', asset_id: '11' })
  send(books(stub)[0], { ...book('11', START_MS), version: 'v2' })
  send(books(stub)[0], { ...book('11', START_MS + 1), version: 'v9' })
  await until(() => ofKind('bookSnapshot').length === 2, 'both books')
  assert.deepEqual(
    drift.entries().map(({ kind, name }) => [kind, name]),
    [
      ['ws.event_type', 'book_v9'],
      ['ws.book_version', 'v9'],
    ],
  )
})

test('records handshakes that the venue refuses for the book stream and the activity stream', async (t) => {
  const { stub, feed, drift } = await openFeed(t)
  stub.upgradeRefusal = 410
  watchBooks(feed, [market(1)])
  feed.start()
  await until(() => drift.entries().length === 2, 'both refusals recorded')
  assert.deepEqual(
    drift
      .entries()
      .map(({ kind, name }) => `${kind} ${name}`)
      .sort(),
    ['ws.upgrade books 410', 'ws.upgrade trades 410'],
  )
})

test('opens no book connection for five seconds after the venue refused a connection with 429', async (t) => {
  const { stub, feed, clock, metrics } = await openFeed(t, { assetsPerSocketMax: 2 })
  const attempts = () =>
    [...metrics.counts('venue_socket_failed_attempts_total')]
      .filter(([labels]) => labels.includes('books'))
      .reduce((sum, [, { value }]) => sum + value, 0)
  stub.upgradeRefusal = 429
  watchBooks(feed, [market(1), market(2)])
  feed.start()
  await until(() => attempts() === 1, 'the first refusal')
  for (let step = 0; step < 49; step += 1) {
    clock.advance(100)
    await settle()
  }
  assert.equal(attempts(), 1)
  clock.advance(100)
  await until(() => attempts() === 2, 'the second attempt')
})

test('emits every fill once, even in unknown markets, and reports until when a lost stream was complete', async (t) => {
  const { stub, clock, feedEvents, trades } = await watching(t, [])
  assert.deepEqual(commands(sockets(stub, '/rtds')[0])[0], {
    action: 'subscribe',
    subscriptions: [{ topic: 'activity', type: '*' }],
  })
  clock.advance(7_000)
  send(sockets(stub, '/rtds')[0], activity('orders_matched', { conditionId: '0xunknown' }))
  await until(() => trades().length === 1, 'a trade')
  assert.equal(trades()[0]?.market, '0xunknown')
  assert.equal(trades()[0]?.source, 'stream')
  sockets(stub, '/rtds')[0]?.socket.terminate()
  await until(() => feedEvents('feedDown', 'trades').length === 1, 'down')
  clock.advance(1_000)
  await until(() => feedEvents('feedUp', 'trades').length === 2, 'up')
  assert.equal(feedEvents('feedUp', 'trades')[1]?.sinceMs, START_MS + 2_000)
})

test('reports a loss of the stream during a read pause from the start of the pause', async (t) => {
  const { stub, feed, clock, feedEvents, trades } = await openFeed(t)
  const rtds = () => sockets(stub, '/rtds')[0]
  feed.start()
  await until(() => commands(rtds()).length === 1, 'subscribed')
  clock.advance(7_000)
  feed.read('nothing')
  send(rtds(), activity('orders_matched'))
  clock.advance(60_000)
  feed.read('all')
  // The receive time is that of reading, long after the pause began.
  await until(() => trades().length === 1, 'a trade')
  rtds()?.socket.terminate()
  await until(() => feedEvents('feedDown', 'trades').length === 1, 'down')
  assert.equal(feedEvents('feedDown', 'trades')[0]?.sinceMs, START_MS + 2_000)
})

test('reads activity frames without topic and type, and identifies the taker among a transaction’s rows', async (t) => {
  const { stub, clock, trades, ofKind, drift } = await watching(t, [])
  const bare = (more: Partial<WireTrade>) =>
    send(sockets(stub, '/rtds')[0], { connection_id: 'x', payload: row(more) })
  bare({ transactionHash: '0xalone' })
  const [taker, maker] = [
    { transactionHash: '0xa' },
    { transactionHash: '0xa', side: 'SELL' as const },
  ]
  bare({ ...maker, proxyWallet: '0xbb', size: 6 })
  bare({ ...taker, size: 10 })
  bare({ ...maker, proxyWallet: '0xcc', size: 4 })
  bare({ ...taker, size: 10 })
  await until(() => drift.entries().length > 0, 'named')
  await settle()
  clock.advance(2_000)
  await until(() => trades().length === 2, 'both transactions')
  assert.deepEqual(
    trades().map(({ txHash, taker: wallet, side, size }) => [txHash, wallet, side, size]),
    [
      ['0xalone', '0xaa', 'buy', 10_000_000],
      ['0xa', '0xaa', 'buy', 10_000_000],
    ],
  )
  assert.deepEqual(
    ofKind('tradeParticipant').map(({ wallet }) => wallet),
    ['0xbb', '0xcc'],
  )
  assert.deepEqual(
    drift.entries().map(({ kind, name, weight }) => [kind, name, weight]),
    [['rtds.type', 'no topic and type', 'notice']],
  )
})

test('reports a loss when the activity stream sends frames of other topics and no trades', async (t) => {
  const { stub, clock, metrics, drift } = await watching(t, [])
  for (let frame = 0; frame < 20; frame += 1) {
    send(sockets(stub, '/rtds')[0], { topic: 'activity_v2', type: 'fills', payload: {} })
  }
  const ignored = () => [...metrics.counts('venue_ignored_total')].map(([, { value }]) => value)
  await until(() => ignored().includes(20), 'read')
  clock.advance(60_000)
  assert.deepEqual(
    drift.entries().map(({ kind, name, weight }) => [kind, name, weight]),
    [
      ['rtds.type', 'activity_v2 fills', 'notice'],
      ['rtds', 'no rows, other frames > 0', 'loss'],
    ],
  )
})

test('reconnects a silent activity stream while last_trade_price messages arrive, even without the Data API', async (t) => {
  const { stub, feed, clock, feedEvents, ofKind } = await openFeed(t)
  feed.start()
  watchBooks(feed, [market(1)])
  await until(() => feedEvents('feedUp', 'trades').length === 1, 'up')
  await until(() => commands(books(stub)[0]).length === 1, 'subscribed')
  send(sockets(stub, '/rtds')[0], '')
  send(books(stub)[0], [book('11', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  clock.advance(20_000)
  await settle()
  assert.equal(
    feedEvents('feedDown', 'trades').length,
    0,
    'a silent stream counts as alive while no trades arrive',
  )
  send(sockets(stub, '/rtds')[0], 'PONG')
  send(books(stub)[0], lastTrade())
  await settle()
  for (let second = 0; second < 16; second += 1) {
    clock.advance(1_000)
    send(sockets(stub, '/rtds')[0], 'PONG')
    await settle()
  }
  await until(() => feedEvents('feedDown', 'trades').length === 1, 'the stream counts as lost')
  clock.advance(1_000)
  await until(() => feedEvents('feedUp', 'trades').length === 2, 'up again')
  assert.equal(stub.requests.filter(({ path }) => path === '/v2/trades').length, 0)
})

test('emits trades from last_trade_price messages while the activity stream is silent, each trade once', async (t) => {
  const { stub, feed, clock, feedEvents, trades } = await watching(t, [1])
  const rtds = () => sockets(stub, '/rtds').at(-1)
  send(books(stub)[0], [book('11', START_MS)])
  const tx = (number: number) => ({ transaction_hash: `0x${number}` })
  send(rtds(), activity('orders_matched', { transactionHash: '0x0' }))
  send(books(stub)[0], lastTrade(tx(0)))
  await until(() => trades().length === 1, 'the row of the stream')
  assert.equal(feed.health().tradesSource, 'activity')
  for (let number = 1; number <= 3; number += 1) send(books(stub)[0], lastTrade(tx(number)))
  for (let second = 0; second < 45; second += 1) {
    clock.advance(1_000)
    await settle()
    send(books(stub)[0], 'PONG')
    send(rtds(), 'PONG')
    await settle()
  }
  assert.equal(feed.health().tradesSource, 'last_trade_price')
  assert.deepEqual(
    trades().map(({ nativeId, taker }) => [nativeId.slice(-8), taker]),
    [
      [trades()[0]?.nativeId.slice(-8), '0xaa'],
      ...[1, 2, 3].map((number) => [`x${number}-part-0`.slice(-8), null]),
    ],
  )
  send(books(stub)[0], lastTrade(tx(4)))
  await until(() => trades().length === 5, 'trades are emitted at once')
  const isUp = feedEvents('feedUp', 'trades').length
  for (let number = 5; number <= 7; number += 1) {
    send(rtds(), activity('orders_matched', { transactionHash: `0x${number}` }))
  }
  await until(() => trades().length === 8, 'the stream is the source again')
  assert.equal(feed.health().tradesSource, 'activity')
  assert.equal(
    feedEvents('feedUp', 'trades').length,
    isUp + 1,
    'trades of the outage are read again',
  )
  send(books(stub)[0], lastTrade(tx(7)))
  clock.advance(20_000)
  await settle()
  assert.equal(trades().length, 8, 'a fill of a known transaction is not emitted')
})

test('emits each fill once and with its wallet, whichever source sends the fill first', async (t) => {
  const { stub, feed, clock, trades } = await watching(t, [1])
  send(books(stub)[0], [book('11', START_MS)])
  const rows = ['0xa', '0xb', '0xc'].map((transactionHash) =>
    row({ transactionHash, size: 10, price: 0.5070000012 }),
  )
  const fill = (transaction_hash: string, size: string, price: string) =>
    send(books(stub)[0], lastTrade({ transaction_hash, size, price }))
  const both = (hash: string) => {
    fill(hash, '3', '0.5')
    fill(hash, '7', '0.51')
  }
  const matched = (at: number) =>
    send(sockets(stub, '/rtds')[0], {
      topic: 'activity',
      type: 'orders_matched',
      payload: rows[at],
    })
  stub.rest = () => rows.map(dataRow).reverse()
  const range = { market: null, fromMs: timeMs(START_MS - 5_000), toMs: timeMs(START_MS) }
  both('0xa')
  matched(0)
  await until(() => trades().length === 2, 'the row after its fills')
  matched(1)
  await settle()
  await feed.fetchTrades({ ...range, source: 'backfill' })
  assert.equal(
    trades().filter(({ txHash }) => txHash !== '0xa').length,
    0,
    'the stream is expected to send the row',
  )
  both('0xb')
  await until(() => trades().some(({ txHash }) => txHash === '0xb'), 'the row before its fills')
  fill('0xc', '3', '0.5')
  fill('0xc', '7', '0.51')
  await settle()
  clock.advance(5_000)
  await feed.fetchTrades({ ...range, source: 'backfill' })
  matched(2)
  both('0xc')
  clock.advance(15_000)
  await settle()
  const ids = new Set(trades().map(({ nativeId }) => nativeId))
  assert.deepEqual(
    [...ids].sort(),
    ['0xa', '0xb', '0xc'].flatMap((hash) =>
      ['3000000-500000-0', '7000000-510000-0'].map((end) => `${hash}-11-0xaa-buy-${end}`),
    ),
  )
})

test('emits trades from last_trade_price messages at once when the venue refuses the activity subscription', async (t) => {
  const { stub, feed, trades } = await watching(t, [1])
  send(books(stub)[0], lastTrade())
  send(sockets(stub, '/rtds')[0], { message: 'Invalid request body', connectionId: 'x' })
  await until(() => trades().length === 1, 'the waiting trade')
  assert.equal(feed.health().tradesSource, 'last_trade_price')
  sockets(stub, '/rtds')[0]?.socket.terminate()
  await until(() => feed.health().connectionsOpen === 1, 'the activity socket is closed')
  assert.equal(feed.health().connectionsWanted, 1, 'its socket does not count as lost')
})

test('compares the books of a silent socket with REST, reports a gap on a difference, and reconnects', async (t) => {
  const { stub, clock, feedEvents, ofKind } = await watching(t, [1, 2])
  send(books(stub)[0], [book('11', START_MS), book('21', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 2, 'books')
  const requested = () => stub.requests.filter(({ path }) => path === '/books').length
  stub.rest = ({ path }) => (path === '/books' ? [book('11', START_MS)] : [])
  clock.advance(10_100)
  await until(() => requested() === 1, 'first REST read')
  await settle()
  clock.advance(9_900)
  await settle()
  assert.equal(
    feedEvents('feedGap', 'books').length,
    0,
    'a quiet market is no evidence of a broken socket',
  )
  send(books(stub)[0], 'PONG')
  await settle()
  stub.rest = ({ path }) => (path === '/books' ? [book('11', START_MS + 9_000, '0.5')] : [])
  for (let check = 0; check < 6; check += 1) {
    send(books(stub)[0], 'PONG')
    await settle()
    clock.advance(3_500)
    await settle()
  }
  await until(() => feedEvents('feedGap', 'books').length === 1, 'gap')
  assert.deepEqual(feedEvents('feedGap', 'books')[0]?.outcomes, ['11', '21'])
  await until(() => feedEvents('feedDown', 'books').length === 1, 'reconnecting')
})

test('compares repeated rows, and participants without a fill, with the Data API', async (t) => {
  const { stub, clock, trades, ofKind } = await watching(t, [])
  const equal = dataRow(row())
  const lost = row({ transactionHash: '0xlost', conditionId: '0x2', asset: '21' })
  let isIndexed = false
  stub.rest = ({ query }) => {
    assert.equal(query.get('taker_only'), 'true')
    if (query.get('condition') === '0x1') return [equal, equal]
    return isIndexed ? [dataRow(lost)] : []
  }
  send(sockets(stub, '/rtds')[0], activity('orders_matched'))
  send(sockets(stub, '/rtds')[0], activity('orders_matched'))
  const maker = { ...lost, proxyWallet: '0xbb', side: 'SELL' }
  send(sockets(stub, '/rtds')[0], { topic: 'activity', type: 'trades', payload: maker })
  await until(() => trades().length === 1, 'the first')
  await settle()
  clock.advance(2_000)
  await until(() => trades().length === 2, 'the second of two equal fills')
  assert.deepEqual(
    trades().map(({ nativeId, source }: TradeEvent) => [nativeId.slice(-2), source]),
    [
      ['-0', 'stream'],
      ['-1', 'backfill'],
    ],
  )
  clock.advance(6_000)
  await settle()
  isIndexed = true
  for (let step = 0; step < 4; step += 1) {
    clock.advance(5_000)
    await settle()
  }
  await until(() => trades().length === 3, 'the lost fill, once the Data API lists it')
  assert.equal(ofKind('tradeParticipant')[0]?.wallet, '0xbb')
})

test('back-fills trades with the same ids as the stream, and reads the most recent range twice', async (t) => {
  const { stub, feed, clock, trades } = await watching(t, [])
  send(sockets(stub, '/rtds')[0], activity('orders_matched'))
  await until(() => trades().length === 1, 'streamed')
  const late = dataRow(row({ transactionHash: '0xlate' }))
  stub.rest = () => [dataRow(row())]
  const range = { market: null, fromMs: timeMs(START_MS - 5_000), toMs: timeMs(START_MS) }
  const { completeFromMs } = await feed.fetchTrades({ ...range, source: 'backfill' })
  assert.equal(completeFromMs, START_MS - 5_000)
  assert.equal(trades()[1]?.nativeId, trades()[0]?.nativeId)
  assert.equal(trades()[1]?.source, 'backfill')
  stub.rest = () => [late, dataRow(row())]
  clock.advance(5_000)
  await until(() => trades().length === 3, 'the trade that was listed late')
  assert.equal(trades()[2]?.txHash, '0xlate')
  stub.rest = () => 404
  await assert.rejects(feed.fetchTrades({ ...range, source: 'history' }))
})

test('reports a gap of one market when REST contradicts the market’s book twice', async (t) => {
  const { stub, clock, feedEvents, ofKind } = await watching(t, [1, 2], AUDITED)
  send(books(stub)[0], [book('11', START_MS), book('21', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 2, 'books')
  stub.rest = ({ path }) =>
    path === '/books' ? [book('11', START_MS), book('21', START_MS + 2_000, '0.45')] : []
  const requested = () => stub.requests.filter(({ path }) => path === '/books').length
  clock.advance(5_000)
  await until(() => requested() === 1, 'first REST read')
  await settle()
  assert.equal(feedEvents('feedGap', 'books').length, 0)
  clock.advance(3_000)
  await until(() => requested() === 2, 'second REST read')
  await settle()
  clock.advance(1_500)
  await until(() => feedEvents('feedGap', 'books').length === 1, 'gap')
  assert.deepEqual(feedEvents('feedGap', 'books')[0]?.outcomes, ['21'])
})

test('does not change a correct book when one of two REST answers contains only the prices 0.01 and 0.99', async (t) => {
  for (const isGhostFirst of [true, false]) {
    const { stub, clock, feedEvents, ofKind } = await watching(t, [1], AUDITED)
    send(books(stub)[0], book('11', START_MS))
    await until(() => ofKind('bookSnapshot').length === 1, 'book')
    const good = { ...book('11', START_MS + 1), hash: 'good' }
    const sides = { bids: [{ price: '0.01', size: '9' }], asks: [{ price: '0.99', size: '9' }] }
    const ghost = { ...good, ...sides, hash: 'ghost' }
    const requested = () => stub.requests.filter(({ path }) => path === '/books').length
    stub.rest = ({ path }) =>
      path === '/books' ? [(requested() === 1) === isGhostFirst ? ghost : good] : []
    for (const [count, ms] of [
      [1, 5_000],
      [2, 3_000],
      [2, 1_500],
    ] as const) {
      clock.advance(ms)
      await until(() => requested() === count, 'a REST read')
      await settle()
    }
    assert.deepEqual(feedEvents('feedGap', 'books'), [])
  }
})

test('reads requested books over REST and emits them with the flag for events that are not in stream order', async (t) => {
  const { stub, feed, ofKind } = await watching(t, [1, 2])
  stub.rest = ({ path }) => (path === '/books' ? [book('11', START_MS)] : [])
  feed.readBooks([outcomeId('11'), outcomeId('21'), outcomeId('nobody')])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  assert.deepEqual(
    ofKind('bookSnapshot').map(({ outcome, isInOrder }) => [outcome, isInOrder]),
    [['11', false]],
  )
  assert.equal(feed.health().connectionsOpen, 1, 'the stream has delivered no data')
})

test('accepts a book stream that reaches the state of REST between two REST requests', async (t) => {
  const { stub, clock, feedEvents, ofKind } = await watching(t, [1], AUDITED)
  send(books(stub)[0], book('11', START_MS))
  await until(() => ofKind('bookSnapshot').length === 1, 'book')
  stub.rest = ({ path }) => (path === '/books' ? [book('11', START_MS + 2_000, '0.45')] : [])
  clock.advance(5_000)
  await until(() => stub.requests.some(({ path }) => path === '/books'), 'first REST read')
  await settle()
  send(books(stub)[0], book('11', START_MS + 2_000, '0.45'))
  await until(() => ofKind('bookSnapshot').length === 2, 'the message in transit')
  clock.advance(3_000)
  await settle()
  clock.advance(1_900)
  await settle()
  assert.equal(feedEvents('feedGap', 'books').length, 0)
})

test('accepts a book stream when the venue sets the request time as the time of REST books', async (t) => {
  const { stub, clock, feedEvents, ofKind } = await watching(t, [1], AUDITED)
  send(books(stub)[0], book('11', START_MS))
  await until(() => ofKind('bookSnapshot').length === 1, 'book')
  stub.rest = ({ path }) => (path === '/books' ? [book('11', clock.nowMs())] : [])
  for (const stepMs of [5_000, 3_000, 1_900]) {
    clock.advance(stepMs)
    await settle()
  }
  assert.equal(stub.requests.filter(({ path }) => path === '/books').length, 2)
  assert.equal(feedEvents('feedGap', 'books').length, 0)
})

test('requests a catalogue read of a market after its planned close, and emits no event after stop', async (t) => {
  const { stub, feed, clock, events, ofKind } = await openFeed(t)
  feed.start()
  watchBooks(feed, [
    market(1, { closeAtMs: timeMs(START_MS + 10_000) }),
    market(2, { closeAtMs: timeMs(START_MS - 1) }),
  ])
  await until(() => commands(books(stub)[0]).length === 1, 'subscribed')
  clock.advance(20_000)
  assert.deepEqual(
    ofKind('marketSeen').map((event) => event.market),
    ['0x1'],
  )
  const count = events.length
  const socket = books(stub)[0]
  await feed.stop()
  send(socket, book('11', START_MS))
  clock.advance(60_000)
  await settle()
  assert.equal(events.length, count)
  assert.equal(feed.health().connectionsOpen, 0)
})

/** Lets pending loopback responses arrive. */
async function settle(): Promise<void> {
  for (let round = 0; round < 40; round += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('pauses trades without losing them, and reconnects to drop queued book messages', async (t) => {
  const { stub, feed, clock, feedEvents, ofKind, trades } = await openFeed(t)
  const rtds = () => stub.sockets.filter(({ path }) => path !== '/ws/market')
  feed.start()
  watchBooks(feed, [market(1)])
  await until(() => commands(books(stub)[0]).length === 1, 'subscribed')
  await until(() => rtds().length === 1 && feedEvents('feedUp', 'trades').length === 1, 'trades up')
  feed.read('books')
  send(rtds()[0], activity('orders_matched', { asset: '91' }))
  send(books(stub)[0], [book('11', START_MS)])
  await until(() => ofKind('bookSnapshot').length === 1, 'a book')
  assert.equal(trades().length, 0)
  feed.read('nothing')
  send(books(stub)[0], [book('11', START_MS + 5, '0.3')])
  for (let round = 0; round < 200; round += 1) await new Promise((done) => setImmediate(done))
  assert.deepEqual([trades().length, ofKind('bookSnapshot').length], [0, 1])
  feed.read('all')
  await until(
    () => trades().length === 1 && ofKind('bookSnapshot').length === 2,
    'all queued messages',
  )
  feed.reconnect('test')
  assert.equal(feedEvents('feedDown', 'books').length, 1)
  for (let wait = 0; wait < 20 && books(stub).length < 2; wait += 1) {
    clock.advance(100)
    await new Promise((done) => setImmediate(done))
  }
  await until(() => commands(books(stub)[1]).length === 1, 'subscribed again')
  assert.equal(feedEvents('feedDown', 'trades').length, 0)
  assert.equal(rtds().length, 1)
})
