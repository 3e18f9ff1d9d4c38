import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookView } from '../../../http/client/connect.ts'
import { BookHistory, type BookMoment } from './book-history.ts'

const moment = (seq: number, size: number): BookMoment => {
  return { epoch: 'k', seq, bids: [{ price: 0.4, size }], asks: [] }
}
const view = (seq: number, size: number): BookView => ({
  ...{ marketId: 'm', offset: seq, isStale: false, isInSync: true, timestampMs: 0, receivedMs: 0 },
  ...{ spread: null, midPrice: null, ...moment(seq, size) },
})

test('reports a book that differs from the client’s at the same seq once no matching update can still arrive', () => {
  const memory = new BookHistory()
  const result = (seq: number, size: number) => memory.compare('m', moment(seq, size))
  assert.equal(result(3, 1), 'open')
  memory.note(view(3, 1), false)
  memory.note(view(4, 2), true)
  assert.deepEqual([result(3, 1), result(4, 2)], ['equal', 'equal'])
  assert.deepEqual([result(3, 9), result(4, 9), result(5, 1)], ['different', 'open', 'open'])
  assert.equal(memory.compare('m', { ...moment(4, 2), epoch: 'other' }), 'open')
  // After a gap at the venue the same seq has another book.
  memory.note(view(4, 9), false)
  assert.deepEqual([result(4, 2), result(4, 9)], ['equal', 'equal'])
  memory.note(view(5, 3), true)
  assert.equal(result(4, 8), 'different')
  // Disconnected; a snapshot follows later.
  memory.note(view(8, 3), false)
  assert.deepEqual([result(5, 7), result(6, 7)], ['unknown', 'unknown'])
})
