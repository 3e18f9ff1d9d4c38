import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../engine/random.ts'
import { Faults } from '../../../../engine/venues/simulator/faults.ts'
import { worldState } from '../../../../engine/venues/simulator/state.ts'
import { WalletLedgers } from '../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { messageCost, SimulatedWorld } from '../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { planMany, planMarket, planOf } from '../../../support/worlds/sim-plan.ts'

function makeWorld() {
  const clock = new ManualClock()
  const pair = { otherNativeId: 'KXTEST-1', kind: 'other_date' } as const
  const plan = planOf([planMarket(0, { listing: { pair } }), ...planMany(8).slice(1)])
  const world = new SimulatedWorld({
    seed: 1,
    messagesPerSecond: 3_000,
    plan,
    faults: new Faults([], seededRandom(1)),
    clock,
    random: seededRandom('world'),
  })
  const wallets = new WalletLedgers({ world })
  const run = (): void => {
    for (let step = 0; step < 100; step += 1) {
      clock.advance(20)
      world.step()
    }
  }
  const getState = (query: string) =>
    JSON.parse(JSON.stringify(worldState({ world, wallets }, new URLSearchParams(query))))
  return { world, run, getState }
}

test('counts simulated markets by status, trades, and matched pairs by kind', () => {
  const { world, run, getState } = makeWorld()
  run()
  const summary = getState('')
  assert.deepEqual(summary, getState('view=summary'))
  assert.deepEqual(summary.venues.a.statuses, { open: 4 })
  assert.equal(summary.venues.b.markets, 4)
  assert.equal(summary.venues.a.trades, world.trades('a').length)
  assert.deepEqual(summary.pairs, { other_date: 1 })
  assert.equal(getState('view=pairs').pairs[0].b, 'KXTEST-1')
})

test('returns the books of the simulator in micros, best level first', () => {
  const { world, getState } = makeWorld()
  assert.deepEqual(getState('view=books&venue=a').books, {})
  const market = world.markets('a')[1]
  assert.ok(market !== undefined)
  const { bids, asks } = market.book
  const rows = (levels: typeof bids) => levels.map(({ price, size }) => [price, size])
  assert.deepEqual(getState('view=books&venue=a').books, {
    [market.listing.nativeId]: { bids: rows(bids), asks: rows(asks), tick: market.tickMicros },
  })
})

test('pages through trades by their index within the run', () => {
  const { world, run, getState } = makeWorld()
  run()
  const all = getState('view=trades&venue=b')
  assert.equal(all.total, world.trades('b').length)
  assert.equal(all.trades.length, all.total)
  const rest = getState('view=trades&venue=b&from_index=5')
  assert.deepEqual(rest.trades, all.trades.slice(5))
  assert.equal(rest.next_index, all.total)
  assert.equal(all.trades[0].id, world.trades('b')[0]?.id)
})

test('sends the requested number of additional messages within a second when a client requests a burst', () => {
  const counted = (action: string) => {
    const { world, run, getState } = makeWorld()
    let messages = 0
    world.onChange((change) => {
      messages += messageCost(change)
    })
    getState(action)
    run()
    return messages
  }
  const usual = counted('')
  const more = counted('action=burst&messages=5000') - usual
  assert.ok(Math.abs(more - 5_000) < 50, `${more} messages more than ${usual}`)
  const { getState } = makeWorld()
  for (const messages of ['0', '1.5', '-3', '1000001', 'many']) {
    assert.match(getState(`action=burst&messages=${messages}`).error, /1 to 1000000/)
  }
})

test('lists the accepted values in the error when a query is invalid', () => {
  const { getState } = makeWorld()
  assert.match(
    getState('view=weather&venue=a').error,
    /summary, books, trades, pairs, gaps, wallets, wallet/,
  )
  assert.match(getState('view=books').error, /venue accepts a, b/)
  assert.match(getState('action=explode').error, /pause, resume, burst/)
  assert.match(getState('view=trades&venue=a&from_index=-1').error, /from 0/)
})

test('pages through the events of a wallet, with cash and balances, by the address of the wallet or owner', () => {
  const { run, getState } = makeWorld()
  run()
  const { wallets } = getState('view=wallets')
  assert.ok(wallets.length > 20)
  const busiest = wallets.toSorted(
    (one: { events: number }, other: { events: number }) => other.events - one.events,
  )[0]
  const complete = getState(`view=wallet&address=${busiest.address}`)
  assert.deepEqual(getState(`view=wallet&address=${busiest.eoa.toUpperCase()}`), complete)
  assert.equal(complete.rows.length, busiest.events)
  const rest = getState(`view=wallet&address=${busiest.address}&from_index=3`)
  assert.deepEqual(rest.rows, complete.rows.slice(3))
  const fills = complete.rows.filter((row: { kind: string }) => row.kind === 'TRADE')
  const paid = (row: { side?: string; kind: string; usd_micros: number }) =>
    row.side === 'buy' || row.kind === 'SPLIT' ? -row.usd_micros : row.usd_micros
  const cash = complete.rows.reduce(
    (total: number, row: { kind: string; usd_micros: number }) =>
      row.kind === 'REWARD' || row.kind === 'MAKER_REBATE' ? total : total + paid(row),
    0,
  )
  assert.equal(complete.cash_micros, cash)
  assert.ok(fills.length > 0 && complete.balances.length > 0)
  assert.match(getState('view=wallet&address=0x0').error, /view=wallets/)
  assert.match(getState(`view=wallet&address=${busiest.address}&from_index=x`).error, /from 0/)
})
