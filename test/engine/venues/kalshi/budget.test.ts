import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { booksWithinLimits, KalshiBudget } from '../../../../engine/venues/kalshi/budget.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { quietDrift } from '../../../support/fakes/quiet-drift.ts'

function account(answers: Readonly<Record<string, unknown>>) {
  return { getJson: async (path: string) => answers[path] }
}

const limits = (refill: unknown, capacity: unknown) => ({
  read: { refill_rate: refill, bucket_capacity: capacity },
})

describe('Kalshi request budget', () => {
  it('covers as many books without a key as the feed can poll in 50 seconds', () => {
    const { count, because } = booksWithinLimits(false)
    assert.deepEqual([count, because], [150, 'without a key 5 books a second are polled'])
    assert.equal(booksWithinLimits(true).count, 20_000)
  })

  it('uses two thirds of the account’s request rate and half of its burst', async () => {
    const clock = new ManualClock()
    const budget = new KalshiBudget({ clock, isKeyed: true })
    assert.deepEqual([budget.tokensPerSecond, budget.bookCount], [160, 12])
    const http = account({
      '/account/limits': limits(3_000, 6_000),
      '/account/endpoint_costs': { default_cost: 10, endpoint_costs: [] },
    })
    await budget.readAccount(http, quietDrift('b'), new AbortController().signal)
    assert.deepEqual([budget.tokensPerSecond, budget.bookCount], [2_000, 150])
    assert.equal(budget.takeBooks(1_000), 150)
    assert.equal(budget.takeBooks(1), 0)
    clock.advance(100)
    assert.equal(budget.takeBooks(1_000), 10)
  })

  it('retains the known request limits and reports drift when the venue’s answers are unreadable', async () => {
    const budget = new KalshiBudget({ clock: new ManualClock(), isKeyed: true })
    const drift = quietDrift('b')
    for (const bad of [limits('240', 480), limits(0, 480), limits(240, null), {}, null]) {
      const http = account({
        '/account/limits': bad,
        '/account/endpoint_costs': { default_cost: -1 },
      })
      await budget.readAccount(http, drift, new AbortController().signal)
    }
    assert.deepEqual([budget.tokensPerSecond, budget.costOf('/markets')], [160, 10])
    assert.deepEqual(
      drift.entries().map(({ kind, count }) => [kind, count]),
      [
        ['account.limits', 5],
        ['account.endpoint_costs', 5],
      ],
    )
  })

  it('charges the cost of the request path for each item of a request', async () => {
    const clock = new ManualClock()
    const budget = new KalshiBudget({ clock, isKeyed: true })
    const http = account({
      '/account/limits': limits(240, 480),
      '/account/endpoint_costs': {
        default_cost: 20,
        endpoint_costs: [
          { method: 'GET', path: '/trade-api/v2/markets/orderbooks', cost: 8 },
          { method: 'DELETE', path: '/series', cost: 2 },
        ],
      },
    })
    await budget.readAccount(http, quietDrift('b'), new AbortController().signal)
    assert.equal(budget.costOf('/trade-api/v2/markets/orderbooks'), 8)
    assert.equal(budget.costOf('/series'), 20)
    await budget.take(undefined, 30, '/trade-api/v2/markets/orderbooks')
    let isGranted = false
    const next = budget.take(undefined, 1, '/series').then(() => {
      isGranted = true
    })
    await Promise.resolve()
    assert.equal(isGranted, false, 'all 240 tokens are taken')
    clock.advance(125)
    await next
  })
})
