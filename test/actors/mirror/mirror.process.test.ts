// The log between engine and mirror has faults. The mirror's views are compared with the engine's.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Mirror, type MirrorFault } from '../../../actors/mirror/mirror.ts'
import type { BookView } from '../../../actors/views.ts'
import { encodeBatch } from '../../../engine/cluster/batch.ts'
import { decodeCheckpoint } from '../../../engine/cluster/checkpoint.ts'
import { Follower, type FollowFault } from '../../../engine/cluster/follower.ts'
import type { Update } from '../../../engine/events.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import { NO_FAULTS } from '../../support/fakes/faulty-log.ts'
import { openRecordedWorld, type RecordedWorld } from '../../support/rigs/recorded-world.ts'
import { NAMES, NOON } from '../../support/worlds/builders.ts'

const NO_INDEX = {
  put: () => undefined,
  remove: () => undefined,
  find: async () => new Uint32Array(0),
}

const world = await openRecordedWorld('mirror')
after(() => world.settle(world.engine.stop()))

async function follow(t: TestContext, { clock, server, settle }: RecordedWorld) {
  const bytes = server.objects.get('checkpoint')
  const checkpoint = bytes === undefined ? null : decodeCheckpoint(bytes)
  assert.ok(checkpoint !== null)
  const faults: (MirrorFault | FollowFault)[] = []
  const published: Update[] = []
  const onFault = (fault: MirrorFault | FollowFault) => void faults.push(fault)
  const parts = { clock, metrics: new Metrics(), names: NAMES, log: silentLog, index: NO_INDEX }
  const mirror = new Mirror(checkpoint, { ...parts, onFault })
  await mirror.load(checkpoint)
  const offsets = { ...checkpoint.offsets }
  mirror.publisher.watch({ name: 'recorder', onUpdate: (update) => published.push(update) })
  const follower = new Follower({
    ...{ log: server.connect(), clock, metrics: parts.metrics, from: checkpoint },
    sink: {
      take: (shard, items) => mirror.take(shard, items),
      recall: (epoch, items) => mirror.recall(epoch, items),
      onFault,
    },
  })
  t.after(() => follower.stop())
  const isReady = await settle(follower.start())
  const requestCount = () =>
    parts.metrics.count(
      'cluster_batches_asked_total',
      'Batches missing from the log and requested from the engine.',
    ).value
  return { mirror, follower, faults, published, offsets, isReady, requestCount }
}

type Following = Awaited<ReturnType<typeof follow>>

async function caughtUp(
  { clock, engine }: RecordedWorld,
  { mirror, faults }: Following,
): Promise<void> {
  const channels = ['orderbook', 'trades', 'prices', 'lifecycle'] as const
  for (let check = 0; check < 20_000 && faults.length === 0; check += 1) {
    const isEqual = channels.every(
      (channel) => mirror.publisher.offset(channel) === engine.engine.publisher.offset(channel),
    )
    const areFigured = [...engine.engine.catalog.markets(null)].every(
      ({ ref, figures }) =>
        mirror.catalog.find(ref.id)?.figures.figuresAtMs === figures.figuresAtMs,
    )
    if (isEqual && areFigured && mirror.waiting === 0) return
    await nextTurn()
    clock.advance(1)
  }
}

function assertSame({ engine }: RecordedWorld, { mirror }: Following): void {
  const { catalog, publisher } = engine.engine
  assert.equal(mirror.catalog.marketCount, catalog.marketCount)
  for (const market of catalog.markets(null)) {
    const mirrored = mirror.catalog.find(market.ref.id)
    assert.ok(mirrored !== null, market.ref.id)
    assert.deepEqual(mirrored.ref, market.ref)
    // The times of an unchanged book differ, because the engine publishes only changes.
    const [{ receivedAtMs, venueTimeMs: _, ...book }, own] = [mirrored.book(), market.book()]
    assert.deepEqual(book, withoutTimes(own), market.ref.id)
    assert.ok((receivedAtMs ?? 0) <= (own.receivedAtMs ?? 0))
    assert.deepEqual(mirrored.price(), market.price(), market.ref.id)
    assert.deepEqual(mirrored.summary, market.summary)
    assert.deepEqual({ ...mirrored.figures }, { ...market.figures }, market.ref.id)
    assert.equal(mirrored.volumeTotal, market.volumeTotal)
    for (const channel of ['trades', 'prices', 'lifecycle'] as const) {
      const stamp = publisher.latest(channel, market.ref.number)
      assert.deepEqual(mirror.publisher.latest(channel, market.ref.number), stamp)
    }
  }
}

function withoutTimes({ receivedAtMs: _, venueTimeMs: __, ...book }: BookView) {
  return book
}

test('serves the same data as the engine when replication batches arrive late, twice or out of order', async (t) => {
  world.server.faults = NO_FAULTS
  await world.play(60)
  await world.settle(world.engine.checkpoint())
  world.server.faults = { ...NO_FAULTS, lostAcks: 0.1, repeats: 0.2, swaps: 0.1, delayMsMax: 20 }
  await world.play(30)
  const following = await follow(t, world)
  assert.equal(following.isReady, true)
  await world.play(100)
  await caughtUp(world, following)
  assert.deepEqual(following.faults, [])
  assertSame(world, following)
})

test('publishes the updates of all replication shards once and in the engine’s order', async (t) => {
  world.server.faults = NO_FAULTS
  await world.play(30)
  await world.settle(world.engine.checkpoint())
  const before = world.engine.published.length
  const following = await follow(t, world)
  world.server.faults = { ...NO_FAULTS, repeats: 0.2, swaps: 0.1, delayMsMax: 30 }
  await world.play(150)
  await caughtUp(world, following)
  const expected = world.engine.published.slice(before)
  const name = (update: Update) =>
    'offset' in update ? `${update.kind} ${update.offset} ${update.seq}` : update.kind
  // Only the order within a channel is guaranteed.
  for (const kind of ['book', 'trade', 'price', 'bookReplaced'] as const) {
    const of = (updates: readonly Update[]) => updates.filter((one) => one.kind === kind).map(name)
    assert.deepEqual(of(following.published), of(expected), kind)
    assert.ok(kind === 'bookReplaced' || of(expected).length > 3, kind)
  }
  for (const venue of NAMES.keys) {
    const books = (updates: readonly Update[]) =>
      updates.filter(
        (one) => /^(book|price)/.test(one.kind) && 'market' in one && one.market?.venue === venue,
      )
    assert.deepEqual(
      books(following.published).map(name),
      books(expected).map(name),
      'of one shard',
    )
  }
})

test('replays a loss that was announced earlier once to streams that resume from before the loss', async (t) => {
  world.server.faults = NO_FAULTS
  const { publisher, view } = world.engine.engine
  const lose = (fromMs: number) => {
    const where = { market: null, venue: 'a', platform: 'venue_a', count: null } as const
    const times = { fromMs: timeMs(fromMs), toMs: timeMs(fromMs + 5) }
    publisher.publish({ kind: 'gap', channel: 'trades', ...where, ...times })
  }
  lose(NOON)
  await world.play(20)
  // The loss is in the checkpoint, and again in the log after the checkpoint.
  lose(NOON + 100)
  await world.settle(world.engine.checkpoint())
  const following = await follow(t, world)
  lose(NOON + 200)
  await world.play(10)
  await caughtUp(world, following)
  const { number: run } = view.tradeLog.runs().at(-1) ?? { number: 0 }
  const losses = (of: typeof view.tradeLog, offset: number) =>
    of
      .losses({ run, offset })
      .map(({ venue, market, fromMs, toMs }) => [venue, market, fromMs, toMs])
  assert.equal(losses(following.mirror.tradeLog, 0).length, 3)
  assert.deepEqual(losses(following.mirror.tradeLog, 0), losses(view.tradeLog, 0))
  const newest = publisher.offset('trades') + 1
  assert.deepEqual(losses(following.mirror.tradeLog, newest), [])
})

test('requests a missing replication batch from the engine and publishes updates in the original order', async (t) => {
  world.server.faults = NO_FAULTS
  await world.play(20)
  await world.settle(world.engine.checkpoint())
  const before = world.engine.published.length
  const following = await follow(t, world)
  world.server.faults = { ...NO_FAULTS, holes: 0.2, repeats: 0.1, swaps: 0.1, delayMsMax: 20 }
  await world.play(150)
  world.server.faults = NO_FAULTS
  await world.play(10)
  await caughtUp(world, following)
  assert.deepEqual(following.faults, [])
  assertSame(world, following)
  assert.ok(following.requestCount() > 10, `${following.requestCount()} were asked for`)
  const numbers = (kind: Update['kind'], updates: readonly Update[]) =>
    updates.flatMap((update) => (update.kind === kind && 'offset' in update ? [update.offset] : []))
  for (const kind of ['book', 'trade', 'price'] as const) {
    const expected = numbers(kind, world.engine.published.slice(before))
    assert.deepEqual(numbers(kind, following.published), expected, kind)
  }
})

test('fails when a replication batch does not arrive, and publishes no later batches', async (t) => {
  world.server.faults = NO_FAULTS
  await world.play(20)
  await world.settle(world.engine.checkpoint())
  const following = await follow(t, world)
  await world.play(20)
  await caughtUp(world, following)
  world.server.faults = { ...NO_FAULTS, holes: 0.2 }
  await world.play(30)
  world.engine.batches.clear()
  await caughtUp(world, following)
  for (let second = 0; second < 40 && following.faults.length === 0; second += 1) {
    await nextTurn()
    world.clock.advance(250)
    following.mirror.checkStall()
  }
  assert.ok(following.faults.length >= 1)
  assert.ok(['batch_missing', 'stalled'].includes(following.faults[0] ?? ''), following.faults[0])
  const count = following.published.length
  await world.play(5)
  assert.equal(following.published.length, count, 'nothing is published after the gap')
})

test('ignores replication batches of a former leader, and stops when batches of a later epoch arrive', async (t) => {
  world.server.faults = NO_FAULTS
  await world.play(20)
  await world.settle(world.engine.checkpoint())
  const following = await follow(t, world)
  const log = world.server.connect()
  const write = async (epoch: string, term: number) => {
    const header = { epoch, term, batch: 1, offsets: [], count: 0 }
    const bytes = encodeBatch(header, new Uint8Array(0))
    const after = await log.head('trades')
    await log.publish('trades', { bytes, id: epoch, after })
    await nextTurn()
    world.clock.advance(50)
  }
  await write('e0', 0)
  assert.deepEqual(following.faults, [])
  await write('e2', 2)
  for (let check = 0; check < 100 && following.faults.length === 0; check += 1) {
    await nextTurn()
    world.clock.advance(10)
  }
  assert.deepEqual(following.faults, ['new_epoch'])
})
