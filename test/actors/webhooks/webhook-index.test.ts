import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebhookIndex } from '../../../actors/webhooks/webhook-index.ts'
import { VENUE_KEYS, webhookId } from '../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { type EventFacts, matchesFilters } from '../../../engine/webhooks/filter.ts'
import { type Webhook, webhookNumber } from '../../../engine/webhooks/webhook.ts'
import { EVENT_TYPES, EVENTS } from '../../../http/webhooks/types/event-types.ts'
import { NO_FILTERS } from '../../support/worlds/stored-webhooks.ts'
import { ALICE } from '../../support/worlds/webhook-world.ts'

const MARKETS = ['m1', 'm2', 'm3', 'm4']
const typeOf = (wanted: string) => EVENTS.find(({ name }) => name === wanted) ?? assert.fail(wanted)
const PUBLISHED_TYPES = EVENT_TYPES.filter((type) => type !== 'webhook.test')
const WALLETS = ['0xa', '0xb', '0xc']

function some(random: Random, items: readonly string[]): readonly string[] | null {
  if (random.below(2) === 0) return null
  const picked = items.filter(() => random.below(2) === 0)
  return picked.length === 0 ? null : picked
}

function randomWebhook(random: Random, number: number): Webhook {
  return {
    id: webhookId(`wh_${number}`),
    number: webhookNumber(number),
    ...{ accountId: ALICE, url: 'https://example.com', description: null },
    format: 'standard',
    eventTypes: EVENT_TYPES.filter(() => random.below(2) === 0),
    filters: {
      ...NO_FILTERS,
      marketIds: some(random, MARKETS),
      wallets: some(random, WALLETS),
      takerWallets: some(random, WALLETS),
      venue: random.below(3) === 0 ? random.pick(VENUE_KEYS) : null,
      minUsd: random.below(3) === 0 ? usdMicros(random.below(10)) : null,
      minAgeMs: random.below(2) === 0 ? random.below(20) : null,
      categories: some(random, ['x', 'y']),
    },
    ...{ isActive: true, isVerified: true, disabledReason: null, createdAtMs: timeMs(0) },
    ...{ secret: '', previousSecrets: [] },
  }
}

function randomWallets(random: Random) {
  const wallets = some(random, WALLETS) ?? []
  return { wallets, taker: wallets.length === 0 ? null : random.pick(wallets) }
}

const randomFacts = (random: Random): EventFacts => ({
  marketId: random.pick(MARKETS),
  venue: random.pick(VENUE_KEYS),
  ...randomWallets(random),
  usd: usdMicros(random.below(10)),
  ...{ side: 'buy', takerSide: 'sell', eventSlug: null, peak: null, previousPeak: null },
  change: priceMicros(random.below(100_000)),
  category: random.pick(['x', 'y', null]),
})

test('returns each webhook whose filters may match an event once, and whether any minimum age lies between two given ages', () => {
  const random = seededRandom('index')
  for (let round = 0; round < 100; round += 1) {
    const index = new WebhookIndex()
    const webhooks = new Map<number, Webhook>()
    for (let step = 0; step < 60; step += 1) {
      const number = random.below(20) + 1
      const before = webhooks.get(number)
      if (before !== undefined) {
        index.remove(before.id)
        webhooks.delete(number)
      }
      if (random.below(3) > 0) {
        const webhook = randomWebhook(random, number)
        index.put(webhook)
        webhooks.set(number, webhook)
      }
      const facts = randomFacts(random)
      const type = random.pick(PUBLISHED_TYPES)
      const naive = [...webhooks.values()].filter(
        ({ eventTypes, filters }) =>
          eventTypes.includes(type) && matchesFilters(filters, typeOf(type), facts),
      )
      const candidates = [...(index.of(type)?.candidates(facts.marketId, facts.wallets) ?? [])]
      const found = candidates.filter(({ filters }) => matchesFilters(filters, typeOf(type), facts))
      const numbers = (list: readonly Webhook[]) => list.map((one) => one.number).sort()
      assert.deepEqual(numbers(found), numbers(naive))
      assert.equal(new Set(candidates).size, candidates.length)
      const [beforeMs, ageMs] = [random.below(20), random.below(20)]
      const isPassed = [...webhooks.values()].some(
        ({ filters: { minAgeMs } }) =>
          minAgeMs !== null && minAgeMs > beforeMs && minAgeMs <= ageMs,
      )
      assert.equal(index.hasAge(beforeMs, ageMs), isPassed)
    }
  }
})

test('omits webhooks that filter by other markets or wallets, and returns null for an event type without webhooks', () => {
  const index = new WebhookIndex()
  const random = seededRandom('few')
  const plain = { ...randomWebhook(random, 1), eventTypes: ['trade.created'] as const }
  const ofMarkets = { ...plain, filters: { ...NO_FILTERS, marketIds: ['m1', 'm2'] } }
  const ofWallets = {
    ...plain,
    id: webhookId('wh_2'),
    filters: { ...NO_FILTERS, wallets: ['0xa'] },
  }
  index.put(ofMarkets)
  index.put(ofWallets)
  const listeners = index.of('trade.created')
  assert.equal(listeners?.candidates('m3', ['0xb']).size, 0)
  assert.deepEqual([...(listeners?.candidates('m2', ['0xb']) ?? [])], [ofMarkets])
  assert.deepEqual([...(listeners?.candidates('m3', ['0xb', '0xa']) ?? [])], [ofWallets])
  assert.equal(index.of('whale.alert'), null)
  index.remove(ofMarkets.id)
  index.remove(ofWallets.id)
  assert.equal(index.of('trade.created'), null)
})
