// Checks what a client without a password, or with the gateway's password, can read, write and forge. Skipped without a
// nats-server on the PATH.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { connectCluster } from '../../../engine/app/leader.ts'
import { pause, systemClock } from '../../../engine/clock.ts'
import type { ClusterLog } from '../../../engine/cluster/cluster-log.ts'
import {
  GET_NATS,
  hasNats,
  natsEnv,
  type RunningNats,
  startNats,
} from '../../../engine/cluster/nats-server.ts'
import { loadConfig } from '../../../engine/config.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'

// Keeps the process alive, because clock timers do not.
const anchor = new MessageChannel()
anchor.port1.ref()

const folder = mkdtempSync(join(tmpdir(), 'nats-security-'))
const bytes = (text: string): Uint8Array => Buffer.from(text)
let nats: RunningNats

const joined = (role: 'engine' | 'gateway', set: Readonly<Record<string, string>> = {}) =>
  connectCluster(loadConfig({ ...natsEnv(role, nats), ...set }), {
    ...{ clock: systemClock, log: silentLog, metrics: new Metrics() },
  })
const knock = (set: { readonly user?: string; readonly pass?: string }) =>
  connect({ servers: nats.url, reconnect: false, inboxPrefix: `_INBOX.${set.user}`, ...set })

function filesIn(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name)
    return entry.isDirectory() ? [inner, ...filesIn(inner)] : [inner]
  })
}

/** Subjects that the server denied to the connection. */
function refusals(connection: NatsConnection): Set<string> {
  const refused = new Set<string>()
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error') refused.add(/"([^"]+)"/.exec(String(status.error))?.[1] ?? '')
    }
  })()
  return refused
}

if (!hasNats()) {
  test('users of nats-server', { skip: GET_NATS }, () => undefined)
} else {
  describe('users of nats-server', () => {
    let engine: ClusterLog
    before(async () => {
      nats = await startNats(folder, 0, systemClock)
    })
    after(async () => {
      await engine.close()
      await nats.stop()
      rmSync(folder, { recursive: true, force: true })
      anchor.port1.close()
    })

    test('waits as gateway until the engine has created the streams and buckets', async () => {
      const gateway = await joined('gateway')
      await assert.rejects(gateway.head('books'))
      await assert.rejects(gateway.bucket('accounts'))
      await assert.rejects(gateway.getObject('checkpoint'))
      engine = await joined('engine')
      for (const shard of ['books', 'trades', 'hooks'] as const) await engine.head(shard)
      for (const name of ['accounts', 'webhooks', 'lease'] as const) await engine.bucket(name)
      await engine.putObject('checkpoint', bytes('whole'))
      assert.equal(await gateway.head('books'), 0)
      assert.deepEqual(await gateway.getObject('checkpoint'), bytes('whole'))
      await gateway.close()
    })

    test('allows a gateway to read, to follow accounts, to send requests and answers, and to announce itself', async () => {
      const gateway = await joined('gateway')
      await engine.publish('trades', { bytes: bytes('batch'), id: '1', after: 0 })
      const accounts = await gateway.bucket('accounts')
      await (await engine.bucket('accounts')).put('account.1', bytes('record'))
      const read = new Promise<string>((resolve) => {
        gateway.read('trades', 1, { onBatch: ({ bytes: got }) => resolve(String(got)) })
      })
      const watched = new Promise<string>((resolve, reject) => {
        const watcher = {
          onEntry: ({ value }: { value: Uint8Array | null }) => resolve(String(value)),
          onSnapshotEnd: () => undefined,
        }
        accounts.watch(watcher).catch(reject)
      })
      assert.equal(await read, 'batch')
      assert.equal(await watched, 'record')
      engine.answer('http', async (body) => body)
      gateway.answer('http.host-1', async (body) => body)
      const received = new Promise<string>((resolve) => {
        gateway.subscribe('revoked', (body) => resolve(String(body)))
      })
      await Promise.all([engine.head('books'), gateway.head('books')])
      assert.deepEqual(await gateway.request('http', bytes('asked')), bytes('asked'))
      assert.deepEqual(await engine.request('http.host-1', bytes('asked')), bytes('asked'))
      engine.announce('revoked', bytes('key_1'))
      assert.equal(await received, 'key_1')
      await gateway.close()
    })

    test('refuses NATS connections without a password', async () => {
      for (const set of [
        {},
        { user: 'engine' },
        { user: 'gateway', pass: 'guess' },
        { user: 'x' },
      ]) {
        await assert.rejects(knock(set), /authorization/i)
      }
    })

    test('allows no user except the owner to read the files of passwords and records', () => {
      for (const path of [folder, ...filesIn(folder)]) {
        assert.equal(statSync(path).mode & 0o077, 0, path)
      }
    })

    test('does not allow the gateway’s user to change stored data or to revoke API keys', async () => {
      const lease = await engine.bucket('lease')
      await lease.put('leader', bytes('one'))
      const received: Uint8Array[] = []
      engine.subscribe('revoked', (body) => void received.push(body))
      const attacker = await knock({ user: 'gateway', pass: nats.secrets.gateway })
      const refused = refusals(attacker)
      const api = '$JS.API.STREAM'
      const subjects = [
        ...['tb.books', 'tb.trades', 'tb.hooks', 'tb.told.revoked', '$KV.TB_lease.leader'],
        ...['$KV.TB_accounts.account.1', '$KV.TB_webhooks.x', '$O.TB_OBJECTS.M.Y2hlY2twb2ludA=='],
        ...[`${api}.CREATE.TB_books`, `${api}.UPDATE.TB_books`, `${api}.DELETE.TB_trades`],
        ...[`${api}.PURGE.KV_TB_accounts`, `${api}.MSG.DELETE.KV_TB_lease`, `${api}.CREATE.X`],
        ...[`${api}.MSG.GET.KV_TB_webhooks`, `${api}.RESTORE.X`, `${api}.SNAPSHOT.KV_TB_accounts`],
        ...['$JS.API.CONSUMER.CREATE.TB_hooks.x', '$JS.API.CONSUMER.CREATE.KV_TB_lease.x'],
        ...[
          '$JS.API.CONSUMER.DURABLE.CREATE.TB_books.x',
          '_INBOX.engine.x',
          '$SYS.REQ.SERVER.PING',
        ],
      ]
      for (const subject of subjects) attacker.publish(subject, bytes('forged'))
      await attacker.flush()
      while (refused.size < subjects.length) await pause(systemClock, 10)
      assert.deepEqual([...refused].sort(), subjects.toSorted())
      assert.equal(await engine.head('books'), 0)
      assert.equal(await engine.head('trades'), 1)
      assert.deepEqual((await lease.get('leader'))?.value, bytes('one'))
      assert.deepEqual(received, [])
      await attacker.close()
    })

    test('does not allow the gateway’s user to read or send the requests and answers of the engine', async () => {
      const attacker = await knock({ user: 'gateway', pass: nats.secrets.gateway })
      const refused = refusals(attacker)
      const subjects = ['>', 'tb.>', 'tb.ask.http', 'tb.ask.quota', '_INBOX.>', '_INBOX.engine.>']
      subjects.push('$KV.>', 'tb.trades', '$SYS.>', '$JS.API.>')
      for (const subject of subjects) attacker.subscribe(subject, { callback: () => undefined })
      await attacker.flush()
      while (refused.size < subjects.length) await pause(systemClock, 10)
      assert.deepEqual([...refused].sort(), subjects.toSorted())
      await attacker.close()
    })

    test('prevents the engine’s NATS user from forging or reading messages without the cluster key', async () => {
      const attacker = await knock({ user: 'engine', pass: nats.secrets.engine })
      const lease = await engine.bucket('lease')
      await lease.put('leader', bytes('one'))
      const listened: string[] = []
      attacker.subscribe('tb.ask.http', {
        callback: (_, { data }) => void listened.push(String(data)),
      })
      await attacker.flush()
      engine.answer('http', async (body) => body)
      await engine.head('books')
      const gateway = await joined('gateway')
      await gateway.request('http', bytes('correct horse'))
      assert.equal(listened.length, 1)
      assert.equal(listened.join().includes('correct horse'), false)
      await attacker.request('$KV.TB_lease.leader', bytes('forged'))
      await attacker.request('tb.books', bytes('forged'))
      assert.equal((await lease.get('leader'))?.value, null)
      await assert.rejects(
        attacker.request('tb.ask.http', bytes('forged')).then(({ headers }) => {
          throw new Error(headers?.get('Tb-Failed'))
        }),
        /CLUSTER_KEY/,
      )
      const refused = new Promise<number>((resolve) => {
        gateway.read('books', 1, {
          onBatch: () => assert.fail('it was forged'),
          onRefused: ({ sequence }) => resolve(sequence),
        })
      })
      assert.equal(await refused, 1)
      const other = await joined('engine', {
        CLUSTER_KEY: 'another key of thirty-two bytes, or more',
      })
      assert.equal(await other.getObject('checkpoint'), null)
      for (const connection of [attacker, gateway, other]) await connection.close()
    })
  })
}
