// Rows about wallets against the recorded ones: keys and JSON types, and the relations that hold in them.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PRICE_ONE } from '../../../../../engine/units.ts'
import {
  activityRow,
  closedPositionRow,
  positionRow,
  positionsOf,
} from '../../../../../engine/venues/simulator/polymarket/wallet-rows.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { record, records } from '../../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { marketAt, price, StubWorld } from '../../../../support/worlds/stub-world.ts'

const WALLETS = join(process.env.SHARED_DATA ?? '../shared/data', 'wallets')

type Row = Readonly<Record<string, unknown>>

function recorded(t: TestContext, ...names: readonly string[]): readonly Row[] {
  if (!existsSync(WALLETS)) {
    t.skip('NO RECORDED WALLETS HERE (SHARED_DATA): the rows were not held against the venue’s')
    return []
  }
  return names.flatMap((name) => records(JSON.parse(readFileSync(join(WALLETS, name), 'utf8'))))
}

/** Keys that one row has and the other lacks, or holds in another JSON type. */
function differences(ours: Row, theirs: Row): readonly string[] {
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  return [...keys].filter((key) => typeof ours[key] !== typeof theirs[key])
}

/** Six hundred buyers and their makers in a market that then resolves, an hour later. */
function settledWorld() {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  world.addEvent(1, {}, { payout: PRICE_ONE })
  const ledgers = new WalletLedgers({ world })
  const market = marketAt(world, 0)
  for (let number = 0; number < 600; number += 1) {
    const at = price(0.3 + number / 1_000)
    world.trade(market, {
      contracts: 5 + number,
      price: at,
      outcomeIndex: number % 3 === 0 ? 1 : 0,
    })
    clock.advance(1_000)
  }
  world.setStatus(market, 'resolved', 'resolved')
  clock.advance(3_600_000)
  world.setStatus(market, 'resolved', 'closed')
  return ledgers
}

const ledgers = settledWorld()
const positions = ledgers.all().flatMap((ledger) => [...positionsOf(ledger)])
const isOpen = ({ holding, outcomeIndex }: (typeof positions)[number]) =>
  holding.positions[outcomeIndex].amount > 0

const SENTINELS = new Set(['asset', 'outcomeIndex'])

test('[SIMWALLET16] activity rows have the keys and JSON types of the recorded ones, kind by kind', (t) => {
  const theirs = recorded(t, 'activity.json', 'em-activity.json', 'em-activity_all.json')
  if (theirs.length === 0) return
  const rows = ledgers
    .all()
    .flatMap((ledger) => ledger.events.map((event) => record(activityRow(ledger, event))))
  for (const kind of ['TRADE', 'REDEEM', 'REWARD', 'MAKER_REBATE']) {
    const [theirRow] = theirs.filter(({ type }) => type === kind)
    const ours = rows.filter(({ type }) => type === kind)
    assert.ok(theirRow !== undefined && ours.length > 0, kind)
    for (const row of ours) assert.deepEqual(differences(row, theirRow), [], kind)
    // What a kind leaves empty, ours leaves empty in the same way.
    for (const [key, value] of Object.entries(theirRow)) {
      // Since 10 August 2026 about every other redemption names its token.
      const isSentinel = key === 'conditionId' || (kind !== 'REDEEM' && SENTINELS.has(key))
      if (isSentinel && (value === '' || value === 999)) {
        assert.ok(
          ours.every((row) => row[key] === value),
          `${kind} ${key}`,
        )
      }
    }
  }
  const redeemed = rows.filter(({ type }) => type === 'REDEEM')
  for (const { asset, size, usdcSize, outcomeIndex } of redeemed) {
    assert.equal(asset === '', outcomeIndex === 999)
    if (asset === '') assert.equal(size, usdcSize)
  }
  assert.ok(redeemed.some(({ asset }) => asset === ''))
  assert.ok(redeemed.some(({ asset, usdcSize }) => asset !== '' && usdcSize === 0))
})

test('[SIMWALLET16] position rows have the keys and JSON types of the recorded ones', (t) => {
  const [theirs] = recorded(t, 'positions.json')
  const [closed] = recorded(t, 'closed_positions.json')
  if (theirs === undefined || closed === undefined) return
  for (const at of positions) {
    if (isOpen(at)) assert.deepEqual(differences(record(positionRow(at)), theirs), [])
    else assert.deepEqual(differences(record(closedPositionRow(at)), closed), [])
  }
})

test('[SIMWALLET16] the relations found in recorded rows hold in ours', () => {
  const open = positions.filter(isOpen).map(positionRow)
  const closed = positions.filter((at) => !isOpen(at)).map(closedPositionRow)
  assert.ok(open.length > 20 && closed.length > 20)
  for (const row of open) {
    assert.ok(Math.abs(row.cashPnl - (row.currentValue - row.initialValue)) < 2e-4)
    if (row.curPrice === 0) assert.deepEqual([row.redeemable, row.currentValue], [true, 0])
  }
  // In this world nobody sells what was bought from another, so that a closed position was redeemed or split and sold.
  let heldToTheEnd = 0
  for (const row of closed) {
    const held = row.totalBought * (row.curPrice - row.avgPrice)
    if (Math.abs(row.realizedPnl - held) < 1e-3) heldToTheEnd += 1
  }
  assert.ok(heldToTheEnd > 20, `${heldToTheEnd}`)
})
