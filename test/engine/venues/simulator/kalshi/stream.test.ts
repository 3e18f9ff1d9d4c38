import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SIZE_ZERO, sizeMicros } from '../../../../../engine/units.ts'
import { hourOf, hourStart } from '../../../../../engine/venues/simulator/kalshi/terms.ts'
import { record, twoMarkets } from '../../../../support/clients/kalshi-client.ts'
import { cents } from '../../../../support/worlds/kalshi-world.ts'

test('numbers trades but not tickers, and sends messages of all markets when a subscription names no market', async (t) => {
  const { venue, world, first, second } = await twoMarkets(t)
  const client = await venue.connect()
  client.send('subscribe', { channels: ['trade', 'ticker'] })
  await client.drain()
  const trade = world.print(first, { outcomeIndex: 1, side: 'buy', cents: 54, contracts: 3 }, [
    ['bid', 44, 7],
  ])
  const [printed, ticker] = await client.take(2)
  const atMs = world.nowMs()
  assert.deepEqual(printed, {
    type: 'trade',
    sid: 1,
    seq: 1,
    msg: {
      trade_id: trade.id,
      market_ticker: first.listing.nativeId,
      yes_price_dollars: '0.4600',
      no_price_dollars: '0.5400',
      count_fp: '3.00',
      taker_side: 'no',
      taker_outcome_side: 'no',
      taker_book_side: 'ask',
      is_block_trade: false,
      ts: Math.floor(atMs / 1000),
      ts_ms: atMs,
    },
  })
  assert.deepEqual(ticker, {
    type: 'ticker',
    sid: 2,
    msg: {
      market_ticker: first.listing.nativeId,
      market_id: first.listing.uuid,
      price_dollars: '0.4600',
      yes_bid_dollars: '0.4400',
      yes_ask_dollars: '0.4600',
      yes_bid_size_fp: '7.00',
      yes_ask_size_fp: '3.00',
      last_trade_size_fp: '3.00',
      volume_fp: '12345.50',
      open_interest_fp: '4000.00',
      dollar_volume: 5_000,
      dollar_open_interest: 1_840,
      ts: Math.floor(atMs / 1000),
      ts_ms: atMs,
      time: new Date(atMs).toISOString(),
    },
  })
  world.setLevels(second, [['ask', 95, 3]])
  world.setLevels(second, [['ask', 95, 4]])
  world.setLevels(second, [['ask', 90, 4]])
  const tickers = (await client.drain()).map(({ msg }) => record(msg).yes_ask_size_fp)
  assert.deepEqual(
    tickers,
    ['1.00', '4.00'],
    'after the first message the venue sends only changes of the best level',
  )
})

test('sends the ticker of each requested market at once when send_initial_snapshot is set', async (t) => {
  const { venue, second } = await twoMarkets(t)
  const client = await venue.connect()
  client.send('subscribe', {
    channels: ['ticker'],
    market_ticker: second.listing.nativeId,
    send_initial_snapshot: true,
  })
  const [subscribed, ticker] = await client.take(2)
  assert.equal(subscribed?.type, 'subscribed')
  const msg = record(ticker?.msg)
  assert.deepEqual(
    [msg.market_ticker, msg.yes_bid_dollars, msg.yes_bid_size_fp, msg.yes_ask_dollars],
    [second.listing.nativeId, '0.0000', '0.00', '0.9000'],
  )
})

test('sends a message when a market is created, determined or settled, and none when a market opens or closes', async (t) => {
  const { venue, world, first, clock } = await twoMarkets(t)
  const client = await venue.connect()
  client.send('subscribe', { channels: ['market_lifecycle_v2'], market_ticker: 'ignored' })
  await client.drain()
  const event = world.addEvent('KXNEW-27')
  const market = world.addMarket(event, 'X', {
    strike: { type: 'between', floor: 10, cap: 20 },
  })
  market.status = 'unopened'
  world.move(market, 'created')
  const hidden = await venue.get(`/markets/${market.listing.nativeId}`)
  assert.equal(hidden.status, 404, 'the page lags behind the stream')
  clock.advance(300)
  assert.equal((await venue.get(`/markets/${market.listing.nativeId}`)).status, 200)
  world.move(first, 'opened')
  world.move(first, 'closed')
  first.tickMicros = cents(0.1)
  const atMs = world.nowMs()
  world.tell({ kind: 'tick', market: first, oldTick: cents(1), newTick: cents(0.1), atMs })
  world.move(first, 'determined')
  world.move(first, 'resolved')
  const messages = await client.drain()
  assert.deepEqual(
    messages.map((message) => [message.type, record(message.msg).event_type, message.seq]),
    [
      ['event_lifecycle', undefined, 1],
      ['market_lifecycle_v2', 'created', 2],
      ['market_lifecycle_v2', 'price_level_structure_updated', 3],
      ['market_lifecycle_v2', 'determined', 4],
      ['market_lifecycle_v2', 'settled', 5],
    ],
  )
  const created = record(messages[1]?.msg)
  const metadata = record(created.additional_metadata)
  assert.equal(metadata.event_ticker, 'KXNEW-27')
  assert.deepEqual([metadata.strike_type, metadata.floor_strike], ['between', 10])
  assert.equal(created.open_ts, Math.floor(market.listing.openMs / 1000))
  assert.equal(record(messages[2]?.msg).price_level_structure, 'deci_cent')
  const determined = record(messages[3]?.msg)
  assert.deepEqual([determined.result, determined.settlement_value], ['yes', '1.0000'])
})

test('changes the price structures of some markets every hour, in stream messages and in REST rows', async (t) => {
  const { world, venue, clock } = await twoMarkets(t)
  const event = world.addEvent('KXTURN-27', { number: 11 })
  const market = world.addMarket(event, 'X')
  const over = world.addMarket(event, 'Y')
  over.status = 'closed'
  const path = `/markets/${market.listing.nativeId}`
  const row = async () => record((await venue.get(path)).body.market)
  const before = await row()
  const turnMs = hourStart(event, hourOf(event, clock.nowMs()) + 1)
  clock.advance(turnMs - clock.nowMs() - 900)
  const client = await venue.connect()
  client.send('subscribe', { channels: ['market_lifecycle_v2'] })
  await client.drain()
  clock.advance(2_000)
  const published = (await client.drain()).map(({ msg }) => record(msg))
  assert.deepEqual(
    published.map((each) => [each.market_ticker, each.event_type]),
    [[market.listing.nativeId, 'price_level_structure_updated']],
  )
  const now = await row()
  assert.deepEqual(published[0]?.price_ranges, now.price_ranges)
  assert.notDeepEqual(now.price_ranges, before.price_ranges)
  assert.equal(Date.parse(String(now.updated_time)), turnMs)
  clock.advance(1_000)
  assert.deepEqual(await client.drain(), [], 'once')
})

test('neither sends a message nor reads the book when no client subscribes to a changed book', async (t) => {
  const { world, event, venue } = await twoMarkets(t)
  const market = world.addMarket(event, 'C')
  const client = await venue.connect()
  await client.drain()
  Object.defineProperty(market, 'book', {
    get: () => assert.fail('the book was read'),
  })
  const levels = [{ side: 'bid' as const, price: cents(10), size: sizeMicros(1_000_000) }]
  const change = { market, changes: levels, previousSizes: [SIZE_ZERO], atMs: world.nowMs() }
  world.tell({ kind: 'levels', ...change })
  world.print(market, {})
  world.move(market, 'created')
  world.move(market, 'opened')
  assert.deepEqual(await client.drain(), [])
})
