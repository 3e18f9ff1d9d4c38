import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OwnDelay, VenueDelay } from '../../../actors/venue/delay.ts'
import { DelayWatch } from '../../../actors/venue/delay-watch.ts'
import {
  behindMsMax,
  delayCheckMs,
  messageAgeMsMax,
  reconnectApartMs,
  tradeAgeMsCalm,
  tradeAgeMsMax,
} from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import type { Readable } from '../../../engine/venues/venue.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { bid, change, NOON, snapshot } from '../../support/worlds/builders.ts'

function openWatch() {
  const clock = new ManualClock()
  const system = {
    ...{ isFull: false, waitedMs: 0, keptMs: 0 },
    sampleAges: () => ({ perishableMs: system.waitedMs, retainedMs: system.keptMs }),
  }
  const read: Readable[] = []
  const seen: OwnDelay[] = []
  const watch = new DelayWatch({ clock, log: silentLog, metrics: new Metrics(), system })
  watch.watch({ onDelay: (own) => seen.push(own), read: (what) => read.push(what) })
  watch.start()
  return { clock, system, seen, read, watch }
}

test('samples ten times a second, and reports the event-loop delay and the longest message wait of the last two seconds', () => {
  const { clock, system, seen, watch } = openWatch()
  clock.advance(10 * delayCheckMs)
  assert.equal(seen.length, 10)
  assert.equal(watch.delayMs, 0)
  system.waitedMs = 700
  clock.advance(delayCheckMs)
  system.waitedMs = 20
  clock.stall(delayCheckMs + 300)
  assert.deepEqual(
    [seen.at(-1)?.waitedMs, seen.at(-1)?.loopMs, seen.at(-1)?.loopMsMax],
    [700, 300, 300],
  )
  clock.advance(18 * delayCheckMs)
  assert.deepEqual([watch.delayMs, seen.at(-1)?.loopMs], [700, 0])
  clock.advance(2 * delayCheckMs)
  assert.deepEqual([watch.delayMs, seen.at(-1)?.loopMsMax], [20, 300])
  clock.advance(50 * delayCheckMs)
  assert.equal(seen.at(-1)?.loopMsMax, 0)
  watch.stop()
  assert.equal(clock.timerCount, 0)
})

test('reports the difference when the wall clock is set forward or back', () => {
  const { clock, seen } = openWatch()
  clock.advance(2 * delayCheckMs)
  clock.jumpCalendar(-3_000)
  clock.advance(2 * delayCheckMs)
  assert.deepEqual(
    seen.map(({ wallClockShiftMs }) => wallClockShiftMs),
    [0, 0, 3_000, 0],
  )
})

test('stops reading from the venue while too many messages are queued, and reports the duration of the pause', () => {
  const { clock, system, seen, read } = openWatch()
  system.isFull = true
  clock.advance(3 * delayCheckMs)
  assert.deepEqual(
    seen.map(({ pausedMs }) => pausedMs),
    [1, delayCheckMs, 2 * delayCheckMs],
  )
  system.isFull = false
  clock.advance(delayCheckMs)
  assert.equal(seen.at(-1)?.pausedMs, 0)
  assert.deepEqual(read, ['nothing', 'all'])
})

test('stops reading trades and continues to read books while queued trades wait too long, and resumes when the waits are short', () => {
  const { clock, system, seen, read } = openWatch()
  const waits = [
    tradeAgeMsMax,
    tradeAgeMsMax + 1,
    tradeAgeMsMax,
    tradeAgeMsCalm + 1,
    tradeAgeMsCalm,
  ]
  const paused: boolean[] = []
  for (const retentionMs of waits) {
    system.keptMs = retentionMs
    clock.advance(delayCheckMs)
    paused.push(seen.at(-1)?.areTradesPaused === true)
  }
  assert.deepEqual(paused, [false, true, true, true, false])
  assert.deepEqual(read, ['books', 'all'])
  system.keptMs = tradeAgeMsMax + 1
  system.isFull = true
  clock.advance(delayCheckMs)
  system.isFull = false
  clock.advance(delayCheckMs)
  assert.deepEqual(read, ['books', 'all', 'nothing', 'books'])
})

function openDelay() {
  const delay = new VenueDelay()
  const own = {
    ...{ nowMs: 0, waitedMs: 0, retainedMs: 0, areTradesPaused: false },
    ...{ loopMs: 0, loopMsMax: 0, pausedMs: 0, wallClockShiftMs: 0 },
  }
  return {
    delay,
    check(set: Partial<OwnDelay>, lateMs: number | null = null) {
      own.nowMs += delayCheckMs
      if (lateMs !== null) {
        const receivedAtMs = timeMs(NOON + own.nowMs)
        const venueTimeMs = timeMs(receivedAtMs - lateMs + 5_000)
        delay.note(change('x', [bid(0.4, 1)], { receivedAtMs, venueTimeMs }))
      }
      delay.sample({ ...own, ...set })
      return delay.isBehind
    },
    get own(): OwnDelay {
      return own
    },
  }
}

test('sets isBehind when the first change arrives late while the process is slow, without waiting for a sample', () => {
  const { delay, check, own } = openDelay()
  const note = (lateMs: number) => {
    const receivedAtMs = timeMs(NOON + own.nowMs)
    delay.note(
      change('x', [bid(0.4, 1)], { receivedAtMs, venueTimeMs: timeMs(receivedAtMs - lateMs) }),
    )
    return delay.isBehind
  }
  check({}, 5_000)
  assert.equal(note(messageAgeMsMax + 1), false, 'the process was not slow, so the venue is late')
  check({})
  check({ loopMsMax: 500 }, 5_000)
  assert.equal(note(messageAgeMsMax), false)
  assert.equal(note(messageAgeMsMax + 1), true)
  assert.equal(check({ loopMsMax: 500 }), true, 'it stays behind until changes arrive on time')
})

test('treats messages as late when they are read after the event loop was blocked, until delays are normal', () => {
  const { delay, check } = openDelay()
  check({}, 20)
  assert.equal(check({ loopMs: messageAgeMsMax - 1, loopMsMax: messageAgeMsMax - 1 }), false)
  assert.equal(check({ loopMs: messageAgeMsMax, loopMsMax: messageAgeMsMax }), true)
  const slow = { loopMsMax: messageAgeMsMax }
  for (let checks = 0; checks < 5; checks += 1) assert.equal(check(slow, 900), true)
  assert.equal(check(slow, 30), true)
  assert.equal(check({ ...slow, loopMs: 400 }, 30), true, 'the event loop stalls repeatedly')
  assert.equal(check(slow, 30), true)
  assert.equal(check(slow), true, 'no change arrived')
  assert.equal(check(slow, 40), false)
  assert.equal(delay.changeCount, 2)
  assert.equal(check({ pausedMs: messageAgeMsMax }), true)
  for (let checks = 0; checks < 9; checks += 1) assert.equal(check({ pausedMs: 1 }), true)
  for (let checks = 0; checks < 2; checks += 1) assert.equal(check({}, 10), true)
  assert.equal(check({}, 10), false)
  assert.equal(check({ loopMs: messageAgeMsMax }), true)
  for (let checks = 0; checks < 50; checks += 1) {
    assert.equal(check(slow, checks % 10 === 0 ? 4_000 : null), true)
  }
  for (let checks = 0; checks < 30; checks += 1) assert.equal(check(slow), true)
  for (let checks = 0; checks < 19; checks += 1) assert.equal(check({}), true)
  assert.equal(check({}), false)
})

test('attributes late messages to this process if it was slow, and otherwise to the venue', () => {
  const { delay, check } = openDelay()
  check({}, 20)
  assert.equal(check({}, 8_000), false, 'the venue is slow')
  assert.equal(delay.excessMs, 7_980)
  assert.equal(check({ loopMs: 150, loopMsMax: 150 }, 900), false)
  assert.equal(check({ loopMs: 150, loopMsMax: 150 }, 1_200), true)
  assert.ok((delay.lagMs ?? -1) >= 0, 'the delay is not negative when the venue’s clock is ahead')
  const other = openDelay()
  other.check({}, 20)
  other.delay.note(snapshot('x', [], [], { venueTimeMs: timeMs(NOON - 3_600_000) }))
  assert.equal(other.check({ loopMsMax: 500 }), false)
})

test('uses the smallest message delay of the last ten minutes as the normal delay', () => {
  const { delay, check, own } = openDelay()
  check({}, 20)
  while (own.nowMs < 240_000) check({}, 520)
  assert.equal(delay.excessMs, 500)
  while (own.nowMs < 660_000) check({}, 520)
  assert.equal(delay.excessMs, 0)
})

test('does not adopt a long message delay as the normal delay, neither after reconnects nor over time', () => {
  const { delay, check, own } = openDelay()
  check({}, 20)
  const slow = { loopMs: 200, loopMsMax: 200 }
  let reconnects = 0
  for (let checks = 0; checks < 1_800_000 / delayCheckMs; checks += 1) {
    check(slow, 5_000 + (checks % 20) * 100)
    if (delay.takeReconnect(own)) reconnects += 1
    if (checks > 0) assert.equal(delay.isBehind, true, `after ${own.nowMs} ms`)
  }
  assert.ok(reconnects > 10, `${reconnects}`)
  for (let checks = 0; checks < 9; checks += 1) {
    delay.note(
      change('x', [bid(0.4, 1)], { receivedAtMs: NOON, venueTimeMs: timeMs(NOON + 2_000) }),
    )
    assert.equal(check({}, 20), true)
  }
  for (let checks = 0; checks < 2; checks += 1) assert.equal(check({}, 20), true)
  assert.equal(check({}, 20), false)
})

test('reports no message delay when the local wall clock or the venue’s clock changes', () => {
  const slow = { loopMs: 200, loopMsMax: 200 }
  const ours = openDelay()
  ours.check({}, 20)
  assert.equal(ours.check({ ...slow, wallClockShiftMs: 3_000 }, 3_020), false)
  const theirs = openDelay()
  theirs.check({}, 20)
  assert.equal(theirs.check(slow, 3_020), true)
  for (let checks = 0; checks < 60_000 / delayCheckMs; checks += 1) {
    assert.equal(theirs.check({}, 3_020), true)
  }
  assert.equal(theirs.check({}, 3_020), false)
  assert.equal(theirs.check(slow, 3_020), false)
})

test('reconnects once to drop data that was unread for long, and waits before it reconnects a second time', () => {
  const { delay, check, own } = openDelay()
  check({}, 20)
  const slow = { loopMs: 200, loopMsMax: 200 }
  const requested: number[] = []
  for (
    let checks = 0;
    checks < (reconnectApartMs + 2 * behindMsMax) / (2 * delayCheckMs);
    checks += 1
  ) {
    check(slow, 30_000)
    if (delay.takeReconnect(own)) requested.push(own.nowMs)
    if (requested.length > 0) check(slow, 20)
    else check(slow, 30_000)
  }
  assert.equal(requested.length, 2, `${requested}`)
  const [first = 0, second = 0] = requested
  assert.ok(first >= behindMsMax && first <= behindMsMax + 5 * delayCheckMs, `${first}`)
  assert.ok(second - first >= reconnectApartMs)
  assert.equal(delay.takeReconnect({ ...own, pausedMs: 1, nowMs: own.nowMs + 1e6 }), false)
})
