import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConnectQueue } from '../../../engine/venues/connect-queue.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const LIMITS = { apartMs: 100, unansweredMax: 2, answerWaitMs: 1_000, refusedWaitMs: 3_000 }

function open() {
  const clock = new ManualClock()
  const queue = new ConnectQueue(clock, LIMITS)
  const connected: number[] = []
  const request = (connection: number) =>
    queue.request(connection, () => connected.push(connection))
  return { clock, queue, connected, request }
}

describe('connect queue', () => {
  it('opens the first connection at once, and each further connection after an interval', () => {
    const { clock, queue, connected, request } = open()
    for (const connection of [4, 3, 1, 2]) request(connection)
    assert.deepEqual(connected, [4])
    for (const expected of [
      [4, 1],
      [4, 1, 2],
      [4, 1, 2, 3],
    ]) {
      for (const connection of connected) queue.settle(connection)
      clock.advance(99)
      assert.equal(connected.length, expected.length - 1)
      clock.advance(1)
      assert.deepEqual(connected, expected)
    }
    assert.equal(clock.timerCount, 0)
  })

  it('opens no further connection while the maximum number of connections waits for an answer', () => {
    const { clock, queue, connected, request } = open()
    for (const connection of [1, 2, 3, 4, 5]) request(connection)
    clock.advance(500)
    assert.deepEqual(connected, [1, 2])
    queue.settle(2)
    queue.settle(9)
    assert.deepEqual(connected, [1, 2, 3])
    clock.advance(499)
    assert.deepEqual(connected, [1, 2, 3])
    clock.advance(1)
    assert.deepEqual(connected, [1, 2, 3, 4], 'the first is unanswered for too long')
    clock.advance(100)
    request(4)
    assert.deepEqual(connected, [1, 2, 3, 4, 4], 'a connection that failed waits again')
  })

  it('waits longer before the next connection after the venue refused a connection', () => {
    const { clock, queue, connected, request } = open()
    request(1)
    request(2)
    queue.noteRefused()
    queue.settle(1)
    clock.advance(2_999)
    assert.deepEqual(connected, [1])
    clock.advance(1)
    assert.deepEqual(connected, [1, 2])
  })

  it('removes a waiting connection when it is cancelled, and all waiting connections on stop', () => {
    const { clock, queue, connected, request } = open()
    request(1)
    const cancel = request(2)
    request(3)
    cancel()
    clock.advance(100)
    assert.deepEqual(connected, [1, 3])
    request(4)
    queue.stop()
    clock.advance(5_000)
    assert.deepEqual([connected, clock.timerCount], [[1, 3], 0])
  })
})
