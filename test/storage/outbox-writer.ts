// The child of outbox.long.test.ts: stores trades and, in the same turn, a delivery of each for three
// webhooks; attempts, finishes and prunes them, clears and fills a fourth, until it is killed. Started
// with its data folder and the number of its round.

import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { timeMs } from '../../engine/units.ts'
import { webhookNumber } from '../../engine/webhooks/webhook.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../storage/lmdb/lmdb.ts'
import { NOON_MS, trade, traded } from '../support/worlds/stored.ts'
import { newDelivery, webhook } from '../support/worlds/stored-webhooks.ts'

const KEPT = [1, 2].map(webhookNumber)
const [PRUNED, CLEARED] = [webhookNumber(3), webhookNumber(4)]
const FINISHED = ['delivered', 'exhausted', 'dropped'] as const

async function main(dataDir: string, round: string): Promise<void> {
  const notify = (message: { readonly kind: string; readonly id: string }) =>
    process.send?.(message)
  const parts = { clock: systemClock, log: silentLog, metrics: new Metrics() }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  const random = seededRandom('outbox', round)
  for (let step = 0; ; step += 1) {
    const burst = 1 + random.below(40)
    for (let count = 0; count < burst; count += 1) {
      const id = `${round}-${step}-${count}`
      storage.trades.put(traded(1), trade(id, { timeMs: timeMs(NOON_MS + random.below(50)) }))
      for (const number of [...KEPT, PRUNED, CLEARED]) {
        storage.outbox.create(number, newDelivery(id, { body: Buffer.from(`body of ${id}`) }))
      }
    }
    for (const number of [...KEPT, PRUNED]) {
      for (let count = 0; count < burst; count += 1) changeOne(storage, number, random)
    }
    storage.outbox.prune({ webhook: PRUNED, finishedMax: 50, beforeMs: timeMs(0), rowsMax: 20 })
    if (step % 7 === 6) while (storage.outbox.clear(CLEARED, 25)) if (step % 2 === 0) await turn()
    if (step % 5 === 4) {
      const { id } = await storage.webhooks.create(webhook(`${round}x${step}`))
      notify({ kind: 'webhook', id })
    }
    if (step % 3 === 2) {
      await storage.committed()
      notify({ kind: 'committed', id: `${round}-${step}-0` })
    }
    await turn()
  }
}

function changeOne(
  { outbox }: Storage,
  number: (typeof KEPT)[number],
  random: ReturnType<typeof seededRandom>,
): void {
  const variant = random.below(3) === 0 ? 'retry' : 'first'
  const [due] = outbox.due({ webhook: number, attemptKind: variant, after: null, limit: 1 })
  const delivery = due === undefined ? null : outbox.get(number, due.number)
  if (delivery === null) return
  const attempts = delivery.attempts + 1
  const last = { atMs: timeMs(NOON_MS), durationMs: 3, status: 503, error: 'busy' }
  if (random.below(3) === 0) {
    const dueAtMs = timeMs(NOON_MS + attempts * 5_000)
    outbox.update(number, { ...delivery, attempts, last, dueAtMs })
    return
  }
  const status = FINISHED[random.below(3)] ?? 'dropped'
  outbox.update(number, { ...delivery, status, attempts, last, dueAtMs: null })
}

void main(process.argv[2] ?? '', process.argv[3] ?? '0')
