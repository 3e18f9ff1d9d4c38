import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headingOf, rowOf } from '../../../../engine/app/commands/watch-table.ts'
import { CHANNEL_NAMES } from '../../../../http/ws/channels/channels.ts'

const long = 'x'.repeat(200)
const data = Object.fromEntries(
  [
    ...['price', 'best_bid', 'best_ask', 'spread', 'source', 'side', 'size', 'size_usd', 'outcome'],
    ...['question', 'event', 'status', 'profit_usd', 'contracts', 'edge', 'interval', 'open'],
    ...['high', 'low', 'close', 'volume'],
  ].map((name) => [name, long]),
)

test('fits the heading and each row of every channel into 80 columns', () => {
  const message = { type: 'update', market_id: long, timestamp_ms: 0, data }
  for (const channel of CHANNEL_NAMES) {
    assert.ok(headingOf(channel, 80).length <= 80, channel)
    const row = rowOf(channel, message, 80) ?? ''
    assert.ok(row.length > 60 && row.length <= 80, `${channel}: ${row}`)
  }
})

test('shows the start and the end of a long market id, and all of it on a wide terminal', () => {
  const market_id = 'venue_b_KXBTCD-26NOV2817-T104000'
  const message = { type: 'update', market_id, timestamp_ms: 0, data }
  assert.match(rowOf('trades', message, 80) ?? '', /^00:00:00 {4}venue_b…104000 /)
  assert.ok(rowOf('trades', message, 120)?.includes(market_id))
})

test('rounds a number that is too long for its column', () => {
  const message = { type: 'update', market_id: 'venue_a_1', timestamp_ms: 0 }
  const row = rowOf('candles', { ...message, data: { open: 0.0158731, volume: 1_234.5678901 } }, 80)
  assert.match(row ?? '', / 0\.0159 .* 1234\.568$/)
})
