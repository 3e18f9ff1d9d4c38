import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { type TimeMs, timeMs } from '../../../../../engine/units.ts'
import { StatusTimers } from '../../../../../engine/venues/kalshi/catalog/status-timers.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

function open() {
  const clock = new ManualClock()
  const published: string[] = []
  const startMs = clock.nowMs()
  const timers = new StatusTimers({
    clock,
    emit: (event) => {
      const atMs = clock.nowMs() - startMs
      if (event.kind === 'marketStatus') published.push(`${atMs} ${event.market} ${event.status}`)
      else if (event.kind === 'marketSeen') published.push(`${atMs} ${event.market} seen`)
    },
  })
  const at = (ms: number): TimeMs => timeMs(startMs + ms)
  return { clock, published, timers, at }
}

describe('Kalshi status timers', () => {
  it('opens and closes a market at the scheduled times, and confirms each change with the venue afterwards', () => {
    const { clock, published, timers, at } = open()
    timers.set('T', { status: 'closed', openAtMs: at(1_000), closeAtMs: at(60_000) })
    clock.advance(120_000)
    assert.deepEqual(published, ['1000 T open', '4000 T seen', '60000 T closed', '63000 T seen'])
  })

  it('ignores times that a market already has, and reports a status change at a changed time', () => {
    const { clock, published, timers, at } = open()
    const times = { status: 'open' as const, openAtMs: null, closeAtMs: at(1_000) }
    timers.set('T', times)
    clock.advance(10_000)
    timers.set('T', times)
    clock.advance(100_000)
    assert.deepEqual(published, ['1000 T closed', '4000 T seen'])
    timers.set('T', { ...times, closeAtMs: at(200_000) })
    clock.advance(200_000)
    assert.deepEqual(published.slice(2), ['200000 T closed', '203000 T seen'])
  })

  it('closes a market at its changed close time, and not at the previous close time', () => {
    const { clock, published, timers, at } = open()
    timers.set('T', { status: 'open', openAtMs: null, closeAtMs: at(10_000) })
    timers.correct('T', { closeAtMs: at(20_000) })
    timers.correct('unknown', { closeAtMs: at(5_000) })
    clock.advance(15_000)
    assert.deepEqual(published, [])
    clock.advance(15_000)
    assert.deepEqual(published, ['20000 T closed', '23000 T seen'])
  })

  it('closes open markets of a halted exchange shard, and reads all markets when the shard resumes', () => {
    const { clock, published, timers } = open()
    const never = { openAtMs: null, closeAtMs: null }
    timers.set('A', { status: 'open', ...never })
    timers.set('B', { status: 'closed', ...never })
    timers.set('C', { status: 'open', ...never })
    for (const isTrading of [false, false, true]) timers.noteHalt(['A', 'B'], isTrading)
    clock.advance(10_000)
    assert.deepEqual(published, ['0 A closed', '3000 A seen', '3000 B seen'])
  })

  it('confirms a close time that has passed, and does not repeat a status that a message already reported', () => {
    const { clock, published, timers, at } = open()
    timers.set('OLD', { status: 'open', openAtMs: null, closeAtMs: at(-3_600_000) })
    timers.set('TOLD', { status: 'open', openAtMs: null, closeAtMs: at(5_000) })
    timers.noteStatus('TOLD', 'closed')
    clock.advance(60_000)
    assert.deepEqual(published, ['3000 OLD seen', '8000 TOLD seen'])
  })

  it('reports nothing and leaves no timer when a market is removed or after stop', () => {
    const { clock, published, timers, at } = open()
    timers.set('A', { status: 'open', openAtMs: null, closeAtMs: at(1_000) })
    timers.remove('A')
    timers.set('B', { status: 'open', openAtMs: null, closeAtMs: at(2_000) })
    clock.advance(1_500)
    timers.stop()
    clock.advance(100_000)
    assert.deepEqual([published, clock.timerCount], [[], 0])
  })

  it('closes 10,000 markets in order with one timer', () => {
    const { clock, published, timers, at } = open()
    const random = seededRandom('timers')
    const expected: string[] = []
    for (let number = 0; number < 10_000; number += 1) {
      const ms = 1 + random.below(900_000)
      timers.set(`M${number}`, { status: 'open', openAtMs: null, closeAtMs: at(ms) })
      if (random.next() < 0.5) timers.remove(`M${number}`)
      else expected.push(`${ms} M${number} closed`)
    }
    assert.ok(clock.timerCount <= 1)
    clock.advance(1_000_000)
    const closes = published.filter((line) => line.endsWith('closed'))
    assert.deepEqual(closes.sort(), expected.sort())
  })

  it('detects within 30 s that the wall clock has jumped forward', () => {
    const { clock, published, timers, at } = open()
    timers.set('T', { status: 'open', openAtMs: null, closeAtMs: at(3_600_000) })
    clock.jumpCalendar(3_700_000)
    clock.advance(30_000)
    assert.equal(published.length, 1)
  })
})
