import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TradeBackFill } from '../../../actors/venue/back-fill.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { type TimeMs, timeMs } from '../../../engine/units.ts'
import { SuspectAnswers, type SuspectReason } from '../../../engine/venues/answer-checks.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { quietVenue } from '../../support/fakes/quiet-venue.ts'

const FEED = {
  ...quietVenue('a', new ManualClock()).feed,
  health: () => assert.fail('not called in this test'),
}

const suspectAnswersIn = (metrics: Metrics) =>
  new SuspectAnswers({ metrics, log: silentLog, venue: 'a' })
const QUIET = { isHandled: () => true, committed: async () => undefined }

const NOTHING_KNOWN = { oldestStoredMs: () => null, newestStoredMs: () => null }
const UNDOUBTED = { suspectAnswers: suspectAnswersIn(new Metrics()), ...NOTHING_KNOWN }

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('leaves no listener or timer when the trade stream breaks repeatedly', async () => {
  const clock = new ManualClock()
  const requested: { readonly fromMs: number; readonly toMs: number }[] = []
  const backFill = new TradeBackFill({
    feed: {
      ...FEED,
      fetchTrades: async (range) => {
        requested.push(range)
        return { completeFromMs: range.fromMs, suspectReason: null, newestMs: null }
      },
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...UNDOUBTED, ...QUIET },
    onLost: () => assert.fail('everything came'),
  })
  const warnings: string[] = []
  const note = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', note)
  backFill.start()
  const firstMs = clock.nowMs()
  for (let round = 0; round < 400; round += 1) {
    backFill.fillFrom(clock.nowMs())
    clock.advance(100)
    await tick()
    assert.ok(clock.timerCount <= 1 + 16, 'at most one second read per second, and one poll')
  }
  const [lastMs, before] = [clock.nowMs(), requested.length]
  clock.advance(15_000)
  await tick()
  assert.equal(clock.timerCount, 1)
  const second = requested.slice(before)
  assert.ok(
    second.some(({ toMs }) => toMs >= lastMs - 100),
    'the previous range is read a second time',
  )
  const covered = requested.filter(({ fromMs }) => fromMs <= firstMs)
  assert.ok(covered.length >= 2, 'the first range was read twice')
  backFill.fillFrom(clock.nowMs())
  await backFill.stop()
  process.off('warning', note)
  assert.equal(clock.timerCount, 0)
  assert.deepEqual(warnings, [])
})

test('polls each venue’s trades once a minute, and never polls two venues at the same time', async () => {
  const clock = new ManualClock()
  const startedMs = clock.monotonicMs()
  const checks = (['a', 'b'] as const).map((venue) => {
    const atS: number[] = []
    const fetchTrades = async ({ fromMs }: { readonly fromMs: TimeMs }) => {
      const isFirst = clock.nowMs() - fromMs > 120_000
      if (isFirst) atS.push((clock.monotonicMs() - startedMs) / 1_000)
      return { completeFromMs: fromMs, suspectReason: null, newestMs: null }
    }
    const backFill = new TradeBackFill({
      feed: { ...FEED, fetchTrades },
      ...{ clock, log: silentLog, metrics: new Metrics(), venue, ...UNDOUBTED, ...QUIET },
      onLost: () => assert.fail('everything came'),
    })
    backFill.start()
    return { backFill, atS }
  })
  for (let second = 0; second < 260; second += 1) {
    clock.advance(1_000)
    await tick()
  }
  for (const { backFill } of checks) await backFill.stop()
  assert.equal(clock.timerCount, 0)
  const [ofA = [], ofB = []] = checks.map(({ atS }) => atS)
  for (const times of [ofA, ofB]) {
    assert.ok(times.length >= 3)
    for (let at = 1; at < times.length; at += 1) {
      assert.equal((times[at] ?? 0) - (times[at - 1] ?? 0), 60)
    }
  }
  for (const time of ofA) assert.ok(ofB.every((other) => Math.abs(other - time) >= 20))
})

test('reads a long range of missed trades in parts, oldest first, and marks each part as read', async () => {
  const clock = new ManualClock()
  const requested: { readonly fromMs: number; readonly toMs: number; readonly done: () => void }[] =
    []
  const backFill = new TradeBackFill({
    feed: {
      ...FEED,
      fetchTrades: ({ fromMs, toMs }) =>
        new Promise((resolve) => {
          requested.push({
            fromMs,
            toMs,
            done: () => resolve({ completeFromMs: fromMs, suspectReason: null, newestMs: null }),
          })
        }),
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...UNDOUBTED, ...QUIET },
    onLost: () => assert.fail('everything came'),
  })
  const nowMs = clock.nowMs()
  const fromMs = timeMs(nowMs - 3_600_000)
  backFill.fillFrom(fromMs)
  const unread: number[] = []
  for (let part = 0; part < 20; part += 1) {
    await tick()
    const now = requested[part] ?? assert.fail(`part ${part} was not requested`)
    assert.equal(requested.length, part + 1, 'one part is requested at a time')
    assert.ok(backFill.unreadSinceMs !== null && backFill.unreadSinceMs <= now.fromMs)
    unread.push(backFill.unreadSinceMs)
    now.done()
  }
  assert.ok((requested[0]?.fromMs ?? nowMs) <= fromMs)
  for (const [part, { fromMs: begin }] of requested.slice(1).entries()) {
    assert.ok(begin <= (requested[part]?.toMs ?? 0), 'the parts have no gap between them')
  }
  assert.deepEqual(
    unread,
    [...unread].sort((one, other) => one - other),
  )
  assert.ok((unread.at(-1) ?? 0) > nowMs - 1_500_000, 'most of the range has been read')
  const stopped = backFill.stop()
  for (const { done } of requested) done()
  await stopped
})

test('continues from the start of the longest outage when several outages are reported during a read', async () => {
  const clock = new ManualClock()
  const requested: { readonly fromMs: number; readonly done: () => void }[] = []
  const backFill = new TradeBackFill({
    feed: {
      ...FEED,
      fetchTrades: ({ fromMs }) =>
        new Promise((resolve) => {
          const answer = { completeFromMs: fromMs, suspectReason: null, newestMs: null }
          requested.push({ fromMs, done: () => resolve(answer) })
        }),
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...UNDOUBTED, ...QUIET },
    onLost: () => assert.fail('everything came'),
  })
  const nowMs = clock.nowMs()
  for (const agoMs of [0, 60_000, 1_800_000, 90_000]) backFill.fillFrom(timeMs(nowMs - agoMs))
  assert.equal(requested.length, 1)
  requested[0]?.done()
  for (let turns = 0; turns < 100 && requested.length < 2; turns += 1) await tick()
  assert.equal(requested[1]?.fromMs, nowMs - 1_800_000 - 5_000)
  const stopped = backFill.stop()
  requested[1]?.done()
  await stopped
})

test('marks a range of missed trades as read after its trades are handled and stored on disk, not earlier', async () => {
  const clock = new ManualClock()
  let isHandled = false
  let commit: () => void = () => undefined
  let requested = 0
  const backFill = new TradeBackFill({
    feed: {
      ...FEED,
      fetchTrades: async ({ fromMs }) => {
        requested += 1
        return { completeFromMs: fromMs, suspectReason: null, newestMs: null }
      },
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...UNDOUBTED },
    onLost: () => assert.fail('everything came'),
    isHandled: () => isHandled,
    committed: () => new Promise((resolve) => (commit = resolve)),
  })
  const fromMs = timeMs(clock.nowMs() - 200_000)
  backFill.fillFrom(fromMs)
  const steps = async (ms: number) => {
    for (let step = 0; step < ms / 50; step += 1) {
      await tick()
      clock.advance(50)
    }
    await tick()
  }
  await steps(5_000)
  assert.equal(requested, 1)
  await steps(6_000)
  assert.equal(requested, 2)
  assert.ok((backFill.unreadSinceMs ?? 0) <= fromMs)
  isHandled = true
  await steps(100)
  assert.ok(
    (backFill.unreadSinceMs ?? 0) <= fromMs,
    'trades that are handled but not committed count as unread',
  )
  commit()
  await steps(100)
  assert.equal(backFill.unreadSinceMs === null || backFill.unreadSinceMs > fromMs, true)
  await backFill.stop()
})

function openDoubted(knownSinceMs: (nowMs: number) => number | null) {
  const clock = new ManualClock()
  const metrics = new Metrics()
  const lost: { readonly fromMs: number; readonly toMs: number }[] = []
  const requested: number[] = []
  const stated = {
    doubt: 'empty' as SuspectReason | null,
    newestMs: null as TimeMs | null,
    newestKnownMs: null as TimeMs | null,
  }
  const beganMs = clock.nowMs()
  const existing = knownSinceMs(beganMs)
  const backFill = new TradeBackFill({
    feed: {
      ...FEED,
      fetchTrades: async ({ fromMs }) => {
        requested.push(fromMs)
        return { completeFromMs: fromMs, suspectReason: stated.doubt, newestMs: stated.newestMs }
      },
    },
    ...{
      clock,
      log: silentLog,
      metrics,
      venue: 'a',
      ...QUIET,
      suspectAnswers: suspectAnswersIn(metrics),
    },
    oldestStoredMs: () => (existing === null ? null : timeMs(existing)),
    newestStoredMs: () => stated.newestKnownMs,
    onLost: (fromMs, toMs) => lost.push({ fromMs, toMs }),
  })
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second += 1) {
      clock.advance(1_000)
      await tick()
    }
  }
  const suspected = (reason: SuspectReason = 'empty') => {
    const labels = { venue: 'a', kind: 'trades', reason }
    return metrics.count('venue_answers_doubted_total', 'Doubts.', labels).value
  }
  return {
    clock,
    backFill,
    lost,
    requested,
    stated,
    seconds,
    suspected,
    beganMs,
  }
}

test('repeats a request for missed trades until the answer overlaps known trades', async () => {
  const { backFill, requested, stated, lost, seconds, suspected, beganMs } = openDoubted(
    (nowMs) => nowMs - 3_600_000,
  )
  backFill.fillFrom(timeMs(beganMs - 30_000))
  await tick()
  assert.ok(backFill.unreadSinceMs !== null)
  await seconds(10)
  assert.equal(requested.length, 4, 'the requests back off')
  assert.equal(new Set(requested).size, 4, 'all requests differ, since the venue may cache answers')
  assert.equal(suspected(), 4)
  assert.ok(backFill.unreadSinceMs !== null, 'a suspect answer does not count as read')
  stated.doubt = null
  await seconds(30)
  assert.equal(backFill.unreadSinceMs, null)
  assert.deepEqual(lost, [])
  await backFill.stop()
})

test('announces missed trades as lost when no answer of the venue is accepted', async () => {
  const { backFill, lost, seconds, beganMs } = openDoubted((nowMs) => nowMs - 3_600_000)
  backFill.fillFrom(timeMs(beganMs - 30_000))
  await tick()
  await seconds(700)
  assert.equal(lost[0]?.fromMs, beganMs - 35_000)
  await backFill.stop()
})

test('repeats a request for missed trades when the answer ends minutes before a known trade', async () => {
  const { backFill, requested, stated, lost, seconds, suspected, beganMs } = openDoubted(
    (nowMs) => nowMs - 3_600_000,
  )
  stated.doubt = null
  stated.newestMs = timeMs(beganMs - 200_000)
  stated.newestKnownMs = timeMs(beganMs - 31_000)
  backFill.fillFrom(timeMs(beganMs - 30_000))
  await tick()
  await seconds(10)
  assert.equal(requested.length, 4, 'the requests back off')
  assert.equal(suspected('older'), 4)
  assert.ok(backFill.missingSinceMs !== null, 'nothing is reported as complete')
  assert.equal(backFill.readToMs, null)
  stated.newestMs = timeMs(beganMs - 40_000)
  await seconds(30)
  assert.equal(backFill.missingSinceMs, null)
  assert.equal(backFill.readToMs, beganMs)
  assert.equal(suspected('older'), 4, 'rows that arrive some seconds late are not a cached copy')
  assert.deepEqual(lost, [])
  await backFill.stop()
})

test('accepts an answer that does not overlap known trades when no older trade is known', async () => {
  for (const existing of [() => null, (nowMs: number) => nowMs - 10_000]) {
    const { backFill, requested, seconds, beganMs } = openDoubted(existing)
    backFill.fillFrom(timeMs(beganMs - 30_000))
    await tick()
    await seconds(10)
    assert.equal(requested.length, 1)
    await backFill.stop()
  }
})

for (const isAnnounced of [false, true]) {
  const when = isAnnounced
    ? 'it lists none of the known markets'
    : 'its answer for one part is suspect'
  test(`stops reading a long range of missed trades when the venue returns data of a different environment: ${when}`, async () => {
    const clock = new ManualClock()
    const startedMs = clock.nowMs()
    const lost: (readonly [number, number])[] = []
    let requested = 0
    const backFill = new TradeBackFill({
      feed: {
        ...FEED,
        fetchTrades: async ({ fromMs }) => {
          requested += 1
          return { completeFromMs: fromMs, suspectReason: 'shorter', newestMs: null }
        },
      },
      ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...QUIET },
      suspectAnswers: suspectAnswersIn(new Metrics()),
      oldestStoredMs: () => timeMs(0),
      newestStoredMs: () => null,
      onLost: (fromMs, toMs) => void lost.push([fromMs, toMs]),
    })
    const fromMs = timeMs(startedMs - 6 * 3_600_000)
    backFill.fillFrom(fromMs)
    await tick()
    if (isAnnounced) backFill.abandon(startedMs)
    for (let second = 0; backFill.unreadSinceMs !== null && second < 3_600; second += 1) {
      clock.advance(1_000)
      for (let count = 0; count < 4; count += 1) await tick()
    }
    const minutes = (clock.nowMs() - startedMs) / 60_000
    assert.ok(minutes < (isAnnounced ? 5 : 15), `${minutes} minutes`)
    assert.ok(requested < 300)
    const sorted = lost.toSorted(([one], [other]) => one - other)
    assert.ok((sorted[0]?.[0] ?? startedMs) <= fromMs)
    assert.equal(sorted.at(-1)?.[1], startedMs)
    await backFill.stop()
  })
}
