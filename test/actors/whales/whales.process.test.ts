import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { mailboxMessagesMax, whaleRetentionMs } from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { partId } from '../../../engine/trade-parts.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { CrashingStorage } from '../../support/fakes/crashing-storage.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { WITHOUT_CHECK } from '../../support/rigs/data-folder.ts'
import { NOON } from '../../support/worlds/builders.ts'
import {
  foundRows,
  naiveRows,
  rowsOf,
  WhaleWorld,
  type WorldFill,
} from '../../support/worlds/whale-world.ts'

function openWorld(set: { storage?: Storage; clock?: ManualClock; groupsMax?: number } = {}) {
  const { storage = openMemoryStorage(), clock = new ManualClock(), ...rest } = set
  return new WhaleWorld({ storage, clock, ...rest })
}

function shown(world: WhaleWorld): string[] {
  return world.rows().map(({ whale }) => {
    const reported = whale.offset === null ? '' : ` published ${whale.offset}`
    return `${whale.nativeId} $${whale.usd / 1e6} of ${whale.fills}${reported}`
  })
}

const publishedAlerts = (world: WhaleWorld) =>
  world.published.map(({ offset, whale }) => `${offset} ${whale.nativeId} $${whale.usd / 1e6}`)

test('closes a group of fills 150 ms after its first fill and publishes the whale once', () => {
  const world = openWorld()
  world.deliver({ id: 'a', tx: '0x1', usd: 3_000 })
  world.clock.advance(100)
  world.deliver({ id: 'b', tx: '0x1', usd: 3_000 })
  world.clock.advance(49)
  assert.deepEqual(shown(world), [])
  world.clock.advance(1)
  assert.deepEqual(shown(world), ['a $6000 of 2 published 1'])
  assert.deepEqual(publishedAlerts(world), ['1 a $6000'])
})

test('updates a stored whale when later fills of the transaction arrive, and does not publish the whale a second time', () => {
  const world = openWorld()
  world.deliver({ id: 'a', tx: '0x1', usd: 6_000 })
  world.clock.advance(150)
  world.deliver({ id: 'b', tx: '0x1', usd: 1_000 })
  world.clock.advance(60_000)
  world.deliver({ id: 'c', tx: '0x1', usd: 1_000 })
  assert.deepEqual(shown(world), ['a $8000 of 3 published 1'])
  assert.deepEqual(publishedAlerts(world), ['1 a $6000'])
})

test('stores a fill without a transaction hash at once as a separate whale', () => {
  const world = openWorld()
  world.deliver({ id: 'a', usd: 5_000 })
  world.deliver({ id: 'b', usd: 999 })
  world.deliver({ id: 'c', usd: 4_999 })
  assert.deepEqual(shown(world), ['a $5000 of 1 published 1', 'c $4999 of 1'])
  assert.deepEqual(publishedAlerts(world), ['1 a $5000'])
  assert.equal(world.clock.timerCount, 1, 'the start alone waits')
})

test('stores a whale from 1,000 dollars and publishes it from 5,000 dollars, even if later fills reach these sums', () => {
  const world = openWorld()
  world.deliver({ id: 'a', tx: '0x1', usd: 999.999998 })
  world.clock.advance(1_000)
  assert.deepEqual(shown(world), [])
  world.deliver({ id: 'b', tx: '0x1', usd: 0.000002 })
  assert.deepEqual(shown(world), ['a $1000 of 2'])
  world.deliver({ id: 'c', tx: '0x1', usd: 3_999.999998 })
  assert.deepEqual(publishedAlerts(world), [])
  world.deliver({ id: 'd', tx: '0x1', usd: 0.000002 })
  world.deliver({ id: 'e', tx: '0x1', usd: 1 })
  assert.deepEqual(publishedAlerts(world), ['1 a $5000'])
  assert.deepEqual(shown(world), ['a $5001 of 5 published 1'])
})

test('stores whales from historical fills, and publishes a whale when at least one of its fills is live', () => {
  const world = openWorld()
  world.load({ id: 'a', tx: '0x1', usd: 6_000 })
  world.load({ id: 'b', usd: 7_000, atMs: NOON - 86_400_000 })
  world.clock.advance(150)
  assert.deepEqual(shown(world), ['b $7000 of 1', 'a $6000 of 1'])
  assert.deepEqual(publishedAlerts(world), [])
  world.deliver({ id: 'c', tx: '0x1', usd: 10 })
  assert.deepEqual(publishedAlerts(world), ['1 a $6010'])
})

test('stores a whale with its market, the taker’s outcome and the stream offset', () => {
  const world = openWorld()
  world.deliver({ id: 'a', tx: '0x1', usd: 6_000, outcomeIndex: 1, market: 2 })
  world.clock.advance(150)
  const [row] = world.rows()
  assert.deepEqual([row?.market, row?.venue, row?.nativeMarket], [2, 'a', 'm2'])
  const { outcome, question, slug, eventSlug, category, wallet } = row?.whale ?? {}
  const facts = ['No', 'Will m2 happen?', 'slug-m2', 'event-m2', 'Politics', 'taker']
  assert.deepEqual([outcome, question, slug, eventSlug, category, wallet], facts)
  assert.deepEqual([row?.whale.run, row?.whale.offset, row?.whale.seq], [1, 1, 1])
  assert.deepEqual(world.published[0]?.whale, row?.whale)
  assert.equal(world.published[0]?.market.number, 2)
  const found = world.storage.whales.rangeByOffset({ run: 1, offset: 0, limit: 10 })
  assert.deepEqual(found, [row])
})

test('closes and publishes a whale once at the next start after the engine crashed', () => {
  const [storage, clock] = [openMemoryStorage(), new ManualClock()]
  const first = openWorld({ storage, clock })
  first.deliver({ id: 'earlier', tx: '0x0', usd: 9_000 })
  clock.advance(59_000)
  first.deliver({ id: 'a', tx: '0x1', usd: 3_000 })
  first.deliver({ id: 'b', tx: '0x1', usd: 3_000 })
  first.whales.stop()
  clock.advance(3_600_000)
  const second = openWorld({ storage, clock })
  clock.advance(100)
  assert.deepEqual(publishedAlerts(second), ['1 a $6000'])
  assert.deepEqual(shown(second), ['earlier $9000 of 1 published 1', 'a $6000 of 2 published 1'])
  second.whales.stop()
  const third = openWorld({ storage, clock })
  clock.advance(1_000)
  assert.deepEqual(publishedAlerts(third), [])
  assert.equal(first.published.length + second.published.length, 2)
})

test('groups fills from the last minute before a restart with later fills of the same transaction', () => {
  const [storage, clock] = [openMemoryStorage(), new ManualClock()]
  const first = openWorld({ storage, clock })
  first.deliver({ id: 'a', tx: '0x1', usd: 6_000 })
  first.whales.stop()
  for (let start = 0; start < 3; start += 1) openWorld({ storage, clock }).whales.stop()
  clock.advance(120_000)
  const cut = openWorld({ storage, clock })
  cut.deliver({ id: 'b', tx: '0x2', usd: 10, atMs: NOON + 120_000 })
  cut.whales.stop()
  const last = openWorld({ storage, clock })
  clock.advance(1_000)
  assert.deepEqual(publishedAlerts(last), ['1 a $6000'])
})

test('closes groups of fills at once after a restart when the groups were open before the restart', () => {
  const [storage, clock] = [openMemoryStorage(), new ManualClock()]
  openWorld({ storage, clock }).deliver({ id: 'a', tx: '0x1', usd: 6_000 })
  const second = openWorld({ storage, clock })
  clock.advance(2)
  assert.deepEqual(publishedAlerts(second), ['1 a $6000'])
})

test('adds a fill that arrives after a restart to the whale that was stored before the restart', () => {
  const [storage, clock] = [openMemoryStorage(), new ManualClock()]
  const first = openWorld({ storage, clock })
  first.deliver({ id: 'a', tx: '0x1', usd: 6_000 })
  first.deliver({ id: 'x', tx: '0x2', usd: 4_000 })
  clock.advance(150)
  first.whales.stop()
  clock.advance(600_000)
  const second = openWorld({ storage, clock })
  clock.advance(1_000)
  second.deliver({ id: 'b', tx: '0x1', usd: 500 })
  second.deliver({ id: 'y', tx: '0x2', usd: 1_000 })
  clock.advance(150)
  assert.deepEqual(shown(second), ['a $6500 of 2 published 1', 'x $5000 of 2 published 1'])
  assert.deepEqual(publishedAlerts(second), ['1 x $5000'])
})

test('delays storing and publishing whales while messages wait, and loses no fill when the mailbox is full', () => {
  const world = openWorld()
  world.clock.advance(100)
  world.isHeld = true
  const count = mailboxMessagesMax + 500
  for (let each = 0; each < count; each += 1) {
    world.deliver({ id: `t${each}`, tx: `0x${each % 2_000}`, usd: 2_500, atMs: NOON + each })
  }
  assert.deepEqual(shown(world), [])
  world.isHeld = false
  world.clock.advance(5_000)
  assert.deepEqual(foundRows(world.storage), naiveRows(world.storage, [1]))
  assert.equal(world.published.length, 2_000)
  assert.equal(new Set(world.published.map(({ whale }) => whale.nativeId)).size, 2_000)
})

test('computes the sum of a transaction from the stored trades after the transaction was evicted from memory', () => {
  const world = openWorld({ groupsMax: 3 })
  for (let each = 0; each < 10; each += 1) {
    world.deliver({ id: `a${each}`, tx: `0x${each}`, usd: 4_000, atMs: NOON + each })
  }
  world.clock.advance(1_000)
  for (let each = 0; each < 10; each += 1) {
    world.deliver({ id: `b${each}`, tx: `0x${each}`, usd: 4_000, atMs: NOON + 3_000 + each })
  }
  world.clock.advance(1_000)
  assert.deepEqual(foundRows(world.storage), naiveRows(world.storage, [1]))
  assert.equal(world.published.length, 10)
})

test('evicts transactions after 30 s, at most two for each new transaction, and recomputes a sum on a later fill', async () => {
  const world = openWorld()
  const assertRemembered = async (count: number) => {
    const text = await world.metrics.registry.metrics()
    assert.equal(/^whale_groups (\d+)$/m.exec(text)?.[1], String(count))
  }
  for (const tx of ['0x1', '0x2', '0x3']) {
    world.deliver({ id: `a${tx}`, tx, usd: 4_000, atMs: NOON })
  }
  world.clock.advance(whaleRetentionMs)
  world.deliver({ id: 'b', tx: '0x4', usd: 4_000 })
  await assertRemembered(4)
  world.clock.advance(1_000)
  world.deliver({ id: 'c', tx: '0x5', usd: 4_000 })
  await assertRemembered(3)
  world.deliver({ id: 'late', tx: '0x1', usd: 4_000, atMs: NOON })
  await assertRemembered(3)
  world.clock.advance(1_000)
  assert.deepEqual(foundRows(world.storage), naiveRows(world.storage, [1]))
  assert.deepEqual(publishedAlerts(world), ['1 a0x1 $8000'])
})

test('removes the open groups of fills of an expired market, and leaves no timer on stop', () => {
  const world = openWorld()
  world.clock.advance(100)
  world.deliver({ id: 'a', tx: '0x1', usd: 6_000 })
  world.deliver({ id: 'b', tx: '0x2', usd: 6_000, market: 2 })
  world.forget(1)
  world.deliver({ id: 'c', tx: '0x3', usd: 6_000 })
  world.clock.advance(1_000)
  assert.deepEqual(publishedAlerts(world), ['1 b $6000'])
  world.deliver({ id: 'd', tx: '0x4', usd: 6_000, market: 2 })
  world.whales.stop()
  assert.equal(world.clock.timerCount, 0)
})

test('reloads open groups after an actor restart, and publishes all whales despite a trade dated in the future', () => {
  const world = openWorld({ groupsMax: 2 })
  world.clock.advance(100)
  world.deliver({ id: 'future', tx: '0x0', usd: 6_000, atMs: NOON * 1.5 })
  world.deliver({ id: 'a', tx: '0x1', usd: 3_000 })
  world.whales.restart()
  world.deliver({ id: 'b', tx: '0x1', usd: 3_000 })
  world.clock.advance(1_000)
  const reported = world.published.map(({ whale }) => `${whale.nativeId} $${whale.usd / 1e6}`)
  assert.deepEqual(reported.sort(), ['a $6000', 'future $6000'])
  assert.deepEqual(foundRows(world.storage), naiveRows(world.storage, [1]))
})

test('adds a wallet that becomes known later to the stored whale, and publishes the whale once', () => {
  const [storage, clock] = [openMemoryStorage(), new ManualClock()]
  const world = openWorld({ storage, clock })
  const parts = (tx: string) => [partId(tx, 0), partId(tx, 1)] as const
  const wallets = () =>
    rowsOf(storage).map(({ whale }) => [whale.nativeId, whale.wallet, whale.taker, whale.fills])
  const deliver = (tx: string) => {
    for (const id of parts(tx)) world.deliver({ id, tx, taker: null, usd: 3_000 })
  }
  const [a, b] = parts('0x1')
  deliver('0x1')
  world.complete(a, 'early')
  world.complete(b, 'early')
  clock.advance(150)
  assert.deepEqual(wallets(), [[a, 'early', 'early', 2]], 'the group was still open')
  const [c, d] = parts('0x2')
  deliver('0x2')
  clock.advance(150)
  assert.deepEqual(wallets().at(-1), [c, null, null, 2])
  world.complete(c, 'late')
  assert.deepEqual(wallets().at(-1), [c, 'late', 'late', 2])
  world.complete(d, 'later')
  assert.deepEqual(wallets().at(-1), [c, 'late', 'late', 2], 'the first wallet is not replaced')
  const [e] = parts('0x3')
  deliver('0x3')
  clock.advance(150)
  world.whales.stop()
  clock.advance(600_000)
  const next = openWorld({ storage, clock })
  clock.advance(1_000)
  next.complete(e, 'after')
  assert.deepEqual(wallets().at(-1), [e, 'after', 'after', 2], 'also in a later run')
  clock.advance(60_000)
  assert.deepEqual(publishedAlerts(world), [`1 ${a} $6000`, `2 ${c} $6000`, `3 ${e} $6000`])
  assert.deepEqual(publishedAlerts(next), [])
})

type Step =
  | { readonly kind: 'fill'; readonly fill: Omit<WorldFill, 'id'> }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'restart'; readonly lost: number }

const anyFill = fc.record({
  usd: fc.constantFrom(1, 400, 999.999999, 1_000, 2_500, 4_000, 5_000, 20_000),
  market: fc.constantFrom(1, 2),
  tx: fc.constantFrom(null, '0x1', '0x1', '0x2', '0x3', '0x4'),
  taker: fc.constantFrom('one', 'one', 'two'),
  outcomeIndex: fc.constantFrom(0, 0, 0, 1),
  side: fc.constantFrom('buy' as const, 'buy' as const, 'sell' as const),
  priceMicros: fc.integer({ min: 1_000, max: 1_000_000 }),
  maker: fc.constantFrom(null, 'maker'),
  atMs: fc.constantFrom(0, 1, 5_000, 10_000),
})
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: anyFill.map((fill) => ({ kind: 'fill' as const, fill })) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(1, 40, 75, 149, 150, 1_000, 70_000)
      .map((ms) => ({ kind: 'wait' as const, ms })),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 12 }).map((lost) => ({ kind: 'restart' as const, lost })),
  },
)
const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 60 })

function inItsTime(fill: Omit<WorldFill, 'id'>): Omit<WorldFill, 'id'> {
  return { ...fill, atMs: NOON - Number(fill.tx ?? 9) * 60_000 + (fill.atMs ?? 0) }
}

function checkResult(storage: Storage, worlds: readonly WhaleWorld[], isLossy: boolean): void {
  assert.deepEqual(foundRows(storage), naiveRows(storage, [1, 2]))
  const rows = rowsOf(storage)
  const reported = worlds.flatMap((world) => world.published.map(({ whale }) => whale.nativeId))
  const ids = rows.filter(({ whale }) => whale.offset !== null).map(({ whale }) => whale.nativeId)
  assert.deepEqual([...new Set(reported)].sort(), ids.sort())
  if (!isLossy) assert.equal(reported.length, ids.length, 'no id is published twice')
  for (const world of worlds) {
    assert.deepEqual(
      world.published.map(({ offset }) => offset),
      world.published.map((_, index) => index + 1),
    )
  }
  const locations = rows.map(({ whale }) => `${whale.timeMs}.${whale.ordinal}`)
  assert.equal(new Set(locations).size, rows.length)
}

test('stores whales equal to the sums of their fills and publishes each once, for any fill order, pauses and kills', () => {
  fc.assert(
    fc.property(anySteps, fc.constantFrom(2, 1_000), (steps, groupsMax) => {
      const clock = new ManualClock()
      const disk = new CrashingStorage(() => clock.monotonicMs())
      const worlds = [openWorld({ storage: disk.storage, clock, groupsMax })]
      const fills: WorldFill[] = []
      let isLossy = false
      for (const step of steps) {
        const world = worlds.at(-1)
        assert.ok(world !== undefined)
        if (step.kind === 'wait') clock.advance(step.ms)
        else if (step.kind === 'fill') {
          const fill = { ...inItsTime(step.fill), id: `f${fills.length}` }
          fills.push(fill)
          world.deliver(fill)
        } else {
          world.whales.stop()
          isLossy ||= step.lost > 0
          disk.crash(step.lost, 100)
          const next = openWorld({ storage: disk.storage, clock, groupsMax })
          worlds.push(next)
          for (const fill of fills) next.deliver(fill)
        }
      }
      clock.advance(10_000)
      checkResult(disk.storage, worlds, isLossy)
    }),
    { numRuns: process.env.TEST_LONG === '1' ? 300 : 100 },
  )
})

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

test('stores the same whales in LMDB after the database is closed and reopened', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-whales-'))
      folders.push(dataDir)
      const clock = new ManualClock()
      const parts = { dataDir, clock, log: silentLog, ...WITHOUT_CHECK }
      const open = () => openLmdbStorage({ ...parts, metrics: new Metrics() })
      let storage = await open()
      const worlds = [openWorld({ storage, clock, groupsMax: 3 })]
      for (const [index, step] of steps.entries()) {
        const world = worlds.at(-1)
        if (step.kind === 'wait') clock.advance(step.ms)
        else if (step.kind === 'fill') world?.deliver({ ...inItsTime(step.fill), id: `f${index}` })
        else {
          world?.whales.stop()
          await storage.close()
          storage = await open()
          worlds.push(openWorld({ storage, clock, groupsMax: 3 }))
        }
      }
      clock.advance(10_000)
      checkResult(storage, worlds, false)
      await storage.close()
    }),
    { numRuns: 12 },
  )
})

test('sends a live whale below the publication minimum to webhooks when it is created and when it grows', () => {
  const world = openWorld()
  const unpublished = () =>
    world.unpublished.map(({ nativeId, usd }) => `${nativeId} $${usd / 1e6}`)
  world.load({ id: 'h', usd: 2_000 })
  world.deliver({ id: 'a', tx: '0x1', usd: 2_000 })
  world.clock.advance(150)
  assert.deepEqual(unpublished(), ['a $2000'])
  world.deliver({ id: 'b', tx: '0x1', usd: 4_000 })
  assert.deepEqual(publishedAlerts(world), ['1 a $6000'])
  assert.deepEqual(unpublished(), ['a $2000'])
  world.deliver({ id: 'c', tx: '0x1', usd: 5_000 })
  assert.deepEqual(publishedAlerts(world), ['1 a $6000'])
  assert.deepEqual(unpublished(), ['a $2000', 'a $11000'])
})
