import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Update } from '../../engine/events.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { Publisher } from '../../engine/publisher.ts'
import { seededRandom } from '../../engine/random.ts'
import { NOON } from '../support/worlds/builders.ts'

const open = () => new Publisher({ epoch: 'e', log: silentLog, metrics: new Metrics() })
const gap: Update = {
  kind: 'gap',
  channel: 'trades',
  market: null,
  venue: 'a',
  platform: 'venue_a',
  fromMs: NOON,
  toMs: NOON,
  count: null,
}

test('numbers updates with an offset per channel and a seq per market, each from 1 without gaps', () => {
  const random = seededRandom('stamps')
  const publisher = open()
  const offsets = new Map<string, number>()
  const seqs = new Map<string, number>()
  for (let step = 0; step < 5_000; step += 1) {
    const channel = random.pick(['orderbook', 'trades', 'prices', 'lifecycle'] as const)
    const market = 1 + random.below(7)
    const name = `${channel} ${market}`
    offsets.set(channel, (offsets.get(channel) ?? 0) + 1)
    seqs.set(name, (seqs.get(name) ?? 0) + 1)
    const expected = { offset: offsets.get(channel), seq: seqs.get(name) }
    assert.deepEqual(publisher.stamp(channel, market), expected)
    assert.deepEqual(
      publisher.latest(channel, market),
      expected,
      'reading the latest stamp does not advance it',
    )
    assert.equal(publisher.offset(channel), expected.offset)
  }
})

test('calls watchers synchronously in the order of their registration', () => {
  const publisher = open()
  const received: string[] = []
  for (const name of ['first', 'second'])
    publisher.watch({ name, onUpdate: () => received.push(name) })
  publisher.publish(gap)
  assert.deepEqual(received, ['first', 'second'])
})

test('calls the remaining watchers when one watcher throws', () => {
  const publisher = open()
  let count = 0
  publisher.watch({
    name: 'broken',
    onUpdate() {
      throw new Error('our bug')
    },
  })
  publisher.watch({ name: 'whole', onUpdate: () => (count += 1) })
  publisher.publish(gap)
  publisher.publish(gap)
  assert.equal(count, 2)
})

test('deletes the counters of a removed market, continues the channel’s offsets, and notifies watchers once', () => {
  const publisher = open()
  const published: number[] = []
  publisher.watch({ name: 'indifferent', onUpdate: () => undefined })
  publisher.watch({
    name: 'broken',
    onUpdate: () => undefined,
    onMarketRemoved: () => {
      throw new Error('broken')
    },
  })
  publisher.watch({
    name: 'third',
    onUpdate: () => undefined,
    onMarketRemoved: (market) => published.push(market),
  })
  for (const channel of ['orderbook', 'trades', 'prices', 'lifecycle'] as const) {
    publisher.stamp(channel, 1)
    publisher.stamp(channel, 2)
  }
  publisher.removeMarket(1)
  for (const channel of ['orderbook', 'trades', 'prices', 'lifecycle'] as const) {
    assert.deepEqual(publisher.latest(channel, 1), { offset: 2, seq: 0 })
    assert.deepEqual(publisher.stamp(channel, 2), { offset: 3, seq: 2 })
  }
  assert.deepEqual(published, [1])
})
