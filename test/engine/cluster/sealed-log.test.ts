// An attacker can read and write the log, but does not have CLUSTER_KEY.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeBatch } from '../../../engine/cluster/batch.ts'
import {
  answersMax,
  type BucketEntry,
  type ClusterLog,
  LogError,
} from '../../../engine/cluster/cluster-log.ts'
import { Follower } from '../../../engine/cluster/follower.ts'
import { takeLease } from '../../../engine/cluster/lease.ts'
import { SealedLog, sealedMessageAgeMsMax } from '../../../engine/cluster/sealed-log.ts'
import { type Log, silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import { clusterLogContract } from '../../contract/cluster-log.ts'
import { FaultyLogServer } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const KEY = 'of a cluster under test, 32 bytes or more'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (some: Uint8Array | null | undefined): string =>
  Buffer.from(some ?? Buffer.of()).toString()

class Rig {
  readonly clock = new ManualClock()
  readonly server = new FaultyLogServer(this.clock)
  readonly attacker = this.server.connect()
  readonly metrics = new Metrics()
  readonly warned: string[] = []

  join(clusterKey = KEY): SealedLog {
    const log: Log = {
      ...silentLog,
      warn: (...reported: unknown[]) => this.warned.push(String(reported[1])),
    }
    const { clock, metrics } = this
    return new SealedLog(this.server.connect(), { clusterKey, clock, log, metrics })
  }

  async refused(kind: string, why: string): Promise<number> {
    const all = (await this.metrics.registry.getMetricsAsJSON()).find(
      ({ name }) => name === 'cluster_refused_total',
    )
    const found = all?.values.find(({ labels }) => labels.kind === kind && labels.why === why)
    return found?.value ?? 0
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10)
      await nextTurn()
    }
  }

  /** Advances the clock until the promise settles. */
  async done<Value>(promise: Promise<Value>): Promise<Value> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    promise.then(over, over)
    while (!isOver) await this.pass(10)
    return promise
  }
}

clusterLogContract('sealed', async (t) => {
  const clock = new ManualClock()
  const server = new FaultyLogServer(clock)
  let isOver = false
  t.after(() => {
    isOver = true
  })
  void (async () => {
    for (; !isOver; await nextTurn()) clock.advance(1)
  })()
  const parts = { clusterKey: KEY, clock, log: silentLog, metrics: new Metrics() }
  return [new SealedLog(server.connect(), parts), new SealedLog(server.connect(), parts)]
})

const header = { epoch: 'own', term: 1_000, batch: 1, offsets: [], count: 0 }
const batch = encodeBatch(header, new Uint8Array())

test('skips and counts batches that were written without the cluster key, and reports their sequences', async () => {
  const rig = new Rig()
  const [engine, gateway] = [rig.join(), rig.join()]
  const read: string[] = []
  const sync = gateway.read('books', 1, {
    onBatch: ({ sequence }) => void read.push(`batch ${sequence}`),
    onRefused: ({ sequence }) => void read.push(`refused ${sequence}`),
  })
  await rig.done(engine.publish('books', { bytes: batch, id: '1', after: 0 }))
  const forged = [batch, Buffer.of(), rig.server.shard('books').batches.get(1) ?? batch]
  for (const [index, one] of forged.slice(0, 2).entries()) {
    await rig.attacker.publish('books', { bytes: one, id: `forged ${index}`, after: index + 1 })
  }
  await rig.done(
    rig
      .join('another key of thirty-two bytes, or more')
      .publish('books', { bytes: batch, id: '4', after: 3 }),
  )
  await rig.pass(100)
  assert.deepEqual(read, ['batch 1', 'refused 2', 'refused 3', 'refused 4'])
  assert.equal(await rig.refused('batch', 'forged'), 3)
  assert.equal(rig.warned.length, 1, 'one line a minute')
  // The batch has a valid signature but belongs to another shard.
  await rig.attacker.publish('trades', { bytes: forged[2] ?? batch, id: 'moved', after: 0 })
  const trades = gateway.read('trades', 1, {
    onBatch: () => void read.push('moved'),
    onRefused: () => void read.push('refused'),
  })
  await rig.pass(100)
  assert.equal(read.at(-1), 'refused')
  await Promise.all([sync.stop(), trades.stop()])
})

test('continues to read after batches that were written without the cluster key, even if the newest batch is among them', async () => {
  const rig = new Rig()
  const [engine, gateway] = [rig.join(), rig.join()]
  await rig.attacker.publish('books', { bytes: batch, id: 'forged', after: 0 })
  await rig.attacker.publish('trades', { bytes: batch, id: 'forged', after: 0 })
  const faults: string[] = []
  const taken: string[] = []
  const { batch: _, count: __, offsets: ___, ...own } = header
  const follower = new Follower({
    ...{ log: gateway, clock: rig.clock, metrics: rig.metrics },
    from: {
      ...{ ...own, takenAtMs: timeMs(0), recordsSinceMs: timeMs(0), runs: [], names: [] },
      ...{ losses: [], offsets: {}, version: 0, count: 0, shards: [] },
    },
    sink: {
      take: (shard) => void taken.push(shard),
      recall: () => undefined,
      onFault: (fault) => void faults.push(fault),
    },
  })
  assert.equal(await rig.done(follower.start()), true)
  await rig.done(engine.publish('books', { bytes: batch, id: '1', after: 1 }))
  await rig.attacker.publish('books', { bytes: Buffer.of(1), id: 'forged again', after: 2 })
  await rig.pass(10_000)
  assert.deepEqual([taken, faults], [['books'], []])
  await follower.stop()
})

test('returns no checkpoint that was written without the cluster key', async () => {
  const rig = new Rig()
  const [engine, gateway] = [rig.join(), rig.join()]
  await rig.done(engine.putObject('checkpoint', bytes('whole')))
  assert.equal(textOf(await rig.done(gateway.getObject('checkpoint'))), 'whole')
  await rig.attacker.putObject('checkpoint', bytes('forged, of more than sixteen bytes'))
  assert.equal(await rig.done(gateway.getObject('checkpoint')), null)
  assert.equal(await rig.refused('object', 'forged'), 1)
})

test('hides the content of records from clients without the cluster key', async () => {
  const rig = new Rig()
  const accounts = await rig.done(rig.join().bucket('accounts'))
  await accounts.put('account.1', bytes('hash of a password'))
  const shown = await (await rig.attacker.bucket('accounts')).get('account.1')
  assert.equal(textOf(shown?.value).includes('password'), false)
})

test('rejects records that a client without the cluster key forged, moved, replayed or removed', async () => {
  const rig = new Rig()
  const forging = await rig.attacker.bucket('accounts')
  const accounts = await rig.done(rig.join().bucket('accounts'))
  const watching = await rig.done(rig.join().bucket('accounts'))
  const seen: string[] = []
  const logLine = ({ key, value }: BucketEntry) =>
    `${key} ${value === null ? 'removed' : textOf(value)}`
  await watching.watch({
    onEntry: (entry) => void seen.push(logLine(entry)),
    onSnapshotEnd: () => undefined,
    onRefused: (key) => void seen.push(`${key} refused`),
  })
  await accounts.put('account.1', bytes('free'))
  const old = (await forging.get('account.1'))?.value ?? assert.fail('it is there')
  await accounts.put('account.1', bytes('closed'))
  await forging.put('account.1', old)
  await forging.put('account.2', old)
  await forging.put('account.1', bytes('pro'))
  await forging.remove('account.1')
  await accounts.remove('account.1')
  await forging.put('account.1', old)
  assert.deepEqual(seen, [
    ...['account.1 free', 'account.1 closed', 'account.1 refused', 'account.2 refused'],
    ...['account.1 refused', 'account.1 refused', 'account.1 removed', 'account.1 refused'],
  ])
  assert.equal((await watching.get('account.1'))?.value, null)
  assert.equal(await rig.refused('record', 'old'), 3)
})

test('accepts a record change by an engine whose clock is behind the previous writer’s clock', async () => {
  const rig = new Rig()
  rig.clock.advance(60_000)
  const one = await rig.done(rig.join().bucket('accounts'))
  await one.put('account.1', bytes('before'))
  const late = new ManualClock()
  const parts = { clusterKey: KEY, clock: late, log: silentLog, metrics: rig.metrics }
  const other = await rig.done(new SealedLog(rig.server.connect(), parts).bucket('accounts'))
  assert.equal(textOf((await other.get('account.1'))?.value), 'before')
  await other.put('account.1', bytes('after'))
  assert.equal(textOf((await one.get('account.1'))?.value), 'after')
})

test('does not depose the leader when a client without the cluster key writes the record of the lease', async () => {
  const rig = new Rig()
  const deposed: string[] = []
  const leaders: string[] = []
  for (const holder of ['one', 'two']) {
    const bucket = await rig.done(rig.join().bucket('lease'))
    const parts = { bucket, holder, clock: rig.clock, log: silentLog }
    void takeLease(parts, new AbortController().signal).then((lease) => {
      leaders.push(holder)
      lease?.startRenewing(() => void deposed.push(holder))
    })
    await rig.pass(100)
  }
  const forging = await rig.attacker.bucket('lease')
  const old = (await forging.get('leader'))?.value ?? assert.fail('it is there')
  for (const value of [bytes('x'), old, bytes('y'), old]) {
    await rig.pass(2_000)
    await forging.put('leader', value)
  }
  await rig.pass(2_000)
  await forging.remove('leader')
  await rig.pass(20_000)
  assert.deepEqual([leaders, deposed], [['one'], []])
})

test('answers each recent request from the same cluster once', async () => {
  const rig = new Rig()
  const gateway = rig.join()
  await rig.pass(1_000)
  const engine = rig.join()
  const requested: string[] = []
  engine.answer('http', async (body) => {
    requested.push(textOf(body))
    return bytes('done')
  })
  const sent: Uint8Array[] = []
  const { request: ask } = rig.attacker
  const inner = rig.server.connect()
  inner.request = (subject, body) => {
    sent.push(body)
    return ask.call(rig.attacker, subject, body)
  }
  const parts = { clusterKey: KEY, clock: rig.clock, log: silentLog, metrics: rig.metrics }
  const tapped = new SealedLog(inner, parts)
  assert.equal(textOf(await tapped.request('http', bytes('password'))), 'done')
  const [request = bytes('')] = sent
  assert.equal(textOf(request).includes('password'), false)
  const refuses = (log: ClusterLog, body: Uint8Array) =>
    assert.rejects(rig.done(log.request('http', body)), LogError)
  await refuses(rig.attacker, request)
  await refuses(rig.attacker, bytes('password'))
  await rig.pass(sealedMessageAgeMsMax + 1_000)
  await refuses(rig.attacker, request)
  // An engine that started later does not know which requests were answered before.
  assert.equal(textOf(await tapped.request('http', bytes('second'))), 'done')
  await rig.pass(10)
  rig.join().answer('http', async () => assert.fail('it was sent to the engine before'))
  await refuses(rig.attacker, sent.at(-1) ?? request)
  assert.deepEqual(requested, ['password', 'second'])
  const counts = ['forged', 'repeat', 'old'].map((why) => rig.refused('request', why))
  assert.deepEqual(await Promise.all(counts), [1, 1, 2])
  await gateway.close()
})

test('answers a gateway while an attacker and a second gateway send too many requests', async () => {
  const rig = new Rig()
  const [engine, busy, bystander] = [rig.join(), rig.join(), rig.join()]
  const finish: (() => void)[] = []
  engine.answer('http', (body) =>
    textOf(body) === 'short'
      ? Promise.resolve(bytes('done'))
      : new Promise((resolve) => finish.push(() => resolve(bytes('done')))),
  )
  const send = (log: ClusterLog, count: number, text: string) =>
    Array.from({ length: count }, () =>
      log.request('http', bytes(text)).then(textOf, (error: Error) => error.message),
    )
  const own = send(busy, answersMax + 1, 'long')
  const forged = send(rig.attacker, 10 * answersMax, 'forged')
  assert.match((await rig.done(Promise.race(own))) ?? '', /too many requests/)
  const short = await rig.done(Promise.all(send(bystander, answersMax / 2, 'short')))
  assert.deepEqual(new Set(short), new Set(['done']))
  assert.match((await rig.done(Promise.all(forged)))[0] ?? '', /CLUSTER_KEY/)
  // The first gateway gets half of the answers while the second gateway sends requests.
  for (const end of finish.splice(0)) end()
  await rig.done(Promise.all(own))
  const retried = send(busy, answersMax, 'long')
  await rig.pass(10)
  assert.equal(finish.length, answersMax / 2)
  for (const end of finish.splice(0)) end()
  await rig.done(Promise.all(retried))
  await rig.pass(2_000)
  const alone = send(busy, answersMax, 'short')
  assert.deepEqual(new Set(await rig.done(Promise.all(alone))), new Set(['done']))
})

test('rejects an answer that belongs to a different request', async () => {
  const rig = new Rig()
  const [gateway, engine] = [rig.join(), rig.join()]
  let answer: Uint8Array = bytes('forged')
  rig.attacker.answer('quota', async () => answer)
  await assert.rejects(rig.done(gateway.request('quota', bytes('x'))), LogError)
  // The attacker replays the answer to an earlier request.
  engine.answer('bars', async () => bytes('old'))
  const inner = rig.server.connect()
  const { request: ask } = rig.attacker
  inner.request = async (subject, body) => {
    answer = await ask.call(rig.attacker, subject, body)
    return answer
  }
  const parts = { clusterKey: KEY, clock: rig.clock, log: silentLog, metrics: rig.metrics }
  await rig.done(new SealedLog(inner, parts).request('bars', bytes('x')))
  rig.attacker.answer('bars', async () => answer)
  await assert.rejects(rig.done(gateway.request('bars', bytes('x'))), LogError)
  assert.equal(await rig.refused('answer', 'forged'), 2)
})

test('delivers each announcement from the same cluster once', async () => {
  const rig = new Rig()
  const gateway = rig.join()
  const received: string[] = []
  gateway.subscribe('revoked', (body) => void received.push(textOf(body)))
  const sent: Uint8Array[] = []
  rig.attacker.subscribe('revoked', (body) => void sent.push(body))
  const engine = rig.join()
  engine.announce('revoked', bytes('key_1'))
  engine.announce('revoked', bytes('key_2'))
  await rig.pass(10)
  for (const one of [...sent]) rig.attacker.announce('revoked', one)
  rig.attacker.announce('revoked', bytes('key_3'))
  for (const one of sent.slice(0, 1)) rig.attacker.announce('tickets', one)
  gateway.subscribe('tickets', (body) => void received.push(textOf(body)))
  await rig.pass(10)
  assert.deepEqual(received, ['key_1', 'key_2'])
  assert.equal(await rig.refused('announcement', 'repeat'), 2)
  assert.equal(await rig.refused('announcement', 'forged'), 1)
})
