import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SuspectAnswerError } from '../../../../engine/venues/answer-checks.ts'
import { readDrift } from '../../../../engine/venues/drift/drift-report.ts'
import { ROW } from '../../../../engine/venues/drift/row-checks.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { quietDrift } from '../../../support/fakes/quiet-drift.ts'
import { quietVenue } from '../../../support/fakes/quiet-venue.ts'

function venueThat(crawl: () => Promise<void>) {
  const drift = quietDrift()
  return { drift, catalog: { ...quietVenue('a', new ManualClock()).catalog, crawl } }
}

const check = (venue: Parameters<typeof readDrift>[0]) =>
  readDrift(venue, 'venue_a', () => undefined, new AbortController().signal)

test('lists unreadable markets up to a limit, each with a reason, and counts all unreadable markets', async () => {
  const few = venueThat(async () => {
    few.drift.shares.refused('no_slug', '7 a "name"', ROW)
    few.drift.shares.refused('bad_book', 'a message', 'book')
  })
  assert.deepEqual(await check(few), {
    lines: [
      'drift venue_a unread no_slug "7 a \\"name\\""',
      'drift venue_a: 1 rows not read (no_slug 1), 1 shown',
      'drift venue_a: none; 0 markets read',
    ],
    hasLoss: false,
    isComplete: true,
  })
  const many = venueThat(async () => {
    for (let row = 0; row < 1_000; row += 1) many.drift.shares.refused('no_tokens', `${row}`, ROW)
  })
  const { lines, hasLoss } = await check(many)
  assert.equal(lines.filter((line) => line.includes(' unread ')).length, 200)
  assert.ok(lines.includes('drift venue_a: 1000 rows not read (no_tokens 1000), 200 shown'))
  assert.match(lines[0] ?? '', /rows\.refused=no_tokens/)
  assert.equal(hasLoss, true)
})

test('marks the drift check as incomplete when a request fails, and reports a malformed list as a loss', async () => {
  const dead = venueThat(() => Promise.reject(new Error('connection refused')))
  dead.drift.probes.add({ status: () => Promise.reject(new Error('no')), trades: async () => {} })
  assert.deepEqual(await check(dead), {
    lines: [
      'drift venue_a failed status: not answered',
      'drift venue_a failed catalogue: connection refused',
      'drift venue_a: 0 findings, 0 of them losses, 2 questions not answered; 0 markets read',
    ],
    hasLoss: false,
    isComplete: false,
  })
  const odd = venueThat(() =>
    Promise.reject(new SuspectAnswerError('catalogue', 'shape', 'no list')),
  )
  const { lines, hasLoss, isComplete } = await check(odd)
  assert.match(lines[0] ?? '', /^drift venue_a answer=catalogue shape first=/)
  assert.deepEqual([hasLoss, isComplete], [true, false])
})
