import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  readActivity,
  readTimedRow,
} from '../../../../../engine/venues/polymarket/wallets/activity-rows.ts'
import type { SimWallet } from '../../../../../engine/venues/simulator/model.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { isComboKind } from '../../../../../engine/wallet.ts'
import { record, records, request } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
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

type Row = Readonly<Record<string, unknown>>

async function page(path: string) {
  const answer = await request(`${venue.data}/v2/${path}`)
  assert.equal(answer.status, 200, `${path} ${answer.text}`)
  const body = record(answer.body)
  const pagination = record(body.pagination)
  assert.equal(pagination.has_more, pagination.next_cursor !== null)
  return { rows: records(body.data), next: pagination.next_cursor }
}

const rows = async (path: string): Promise<readonly Row[]> => (await page(path)).rows

async function one(path: string): Promise<Row> {
  return record(record((await request(`${venue.data}/v2/${path}`)).body).data)
}

async function pages(path: string, limit: number): Promise<readonly Row[]> {
  const all: Row[] = []
  for (let next: unknown = ''; next !== null; ) {
    const cursor = next === '' ? '' : `&cursor=${next}`
    const got = await page(`${path}&limit=${limit}${cursor}`)
    assert.ok(got.rows.length <= limit && got.rows.length > 0)
    all.push(...got.rows)
    next = got.next
  }
  return all
}

function part(row: Row | undefined, keys: readonly string[]) {
  return keys.map((key) => row?.[key])
}

async function assertRefused(path: string, parameter: string): Promise<void> {
  const answer = await request(`${venue.data}/v2/${path}`)
  assert.equal(answer.status, 400, path)
  const body = record(answer.body)
  const published = [body.code, body.retryable, body.parameter]
  assert.deepEqual(published, ['invalid_request', false, parameter], path)
  assert.equal(answer.headers.get('x-trace-id'), body.trace_id)
}

interface Deal {
  readonly market: number
  readonly contracts: number
  readonly at: number
  readonly taker?: SimWallet
  readonly maker?: SimWallet
  readonly side?: 'buy' | 'sell'
}

/** By default Ann buys from Bob. */
function deal(made: Deal): void {
  const { market, contracts, at, taker = ANN, maker = BOB, side = 'buy' } = made
  const makers = [{ wallet: maker, size: size(contracts) }]
  const fields = { contracts, price: price(at), side, taker, makers }
  venue.world.trade(marketAt(venue.world, market), fields)
}

describe('wallet routes with a few wallets', () => {
  // Advances the clock by one second after each fill.
  const dealt = (made: Deal) => {
    deal(made)
    venue.clock.advance(1_000)
  }

  before(async () => {
    venue = await startStubVenue()
    venue.world.addEvent(2)
    venue.world.addEvent(1, { topic: 'sports', isMutuallyExclusive: true })
    // The asks are so large that each market’s price stays at 0.41.
    for (const index of [0, 1, 2]) {
      venue.world.setLevels(marketAt(venue.world, index), ['ask', 0.42, 1_000_000])
    }
    dealt({ market: 0, contracts: 100, at: 0.4 })
    dealt({ market: 0, contracts: 50, at: 0.46 })
    dealt({ market: 0, contracts: 30, at: 0.5, side: 'sell' })
    dealt({ market: 1, contracts: 80, at: 0.25 })
    dealt({ market: 2, contracts: 20, at: 0.9 })
    dealt({ market: 2, contracts: 20, at: 0.95, side: 'sell', maker: CARL })
    for (let number = 0; number < 60; number += 1) {
      dealt({ market: number % 3, contracts: 5 + (number % 7), at: 0.41, taker: CARL })
    }
  })
  after(() => venue.stop())

  const ownerOf = (wallet: SimWallet): string => {
    const ledgers = new WalletLedgers({ world: venue.world })
    ledgers.stop()
    return ledgers.wallet(wallet.address)?.eoa ?? ''
  }

  test('returns trade rows with placeholder values in the fields of other kinds of rows', async () => {
    const all = await rows(`activity?user=${ANN.address}&type=TRADE&sort_direction=ASC`)
    assert.deepEqual(
      all.map((row) => part(row, ['side', 'size', 'price', 'usdc_size', 'outcome_index'])),
      [
        ['BUY', 100, 0.4, 41.68, 0],
        ['BUY', 50, 0.46, 23.8694, 0],
        ['SELL', 30, 0.5, 14.475, 0],
        ['BUY', 80, 0.25, 21.05, 0],
        ['BUY', 20, 0.9, 18.09, 0],
        ['SELL', 20, 0.95, 18.9525, 0],
      ],
    )
    const of = `activity?user=${BOB.address}&type=SPLIT&sortDirection=ASC&limit=1`
    const [split] = await rows(of)
    assert.deepEqual(
      part(split, ['token_id', 'side', 'outcome', 'outcome_index', 'price', 'size', 'usdc_size']),
      ['', '', '', 999, 0, 100, 100],
    )
    assert.deepEqual(part(split, ['condition_id', 'slug', 'event_slug']), [
      marketAt(venue.world, 0).listing.nativeId,
      'market-0',
      'event-500',
    ])
  })

  test('filters a wallet’s activity by market, event, type and time', async () => {
    const of = `activity?user=${ANN.address}`
    const { nativeId } = marketAt(venue.world, 2).listing
    assert.equal((await rows(`${of}&condition=${nativeId}`)).length, 2)
    assert.equal((await rows(`${of}&event_id=501`)).length, 2)
    assert.equal((await rows(`${of}&type=MERGE,REDEEM`)).length, 0)
    const newest = await rows(of)
    const times = newest.map(({ timestamp }) => Number(timestamp))
    assert.deepEqual(
      times,
      times.toSorted((one, other) => other - one),
    )
    const second = times[2] ?? 0
    assert.equal((await rows(`${of}&start=${second}&end=${second}`)).length, 1)
    assert.equal((await rows(`${of}&start=0&end=0`)).length, 6, '0 means no limit')
  })

  test('returns a wallet’s open positions with the venue’s figures, and closed positions with realized profit', async () => {
    const open = await rows(`positions?user=${ANN.address}`)
    // 150 contracts were bought at 0.42, and 30 of them were sold at 0.50.
    const keys = ['current_size', 'avg_price', 'total_size', 'realized_pnl', 'current_price']
    assert.deepEqual(
      open.map((row) => part(row, keys)),
      [
        [120, 0.42, 150, 2.4, 0.41],
        [80, 0.25, 80, 0, 0.41],
      ],
    )
    assert.deepEqual(
      part(open[0], ['entry_cost_usdc', 'current_value', 'unrealized_pnl', 'percent_pnl']),
      [50.4, 49.2, -1.2, -2.380952],
    )
    assert.deepEqual(part(open[0], ['redeemable', 'mergeable', 'negative_risk', 'event_id']), [
      false,
      false,
      false,
      '500',
    ])
    assert.deepEqual(await one(`value?user=${ANN.address}`), {
      proxy_wallet: ANN.address,
      value: 82,
    })
    const closed = await rows(`positions?user=${ANN.address}&status=CLOSED`)
    assert.deepEqual(
      closed.map((row) => part(row, ['slug', 'avg_price', 'total_size', 'realized_pnl'])),
      [['market-2', 0.9, 20, 1]],
    )
    assert.equal((await one(`user-stats?user=${ANN.address}`)).trades, 3)
  })

  test('includes the name of an invalid parameter in the error, and returns no rows when the wallet is unknown', async () => {
    const of = `user=${ANN.address}`
    const id = `0x${'1'.repeat(64)}`
    const { next } = await page(`positions?${of}&limit=1&sort_by=TIMESTAMP`)
    const bad = {
      activity: 'user',
      'activity?user=0x12': 'user',
      [`activity?${of}&limit=1001`]: 'limit',
      [`activity?${of}&offset=5`]: 'offset',
      [`activity?${of}&type=DANCE`]: 'type',
      [`activity?${of}&sort_by=COWS`]: 'sort_by',
      [`activity?${of}&condition=${id}&event_id=5`]: 'event_id',
      [`activity?${of}&cursor=cows`]: 'cursor',
      positions: 'user',
      [`positions?${of}&limit=1001`]: 'limit',
      [`positions?${of}&status=COWS`]: 'status',
      'positions?event_id=500': 'user',
      [`positions?condition=${id},${id}`]: 'condition',
      [`positions?${of}&condition=cows`]: 'condition',
      [`positions?${of}&sort_by=COWS`]: 'sort_by',
      [`positions?${of}&sort_by=REALIZED_PNL&cursor=${next}`]: 'sort_by',
      value: 'user',
      'user-stats': 'user',
      holders: 'condition',
    }
    for (const [path, parameter] of Object.entries(bad)) await assertRefused(path, parameter)
    for (const path of ['activity', 'positions']) {
      assert.deepEqual(await rows(`${path}?user=${NOBODY}`), [])
    }
  })

  test('returns each row of a wallet once over all pages, and the same trades in each list', async () => {
    const lists = [
      { path: `activity?user=${BOB.address}`, limit: 7 },
      { path: `activity?user=${BOB.address}&sort_direction=ASC`, limit: 11 },
      { path: `positions?user=${BOB.address}&filter_amount=0`, limit: 2 },
      { path: `trades?user=${BOB.address}&taker_only=false`, limit: 9 },
    ]
    for (const { path, limit } of lists) {
      const complete = await rows(`${path}&limit=1000`)
      assert.ok(complete.length > limit, path)
      assert.deepEqual(await pages(path, limit), complete)
    }
    // A transaction with one fill has one row for its taker, so the list of all rows contains each wallet’s rows.
    const everyone = await rows('trades?taker_only=false&limit=1000')
    for (const { address } of [ANN, BOB, CARL]) {
      const own = everyone.filter(({ proxy_wallet }) => proxy_wallet === address)
      assert.deepEqual(await rows(`trades?user=${address}&taker_only=false&limit=1000`), own)
    }
  })

  test('returns a profile by the address of wallet or owner, and Data API rows by the wallet’s address alone', async () => {
    const of = (address: string) => request(`${venue.gamma}/public-profile?address=${address}`)
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
    assert.deepEqual(await rows(`trades?user=${owner}&taker_only=false`), [])
    assert.equal((await of(NOBODY)).status, 404)
    for (const bad of ['', '0x12', ANN.address.slice(2)]) {
      assert.equal((await of(bad)).status, 400)
    }
  })
})

const MARKETS = 60

describe('wallet routes with sixty markets', () => {
  // Ann buys ten contracts in each market and sells all but five positions. Two markets resolve.
  before(async () => {
    venue = await startStubVenue()
    venue.world.addEvent(MARKETS)
    for (let market = 0; market < MARKETS; market += 1) {
      venue.world.setLevels(marketAt(venue.world, market), ['ask', 0.42, 1_000_000])
      deal({ market, contracts: 10, at: 0.4 })
      if (market % 10 === 0) venue.clock.advance(1_000)
    }
    venue.clock.advance(1_000)
    for (let market = 5; market < MARKETS; market += 1) {
      deal({ market, contracts: 10, at: 0.4 + market / 1_000, side: 'sell' })
    }
    venue.world.setStatus(marketAt(venue.world, 0), 'resolved', 'resolved')
  })
  after(() => venue.stop())

  test('returns no wallet row twice when rows arrive between two page requests', async () => {
    const first = await page(`activity?user=${ANN.address}&limit=20`)
    const complete = await pages(`activity?user=${ANN.address}`, 1_000)
    deal({ market: 59, contracts: 3, at: 0.4 })
    venue.clock.advance(1_000)
    deal({ market: 59, contracts: 3, at: 0.4, side: 'sell' })
    const second = await page(`activity?user=${ANN.address}&limit=20&cursor=${first.next}`)
    assert.deepEqual([...first.rows, ...second.rows], complete.slice(0, 40))
  })

  test('returns wallet positions with a status and with consistent sums', async () => {
    const open = await pages(`positions?user=${ANN.address}`, 2)
    assert.equal(open.length, 5)
    assert.deepEqual(open.map(({ status }) => status).sort(), [
      'OPEN',
      'OPEN',
      'OPEN',
      'OPEN',
      'REDEEMABLE',
    ])
    const closed = await pages(`positions?user=${ANN.address}&status=CLOSED`, 9)
    assert.equal(closed.length, MARKETS - 5)
    const brought = closed.map(({ realized_pnl }) => Number(realized_pnl))
    assert.deepEqual(
      brought,
      brought.toSorted((one, other) => other - one),
    )
    for (const row of [...open, ...closed]) {
      const number = (key: string) => Number(row[key])
      const near = (one: number, other: number) => assert.ok(Math.abs(one - other) < 2e-6)
      near(number('total_cost_usdc'), number('entry_cost_usdc') + number('entry_fees_usdc'))
      near(number('unrealized_pnl'), number('current_value') - number('entry_cost_usdc'))
      near(number('total_pnl'), number('realized_pnl') + number('unrealized_pnl'))
    }
    const { nativeId } = marketAt(venue.world, 1).listing
    const holders = await pages(`positions?condition=${nativeId}`, 9)
    assert.deepEqual(
      new Set(holders.map((row) => row.proxy_wallet)),
      new Set([ANN.address, BOB.address]),
    )
  })

  test('returns a losing position at price 0, without a realized loss until the wallet redeems the position', async () => {
    const keys = ['outcome', 'current_price', 'realized_pnl', 'current_value', 'redeemable']
    const redeemable = async ({ address }: SimWallet, price: number) =>
      (await rows(`positions?user=${address}&limit=500`)).find(
        (row) => row.redeemable === true && row.current_price === price,
      )
    const lost = await redeemable(BOB, 0)
    assert.deepEqual(part(lost, keys), ['No', 0, 0, 0, true])
    assert.equal(lost?.unrealized_pnl, -Number(lost?.entry_cost_usdc))
    const won = await redeemable(ANN, 1)
    assert.deepEqual(
      part(won, ['current_price', 'current_size', 'avg_price', 'unrealized_pnl']),
      [1, 10, 0.4, 6],
    )
  })
})

test('lists combinations among the trades of all pages under the fault combos', async () => {
  const other = await startStubVenue({ faults: ['combos'] })
  try {
    other.chance.value = 0
    other.world.addEvent(1)
    const market = marketAt(other.world, 0)
    for (let number = 0; number < 3; number += 1) other.world.trade(market, { taker: ANN })
    const base = `${other.data}/v2/activity?user=${ANN.address}&sort_direction=ASC`
    const got = record((await request(`${base}&limit=5`)).body)
    const rest = record(
      (await request(`${base}&limit=5&cursor=${record(got.pagination).next_cursor}`)).body,
    )
    const all = [...records(got.data), ...records(rest.data)]
    assert.deepEqual(
      all.map(({ is_combo, type }) => `${type} ${is_combo === true}`),
      [1, 2, 3].flatMap(() => ['TRADE false', 'TRADE true', 'REDEEM true']),
    )
    for (const wire of all) {
      const positioned = readTimedRow(wire, ANN.address)
      const read = positioned === null ? null : readActivity(positioned)
      assert.ok(read?.kind === 'event')
      assert.equal(isComboKind(read.event.kind), wire.is_combo === true)
    }
    const trades = record((await request(`${base}&type=TRADE`)).body)
    assert.equal(records(trades.data).length, 3)
  } finally {
    await other.stop()
  }
})
