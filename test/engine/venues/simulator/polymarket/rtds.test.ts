import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import type { SimFault } from '../../../../../engine/venues/simulator/model.ts'
import { type FrameReader, record, records } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, type StubMarket } from '../../../../support/worlds/stub-world.ts'

let venue: StubVenue
let market: StubMarket

async function start(
  faults: readonly SimFault[] = [],
  activityEndsS: number | null = null,
): Promise<FrameReader> {
  venue = await startStubVenue({ faults, activityEndsS })
  venue.world.addEvent(1, { nativeId: 'nfl-chi-det-2026-11-20' })
  venue.world.addEvent(1, { nativeId: 'other-event' })
  market = marketAt(venue.world, 0)
  return venue.rtds()
}

const subscription = (type: string, filters?: unknown) => ({
  topic: 'activity',
  type,
  ...(filters === undefined ? {} : { filters }),
})
const subscribe = (reader: FrameReader, ...subscriptions: unknown[]) =>
  reader.send({ action: 'subscribe', subscriptions })

async function payloads(reader: FrameReader) {
  const frames = (await reader.drain()).map((frame) => record(JSON.parse(frame)))
  return frames.map((frame) => ({ type: frame.type, ...record(frame.payload) }))
}

describe('simulated real-time data stream', () => {
  afterEach(() => venue.stop())

  test('sends one row per wallet of a trade, and one row for the match of the trade', async () => {
    const reader = await start()
    subscribe(reader, subscription('*', ''))
    await reader.drain()
    venue.clock.advance(1_234)
    const trade = venue.world.trade(market)
    const frames = (await reader.drain()).map((frame) => record(JSON.parse(frame)))
    const rows = frames.map((frame) => record(frame.payload))
    assert.deepEqual(
      frames.map((frame) => [frame.topic, frame.type, frame.timestamp]),
      ['orders_matched', 'trades', 'trades', 'trades'].map((type) => [
        'activity',
        type,
        venue.clock.nowMs(),
      ]),
    )
    assert.equal(typeof frames[0]?.connection_id, 'string')
    const [first, second] = trade.makers
    assert.deepEqual(
      rows.map((row) => [row.proxyWallet, row.side, row.size]),
      [
        [trade.taker.address, 'BUY', 5],
        [trade.taker.address, 'BUY', 5],
        [first?.wallet.address, 'SELL', 4],
        [second?.wallet.address, 'SELL', 1],
      ],
    )
    const [row] = rows
    assert.equal(row?.timestamp, Math.floor(trade.atMs / 1000))
    assert.equal(row?.transactionHash, trade.txHash)
    assert.deepEqual([row?.asset, row?.outcomeIndex], [market.listing.tokens[0], 0])
    assert.deepEqual([row?.eventSlug, row?.slug], ['nfl-chi-det-2026-11-20', 'market-0'])
  })

  test('replaces the filter of a topic with each subscribe command, and filters by event or market', async () => {
    const reader = await start()
    subscribe(reader, subscription('orders_matched', '{"event_slug":"chi-det"}'))
    const slugs = async () => {
      await reader.drain()
      venue.world.trade(market)
      venue.world.trade(marketAt(venue.world, 1))
      return (await payloads(reader)).map((row) => record(row).slug)
    }
    assert.deepEqual(await slugs(), ['market-0'])
    subscribe(reader, subscription('orders_matched', '{"market_slug":"market-1"}'))
    assert.deepEqual(await slugs(), ['market-1'])
    subscribe(reader, subscription('orders_matched'))
    assert.deepEqual(await slugs(), ['market-0', 'market-1'])
    reader.send({ action: 'unsubscribe', subscriptions: [subscription('orders_matched')] })
    assert.deepEqual(await slugs(), [])
  })

  test('does not disconnect a client that sends no pongs, ignores text pings, and answers invalid frames with an error', async () => {
    await start()
    const mute = await venue.rtds({ autoPong: false })
    subscribe(mute, subscription('orders_matched'))
    mute.send('ping')
    assert.deepEqual(await mute.drain(), [])
    for (let period = 0; period < 20; period += 1) venue.clock.advance(5_000)
    venue.world.trade(market)
    assert.equal((await payloads(mute)).length, 1)
    assert.equal(mute.pingCount, 20)
    const junk = ['{', '[]', '{"action":"subscribe"}', '{"action":"dance","subscriptions":[]}']
    for (const text of junk) mute.send(text)
    subscribe(mute, subscription('trades', { event_slug: 'an object' }))
    const refusals = (await mute.drain()).map((frame) => record(JSON.parse(frame)))
    assert.deepEqual(
      refusals.map((each) => each.message),
      Array(5).fill('Invalid request body'),
    )
  })

  test('repeats a row under the fault duplicate, and swaps two rows of one second under the fault reorder', async () => {
    const reader = await start(['duplicate'])
    subscribe(reader, subscription('orders_matched'))
    await reader.drain()
    venue.chance.value = 0
    venue.world.trade(market)
    const [one, two, ...more] = await reader.drain()
    assert.equal(one, two)
    assert.equal(more.length, 0)
    await venue.stop()
    const swapped = await start(['reorder'])
    subscribe(swapped, subscription('orders_matched'))
    await swapped.drain()
    const sizes = async () => (await payloads(swapped)).map((row) => record(row).size)
    venue.chance.value = 0
    venue.world.trade(market, { contracts: 2 })
    await Promise.resolve()
    venue.chance.value = 1
    venue.world.trade(market, { contracts: 3 })
    assert.deepEqual(await sizes(), [3, 2])
    venue.chance.value = 0
    venue.world.trade(market, { contracts: 4 })
    await Promise.resolve()
    assert.deepEqual(await sizes(), [])
    venue.chance.value = 1
    venue.clock.advance(1_000)
    venue.world.trade(market, { contracts: 5 })
    assert.deepEqual(await sizes(), [4, 5])
  })

  test('sends the same trade rows on the stream as in the Data API', async () => {
    const reader = await start()
    subscribe(reader, subscription('*'))
    await reader.drain()
    for (let number = 0; number < 20; number += 1)
      venue.world.trade(market, { contracts: 1.5 + number })
    const streamed = await payloads(reader)
    const key = (row: Readonly<Record<string, unknown>>) =>
      [row.transactionHash ?? row.transaction_hash, row.proxyWallet ?? row.proxy_wallet]
        .concat([row.asset ?? row.token_id, row.conditionId ?? row.condition_id])
        .concat([
          row.side,
          row.size,
          row.price,
          row.timestamp,
          row.outcomeIndex ?? row.outcome_index,
        ])
        .join(' ')
    for (const [type, takerOnly] of [
      ['orders_matched', true],
      ['trades', false],
    ]) {
      const answer = await fetch(`${venue.data}/v2/trades?taker_only=${takerOnly}&limit=1000`)
      const stored = records(record(await answer.json()).data)
      assert.deepEqual(
        stored.map(key).sort(),
        streamed
          .filter((row) => row.type === type)
          .map(key)
          .sort(),
      )
    }
  })

  test('sends the fills of an order as one match, and sends nothing under the fault rtds_silent', async () => {
    const reader = await start(['rtds_silent'])
    subscribe(reader, subscription('*'))
    await reader.drain()
    const fill = venue.world.trade(market, { contracts: 2 })
    venue.world.trade(market, { contracts: 4, txHash: fill.txHash })
    const published = (await payloads(reader)).map((row) => [row.type, record(row).size])
    assert.deepEqual(
      published.filter(([type]) => type === 'orders_matched'),
      [['orders_matched', 6]],
    )
    assert.equal(published.filter(([type]) => type === 'trades').length, 6)
    venue.chance.value = 0
    venue.clock.advance(1_000)
    venue.chance.value = 1
    venue.world.trade(market)
    assert.deepEqual(await payloads(reader), [])
    reader.send('PING')
    assert.equal(await reader.next(), 'PONG')
    venue.clock.advance(120_000)
    venue.world.trade(market)
    assert.equal((await payloads(reader)).length, 4, 'the stream sends trades again')
    await venue.stop()
    const ending = await start([], 60)
    subscribe(ending, subscription('*'))
    await ending.drain()
    venue.clock.advance(59_000)
    venue.world.trade(market)
    assert.equal((await payloads(ending)).length, 4)
    venue.clock.advance(1_000)
    venue.world.trade(market)
    assert.deepEqual(await payloads(ending), [])
  })
})
