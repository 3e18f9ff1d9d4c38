// New York's clock without a time zone library, judged by the one in Node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import {
  clockLower,
  clockUpper,
  easternMs,
  easternTime,
  isoDate,
  stampDay,
  stampHour,
  stampMinute,
  stampMonth,
} from '../../../../../engine/venues/simulator/questions/eastern.ts'

const validator = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
})

test('matches Node’s New York time, including daylight saving changes', () => {
  const random = seededRandom('eastern')
  const times = Array.from({ length: 2000 }, () => Date.UTC(2008, 0, 1) + random.below(1e9) * 1000)
  for (const tick of ['2026-03-08T07:00:00Z', '2026-11-01T06:00:00Z', '2027-03-14T07:00:00Z']) {
    const turnMs = Date.parse(tick)
    for (let minutes = -90; minutes <= 90; minutes += 15) times.push(turnMs + minutes * 60_000)
  }
  for (const time of times) {
    const at = easternTime(time)
    const hour = String(at.hour).padStart(2, '0')
    const minute = String(at.minute).padStart(2, '0')
    assert.equal(`${isoDate(at)}, ${hour}:${minute}`, validator.format(time))
    const minuteOfDay = at.hour * 60 + at.minute
    const back = easternMs({ dayNumber: at.dayNumber, minuteOfDay })
    // In the repeated hour the clock alone cannot tell; the first of the two is meant.
    const wanted = Math.floor(time / 60_000) * 60_000 - (at.isRepeated ? 3_600_000 : 0)
    assert.equal(back, wanted)
  }
})

test('formats timestamps like Kalshi, and distinguishes the repeated hour', () => {
  const at = easternTime(Date.parse('2026-07-28T20:15:00Z'))
  assert.deepEqual(
    [stampMonth(at), stampDay(at), stampHour(at), stampMinute(at)],
    ['26JUL', '26JUL28', '26JUL2816', '26JUL281615'],
  )
  assert.deepEqual([clockUpper(at), clockLower(at)], ['4:15PM', '4:15pm EDT'])
  const first = easternTime(Date.parse('2026-11-01T05:30:00Z'))
  const second = easternTime(Date.parse('2026-11-01T06:30:00Z'))
  assert.equal(stampMinute(first), '26NOV010130')
  assert.equal(stampMinute(second), '26NOV010130S')
})
