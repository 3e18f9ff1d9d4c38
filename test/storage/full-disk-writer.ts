// Child process of full-disk.process.test.ts: writes until a write fails, and prints its observations as one line of
// JSON.

import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../storage/lmdb/lmdb.ts'
import { account, trade, traded } from '../support/worlds/stored.ts'

const ROUNDS_MAX = 200

async function main(dataDir: string): Promise<void> {
  const unhandled: string[] = []
  process.on('unhandledRejection', (reason) => unhandled.push(String(reason)))
  const parts = { clock: systemClock, log: silentLog, metrics: new Metrics() }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  await storage.accounts.putAccount(account('before'))
  const committed = await writeUntilRefused(storage)
  const closing = await storage.close().then(
    () => 'resolved',
    (error: unknown) => String(error),
  )
  const isReadable = committed.isLastReadable
  const report = { ...committed, isReadable, closing, unhandled }
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

async function writeUntilRefused(storage: Storage) {
  let put = 0
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const before = put
    for (let count = 0; count < 500; count += 1) {
      storage.trades.put(traded(1), trade(`t${put}`, { run: 1, offset: put, seq: put }))
      put += 1
    }
    try {
      await storage.committed()
    } catch (error) {
      const isLastReadable = storage.trades.get(1, `t${put - 1}`) !== null
      const refusal = String(error)
      return { committed: before, refusal, isHealthy: storage.isHealthy(), isLastReadable }
    }
  }
  return { committed: put, refusal: '', isHealthy: storage.isHealthy(), isLastReadable: true }
}

void main(process.argv[2] ?? '')
