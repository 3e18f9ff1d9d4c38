import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeBatch } from '../../../engine/cluster/batch.ts'
import {
  type ClusterLog,
  clusterBatchBytesMax,
  idOfBatch,
  type ShardName,
} from '../../../engine/cluster/cluster-log.ts'
import { type Lease, takeLease } from '../../../engine/cluster/lease.ts'
import { LogWriter, retainedBytesMax } from '../../../engine/cluster/writer.ts'
import { writeValue } from '../../../engine/msgpack-writer.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { FaultyLogServer, NO_FAULTS } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const SHARD: ShardName = 'books'
type Item = readonly [number, number | string]

class Rig {
  readonly clock = new ManualClock()
  readonly server = new FaultyLogServer(this.clock, 3)
  deposed = 0

  writer(
    log: ClusterLog,
    set: { epoch?: string; windowBytes?: number; isLeading?: () => Promise<boolean> } = {},
  ): LogWriter<Item> {
    return new LogWriter<Item>({
      ...{
        log,
        epoch: 'run',
        term: 1,
        clock: this.clock,
        logger: silentLog,
        metrics: new Metrics(),
      },
      encode: (to, item) => writeValue(to, item),
      missing: (fromBatch) => [17, fromBatch],
      isLeading: async () => true,
      onDeposed: () => {
        this.deposed += 1
      },
      ...set,
    })
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10)
      await nextTurn()
    }
  }

  /** Advances the clock until the promise settles. */
  async waited<Value>(promise: Promise<Value>): Promise<Value> {
    let isDone = false
    const done = promise.finally(() => {
      isDone = true
    })
    while (!isDone) await this.pass(10)
    return done
  }

  get batches() {
    const { batches } = this.server.shard(SHARD)
    return [...batches.keys()]
      .sort((one, other) => one - other)
      .map((sequence) => {
        const batch = decodeBatch(batches.get(sequence) ?? new Uint8Array())
        assert.ok(batch !== null)
        return batch
      })
  }

  get numbers(): readonly unknown[] {
    return this.batches.flatMap(({ items }) => items.map(([, number]) => number))
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test('writes one batch of at most 512 KiB per shard and tick, and combines ticks within a millisecond into one batch', async () => {
  const rig = new Rig()
  const writer = rig.writer(rig.server.connect())
  for (const number of upTo(3)) {
    writer.put(SHARD, [0, number], { channel: 'orderbook', offset: number + 7 })
  }
  writer.put('trades', [0, 99])
  await rig.pass(20)
  writer.put(SHARD, [0, 3])
  await rig.pass(400)
  assert.deepEqual(
    rig.batches.map(({ batch, items, offsets }) => ({ batch, count: items.length, offsets })),
    [
      { batch: 1, count: 3, offsets: [{ channel: 'orderbook', first: 7, last: 9 }] },
      { batch: 2, count: 1, offsets: [] },
    ],
  )
  // The first batch is sent at once. The next four ticks lie within a millisecond and share a batch.
  const ticks = rig.writer(rig.server.connect(), { epoch: 'turns' })
  for (const number of upTo(5)) {
    ticks.put('hooks', [0, number])
    rig.clock.advance(0.2)
    await nextTurn()
  }
  await rig.pass(400)
  const { batches } = rig.server.shard('hooks')
  assert.deepEqual(
    [...batches.values()].map((bytes) => decodeBatch(bytes)?.items.map(([, number]) => number)),
    [[0], [1, 2, 3, 4]],
  )
  assert.equal(rig.server.shard('trades').last, 1)
  assert.deepEqual(
    writer.positions().find(({ shard }) => shard === SHARD),
    { shard: SHARD, sequence: 2, batch: 2 },
  )
  const long = 'x'.repeat(200_000)
  for (const _ of upTo(6)) writer.put(SHARD, [1, long])
  await rig.pass(400)
  assert.deepEqual(
    rig.batches.slice(2).map(({ batch, items }) => [batch, items.length]),
    [
      [3, 2],
      [4, 2],
      [5, 2],
    ],
  )
  for (const bytes of rig.server.shard(SHARD).batches.values())
    assert.ok(bytes.length <= clusterBatchBytesMax)
  writer.put(SHARD, [1, 'x'.repeat(clusterBatchBytesMax)])
  writer.put(SHARD, [0, 4])
  await rig.pass(400)
  assert.deepEqual(
    rig.batches.slice(5).map(({ batch, items }) => [batch, items]),
    [
      [
        7,
        [
          [17, 6],
          [0, 4],
        ],
      ],
    ],
    'an item too large for any batch is announced as a loss',
  )
})

test('retains the newest batches by id up to a limit in bytes, whether or not the log acknowledged them', async () => {
  const rig = new Rig()
  const log = rig.server.connect()
  const writer = rig.writer(log)
  const put = async (text: string) => {
    writer.put(SHARD, [0, text])
    await rig.pass(20)
  }
  const stored = (batch: number) => {
    const bytes = writer.batch(idOfBatch('run', SHARD, batch))
    return bytes === null ? null : decodeBatch(bytes)
  }
  await put('in the log')
  rig.server.faults = { ...NO_FAULTS, lostBatches: 1 }
  await put('not in the log')
  assert.deepEqual(stored(1)?.items, [[0, 'in the log']])
  assert.deepEqual(stored(2)?.items, [[0, 'not in the log']])
  assert.equal(stored(3), null)
  const long = 'x'.repeat(clusterBatchBytesMax / 2)
  const count = retainedBytesMax / long.length
  for (const _ of upTo(count)) await put(long)
  const present = upTo(count + 2).filter((index) => stored(index + 1) !== null)
  assert.ok(present.length >= count - 1 && present.length <= count, `${present.length}`)
  assert.equal(present.at(-1), count + 1, 'the newest batch is retained')
})

test('stores each batch once and in order despite lost batches, lost acknowledgements, delays and disconnects', async () => {
  const rig = new Rig()
  rig.server.faults = { ...NO_FAULTS, lostBatches: 0.05, lostAcks: 0.05, delayMsMax: 30 }
  const log = rig.server.connect()
  const writer = rig.writer(log)
  for (const number of upTo(400)) {
    writer.put(SHARD, [0, number])
    if (number % 150 === 100) log.setLink('down')
    if (number % 150 === 120) log.setLink('up')
    await rig.pass(10)
  }
  rig.server.faults = NO_FAULTS
  await rig.pass(30_000)
  assert.deepEqual(rig.numbers, upTo(400))
  assert.deepEqual(
    rig.batches.map(({ batch }) => batch),
    upTo(rig.batches.length).map((index) => index + 1),
  )
  assert.equal(rig.deposed, 0)
})

test('drops waiting batches beyond the writer’s window, and announces the numbers of dropped batches in the next batch', async () => {
  const rig = new Rig()
  const log = rig.server.connect()
  const writer = rig.writer(log, { windowBytes: 1_000 })
  writer.put(SHARD, [0, 0])
  await rig.pass(400)
  log.setLink('down')
  for (const number of upTo(100)) {
    writer.put(SHARD, [0, number + 1])
    await rig.pass(10)
  }
  log.setLink('up')
  await rig.pass(2_000)
  writer.put(SHARD, [0, 101])
  await rig.pass(2_000)
  const { batches } = rig
  assert.equal(batches.at(-1)?.items.at(-1)?.[1], 101)
  const second = batches[1]
  assert.ok(second !== undefined && second.batch > 2, 'batch numbers are skipped')
  assert.equal(second.items[0]?.[0], 17, 'the batch announces the skipped numbers')
  assert.ok(rig.numbers.length < 100)
})

test('writes nothing after the engine was deposed, and reports the loss of leadership once', async () => {
  const rig = new Rig()
  rig.server.faults = { ...NO_FAULTS, delayMsMax: 20 }
  const [one, other] = [rig.server.connect(), rig.server.connect()]
  const lead = async (log: ClusterLog, holder: string): Promise<Lease> => {
    const bucket = await rig.waited(log.bucket('lease'))
    const parts = { bucket, holder, clock: rig.clock, log: silentLog }
    const lease = await rig.waited(takeLease(parts, new AbortController().signal))
    assert.ok(lease !== null)
    return lease
  }
  const first = await lead(one, 'one')
  const writer = rig.writer(one, { isLeading: () => first.isHeld() })
  writer.put(SHARD, [0, 1])
  await rig.pass(1_000)
  // The suspended process runs no code, so the lease is not renewed.
  one.setLink('down')
  const second = await lead(other, 'other')
  assert.ok(second.term > first.term)
  const next = rig.writer(other, { epoch: 'next', isLeading: () => second.isHeld() })
  next.put(SHARD, [0, 2])
  await rig.pass(1_000)
  one.setLink('up')
  for (const number of [3, 5, 7]) {
    writer.put(SHARD, [0, number])
    next.put(SHARD, [0, number + 1])
    await rig.pass(1_000)
  }
  assert.deepEqual(rig.numbers, [1, 2, 4, 6, 8])
  assert.equal(rig.deposed, 1)
})

test('continues to write as leader after the log lost its newest batches', async () => {
  const rig = new Rig()
  const writer = rig.writer(rig.server.connect())
  for (const number of upTo(10)) {
    writer.put(SHARD, [0, number])
    await rig.pass(300)
  }
  rig.server.forget(SHARD, 4)
  for (const number of [10, 11]) {
    writer.put(SHARD, [0, number])
    await rig.pass(1_000)
  }
  assert.deepEqual(rig.numbers, [0, 1, 2, 3, 4, 5, 10, 11])
  assert.deepEqual(
    rig.batches.map(({ batch }) => batch),
    [1, 2, 3, 4, 5, 6, 11, 12],
    'a reader sees the lost batches as a gap in the numbers',
  )
  assert.equal(rig.deposed, 0)
})
