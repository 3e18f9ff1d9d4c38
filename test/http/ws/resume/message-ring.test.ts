// The ring of a channel's newest messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TradeUpdate } from '../../../../engine/events.ts'
import { MessageRing } from '../../../../http/ws/resume/message-ring.ts'
import { FakeEngine } from '../../../support/fakes/fake-engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

test('[RESUME1] the newest trades are kept by offset, the oldest overwritten', () => {
  const engine = new FakeEngine(new ManualClock())
  const updates: TradeUpdate[] = []
  engine.publisher.watch({
    name: 'test',
    onUpdate: (update) => void (update.kind === 'trade' && updates.push(update)),
  })
  const market = engine.add('one')
  const history = new MessageRing<TradeUpdate>(0, 4)
  assert.equal(history.oldest, 1)
  assert.equal(history.get(0), null)
  for (let index = 0; index < 6; index += 1) {
    market.trade()
    const update = updates[index]
    assert.ok(update !== undefined)
    history.push(update)
  }
  assert.equal(history.newest, 6)
  assert.equal(history.oldest, 3)
  assert.equal(history.get(2), null)
  assert.equal(history.get(3)?.offset, 3)
  assert.equal(history.get(7), null)
  const [first] = updates
  assert.ok(first !== undefined)
  history.push({ ...first, offset: 9 })
  assert.equal(history.get(6), null, 'nothing before a hole can be replayed whole')
  assert.equal(history.get(9)?.offset, 9)
})
