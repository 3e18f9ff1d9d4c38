// The dispatcher on the real tables: what was told before a close is delivered after it.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhooks } from '../../../actors/webhooks/webhooks.ts'
import { attemptsPerWebhookQuietMax } from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { systemRandom } from '../../../engine/random.ts'
import { SecretBox } from '../../../engine/webhooks/secret-box.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb.ts'
import { FakeCaller } from '../../support/fakes/fake-caller.ts'
import { noonClock } from '../../support/fakes/noon-clock.ts'
import { until } from '../../support/fakes/receivers.ts'
import { marketRef } from '../../support/worlds/builders.ts'
import { ALICE, CountingBodies, request, tradeUpdate } from '../../support/worlds/webhook-world.ts'

const COUNT = 300

function open(storage: Storage, caller: FakeCaller): Webhooks {
  const webhooks = new Webhooks({
    ...{ storage, caller, clock: noonClock, random: systemRandom(), log: silentLog },
    ...{ metrics: new Metrics(), box: new SecretBox('key'), bodies: new CountingBodies() },
    market: () => null,
    isAccountActive: () => true,
  })
  webhooks.start()
  return webhooks
}

test('[DELIVER6] on the real tables, what was told and not delivered is delivered by the next run', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'deliveries-'))
  const nowMs = noonClock.nowMs()
  const tell = (webhooks: Webhooks) => {
    for (let count = 0; count < COUNT; count += 1) {
      const nativeId = `t${count}`
      webhooks.watcher.onUpdate(tradeUpdate({ market: marketRef('m'), atMs: nowMs, nativeId }))
    }
  }
  try {
    const options = { dataDir, clock: noonClock, log: silentLog }
    const openStorage = () => openLmdbStorage({ ...options, metrics: new Metrics() })
    let storage = await openStorage()
    const hanging = new FakeCaller(noonClock)
    hanging.answer = () => 'hang'
    let webhooks = open(storage, hanging)
    const { webhook } = await webhooks.create(ALICE, request())
    tell(webhooks)
    await until(() => hanging.posts.length === attemptsPerWebhookQuietMax, 'all are under way')
    webhooks.stop()
    await storage.close()
    storage = await openStorage()
    const caller = new FakeCaller(noonClock)
    webhooks = open(storage, caller)
    tell(webhooks)
    const counts = () => webhooks.get(ALICE, webhook.id)?.counts
    await until(() => counts()?.delivered === COUNT, 'all are delivered')
    const ended = { exhausted: 0, dropped: 0, pending: 0 }
    assert.deepEqual(counts(), { created: COUNT, delivered: COUNT, ...ended })
    assert.equal(caller.posts.length, COUNT)
    assert.equal(new Set(caller.posts.map(({ body }) => body)).size, COUNT)
    webhooks.stop()
    await storage.close()
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})
