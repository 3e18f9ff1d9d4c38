// The plan of gaps: when which kind opens, and what the books of its pair then show.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { MICROS } from '../../../../../engine/units.ts'
import { Calendar } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { seriesFees } from '../../../../../engine/venues/simulator/kalshi/fees.ts'
import type { SimMarket, WorldChange } from '../../../../../engine/venues/simulator/model.ts'
import { feeScheduleOf } from '../../../../../engine/venues/simulator/world/fees.ts'
import type { SimGap } from '../../../../../engine/venues/simulator/world/gaps.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

const STEP_MS = 20
const FLOW_MS = 120_000

function makeWorld(gapsPerMinute: number, seed = 2) {
  const clock = new ManualClock()
  const world = new SimulatedWorld({
    ...{ seed, messagesPerSecond: 20, gapsPerMinute, clock },
    plan: new Calendar({ seed, marketsPerVenue: 120 }),
    faults: new Faults([], seededRandom('faults')),
    random: seededRandom('world'),
  })
  const run = (ms: number, check: () => void = () => undefined): void => {
    for (let elapsed = 0; elapsed < ms; elapsed += STEP_MS) {
      clock.advance(STEP_MS)
      world.step()
      check()
    }
  }
  return { world, run }
}

/** The best crossing of two books before fees, in micros, and how many contracts there are of it. */
function crossing(a: SimMarket, b: SimMarket): { readonly gap: number; readonly size: number } {
  const of = (bids: SimMarket, asks: SimMarket) => {
    const [bid, ask] = [bids.book.bids[0], asks.book.asks[0]]
    if (bid === undefined || ask === undefined) return { gap: -MICROS, size: 0 }
    return { gap: bid.price - ask.price, size: Math.min(bid.size, ask.size) }
  }
  const [one, other] = [of(a, b), of(b, a)]
  return one.gap > other.gap ? one : other
}

function feesOf(a: SimMarket, b: SimMarket, nowMs: number): number {
  const price = (a.book.bestBid ?? 0) / MICROS
  const rates =
    (feeScheduleOf(a)?.rate ?? 0) + 0.07 * seriesFees(b.event.series, nowMs).fee_multiplier
  return MICROS * price * (1 - price) * rates
}

function pairOf(world: SimulatedWorld, gap: SimGap): { a: SimMarket; b: SimMarket } {
  const [a, b] = [world.market('a', gap.markets[0] ?? ''), world.market('b', gap.markets[1] ?? '')]
  assert.ok(a !== null && b !== null)
  return { a, b }
}

/** What one contract of every outcome, or of the other side of each, leaves of its payout, in micros, after venue a's fees. */
function leftInEvent(world: SimulatedWorld, { markets }: SimGap) {
  const left = { yes: MICROS, no: (markets.length - 1) * MICROS }
  for (const id of markets) {
    const market = world.market('a', id)
    const rate = market === null ? 0 : (feeScheduleOf(market)?.rate ?? 0)
    const costOf = (price: number) => price + (price * (MICROS - price) * rate) / MICROS
    left.yes -= costOf(market?.book.bestAsk ?? MICROS)
    left.no -= costOf(MICROS - (market?.book.bestBid ?? 0))
  }
  return left
}

test('plans price gaps from seed, start and clock at the set rate, a real gap first, none by default', () => {
  const plan = (perMinute: number, seed?: number) => {
    const { world, run } = makeWorld(perMinute, seed)
    run(60_000)
    return world.gaps
  }
  const gaps = plan(30)
  assert.deepEqual(plan(30), gaps)
  assert.notDeepEqual(plan(30, 3), gaps)
  assert.deepEqual(plan(0), [])
  assert.ok(gaps.length > 20 && gaps.length <= 30, `${gaps.length} gaps`)
  assert.equal(gaps[0]?.kind, 'real')
  for (const { opensMs, closesMs, kind } of gaps) {
    const isReal = kind === 'real' || kind === 'event'
    assert.ok(closesMs - opensMs >= (isReal ? 20_000 : 5_000))
  }
})

test('leaves a profit after fees in real gaps, and only unprofitable, thin, stale or mismatched offers in other gaps', () => {
  const { world, run } = makeWorld(20)
  const seen = new Map<string, number>()
  const lost: WorldChange[] = []
  world.onChange((change) => {
    if (change.kind === 'levels' && change.isLost === true) lost.push(change)
  })
  let opened = 0
  run(FLOW_MS, () => {
    for (const gap of world.gaps.slice(opened)) {
      opened += 1
      if (gap.kind === 'event') {
        const { yes, no } = leftInEvent(world, gap)
        const side = yes > no ? 'yes' : 'no'
        seen.set(side, (seen.get(side) ?? 0) + 1)
        assert.ok(Math.max(yes, no) > 10_000, `${side} of all outcomes leaves ${yes} or ${no}`)
        continue
      }
      const { a, b } = pairOf(world, gap)
      const { gap: micros, size } = crossing(a, b)
      const fees = feesOf(a, b, gap.opensMs)
      seen.set(gap.kind, (seen.get(gap.kind) ?? 0) + 1)
      if (gap.kind === 'real') assert.ok(micros > fees && size >= MICROS, `${micros} of ${fees}`)
      if (gap.kind === 'fees') assert.ok(micros > 0 && micros < fees, `${micros} of ${fees}`)
      if (gap.kind === 'depth') assert.ok(micros > fees && size === 30_000, `${size}`)
      if (gap.kind === 'trap') assert.ok(micros > fees && a.listing.pair?.kind !== 'same')
      if (gap.kind === 'stale') {
        assert.ok(micros <= 0, 'both moved')
        assert.deepEqual(
          lost.map(({ market }) => market),
          [b],
        )
        lost.length = 0
      }
    }
    for (const gap of world.gaps.filter(({ closesMs }) => closesMs <= world.nowMs())) {
      const isAgain = world.gaps.some(
        (one) => one.markets[0] === gap.markets[0] && one.closesMs > world.nowMs(),
      )
      if (gap.kind === 'event') {
        const { yes, no } = leftInEvent(world, gap)
        assert.ok(isAgain || Math.max(yes, no) <= 0, 'it closed')
        continue
      }
      const { a, b } = pairOf(world, gap)
      if (isAgain || gap.kind === 'trap' || a.status !== 'open' || b.status !== 'open') continue
      assert.ok(crossing(a, b).gap <= 0, 'it closed')
    }
  })
  for (const kind of ['real', 'fees', 'depth', 'trap', 'stale', 'yes', 'no']) {
    assert.ok((seen.get(kind) ?? 0) > 0, `no ${kind} in ${JSON.stringify([...seen])}`)
  }
})
