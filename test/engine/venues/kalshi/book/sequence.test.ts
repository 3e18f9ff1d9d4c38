import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { VenueEvent } from '../../../../../engine/events.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { SequenceCheck } from '../../../../../engine/venues/kalshi/book/sequence.ts'
import { KalshiStream } from '../../../../../engine/venues/kalshi/stream.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

const NOW = timeMs(1_790_000_000_000)

describe('Kalshi sequence numbers', () => {
  it('expects sequence numbers from 1 for each subscription id separately', () => {
    const check = new SequenceCheck()
    assert.equal(check.note(1, 1), 'inOrder')
    assert.equal(check.note(2, 1), 'inOrder')
    assert.equal(check.note(1, 2), 'inOrder')
    assert.equal(check.note(3, 2), 'gap', 'the first message of the sid is missing')
  })

  it('reports a gap in the sequence once, and reports messages with older numbers as late', () => {
    const check = new SequenceCheck()
    const results = [1, 2, 5, 6, 3, 4, 6, 7].map((seq) => check.note(1, seq))
    const late = ['late', 'late', 'late']
    assert.deepEqual(results, ['inOrder', 'inOrder', 'gap', 'inOrder', ...late, 'inOrder'])
  })

  it('accepts sequence numbers that restart after a series of late messages', () => {
    const check = new SequenceCheck()
    for (let seq = 1; seq <= 5_000; seq += 1) check.note(1, seq)
    let lateCount = 0
    let seq = 1
    while (check.note(1, seq) === 'late') {
      lateCount += 1
      seq += 1
    }
    assert.ok(lateCount < 250)
    assert.equal(check.note(1, seq + 1), 'inOrder')
  })

  it('does not treat late messages as a restart of the sequence while other messages arrive in order', () => {
    const check = new SequenceCheck()
    check.note(1, 1)
    for (let seq = 2; seq <= 100; seq += 1) {
      assert.deepEqual([check.note(1, seq), check.note(1, 1)], ['inOrder', 'late'])
    }
  })

  it('expects the sequence of every subscription id to start from 1 after `clear`', () => {
    const check = new SequenceCheck()
    check.note(1, 1)
    check.clear()
    assert.equal(check.note(1, 1), 'inOrder')
  })
})

function openStream() {
  const events: VenueEvent[] = []
  const gaps: number[] = []
  const lost: (string | null)[] = []
  const stream = new KalshiStream(
    {
      emit: (event) => events.push(event),
      onReply: () => {},
      onGap: (sid) => gaps.push(sid),
      onLost: (_sid, ticker) => lost.push(ticker),
    },
    venueCounters('b').counters,
  )
  const take = (value: unknown) =>
    stream.take({ connection: 1, receivedAtMs: NOW, text: JSON.stringify(value) })
  const delta = (seq: number, more: object = {}) =>
    take({
      type: 'orderbook_delta',
      sid: 1,
      seq,
      msg: { market_ticker: 'T', price_dollars: '0.5', delta_fp: '1', side: 'yes', ...more },
    })
  const trade = (seq: number, tradeId: string) =>
    take({
      type: 'trade',
      sid: 1,
      seq,
      msg: {
        trade_id: tradeId,
        market_ticker: 'T',
        yes_price_dollars: '0.5',
        count_fp: '1',
        taker_side: 'yes',
        ts_ms: 1_790_000_000_000,
      },
    })
  return { stream, events, gaps, lost, take, delta, trade }
}

describe('Kalshi stream', () => {
  it('applies a duplicate book delta once, and forwards the change that follows a sequence gap', () => {
    const { events, gaps, delta } = openStream()
    for (const seq of [1, 2, 2, 4, 3]) delta(seq)
    assert.deepEqual([events.length, gaps], [3, [1]])
  })

  it('forwards a late trade, because receivers detect repeated trades by id', () => {
    const { events, trade } = openStream()
    for (const [seq, id] of [
      [1, 'a'],
      [3, 'c'],
      [2, 'b'],
    ] as const)
      trade(seq, id)
    assert.equal(events.length, 3)
  })

  it('marks the one market of an unusable message as suspect, and reports no sequence gap', () => {
    const { gaps, lost, delta } = openStream()
    delta(1)
    delta(2, { price_dollars: '7.5' })
    delta(3, { side: 'up' })
    delta(4)
    assert.deepEqual([lost, gaps], [['T', 'T'], []])
  })

  it('counts replies in the sequence, and starts the sequence of a new subscription at 1', () => {
    const { gaps, take, delta } = openStream()
    delta(1)
    take({ id: 3, sid: 1, seq: 2, type: 'ok', msg: { market_tickers: ['T'] } })
    take({ type: 'event_fee_update', sid: 1, seq: 3, msg: {} })
    delta(4)
    take({ id: 1, type: 'subscribed', msg: { channel: 'orderbook_delta', sid: 1 } })
    delta(1)
    assert.deepEqual(gaps, [])
  })
})
