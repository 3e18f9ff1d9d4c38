// Wallets and ids of a run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { RunIds } from '../../../../../engine/venues/simulator/world/run-ids.ts'
import { WalletPool } from '../../../../../engine/venues/simulator/world/wallets.ts'
import { NOON } from '../../../../support/worlds/sim-plan.ts'

const idsOf = (startedMs: number) => new RunIds({ seed: 1, startedMs: timeMs(startedMs) })

test('creates unique ids in the venues’ formats', () => {
  const ids = idsOf(NOON)
  const seen = new Set<string>()
  for (let count = 0; count < 20_000; count += 1) {
    seen.add(ids.tradeId(count)).add(ids.txHash(count)).add(ids.address(count))
  }
  assert.equal(seen.size, 60_000)
  assert.match(ids.tradeId(5), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.match(ids.txHash(5), /^0x[0-9a-f]{64}$/)
  assert.match(ids.address(5), /^0x[0-9a-f]{40}$/)
  assert.equal(ids.txHash(5), idsOf(NOON).txHash(5))
  assert.notEqual(ids.txHash(5), idsOf(NOON + 1).txHash(5))
})

test('concentrates trades in a few wallets, and never lets a maker trade with itself', () => {
  const pool = new WalletPool({ ids: idsOf(NOON), random: seededRandom('wallets') })
  const picks = new Map<string, number>()
  for (let pick = 0; pick < 20_000; pick += 1) {
    const wallet = pool.pick()
    picks.set(wallet.address, (picks.get(wallet.address) ?? 0) + 1)
    assert.notEqual(pool.pick(wallet), wallet)
  }
  const counts = [...picks.values()].sort((left, right) => right - left)
  const busiest = counts.slice(0, 300).reduce((sum, count) => sum + count, 0)
  assert.ok(busiest > 8_000 && busiest < 14_000, `${busiest}`)
  assert.ok(picks.size > 1_500)
})
