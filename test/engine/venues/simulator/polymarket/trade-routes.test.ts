import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SimTrade } from '../../../../../engine/venues/simulator/model.ts'
import { record, records, request } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { TRADE_ROW_KEYS } from '../../../../support/worlds/data-api-rows.ts'
import { marketAt, price } from '../../../../support/worlds/stub-world.ts'

let venue: StubVenue
const made: SimTrade[] = []

// Sixty trades in three markets, three per second.
before(async () => {
  venue = await startStubVenue()
  venue.world.addEvent(2)
  venue.world.addEvent(1)
  for (let number = 0; number < 60; number += 1) {
    if (number % 3 === 0) venue.clock.advance(1_000)
    const market = marketAt(venue.world, number % 3)
    venue.world.setLevels(market, ['ask', 0.42, 1_000])
    const side = number % 2 === 0 ? 'buy' : 'sell'
    made.push(venue.world.trade(market, { contracts: 5 + number, side }))
  }
})
after(() => venue.stop())

async function of(path: string) {
  const answer = await request(`${venue.data}/v2/${path}`)
  assert.equal(answer.status, 200, answer.text)
  return record(answer.body)
}

async function rows(query: string) {
  return records((await of(`trades?${query}`)).data)
}

const V2_KEYS = TRADE_ROW_KEYS.map((key) =>
  key === 'asset' ? 'token_id' : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
)

test('returns trades newest first, and by default the rows of takers without the rows of makers', async () => {
  const all = await rows('')
  assert.equal(all.length, 60)
  assert.deepEqual(
    all.map((row) => row.transaction_hash),
    made.map((trade) => trade.txHash).toReversed(),
  )
  const [newest] = all
  const trade = made[59]
  assert.ok(newest !== undefined && trade !== undefined)
  assert.deepEqual(Object.keys(newest).sort(), V2_KEYS.toSorted())
  assert.equal(newest.timestamp, trade.atMs / 1000)
  assert.deepEqual([newest.price, newest.size, newest.side], [0.42, 64, 'SELL'])
  assert.deepEqual([newest.bio, newest.profile_image], ['', ''])
  const everyone = await rows('taker_only=false&limit=3')
  assert.deepEqual(
    everyone.map((row) => [row.proxy_wallet, row.side, row.size]),
    [
      [trade.taker.address, 'SELL', 64],
      [trade.makers[0]?.wallet.address, 'BUY', 63],
      [trade.makers[1]?.wallet.address, 'BUY', 1],
    ],
  )
})

test('filters trades by market, event and wallet, and the trades of a wallet by time', async () => {
  const [first, , third] = [0, 1, 2].map((index) => marketAt(venue.world, index))
  assert.ok(first !== undefined && third !== undefined)
  const two = await rows(`condition=${first.listing.nativeId},${third.listing.nativeId}`)
  assert.equal(two.length, 40)
  const times = two.map((row) => Number(row.timestamp))
  assert.deepEqual(
    times,
    times.toSorted((one, other) => other - one),
  )
  assert.equal((await rows(`conditionId=${first.listing.nativeId}`)).length, 20)
  assert.equal((await rows(`event_id=${first.event.number}`)).length, 40)
  assert.equal((await rows(`condition=0x${'0'.repeat(64)}`)).length, 0)
  const short = first.listing.nativeId.slice(0, -2)
  assert.equal((await rows(`condition=${short}`)).length, 0, '62 digits find nothing')
  const taker = made[7]?.taker.address ?? ''
  const maker = made[7]?.makers[0]?.wallet.address ?? ''
  assert.equal((await rows(`user=${taker.toUpperCase().replace('0X', '0x')}`)).length, 1)
  assert.equal((await rows(`user=${maker}`)).length, 0)
  assert.equal((await rows(`user=${maker}&taker_only=false`)).length, 1)
  const second = (made[7]?.atMs ?? 0) / 1000
  assert.equal((await rows(`user=${taker}&start=${second}&end=${second}`)).length, 1)
  assert.equal((await rows(`user=${taker}&start=${second + 1}`)).length, 0)
  assert.equal((await rows(`start=${second}&end=${second}`)).length, 60, 'no times without a user')
})

test('includes the name of an invalid parameter in the error of a trade request', async () => {
  const many = Array.from({ length: 21 }, (_, at) => `0x${String(at).padStart(64, '0')}`).join(',')
  const bad = {
    'limit=1001': 'limit',
    'limit=-1': 'limit',
    'offset=0': 'offset',
    'condition=cows': 'condition',
    [`condition=${many}`]: 'condition',
    [`condition=0x${'1'.repeat(64)}&event_id=2`]: 'event_id',
    'user=0x006F54F7f9A22e0000CC2AB60031000000ae9fEF': 'user',
    'cursor=cows': 'cursor',
  }
  for (const [query, parameter] of Object.entries(bad)) {
    const answer = await request(`${venue.data}/v2/trades?${query}`)
    assert.equal(answer.status, 400, query)
    const body = record(answer.body)
    assert.deepEqual([body.code, body.parameter], ['invalid_request', parameter])
  }
  const unknown = await request(`${venue.data}/v2/cows`)
  assert.deepEqual([unknown.status, record(unknown.body).code], [404, 'not_found'])
  const posted = await request(`${venue.data}/v2/trades`, {})
  assert.deepEqual([posted.status, record(posted.body).code], [405, 'method_not_allowed'])
})

test('returns the fills of an order as one trade row at the average price', async (t) => {
  const alone = await startStubVenue()
  t.after(() => alone.stop())
  alone.world.addEvent(1)
  const market = marketAt(alone.world, 0)
  alone.world.setLevels(market, ['ask', 0.42, 1_000])
  const complete = alone.world.trade(market, { contracts: 10 })
  const more = alone.world.trade(market, {
    contracts: 5,
    txHash: complete.txHash,
    price: price(0.44),
  })
  assert.equal(more.txHash, complete.txHash)
  const answer = await request(`${alone.data}/v2/trades`)
  const [row, ...others] = records(record(answer.body).data)
  assert.equal(others.length, 0)
  assert.equal(row?.size, 15)
  assert.ok(Math.abs(Number(row?.price) - (4.2 + 2.2) / 15) < 1e-9)
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=300')
})

test('returns the open interest in dollars for the requested markets, or for all markets', async () => {
  const market = marketAt(venue.world, 1)
  const { nativeId } = market.listing
  const [one, ...none] = records((await of(`oi?condition=${nativeId},0x${'9'.repeat(64)}`)).data)
  assert.deepEqual([one?.condition_id, none.length], [nativeId, 0])
  assert.equal(one?.value, market.openInterest / 1e6, 'one dollar per pair of tokens')
  const [all] = records((await of('oi')).data)
  assert.equal(all?.condition_id, 'GLOBAL')
  assert.equal((await request(`${venue.data}/v2/oi?condition=cows`)).status, 400)
})

test('returns volume, holders, resolutions and status in the format of the venue', async () => {
  const { nativeId } = marketAt(venue.world, 0).listing
  const volume = record((await of('live-volume?event_id=500')).data)
  assert.ok(records(volume.conditions).length > 0)
  const groups = records((await of(`holders?condition=${nativeId}&limit=1`)).data)
  assert.ok(groups.every((group) => records(group.holders).length === 1))
  const [row] = records((await of(`resolutions?condition=${nativeId}`)).data)
  assert.equal(row?.status, 'active')
  const bad = ['resolutions', 'resolutions?condition=0x12', 'holders', 'live-volume']
  for (const path of bad)
    assert.equal((await request(`${venue.data}/v2/${path}`)).status, 400, path)
  const status = record((await of('status')).data)
  assert.ok(Number(status.age_seconds) < 60)
})
