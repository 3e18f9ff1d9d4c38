import assert from 'node:assert/strict'
import { test } from 'node:test'
import { priceMicros } from '../../../../../engine/units.ts'
import { parsePriceGrid } from '../../../../../engine/venues/kalshi/price-grid.ts'
import {
  comboOf,
  isBlock,
  priceFields,
  SHARDS,
  shardOf,
} from '../../../../../engine/venues/simulator/kalshi/terms.ts'
import { gameDay, record, records } from '../../../../support/clients/kalshi-client.ts'
import { cents } from '../../../../support/worlds/kalshi-world.ts'

test('uses several price structures for one tick size, each of which accepts every multiple of the tick size', async (t) => {
  const { world, politics } = await gameDay(t)
  const names = new Set<unknown>()
  for (const tick of [cents(1), cents(0.1), cents(0.01)]) {
    for (let at = 0; at < 60; at += 1) {
      const market = world.addMarket(politics, `G${tick}-${at}`)
      const fields = priceFields(market, { tick, atMs: 0 })
      const grid = parsePriceGrid(fields)
      assert.ok(grid !== null)
      names.add(fields.price_level_structure)
      for (let price: number = tick; price < 1_000_000; price += tick) {
        assert.ok(grid.isOn(priceMicros(price)), `${fields.price_level_structure} ${price}`)
      }
    }
  }
  assert.equal(names.size, 7)
})

test('returns the exchange shard of a market, and omits fields that the venue removed', async (t) => {
  const { venue, game, combo, det, cin } = await gameDay(t)
  const status = (await venue.get('/exchange/status')).body
  const shards = records(status.exchange_index_statuses)
  assert.deepEqual(
    shards.map((shard) => [shard.exchange_index, shard.trading_active]),
    SHARDS.map(({ exchange_index }) => [exchange_index, true]),
  )
  assert.deepEqual([shardOf(game), shardOf(combo)], [0, 1])
  assert.deepEqual(
    [shardOf({ ...game, game: null, topic: 'crypto' }), shardOf({ ...game, topic: 'sports' })],
    [2, 0],
  )
  const empty = record((await venue.get(`/markets/${cin.listing.nativeId}`)).body.market)
  assert.deepEqual([empty.yes_bid_dollars, empty.yes_ask_dollars], ['0.0000', '0.0000'])
  const text = (await venue.get('/events?with_nested_markets=true')).text
  assert.doesNotMatch(text, /liquidity_dollars|available_on_brokers|response_price_units/)
  assert.match(text, /"cadence"/)
  assert.equal(det.listing.nativeId.startsWith('KXNFLGAME'), true)
})

test('marks some trades as block trades, and adds a trade of a combination market to some trades', async (t) => {
  const { world, det, venue } = await gameDay(t)
  const trade = world.print(det, { cents: 30 })
  assert.deepEqual([isBlock(trade), comboOf(trade)], [false, null])
  assert.ok(isBlock({ id: `b1${trade.id.slice(2)}` }))
  const beside = world.print(det, { cents: 31, id: `c0${trade.id.slice(2)}` })
  const combo = comboOf(beside) ?? ''
  assert.match(combo, /^KXNFLGAME-S2026[0-9A-F]{10}-[0-9A-F]{8}$/)
  const listed = records((await venue.get('/markets/trades')).body.trades)
  assert.deepEqual(
    listed.map((row) => row.is_block_trade),
    [false, false, false],
  )
  const tickers = async (path: string) => {
    const { body } = await venue.get(path)
    return records(body.trades ?? body.markets).map(({ ticker }) => ticker)
  }
  const own = det.listing.nativeId
  assert.deepEqual(await tickers('/markets/trades'), [combo, own, own])
  assert.deepEqual(await tickers(`/markets/trades?ticker=${own}`), [own, own])
  assert.deepEqual(await tickers(`/markets/trades?ticker=${combo}`), [combo])
  const pages: unknown[] = []
  for (let cursor = ''; pages.length === 0 || cursor !== ''; ) {
    const { body } = await venue.get(`/markets/trades?limit=1&cursor=${cursor}`)
    assert.equal(records(body.trades).length, 1)
    pages.push(...records(body.trades).map(({ trade_id }) => trade_id))
    cursor = String(body.cursor)
  }
  assert.deepEqual(pages, [`c1${beside.id.slice(2)}`, beside.id, trade.id])
  assert.equal((await tickers('/markets')).at(-1), combo)
  assert.deepEqual(await tickers('/markets?mve_filter=only'), [combo])
  assert.deepEqual(await tickers(`/markets?tickers=${combo},${own}`), [own, combo])
  assert.ok(!(await tickers('/markets?mve_filter=exclude')).includes(combo))
  const row = record((await venue.get(`/markets/${combo}`)).body.market)
  assert.deepEqual([row.ticker, row.exchange_index], [combo, 1])
  assert.match(String(row.mve_collection_ticker), /^KXMVE/)
})
