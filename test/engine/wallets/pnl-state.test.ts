// Compares PnL states with a reference implementation over random histories, and with figures calculated by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Packr } from 'msgpackr'
import { type NativeMarketId, nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { CURVE_ZERO } from '../../../engine/market/fees.ts'
import { migratedMarket } from '../../../engine/position-ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { MICROS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type {
  FindWalletMarket,
  WalletEvent,
  WalletEventKind,
  WalletMarket,
} from '../../../engine/wallet.ts'
import { PnlState } from '../../../engine/wallets/pnl-state.ts'
import { partsOf, shareOf } from '../../../engine/wallets/ratio.ts'
import {
  netRealized,
  type PnlGranularity,
  type PnlPosition,
  type WalletTotals,
} from '../../../engine/wallets/wallet-figures.ts'
import {
  accountFigures,
  naiveFigures,
  positionOf,
  type Range,
} from '../../support/reference/wallet-figures.ts'
import { randomHistory, type WalletHistory } from '../../support/worlds/wallet-histories.ts'

const isLong = process.env.TEST_LONG === '1'
const HISTORIES = isLong ? 5_000 : 40
/** Fewer histories for tests that compare each history several times. */
const OFTEN_JUDGED = HISTORIES / 2
const COPIES = isLong ? 50 : 20
const SHARES = isLong ? 20_000 : 4_000
const CONVERSIONS = isLong ? 200 : 50

test('computes every figure of a wallet’s history like the reference implementation', () => {
  for (let seed = 0; seed < HISTORIES; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const ranges = someRanges(seed, history)
    const pnlState = accountOf(history.events, find)
    const found = accountFigures(pnlState, ranges)
    assert.deepEqual(found, naiveFigures(history.events, find, ranges), `history ${seed}`)
  }
})

test('computes realised PnL equal to the sum of cash without fees and the cost of holdings', () => {
  let heldCount = 0
  for (let seed = 0; seed < HISTORIES; seed += 1) {
    const history = randomHistory(seed, { isComplete: true, eventCount: 60, groupCount: 2 })
    const pnlState = accountOf(history.events, finder(history.markets))
    const { positions } = accountFigures(pnlState, [])
    const isIn = (kind: string) => kind === 'sell' || kind === 'merge' || kind === 'redeem'
    let cash = 0n
    for (const { kind, usd } of history.events) {
      if (isIn(kind) || kind === 'conversion') cash += BigInt(usd)
      if (kind === 'buy' || kind === 'split') cash -= BigInt(usd)
    }
    let cost = 0n
    let realized = 0n
    for (const position of positions) {
      cost += BigInt(position.cost)
      realized += BigInt(position.realized)
      assert.ok(position.isCostKnown, `history ${seed}: nothing was given that was not held`)
      assert.equal(position.balance, position.bought - position.sold)
      assert.equal(
        position.cost,
        position.boughtUsd - position.soldUsd + position.realized,
        `history ${seed}: each position closes too`,
      )
      if (position.amount > 0) heldCount += 1
    }
    assert.equal(cash + cost, realized, `history ${seed}`)
    const { realized: published } = pnlState.totals()
    assert.equal(BigInt(published), realized)
  }
  assert.ok(heldCount > 100, 'many histories end with open positions')
})

test('computes the same PnL regardless of when a resolution arrives and how often figures are read', () => {
  const published = { resolved: 0, rebuilt: 0, judged: 0 }
  for (let seed = 0; seed < OFTEN_JUDGED; seed += 1) {
    const history = randomHistory(seed)
    const { events } = history
    const random = seededRandom('wallet', seed)
    const knownFrom = new Map(
      history.markets.map(({ nativeId }) => [nativeId, random.below(events.length + 1)]),
    )
    const isHidden = random.below(2) === 0
    const findAt = (index: number): FindWalletMarket => {
      const existing = history.markets.flatMap((market) => {
        if ((knownFrom.get(market.nativeId) ?? 0) <= index) return [market]
        return isHidden ? [] : [{ ...market, payout: null, resolvedAtMs: null }]
      })
      return finder(existing)
    }
    let pnlState = PnlState.empty()
    const rebuildAt = (index: number) => {
      published.rebuilt += 1
      pnlState = accountOf(events.slice(0, index), findAt(index))
    }
    for (const [index, event] of events.entries()) {
      for (const market of history.markets) {
        if (knownFrom.get(market.nativeId) !== index || random.below(3) === 0) continue
        const answer = pnlState.resolve(market)
        if (answer === 'applied') published.resolved += 1
        if (answer === 'rebuild') rebuildAt(index)
      }
      if (pnlState.apply(event, findAt(index)) === 'rebuild') rebuildAt(index + 1)
      if (random.below(8) === 0) pnlState.totals()
      if (random.below(20) > 0 && index < events.length - 1) continue
      for (const market of history.markets) {
        const facts = findAt(index + 1)(market.nativeId)
        if (facts !== null && pnlState.resolve(facts) === 'rebuild') rebuildAt(index + 1)
      }
      const ranges = someRanges(seed, history)
      const naive = naiveFigures(events.slice(0, index + 1), findAt(index + 1), ranges)
      assert.deepEqual(accountFigures(pnlState, ranges), naive, `history ${seed}, event ${index}`)
      published.judged += 1
    }
  }
  assert.ok(
    published.resolved > OFTEN_JUDGED / 10 && published.rebuilt > OFTEN_JUDGED / 10,
    JSON.stringify(published),
  )
})

test('applies an event that arrives late to its position, or requests a rebuild of the PnL state', () => {
  const answers = { applied: 0, rebuild: 0 }
  for (let seed = 0; seed < OFTEN_JUDGED; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const random = seededRandom('late', seed)
    const late = history.events[random.below(history.events.length)]
    if (late === undefined) continue
    const others = history.events.filter((event) => event !== late)
    const pnlState = accountOf(others, find)
    if (random.below(2) === 0) pnlState.totals()
    const answer = pnlState.apply(late, find)
    answers[answer] += 1
    // Events of one second keep the given order.
    const location = others.findLastIndex(({ timeMs: atMs }) => atMs <= late.timeMs) + 1
    const sorted = others.toSpliced(location, 0, late)
    const ranges = someRanges(seed, history)
    const checked = answer === 'applied' ? pnlState : accountOf(sorted, find)
    const naive = naiveFigures(sorted, find, ranges)
    assert.deepEqual(accountFigures(checked, ranges), naive, `history ${seed}`)
  }
  const [appliedMin, rebuildMin] = isLong ? [10, 20] : [5, 5]
  assert.ok(answers.applied > appliedMin && answers.rebuild > rebuildMin, JSON.stringify(answers))
})

test('computes the same PnL when the state is serialised and deserialised after every event', () => {
  for (let seed = 0; seed < HISTORIES / 10; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const ranges = someRanges(seed, history)
    const straight = PnlState.empty()
    let packed = PnlState.empty()
    for (const event of history.events) {
      straight.apply(event, find)
      packed.apply(event, find)
      const bytes = packed.pack()
      // A database page may contain the bytes at an unaligned offset.
      const shifted = new Uint8Array(bytes.byteLength + 3)
      shifted.set(bytes, 3)
      const unpacked = PnlState.unpack(shifted.subarray(3))
      assert.ok(unpacked !== null)
      packed = unpacked
      assert.deepEqual(accountFigures(packed, ranges), accountFigures(straight, ranges))
    }
  }
})

test('does not change the original PnL state when a copy changes, nor the copy when the original changes', () => {
  for (let seed = 0; seed < COPIES; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const half = Math.floor(history.events.length / 2)
    const pnlState = accountOf(history.events.slice(0, half), find)
    const before = accountFigures(pnlState, [])
    const copy = pnlState.copy()
    for (const event of history.events.slice(half)) copy.apply(event, find)
    assert.deepEqual(accountFigures(pnlState, []), before)
    const ranges = someRanges(seed, history)
    assert.deepEqual(accountFigures(copy, ranges), naiveFigures(history.events, find, ranges))
  }
})

test('rejects truncated bytes and other format versions of a PnL state', () => {
  const history = randomHistory(7, { isComplete: true, eventCount: 40, groupCount: 3 })
  const bytes = accountOf(history.events, finder(history.markets)).pack()
  for (let length = 0; length < bytes.byteLength; length += 1) {
    assert.equal(PnlState.unpack(bytes.slice(0, length)), null, `cut to ${length}`)
  }
  assert.equal(PnlState.unpack(new Uint8Array([...bytes, 0])), null, 'an additional byte')
  const older = new Packr({ useRecords: true }).pack({ version: 2, sums: {}, markets: [] })
  assert.equal(PnlState.unpack(older), null)
  // The first byte is the version of an earlier layout.
  assert.equal(PnlState.unpack(new Uint8Array([2, 99, 99, 97, 28, 0, 0, 0])), null)
})

test('preserves pending write-offs when a PnL state is copied or serialised', () => {
  const wallet = new TestWallet(market('m', resolved(100, 0))).all(['buy', [0, 'm-yes', 10, 4]])
  // A copy made before the first read still has pending write-offs.
  const copy = wallet.state.copy()
  const opened = PnlState.unpack(wallet.state.copy().pack())
  assert.ok(opened !== null)
  for (const state of [copy.copy(), copy, opened]) {
    const { amount, lost, realized } = positionOf(state, 'm-yes')
    assert.deepEqual([amount, lost, realized], [0, 4_000_000, -4_000_000])
    assert.deepEqual(accountFigures(state, []), accountFigures(wallet.state, []))
  }
})

function accountOf(events: readonly WalletEvent[], find: FindWalletMarket): PnlState {
  const pnlState = PnlState.empty()
  for (const event of events) pnlState.apply(event, find)
  return pnlState
}

function finder(markets: readonly WalletMarket[]): FindWalletMarket {
  const byId = new Map<NativeMarketId, WalletMarket>()
  for (const market of markets) byId.set(market.nativeId, market)
  return (id) => byId.get(id) ?? null
}

/** The ranges are the complete history and ranges that begin or end within a second. */
function someRanges(seed: number, { events }: WalletHistory): readonly Range[] {
  const random = seededRandom('ranges', seed)
  const first = events[0]?.timeMs ?? 0
  const last = events.at(-1)?.timeMs ?? 0
  const moment = () => Math.floor(first + random.next() * (last - first))
  const [a, b] = [moment(), events[random.below(Math.max(events.length, 1))]?.timeMs ?? 0]
  return [
    [0, Number.MAX_SAFE_INTEGER],
    [Math.min(a, b), Math.max(a, b)],
    [a, a],
  ]
}

const START_MS = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const DAY = 86_400_000
const GROUP = ['m0', 'm1', 'm2', 'm3']

/** Millionths of dollars or contracts. */
const micros = (value: number): number => Math.round(value * MICROS)

function market(name: string, set: Partial<WalletMarket> = {}): WalletMarket {
  const tokens = [outcomeId(`${name}-yes`), outcomeId(`${name}-no`)]
  return {
    ...{ nativeId: nativeMarketId(name), tokens, payout: null, resolvedAtMs: null, group: null },
    ...{ question: null, slug: null, eventSlug: null, labels: [], takerFee: CURVE_ZERO },
    ...set,
  }
}

const grouped = GROUP.map((name) => market(name, { group: GROUP.map(nativeMarketId) }))

/** `second` counts from the start. Sizes are in contracts and dollars. `on` is a token such as `m-yes`. */
function event(
  kind: WalletEventKind,
  [second, on, size, usd = size]: readonly [number, string, number, number?],
  set: Partial<WalletEvent> = {},
): WalletEvent {
  const [name = ''] = on.split('-')
  return {
    kind,
    timeMs: timeMs(START_MS + second * SECOND),
    txHash: '0xabc',
    market: nativeMarketId(name),
    token: on.includes('-') ? outcomeId(on) : null,
    size: sizeMicros(micros(size)),
    price: priceMicros(0),
    usd: usdMicros(micros(usd)),
    fee: usdMicros(0),
    role: null,
    converted: [],
    ...set,
  }
}

type Given = Parameters<typeof event>

class TestWallet {
  readonly state = PnlState.empty()
  readonly #markets: readonly WalletMarket[]

  constructor(...markets: readonly WalletMarket[]) {
    this.#markets = markets
  }

  apply(...given: Given) {
    const find = (id: string) => this.#markets.find(({ nativeId }) => nativeId === id) ?? null
    return this.state.apply(event(...given), find)
  }

  all(...events: readonly Given[]): this {
    for (const given of events) this.apply(...given)
    return this
  }

  of(token: string, ...names: readonly (keyof PnlPosition)[]): unknown[] {
    const position = positionOf(this.state, token)
    return names.map((name) => position[name])
  }

  totals(...names: readonly (keyof WalletTotals)[]): unknown[] {
    const totals = this.state.totals()
    return names.map((name) => totals[name])
  }

  realizedAt(second: number): number {
    const atMs = timeMs(START_MS + second * SECOND)
    return this.state.between(atMs, atMs).realized
  }
}

const resolved = (second: number, payout: number) => ({
  payout: priceMicros(payout),
  resolvedAtMs: timeMs(START_MS + second * SECOND),
})

test('rounds proportional shares down exactly at every size and below 0, and the shares add up to the total', () => {
  const random = seededRandom('shares')
  const any = () => Math.floor(10 ** (random.next() * 15.9))
  for (let round = 0; round < SHARES; round += 1) {
    const total = any()
    const part = Math.min(any(), total)
    const value = any() * (random.below(2) === 0 ? 1 : -1)
    const product = BigInt(value) * BigInt(part)
    const rest = ((product % BigInt(total)) + BigInt(total)) % BigInt(total)
    assert.equal(BigInt(shareOf(value, { part, total })), (product - rest) / BigInt(total))
    const parts = partsOf(value, 1 + random.below(7))
    const sum = parts.reduce((all, one) => all + BigInt(one), 0n)
    assert.equal(sum, BigInt(value))
    assert.ok(parts.every((one) => one === parts[0] || one === parts.at(-1)))
  }
})

test('raises the average cost when a wallet buys, and charges the remaining cost to the last sale', () => {
  const wallet = new TestWallet(market('m')).all(
    ['buy', [0, 'm-yes', 10, 4]],
    ['buy', [1, 'm-yes', 10, 6], { fee: usdMicros(300_000) }],
    ['sell', [2, 'm-yes', 5, 3.5], { fee: usdMicros(20_000) }],
  )
  const figures = wallet.of('m-yes', 'amount', 'cost', 'realized', 'fees', 'isCostKnown')
  assert.deepEqual(figures, [15e6, 7_500_000, 1_000_000, 320_000, true])
  wallet.apply('sell', [3, 'm-yes', 14.999999, 1])
  assert.deepEqual(wallet.of('m-yes', 'cost'), [1], 'floor(7,500,000 × 14,999,999 / 15,000,000)')
  wallet.apply('sell', [4, 'm-yes', 0.000001, 0])
  assert.deepEqual(wallet.of('m-yes', 'cost', 'realized'), [0, 1_000_000 + 1_000_000 - 7_500_000])
})

test('realises no PnL when a wallet sells more contracts than it bought, and marks the position', () => {
  const wallet = new TestWallet(market('m')).all(
    ['buy', [0, 'm-yes', 3, 1.5]],
    ['sell', [1, 'm-yes', 4, 2.4]],
    ['sell', [2, 'm-no', 1, 0.9]],
  )
  assert.deepEqual(wallet.of('m-yes', 'amount', 'balance', 'cost'), [0, 0, 0])
  // Three of the four contracts were known, so 1.8 of the 2.4 dollars count.
  const figures = wallet.of('m-yes', 'realized', 'sold', 'soldUsd', 'isCostKnown')
  assert.deepEqual(figures, [300_000, 4_000_000, 2_400_000, false])
  assert.deepEqual(wallet.of('m-no', 'realized', 'isCostKnown'), [0, false])
  assert.deepEqual(
    wallet.totals('volume'),
    [1_500_000 + 2_400_000 + 900_000],
    'the complete sale counts as volume',
  )
})

test('values a split at half a dollar per outcome, a merge as sales, and the odd micro-dollar at the last outcome', () => {
  const wallet = new TestWallet(market('m')).all(['split', [0, 'm', 3.000001]])
  assert.deepEqual(
    [wallet.of('m-yes', 'cost'), wallet.of('m-no', 'cost')],
    [[1_500_000], [1_500_001]],
  )
  wallet.all(
    ['sell', [1, 'm-no', 3.000001, 2]],
    ['buy', [2, 'm-no', 1, 0.2]],
    ['merge', [3, 'm', 1]],
  )
  assert.deepEqual(wallet.of('m-no', 'realized'), [2_000_000 - 1_500_001 + 300_000])
  assert.deepEqual(wallet.of('m-yes', 'realized'), [500_000 - 499_999], 'floor of the cost')
  assert.deepEqual(wallet.totals('splits', 'merges', 'trades', 'volume'), [1, 1, 2, 2_200_000])
})

test('realises the loss of a losing position at the resolution, or at the market’s last event if that is later', () => {
  const wallet = new TestWallet(market('m', resolved(100.4, 0))).all(['buy', [0, 'm-yes', 10, 4]])
  assert.equal(wallet.realizedAt(100), -4_000_000)
  wallet.apply('buy', [150, 'm-yes', 10, 1])
  assert.deepEqual(
    [wallet.realizedAt(100), wallet.realizedAt(150)],
    [0, -5_000_000],
    'the earlier write-off was reversed',
  )
  const figures = wallet.of('m-yes', 'balance', 'amount', 'cost', 'lost', 'updatedAtMs')
  assert.deepEqual(figures, [20_000_000, 0, 0, 5_000_000, START_MS + 150 * SECOND])
  wallet.apply('redeem', [200, 'm', 0])
  assert.deepEqual(wallet.of('m-yes', 'balance'), [0])
  assert.deepEqual(
    [wallet.realizedAt(150), wallet.realizedAt(200)],
    [-5_000_000, 0],
    'the write-off moved to the last event',
  )
})

test('pays all holdings of both outcomes on redemption, including fractional payouts', () => {
  const wallet = new TestWallet(market('m', resolved(5, 333_333))).all(
    ['buy', [0, 'm-yes', 1.5, 0.6]],
    ['buy', [1, 'm-no', 2, 1]],
    ['redeem', [9, 'm', 0, 0]],
  )
  assert.deepEqual(wallet.of('m-yes', 'realized'), [499_999 - 600_000])
  assert.deepEqual(wallet.of('m-no', 'realized'), [1_333_334 - 1_000_000])
  assert.deepEqual(wallet.state.openMarkets(), [])
})

test('infers the winning outcome when no payout is known and the redeemed dollars equal the holdings of one outcome', () => {
  const bought = (yes: number, no: number) =>
    new TestWallet(market('m')).all(['buy', [0, 'm-yes', yes, 0.4]], ['buy', [0, 'm-no', no, 1]])
  const wallet = bought(10, 7).all(['redeem', [9, 'm', 7, 7]])
  assert.deepEqual(wallet.of('m-yes', 'realized'), [-400_000])
  assert.deepEqual(wallet.of('m-no', 'realized', 'isCostKnown'), [6_000_000, true])
  assert.deepEqual(wallet.state.guessedMarkets(), [nativeMarketId('m')])
  // Only No was held in full.
  const other = bought(1, 3).all(['redeem', [9, 'm', 2, 2]])
  assert.deepEqual(other.of('m-yes', 'realized'), [0])
  const figures = other.of('m-no', 'realized', 'balance', 'isCostKnown')
  assert.deepEqual(figures, [2_000_000 - 666_666, 1_000_000, false])
  // The first row does not state which outcome lost.
  const both = bought(3, 3).all(['redeem', [8, 'm', 0, 0]])
  assert.deepEqual(both.of('m-yes', 'balance'), [3_000_000])
  both.apply('redeem', [9, 'm', 2, 2])
  assert.deepEqual(both.of('m-yes', 'realized'), [1_000_000 - 400_000])
  assert.deepEqual(both.of('m-no', 'realized', 'isCostKnown'), [0, false])
})

test('converts No in two of four markets to dollars, and to Yes in the two remaining markets', () => {
  const converted = ['m0', 'm2'].map(nativeMarketId)
  const wallet = new TestWallet(...grouped).all(
    ['buy', [0, 'm0-no', 10, 7]],
    ['buy', [0, 'm2-no', 20, 18]],
    ['conversion', [1, 'm0', 10, 10], { converted }],
  )
  assert.deepEqual(wallet.of('m0-no', 'amount'), [0])
  assert.deepEqual(wallet.of('m2-no', 'amount', 'cost'), [10_000_000, 9_000_000])
  // The cost is 7 + 9 dollars less 10 dollars received.
  assert.deepEqual(wallet.of('m1-yes', 'cost'), [3_000_000])
  assert.deepEqual(wallet.of('m3-yes', 'cost', 'amount'), [3_000_000, 10_000_000])
  assert.deepEqual(wallet.totals('realized', 'conversions', 'trades'), [0, 1, 2])
  const touched = Array.from(wallet.state.positions(), ({ token }) => String(token))
  assert.ok(!touched.includes('m1-no'), 'no other position changed')
})

test('assigns Yes a negative price after a conversion of cheap No, and realises No in every market', () => {
  const wallet = new TestWallet(...grouped)
  for (const name of GROUP) wallet.apply('buy', [0, `${name}-no`, 10, 1])
  const group = GROUP.map(nativeMarketId)
  wallet.apply('conversion', [1, 'm0', 5, 10], { converted: group.slice(0, 3) })
  assert.deepEqual(wallet.of('m3-yes', 'cost'), [1_500_000 - 10_000_000])
  wallet.apply('conversion', [2, 'm0', 5, 15], { converted: group })
  assert.deepEqual(wallet.totals('realized'), [15_000_000 - 2_000_000])
  assert.deepEqual(wallet.of('m0-no', 'realized'), [3_750_000 - 500_000])
})

test('marks Yes from a conversion of unknown No holdings as uncertain, and realises no PnL for an unknown group', () => {
  const converted = [nativeMarketId('m0')]
  const wallet = new TestWallet(...grouped).all(
    ['buy', [0, 'm0-no', 4, 2]],
    ['conversion', [1, 'm0', 5, 0], { converted }],
  )
  assert.deepEqual(wallet.of('m0-no', 'amount', 'isCostKnown'), [0, false])
  assert.deepEqual(wallet.of('m1-yes', 'cost', 'isCostKnown'), [666_666, false])
  assert.deepEqual(wallet.of('m2-yes', 'isCostKnown'), [false])
  assert.deepEqual(wallet.of('m3-yes', 'cost', 'isCostKnown'), [666_668, false])
  const lone = new TestWallet(market('m0')).all(
    ['buy', [0, 'm0-no', 4, 2]],
    ['conversion', [1, 'm0', 3, 0], { converted }],
  )
  const figures = lone.of('m0-no', 'amount', 'cost', 'realized', 'isCostKnown')
  assert.deepEqual(figures, [1_000_000, 500_000, 0, false])
  assert.deepEqual(lone.state.guessedMarkets(), converted)
})

test('realises the same cash as the reference implementation when a wallet converts all markets of a group at once', () => {
  for (let seed = 0; seed < CONVERSIONS; seed += 1) {
    const random = seededRandom('k is n', seed)
    const names = Array.from({ length: 1 + random.below(6) }, (_, at) => `k${at}`)
    const group = names.map(nativeMarketId)
    const markets = names.map((name) => market(name, { group }))
    const size = (1 + random.below(9_000_000)) / MICROS
    const events = names.map((name, at) => {
      const more = random.below(3) / MICROS
      return event('buy', [at, `${name}-no`, size + more, random.below(size * MICROS + 1) / MICROS])
    })
    const paid = micros(size) * (names.length - 1)
    const all = event('conversion', [10, 'k0', size, paid / MICROS], { converted: group })
    const found = accountFigures(accountOf([...events, all], finder(markets)), [])
    assert.deepEqual(found, naiveFigures([...events, all], finder(markets), []))
    const spent = events.reduce((sum, { usd }) => sum + usd, 0)
    const held = found.positions.reduce((sum, { cost }) => sum + cost, 0)
    assert.equal(found.totals.realized, paid - (spent - held), `seed ${seed}`)
  }
})

test('counts a market as won or lost when no position is open, and as open after a later purchase', () => {
  const wallet = new TestWallet(market('w'), market('l'), market('e'), market('o')).all(
    ['buy', [0, 'w-yes', 2, 1]],
    ['buy', [1, 'w-no', 2, 1]],
    ['sell', [2, 'w-yes', 2, 1.5]],
  )
  assert.deepEqual(wallet.totals('wins'), [0], 'the other outcome is still open')
  wallet.all(
    ['sell', [3, 'w-no', 2, 0.75]],
    ['buy', [4, 'l-yes', 1, 1]],
    ['sell', [5, 'l-yes', 1, 0]],
    ['buy', [6, 'e-yes', 1, 0.5]],
    ['sell', [7, 'e-yes', 1, 0.5]],
    ['buy', [8, 'o-yes', 1, 0.5]],
  )
  assert.deepEqual(wallet.totals('markets', 'wins', 'losses'), [4, 1, 1])
  assert.equal(wallet.state.openMarkets().join(), 'o')
  wallet.apply('buy', [9, 'w-yes', 1, 0.5])
  assert.deepEqual(wallet.totals('markets', 'wins', 'losses'), [4, 0, 1])
  assert.equal(wallet.state.openMarkets().join(), 'w,o')
})

test('includes both ends of a time range, and groups PnL by days, weeks from Monday, and months in UTC', () => {
  const wallet = new TestWallet(market('m')).all(['buy', [0, 'm-yes', 100, 50]])
  // 1 January 2026 is a Thursday. 5 January is a Monday.
  const days = [0, 3, 4, 31]
  for (const day of days) wallet.apply('sell', [(day * DAY) / SECOND + 1, 'm-yes', 10, 6])
  const all = { fromMs: timeMs(0), toMs: timeMs(START_MS + 400 * DAY) }
  const starts = (granularity: PnlGranularity) =>
    wallet.state.series({ ...all, granularity }).map((point) => (point.timeMs - START_MS) / DAY)
  assert.deepEqual(starts('day'), days)
  assert.deepEqual(starts('week'), [-3, 4, 25])
  assert.deepEqual(starts('month'), [0, 31])
  assert.deepEqual(starts('all').map(Math.floor), days)
  const second = timeMs(START_MS + 3 * DAY + SECOND)
  assert.equal(wallet.state.between(second, second).realized, 1_000_000)
  assert.equal(wallet.state.between(timeMs(second + 1), timeMs(second + 999)).trades, 0)
  const [point] = wallet.state.series({ fromMs: second, toMs: second, granularity: 'week' })
  assert.deepEqual(point, { timeMs: START_MS - 3 * DAY, realized: 1_000_000, toDate: 2_000_000 })
})

test('returns complete hours of PnL in order, even when resolutions arrive late', () => {
  const wallet = new TestWallet()
  const count = 50
  for (let index = 0; index < count; index += 1)
    wallet.apply('buy', [index * 3_600, `m${index}-yes`, 2, 1])
  for (let index = count - 1; index >= 0; index -= 1)
    wallet.state.resolve(market(`m${index}`, resolved(index * 3_600 + 7, 0)))
  const hours = wallet.state.hours(timeMs(START_MS + 10 * 3_600_000 + 59_000))
  assert.equal(hours.length, 40)
  const figures = { realized: -1_000_000, volume: 1_000_000, trades: 1, fees: 0, income: 0 }
  for (const [index, row] of hours.entries())
    assert.deepEqual(row, { hour: START_MS / 3_600_000 + 10 + index, ...figures })
})

test('requests a rebuild of the PnL state once when facts arrive that change earlier figures', () => {
  const wallet = new TestWallet().all(['buy', [0, 'm-yes', 10, 4]], ['redeem', [9, 'm', 3, 3]])
  const facts = market('m', resolved(5, MICROS))
  assert.equal(wallet.state.resolve(facts), 'rebuild')
  const again = new TestWallet(facts).all(['buy', [0, 'm-yes', 10, 4]])
  assert.equal(again.apply('redeem', [9, 'm', 3, 3]), 'applied')
  assert.equal(again.state.resolve(facts), 'ignored')
  assert.deepEqual(again.state.guessedMarkets(), [])
  assert.deepEqual(again.of('m-yes', 'realized'), [1_800_000])
  const other = { ...facts, payout: priceMicros(0) }
  assert.equal(again.state.resolve(other), 'rebuild', 'the redemption used another payout')
  assert.equal(again.state.resolve(market('never')), 'ignored')
  assert.equal(again.apply('buy', [8, 'm-yes', 1, 1]), 'rebuild', 'older than the redemption')
})

test('moves a wallet’s contracts and the cost of the contracts to the new market id when a market migrates', () => {
  const old = `0x${'5'.repeat(32)}${'ab'.repeat(16)}`
  const id = migratedMarket(nativeMarketId(old))
  assert.equal(id, `0x01${'ab'.repeat(16)}${'0'.repeat(30)}`)
  const token = outcomeId(`${BigInt(id) + 1n}`)
  const at = { market: nativeMarketId(old), token: outcomeId('77') }
  const moved = { market: id, token }
  const olds = market(old, { tokens: [outcomeId('76'), outcomeId('77')] })
  const wallet = new TestWallet(
    olds,
    market(id, { tokens: [outcomeId(`${BigInt(id)}`), token] }),
  ).all(
    ['buy', [0, '', 10, 4], at],
    ['migration', [1, '', 4, 0], moved],
    ['sell', [2, '', 1, 1], moved],
  )
  assert.deepEqual(wallet.of('77', 'amount', 'cost'), [6_000_000, 2_400_000])
  const figures = wallet.of(token, 'amount', 'cost', 'realized', 'isCostKnown')
  assert.deepEqual(figures, [3_000_000, 1_200_000, 600_000, true])
  wallet.apply('migration', [3, '', 7, 0], moved)
  assert.deepEqual([...wallet.of('77', 'amount'), ...wallet.of(token, 'isCostKnown')], [0, false])
  const lone = new TestWallet().all(['migration', [0, '', 4, 0], moved])
  assert.deepEqual(lone.of(token, 'amount', 'isCostKnown'), [4e6, false])
  assert.equal(lone.apply('buy', [-1, '', 4, 2], at), 'rebuild', 'the old market became known')
})

test('redeems the token that a redemption event names, otherwise the token that the redeemed dollars imply', () => {
  const begun = () =>
    new TestWallet(market('m', resolved(5, MICROS))).all(
      ['buy', [0, 'm-yes', 10, 4]],
      ['buy', [1, 'm-no', 7, 2]],
    )
  const redeemed = (wallet: TestWallet, ...given: readonly [string, number, number]) => {
    wallet.apply('redeem', [9, ...given])
    return ['m-yes', 'm-no'].map((token) => positionOf(wallet.state, token).balance / MICROS)
  }
  const named = begun()
  assert.deepEqual(redeemed(named, 'm-yes', 4, 4), [6, 7])
  assert.deepEqual(named.of('m-yes', 'realized'), [4_000_000 - 1_600_000])
  assert.deepEqual(redeemed(named, 'm-no', 7, 0), [6, 0])
  const unnamed = begun()
  assert.deepEqual(redeemed(unnamed, 'm', 0, 0), [10, 0], 'no dollars: the worthless outcome')
  assert.deepEqual(redeemed(unnamed, 'm', 10, 10), [0, 0])
  const winner = begun()
  assert.deepEqual(redeemed(winner, 'm', 3, 3), [7, 7], 'as many contracts as the dollars pay for')
  assert.deepEqual(winner.of('m-yes', 'realized'), [3_000_000 - 1_200_000])
  assert.deepEqual(redeemed(winner, 'm', 9, 9), [0, 7], 'more dollars: all paying contracts')
})

test('redeems one outcome at a time when a redemption in a void market names no token', () => {
  const wallet = new TestWallet(market('m', resolved(5, MICROS / 2))).all(
    ['buy', [0, 'm-yes', 10, 4]],
    ['buy', [1, 'm-no', 30, 9]],
    ['redeem', [9, 'm', 15, 15]],
  )
  assert.deepEqual(wallet.of('m-yes', 'balance'), [1e7])
  assert.deepEqual(wallet.of('m-no', 'balance', 'isCostKnown'), [0, true], 'its exact value')
  wallet.apply('redeem', [10, 'm', 2, 2])
  assert.deepEqual(wallet.of('m-yes', 'balance', 'realized', 'isCostKnown'), [6e6, 400_000, true])
})

test('sums fees and income separately from realised PnL, and counts a gain smaller than its fees as a loss', () => {
  const wallet = new TestWallet().all(
    ['buy', [1, 'm-yes', 22.84, 11.8768], { fee: usdMicros(285_040) }],
    ['income', [50, '', 2]],
    ['sell', [100, 'm-yes', 22.84, 12.1052], { fee: usdMicros(284_470) }],
  )
  assert.deepEqual(wallet.totals('realized', 'fees', 'income'), [228_400, 569_510, 2_000_000])
  assert.deepEqual(wallet.totals('wins', 'losses', 'trades'), [0, 1, 2])
  assert.deepEqual(wallet.totals('firstTradeMs', 'lastTradeMs'), [
    START_MS + SECOND,
    START_MS + 100 * SECOND,
  ])
  assert.equal(netRealized(wallet.state.totals()), 228_400 - 569_510 + 2_000_000)
  const first = wallet.state.between(timeMs(START_MS), timeMs(START_MS + 99 * SECOND))
  assert.deepEqual([first.fees, first.income, first.realized], [285_040, 2_000_000, 0])
  assert.equal(wallet.state.hours(timeMs(START_MS)).length, 1)
  assert.deepEqual(wallet.of('m-yes', 'outcomeIndex'), [-1], 'the market is unknown')
})

test('reports the PnL of a combo when all contracts were redeemed and accounted for, and not before', () => {
  const wallet = new TestWallet().all(['comboBuy', [0, 'm-c', 100, 25]])
  const realizedAfter = (...events: readonly Given[]) =>
    wallet.all(...events).totals('comboRealized')
  assert.deepEqual(realizedAfter(), [null])
  const sold = realizedAfter(['comboSell', [1, 'm-c', 40, 20]], ['comboRedeem', [2, 'm-c', 60, 60]])
  assert.deepEqual(sold, [55_000_000])
  const lost = realizedAfter(['comboBuy', [3, 'm-d', 10, 3]], ['comboRedeem', [4, 'm-d', 0, 0]])
  assert.deepEqual(lost, [52_000_000], 'a redeemed loser')
  assert.deepEqual(realizedAfter(['comboRedeem', [5, 'm-e', 1, 1]]), [null], 'more than was held')
  const others = wallet.totals(
    'comboEvents',
    'realized',
    'trades',
    'volume',
    'redemptions',
    'markets',
  )
  assert.deepEqual(others, [6, 0, 0, 0, 0, 0])
})

// Recorded on 25 April 2026: $18.06 at 0.86 bought 21 contracts, of which the wallet received 20.9118.
test('deducts the taker fee of a trade before 28 April 2026 from the contracts when the row omits the fee', () => {
  const april = (day: number) => timeMs(Date.UTC(2026, 3, day))
  const facts = market('m', { takerFee: { ...CURVE_ZERO, rateMicros: 30_000 } })
  const bought = (set: Partial<WalletEvent>, existing = facts) => {
    const fields = { timeMs: april(25), role: 'taker', price: priceMicros(860_000) } as const
    return new TestWallet(existing).all(['buy', [0, 'm-yes', 21, 18.06], { ...fields, ...set }])
  }
  const buy = (...given: Parameters<typeof bought>) =>
    bought(...given).of('m-yes', 'balance', 'cost', 'fees', 'isCostKnown')
  const complete = [21_000_000, 18_060_000, 0, true]
  assert.deepEqual(buy({}), [20_911_800, 17_984_148, 75_852, true])
  const small = { price: priceMicros(290_000), size: sizeMicros(5e6), usd: usdMicros(1_450_000) }
  assert.deepEqual(buy({ ...small, timeMs: april(0) }).slice(0, 1), [4_893_500])
  assert.deepEqual(buy({ role: 'maker' }), complete)
  assert.deepEqual(buy({ timeMs: april(28) }), complete)
  assert.deepEqual(buy({ timeMs: timeMs(Date.UTC(2026, 2, 29)) }), complete)
  assert.deepEqual(buy({}, market('m')), complete)
  // The row’s dollars include the fee, so its size is the number of contracts that arrived.
  assert.deepEqual(buy({ fee: usdMicros(75_852) }), [21_000_000, 18_060_000, 75_852, true])
  assert.deepEqual(buy({ role: null }), [21_000_000, 18_060_000, 0, false])
  const unknown = bought({}, market('m', { takerFee: null }))
  assert.deepEqual(unknown.of('m-yes', 'isCostKnown'), [false])
  assert.equal(unknown.state.resolve(facts), 'rebuild', 'the fee of the market became known')
})
