import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PRICE_ONE } from '../../../../../engine/units.ts'
import { snakeRow } from '../../../../../engine/venues/simulator/polymarket/envelope.ts'
import {
  activityRow,
  positionRow,
  positionsOf,
} from '../../../../../engine/venues/simulator/polymarket/wallet-rows.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { record, records } from '../../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { marketAt, price, StubWorld } from '../../../../support/worlds/stub-world.ts'

const SHARED = process.env.SHARED_DATA ?? '../shared/data'
const LACKING = 'NO RECORDED WALLETS HERE (SHARED_DATA): the rows were not held against the venue’s'

type Row = Readonly<Record<string, unknown>>

/** Rows of Data API v1 get the field names of v2. */
function recorded(t: TestContext, names: { v2: readonly string[]; v1?: readonly string[] }) {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(SHARED, name), 'utf8'))
  const v2 = names.v2.map((name) => `fixtures/polymarket-data-v2/${name}`)
  const v1 = (names.v1 ?? []).map((name) => `wallets/${name}`)
  if (![...v2, ...v1].every((name) => existsSync(join(SHARED, name)))) {
    t.skip(LACKING)
    return []
  }
  return [
    ...v2.flatMap((name) => records(record(read(name)).data)),
    ...v1.flatMap((name) => records(read(name)).map(snakeRow)),
  ]
}

/** Keys that only one of the rows has, or whose JSON types differ. */
function differences(ours: Row, theirs: Row): readonly string[] {
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  return [...keys].filter((key) => typeof ours[key] !== typeof theirs[key])
}

/** A market with six hundred buyers and their makers. It resolves an hour later. */
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

const SENTINELS = new Set(['token_id', 'outcome_index'])

test('returns activity rows with the recorded keys and JSON types of each kind of row', (t) => {
  const v1 = ['activity.json', 'em-activity.json', 'em-activity_all.json']
  const theirs = recorded(t, { v2: ['activity.json'], v1 })
  if (theirs.length === 0) return
  const rows = ledgers
    .all()
    .flatMap((ledger) => ledger.events.map((event) => record(activityRow(ledger, event))))
  for (const kind of ['TRADE', 'REDEEM', 'REWARD', 'MAKER_REBATE']) {
    const [theirRow] = theirs.filter(({ type }) => type === kind)
    const ours = rows.filter(({ type }) => type === kind)
    assert.ok(theirRow !== undefined && ours.length > 0, kind)
    for (const row of ours) assert.deepEqual(differences(row, theirRow), [], kind)
    // A field that is empty in all recorded rows of a kind must be empty in ours.
    for (const [key, value] of Object.entries(theirRow)) {
      // About half of the redemptions name their token. A trade always names it.
      const isFree = kind === 'REDEEM' || kind === 'TRADE'
      const isSentinel = key === 'condition_id' || (!isFree && SENTINELS.has(key))
      if (isSentinel && (value === '' || value === 999)) {
        assert.ok(
          ours.every((row) => row[key] === value),
          `${kind} ${key}`,
        )
      }
    }
  }
  const redeemed = rows.filter(({ type }) => type === 'REDEEM')
  for (const { token_id, size, usdc_size, outcome_index } of redeemed) {
    assert.equal(token_id === '', outcome_index === 999)
    if (token_id === '') assert.equal(size, usdc_size)
  }
  assert.ok(redeemed.some(({ token_id }) => token_id === ''))
  assert.ok(redeemed.some(({ token_id, usdc_size }) => token_id !== '' && usdc_size === 0))
})

test('returns position rows with the recorded keys and JSON types', (t) => {
  const [open] = recorded(t, { v2: ['positions.json'] })
  const [closed] = recorded(t, { v2: ['positions_closed.json'] })
  if (open === undefined || closed === undefined) return
  for (const at of positions) {
    assert.deepEqual(differences(record(positionRow(at)), isOpen(at) ? open : closed), [])
  }
})
