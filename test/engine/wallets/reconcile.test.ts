import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { VenuePosition } from '../../../engine/wallet.ts'
import { PnlState } from '../../../engine/wallets/pnl-state.ts'
import type { PnlPosition } from '../../../engine/wallets/wallet-figures.ts'
import { accountFigures, differencesOf } from '../../support/reference/wallet-figures.ts'
import { randomHistory } from '../../support/worlds/wallet-histories.ts'

test('reports no difference when the venue has the same history, computed by the venue’s own definitions', () => {
  let lost = 0
  let count = 0
  for (let seed = 0; seed < 200; seed += 1) {
    const { events, markets } = randomHistory(seed, {
      ...{ isComplete: true, eventCount: 80, groupCount: 3 },
    })
    const pnlState = PnlState.empty()
    for (const event of events) {
      pnlState.apply(event, (id) => markets.find(({ nativeId }) => nativeId === id) ?? null)
    }
    const { positions } = accountFigures(pnlState, [])
    const random = seededRandom('venue', seed)
    const theirs = positions.map((position) => asTheVenueTells(position, random.next()))
    assert.deepEqual(differencesOf(positions, theirs), [], `history ${seed}`)
    lost += positions.filter((position) => position.lost > 0).length
    count += positions.length
  }
  assert.ok(lost > 50 && count > 500, 'losers that were not redeemed are among them')
})

test('reports differences in size, lifetime buys and realised dollars between service and venue, and ignores tiny amounts', () => {
  const own = ours({ balance: 10e6, amount: 10e6, bought: 20e6, realized: 5e6 })
  const same = asTheVenueTells(own, 0)
  const published = (set: Partial<VenuePosition>) =>
    differencesOf([own], [{ ...same, ...set }]).map(({ what, ours: mine, theirs }) => [
      what,
      mine,
      theirs,
    ])
  assert.deepEqual(published({}), [])
  assert.deepEqual(published({ size: sizeMicros(10e6 + 10_000) }), [])
  assert.deepEqual(published({ size: sizeMicros(10e6 + 10_001) }), [['size', 10e6, 10e6 + 10_001]])
  assert.deepEqual(published({ bought: sizeMicros(21e6) }), [['bought', 20e6, 21e6]])
  assert.deepEqual(published({ realized: usdMicros(5e6 + 12_000) }), [], 'a cent and 20 roundings')
  assert.deepEqual(published({ realized: usdMicros(5e6 + 12_001) }), [
    ['realized', 5e6, 5e6 + 12_001],
  ])
})

test('expects the venue to report no realised loss for a losing position until the position is redeemed', () => {
  const loser = ours({ balance: 10e6, bought: 10e6, realized: -4e6, lost: 4e6 })
  const open = { ...asTheVenueTells(loser, 0), realized: usdMicros(0) }
  assert.deepEqual(differencesOf([loser], [open]), [])
  const redeemed = { ...open, realized: usdMicros(-4e6) }
  assert.equal(differencesOf([loser], [redeemed])[0]?.what, 'realized')
})

test('reports positions that exist in the service alone or at the venue alone, if the venue’s list is complete', () => {
  const held = ours({ balance: 3e6, amount: 3e6, bought: 3e6 })
  const removed = ours({ token: outcomeId('gone'), bought: 3e6 })
  const missing = {
    ...asTheVenueTells(held, 0),
    token: outcomeId('missing'),
    size: sizeMicros(7e6),
  }
  const dust = { ...missing, token: outcomeId('dust'), size: sizeMicros(9_000) }
  const closed = {
    ...missing,
    ...{ token: outcomeId('c'), isClosed: true, realized: usdMicros(-2e6) },
  }
  const all = differencesOf([held, removed], [missing, dust, closed])
  assert.deepEqual(
    all.map(({ token, what, ours: mine, theirs }) => [token, what, mine, theirs]),
    [
      ['missing', 'missing', 0, 7e6],
      ['c', 'missing', 0, -2e6],
      ['t', 'unknown', 3e6, 0],
    ],
  )
  assert.deepEqual(differencesOf([held], [], { isComplete: false }), [])
  const twice = [{ ...asTheVenueTells(held, 0), isClosed: true, size: sizeMicros(0) }]
  assert.deepEqual(
    differencesOf([held], [asTheVenueTells(held, 0), ...twice]),
    [],
    'the open position counts',
  )
  assert.deepEqual(differencesOf([held], [...twice, asTheVenueTells(held, 0)]), [])
})

/** The average price is cut to four decimals, like the venue's. */
function asTheVenueTells(position: PnlPosition, chance: number): VenuePosition {
  const contracts = position.bought / 1e6
  const rounding = Math.trunc(contracts * 100 * chance)
  const { token, market, balance, bought, realized, lost } = position
  return {
    ...{ token, market, size: balance, bought, isClosed: balance === 0 },
    price: priceMicros(0),
    realized: usdMicros(realized + lost + (chance === 0 ? 0 : rounding)),
  }
}

function ours(set: Partial<Record<keyof PnlPosition, unknown>>): PnlPosition {
  const size = (name: keyof PnlPosition) => sizeMicros(Number(set[name] ?? 0))
  const usd = (name: keyof PnlPosition) => usdMicros(Number(set[name] ?? 0))
  return {
    token: outcomeId(String(set.token ?? 't')),
    ...{ market: nativeMarketId('m'), outcomeIndex: 0, isCostKnown: true },
    ...{ balance: size('balance'), amount: size('amount'), bought: size('bought') },
    ...{ sold: size('sold'), cost: usd('cost'), realized: usd('realized'), lost: usd('lost') },
    ...{ boughtUsd: usd('boughtUsd'), soldUsd: usd('soldUsd'), fees: usd('fees') },
    ...{ openedAtMs: timeMs(0), updatedAtMs: timeMs(0) },
  }
}
