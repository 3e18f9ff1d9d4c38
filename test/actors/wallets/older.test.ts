// Earlier releases stored no hourly fees and no combos.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sizeMicros, usdMicros } from '../../../engine/units.ts'
import {
  assertComplete,
  fillAt,
  hourlyFills,
  settled,
  WalletWorld,
} from '../../support/worlds/wallet-venue.ts'

const FEE = usdMicros(20_000)

/** A wallet stored by an earlier release: without the combo, and with an older layout of the PnL state. */
async function olderWorld() {
  const world = new WalletWorld()
  const fills = hourlyFills(world, 5).map((fill) => ({ ...fill, fee: FEE }))
  const wallet = world.wallet(1, fills)
  await world.open(wallet)
  await settled(60)
  await world.wallets.stop()
  const { wallets } = world.storage
  const stored = wallets.get(wallet) ?? assert.fail('not stored')
  const hours = stored.hours.map((hour) => ({ ...hour, fees: usdMicros(0) }))
  wallets.put({ ...stored, rules: 0, hours })
  const counts = wallets.pnlState(wallet) ?? assert.fail('no PnL state')
  const older = counts.slice()
  older[0] = (older[0] ?? 0) - 1
  wallets.putPnlState(wallet, older)
  const first = fills[0] ?? assert.fail()
  const combo = { kind: 'comboBuy', size: sizeMicros(5), usd: usdMicros(3) } as const
  world.venue.events.set(wallet, [fillAt(first.timeMs - 1_000, combo), ...fills])
  world.clock.advance(3_600_000)
  await world.restart()
  return { world, wallet }
}

test('adds fees and combos with one full sync to a wallet that an earlier release stored', async () => {
  const { world, wallet } = await olderWorld()
  assert.equal(world.wallets.ranking(ALL).wallets[0]?.isComplete, false, 'fees are not known')
  const view = await world.openSettled(wallet)
  const { fees, trades, comboEvents, comboRealized } = view.totals
  assert.deepEqual([fees, trades, comboEvents, comboRealized], [5 * FEE, 5, 1, null])
  assert.equal(view.window('one_day').fees, 5 * FEE)
  assert.deepEqual(view.issues, ['combos'])
  assert.ok(world.venue.readFrom.includes(0), 'the sync starts at the beginning')
  await world.restart()
  world.venue.readFrom.length = 0
  await world.openSettled(wallet)
  assert.ok(!world.venue.readFrom.includes(0), 'a second full sync began')
  await world.wallets.stop()
})

test('marks a wallet from an earlier release as incomplete, and returns the wallet’s stored fees, while the venue does not answer', async () => {
  const { world, wallet } = await olderWorld()
  world.venue.isDown = true
  const view = assertComplete(await world.open(wallet))
  assert.equal(view.isComplete, false)
  assert.ok(view.issues.includes('figures_behind'))
  assert.equal(view.totals.fees, 5 * FEE)
  await world.wallets.stop()
})

const ALL = { window: 'all_time', sortBy: 'volume', offset: 0, limit: 1 } as const
