import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WhaleLog } from '../../../../actors/whales/whale-log.ts'
import { whaleTable } from '../../../../http/ws/channels/whales.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../../support/reference/memory.ts'
import { WhaleWorld } from '../../../support/worlds/whale-world.ts'

test('replays the whale trades of every engine run as published, including trades of removed markets', () => {
  const [storage, clock] = [openMemoryStorage(), new ManualClock()]
  const worlds = [1, 2].map((run) => {
    const world = new WhaleWorld({ storage, clock })
    for (const id of ['a', 'b']) {
      world.deliver({ id: `${run}${id}`, tx: `0x${run}${id}`, usd: 6_000 })
      world.deliver({ id: `${run}${id} small`, usd: 2_000 })
    }
    clock.advance(1_000)
    world.whales.stop()
    return world
  })
  const run = storage.runs.all().at(-1)
  assert.ok(run !== undefined)
  const log = new WhaleLog({ run, storage })
  assert.deepEqual(
    log.runs().map(({ endOffset }) => endOffset),
    [2, null],
  )
  const table = whaleTable(log, new FakeEngine(clock).catalog)
  for (const [index, world] of worlds.entries()) {
    const entries = table.range({ run: index + 1, offset: 0, markets: null })
    assert.deepEqual(
      entries.map(({ update }) => update),
      world.published,
    )
    assert.deepEqual(table.range({ run: index + 1, offset: 1, markets: null }), entries.slice(1))
  }
  const others = table.range({ run: 1, offset: 0, markets: new Set([7]) })
  assert.deepEqual(
    others.map(({ offset, update }) => [offset, update]),
    [
      [1, 'unread'],
      [2, 'unread'],
    ],
  )
  assert.deepEqual(table.losses({ run: 1, offset: 0 }), [])
})
