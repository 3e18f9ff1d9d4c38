import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../../../engine/ids.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { noteRequested, ResyncQueue } from '../../../../../engine/venues/polymarket/book/resync.ts'
import { Tracks } from '../../../../../engine/venues/polymarket/book/tracks.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

function trackOf(number: number) {
  const outcomes = [outcomeId(`${number}1`), outcomeId(`${number}2`)]
  const times = { openAtMs: null, closeAtMs: null }
  const nativeId = nativeMarketId(`0x${number}`)
  const market = { nativeId, outcomes, status: 'open', ...times } as const
  return new Tracks().add(market) ?? assert.fail('the market was not added')
}

test('resets the book counters of the previous subscription when a snapshot is requested', () => {
  const track = trackOf(1)
  track.note({ venueTimeMs: timeMs(5), hash: 'h', top: null })
  Object.assign(track, { bookTimeMs: 5, firstBookCount: 1, secondBookCount: 2, secondBookAt: 3 })
  Object.assign(track, { tickText: '0.01' })
  noteRequested(track, 0)
  const { bookTimeMs, firstBookCount, secondBookCount, secondBookAt, tickText, lastHash } = track
  assert.deepEqual(
    [bookTimeMs, firstBookCount, secondBookCount, secondBookAt, tickText, lastHash],
    [0, 0, 0, null, '', null],
  )
  assert.equal(track.lastTimeMs, 5)
})

test('requests at most 200 snapshots per period, in the order in which they were requested', () => {
  const clock = new ManualClock()
  const sent: number[] = []
  const tracks = Array.from({ length: 450 }, (_, number) => trackOf(number))
  const queue = new ResyncQueue(clock, (due) =>
    sent.push(...due.map((track) => tracks.indexOf(track))),
  )
  for (const track of tracks) queue.request(track)
  const counts = [1, 2, 3].map(() => {
    clock.advance(20)
    return sent.length
  })
  assert.deepEqual(counts, [200, 400, 450])
  assert.deepEqual(sent, [...tracks.keys()])
})
