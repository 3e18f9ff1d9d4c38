// Suspends the leader until another engine leads, then resumes it. Skipped without a nats-server on the PATH.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connectCluster } from '../../../engine/app/leader.ts'
import { systemClock } from '../../../engine/clock.ts'
import { decodeBatch } from '../../../engine/cluster/batch.ts'
import { SHARDS } from '../../../engine/cluster/cluster-log.ts'
import { GET_NATS, hasNats, natsEnv, startNats } from '../../../engine/cluster/nats-server.ts'
import { loadConfig } from '../../../engine/config.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { openData } from '../../support/rigs/data-folder.ts'
import { beforeAgain } from '../../support/rigs/full-service.ts'
import { startProcess, type TestProcess } from '../../support/rigs/processes.ts'

const SETTINGS = {
  ...{ PORT: '0', VENUES: 'sim', SIM_MARKETS: '20', SIM_RATE: '200' },
  ...{ SIM_FAULTS: 'off', LOG_LEVEL: 'info' },
  ...{ JWT_SECRET: 'x'.repeat(32), SECRETS_KEY: 'y'.repeat(32) },
}
const skip = hasNats() ? false : GET_NATS

/** The simulator of a killed engine may still create files. `rmSync` retries only the folder, not files created since. */
async function removeWrittenFolder(folder: string): Promise<void> {
  while (existsSync(folder)) {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      await beforeAgain()
    }
  }
}

test('writes nothing after the engine lost the leader lease during a pause, logs one line, and exits', {
  skip,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deposed-'))
  const nats = await startNats(join(folder, 'nats'), 0, systemClock)
  const start = (name: string): TestProcess =>
    startProcess('engine/app/main.ts', {
      ...SETTINGS,
      ...{ ...natsEnv('engine', nats), DATA_DIR: join(folder, name) },
    })
  const reported = async ({ stderr }: TestProcess, text: string): Promise<void> => {
    while (!stderr().includes(text)) await beforeAgain()
  }
  const [one, two] = [start('one'), start('two')]
  after(async () => {
    await Promise.all([one.end('SIGKILL'), two.end('SIGKILL')])
    await nats.stop()
    await removeWrittenFolder(folder)
  })
  await Promise.race([
    reported(one, 'the leader answers gateways'),
    reported(two, 'the leader answers gateways'),
  ])
  const isFirst = one.stderr().includes('the leader answers gateways')
  const [deposed, next] = isFirst ? [one, two] : [two, one]
  await reported(next, 'this engine follows the one that leads')
  process.kill(deposed.pid, 'SIGSTOP')
  const stoppedAtMs = systemClock.nowMs()
  await reported(next, 'the leader answers gateways')
  process.kill(deposed.pid, 'SIGCONT')
  assert.equal(await deposed.end('SIGCONT'), 1, deposed.stderr())
  const lines = deposed.stderr().match(/another engine leads: this one ends/g)
  assert.equal(lines?.length, 1)

  const cluster = await connectCluster(loadConfig(natsEnv('engine', nats)), {
    ...{ clock: systemClock, log: silentLog, metrics: new Metrics() },
  })
  let both = 0
  let [deposedEpoch, loggedTo] = ['', 0]
  for (const shard of SHARDS) {
    const terms: number[] = []
    const head = await cluster.head(shard)
    if (head === 0) continue
    let last = 0
    const sync = cluster.read(shard, 1, {
      onBatch: ({ sequence, bytes }) => {
        const batch = decodeBatch(bytes)
        terms.push(batch?.term ?? 0)
        last = sequence
        if (deposedEpoch === '') deposedEpoch = batch?.epoch ?? ''
        if (shard !== 'trades' || batch?.epoch !== deposedEpoch) return
        const trades = batch.offsets.find(({ channel }) => channel === 'trades')
        loggedTo = Math.max(loggedTo, trades?.last ?? 0)
      },
    })
    while (last < head) await beforeAgain()
    await sync.stop()
    assert.deepEqual(terms, terms.toSorted(), `${shard}: a batch of the deposed engine behind`)
    if (new Set(terms).size > 1) both += 1
  }
  assert.ok(both > 0, 'both engines wrote')
  await cluster.close()

  // No stream would contain trades that the deposed engine stores after the pause.
  const storage = await openData(join(folder, isFirst ? 'one' : 'two'))
  const run = storage.runs.all().find(({ epoch }) => epoch === deposedEpoch)
  assert.ok(run !== undefined)
  const unlogged = storage.trades.rangeByOffset({ run: run.number, offset: loggedTo, limit: 1e6 })
  await storage.close()
  assert.ok(loggedTo > 0)
  // One batch may have been in flight at the suspension.
  const late = unlogged.filter(({ trade }) => trade.receivedAtMs > stoppedAtMs)
  assert.deepEqual(late, [])
})
