import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookNumber } from '../../../engine/webhooks/webhook.ts'
import { webhookRecord } from '../../../http/webhooks/records.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { NO_FILTERS, webhook } from '../../support/worlds/stored-webhooks.ts'

test('returns the market ids of a webhook in the API’s letter case, even if stored in lower case', () => {
  const engine = new FakeEngine(new ManualClock())
  const { ref } = engine.add('KXFED-26Dec-T4.00', { venue: 'b' })
  const condition = `0x${'ab'.repeat(32)}`
  const marketIds = [`venue_a_${condition}`, ref.id.toLowerCase(), 'venue_b_kxnone']
  const filters = { ...NO_FILTERS, marketIds }
  const counts = { created: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0 }
  const view = { ...webhook('old', { filters }), number: webhookNumber(1), counts }
  const shown = { ...view, throttledCount: 0, failingSinceMs: null, previousSecretUntilMs: null }
  const { market_ids } = webhookRecord(shown, engine.catalog).filters
  assert.deepEqual(market_ids, [`venue_a_${condition}`, ref.id, 'venue_b_kxnone'])
})
