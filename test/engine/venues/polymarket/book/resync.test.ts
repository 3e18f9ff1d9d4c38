import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../../../engine/ids.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { ResyncQueue } from '../../../../../engine/venues/polymarket/book/resync.ts'
import { Tracks } from '../../../../../engine/venues/polymarket/book/tracks.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

test('resets the book counters of the old subscription when it requests a snapshot', () => {
  const clock = new ManualClock()
  const outcomes = [outcomeId('1'), outcomeId('2')]
  const times = { openAtMs: null, closeAtMs: null }
  const market = { nativeId: nativeMarketId('0x1'), outcomes, status: 'open', ...times } as const
  const track = new Tracks().add(market) ?? assert.fail('the market was not added')
  track.note({ venueTimeMs: timeMs(5), hash: 'h', top: null })
  Object.assign(track, { bookTimeMs: 5, firstBookCount: 1, secondBookCount: 2, secondBookAt: 3 })
  Object.assign(track, { tickText: '0.01' })
  const requested: unknown[] = []
  const queue = new ResyncQueue(clock, (tracks) => requested.push(...tracks))
  queue.request(track)
  clock.advance(20)
  assert.deepEqual(requested, [track])
  const { bookTimeMs, firstBookCount, secondBookCount, secondBookAt, tickText, lastHash } = track
  assert.deepEqual(
    [bookTimeMs, firstBookCount, secondBookCount, secondBookAt, tickText, lastHash],
    [0, 0, 0, null, '', null],
  )
  assert.equal(track.lastTimeMs, 5)
})
