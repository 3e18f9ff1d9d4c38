import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeBatch, type RawItem } from '../../../engine/cluster/batch.ts'
import { marketShards } from '../../../engine/cluster/cluster-log.ts'
import { Follower, type FollowFault } from '../../../engine/cluster/follower.ts'
import { MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import { FaultyLogServer } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const TERM = 1_000

function batchOf(set: { epoch: string; term: number; batch: number; value: number }): Uint8Array {
  const { value, ...header } = set
  const writer = new MsgpackWriter()
  writer.begin()
  writer.array(2)
  writer.integer(1)
  writer.integer(value)
  return encodeBatch({ ...header, offsets: [], count: 1 }, writer.end())
}

class Rig {
  readonly clock = new ManualClock()
  readonly server = new FaultyLogServer(this.clock)
  readonly log = this.server.connect()
  readonly taken: RawItem[] = []
  readonly recalled: RawItem[] = []
  readonly faults: FollowFault[] = []

  /** Follows the run `own` from a checkpoint that contains its first `batches` batches. */
  async follow(batches: number): Promise<Follower> {
    const follower = new Follower({
      log: this.log,
      clock: this.clock,
      metrics: new Metrics(),
      from: {
        epoch: 'own',
        term: TERM,
        takenAtMs: timeMs(0),
        recordsSinceMs: timeMs(0),
        runs: [],
        names: [],
        losses: [],
        offsets: {},
        version: 0,
        count: 0,
        shards: marketShards.map((shard) => ({ shard, sequence: batches, batch: batches })),
      },
      sink: {
        take: (_, items) => void this.taken.push(...items),
        recall: (_, items) => void this.recalled.push(...items),
        onFault: (fault) => void this.faults.push(fault),
      },
    })
    const started = follower.start()
    await this.pass(100)
    await started
    return follower
  }

  async write(set: { epoch?: string; term?: number; batch: number; value: number }): Promise<void> {
    const after = await this.log.head('trades')
    const id = `${set.epoch ?? 'own'}:trades:${set.batch}:${after}`
    const bytes = batchOf({ epoch: 'own', term: TERM, ...set })
    await this.log.publish('trades', { bytes, id, after })
    await this.pass(10)
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10)
      await nextTurn()
    }
  }
}

test('delivers batches of the current run when the log lost its data and its sequences restart at 1', async () => {
  const rig = new Rig()
  for (const batch of [1, 2, 3]) {
    await rig.write({ batch, value: batch })
    await rig.log.publish('books', {
      bytes: batchOf({ epoch: 'own', term: TERM, batch, value: 0 }),
      id: `books ${batch}`,
      after: batch - 1,
    })
  }
  const follower = await rig.follow(3)
  assert.deepEqual(rig.recalled.length, 3)
  rig.server.loseData()
  await rig.write({ batch: 4, value: 4 })
  await rig.write({ batch: 5, value: 5 })
  assert.deepEqual(rig.taken, [
    [1, 4],
    [1, 5],
  ])
  assert.deepEqual(rig.faults, [])
  await follower.stop()
})

test('delivers a batch once when the log contains the batch several times', async () => {
  const rig = new Rig()
  const follower = await rig.follow(0)
  for (const [batch, value] of [
    [1, 1],
    [1, 1],
    [2, 2],
    [1, 1],
    [2, 2],
  ] as const) {
    await rig.write({ batch, value })
  }
  assert.deepEqual(rig.taken, [
    [1, 1],
    [1, 2],
  ])
  assert.deepEqual(rig.faults, [])
  await follower.stop()
})

test('ends with new_epoch when the log lost its data and a later run writes to the log', async () => {
  const rig = new Rig()
  for (const batch of [1, 2, 3]) await rig.write({ batch, value: batch })
  const follower = await rig.follow(0)
  rig.server.loseData()
  await rig.write({ epoch: 'next', term: TERM + 5, batch: 1, value: 9 })
  assert.deepEqual(rig.faults, ['new_epoch'])
  await follower.stop()
})

test('ends when it must discard all batches that arrive', async () => {
  const rig = new Rig()
  const follower = await rig.follow(0)
  await rig.write({ batch: 1, value: 1 })
  const heardAtMs = follower.receivedAtMs
  await rig.write({ epoch: 'earlier', term: TERM - 1, batch: 7, value: 7 })
  assert.equal(follower.receivedAtMs, heardAtMs)
  await rig.write({ batch: 2, value: 2 })
  await rig.pass(1_000)
  assert.deepEqual(rig.faults, [], 'the leader is there')
  for (const batch of [8, 9, 10, 11]) {
    await rig.write({ epoch: 'earlier', term: TERM - 1, batch, value: batch })
    await rig.pass(1_000)
  }
  assert.deepEqual(rig.faults, ['leader_lost'])
  assert.deepEqual(rig.taken, [
    [1, 1],
    [1, 2],
  ])
  await follower.stop()
})
