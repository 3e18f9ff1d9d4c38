// The simulated Data API about wallets, over real sockets: rows, orders, bounds, pages; ranking and
// profiles. A few wallets trade in a hand-made world, and their figures are worked out here by hand.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SimWallet } from '../../../../../engine/venues/simulator/model.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { ask, record, records } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { TRADE_ROW_KEYS } from '../../../../support/worlds/data-api-rows.ts'
import { marketAt, price, size } from '../../../../support/worlds/stub-world.ts'

const walletOf = (digits: string): SimWallet => ({
  address: `0x${digits.repeat(20)}`,
  name: `Name ${digits}`,
  pseudonym: `Pseudonym-${digits}`,
})
const ANN = walletOf('a1')
const BOB = walletOf('b2')
const CARL = walletOf('c3')
const NOBODY = `0x${'0'.repeat(40)}`

let venue: StubVenue

interface Deal {
  readonly market: number
  readonly contracts: number
  readonly at: number
  readonly taker?: SimWallet
  readonly maker?: SimWallet
  readonly side?: 'buy' | 'sell'
}

/** A fill between two wallets; Ann buys from Bob unless said otherwise. A second passes after each. */
function deal(made: Deal): void {
  const { market, contracts, at, taker = ANN, maker = BOB, side = 'buy' } = made
  const makers = [{ wallet: maker, size: size(contracts) }]
  const fields = { contracts, price: price(at), side, taker, makers }
  venue.world.trade(marketAt(venue.world, market), fields)
  venue.clock.advance(1_000)
}

before(async () => {
  venue = await startStubVenue()
  venue.world.addEvent(2)
  venue.world.addEvent(1, { topic: 'sports', isMutuallyExclusive: true })
  // Asks that no test empties: every market stands at 0.41.
  for (const index of [0, 1, 2]) {
    venue.world.setLevels(marketAt(venue.world, index), ['ask', 0.42, 1_000_000])
  }
  deal({ market: 0, contracts: 100, at: 0.4 })
  deal({ market: 0, contracts: 50, at: 0.46 })
  deal({ market: 0, contracts: 30, at: 0.5, side: 'sell' })
  deal({ market: 1, contracts: 80, at: 0.25 })
  deal({ market: 2, contracts: 20, at: 0.9 })
  deal({ market: 2, contracts: 20, at: 0.95, side: 'sell', maker: CARL })
  for (let number = 0; number < 60; number += 1) {
    deal({ market: number % 3, contracts: 5 + (number % 7), at: 0.41, taker: CARL })
  }
})
after(() => venue.stop())

async function rows(path: string) {
  const answer = await ask(`${venue.data}/${path}`)
  assert.equal(answer.status, 200, answer.text)
  return records(answer.body)
}

/** The owner's address, from ledgers that read the same trades once more. */
function ownerOf(wallet: SimWallet): string {
  const ledgers = new WalletLedgers({ world: venue.world })
  ledgers.stop()
  return ledgers.wallet(wallet.address)?.eoa ?? ''
}

/** The keys of a row that a table gives a value for. */
function part(row: Readonly<Record<string, unknown>> | undefined, keys: readonly string[]) {
  return keys.map((key) => row?.[key])
}

test('[SIMWALLET8] activity has the rows of trades and sentinels where a row is no trade', async () => {
  const all = await rows(`activity?user=${ANN.address}&type=TRADE&sortDirection=ASC`)
  assert.deepEqual(
    all.map((row) => part(row, ['side', 'size', 'price', 'usdcSize', 'outcomeIndex'])),
    [
      ['BUY', 100, 0.4, 41.68, 0],
      ['BUY', 50, 0.46, 23.8694, 0],
      ['SELL', 30, 0.5, 14.475, 0],
      ['BUY', 80, 0.25, 21.05, 0],
      ['BUY', 20, 0.9, 18.09, 0],
      ['SELL', 20, 0.95, 18.9525, 0],
    ],
  )
  assert.deepEqual(Object.keys(all[0] ?? {}).sort(), ACTIVITY_KEYS)
  const [split] = await rows(`activity?user=${BOB.address}&type=SPLIT&sortDirection=ASC&limit=1`)
  assert.deepEqual(Object.keys(split ?? {}).sort(), ACTIVITY_KEYS)
  assert.deepEqual(
    part(split, ['asset', 'side', 'outcome', 'outcomeIndex', 'price', 'size', 'usdcSize']),
    ['', '', '', 999, 0, 100, 100],
  )
  assert.deepEqual(part(split, ['conditionId', 'slug', 'eventSlug']), [
    marketAt(venue.world, 0).listing.nativeId,
    'market-0',
    'event-500',
  ])
})

test('[SIMWALLET8] activity is selected by type, side, market, event and time, and sorted as asked', async () => {
  const of = `activity?user=${ANN.address}`
  const { nativeId } = marketAt(venue.world, 2).listing
  assert.equal((await rows(`${of}&market=${nativeId}`)).length, 2)
  assert.equal((await rows(`${of}&eventId=501`)).length, 2)
  assert.equal((await rows(`${of}&side=SELL`)).length, 2)
  assert.equal((await rows(`${of}&type=MERGE,REDEEM`)).length, 0)
  const newest = await rows(of)
  const times = newest.map(({ timestamp }) => Number(timestamp))
  assert.deepEqual(
    times,
    times.toSorted((one, other) => other - one),
  )
  const second = times[2] ?? 0
  assert.equal((await rows(`${of}&start=${second}&end=${second}`)).length, 1)
  const column = async (query: string, key: string) =>
    (await rows(`${of}&${query}`)).map((row) => row[key])
  assert.deepEqual(await column('sortBy=TOKENS', 'size'), [100, 80, 50, 30, 20, 20])
  assert.deepEqual(
    await column('sortBy=CASH&sortDirection=ASC', 'usdcSize'),
    [14.475, 18.09, 18.9525, 21.05, 23.8694, 41.68],
  )
})

test('[SIMWALLET9] positions show the venue’s figures, and the closed ones what they brought', async () => {
  const open = await rows(`positions?user=${ANN.address}`)
  assert.deepEqual(Object.keys(open[0] ?? {}).sort(), POSITION_KEYS)
  // 150 bought at 0.42, 30 of them sold at 0.50; the market stands at 0.41.
  assert.deepEqual(
    open.map((row) => part(row, ['size', 'avgPrice', 'totalBought', 'realizedPnl', 'curPrice'])),
    [
      [120, 0.42, 150, 2.4, 0.41],
      [80, 0.25, 80, 0, 0.41],
    ],
  )
  assert.deepEqual(
    part(open[0], ['initialValue', 'currentValue', 'cashPnl', 'percentPnl']),
    [50.4, 49.2, -1.2, -2.381],
  )
  assert.deepEqual(part(open[0], ['redeemable', 'mergeable', 'negativeRisk', 'eventId']), [
    false,
    false,
    false,
    '500',
  ])
  assert.deepEqual(await rows(`value?user=${ANN.address}`), [{ user: ANN.address, value: 82 }])
  const closed = await rows(`closed-positions?user=${ANN.address}`)
  assert.deepEqual(Object.keys(closed[0] ?? {}).sort(), CLOSED_KEYS)
  assert.deepEqual(
    closed.map((row) => part(row, ['slug', 'avgPrice', 'totalBought', 'realizedPnl', 'curPrice'])),
    [['market-2', 0.9, 20, 1, 0.41]],
  )
  assert.deepEqual((await ask(`${venue.data}/traded?user=${ANN.address}`)).body, {
    user: ANN.address,
    traded: 3,
  })
})

test('[SIMWALLET9] small positions are hidden unless asked for, and filters choose the rest', async () => {
  deal({ market: 1, contracts: 0.5, at: 0.4, taker: walletOf('d4') })
  const of = `positions?user=${walletOf('d4').address}`
  assert.deepEqual(await rows(of), [])
  assert.equal((await rows(`${of}&sizeThreshold=0`)).length, 1)
  assert.equal((await rows(`${of}&sizeThreshold=0.5`)).length, 1)
  assert.equal((await rows(`positions?user=${ANN.address}&title=%221%22`)).length, 1)
  assert.equal((await rows(`positions?user=${ANN.address}&redeemable=true`)).length, 0)
  assert.ok((await rows(`positions?user=${BOB.address}&redeemable=false`)).length >= 3)
  const prices = await rows(`positions?user=${ANN.address}&sortBy=AVGPRICE&sortDirection=ASC`)
  assert.deepEqual(
    prices.map(({ avgPrice }) => avgPrice),
    [0.25, 0.42],
  )
})

test('[SIMWALLET9] holders of both tokens are listed by what they hold', async () => {
  const { nativeId, tokens } = marketAt(venue.world, 2).listing
  const groups = await rows(`holders?market=${nativeId}`)
  assert.deepEqual(
    groups.map(({ token }) => token),
    [...tokens],
  )
  const [first] = records(groups[0]?.holders)
  assert.deepEqual(part(first, ['proxyWallet', 'outcomeIndex', 'asset']), [
    CARL.address,
    0,
    tokens[0],
  ])
  assert.equal(records(groups[1]?.holders)[0]?.proxyWallet, BOB.address)
})

test('[SIMWALLET10] what is out of bounds is refused; only closed positions are cut to their fifty', async () => {
  const of = `user=${ANN.address}`
  const bad = [
    'activity',
    'activity?user=0x12',
    `activity?${of}&limit=501`,
    `activity?${of}&offset=10001`,
    `activity?${of}&type=DANCE`,
    `activity?${of}&sortBy=COWS`,
    `activity?${of}&side=UP`,
    `activity?${of}&market=0x1&eventId=5`,
    `positions?${of}&limit=501`,
    `positions?${of}&sizeThreshold=-1`,
    `positions?${of}&redeemable=maybe`,
    `positions?${of}&title=${'x'.repeat(101)}`,
    'positions',
    'closed-positions',
    `closed-positions?${of}&offset=100001`,
    `closed-positions?${of}&limit=ten`,
    'value',
    'traded',
    'holders',
    'v1/leaderboard?limit=51',
    'v1/leaderboard?category=COWS',
  ]
  for (const path of bad) {
    const answer = await ask(`${venue.data}/${path}`)
    assert.equal(answer.status, 400, path)
    assert.equal(typeof record(answer.body).error, 'string')
  }
  for (const path of ['activity', 'positions', 'closed-positions']) {
    assert.deepEqual(await rows(`${path}?user=${NOBODY}`), [])
  }
  assert.deepEqual(await rows(`closed-positions?${of}&limit=500&offset=100000`), [])
})

test('[SIMWALLET11] pages to the end give each row once, the trades of one wallet are those of all', async () => {
  const lists = [
    { path: `activity?user=${BOB.address}`, limit: 7 },
    { path: `activity?user=${BOB.address}&sortDirection=ASC`, limit: 11 },
    { path: `positions?user=${BOB.address}&sizeThreshold=0`, limit: 2 },
    { path: `trades?user=${BOB.address}&takerOnly=false`, limit: 9 },
  ]
  for (const { path, limit } of lists) {
    const whole = await rows(`${path}&limit=500`)
    assert.ok(whole.length > limit, path)
    const pages: unknown[] = []
    for (let offset = 0; ; offset += limit) {
      const page = await rows(`${path}&limit=${limit}&offset=${offset}`)
      pages.push(...page)
      if (page.length < limit) break
    }
    assert.deepEqual(pages, whole)
  }
  const everyone = await rows('trades?takerOnly=false&limit=10000')
  for (const { address } of [ANN, BOB, CARL]) {
    const own = everyone.filter(({ proxyWallet }) => proxyWallet === address)
    assert.deepEqual(await rows(`trades?user=${address}&takerOnly=false&limit=10000`), own)
  }
})

test('[SIMWALLET12] the leaderboard ranks by profit and volume, over all markets and by category', async () => {
  const all = await rows('v1/leaderboard?timePeriod=ALL')
  assert.deepEqual(Object.keys(all[0] ?? {}).sort(), LEADER_KEYS)
  assert.deepEqual(
    all.map(({ rank }) => rank),
    all.map((_, index) => String(index + 1)),
  )
  const profits = all.map(({ pnl }) => Number(pnl))
  assert.deepEqual(
    profits,
    profits.toSorted((one, other) => other - one),
  )
  const [ann] = await rows(`v1/leaderboard?timePeriod=ALL&user=${ANN.address}`)
  // Bought for 40, 23, 20 and 18 dollars and sold for 15 and 19; what is left is worth 82 by now.
  const fees = 1.68 + 0.8694 + 0.525 + 1.05 + 0.09 + 0.0475
  assert.ok(Math.abs(Number(ann?.pnl) - (15 + 19 + 82 - 40 - 23 - 20 - 18 - fees)) < 1e-6)
  assert.ok(Math.abs(Number(ann?.vol) - (40 + 23 + 15 + 20 + 18 + 19)) < 1e-6)
  const [top] = await rows('v1/leaderboard?timePeriod=ALL&orderBy=VOL')
  assert.equal(top?.proxyWallet, BOB.address)
  const [sporty] = await rows(
    `v1/leaderboard?timePeriod=ALL&category=SPORTS&user=${ANN.address}&orderBy=VOL`,
  )
  assert.equal(sporty?.vol, 37)
  assert.deepEqual(await rows('v1/leaderboard?category=TECH'), [])
})

test('[SIMWALLET14] a profile answers for the wallet and for its owner, the Data API for the wallet alone; unknown ones are 404', async () => {
  const of = (address: string) => ask(`${venue.gamma}/public-profile?address=${address}`)
  const answer = await of(ANN.address.toUpperCase().replace('0X', '0x'))
  assert.equal(answer.status, 200)
  assert.deepEqual(part(record(answer.body), ['proxyWallet', 'name', 'pseudonym']), [
    ANN.address,
    ANN.name,
    ANN.pseudonym,
  ])
  const owner = ownerOf(ANN)
  assert.notEqual(owner, ANN.address)
  assert.deepEqual((await of(owner)).body, answer.body)
  assert.deepEqual(await rows(`activity?user=${owner}`), [])
  assert.deepEqual(await rows(`trades?user=${owner}&takerOnly=false`), [])
  assert.equal((await of(NOBODY)).status, 404)
  for (const bad of ['', '0x12', ANN.address.slice(2)]) assert.equal((await of(bad)).status, 400)
})

const ACTIVITY_KEYS = [...TRADE_ROW_KEYS, 'type', 'usdcSize']
const POSITION_KEYS = [
  'asset',
  'avgPrice',
  'cashPnl',
  'conditionId',
  'curPrice',
  'currentValue',
  'endDate',
  'eventId',
  'eventSlug',
  'icon',
  'initialValue',
  'mergeable',
  'negativeRisk',
  'oppositeAsset',
  'oppositeOutcome',
  'outcome',
  'outcomeIndex',
  'percentPnl',
  'percentRealizedPnl',
  'proxyWallet',
  'realizedPnl',
  'redeemable',
  'size',
  'slug',
  'title',
  'totalBought',
]
const CLOSED_KEYS = [
  'asset',
  'avgPrice',
  'conditionId',
  'curPrice',
  'endDate',
  'eventSlug',
  'icon',
  'oppositeAsset',
  'oppositeOutcome',
  'outcome',
  'outcomeIndex',
  'proxyWallet',
  'realizedPnl',
  'slug',
  'timestamp',
  'title',
  'totalBought',
]
const LEADER_KEYS = [
  'pnl',
  'profileImage',
  'proxyWallet',
  'rank',
  'userName',
  'verifiedBadge',
  'vol',
  'xUsername',
]
