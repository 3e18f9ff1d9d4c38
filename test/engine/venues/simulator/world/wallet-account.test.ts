import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash32 } from '../../../../../engine/random.ts'
import { MICROS, timeMs, usdMicros } from '../../../../../engine/units.ts'
import { RunIds } from '../../../../../engine/venues/simulator/world/run-ids.ts'
import {
  WalletAccount,
  WalletHolding,
} from '../../../../../engine/venues/simulator/world/wallet-account.ts'
import {
  OwnTransaction,
  WalletOperation,
} from '../../../../../engine/venues/simulator/world/wallet-events.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { marketAt, StubWorld, size } from '../../../../support/worlds/stub-world.ts'

const NOW = timeMs(1_760_000_000_000)
const ids = new RunIds({ seed: hash32('account'), startedMs: NOW })

function makeAccount(markets: number) {
  const world = new StubWorld(new ManualClock(NOW))
  world.addEvent(markets)
  const wallet = { address: `0x${'a1'.repeat(20)}`, name: '', pseudonym: '' }
  const account = new WalletAccount({ wallet, eoa: `0x${'e0'.repeat(20)}`, firstMs: NOW })
  const holdings = Array.from({ length: markets }, (_, index) => {
    return new WalletHolding(account, marketAt(world, index))
  })
  return { account, holdings }
}

function operation(holding: WalletHolding, usd: number): WalletOperation {
  const { market } = holding
  const money = usdMicros(usd * MICROS)
  return new WalletOperation({
    kind: 'CONVERSION',
    atMs: NOW,
    market,
    outcomeIndex: null,
    size: size(10),
    usd: money,
    transaction: new OwnTransaction(ids, 1),
  })
}

test('realizes no profit when a wallet converts positions, and transfers the cost to the new positions', () => {
  const { account, holdings } = makeAccount(4)
  const [first, second, third, fourth] = holdings
  assert.ok(first && second && third && fourth)
  first.positions[1].buy(size(10), 0.6, NOW)
  second.positions[1].buy(size(25), 0.5, NOW)
  const events = [operation(first, 10), operation(second, 0)]
  account.convert({ size: size(10), given: [first, second], others: [third, fourth], events })
  // The two No contracts cost 11 dollars and return 10, so the 20 Yes contracts cost one dollar.
  for (const { positions } of [third, fourth]) {
    assert.equal(positions[0].amount, size(10))
    assert.ok(Math.abs(positions[0].averagePrice - 0.05) < 1e-12)
  }
  assert.deepEqual([first.positions[1].amount, second.positions[1].amount], [0, size(15)])
  assert.deepEqual([first.positions[1].realized, second.positions[1].realized], [0, 0])
  assert.equal(account.cash, size(10) as number)
  assert.equal(account.events.length, 2)
})

test('throws when the balance of a wallet would become negative', () => {
  const { holdings } = makeAccount(1)
  const position = holdings[0]?.positions[0]
  assert.ok(position !== undefined)
  position.buy(size(3), 0.5, NOW)
  assert.throws(() => position.sell(size(4), 0.5, NOW), RangeError)
  assert.equal(position.amount, size(3))
})
