// The rules of PnL against their naive twin over random histories, told all at once, bit by bit, and late.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NativeMarketId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import type { FindWalletMarket, WalletEvent, WalletMarket } from '../../../engine/wallet.ts'
import { openSections } from '../../../engine/wallets/sections.ts'
import { WalletTally } from '../../../engine/wallets/tally.ts'
import { accountFigures, naiveFigures, type Range } from '../../support/twins/wallet-figures.ts'
import { randomHistory, type WalletHistory } from '../../support/worlds/wallet-histories.ts'

const HISTORIES = process.env.TEST_LONG === '1' ? 5_000 : 150
/** Of tests that judge each history at several places. */
const OFTEN_JUDGED = HISTORIES / 2

test('[WALLET1] every figure of a history is what the naive twin works out from the rules', () => {
  for (let seed = 0; seed < HISTORIES; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const ranges = someRanges(seed, history)
    const tally = accountOf(history.events, find)
    const found = accountFigures(tally, ranges)
    assert.deepEqual(found, naiveFigures(history.events, find, ranges), `history ${seed}`)
  }
})

test('[WALLET3] cash, fees apart, and the cost of what is held make up what was realised', () => {
  let heldCount = 0
  for (let seed = 0; seed < HISTORIES; seed += 1) {
    const history = randomHistory(seed, { isComplete: true, eventCount: 60, groupCount: 2 })
    const tally = accountOf(history.events, finder(history.markets))
    const { positions } = accountFigures(tally, [])
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
    const { realized: told } = tally.totals()
    assert.equal(BigInt(told), realized)
  }
  assert.ok(heldCount > 100, 'histories end with something held')
})

test('[WALLET4] when a resolution becomes known changes nothing, nor does how often one looks', () => {
  const told = { resolved: 0, rebuilt: 0, judged: 0 }
  for (let seed = 0; seed < OFTEN_JUDGED; seed += 1) {
    const history = randomHistory(seed)
    const { events } = history
    const random = seededRandom('told', seed)
    const knownFrom = new Map(
      history.markets.map(({ nativeId }) => [nativeId, random.below(events.length + 1)]),
    )
    const isHidden = random.below(2) === 0
    const findAt = (index: number): FindWalletMarket => {
      const known = history.markets.flatMap((market) => {
        if ((knownFrom.get(market.nativeId) ?? 0) <= index) return [market]
        return isHidden ? [] : [{ ...market, payout: null, resolvedAtMs: null }]
      })
      return finder(known)
    }
    let tally = WalletTally.empty()
    const rebuildAt = (index: number) => {
      told.rebuilt += 1
      tally = accountOf(events.slice(0, index), findAt(index))
    }
    for (const [index, event] of events.entries()) {
      for (const market of history.markets) {
        if (knownFrom.get(market.nativeId) !== index || random.below(3) === 0) continue
        const answer = tally.resolve(market)
        if (answer === 'applied') told.resolved += 1
        if (answer === 'rebuild') rebuildAt(index)
      }
      if (tally.apply(event, findAt(index)) === 'rebuild') rebuildAt(index + 1)
      if (random.below(8) === 0) tally.totals()
      if (random.below(20) > 0 && index < events.length - 1) continue
      for (const market of history.markets) {
        const facts = findAt(index + 1)(market.nativeId)
        if (facts !== null && tally.resolve(facts) === 'rebuild') rebuildAt(index + 1)
      }
      const ranges = someRanges(seed, history)
      const naive = naiveFigures(events.slice(0, index + 1), findAt(index + 1), ranges)
      assert.deepEqual(accountFigures(tally, ranges), naive, `history ${seed}, event ${index}`)
      told.judged += 1
    }
  }
  assert.ok(
    told.resolved > OFTEN_JUDGED / 10 && told.rebuilt > OFTEN_JUDGED / 10,
    JSON.stringify(told),
  )
})

test('[WALLET11] an event that comes late counts in its place, or the tally asks to be made anew', () => {
  const answers = { applied: 0, rebuild: 0 }
  for (let seed = 0; seed < OFTEN_JUDGED; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const random = seededRandom('late', seed)
    const late = history.events[random.below(history.events.length)]
    if (late === undefined) continue
    const others = history.events.filter((event) => event !== late)
    const tally = accountOf(others, find)
    if (random.below(2) === 0) tally.totals()
    const answer = tally.apply(late, find)
    answers[answer] += 1
    // Within a second the order told stands.
    const place = others.findLastIndex(({ timeMs: atMs }) => atMs <= late.timeMs) + 1
    const sorted = others.toSpliced(place, 0, late)
    const ranges = someRanges(seed, history)
    const judged = answer === 'applied' ? tally : accountOf(sorted, find)
    const naive = naiveFigures(sorted, find, ranges)
    assert.deepEqual(accountFigures(judged, ranges), naive, `history ${seed}`)
  }
  assert.ok(answers.applied > 20 && answers.rebuild > 20, JSON.stringify(answers))
})

test('[WALLET9] a tally packed and unpacked after every event goes on as if nothing had been', () => {
  for (let seed = 0; seed < HISTORIES / 10; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const ranges = someRanges(seed, history)
    const straight = WalletTally.empty()
    let packed = WalletTally.empty()
    for (const event of history.events) {
      straight.apply(event, find)
      packed.apply(event, find)
      const bytes = packed.pack()
      // At an odd place, as in a page of a database.
      const shifted = new Uint8Array(bytes.byteLength + 3)
      shifted.set(bytes, 3)
      const unpacked = WalletTally.unpack(shifted.subarray(3))
      assert.ok(unpacked !== null)
      packed = unpacked
      assert.deepEqual(accountFigures(packed, ranges), accountFigures(straight, ranges))
      if (event.token !== null) assert.ok(packed.indexOf(event.token) >= 0)
    }
  }
})

test('[WALLET9] a copy and its original change apart', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const history = randomHistory(seed)
    const find = finder(history.markets)
    const half = Math.floor(history.events.length / 2)
    const tally = accountOf(history.events.slice(0, half), find)
    const before = accountFigures(tally, [])
    const copy = tally.copy()
    for (const event of history.events.slice(half)) copy.apply(event, find)
    assert.deepEqual(accountFigures(tally, []), before)
    const ranges = someRanges(seed, history)
    assert.deepEqual(accountFigures(copy, ranges), naiveFigures(history.events, find, ranges))
  }
})

test('[WALLET9] cut bytes, other versions and rows that name no row are no tally', () => {
  const history = randomHistory(7, { isComplete: true, eventCount: 40, groupCount: 3 })
  const bytes = accountOf(history.events, finder(history.markets)).pack()
  for (let length = 0; length < bytes.byteLength; length += 1) {
    assert.equal(WalletTally.unpack(bytes.slice(0, length)), null, `cut to ${length}`)
  }
  assert.equal(WalletTally.unpack(new Uint8Array([...bytes, 0])), null, 'a byte more')
  const random = seededRandom('damage')
  let refused = 0
  for (let round = 0; round < 2_000; round += 1) {
    const damaged = bytes.slice()
    const place = random.below(bytes.byteLength)
    damaged[place] = random.below(256)
    if (WalletTally.unpack(damaged) === null) refused += 1
  }
  assert.ok(refused > 200, `${refused} of 2,000 damages were seen without a checksum`)
})

test('[WALLET9] positions of a market that lead in a circle are no tally', () => {
  const history = randomHistory(7, { isComplete: true, eventCount: 40, groupCount: 3 })
  const bytes = accountOf(history.events, finder(history.markets)).pack()
  const mark = new DataView(bytes.buffer).getUint32(0, true)
  // Sums, four sections of texts, four of moments, the positions' markets, then their next ones.
  const next = openSections(mark, bytes)?.[10]
  assert.ok(next !== undefined)
  const words = new Uint32Array(next.buffer, next.byteOffset, next.byteLength / 4)
  const from = words.findIndex((word) => word > 0)
  const to = (words[from] ?? 0) - 1
  assert.ok(from >= 0 && words[to] === 0 && WalletTally.unpack(bytes.slice()) !== null)
  words[to] = from + 1
  assert.equal(WalletTally.unpack(bytes), null)
})

function accountOf(events: readonly WalletEvent[], find: FindWalletMarket): WalletTally {
  const tally = WalletTally.empty()
  for (const event of events) tally.apply(event, find)
  return tally
}

function finder(markets: readonly WalletMarket[]): FindWalletMarket {
  const byId = new Map<NativeMarketId, WalletMarket>()
  for (const market of markets) byId.set(market.nativeId, market)
  return (id) => byId.get(id) ?? null
}

/** All of it, and two pieces that may begin and end anywhere, between seconds too. */
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
