// Contract of every cluster log.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type BucketEntry,
  type ClusterLog,
  type Delivered,
  LogError,
  type LogFailure,
} from '../../engine/cluster/cluster-log.ts'

/** Both connections belong to one empty log. */
export type OpenLogs = (t: TestContext) => Promise<readonly [ClusterLog, ClusterLog]>

const SHARD = 'books'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (some: Uint8Array | null): string => new TextDecoder().decode(some ?? undefined)
const failsWith = (reason: LogFailure) => (error: unknown) =>
  error instanceof LogError && error.reason === reason

/** Resolves with the first `count` batches from a sequence number on. */
async function firstOf(
  log: ClusterLog,
  from: number,
  count: number,
): Promise<readonly Delivered[]> {
  const batches: Delivered[] = []
  let finish: () => void = () => undefined
  const isComplete = new Promise<void>((resolve) => {
    finish = resolve
  })
  const sync = log.read(SHARD, from, {
    onBatch(batch) {
      batches.push({ ...batch, bytes: Uint8Array.from(batch.bytes) })
      if (batches.length === count) finish()
    },
  })
  await isComplete
  await sync.stop()
  return batches
}

export function clusterLogContract(name: string, open: OpenLogs): void {
  const publish = (log: ClusterLog, batch: string, after: number) =>
    log.publish(SHARD, { bytes: bytes(batch), id: batch, after })

  test(`${name}: appends batches in order, stores a repeated batch id once, and reads from any sequence number`, async (t) => {
    const [writer, reader] = await open(t)
    assert.equal(await writer.head(SHARD), 0)
    const given = await Promise.all(
      Array.from({ length: 40 }, (_, index) => publish(writer, `batch ${index}`, index)),
    )
    assert.deepEqual(
      given,
      Array.from({ length: 40 }, (_, index) => index + 1),
    )
    assert.equal(await publish(writer, 'batch 39', 40), 40, 'the same id gives the same sequence')
    assert.equal(await reader.head(SHARD), 40)
    const read = await firstOf(reader, 31, 10)
    assert.deepEqual(
      read.map(({ sequence, bytes: got }) => `${sequence} ${text(got)}`),
      Array.from({ length: 10 }, (_, index) => `${index + 31} batch ${index + 30}`),
    )
    assert.equal(read.at(-1)?.behind, 0)
  })

  test(`${name}: rejects a write of a superseded writer, and a change based on an older version of a record`, async (t) => {
    const [one, other] = await open(t)
    await publish(one, 'first', 0)
    await publish(other, 'second', 1)
    await assert.rejects(publish(one, 'late', 1), failsWith('fenced'))
    assert.equal(await one.head(SHARD), 2)
    const [mine, theirs] = [await one.bucket('lease'), await other.bucket('lease')]
    const revision = await mine.replace('leader', bytes('one'), 0)
    await assert.rejects(theirs.replace('leader', bytes('two'), 0), failsWith('changed'))
    await theirs.replace('leader', bytes('two'), revision)
    await assert.rejects(mine.replace('leader', bytes('one'), revision), failsWith('changed'))
    assert.equal(text((await mine.get('leader'))?.value ?? null), 'two')
    await mine.remove('leader')
    assert.equal(await theirs.get('leader'), null)
    await theirs.replace('leader', bytes('three'), 0)
  })

  test(`${name}: sends the current records of a bucket to a new watcher, then each change and removal`, async (t) => {
    const [one, other] = await open(t)
    const [writing, watching] = [await one.bucket('accounts'), await other.bucket('accounts')]
    await writing.put('account.1', bytes('before'))
    const seen: BucketEntry[] = []
    let onSnapshotEnd: () => void = () => undefined
    let onSeen: () => void = () => undefined
    const isComplete = new Promise<void>((resolve) => {
      onSnapshotEnd = resolve
    })
    // A bucket may replace a value before the watcher receives it.
    const hasSeen = async (count: number) => {
      while (seen.length < count) {
        await new Promise<void>((resolve) => {
          onSeen = resolve
        })
      }
    }
    const watch = await watching.watch({
      onEntry(entry) {
        seen.push(entry)
        onSeen()
      },
      onSnapshotEnd,
    })
    await isComplete
    assert.deepEqual(
      seen.map(({ key, value }) => [key, text(value)]),
      [['account.1', 'before']],
    )
    await writing.put('account.1', bytes('after'))
    await hasSeen(2)
    await writing.remove('account.1')
    await hasSeen(3)
    await writing.put('account.2', bytes('last'))
    await hasSeen(4)
    assert.deepEqual(
      seen.slice(1).map(({ key, value }) => [key, value === null ? null : text(value)]),
      [
        ['account.1', 'after'],
        ['account.1', null],
        ['account.2', 'last'],
      ],
    )
    await watch.stop()
  })

  test(`${name}: stores objects of any size, answers or rejects requests, and delivers announcements to subscribers`, async (t) => {
    const [engine, gateway] = await open(t)
    assert.equal(await gateway.getObject('checkpoint'), null)
    const large = Uint8Array.from({ length: 3_000_000 }, (_, index) => index % 251)
    await engine.putObject('checkpoint', bytes('older'))
    await engine.putObject('checkpoint', large)
    assert.ok(Buffer.from(large).equals((await gateway.getObject('checkpoint')) ?? Buffer.of()))
    await assert.rejects(gateway.request('http', bytes('x')), failsWith('unanswered'))
    const answering = engine.answer('http', async (body) => {
      if (text(body) === 'bad') throw new Error('refused')
      return bytes(`${text(body)} answered`)
    })
    // A later answer on each connection shows that the server processed both subscriptions.
    await engine.head(SHARD)
    assert.equal(text(await gateway.request('http', bytes('this'))), 'this answered')
    await assert.rejects(gateway.request('http', bytes('bad')), failsWith('unanswered'))
    await answering.stop()
    await engine.head(SHARD)
    await assert.rejects(gateway.request('http', bytes('x')), failsWith('unanswered'))
    const received = new Promise<string>((resolve) => {
      gateway.subscribe('revoked', (body) => resolve(text(body)))
    })
    // The server delivers announcements only to processed subscriptions, so each side waits for an answer first.
    await gateway.head(SHARD)
    engine.announce('revoked', bytes('key_1'))
    assert.equal(await received, 'key_1')
  })
}
