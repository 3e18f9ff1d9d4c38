import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareDates } from '../../../../engine/matching/compare/date-comparison.ts'
import {
  dateOfTicker,
  datesOf,
  dayOf,
  hourOf,
  windowOf,
} from '../../../../engine/matching/understand/dates.ts'
import { understandEvent } from '../../../../engine/matching/understand/proposition-parser.ts'
import { fold } from '../../../../engine/matching/understand/text-normalization.ts'
import { eventA, eventB } from '../subjects.ts'

const day = (text: string): number => dayOf(Date.parse(text))
const ANCHOR = day('2031-06-15')

function read(text: string): readonly string[] {
  const iso = (at: number): string => new Date(at * 86_400_000).toISOString().slice(0, 10)
  return datesOf(fold(text), ANCHOR).map(
    ({ role, first, last }) => `${role} ${iso(first)} ${iso(last)}`,
  )
}

test('parses days, months, quarters, years and ranges, and completes missing years from an anchor date', () => {
  assert.deepEqual(read('on June 3?'), ['on 2031-06-03 2031-06-03'])
  assert.deepEqual(read('on Jan 4'), ['on 2031-01-04 2031-01-04'])
  assert.deepEqual(read('in Q3 2031'), ['in 2031-07-01 2031-09-30'])
  assert.deepEqual(read('will it rain in May'), ['in 2031-05-01 2031-05-31'])
  assert.deepEqual(read('(June 9 - 15)'), ['in 2031-06-09 2031-06-15'])
  assert.deepEqual(read('fourth-quarter 2031'), ['in 2031-10-01 2031-12-31'])
  assert.deepEqual(read('in the 1st quarter of 2031'), ['in 2031-01-01 2031-03-31'])
  assert.deepEqual(read('first quarter winner'), [])
  assert.deepEqual(read('2031 August'), ['in 2031-08-01 2031-08-31'])
  assert.deepEqual(read('2031-07-08'), ['on 2031-07-08 2031-07-08'])
  assert.deepEqual(read('What may happen?'), [])
  assert.deepEqual(read('on June 31'), [])
})

test('rates a date difference as a hint or a conflict, depending on the close time and the deadline in the title', () => {
  const result = (closes: string, title: string, subtitle: string): string => {
    const a = understandEvent(eventA("Who is named in Quist's list?", closes))
    return compareDates(a, understandEvent(eventB(title, subtitle, 'KXQUIST-31NOV01'))).result
  }
  const reported = "Who is named in Quist's list before November 2031?"
  assert.equal(result('2031-12-31', reported, 'Before Nov 1, 2031'), 'other')
  assert.equal(result('2031-11-03', reported, 'Before Nov 1, 2031'), 'hint')
  assert.equal(result('2031-08-31', reported, 'Before Nov 1, 2031'), 'hint')
  const plain = "Who is named in Quist's list?"
  assert.equal(result('2031-12-31', plain, 'Before Nov 1, 2031'), 'hint')
})

test('parses a deadline as the same day in any wording', () => {
  const published = [
    'before Oct 2031',
    'by September 30',
    'before October 1, 2031',
    'by the end of September 2031',
  ]
  for (const text of published) assert.match(read(text)[0] ?? '', /2031-09-30$/, text)
  assert.match(read('before 2032')[0] ?? '', /2031-12-31$/)
  const a = understandEvent(eventA('Will Zembla join the League by December 31?', '2031-12-31'))
  const b = understandEvent(
    eventB('Will Zembla join the League?', 'Before Jan 1, 2032', 'KXZEM-32JAN01'),
  )
  assert.equal(compareDates(a, b).result, 'same')
  const later = understandEvent(eventB('Will Zembla join?', 'Before Mar 1, 2032', 'KXZEM-32MAR01'))
  assert.equal(compareDates(a, later).result, 'other')
})

test('treats the close time of a market as a hint unless the close time is far from the day in the text', () => {
  const a = understandEvent(eventA('What will Quist say at the gala?', '2031-05-02'))
  const near = understandEvent(
    eventB('What will Quist say at the gala?', 'On May 3, 2031', 'KXQUIST-31MAY04'),
  )
  const far = understandEvent(
    eventB('What will Quist say at the gala?', 'On Jul 30, 2031', 'KXQUIST-31JUL31'),
  )
  assert.equal(compareDates(a, near).result, 'hint')
  assert.equal(compareDates(a, far).result, 'other')
  const cup = understandEvent(eventA('League Cup winner', '2031-11-02'))
  const last = understandEvent(eventB('League Cup champion?', 'On May 21, 2031', 'KXCUP-31'))
  assert.equal(compareDates(cup, last).result, 'other')
})

test('distinguishes the last week of a month from the month', () => {
  const week = understandEvent(
    eventA('What will Quist say this week (August 25 - 31)?', '2031-08-31'),
  )
  const month = understandEvent(
    eventB('What will Quist say in Aug 2031?', 'In Aug 2031', 'KXQ-31SEP'),
  )
  assert.equal(compareDates(week, month).result, 'other')
  const own = understandEvent(
    eventB('What will Quist say during the week of Aug 25, 2031?', '', 'KXQ-31SEP01'),
  )
  assert.equal(compareDates(week, own).result, 'same')
})

test('parses a time window with both ends and a time zone', () => {
  assert.deepEqual(windowOf('may 4, 4:00pm-4:15pm et'), { from: 16, to: 16.25 })
  assert.deepEqual(windowOf('may 4 - 11:50pm edt to 12:05am edt'), {
    from: 23 + 50 / 60,
    to: 5 / 60,
  })
  assert.equal(windowOf('at 4pm et'), null)
  assert.equal(windowOf('may 4-11'), null)
})

test('parses the day, the hour or start time, and the suffix of a ticker', () => {
  assert.deepEqual(dateOfTicker('31MAY1021'), {
    grain: 'day',
    first: day('2031-05-10'),
    last: day('2031-05-10'),
    hour: 21,
    rest: '',
  })
  assert.equal(dateOfTicker('31MAY091610ABCDEF')?.rest, 'ABCDEF')
  assert.equal(dateOfTicker('31MAY100100G2XYZ')?.rest, 'G2XYZ')
  assert.equal(dateOfTicker('31OCT')?.grain, 'month')
  assert.equal(dateOfTicker('31')?.grain, 'year')
  assert.equal(dateOfTicker('CUP31'), null)
  assert.equal(dateOfTicker('31FEB30'), null)
})

test('parses times of day in texts', () => {
  assert.equal(hourOf('at 7am edt'), 7)
  assert.equal(hourOf('12:30 pm et'), 12.5)
  assert.equal(hourOf('12am'), 0)
  assert.equal(hourOf('at noon'), 12)
  assert.equal(hourOf('i am 40'), null)
})
