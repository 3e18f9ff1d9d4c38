import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { ListCursors, parseTimeCursor, timeCursor } from '../../../http/request/cursor.ts'

test('accepts a list cursor when a request has the same filters as the first page, and rejects the cursor otherwise', () => {
  const cursors = new ListCursors()
  const cursor = cursors.encode({ pin: 17, offset: 40 }, 'filters')
  assert.match(cursor, /^[\w-]+$/)
  assert.deepEqual(cursors.decode(cursor, 'filters'), { pin: 17, offset: 40 })
  assert.equal(cursors.decode(cursor, 'other filters'), null)
  assert.equal(new ListCursors().decode(cursor, 'filters'), null, 'of another process')
})

test('refuses a cursor if any character of the cursor is changed', () => {
  const cursors = new ListCursors()
  const random = seededRandom('cursors')
  const cursor = cursors.encode({ pin: 3, offset: 200 }, 'f')
  for (let round = 0; round < 300; round += 1) {
    const position = random.below(cursor.length)
    const letter = random.pick(Array.from('ABCxyz019-_!='))
    const edited = cursor.slice(0, position) + letter + cursor.slice(position + 1)
    if (edited !== cursor) assert.equal(cursors.decode(edited, 'f'), null, edited)
  }
  for (const text of ['', '!', 'A', 'a'.repeat(600), '3.200', `${cursor}=`, ` ${cursor}`]) {
    assert.equal(cursors.decode(text, 'f'), null, text)
  }
})

test('encodes a time-range cursor as a millisecond, and adds an ordinal when a page ends within the millisecond', () => {
  assert.equal(timeCursor({ timeMs: 5, ordinal: 2 }, { timeMs: 4, ordinal: 0 }), '5')
  assert.equal(timeCursor({ timeMs: 5, ordinal: 2 }, { timeMs: 5, ordinal: 1 }), '5.2')
  assert.deepEqual(parseTimeCursor('1700000000123'), { timeMs: 1700000000123, ordinal: null })
  assert.deepEqual(parseTimeCursor('1700000000123.7'), { timeMs: 1700000000123, ordinal: 7 })
  for (const text of ['', 'x', '1.', '.1', '-1', '1.2.3', '1e3', ' 1', '9'.repeat(16)]) {
    assert.equal(parseTimeCursor(text), null, text)
  }
})
