import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeedIntervals } from '../../../actors/venue/feed-intervals.ts'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { NOON } from '../../support/worlds/builders.ts'
import { pastTables } from '../../support/worlds/past-tables.ts'

function open() {
  const clock = new ManualClock(NOON)
  const tables = pastTables()
  const intervals = new FeedIntervals({ venue: 'a', coverage: tables.coverage, clock })
  return { clock, tables, intervals }
}

test('begins a new feed interval when the wall clock is set back, and never ends an interval before its start', () => {
  const { clock, tables, intervals } = open()
  intervals.extend(clock.nowMs())
  clock.advance(5_000)
  intervals.extend(clock.nowMs())
  clock.jumpCalendar(-3_600_000)
  intervals.extend(clock.nowMs())
  intervals.end()
  intervals.end()
  assert.deepEqual(tables.intervals('a'), [
    [NOON, NOON + 5_000],
    [NOON - 3_595_000, NOON - 3_595_000],
  ])
})

test('ends a feed interval at the current time when the last data has a timestamp in the future', () => {
  const { clock, tables, intervals } = open()
  intervals.extend(clock.nowMs())
  clock.advance(1_000)
  intervals.extend(timeMs(clock.nowMs() + 60_000))
  intervals.end()
  assert.deepEqual(tables.intervals('a'), [[NOON, NOON + 1_000]])
})

test('records no feed interval that includes time without a live feed, in random runs', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(`coverage ${seed}`)
    const { clock, tables, intervals } = open()
    const live: [number, number][] = []
    let began: number | null = null
    let lastDataMs = timeMs(0)
    for (let second = 0; second < 600; second += 1) {
      clock.advance(1_000)
      const isLive: boolean = began === null ? random.below(5) === 0 : random.below(40) !== 0
      if (isLive && random.below(3) > 0) lastDataMs = clock.nowMs()
      if (isLive) intervals.extend(lastDataMs)
      else intervals.end()
      assert.equal(intervals.liveSinceMs !== null, isLive)
      if (isLive && began === null) began = clock.nowMs()
      if (!isLive && began !== null) {
        live.push([began, Math.max(began, lastDataMs)])
        began = null
      }
    }
    intervals.end()
    if (began !== null) live.push([began, Math.max(began, lastDataMs)])
    assert.deepEqual(tables.intervals('a'), live)
  }
})
