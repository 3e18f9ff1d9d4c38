// The channel `arbitrage` on a real socket, in both forms, and again from an offset.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import type { ArbitrageUpdate } from '../../../../engine/events.ts'
import { usdMicros } from '../../../../engine/units.ts'
import { opportunityRecord } from '../../../../http/records/opportunities.ts'
import { arbitrage } from '../../../../http/ws/channels/arbitrage.ts'
import { StreamClient } from '../../../support/clients/stream-client.ts'
import { type Face, openFace } from '../../../support/rigs/face.ts'
import { NOON } from '../../../support/worlds/builders.ts'
import { opportunity, opportunityTold } from '../../../support/worlds/opportunities.ts'

let face: Face
before(async () => {
  face = await openFace()
})
after(() => face.stop())

test('[ARBSTREAM1] each opening, change and end is told as REST has it, in both forms, and repeated from an offset', async () => {
  const { publisher } = face.engine
  const [a, b] = [face.engine.add('a'), face.engine.add('b', { venue: 'b' })]
  const clients = await Promise.all(
    ['json', 'msgpack'].map((form) =>
      StreamClient.open(face.port, `api_key=ann-key&encoding=${form}`),
    ),
  )
  const subscribe = { action: 'subscribe', id: 1, channel: 'arbitrage', market_ids: ['*'] }
  for (const client of clients) await client.ask(subscribe, 'subscribed')
  const tell = (event: ArbitrageUpdate['event'], dollars: number): ArbitrageUpdate => {
    const profit = usdMicros(dollars * 1_000_000)
    const one = opportunity([a.ref, b.ref], { profit })
    const update: ArbitrageUpdate = {
      ...opportunityTold(one, { event, reason: event === 'closed' ? 'prices' : null }),
      ...publisher.stamp('arbitrage', a.ref.number),
    }
    publisher.publish(update)
    return update
  }
  const updates = [tell('opened', 1), tell('changed', 2), tell('closed', 2)]
  const expected = updates.map(({ event, reason, opportunity: one }) => ({
    ...{ event, close_reason: reason },
    ...opportunityRecord(one, NOON, { hasLevels: false }),
  }))
  const late = await StreamClient.open(face.port, 'api_key=ann-key')
  const since = { epoch: face.engine.epoch, offset: 1 }
  await late.ask({ ...subscribe, since }, 'resumed')
  for (const [client, count] of [...clients.map((one) => [one, 3] as const), [late, 2] as const]) {
    await client.ask({ action: 'ping', id: 'end' }, 'pong')
    const messages = client.messages.filter(({ type }) => type === 'arbitrage')
    assert.deepEqual(
      messages.map(({ data }) => data),
      expected.slice(3 - count),
    )
    for (const message of messages) {
      assert.ok(Value.Check(arbitrage.messages.arbitrage?.schema ?? assert.fail(), message))
      assert.equal(message.market_id, a.ref.id)
    }
    await client.close()
  }
})
