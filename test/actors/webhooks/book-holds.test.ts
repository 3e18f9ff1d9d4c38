import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { WebhookBooks } from '../../../actors/webhooks/book-holds.ts'
import { type Webhook, webhookNumber } from '../../../engine/webhooks/webhook.ts'
import { EVENTS } from '../../../http/webhooks/types/event-types.ts'
import { FakeDemand } from '../../support/fakes/book-demand.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { NO_FILTERS, webhook } from '../../support/worlds/stored-webhooks.ts'

const MINUTE_MS = 60_000

function open() {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const demand = new FakeDemand(clock)
  const books = new WebhookBooks({
    ...{ catalog: engine.catalog, clock, types: EVENTS },
    coverage: () => demand,
  })
  const put = (id: string, eventTypes: readonly string[], filters: Partial<Webhook['filters']>) => {
    const made = webhook(id, { eventTypes, filters: { ...NO_FILTERS, ...filters } })
    books.put({ ...made, number: webhookNumber(1) })
    return made.id
  }
  const pass = async (ms: number) => {
    clock.advance(ms)
    for (let count = 0; count < 5; count += 1) await nextTurn()
  }
  const held = () => [...demand.holds.keys()].map((key) => Number(key.split(' ')[0])).sort()
  return { clock, engine, demand, books, put, pass, held }
}

test('demands coverage of the markets that a webhook filter names until the webhook changes or is removed', () => {
  const { engine, demand, books, put, held } = open()
  engine.add('one')
  engine.add('two', { venue: 'b' })
  engine.add('three')
  const id = put('x', ['price.changed'], {
    marketIds: ['VENUE_A_one', 'venue_b_two', 'venue_a_none'],
  })
  assert.deepEqual(held(), [1, 2])
  assert.deepEqual([...demand.holds.values()], [1, 1])
  put('x', ['arbitrage.opened'], { marketIds: ['venue_b_two', 'venue_a_three'] })
  assert.deepEqual(held(), [2, 3])
  put('x', ['trade.created', 'market.resolved'], { marketIds: ['venue_b_two'] })
  assert.deepEqual(held(), [])
  put('x', ['price.changed'], { marketIds: ['venue_a_one'] })
  put('y', ['price.changed'], { marketIds: ['venue_a_one'] })
  books.remove(id)
  assert.deepEqual([...demand.holds.values()], [1])
})

test('demands no book coverage for a webhook without a market filter', () => {
  const { engine, put, held } = open()
  engine.add('one')
  put('x', ['price.changed'], { categories: ['politics'] })
  assert.deepEqual(held(), [])
})

test('demands coverage of all open markets of an event that a webhook filter names', () => {
  const { engine, put, held } = open()
  engine.addEvent('storm')
  engine.add('one', { eventSlug: 'event-storm' })
  engine.add('two', { eventSlug: 'event-storm', status: 'resolved' })
  engine.add('three')
  put('x', ['price.changed'], { eventSlugs: ['event-storm'] })
  assert.deepEqual(held(), [1])
})

test('demands coverage of new markets within a minute, repeats refused demands and releases demands for resolved markets', async () => {
  const { clock, engine, demand, books, put, pass, held } = open()
  const one = engine.add('one')
  demand.refused.add(one.ref.number)
  books.start()
  put('x', ['price.changed'], { marketIds: ['venue_a_one', 'venue_a_two'] })
  assert.deepEqual(held(), [])
  demand.refused.clear()
  await pass(1_000)
  assert.deepEqual(held(), [1])
  engine.add('two')
  await pass(MINUTE_MS)
  assert.deepEqual(held(), [1, 2])
  one.summary = { ...one.summary, status: 'resolved' }
  await pass(MINUTE_MS)
  assert.deepEqual(held(), [2])
  books.stop()
  await pass(MINUTE_MS)
  assert.equal(clock.timerCount, 0)
})
