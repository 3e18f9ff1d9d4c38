import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseActivity, parseFrame } from '../../../../engine/venues/polymarket/parse.ts'

const kinds = (text: string) => {
  const parsed = parseFrame(text)
  if (parsed.kind !== 'messages') return parsed.kind
  return parsed.messages.map((message) =>
    message.kind === 'rejected' ? message.reason : message.kind,
  )
}

test('reads frames of plain words as heartbeats or notices, and rejects HTML and truncated text', () => {
  assert.equal(kinds('PONG'), 'sign')
  assert.equal(kinds('PONG\n'), 'sign')
  assert.deepEqual(kinds('{"event_type":{"toString":1}}'), ['unknown_event_type'])
  assert.equal(kinds(''), 'sign')
  assert.equal(kinds('NO NEW ASSETS'), 'notice')
  assert.equal(kinds('INVALID OPERATION'), 'notice')
  assert.deepEqual(kinds('<html><body>502</body></html>'), ['html'])
  assert.deepEqual(kinds('{"event_type":'), ['not_json'])
  assert.deepEqual(kinds('\u0000\u0001'), ['not_json'])
})

test('reads a frame with a single message or an array of messages, and skips one malformed message', () => {
  const book = '{"event_type":"book","asset_id":"1","timestamp":"1","bids":[],"asks":[]}'
  const rest = '{"asset_id":"1","timestamp":"1","bids":[],"asks":[]}'
  assert.deepEqual(kinds(book), ['book'])
  assert.deepEqual(kinds('[]'), [])
  assert.deepEqual(kinds(`[${book},7,${rest},{"event_type":"moon"},{}]`), [
    'book',
    'not_object',
    'book',
    'unknown_event_type',
    'no_event_type',
  ])
})

test('reports the tokens of the books that a rejected message affects', () => {
  const tokens = (text: string) => {
    const parsed = parseFrame(text)
    assert.equal(parsed.kind, 'messages')
    const [first] = parsed.kind === 'messages' ? parsed.messages : []
    assert.equal(first?.kind, 'rejected')
    return first?.kind === 'rejected' ? first.tokens : []
  }
  assert.deepEqual(tokens('{"event_type":"book","asset_id":"7","timestamp":1}'), ['7'])
  const entries = '[{"asset_id":"7","price":0.5},{"asset_id":"8"}]'
  assert.deepEqual(tokens(`{"event_type":"price_change","price_changes":${entries}}`), ['7', '8'])
  assert.deepEqual(tokens('{"event_type":"price_change","price_changes":[{"asset_id": "9","pr'), [
    '9',
  ])
  // A message with unknown field names counts as a lost book message if it has the shape of a book or a change.
  assert.deepEqual(tokens(`{"event_type":"price_change","entries":${entries}}`), ['7', '8'])
  assert.deepEqual(tokens(`{"event_type":"change_2","price_changes":${entries}}`), ['7', '8'])
  assert.deepEqual(tokens('{"event_type":"book_2","asset_id":"7","bids":[],"asks":[]}'), ['7'])
  assert.deepEqual(tokens('{"event_type":"hint","asset_id":"7"}'), [])
})

test('distinguishes the two trade types of the activity topic from all other frames', () => {
  const row =
    '{"proxyWallet":"0xa","asset":"1","conditionId":"0xb","side":"BUY","size":1,"price":0.5,"timestamp":1795000000,"transactionHash":"0xc"}'
  const kindOf = (type: string, payload: string, topic = 'activity') => {
    const parsed = parseActivity(`{"topic":"${topic}","type":"${type}","payload":${payload}}`)
    return parsed.kind === 'activity' ? parsed.message.kind : parsed.kind
  }
  assert.equal(kindOf('orders_matched', row), 'matched')
  assert.equal(kindOf('trades', row), 'participant')
  assert.equal(kindOf('update', row), 'other')
  assert.equal(kindOf('trades', row, 'comments'), 'other')
  assert.equal(kindOf('trades', '{}'), 'rejected')
  assert.equal(kindOf('trades', '[1]'), 'rejected')
  const bare = (payload: string) => {
    const parsed = parseActivity(`{"connection_id":"x","payload":${payload}}`)
    return parsed.kind === 'activity' ? parsed.message.kind : parsed.kind
  }
  assert.equal(bare(row), 'unnamed', 'recognized by its fields')
  assert.equal(bare('{"symbol":"btcusdt","value":1}'), 'other')
  assert.equal(parseActivity(`{"type":"trades","payload":${row}}`).kind, 'activity')
  assert.equal(parseActivity('').kind, 'sign')
  assert.equal(parseActivity('PONG').kind, 'sign')
  assert.equal(parseActivity('{"connection_id":"x"}').kind, 'sign')
  assert.equal(parseActivity('{"payload":').kind, 'rejected')
  assert.equal(parseActivity('<html>no</html>').kind, 'rejected')
  assert.equal(parseActivity('\n<!DOCTYPE HTML><HTML>no</HTML>').kind, 'rejected')
})
