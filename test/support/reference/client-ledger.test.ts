// Each kind of violation is detected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamEvent } from '../../../http/client/connect.ts'
import { ClientLedger, type TrueTrade } from './client-ledger.ts'

const MARKET = 'venue_a_one'
const position = { market_id: MARKET, epoch: 'e1' }

function book(type: 'snapshot' | 'update', seq: number, epoch = 'e1'): StreamEvent {
  const times = { timestamp_ms: 0, received_ms: 0, published_ms: 0 }
  const data = { bids: [], asks: [], spread: null, mid_price: null }
  const counted = { ...position, ...times, epoch, offset: seq, seq, checksum: null, data }
  const channel = 'orderbook'
  if (type === 'update') return { type, channel, ...counted }
  return { type, channel, ...counted, stale: false, checksum: 0 }
}

function trade(seq: number): StreamEvent {
  const data = {
    ...{ id: `T${seq}`, market_id: MARKET, platform: 'venue_a', price: 0.5, size: 1 },
    ...{ side: 'buy', outcome: 'Yes', size_usd: 0.5, timestamp_ms: seq },
    ...{ taker_outcome: 'Yes', taker_side: 'buy', taker_price: 0.5 },
  }
  const times = { timestamp_ms: 0, received_ms: 0, published_ms: 0 }
  return { type: 'trade', channel: 'trades', ...position, ...times, offset: seq, seq, data }
}

const gap = (channel: 'orderbook' | 'trades', fromSeq: number, toSeq: number): StreamEvent => ({
  ...{ type: 'gap', channel, market_id: MARKET, platform: null, cause: 'seq_hole' },
  ...{ state_follows: channel === 'orderbook', from_ms: null, to_ms: null },
  ...{ from_seq: fromSeq, to_seq: toSeq, lost: null },
})

const synced: StreamEvent = { type: 'synced', id: 1, channel: 'trades', epoch: 'e1', offset: 2 }

function ledgerOf(...events: readonly StreamEvent[]): ClientLedger {
  const ledger = new ClientLedger('one')
  for (const event of events) ledger.take(event)
  return ledger
}

test('detects an unannounced gap in a book’s seq', () => {
  const first = book('snapshot', 5)
  assert.equal(ledgerOf(first, book('update', 6)).faults.length, 0)
  assert.equal(ledgerOf(first, book('update', 7)).faults.length, 1)
  assert.equal(ledgerOf(first, book('update', 5)).faults.length, 1)
  assert.equal(ledgerOf(first, book('snapshot', 9)).faults.length, 1)
  assert.equal(ledgerOf(first, book('snapshot', 0, 'e2')).faults.length, 1)
  assert.equal(ledgerOf(book('update', 1)).faults.length, 1)
  const published = gap('orderbook', 6, 8)
  assert.equal(ledgerOf(first, published, book('snapshot', 9)).faults.length, 0)
  assert.equal(ledgerOf(first, published, book('update', 9)).faults.length, 1)
})

test('detects a repeated, missing or invented trade', () => {
  const truth = [1, 2, 3, 4].map((seq): TrueTrade => {
    return { market: MARKET, id: `t${seq}`, offset: seq, seq, atMs: seq }
  })
  const compared = (...events: readonly StreamEvent[]) =>
    ledgerOf(synced, ...events).compare(truth, () => true)
  assert.deepEqual(compared(trade(3), trade(4)), {
    ...{ due: 2, handed: 2, announced: 0, missing: [], extra: [] },
  })
  assert.equal(ledgerOf(trade(3), trade(3)).faults.length, 1)
  assert.equal(compared(trade(4)).missing.length, 1)
  assert.equal(compared(trade(3), gap('trades', 4, 4)).announced, 1)
  assert.equal(compared(trade(3), gap('trades', 5, 6)).missing.length, 1)
  assert.equal(compared(trade(3), trade(4), trade(5)).extra.length, 1)
})
