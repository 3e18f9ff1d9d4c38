import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineError } from '../../../engine/errors.ts'
import { HOUR_MS, MINUTE_MS, priceMicros, sizeMicros, usdMicros } from '../../../engine/units.ts'
import { listing } from '../../support/worlds/builders.ts'
import { addressOf } from '../../support/worlds/stored-wallets.ts'
import {
  assertComplete,
  fillAt,
  hourlyFills as fills,
  gate,
  SECOND_MS,
  settled,
  tradesOf,
  WalletWorld,
} from '../../support/worlds/wallet-venue.ts'

async function refusal(requested: Promise<unknown>): Promise<string> {
  try {
    await requested
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error))
    return error.code
  }
  return 'answered'
}

test('returns wallet data that is seconds old at once, and waits for a sync when the data is older', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 2))
  await world.open(wallet)
  world.venue.events.get(wallet)?.push(fillAt(world.clock.nowMs() + SECOND_MS))
  const readMs = world.clock.nowMs()
  world.clock.advance(5 * SECOND_MS)
  const young = assertComplete(await world.open(wallet))
  assert.deepEqual([young.totals.trades, young.isComplete, young.asOfMs], [2, true, readMs])
  world.clock.advance(1)
  const next = assertComplete(await world.open(wallet))
  assert.deepEqual([next.totals.trades, next.asOfMs], [3, world.clock.nowMs()])
  world.venue.events.get(wallet)?.push(fillAt(world.clock.nowMs() + SECOND_MS))
  world.clock.advance(6 * MINUTE_MS)
  assert.equal(tradesOf(await world.open(wallet)), 4)
  await world.wallets.stop()
})

test('returns known wallet data as incomplete when the venue fails, and UNAVAILABLE if no data is known', async () => {
  const world = new WalletWorld()
  const [existing, fresh] = [world.wallet(1, fills(world, 2)), world.wallet(2, fills(world, 1))]
  await world.open(existing)
  world.clock.advance(6 * MINUTE_MS)
  world.venue.isDown = true
  assert.equal(await refusal(world.open(fresh)), 'UNAVAILABLE')
  const failed = assertComplete(await world.open(existing))
  assert.deepEqual([failed.totals.trades, failed.isComplete], [2, false])
  const readCount = world.venue.readFrom.length
  await world.open(existing)
  assert.equal(world.venue.readFrom.length, readCount, 'no second request at once')
  world.venue.isDown = false
  world.clock.advance(2 * SECOND_MS)
  const { closed, open } = gate()
  world.venue.gate = closed
  const [late, lost] = [world.open(existing), refusal(world.open(fresh))]
  await settled()
  world.clock.advance(3_500)
  assert.equal(assertComplete(await late).isComplete, false)
  assert.equal(await lost, 'UNAVAILABLE')
  // The sync continues after the requests time out.
  open()
  await settled()
  assert.equal(assertComplete(await world.open(existing)).isComplete, true)
  await world.wallets.stop()
})

test('runs the first syncs of four wallets at once, queues 64 wallets and refuses further wallets', async () => {
  const world = new WalletWorld()
  const all = Array.from({ length: 76 }, (_, index) => world.wallet(index + 1, fills(world, 1)))
  const { closed, open } = gate()
  await Promise.all(all.slice(0, 8).map((wallet) => world.open(wallet)))
  world.clock.advance(HOUR_MS)
  world.venue.readFrom.length = 0
  world.venue.gate = closed
  const requested = all.slice(8).map((wallet) => refusal(world.open(wallet)))
  await settled()
  // Four profile requests run, and 64 wait.
  assert.equal(world.venue.profileCount, 8 + 4)
  assert.equal(await refusal(world.open(addressOf(1_000))), 'UNAVAILABLE')
  assert.equal(world.venue.readFrom.length, 0)
  open()
  assert.ok((await Promise.all(requested)).every((answer) => answer === 'answered'))
  await world.wallets.stop()
})

test('returns a wallet as incomplete after the venue once omitted a part of the wallet’s history', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 2))
  world.venue.withholds = true
  assert.equal(assertComplete(await world.open(wallet)).isComplete, false)
  world.venue.withholds = false
  world.clock.advance(6 * MINUTE_MS)
  assert.equal(assertComplete(await world.open(wallet)).isComplete, false)
  await world.restart()
  assert.equal(assertComplete(await world.open(wallet)).isComplete, false)
  await world.wallets.stop()
})

test('subscribes to the most recently requested wallets for a day, even after a restart', async () => {
  const world = new WalletWorld({ followedMax: 3 })
  const all = [1, 2, 3, 4].map((number) => world.wallet(number, fills(world, 1)))
  const numbers = (): number[] => [...world.venue.followed].map(Number).sort()
  for (const wallet of all) {
    await world.open(wallet)
    world.clock.advance(2 * HOUR_MS)
  }
  assert.deepEqual(numbers(), [2, 3, 4])
  for (const number of [2, 1]) await world.open(addressOf(number))
  assert.deepEqual(numbers(), [1, 2, 4])
  world.clock.advance(23 * HOUR_MS)
  assert.deepEqual(numbers(), [1, 2])
  world.venue.followed.clear()
  await world.restart()
  assert.deepEqual(numbers(), [1, 2])
  world.clock.advance(HOUR_MS + MINUTE_MS)
  assert.deepEqual(numbers(), [])
  await world.wallets.stop()
})

test('evicts wallets from memory by their size in bytes, and reloads the wallets with equal figures', async () => {
  const world = new WalletWorld({ warmBytesMax: 100_000 })
  const all = Array.from({ length: 20 }, (_, index) =>
    world.wallet(index + 1, fills(world, 10 + index)),
  )
  for (const wallet of all) await world.open(wallet)
  const readCount = world.venue.readFrom.length
  for (const [index, wallet] of all.entries()) {
    const view = assertComplete(await world.open(wallet))
    assert.deepEqual([view.totals.trades, view.isComplete], [10 + index, true])
  }
  const again = world.venue.readFrom.length - readCount
  assert.ok(again > 0, 'some wallets were evicted')
  assert.ok(world.venue.readFrom.slice(readCount).every((fromMs) => fromMs > 0))
  await world.wallets.stop()
})

test('returns a wallet as incomplete when its position sizes differ from the venue’s sizes', async () => {
  const world = new WalletWorld()
  const market = world.list(listing('m'))
  const wallet = world.wallet(1, fills(world, 2))
  const published = {
    ...{ token: market.summary.outcomes[0]?.id ?? assert.fail(), market: market.ref.nativeId },
    ...{ size: sizeMicros(20_000_000), bought: sizeMicros(20_000_000), realized: usdMicros(0) },
    ...{ price: priceMicros(500_000), isClosed: false },
  }
  world.venue.held = [published]
  assert.equal((await world.openSettled(wallet)).isComplete, true)
  assert.deepEqual((await world.wallets.inspect(wallet))?.comparison?.differences, [])
  world.venue.held = [{ ...published, size: sizeMicros(5_000_000) }]
  world.clock.advance(61 * MINUTE_MS)
  assert.equal((await world.openSettled(wallet)).isComplete, false)
  const found = await world.wallets.inspect(wallet)
  const [difference] = found?.comparison?.differences ?? []
  assert.deepEqual(
    [difference?.what, difference?.ours, difference?.theirs],
    ['size', 20_000_000, 5_000_000],
  )
  // Markets with unsettled events are not compared.
  world.clock.advance(61 * MINUTE_MS)
  world.venue.events.get(wallet)?.push(fillAt(world.clock.nowMs() - 5_000))
  assert.equal((await world.openSettled(wallet)).isComplete, true)
  await world.wallets.stop()
})

test('syncs known wallets at once while one client queues many unknown wallets', async () => {
  const world = new WalletWorld()
  const existing = world.wallet(1, fills(world, 2))
  await world.open(existing)
  world.clock.advance(HOUR_MS)
  world.venue.readFrom.length = 0
  const unknown = Array.from({ length: 30 }, (_, index) => world.wallet(index + 2, fills(world, 1)))
  const { closed, open } = gate()
  for (const wallet of unknown) world.venue.gates.set(wallet, closed)
  const { signal } = new AbortController()
  const requested = unknown.map((wallet) =>
    refusal(world.wallets.open(wallet, signal, ['flood', '10.0.0.1'])),
  )
  await settled(60)
  assert.equal(world.venue.readFrom.length, 2)
  const view = assertComplete(await world.wallets.open(existing, signal, ['other', '10.0.0.2']))
  assert.equal(view.isComplete, true)
  const fresh = world.wallet(100, fills(world, 1))
  assert.equal(tradesOf(await world.wallets.open(fresh, signal, ['other', '10.0.0.2'])), 1)
  open()
  await Promise.all(requested)
  await world.wallets.stop()
})

test('allows 30 lookups of unknown wallets a minute per account and per address', async () => {
  const world = new WalletWorld()
  const { signal } = new AbortController()
  const request = (number: number, requester: readonly string[]) =>
    refusal(world.wallets.open(world.wallet(number, fills(world, 1)), signal, requester))
  for (let number = 1; number <= 30; number += 1) {
    assert.equal(await request(number, [`account ${number}`, '10.0.0.1']), 'answered')
  }
  assert.equal(await request(31, ['account 31', '10.0.0.1']), 'RATE_LIMITED')
  assert.equal(
    await request(1, ['account 31', '10.0.0.1']),
    'answered',
    'requests of known wallets are not counted',
  )
  assert.equal(await request(32, ['other', '10.0.0.2']), 'answered')
  world.clock.advance(MINUTE_MS)
  assert.equal(await request(31, ['account 31', '10.0.0.1']), 'answered')
  await world.wallets.stop()
})
