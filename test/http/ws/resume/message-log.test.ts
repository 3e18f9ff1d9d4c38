import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outstandingWritesMax } from '../../../../engine/limits.ts'
import { tradeTable } from '../../../../http/ws/channels/trades.ts'
import { MessageLog } from '../../../../http/ws/resume/message-log.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

/** Logs with twelve trades. The ring buffer contains the last four. */
function logs(capacity = 4) {
  const engine = new FakeEngine(new ManualClock())
  const { tradeLog, publisher } = engine
  const market = engine.add('one')
  const run = tradeLog.addRun(1, 3)
  for (let offset = 1; offset <= 3; offset += 1)
    tradeLog.addTrade(market, run, { offset, seq: offset })
  const shared = { channel: 'trades', present: tradeLog.present, offset: 0, capacity } as const
  const stored = new MessageLog({ ...shared, table: tradeTable(engine) })
  const alone = new MessageLog({ ...shared, table: null })
  publisher.watch({
    name: 'test',
    onUpdate(update) {
      if (update.kind !== 'trade') return
      stored.push(update)
      alone.push(update)
    },
  })
  for (let index = 0; index < 12; index += 1) market.trade()
  return { engine, market, run, stored, alone }
}

const offsets = (entries: readonly { readonly offset: number }[]) =>
  entries.map(({ offset }) => offset)

test('reads messages older than the ring buffer from disk, and all other messages from memory', () => {
  const { engine, stored } = logs()
  const { present } = engine.tradeLog
  assert.deepEqual(offsets(stored.read(present, { offset: 8, markets: null })), [9, 10, 11, 12])
  assert.deepEqual(offsets(stored.read(present, { offset: 10, markets: null })), [11, 12])
  assert.deepEqual(stored.read(present, { offset: 12, markets: null }), [])
  assert.equal(engine.tradeLog.readCount, 0)
  assert.deepEqual(offsets(stored.read(present, { offset: 7, markets: null })), [8, 9, 10, 11, 12])
  assert.equal(engine.tradeLog.readCount, 5)
  const few = stored.read(present, { offset: 0, markets: new Set([77]) })
  assert.deepEqual(new Set(few.map(({ update }) => update)), new Set(['unread']))
})

test('returns equal messages from the ring buffer and from the table on disk', () => {
  const { engine, stored } = logs()
  const { present } = engine.tradeLog
  const [fromRing] = stored.read(present, { offset: 9, markets: null })
  const [fromTable] = tradeTable(engine).range({ run: present.number, offset: 9, markets: null })
  const [one, other] = [fromTable?.update, fromRing?.update]
  assert.ok(typeof one === 'object' && one.kind === 'trade')
  assert.ok(typeof other === 'object' && other.kind === 'trade')
  assert.deepEqual({ ...one, trade: null }, { ...other, trade: null })
  // The row also has its arrival time and its counters.
  for (const [name, value] of Object.entries(other.trade)) {
    assert.deepEqual(Reflect.get(one.trade, name), value, name)
  }
})

test('cannot replay a trade of a removed market', () => {
  const { engine, market, run } = logs()
  const { tradeLog, catalog } = engine
  const table = tradeTable({ tradeLog, catalog: Object.assign(catalog, { byNumber: () => null }) })
  assert.deepEqual(table.range({ run: run.number, offset: 1, markets: null }), [
    { offset: 2, update: 'lost' },
    { offset: 3, update: 'lost' },
  ])
  assert.ok(market.stored.length > 0)
})

test('finds the position of an epoch and offset, and finds none if the epoch is unknown or the offset is in the future', () => {
  const { engine, run, stored, alone } = logs()
  const { present } = engine.tradeLog
  const find = (log: MessageLog, epoch: string, offset: number) => {
    const found = log.find({ epoch, offset })
    return found === null ? null : [found.runs.map(({ epoch: name }) => name), found.offset]
  }
  assert.deepEqual(find(stored, 'k3f9c2', 0), [['k3f9c2'], 0])
  assert.deepEqual(find(stored, 'k3f9c2', 12), [['k3f9c2'], 12])
  assert.equal(find(stored, 'k3f9c2', 13), null)
  assert.deepEqual(find(stored, run.epoch, 1), [[run.epoch, 'k3f9c2'], 1])
  assert.deepEqual(find(stored, run.epoch, 3 + outstandingWritesMax)?.[1], 3 + outstandingWritesMax)
  assert.equal(find(stored, run.epoch, 4 + outstandingWritesMax), null)
  assert.equal(find(stored, 'nobody', 1), null)
  assert.equal(find(alone, run.epoch, 1), null)
  assert.equal(find(alone, 'k3f9c2', 7), null, 'a lost position before the ring buffer')
  assert.deepEqual(find(alone, 'k3f9c2', 8), [['k3f9c2'], 8])
  assert.deepEqual(
    offsets(alone.read(present, { offset: 3, markets: null })),
    [9, 10, 11, 12],
    'only messages after the gap',
  )
})
