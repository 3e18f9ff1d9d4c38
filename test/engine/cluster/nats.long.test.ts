// Skipped without a nats-server on the PATH.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect as connectNats } from '@nats-io/transport-node'
import { pause, systemClock } from '../../../engine/clock.ts'
import type { ClusterLog } from '../../../engine/cluster/cluster-log.ts'
import { openNats } from '../../../engine/cluster/nats.ts'
import {
  GET_NATS,
  hasNats,
  type RunningNats,
  startNats,
} from '../../../engine/cluster/nats-server.ts'
import { type Log, silentLog } from '../../../engine/process/log.ts'
import { clusterLogContract } from '../../contract/cluster-log.ts'

// Keeps the process alive, because clock timers do not.
const anchor = new MessageChannel()
anchor.port1.ref()
test.after(() => anchor.port1.close())

async function serve(t: TestContext): Promise<{ nats: RunningNats; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'nats-'))
  const nats = await startNats(folder, 0, systemClock)
  t.after(async () => {
    await nats.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { nats, folder }
}

const connect = async (
  t: TestContext,
  { url, secrets }: RunningNats,
  processLog: Log = silentLog,
  timeoutMs = 60_000,
): Promise<ClusterLog> => {
  const parts = {
    url,
    creds: null,
    ca: null,
    login: { user: 'engine', password: secrets.engine },
    side: 'engine' as const,
    clock: systemClock,
    log: processLog,
    timeoutMs,
  }
  const log = await openNats({ ...parts, name: 'test' })
  t.after(() => log.close())
  return log
}

if (!hasNats()) {
  test('cluster log on nats-server', { skip: GET_NATS }, () => undefined)
} else {
  clusterLogContract('nats-server', async (t) => {
    const { nats } = await serve(t)
    return [await connect(t, nats), await connect(t, nats)]
  })

  test('reads and writes a bucket after nats-server has lost the bucket', async (t) => {
    const { nats, folder } = await serve(t)
    const bucket = await (await connect(t, nats, silentLog, 2_000)).bucket('accounts')
    await bucket.put('account.one', Buffer.from('before'))
    await nats.stop()
    rmSync(join(folder, 'jetstream'), { recursive: true })
    const again = await startNats(folder, nats.port, systemClock)
    t.after(() => again.stop())
    for (let isRead = false; !isRead; ) {
      isRead = await bucket.get('account.one').then(
        (entry) => entry === null,
        () => false,
      )
    }
    await bucket.put('account.one', Buffer.from('after'))
    assert.equal(Buffer.from((await bucket.get('account.one'))?.value ?? '').toString(), 'after')
  })

  test('waits for a nats-server that starts later than the engine', async (t) => {
    const { nats, folder } = await serve(t)
    await nats.stop()
    let onWait: () => void = () => undefined
    const waits = new Promise<void>((resolve) => {
      onWait = resolve
    })
    const connected = connect(t, nats, { ...silentLog, warn: () => onWait() })
    await waits
    const again = await startNats(folder, nats.port, systemClock)
    t.after(() => again.stop())
    assert.equal((await connected).link, 'up')
  })

  test('stores one revision of each record of a bucket', async (t) => {
    const { nats } = await serve(t)
    const bucket = await (await connect(t, nats)).bucket('accounts')
    for (const value of ['first', 'second', 'third']) {
      await bucket.put('account.a', Buffer.from(value))
      await bucket.put('account.b', Buffer.from(value))
    }
    await bucket.put('account.a', Buffer.from('mark of a removal'))
    const login = { user: 'engine', pass: nats.secrets.engine, inboxPrefix: '_INBOX.engine' }
    const connection = await connectNats({ servers: nats.url, ...login })
    t.after(() => connection.close())
    const { streams } = await jetstreamManager(connection)
    const texts: (string | undefined)[] = []
    const { state } = await streams.info('KV_TB_accounts')
    for (let seq = 1; seq <= state.last_seq; seq += 1) {
      const message = await streams.getMessage('KV_TB_accounts', { seq })
      if (message !== null) texts.push(message.string())
    }
    assert.deepEqual([state.last_seq, texts], [7, ['third', 'mark of a removal']])
  })

  test('resumes a reader of the log after nats-server restarted and after the stream deleted old data', async (t) => {
    const { nats, folder } = await serve(t)
    const log = await connect(t, nats)
    const read: number[] = []
    let wake: () => void = () => undefined
    const until = (count: number) =>
      new Promise<void>((resolve) => {
        wake = () => {
          if (read.length >= count) resolve()
        }
        wake()
      })
    const sync = log.read('trades', 1, {
      onBatch({ bytes }) {
        read.push(bytes[0] ?? -1)
        wake()
      },
    })
    t.after(() => sync.stop())
    const publish = (batch: number, after: number) =>
      log.publish('trades', { bytes: Uint8Array.of(batch), id: `batch ${batch}`, after })
    for (let batch = 0; batch < 5; batch += 1) await publish(batch, batch)
    await until(5)
    const isUp = new Promise<void>((resolve) => {
      log.onLink((link) => {
        if (link === 'up') resolve()
      })
    })
    const isDown = new Promise<void>((resolve) => {
      log.onLink((link) => {
        if (link === 'down') resolve()
      })
    })
    nats.child.kill('SIGKILL')
    await isDown
    await assert.rejects(publish(99, 5))
    const again = await startNats(folder, nats.port, systemClock)
    t.after(() => again.stop())
    await isUp
    for (let batch = 0; batch < 3; ) {
      // A server that has just started may not have loaded its streams yet.
      try {
        await publish(10 + batch, await log.head('trades'))
        batch += 1
      } catch {
        await pause(systemClock, 100)
      }
    }
    await until(8)
    assert.deepEqual(read.slice(0, 5), [0, 1, 2, 3, 4])
    assert.deepEqual(read.slice(-3), [10, 11, 12])
  })
}
