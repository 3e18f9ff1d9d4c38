import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { BookReplaced, BookUpdate, LevelChange } from '../../../../engine/events.ts'
import { ringBookUpdatesMax } from '../../../../engine/limits.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../../../engine/units.ts'
import { RecentBookUpdates } from '../../../../http/ws/resume/recent-book-updates.ts'
import { FakeEngine, type FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

const clock = new ManualClock()
const market = new FakeEngine(clock).add('one')

function levels(count: number): LevelChange[] {
  return Array.from({ length: count }, (_, index) => ({
    side: 'bid' as const,
    price: priceMicros(1_000 * (index + 1)),
    size: sizeMicros(5_000_000),
  }))
}

function update(of: FakeMarket, offset: number, levelCount: number): BookUpdate {
  const times = { venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }
  const changes = levels(levelCount)
  return { kind: 'book', market: of.ref, offset, seq: offset, ...times, changes, checksum: null }
}

function replaced(offset: number, reason: BookReplaced['reason']): BookReplaced {
  const times = { venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }
  return { kind: 'bookReplaced', market: market.ref, offset, seq: offset, ...times, reason }
}

test('contains the newest book updates that fit into the limits of updates and levels', () => {
  const recent = new RecentBookUpdates(10, 8, 30)
  assert.deepEqual([recent.reachesBack(9), recent.reachesBack(10)], [false, true])
  for (let offset = 11; offset <= 25; offset += 1) recent.push(update(market, offset, 1))
  assert.deepEqual(
    [16, 17, 25, 26].map((offset) => recent.reachesBack(offset)),
    [false, true, true, false],
  )
  assert.equal(recent.get(17), null)
  assert.equal(recent.get(18)?.offset, 18)
  recent.push(update(market, 26, 25))
  assert.deepEqual(
    [19, 20].map((offset) => recent.reachesBack(offset)),
    [false, true],
    'levels',
  )
  recent.push(update(market, 27, 50))
  assert.deepEqual(
    [26, 27].map((offset) => recent.reachesBack(offset)),
    [false, true],
  )
  for (let offset = 28; offset <= 40; offset += 1) recent.push(update(market, offset, 2))
  assert.deepEqual(
    [31, 32].map((offset) => recent.reachesBack(offset)),
    [false, true],
  )
  recent.push(update(market, 50, 1))
  assert.deepEqual(
    [40, 48, 49].map((offset) => recent.reachesBack(offset)),
    [false, false, true],
  )
  for (let offset = 51; offset <= 57; offset += 1) recent.push(update(market, offset, 4))
  assert.ok(recent.reachesBack(49), 'messages before a gap use no capacity')
})

test('returns published book updates unchanged after its ring buffers have wrapped many times', () => {
  const random = seededRandom('book recent')
  const recent = new RecentBookUpdates(0, 16, 40)
  const published: BookUpdate[] = []
  for (let offset = 1; offset <= 500; offset += 1) {
    const changes = Array.from({ length: random.below(9) }, () => ({
      side: random.pick(['bid', 'ask'] as const),
      price: priceMicros(random.below(1_000_001)),
      size: sizeMicros(random.below(2 ** 40)),
    }))
    const checksum = random.below(4) === 0 ? random.below(2 ** 32) : null
    const one = { ...update(market, offset, 0), seq: random.below(1_000), changes, checksum }
    published.push(one)
    recent.push(one)
    for (let back = 0; recent.reachesBack(offset - back - 1); back += 1) {
      assert.deepEqual(recent.get(offset - back), published.at(-1 - back))
      assert.ok(back < 16)
    }
    const stored = published.slice(-5)
    const levelCount = stored.reduce((sum, { changes: some }) => sum + some.length, 0)
    assert.ok(levelCount > 40 || recent.reachesBack(offset - stored.length), 'five updates fit')
  }
})

test('uses the newer of two replacements of a book, and stores no replacement of a removed market', () => {
  const recent = new RecentBookUpdates(0)
  assert.equal(recent.replacement(market.ref.number), null)
  recent.replace(replaced(4, 'first'))
  recent.replace(replaced(4, 'venue_gap'))
  assert.deepEqual(
    [...recent.replacements()],
    [{ market: market.ref, offset: 4, serial: 2, reason: 'venue_gap' }],
  )
  recent.removeMarket(market.ref.number)
  assert.deepEqual([...recent.replacements()], [])
})

test('uses less than 12 MB when full of typical book updates', (t) => {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  const memory = () => {
    for (let pass = 0; pass < 2; pass += 1) collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = memory()
  const recent = new RecentBookUpdates(0)
  for (let offset = 1; offset <= 2 * ringBookUpdatesMax; offset += 1) {
    recent.push(update(market, offset, 1 + (offset % 4)))
  }
  const bytes = memory() - before
  t.diagnostic(`${(bytes / 1e6).toFixed(1)} MB for ${ringBookUpdatesMax} updates of 2.5 levels`)
  assert.ok(bytes < 12e6)
  assert.equal(recent.newest, 2 * ringBookUpdatesMax)
})
