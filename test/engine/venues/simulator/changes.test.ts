// Invented changes: each is of the answers and frames that it names, and of no others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Changes } from '../../../../engine/venues/simulator/changes.ts'

const answer = (value: unknown) => ({
  ...{ status: 200, contentType: 'application/json', body: JSON.stringify(value) },
})

test('applies a change only to its own answers and frames, until another change is set', () => {
  const changes = new Changes()
  const rows = answer({ data: [{ price: 0.5, size: 1 }], pagination: { has_more: false } })
  const trade = '{"type":"trade","sid":1,"seq":1,"msg":{}}'
  assert.equal(changes.editAnswer('/v2/trades', rows), rows)
  assert.deepEqual(changes.editFrame(trade), [trade])

  changes.set(['trade_price_renamed', 'cursor_missing', 'cursor_circles', 'error_code_new'])
  assert.deepEqual(JSON.parse(changes.editAnswer('/v2/trades', rows).body), {
    data: [{ size: 1, unit_price: 0.5 }],
    pagination: { has_more: true, next_cursor: null },
  })
  assert.equal(changes.editAnswer('/v2/activity', rows), rows)
  const query = new URLSearchParams('after_cursor=x&limit=1')
  changes.editRequest('/markets/keyset', query)
  assert.equal(query.size, 2)
  changes.editRequest('/events/keyset', query)
  assert.equal(String(query), 'limit=1')
  const error = '{"type":"error","id":0,"msg":{"code":99,"msg":"slow"}}'
  assert.deepEqual(changes.editFrame(trade), [trade, error])
  assert.deepEqual(changes.editFrame(Buffer.from('PONG')), ['PONG'])

  changes.set(['trade_type_renamed'])
  assert.equal(changes.editAnswer('/v2/trades', rows), rows)
  assert.deepEqual(changes.editFrame(trade), ['{"type":"fill","sid":1,"seq":1,"msg":{}}'])
})

test('leaves a refusal unchanged when a change of rows is active', () => {
  const changes = new Changes(['question_gone', 'fee_type_new'])
  const refused = { status: 429, contentType: 'text/plain', body: 'busy' }
  assert.deepEqual(changes.editAnswer('/events/keyset', refused), refused)
})
