// The log between leader and standby has faults. The standby's tables are compared with the leader's.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Standby } from '../../../actors/cluster/standby.ts'
import { encodeBatch } from '../../../engine/cluster/batch.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { TIME_END, TIME_ZERO } from '../../../engine/units.ts'
import { ClusterWebhooks } from '../../../storage/cluster-webhooks.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { NO_FAULTS } from '../../support/fakes/faulty-log.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { bytesOf, RecordedEngine } from '../../support/rigs/recorded-engine.ts'
import { openRecordedWorld, type RecordedWorld } from '../../support/rigs/recorded-world.ts'
import { NAMES, trade } from '../../support/worlds/builders.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 40 : 2
const ALL = { fromMs: TIME_ZERO, toMs: TIME_END, after: null, order: 'asc', limit: 1e6 } as const

async function stand({ server, clock, settle }: RecordedWorld) {
  const log = server.connect()
  const storage: Storage = openMemoryStorage()
  const metrics = new Metrics()
  const webhooks = new ClusterWebhooks(storage.webhooks, await settle(log.bucket('webhooks')))
  const parts = { log, clock, logger: silentLog, metrics, storage, names: NAMES, webhooks }
  const standby = new Standby(parts)
  standby.start()
  return { standby, storage }
}

const idsOf = (storage: Storage) =>
  new Map([...storage.markets.all()].map(({ number, summary }) => [number, summary.nativeId]))

function tradesOf(storage: Storage) {
  const ids = idsOf(storage)
  const rows = NAMES.keys.flatMap((venue) => storage.trades.rangeOfVenue({ venue, ...ALL }))
  return new Map(
    rows.map(({ trade: { ordinal: _, run: __, ...trade }, market }) => [
      trade.nativeId,
      { ...trade, market: ids.get(market) ?? '' },
    ]),
  )
}

function barsOf(storage: Storage) {
  const requested = { size: 'minute', ...ALL } as const
  const bars = [...idsOf(storage)].map(([market, id]) => [
    id,
    storage.bars.range({ market, ...requested }),
  ])
  return Object.fromEntries(bars)
}

for (let seed = 1; seed <= SEEDS; seed += 1) {
  test(`stores the leader’s trades and bars despite a faulty log, and records missing data as lost (seed ${seed})`, async (t) => {
    const world = await openRecordedWorld(`standby ${seed}`)
    const { server, settle, play, until, clock, engine, markets } = world
    t.after(() => settle(engine.stop()))
    await play(20)
    await settle(engine.checkpoint())
    const { standby, storage } = await stand(world)
    t.after(() => settle(standby.stop()))
    const faults = { ...NO_FAULTS, lostAcks: 0.1, repeats: 0.2, swaps: 0.1, delayMsMax: 20 }
    server.faults = faults
    await play(120)
    const count = () => tradesOf(storage).size
    const led = tradesOf(engine.storage)
    assert.ok(led.size > 20)
    assert.ok(await until(() => count() >= led.size), `${count()} of ${led.size} trades`)
    assert.deepEqual(tradesOf(storage), led)
    assert.deepEqual(barsOf(storage), barsOf(engine.storage))

    // Another engine becomes leader while the first engine still writes to the log.
    const next = new RecordedEngine({ clock, markets: markets.toReversed(), epoch: 'e2', term: 2 })
    t.after(() => settle(next.stop()))
    server.faults = NO_FAULTS
    await settle(next.start(server.connect()))
    await settle(next.checkpoint())
    server.faults = faults
    await play(20, next)
    const ghost = engine.published.findLast((update) => update.kind === 'trade')
    assert.ok(ghost !== undefined)
    const unreceived = { ...ghost.trade, nativeId: 'of the deposed' }
    const item = bytesOf({ kind: 'update', update: { ...ghost, trade: unreceived }, book: null })
    const header = { epoch: engine.epoch, term: 1, batch: 10_000, offsets: [], count: 1 }
    const shard = 'trades' as const
    const deposed = server.connect()
    await settle(
      deposed
        .head(shard)
        .then((after) =>
          deposed.publish(shard, { bytes: encodeBatch(header, item), id: 'deposed', after }),
        ),
    )
    await play(60, next)
    const both = new Map([...led, ...tradesOf(next.storage)])
    assert.ok(both.size > led.size + 10)
    assert.ok(await until(() => count() >= both.size), `${count()} of ${both.size} trades`)
    assert.deepEqual(tradesOf(storage), both)

    // These batches are lost.
    server.faults = { ...faults, holes: 0.2 }
    await play(60, next)
    server.faults = NO_FAULTS
    await play(10, next)
    await until(() => standby.behind === 0)
    const complete = tradesOf(next.storage)
    const has = tradesOf(storage)
    const missing = [...complete].filter(([id]) => !has.has(id)).map(([, one]) => one)
    assert.ok(missing.length > 0)
    const run = storage.runs.all().find(({ epoch }) => epoch === 'e2')
    assert.ok(run !== undefined)
    const losses = storage.losses.range({ run: run.number, offset: 0 })
    for (const { timeMs, market, offset } of missing) {
      const isPublished = losses.some(
        (loss) => loss.venue === market[0] && loss.fromMs <= timeMs && timeMs <= loss.toMs,
      )
      assert.ok(
        isPublished,
        `trade ${offset} of ${market} at ${timeMs} is missing without a stored loss`,
      )
      const markMs = storage.marks.get(`newest_trade_ms_${market[0]}`) ?? 0
      assert.ok(markMs <= timeMs, 'the trade is requested from the venue')
    }
  })
}

test('records a loss when the leader publishes a trade that the standby stored when the standby was the leader', async (t) => {
  const world = await openRecordedWorld('known')
  const { settle, play, until, engine, clock } = world
  t.after(() => settle(engine.stop()))
  await play(20)
  await settle(engine.checkpoint())
  const { standby, storage } = await stand(world)
  t.after(() => settle(standby.stop()))
  assert.ok(await until(() => tradesOf(storage).size === tradesOf(engine.storage).size))
  const [first] = [...storage.markets.all()]
  assert.ok(first !== undefined)
  const { nativeId, venue } = first.summary
  const event = trade(nativeId, 'known', { venue, venueTimeMs: clock.nowMs() })
  const own = storage.runs.all().at(-1)
  assert.ok(own !== undefined)
  const published = () => engine.published.findLast((update) => update.kind === 'trade')
  const count = tradesOf(engine.storage).size
  engine.emit(event)
  assert.ok(await until(() => tradesOf(engine.storage).size > count))
  const update = published()
  assert.ok(update !== undefined)
  assert.equal(update.trade.nativeId, 'known')
  // The standby stored this trade in its own run as leader.
  const forwarded = { run: own.number + 1_000, offset: 7, seq: 7, receivedAtMs: clock.nowMs() }
  storage.trades.put({ number: first.number, venue }, { ...update.trade, ...forwarded })
  assert.deepEqual(storage.losses.range({ run: own.number, offset: 0 }), [])
  await settle(engine.flush())
  await play(5)
  const loss = () => storage.losses.range({ run: own.number, offset: 0 })[0]
  assert.ok(await until(() => loss() !== undefined))
  const { offset, fromMs, toMs, market } = loss() ?? assert.fail()
  assert.deepEqual([offset, market], [update.offset - 1, first.number])
  assert.ok(fromMs <= update.trade.timeMs && update.trade.timeMs <= toMs)
})

test('records a loss when the trades of a previous leader did not reach the next leader', async (t) => {
  const world = await openRecordedWorld('unheard')
  const { settle, play, until, engine, clock, server } = world
  t.after(() => settle(engine.stop()))
  await play(20)
  await settle(engine.checkpoint())
  const log = server.connect()
  const storage: Storage = openMemoryStorage()
  const own = storage.runs.begin('own', clock.nowMs())
  const [first] = [...engine.storage.markets.all()]
  assert.ok(first !== undefined)
  const number = storage.markets.put({ ...first.summary, description: null, native: {} })
  const update = engine.published.findLast((one) => one.kind === 'trade')
  assert.ok(update !== undefined)
  const { venue } = first.summary
  const unreceived = { ...update.trade, nativeId: 'unheard', receivedAtMs: clock.nowMs() }
  storage.trades.put({ number, venue }, { ...unreceived, run: own.number, offset: 1, seq: 1 })
  const webhooks = new ClusterWebhooks(storage.webhooks, await settle(log.bucket('webhooks')))
  const metrics = new Metrics()
  const parts = { log, clock, logger: silentLog, metrics, storage, names: NAMES, webhooks }
  const standby = new Standby(parts)
  standby.start()
  t.after(() => settle(standby.stop()))
  await play(20)
  assert.ok(await until(() => tradesOf(storage).size > tradesOf(engine.storage).size))
  const run = storage.runs.all().find(({ epoch }) => epoch === engine.epoch)
  assert.ok(run !== undefined)
  const { timeMs } = update.trade
  const isPublished = storage.losses
    .range({ run: run.number, offset: storage.trades.newestOffset(run.number) })
    .some((loss) => loss.venue === venue && loss.fromMs <= timeMs && timeMs <= loss.toMs)
  assert.ok(isPublished, 'a client that has all trades of the leader receives this trade')
})
