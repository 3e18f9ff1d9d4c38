import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import {
  parseOrderbookRow,
  parseTradeRow,
} from '../../../../engine/venues/kalshi/catalog/rest-rows.ts'
import { mapMessage } from '../../../../engine/venues/kalshi/map.ts'
import { parseFrame } from '../../../../engine/venues/kalshi/parse.ts'

const DELTA = {
  type: 'orderbook_delta',
  sid: 1,
  seq: 2,
  msg: {
    market_ticker: 'T',
    market_id: 'u',
    price_dollars: '0.4400',
    delta_fp: '-4.00',
    side: 'yes',
    ts: '2026-09-21T17:00:00Z',
    ts_ms: 1_790_010_000_000,
  },
}
const SNAPSHOT = {
  type: 'orderbook_snapshot',
  sid: 1,
  seq: 1,
  msg: { market_ticker: 'T', market_id: 'u', yes_dollars_fp: [['0.4400', '10.00']] },
}
const TRADE = {
  type: 'trade',
  sid: 2,
  seq: 9,
  msg: {
    trade_id: 'x-1',
    market_ticker: 'T',
    yes_price_dollars: '0.3600',
    no_price_dollars: '0.6400',
    count_fp: '136.00',
    taker_outcome_side: 'no',
    taker_side: 'no',
    ts: 1_790_010_000,
    ts_ms: 1_790_010_000_123,
  },
}
const LIFECYCLE = {
  type: 'market_lifecycle_v2',
  sid: 3,
  seq: 1,
  msg: { event_type: 'settled', market_ticker: 'T', settled_ts: 1_790_010_000, result: 'yes' },
}

const parse = (value: unknown) => parseFrame(JSON.stringify(value))
const withField = (base: { msg: object }, name: string, value: unknown) => ({
  ...base,
  msg: { ...base.msg, [name]: value },
})

describe('parser of Kalshi messages', () => {
  it('reads each kind of message in which numbers are sent as texts', () => {
    assert.deepEqual(parse(DELTA), {
      kind: 'orderbookDelta',
      sid: 1,
      seq: 2,
      ticker: 'T',
      price: '0.4400',
      delta: '-4.00',
      side: 'yes',
      timeMs: 1_790_010_000_000,
    })
    const snapshot = parse(SNAPSHOT)
    assert.ok(snapshot.kind === 'orderbookSnapshot')
    assert.deepEqual([snapshot.yes, snapshot.no], [[['0.4400', '10.00']], []])
    const trade = parse(TRADE)
    assert.ok(trade.kind === 'trade')
    assert.deepEqual([trade.taker, trade.timeMs], ['no', 1_790_010_000_123])
    const lifecycle = parse(LIFECYCLE)
    assert.ok(lifecycle.kind === 'lifecycle')
    assert.deepEqual([lifecycle.change, lifecycle.timeMs], ['settled', 1_790_010_000_000])
  })

  it('reads command replies, with and without sid and seq', () => {
    const subscribed = parse({ id: 4, type: 'subscribed', msg: { channel: 'trade', sid: 7 } })
    assert.deepEqual(subscribed, { kind: 'subscribed', commandId: 4, channel: 'trade', sid: 7 })
    const listed = parse({ id: 5, type: 'ok', msg: [{ channel: 'trade', sid: 2 }] })
    assert.deepEqual(listed, { kind: 'ok', commandId: 5, sid: null, seq: null })
    const error = parse({ id: 9, type: 'error', msg: { code: 8, msg: 'Unknown channel name' } })
    assert.ok(error.kind === 'error')
    assert.deepEqual([error.code, error.ticker], [8, null])
  })

  const refusals: readonly (readonly [string, string])[] = [
    ['<html>502</html>', 'html'],
    ['{"type":"trade","sid":1', 'not_json'],
    ['', 'not_json'],
    ['null', 'not_an_object'],
    ['[1,2]', 'not_an_object'],
    ['{"type":5}', 'no_type'],
    [JSON.stringify({ ...DELTA, seq: '2' }), 'delta_sequence'],
    [JSON.stringify(withField(DELTA, 'market_ticker', 5)), 'delta_ticker'],
    [JSON.stringify(withField(DELTA, 'side', 'maybe')), 'delta_fields'],
    [JSON.stringify(withField(DELTA, 'price_dollars', null)), 'delta_fields'],
    [JSON.stringify(withField(SNAPSHOT, 'yes_dollars_fp', [['0.1']])), 'snapshot_levels'],
    [JSON.stringify(withField(SNAPSHOT, 'no_dollars_fp', 'x')), 'snapshot_levels'],
    [JSON.stringify(withField(TRADE, 'trade_id', '')), 'trade_ids'],
    [JSON.stringify(withField(TRADE, 'taker_outcome_side', 'up')), 'trade_fields'],
    [JSON.stringify({ ...TRADE, msg: { ...TRADE.msg, ts: null, ts_ms: -1 } }), 'trade_time'],
    [JSON.stringify(withField(LIFECYCLE, 'market_ticker', [])), 'lifecycle_ticker'],
  ]
  for (const [text, reason] of refusals) {
    it(`rejects a frame with the reason ${reason}: ${text.slice(0, 40) || 'empty'}`, () => {
      const result = parseFrame(text)
      assert.ok(result.kind === 'rejected')
      assert.equal(result.reason, reason)
    })
  }

  it('returns the sid and market of a rejected message, so that no other market becomes suspect', () => {
    const result = parse(withField(DELTA, 'delta_fp', {}))
    assert.ok(result.kind === 'rejected')
    assert.deepEqual(result.position, { sid: 1, seq: 2, ticker: 'T' })
    const locations = [
      { ...DELTA, seq: undefined },
      { ...DELTA, seq: '2' },
      { ...DELTA, seq: 0, sid: '1' },
      { ...DELTA, type: 1, sid: null, msg: null },
      { ...DELTA, type: 'trade', seq: null, msg: null },
    ].map((frame) => {
      const refused = parse(frame)
      assert.ok(refused.kind === 'rejected')
      return (
        refused.position && [refused.position.sid, refused.position.seq, refused.position.ticker]
      )
    })
    const numbered = [null, 2, null]
    assert.deepEqual(locations, [
      [1, null, 'T'],
      [1, null, 'T'],
      [null, 0, 'T'],
      numbered,
      undefined,
    ])
    const torn = parseFrame('{"type":"orderbook_delta","sid":4,"seq":1,"msg":{"market_ticker":"T"')
    assert.ok(torn.kind === 'rejected')
    assert.deepEqual(torn.position, { sid: 4, seq: null, ticker: 'T' })
    const page = parseFrame('<html>')
    assert.ok(page.kind === 'rejected')
    assert.deepEqual(page.position, { sid: null, seq: null, ticker: null })
  })

  it('reads fee overrides of an event, where null means that no override applies', () => {
    const of = (msg: object) => parse({ type: 'event_fee_update', sid: 3, seq: 8, msg })
    const half = { event_ticker: 'E', fee_type_override: null, fee_multiplier_override: 0.5 }
    const message = { kind: 'fee', sid: 3, seq: 8, event: 'E' }
    assert.deepEqual(of(half), { ...message, terms: { type: null, multiplier: 0.5 } })
    const cleared = { ...message, terms: { type: null, multiplier: null } }
    const none = { fee_type_override: null, fee_multiplier_override: null }
    assert.deepEqual(of({ event_ticker: 'E', ...none }), cleared)
    const unsaid = { ...message, terms: { type: 'unsaid', multiplier: null } }
    assert.deepEqual(of({ event_ticker: 'E', fees: 2 }), unsaid)
    const result = of({ fee_type_override: 'quadratic' })
    assert.ok(result.kind === 'rejected')
    assert.equal(result.reason, 'fee_event')
  })

  it('returns the sequence number of a message of an unknown kind or with an unknown change', () => {
    const other = parse({ type: 'event_lifecycle', sid: 3, seq: 8, msg: {} })
    const none = { change: null, ticker: null, isOfBook: false }
    const unread = { kind: 'unread', name: 'event_lifecycle', ...none, sid: 3, seq: 8 }
    assert.deepEqual(other, unread)
    const change = parse(withField(LIFECYCLE, 'event_type', 'reborn'))
    assert.deepEqual([change.kind, 'seq' in change && change.seq], ['unread', 1])
    assert.equal(change.kind === 'unread' && change.change, 'reborn')
  })

  it('reads REST trades in the current format and in the format of January 2026', () => {
    const row = {
      trade_id: 'x-1',
      ticker: 'T',
      yes_price_dollars: '0.0600',
      count_fp: '1.50',
      taker_outcome_side: 'yes',
      created_time: '2026-01-12T15:00:20.897912Z',
    }
    const now = parseTradeRow(row)
    assert.ok(now.kind === 'trade')
    assert.equal(now.timeMs, Date.UTC(2026, 0, 12, 15, 0, 20, 897), 'truncated, never rounded up')
    const { yes_price_dollars: _, count_fp: __, ...old } = row
    const then = parseTradeRow({ ...old, yes_price: 6, count: 1 })
    assert.ok(then.kind === 'trade')
    assert.deepEqual([then.yesPrice, then.count], ['0.06', '1'])
  })

  it('reads a REST book in which one side is absent or null', () => {
    const book = parseOrderbookRow({ ticker: 'T', orderbook_fp: { yes_dollars: null } })
    assert.ok(book.kind === 'orderbookSnapshot')
    assert.deepEqual([book.yes, book.no], [[], []])
    assert.equal(parseOrderbookRow({ ticker: 'T' }).kind, 'rejected')
  })

  it('never throws and returns no invalid message for 4,000 mutated frames', (t) => {
    const random = seededRandom('kalshi fuzz', process.env.SEED ?? 1)
    const seeds = [DELTA, SNAPSHOT, TRADE, LIFECYCLE].map((each) => JSON.stringify(each))
    const junk = ['"', '{', '}', '[', ']', ',', ':', '-', '.', '9e999', 'null', '\\u0000', '<', 'é']
    let events = 0
    let refused = 0
    for (let round = 0; round < 4_000; round += 1) {
      let text = random.pick(seeds)
      // Half of the mutations change only values.
      if (random.next() < 0.5) {
        const digit = random.below(text.length)
        const isDigit = /\d/.test(text[digit] ?? '')
        if (isDigit) text = `${text.slice(0, digit)}${random.below(10)}${text.slice(digit + 1)}`
      } else
        for (let edits = 1 + random.below(4); edits > 0; edits -= 1) {
          const from = random.below(text.length)
          const to = random.next() < 0.1 ? text.length : from + random.below(12)
          text =
            text.slice(0, from) + (random.next() < 0.7 ? random.pick(junk) : '') + text.slice(to)
        }
      const message = parseFrame(text)
      if (message.kind === 'rejected') refused += 1
      if (!('ticker' in message)) continue
      if (message.kind === 'error' || message.kind === 'unread') continue
      mapMessage(message, timeMs(1_790_010_000_500), (event) => {
        events += 1
        const levels = event.kind === 'bookSnapshot' ? [...event.bids, ...event.asks] : []
        const changes = event.kind === 'bookChange' ? event.changes : []
        for (const { price, size } of [...levels, ...changes]) {
          assert.ok(Number.isSafeInteger(size) && price > 0 && price < 1_000_000)
        }
        assert.ok(Number.isSafeInteger(event.venueTimeMs))
      })
    }
    t.diagnostic(`${refused} refused, ${events} events`)
    assert.ok(events > 1_000 && refused > 1_000)
  })
})
