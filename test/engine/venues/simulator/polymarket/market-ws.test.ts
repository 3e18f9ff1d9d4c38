import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { PRICE_HALF } from '../../../../../engine/units.ts'
import {
  type FrameReader,
  record,
  records,
  request,
} from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, type StubMarket } from '../../../../support/worlds/stub-world.ts'

const FAULTS = ['lost_delta', 'duplicate', 'silence', 'disconnect'] as const

let venue: StubVenue
let market: StubMarket
let yes: string
let no: string

async function start(faults: readonly (typeof FAULTS)[number][] = []) {
  venue = await startStubVenue({ faults })
  venue.world.addEvent(2)
  market = marketAt(venue.world, 0)
  yes = market.listing.tokens[0]
  no = market.listing.tokens[1]
}

/** Resolves when the first books have arrived. */
async function follow(tokens: readonly string[], more = {}): Promise<FrameReader> {
  const reader = await venue.market()
  reader.send({ assets_ids: tokens, type: 'market', ...more })
  await reader.next()
  return reader
}

async function kinds(reader: FrameReader): Promise<readonly unknown[]> {
  return (await reader.drain()).map((frame) => record(JSON.parse(frame)).event_type)
}

describe('market channel of the simulated WebSocket', () => {
  beforeEach(() => start())
  afterEach(() => venue.stop())

  test('replies to the client’s first frame with all books in one array, equal to the books of REST', async () => {
    const reader = await venue.market()
    reader.send({ assets_ids: [yes, no], type: 'market' })
    const books = records(await reader.nextJson())
    assert.deepEqual(
      books.map((book) => [book.event_type, book.asset_id]),
      [
        ['book', yes],
        ['book', no],
      ],
    )
    const rest = record((await request(`${venue.clob}/book?token_id=${yes}`)).body)
    assert.deepEqual({ ...rest, event_type: 'book' }, books[0])
  })

  test('replies NO NEW ASSETS when a client repeats a subscription, and sends no updates after unsubscribe', async () => {
    const reader = await follow([yes])
    reader.send({ assets_ids: [yes], operation: 'subscribe' })
    assert.equal(await reader.next(), 'NO NEW ASSETS')
    reader.send({ assets_ids: [yes, no], operation: 'subscribe' })
    assert.deepEqual(
      records(await reader.nextJson()).map((book) => book.asset_id),
      [no],
    )
    reader.send({ assets_ids: [yes, no], operation: 'unsubscribe' })
    await reader.drain()
    venue.world.setLevels(market, ['bid', 0.41, 5])
    assert.deepEqual(await reader.drain(), [])
    reader.send({ assets_ids: [yes], operation: 'subscribe' })
    const [book] = records(await reader.nextJson())
    assert.deepEqual(records(book?.bids).at(-1), { price: '0.41', size: '5' })
    reader.send({ assets_ids: [no], operation: 'subscribe', initial_dump: false })
    assert.deepEqual(await reader.drain(), [])
  })

  test('sends entries for the two tokens of a changed level, with the best prices after the change', async () => {
    const reader = await follow([no])
    venue.world.setLevels(market, ['bid', 0.41, 7.25], ['ask', 0.42, 0])
    const message = record(await reader.nextJson())
    assert.equal(message.market, market.listing.nativeId)
    assert.equal(message.timestamp, String(venue.clock.nowMs()))
    const entries = records(message.price_changes)
    const shown = entries.map(({ hash, ...entry }) => {
      assert.match(String(hash), /^[0-9a-f]{40}$/)
      return entry
    })
    const [up, down] = [
      { best_bid: '0.41', best_ask: '0.45' },
      { best_bid: '0.55', best_ask: '0.59' },
    ]
    assert.deepEqual(shown, [
      { asset_id: yes, price: '0.41', size: '7.25', side: 'BUY', ...up },
      { asset_id: no, price: '0.59', size: '7.25', side: 'SELL', ...down },
      { asset_id: yes, price: '0.42', size: '0', side: 'SELL', ...up },
      { asset_id: no, price: '0.58', size: '0', side: 'BUY', ...down },
    ])
  })

  test('sends an empty text as the best price when one side of the book is empty', async () => {
    const reader = await follow([yes])
    venue.world.setLevels(market, ['ask', 0.42, 0], ['ask', 0.45, 0])
    const [first, second] = records(record(await reader.nextJson()).price_changes)
    assert.deepEqual([first?.best_bid, first?.best_ask], ['0.4', ''])
    assert.deepEqual([second?.best_bid, second?.best_ask], ['', '0.6'])
  })

  test('sends the books of the two tokens and the trade price when a trade occurs', async () => {
    const reader = await follow([yes, no])
    const trade = venue.world.trade(market, { contracts: 30 })
    const [first, second, last] = (await reader.drain()).map((frame) => record(JSON.parse(frame)))
    assert.deepEqual([first?.event_type, first?.asset_id], ['book', yes])
    assert.deepEqual([second?.event_type, second?.asset_id], ['book', no])
    assert.deepEqual(records(first?.asks).at(-1), { price: '0.42', size: '50' })
    assert.deepEqual(records(second?.bids).at(-1), { price: '0.58', size: '50' })
    assert.equal(first?.last_trade_price, '0.42')
    const { event_type: _, hash, ...book } = first ?? {}
    const { market: id, asset_id, timestamp, ...rest } = book
    const text = JSON.stringify({ market: id, asset_id, timestamp, hash: '', ...rest })
    assert.equal(hash, createHash('sha1').update(text).digest('hex'))
    assert.deepEqual(last, {
      event_type: 'last_trade_price',
      market: market.listing.nativeId,
      asset_id: yes,
      price: '0.42',
      size: '30',
      side: 'BUY',
      fee_rate_bps: '1000',
      timestamp: String(venue.clock.nowMs()),
      transaction_hash: trade.txHash,
    })
    const other = await follow([no])
    venue.world.trade(market)
    assert.deepEqual(await kinds(other), ['book'])
  })

  test('sends a new tick size for the two tokens of a market, without a book', async () => {
    const reader = await follow([yes, no])
    venue.world.changeTick(market, 0.001)
    const messages = (await reader.drain()).map((frame) => record(JSON.parse(frame)))
    assert.deepEqual(
      messages.map((each) => [
        each.event_type,
        each.asset_id,
        each.old_tick_size,
        each.new_tick_size,
      ]),
      [
        ['tick_size_change', yes, '0.01', '0.001'],
        ['tick_size_change', no, '0.01', '0.001'],
      ],
    )
  })

  test('sends best prices, new markets and resolutions if custom_feature_enabled is set, and otherwise not', async () => {
    const plain = await follow([yes])
    const custom = await follow([yes], { custom_feature_enabled: true })
    const flaggedLate = await follow([yes])
    flaggedLate.send({ assets_ids: [yes], operation: 'subscribe', custom_feature_enabled: true })
    assert.equal(await flaggedLate.next(), 'NO NEW ASSETS')
    venue.world.setLevels(market, ['bid', 0.41, 5])
    venue.world.setLevels(market, ['bid', 0.35, 5])
    venue.world.setStatus(marketAt(venue.world, 1), 'open', 'opened')
    venue.world.setStatus(market, 'resolved', 'resolved')
    assert.deepEqual(await kinds(plain), ['price_change', 'price_change'])
    for (const reader of [custom, flaggedLate]) {
      const frames = (await reader.drain()).map((frame) => record(JSON.parse(frame)))
      const [, best, , created, resolved] = frames
      assert.equal(frames.length, 5)
      assert.deepEqual([best?.best_bid, best?.best_ask, best?.spread], ['0.41', '0.42', '0.01'])
      assert.deepEqual([created?.event_type, created?.slug], ['new_market', 'market-1'])
      assert.deepEqual([created?.line, created?.game_start_time], ['', ''])
      assert.deepEqual([resolved?.event_type, resolved?.winning_asset_id], ['market_resolved', yes])
    }
  })

  test('sends no winning outcome when a void market resolves', async () => {
    venue.world.addEvent(1, {}, { payout: PRICE_HALF })
    const half = marketAt(venue.world, 2)
    const reader = await follow([half.listing.tokens[0]], { custom_feature_enabled: true })
    venue.world.setStatus(half, 'resolved', 'resolved')
    const message = record(await reader.nextJson())
    assert.equal('winning_asset_id' in message, false)
    assert.equal('winning_outcome' in message, false)
  })

  test('replies PONG to PING and INVALID OPERATION to a malformed frame', async () => {
    const reader = await venue.market()
    const broken = ['', '{', 'null', '[]', '7', '{"assets_ids":7}', '{"operation":"dance"}']
    for (const text of [...broken, '{"type":"user","assets_ids":[]}']) reader.send(text)
    for (const _ of [...broken, 1]) assert.equal(await reader.next(), 'INVALID OPERATION')
    reader.send('PING')
    assert.equal(await reader.next(), 'PONG')
    reader.send({ assets_ids: [yes, 7, null, 'unknown', yes], type: 'market' })
    assert.deepEqual(
      records(await reader.nextJson()).map((book) => book.asset_id),
      [yes],
    )
  })

  test('does not encode a book change when no client subscribes to the book', async () => {
    const reader = await follow([yes])
    reader.close()
    await reader.closed
    while (venue.server.connectionCounts().market > 0) await new Promise(setImmediate)
    let checks = 0
    Object.defineProperty(market, 'book', { get: () => (checks += 1) })
    venue.world.changeTick(market, 0.001)
    venue.world.setStatus(market, 'closed', 'closed')
    assert.equal(checks, 0)
  })

  test('drops a change under the fault lost_delta, and repeats a message under the fault duplicate', async () => {
    await venue.stop()
    await start(['lost_delta'])
    const lossy = await follow([yes])
    venue.chance.value = 0
    venue.world.setLevels(market, ['bid', 0.41, 5])
    venue.chance.value = 1
    venue.world.setLevels(market, ['bid', 0.41, 6])
    const [only, ...more] = (await lossy.drain()).map((frame) => record(JSON.parse(frame)))
    assert.deepEqual([records(only?.price_changes)[0]?.size, more.length], ['6', 0])
    await venue.stop()
    await start(['duplicate'])
    const double = await follow([yes])
    venue.chance.value = 0
    venue.world.setLevels(market, ['bid', 0.41, 5])
    const [one, two, ...others] = await double.drain()
    assert.equal(one, two)
    assert.equal(others.length, 0)
  })

  test('sends the book of a subscribed market when the market opens', async () => {
    venue.world.setStatus(market, 'unopened', 'closed')
    const reader = await venue.market()
    reader.send({ assets_ids: [no], type: 'market', custom_feature_enabled: true })
    assert.deepEqual(await reader.nextJson(), [])
    venue.world.setStatus(market, 'open', 'opened')
    assert.equal(record(await reader.nextJson()).event_type, 'new_market')
    const rest = record((await request(`${venue.clob}/book?token_id=${no}`)).body)
    assert.deepEqual(await reader.nextJson(), { event_type: 'book', ...rest })
    assert.deepEqual(await reader.drain(), [])
  })

  test('sends the book of a token that a client subscribed to before the token’s market existed', async () => {
    const unknown = `7${'4'.padStart(76, '0')}`
    const reader = await follow([unknown, yes])
    venue.world.addEvent(1)
    const existing = marketAt(venue.world, 2)
    assert.equal(existing.listing.tokens[0], unknown)
    venue.world.setStatus(existing, 'open', 'opened')
    const [book] = records([await reader.nextJson()])
    assert.deepEqual([book?.event_type, book?.asset_id], ['book', unknown])
    venue.world.setLevels(existing, ['bid', 0.41, 5])
    assert.equal(record(await reader.nextJson()).event_type, 'price_change')
    reader.send({ assets_ids: [unknown], operation: 'unsubscribe' })
    await reader.drain()
    venue.world.setLevels(existing, ['bid', 0.41, 6])
    assert.deepEqual(await reader.drain(), [])
  })

  test('drops data for 20 s under the fault silence, and closes the socket under the fault disconnect', async () => {
    await venue.stop()
    await start(['silence'])
    const reader = await follow([yes])
    venue.chance.value = 0
    venue.clock.advance(1_000)
    venue.chance.value = 1
    venue.world.setLevels(market, ['bid', 0.41, 5])
    venue.clock.advance(19_999)
    venue.world.setLevels(market, ['bid', 0.41, 6])
    assert.deepEqual(await reader.drain(), [])
    venue.clock.advance(1)
    venue.world.setLevels(market, ['bid', 0.41, 7])
    const message = record(await reader.nextJson())
    assert.equal(records(message.price_changes)[0]?.size, '7')
    await venue.stop()
    await start(['disconnect'])
    const cut = await follow([yes])
    venue.chance.value = 0
    venue.clock.advance(1_000)
    await cut.closed
  })
})
