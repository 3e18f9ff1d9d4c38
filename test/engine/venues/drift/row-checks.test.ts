import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRows, ROW, type RowShape } from '../../../../engine/venues/drift/row-checks.ts'
import { quietDrift } from '../../../support/fakes/quiet-drift.ts'

const SHAPE: RowShape = {
  kind: 'rows',
  needed: { id: 'text', price: 'number', tags: 'list' },
  further: new Set(['title']),
}

function namesIn(rows: readonly unknown[]) {
  const drift = quietDrift()
  checkRows(SHAPE, rows, drift)
  return drift.entries().map(({ name, weight }) => `${name} ${weight}`)
}

test('reports a field that is missing or mistyped in all rows of a page as a loss, and a new field as a notice', () => {
  const row = { id: 'x', price: 0.5, tags: [], title: 'X' }
  assert.deepEqual(namesIn([row, row]), [])
  assert.deepEqual(namesIn([row, { id: 7 }]), [])
  assert.deepEqual(namesIn([{ ...row, price: null }]), [])
  assert.deepEqual(namesIn([]), [])
  const { price, ...rest } = row
  assert.deepEqual(namesIn([{ ...rest, cost: price }]), ['price missing loss', 'cost new notice'])
  assert.deepEqual(namesIn([{ ...row, price: '0.5', tags: {} }]), [
    'price is text loss',
    'tags is object loss',
  ])
  assert.deepEqual(namesIn(['text']), ['no object loss'])
})

test('reports a field that over 1 % of a venue’s rows in an interval lack', () => {
  const drift = quietDrift()
  const logLine = (name: string, reported: number, unsaid: number) => {
    for (let each = 0; each < reported + unsaid; each += 1) {
      drift.shares.noteField({ kind: 'row.field', name }, each < reported, `row ${each}`)
    }
  }
  const found = () => drift.entries().map(({ name, count, sample }) => `${name} ${count} ${sample}`)
  logLine('rare', 1_000, 10)
  logLine('few', 0, 2)
  drift.checkShares()
  logLine('few', 0, 2)
  drift.checkShares()
  assert.deepEqual(found(), [])
  logLine('gone', 100, 3)
  drift.checkShares()
  drift.checkShares()
  assert.deepEqual(found(), ['gone 1 row 100'])
})

test('reports a refusal reason that affects over 1 % of the messages of a kind', () => {
  const drift = quietDrift()
  const { shares } = drift
  const read = (kind: string, count: number) => {
    for (let each = 0; each < count; each += 1) shares.read(kind)
  }
  const refuse = (reason: string, kind: string | null, count: number) => {
    for (let each = 0; each < count; each += 1) shares.refused(reason, `${reason} ${each}`, kind)
  }
  read('book', 10_000)
  refuse('bad_last', 'last', 3)
  refuse('bad_book', 'book', 100)
  refuse('html', null, 50)
  refuse('two_rows', ROW, 2)
  drift.checkShares()
  assert.deepEqual(
    drift.entries().map(({ kind, name }) => `${kind}=${name}`),
    ['messages.refused=bad_last'],
  )
  refuse('bad_book', 'book', 5)
  refuse('no_tokens', ROW, 3)
  drift.checkShares()
  assert.deepEqual(
    drift.entries().map(({ kind, name }) => `${kind}=${name}`),
    ['messages.refused=bad_last', 'messages.refused=bad_book', 'rows.refused=no_tokens'],
  )
  assert.equal(shares.unread.get('no_tokens 2'), 'no_tokens')
  assert.equal(shares.unread.size, 5)
  for (let each = 0; each < 1_000; each += 1) shares.refused('no_slug', `row ${each}`, ROW)
  assert.equal(shares.unread.size, 200)
})
