// Which topics the library is asked for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { JsonEncoder } from '../../../../http/ws/encode/json.ts'
import type { Topics } from '../../../../http/ws/fan-out/batches.ts'
import { topicOf } from '../../../../http/ws/fan-out/channel-variants.ts'
import { FanOut } from '../../../../http/ws/fan-out/fan-out.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

test('looks up a topic without subscribers once, and again after a client subscribes', () => {
  const engine = new FakeEngine(new ManualClock())
  const markets = Array.from({ length: 40 }, (_, index) => engine.add(`market ${index}`).ref)
  const listeners = new Map<string, number>()
  const requested: string[] = []
  const published: string[] = []
  const topics = {
    numSubscribers(topic) {
      requested.push(String(topic))
      return listeners.get(String(topic)) ?? 0
    },
    publish(topic) {
      published.push(String(topic))
      return true
    },
  } satisfies Topics
  const nowMs = () => engine.clock.nowMs()
  const encoder = new JsonEncoder({ epoch: 'k3f9c2', catalog: engine.catalog, nowMs })
  const fanOut = new FanOut({
    topics,
    variants: ['trades'],
    encoders: [encoder],
    metrics: new Metrics(),
  })
  const round = () => {
    requested.length = 0
    published.length = 0
    for (const market of markets) {
      const isReceived = fanOut.hasSubscribers('trades', market)
      const before = published.length
      fanOut.send('trades', market, 'change', () => 'x')
      assert.equal(published.length > before, isReceived)
    }
  }
  /** As a session does: the topic is awakened in the turn in which it is joined. */
  const join = (key: Parameters<typeof topicOf>[2]) => {
    fanOut.markSubscribed('j', 'trades', key)
    listeners.set(topicOf('j', 'trades', key), 1)
  }
  fanOut.markSubscribed('j', 'trades', '*')
  round()
  assert.deepEqual(requested, [topicOf('j', 'trades', '*')])
  round()
  assert.deepEqual(requested, [])
  for (const market of markets) {
    join(market.number)
    round()
    assert.ok(published.includes(topicOf('j', 'trades', market.number)))
    assert.equal(published.length, listeners.size)
  }
  listeners.clear()
  round()
  assert.deepEqual(published, [])
  for (const key of ['a', '*'] as const) {
    join(key)
    round()
    assert.equal(published.filter((topic) => topic === topicOf('j', 'trades', key)).length, 40)
  }
  // Another lane's listeners change nothing here.
  round()
  const lookCount = requested.length
  fanOut.markSubscribed('j', 'whales', '*')
  round()
  assert.equal(requested.length, lookCount)
})
