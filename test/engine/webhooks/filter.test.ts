import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { priceMicros, type UsdMicros, usdMicros } from '../../../engine/units.ts'
import { type EventFacts, matchesFilters } from '../../../engine/webhooks/filter.ts'
import type { WebhookEventType, WebhookFilters } from '../../../engine/webhooks/webhook.ts'
import { EVENT_TYPES, EVENTS } from '../../../http/webhooks/types/event-types.ts'
import { NO_FILTERS } from '../../support/worlds/stored-webhooks.ts'

const typeOf = (wanted: string) => EVENTS.find(({ name }) => name === wanted) ?? assert.fail(wanted)

const noFacts: EventFacts = {
  ...{ marketId: 'venue_a_0xabc', venue: 'a', wallets: [], taker: '0x02', usd: null, side: null },
  ...{ takerSide: null, change: null, peak: null, previousPeak: null },
  ...{ eventSlug: null, category: null },
}

test('uses default minimums of 5,000 dollars for whale.alert and of 5 cents for price.changed', () => {
  const whale = (micros: number, filters = NO_FILTERS) =>
    matchesFilters(filters, typeOf('whale.alert'), { ...noFacts, usd: usdMicros(micros) })
  assert.deepEqual([whale(5_000_000_000), whale(4_999_999_999)], [true, false])
  assert.equal(whale(1_000_000, { ...NO_FILTERS, minUsd: usdMicros(1_000_000) }), true)
  const change = (micros: number, filters = NO_FILTERS) =>
    matchesFilters(filters, typeOf('price.changed'), { ...noFacts, change: priceMicros(micros) })
  assert.deepEqual([change(50_000), change(49_999)], [true, false])
  assert.equal(change(10_000, { ...NO_FILTERS, minChange: priceMicros(10_000) }), true)
  assert.equal(matchesFilters(NO_FILTERS, typeOf('trade.created'), noFacts), true)
})

test('matches an opportunity if profit, edge and age all reach the filter’s minimums, and otherwise not', () => {
  const requested = {
    ...NO_FILTERS,
    ...{ minProfit: usdMicros(5_000_000), minEdge: priceMicros(50_000), minAgeMs: 2_000 },
  }
  type Reached = NonNullable<EventFacts['peak']>
  const complete: Reached = { profit: usdMicros(5_000_000), edge: 0.05, ageMs: 2_000 }
  const is = (
    reached: Reached,
    reachedBefore: Reached | null,
    filters: WebhookFilters = requested,
  ) =>
    matchesFilters(filters, typeOf('arbitrage.opened'), {
      ...noFacts,
      peak: reached,
      previousPeak: reachedBefore,
    })
  assert.ok(is(complete, null), 'bounds are inclusive')
  const lacking: readonly Reached[] = [
    { ...complete, profit: usdMicros(4_999_999) },
    { ...complete, edge: 0.0499999 },
    { ...complete, ageMs: 1_999 },
  ]
  for (const less of lacking) {
    assert.ok(!is(less, null))
    assert.ok(is(complete, less))
  }
  assert.ok(!is({ ...complete, ageMs: 9_000 }, complete), 'the earlier peak matched already')
  assert.ok(is(complete, null, NO_FILTERS) && !is(complete, complete, NO_FILTERS))
})

test('matches a test event regardless of the webhook’s filters', () => {
  const strict = { ...NO_FILTERS, venue: 'b', marketIds: [], minUsd: usdMicros(1) } as const
  assert.ok(matchesFilters(strict, typeOf('webhook.test'), noFacts))
})

function reaches(filters: WebhookFilters, reached: EventFacts['peak']): boolean {
  const { profit = -1, edge = -1, ageMs = -1 } = reached ?? {}
  return [
    filters.minProfit === null || profit >= filters.minProfit,
    filters.minEdge === null || edge >= filters.minEdge / 1e6,
    filters.minAgeMs === null || ageMs >= filters.minAgeMs,
  ].every((isPassed) => isPassed)
}

/** The reference implementation: a list of conditions. */
function naiveWants(filters: WebhookFilters, type: WebhookEventType, facts: EventFacts): boolean {
  if (type === 'webhook.test') return true
  const lower = (texts: readonly string[]) => texts.map((text) => text.toLowerCase())
  const minUsd = filters.minUsd ?? (type === 'whale.alert' ? 5_000_000_000 : null)
  return [
    filters.marketIds === null || new Set<string>(filters.marketIds).has(facts.marketId),
    filters.venue === null || filters.venue === facts.venue,
    filters.wallets === null || filters.wallets.some((wallet) => facts.wallets.includes(wallet)),
    filters.takerWallets === null || filters.takerWallets.some((one) => one === facts.taker),
    minUsd === null || (facts.usd ?? -1) >= minUsd,
    type !== 'price.changed' || (facts.change ?? -1) >= (filters.minChange ?? 50_000),
    filters.side === null || filters.side === facts.side,
    filters.takerSide === null || filters.takerSide === facts.takerSide,
    reaches(filters, facts.peak),
    facts.previousPeak === null || !reaches(filters, facts.previousPeak),
    filters.eventSlugs === null ||
      lower(filters.eventSlugs).includes(facts.eventSlug?.toLowerCase() ?? '-'),
    filters.categories === null ||
      lower(filters.categories).includes(facts.category?.toLowerCase() ?? '-'),
  ].every((isPassed) => isPassed)
}

function some<T>(random: Random, items: readonly T[]): T | null {
  return random.below(2) === 0 ? null : random.pick(items)
}

function someOf(random: Random, items: readonly string[]): readonly string[] | null {
  return random.below(3) > 0 ? null : items.filter(() => random.below(2) === 0)
}

function someReach(random: Random, usds: readonly UsdMicros[]): EventFacts['peak'] {
  if (random.below(3) > 0) return null
  const [edge, ageMs] = [random.pick([0, 0.05, 0.2]), random.pick([0, 999, 1_000])]
  return { profit: random.pick(usds), edge, ageMs }
}

test('evaluates 20,000 random filters and events like a naive implementation', () => {
  const random = seededRandom('filters')
  let wanted = 0
  for (let round = 0; round < 20_000; round += 1) {
    const usds = [0, 4_999_999_999, 5_000_000_000, 9_000_000_000].map(usdMicros)
    const prices = [0, 49_999, 50_000, 200_000].map(priceMicros)
    const filters: WebhookFilters = {
      marketIds: someOf(random, ['m1', 'm2', 'm3']),
      venue: some(random, ['a', 'b'] as const),
      wallets: someOf(random, ['w1', 'w2']),
      takerWallets: random.below(3) > 0 ? null : someOf(random, ['w1', 'w2']),
      minUsd: some(random, usds),
      minChange: some(random, prices),
      minProfit: some(random, usds),
      minEdge: some(random, prices),
      minAgeMs: some(random, [0, 1_000]),
      side: some(random, ['buy', 'sell'] as const),
      takerSide: some(random, ['buy', 'sell'] as const),
      eventSlugs: someOf(random, ['E1', 'e2']),
      categories: someOf(random, ['c1', 'C2']),
    }
    const facts: EventFacts = {
      marketId: random.pick(['m1', 'm2', 'm3']),
      venue: random.pick(['a', 'b'] as const),
      wallets: ['w1', 'w2', 'w3'].filter(() => random.below(2) === 0),
      taker: some(random, ['w1', 'w2', 'w3']),
      usd: some(random, usds),
      side: some(random, ['buy', 'sell'] as const),
      takerSide: some(random, ['buy', 'sell'] as const),
      change: some(random, prices),
      peak: someReach(random, usds),
      previousPeak: someReach(random, usds),
      eventSlug: some(random, ['e1', 'E2', 'e3']),
      category: some(random, ['C1', 'c2', 'c33']),
    }
    const type = random.pick(EVENT_TYPES)
    const is = matchesFilters(filters, typeOf(type), facts)
    assert.equal(is, naiveWants(filters, type, facts), JSON.stringify({ filters, type, facts }))
    if (is) wanted += 1
  }
  assert.ok(wanted > 2_000 && wanted < 18_000, `${wanted} wanted`)
})
