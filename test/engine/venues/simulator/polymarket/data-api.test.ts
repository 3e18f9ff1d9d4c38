// The simulated Data API over real sockets: trades with every parameter, open interest
// (SIMPM16 to 19).

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SimTrade } from '../../../../../engine/venues/simulator/model.ts'
import { ask, record, records } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { TRADE_ROW_KEYS } from '../../../../support/worlds/data-api-rows.ts'
import { marketAt } from '../../../../support/worlds/stub-world.ts'

let venue: StubVenue
const made: SimTrade[] = []

// Sixty trades, three to a second, in turn at three markets.
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

async function rows(query: string) {
  const answer = await ask(`${venue.data}/trades?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return records(answer.body)
}

test('[SIMPM16] trades come newest first, in seconds, one row a taker unless asked otherwise', async () => {
  const all = await rows('')
  assert.equal(all.length, 60)
  assert.deepEqual(
    all.map((row) => row.transactionHash),
    made.map((trade) => trade.txHash).toReversed(),
  )
  const [newest] = all
  const trade = made[59]
  assert.ok(newest !== undefined && trade !== undefined)
  assert.deepEqual(Object.keys(newest).sort(), TRADE_ROW_KEYS)
  assert.equal(newest.timestamp, trade.atMs / 1000)
  assert.deepEqual([newest.price, newest.size, newest.side], [0.42, 64, 'SELL'])
  assert.deepEqual([newest.bio, newest.profileImage], ['', ''])
  const everyone = await rows('takerOnly=false&limit=3')
  assert.deepEqual(
    everyone.map((row) => [row.proxyWallet, row.side, row.size]),
    [
      [trade.taker.address, 'SELL', 64],
      [trade.makers[0]?.wallet.address, 'BUY', 63],
      [trade.makers[1]?.wallet.address, 'BUY', 1],
    ],
  )
})

test('[SIMPM17] trades are selected by market, event, wallet, side, size and time', async () => {
  const [first, , third] = [0, 1, 2].map((index) => marketAt(venue.world, index))
  assert.ok(first !== undefined && third !== undefined)
  const two = await rows(`market=${first.listing.nativeId},${third.listing.nativeId}`)
  assert.equal(two.length, 40)
  const times = two.map((row) => Number(row.timestamp))
  assert.deepEqual(
    times,
    times.toSorted((one, other) => other - one),
  )
  assert.equal((await rows(`eventId=${first.event.number}`)).length, 40)
  assert.equal((await rows('market=0x00')).length, 0)
  assert.equal((await rows('side=BUY')).length, 30)
  assert.equal((await rows('filterType=TOKENS&filterAmount=60')).length, 5)
  assert.equal((await rows('filterType=CASH&filterAmount=26.88')).length, 1)
  const taker = made[7]?.taker.address ?? ''
  const maker = made[7]?.makers[0]?.wallet.address ?? ''
  assert.equal((await rows(`user=${taker.toUpperCase().replace('0X', '0x')}`)).length, 1)
  assert.equal((await rows(`user=${maker}`)).length, 0)
  assert.equal((await rows(`user=${maker}&takerOnly=false`)).length, 1)
  const second = (made[30]?.atMs ?? 0) / 1000
  assert.equal((await rows(`start=${second}&end=${second}`)).length, 3)
})

test('[SIMPM17] parameters out of bounds are refused with an error text', async () => {
  const bad = [
    'limit=10001',
    'limit=-1',
    'filterType=CASH',
    'filterAmount=3',
    'filterType=COWS&filterAmount=3',
    'side=UP',
    'market=0x1&eventId=2',
    'offset=3000',
  ]
  for (const query of bad) {
    const answer = await ask(`${venue.data}/trades?${query}`)
    assert.equal(answer.status, 400, query)
    assert.equal(typeof record(answer.body).error, 'string')
  }
  const far = await ask(`${venue.data}/trades?offset=3000`)
  assert.match(far.text, /max historical activity offset/)
  assert.deepEqual(await rows('offset=2999'), [])
  assert.deepEqual(await rows('limit=0'), [])
})

test('[SIMPM18] the pages of an unchanging list hold each row once', async () => {
  for (const takerOnly of ['true', 'false']) {
    const whole = await rows(`takerOnly=${takerOnly}&limit=10000`)
    const pages: unknown[] = []
    for (let offset = 0; ; offset += 7) {
      const page = await rows(`takerOnly=${takerOnly}&limit=7&offset=${offset}`)
      pages.push(...page)
      if (page.length < 7) break
    }
    assert.deepEqual(pages, whole)
    assert.equal(whole.length, takerOnly === 'true' ? 60 : 180)
  }
})

test('[SIMPM19] open interest is given for markets asked for and for all', async () => {
  const { nativeId } = marketAt(venue.world, 1).listing
  const one = await ask(`${venue.data}/oi?market=${nativeId}`)
  assert.deepEqual(one.body, [{ market: nativeId, value: 12.5 }])
  assert.deepEqual((await ask(`${venue.data}/oi`)).body, [{ market: 'GLOBAL', value: 37.5 }])
  assert.deepEqual((await ask(`${venue.data}/`)).body, { data: 'OK' })
  assert.equal((await ask(`${venue.data}/ok`)).status, 404)
  assert.equal(records((await ask(`${venue.data}/live-volume?id=500`)).body).length, 1)
})
