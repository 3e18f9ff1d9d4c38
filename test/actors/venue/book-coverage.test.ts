import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '../../../actors/catalog/catalog.ts'
import { System } from '../../../actors/system.ts'
import { BookCoverage } from '../../../actors/venue/book-coverage.ts'
import { CoverageDemand } from '../../../actors/venue/coverage-demand.ts'
import { type WaitingHold, WaitingHolds } from '../../../actors/venue/waiting-holds.ts'
import { type CoveragePolicy, readCoveragePolicy } from '../../../engine/coverage-policy.ts'
import { nativeMarketId } from '../../../engine/ids.ts'
import {
  coverageEveryMs,
  coverageLeavingMs,
  coverageReleasedMs,
  coverageRequestedMs,
  coverageWaitingOfOwnerMax,
  demandedMarketsMax,
  demandedMarketsOfOwnerMax,
  waitingHoldsOfOwnerMax,
} from '../../../engine/limits.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { usdMicros } from '../../../engine/units.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { listing, marketParts, NAMES, recordingPublisher } from '../../support/worlds/builders.ts'
import { FakeIndex } from '../../support/worlds/random-catalog.ts'

type Listed = readonly [string, number, Partial<MarketListing>?]

function policyOf(text: string): CoveragePolicy {
  const policy = readCoveragePolicy(text)
  assert.ok(!('problem' in policy))
  return policy
}

/** `listed` gives each market's 24-hour volume in dollars. */
function openCoverage(policy: string, listed: readonly Listed[]) {
  const clock = new ManualClock()
  const storage = openMemoryStorage()
  const { publisher } = recordingPublisher()
  const system = new System({
    clock,
    log: silentLog,
    metrics: new Metrics(),
    mustHold: () => false,
  })
  const catalog = new Catalog({
    ...{ names: NAMES, clock, system, storage, index: new FakeIndex() },
    market: marketParts({ publisher, storage, nowMs: () => clock.nowMs() }).parts,
  })
  const matched: string[] = []
  const calls: string[] = []
  const uncoverSizes: number[] = []
  const marketOf = (name: string) =>
    catalog.entryOfNative('a', nativeMarketId(name)) ?? assert.fail(name)
  const coverage = new BookCoverage({
    ...{ venue: 'a', clock, catalog, policy: policyOf(policy) },
    feed: {
      cover: (ids) => calls.push(...ids.map((id) => `+${id}`)),
      uncover: (ids) => {
        uncoverSizes.push(ids.length)
        calls.push(...ids.map((id) => `-${id}`))
      },
    },
    priorityMarkets: () => matched.map(marketOf),
    onCovered: () => undefined,
    onUncovered: () => undefined,
  })
  const list = (rows: readonly Listed[]) => {
    const page = rows.map(([name, volume, set]) =>
      listing(name, { volume24h: usdMicros(volume * 1_000_000), ...set }),
    )
    return catalog.take({ markets: page, events: [] })
  }
  const numberOf = (name: string) => marketOf(name).actor.ref.number
  coverage.watch(list(listed))
  const seconds = (count: number) => {
    for (let second = 0; second < count; second += 1) {
      clock.advance(1_000)
      coverage.everySecond()
    }
  }
  const taken = () => calls.splice(0)
  return { coverage, uncoverSizes, clock, list, matched, numberOf, seconds, taken }
}

const EVERY_S = coverageEveryMs / 1_000

test('covers the books of all markets that are not resolved when the policy is `all`', () => {
  const { coverage, taken, list } = openCoverage('all', [
    ['x', 1],
    ['y', 2, { status: 'closed' }],
  ])
  assert.deepEqual(taken().sort(), ['+x', '+y'])
  coverage.watch(list([['z', 0]]))
  assert.deepEqual(taken(), ['+z'])
  assert.deepEqual(coverage.counts.covered, 2, 'only open markets are counted')
})

test('covers the books of the open markets with the highest volume, highest first, when the policy is `top`', () => {
  const { coverage, taken, seconds } = openCoverage('top:2', [
    ['x', 5],
    ['y', 9],
    ['z', 20, { status: 'closed' }],
    ['w', 7],
    ['v', 1],
  ])
  seconds(1)
  assert.deepEqual(taken(), ['+y', '+w'])
  const { open, wanted, covered, live } = coverage.counts
  assert.deepEqual({ open, wanted, covered, live }, { open: 4, wanted: 2, covered: 2, live: 0 })
})

test('covers a new market at once when fewer markets are open than the policy can cover', () => {
  const { coverage, taken, list } = openCoverage('top:3', [['x', 5]])
  assert.deepEqual(taken(), ['+x'])
  coverage.watch(list([['y', 0]]))
  assert.deepEqual(taken(), ['+y'])
})

test('covers markets that a rule selects by volume, category, event or id', () => {
  const listed: readonly Listed[] = [
    ['x', 5],
    ['y', 9, { category: 'Sports' }],
    ['z', 1, { eventSlug: 'event-Final' }],
    ['w', 20],
  ]
  const covered = (policy: string) => openCoverage(policy, listed).taken().sort()
  assert.deepEqual(covered('min_volume:9'), ['+w', '+y'])
  assert.deepEqual(covered('category:sports'), ['+y'])
  assert.deepEqual(covered('event:event-final'), ['+z'])
  assert.deepEqual(covered('market:VENUE_A_x,category:sports'), ['+x', '+y'])
})

test('ends coverage of a market ten minutes after it leaves the ranking, unless it returns to the ranking earlier', () => {
  const { list, seconds, taken } = openCoverage('top:1', [
    ['x', 5],
    ['y', 3],
  ])
  seconds(1)
  assert.deepEqual(taken(), ['+x'])
  list([['y', 8]])
  seconds(EVERY_S)
  assert.deepEqual(taken(), ['+y'])
  seconds(coverageLeavingMs / 2_000)
  list([['x', 9]])
  seconds(EVERY_S)
  list([['y', 10]])
  seconds(coverageLeavingMs / 2_000 + EVERY_S)
  assert.deepEqual(taken(), [], 'both left for less than ten minutes')
  seconds(coverageLeavingMs / 2_000 + EVERY_S)
  assert.deepEqual(taken(), ['-x'])
})

test('ends coverage of many markets in several calls of the feed', () => {
  const names = Array.from({ length: 300 }, (_, index) => `m${index}`)
  const { list, seconds, uncoverSizes } = openCoverage(
    'min_volume:5',
    names.map((name) => [name, 9]),
  )
  seconds(1)
  list(names.map((name) => [name, 1]))
  seconds(coverageLeavingMs / 1_000 + 2 * EVERY_S)
  assert.deepEqual(uncoverSizes, [250, 50])
})

test('replaces the covered markets at once when an operator replaces the policy', async () => {
  const { coverage, taken, seconds } = openCoverage('all', [
    ['x', 5],
    ['y', 9],
    ['z', 1, { category: 'Sports' }],
  ])
  taken()
  assert.equal(coverage.isAll, true)
  await coverage.setPolicy(policyOf('top:1'))
  assert.deepEqual(taken().sort(), ['-x', '-z'])
  assert.equal(coverage.isAll, false)
  assert.equal(coverage.policy, 'top:1')
  await coverage.setPolicy(policyOf('category:sports'))
  assert.deepEqual(taken(), ['-y', '+z'])
  await coverage.setPolicy(policyOf('all'))
  seconds(2 * EVERY_S)
  assert.deepEqual(taken(), ['+y', '+x'])
  assert.equal(coverage.isAll, true)
})

test('covers a requested market until ten minutes after the last request of a client', () => {
  const { coverage, numberOf, seconds, taken } = openCoverage('top:0', [
    ['x', 5],
    ['y', 9, { status: 'closed' }],
  ])
  assert.equal(coverage.request(numberOf('x'), 'me'), true)
  assert.equal(coverage.request(numberOf('y'), 'me'), false, 'it is not open')
  assert.equal(coverage.request(999, 'me'), false, 'it is unknown')
  assert.deepEqual(taken(), ['+x'])
  assert.equal(coverage.counts.byReason.request, 1)
  seconds(coverageRequestedMs / 2_000)
  assert.equal(coverage.request(numberOf('x'), 'another'), true)
  seconds(coverageRequestedMs / 2_000 + EVERY_S)
  assert.deepEqual(taken(), [])
  seconds(coverageRequestedMs / 2_000 + EVERY_S)
  assert.deepEqual(taken(), ['-x'])
  assert.equal(coverage.counts.byReason.request, 0)
})

test('covers a market until a minute after the last subscription or webhook that demands the book ends', () => {
  const { coverage, numberOf, seconds, taken } = openCoverage('top:0', [['x', 5]])
  const x = numberOf('x')
  for (const reason of ['subscription', 'subscription', 'webhook'] as const)
    assert.equal(coverage.hold(x, 'me', reason), true)
  assert.deepEqual(taken(), ['+x'])
  coverage.release(x, 'me', 'subscription')
  coverage.release(x, 'me', 'webhook')
  coverage.release(x, 'another', 'subscription')
  seconds(700)
  assert.deepEqual(taken(), [])
  assert.equal(coverage.counts.byReason.subscription, 1)
  coverage.release(x, 'me', 'subscription')
  seconds(coverageReleasedMs / 2_000)
  assert.deepEqual(taken(), [])
  seconds(coverageReleasedMs / 2_000 + EVERY_S)
  assert.deepEqual(taken(), ['-x'])
})

test('refuses further demands of a client at its limit, and accepts demands of other clients', () => {
  const names = Array.from({ length: demandedMarketsOfOwnerMax + 1 }, (_, index) => `m${index}`)
  const { coverage, numberOf, seconds } = openCoverage(
    'top:0',
    names.map((name) => [name, 1]),
  )
  const [first, ...others] = names.map(numberOf)
  assert.ok(first !== undefined)
  for (const number of others) assert.equal(coverage.request(number, 'me'), true)
  assert.equal(coverage.request(first, 'me'), false)
  assert.equal(coverage.request(first, 'another'), true)
  seconds(coverageRequestedMs / 1_000 + EVERY_S)
  assert.equal(coverage.request(first, 'me'), true, 'its requests have ended')
})

test('covers a market that a client demanded beyond the client’s limit when the client’s earlier demands end', () => {
  const names = Array.from({ length: demandedMarketsOfOwnerMax + 2 }, (_, index) => `m${index}`)
  const { coverage, numberOf, seconds } = openCoverage(
    'top:0',
    names.map((name) => [name, 1]),
  )
  const [held, released, ...others] = names.map(numberOf)
  assert.ok(held !== undefined && released !== undefined)
  for (const number of others) assert.equal(coverage.request(number, 'me'), true)
  for (const number of [held, released]) {
    assert.equal(coverage.hold(number, 'me', 'subscription'), true)
    assert.equal(coverage.isCovered(number), false)
  }
  coverage.release(released, 'me', 'subscription')
  seconds(coverageRequestedMs / 1_000 + 2 * EVERY_S)
  assert.equal(coverage.isCovered(held), true)
  assert.equal(coverage.isCovered(released), false)
  assert.equal(coverage.counts.byReason.subscription, 1)
  coverage.release(held, 'me', 'subscription')
  seconds(coverageReleasedMs / 1_000 + 2 * EVERY_S)
  assert.equal(coverage.isCovered(held), false)
})

test('serves the waiting coverage demands of all clients in rotation, the oldest demand of each client first', () => {
  const waiting = new WaitingHolds()
  const add = (market: number, owner: string) =>
    waiting.add({ market, owner, reason: 'subscription', count: 1 })
  for (const market of [1, 2, 3, 1]) add(market, 'many')
  add(4, 'few')
  assert.equal(waiting.release({ market: 2, owner: 'many', reason: 'subscription' }), true)
  assert.equal(waiting.release({ market: 2, owner: 'many', reason: 'subscription' }), false)
  const taken = Array.from({ length: 4 }, () => waiting.next())
  assert.deepEqual(
    taken.map((hold) => hold && [hold.market, hold.count]),
    [[1, 2], [4, 1], [3, 1], null],
  )
})

test('refuses waiting coverage demands beyond a client’s limit, and accepts waiting demands of a second client', () => {
  const waiting = new WaitingHolds()
  const add = (market: number, owner: string) =>
    waiting.add({ market, owner, reason: 'webhook', count: 1 })
  for (let market = 1; market <= waitingHoldsOfOwnerMax; market += 1) add(market, 'many')
  assert.equal(add(5_000, 'many'), false)
  assert.equal(add(5_000, 'few'), true)
  assert.equal(waiting.count, waitingHoldsOfOwnerMax + 1)
})

test('covers matched markets that the policy does not cover, until ten minutes after the match ends', () => {
  const { coverage, matched, seconds, taken } = openCoverage('top:0', [['x', 5]])
  matched.push('x')
  seconds(1)
  assert.deepEqual(taken(), ['+x'])
  assert.equal(coverage.counts.byReason.match, 1)
  matched.length = 0
  seconds(coverageLeavingMs / 1_000 - 1)
  assert.deepEqual(taken(), [])
  seconds(2 * EVERY_S)
  assert.deepEqual(taken(), ['-x'])
})

test('displaces demands of clients with many demands when a client with few demands needs capacity', () => {
  const displaced: number[] = []
  const demand = new CoverageDemand((market) => displaced.push(market))
  const accepted = (owner: string, from: number, count: number, kind: 'request' | 'hold') => {
    let sum = 0
    for (let market = from; market < from + count; market += 1) {
      const isAccepted =
        kind === 'hold' ? demand.hold(market, owner, 'webhook') : demand.request(market, owner, 1)
      if (isAccepted) sum += 1
    }
    return sum
  }
  const owners = demandedMarketsMax / demandedMarketsOfOwnerMax
  for (let owner = 0; owner < owners; owner += 1) {
    const from = 1 + owner * demandedMarketsOfOwnerMax
    const kind = owner % 2 === 0 ? 'hold' : 'request'
    accepted(`o${owner}`, from, demandedMarketsOfOwnerMax, kind)
  }
  assert.equal(accepted('small', 1, 1, 'request'), 1, 'shares a market of a larger owner')
  const fair = Math.floor(demandedMarketsMax / (owners + 1))
  const got = accepted('new', 50_000, demandedMarketsOfOwnerMax, 'request')
  assert.ok(got >= fair - 1 && got <= fair + 1, String(got))
  assert.equal(demand.size, demandedMarketsMax)
  assert.equal(displaced.length, got)
  assert.ok(!displaced.includes(1), 'a smaller owner needs it too')
  assert.equal(accepted('o1', 90_000, 1, 'request'), 0, 'a large owner displaces no market')
})

test('displaces the market that the fewest clients demand when the demand limit is reached', () => {
  const displaced: number[] = []
  const ended: WaitingHold[] = []
  const demand = new CoverageDemand((market, holds) => {
    displaced.push(market)
    ended.push(...holds)
  })
  const share = demandedMarketsOfOwnerMax - 1
  const owners = demandedMarketsMax / demandedMarketsOfOwnerMax
  for (let market = 1; market <= owners * share; market += 1) {
    demand.hold(market, `o${Math.floor((market - 1) / share)}`, 'webhook')
  }
  demand.hold(1, 'o1', 'webhook')
  for (let market = 90_000; demand.size < demandedMarketsMax; market += 1) {
    demand.request(market, 'small', 1)
  }
  for (let market = 50_000; market < 50_100; market += 1) demand.request(market, 'new', 1)
  assert.equal(displaced.length, 100)
  assert.ok(displaced.includes(2))
  assert.equal(ended.length, 100)
  const { owner, ...hold } = ended.find(({ market }) => market === 2) ?? assert.fail()
  assert.deepEqual([owner, hold], ['o0', { market: 2, reason: 'webhook', count: 1 }])
  assert.ok(!displaced.includes(1), 'two owners demand it')
})

test('ends coverage of a resolved market and removes all demands for the market', () => {
  const { coverage, numberOf, seconds, taken } = openCoverage('top:1', [
    ['x', 5],
    ['y', 3],
  ])
  seconds(1)
  coverage.hold(numberOf('y'), 'me', 'webhook')
  coverage.remove(numberOf('y'))
  coverage.release(numberOf('y'), 'me', 'webhook')
  assert.equal(coverage.isCovered(numberOf('y')), false)
  assert.deepEqual(taken(), ['+x', '+y'], 'the feed uncovers it when it is unwatched')
  assert.equal(coverage.counts.byReason.webhook, 0)
  assert.equal(coverage.counts.covered, 1)
})

test('ends a client’s wait when the book is live or the time limit passes, and at once beyond the client’s share', async () => {
  const { coverage, clock, numberOf } = openCoverage('top:0', [
    ['x', 5],
    ['y', 5],
  ])
  for (const name of ['x', 'y']) coverage.request(numberOf(name), 'me')
  const ended: string[] = []
  const wait = (name: string, owner: string) =>
    coverage.live(numberOf(name), 2_000, owner).then(() => ended.push(`${name} ${owner}`))
  void wait('x', 'me')
  void wait('y', 'me')
  await Promise.resolve()
  assert.deepEqual(ended, [])
  coverage.noteLive(numberOf('x'), true)
  await wait('x', 'later')
  assert.deepEqual(ended, ['x me', 'x later'])
  for (let count = 1; count < coverageWaitingOfOwnerMax; count += 1) void wait('y', 'me')
  await wait('y', 'me')
  assert.equal(ended.length, 3)
  clock.advance(2_000)
  await wait('x', 'me')
  assert.equal(ended.length, 4 + coverageWaitingOfOwnerMax)
})

test('waits for a book during the first two seconds after a client demanded it, and not later', async () => {
  const { coverage, clock, numberOf, seconds } = openCoverage('top:1', [
    ['x', 5],
    ['y', 3],
  ])
  seconds(1)
  coverage.request(numberOf('x'), 'me')
  await coverage.live(numberOf('x'), 2_000, 'me')
  coverage.request(numberOf('y'), 'me')
  clock.advance(2_000)
  coverage.request(numberOf('y'), 'me')
  await coverage.live(numberOf('y'), 2_000, 'me')
})

test('returns the time since which a book is covered, the same time for all markets under the policy `all`', async () => {
  const { coverage, clock, numberOf } = openCoverage('all', [
    ['x', 5],
    ['y', 9],
  ])
  const startMs = clock.nowMs()
  assert.equal(coverage.sinceMs(numberOf('x')), startMs)
  coverage.noteLive(numberOf('y'), true)
  clock.advance(5_000)
  await coverage.setPolicy(policyOf('top:1'))
  assert.equal(coverage.sinceMs(numberOf('x')), null)
  assert.equal(coverage.sinceMs(numberOf('y')), clock.nowMs())
  clock.advance(5_000)
  coverage.request(numberOf('x'), 'me')
  assert.equal(coverage.sinceMs(numberOf('x')), null, 'its first snapshot is still to come')
  coverage.noteLive(numberOf('x'), true)
  assert.equal(coverage.sinceMs(numberOf('x')), clock.nowMs())
})
