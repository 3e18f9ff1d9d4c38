import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import {
  orderedEvents,
  type ReadRow,
  readActivity,
  readTimedRow,
} from '../../../../../engine/venues/polymarket/wallets/activity-rows.ts'
import { snakeRow } from '../../../../../engine/venues/simulator/polymarket/envelope.ts'
import type { WalletEvent } from '../../../../../engine/wallet.ts'
import { PAST_START_S, WALLET } from '../../../../support/fakes/wallet-stub.ts'

const RECORDED = `${process.env.SHARED_DATA ?? '../shared/data'}/wallets`
const skip = existsSync(RECORDED) ? false : 'NO RECORDED WALLETS HERE (SHARED_DATA)'

type Wire = Readonly<Record<string, unknown>>

function recorded(name: string): readonly Wire[] {
  const rows: unknown = JSON.parse(readFileSync(`${RECORDED}/${name}.json`, 'utf8'))
  assert.ok(Array.isArray(rows))
  // Recorded rows of version 1, with the field names of version 2.
  return rows.map(snakeRow)
}

function read(wire: Wire): ReadRow {
  const positioned = readTimedRow(wire, String(wire.proxy_wallet).toLowerCase())
  assert.ok(positioned !== null, JSON.stringify(wire))
  return readActivity(positioned)
}

function eventOf(wire: Wire): WalletEvent {
  const row = read(wire)
  assert.ok(row.kind === 'event', JSON.stringify({ row, wire }))
  return row.event
}

function wire(type: string, more: Wire = {}): Wire {
  return {
    proxy_wallet: WALLET,
    timestamp: PAST_START_S,
    condition_id: '0xc1',
    type,
    size: 10,
    usdc_size: 10,
    transaction_hash: '0xFEED',
    price: 0,
    token_id: '',
    side: '',
    outcome_index: 999,
    ...more,
  }
}

const trade = (more: Wire = {}) =>
  wire('TRADE', {
    token_id: '11',
    side: 'BUY',
    price: 0.5,
    usdc_size: 5,
    outcome_index: 0,
    ...more,
  })

test('computes an activity row’s dollars as price times size, and the fee as the difference to usdcSize', () => {
  const fill = eventOf(trade({ size: 714.285713, price: 0.860000001148, usdc_size: 614.285714 }))
  assert.equal(fill.usd, 614_285_714, 'a price rounded to 0.86 would give 614,285,713')
  assert.equal(fill.price, 860_000)
  assert.equal(fill.fee, 0)
  assert.equal(fill.txHash, '0xfeed')
  assert.equal(fill.token, '11')
  assert.equal(eventOf(trade({ usdc_size: 5.25 })).fee, 250_000)
  assert.equal(eventOf(trade({ usdc_size: 5.25 })).usd, 5_000_000)
  assert.equal(eventOf(trade({ side: 'SELL', usdc_size: 4.75 })).fee, 250_000)
  assert.equal(eventOf(trade({ side: 'SELL', usdc_size: 5.25 })).fee, 0, 'never negative')
  assert.equal(
    eventOf(trade({ usdc_size: 5.000001 })).usd,
    5_000_001,
    'a difference of a micro-dollar is rounding',
  )
  assert.equal(eventOf(trade({ usdc_size: 5.000001 })).fee, 0)
  assert.equal(eventOf(trade({ usdc_size: undefined })).fee, 0)
  const average = { size: 5_000_000, price: 0.4200000012, usdc_size: 2_100_000 }
  const { usd, fee } = eventOf(trade(average))
  assert.deepEqual(
    [usd, fee],
    [2_100_000_000_000, 0],
    'the rounding error of an average price is no fee',
  )
})

test('computes the fee of recorded fills as rate·p·(1−p)·s or zero', { skip }, () => {
  let feeCount = 0
  let fillCount = 0
  for (const row of [...recorded('activity'), ...recorded('em-activity_all')]) {
    if (row.type !== 'TRADE') continue
    fillCount += 1
    const { usd, fee, kind, size, price } = eventOf(row)
    assert.equal(kind, 'buy')
    assert.equal(usd + fee, Math.round(Number(row.usdc_size) * 1e6))
    assert.equal(size, Math.round(Number(row.size) * 1e6))
    assert.ok(Math.abs(price - Number(row.price) * 1e6) <= 0.5)
    const rate = (fee * 1e12) / (price * (1_000_000 - price) * size)
    assert.ok(
      fee === 0 || Math.abs(rate - 0.03) < 0.0003 || Math.abs(rate - 0.05) < 1e-6,
      `${rate}`,
    )
    if (fee > 0) feeCount += 1
  }
  assert.deepEqual([fillCount, feeCount], [52, 10])
})

test('reads activity rows without a token, counts unknown kinds with dollars as income, and ignores transfers', () => {
  const split = eventOf(wire('SPLIT'))
  assert.deepEqual(
    [split.kind, split.market, split.token, split.size, split.usd, split.price, split.role],
    ['split', '0xc1', null, 10_000_000, 10_000_000, 0, null],
  )
  assert.equal(eventOf(wire('MERGE')).kind, 'merge')
  assert.equal(
    eventOf(wire('REDEEM', { size: 0, usdc_size: 0 })).usd,
    0,
    'a losing position was redeemed',
  )
  assert.deepEqual(eventOf(wire('CONVERSION')).converted, ['0xc1'])
  const changes = eventOf(wire('INVENTED_LATER', { condition_id: '', usdc_size: '2.5', size: 7 }))
  assert.deepEqual(
    [changes.kind, changes.market, changes.usd, changes.size],
    ['income', '', 2_500_000, 2_500_000],
  )
  assert.equal(read(wire('INVENTED_LATER', { usdc_size: 0 })).kind, 'ignored')
  for (const type of ['DEPOSIT', 'WITHDRAWAL', 'TIP']) {
    assert.deepEqual(read(wire(type)), { kind: 'ignored', reason: 'wallet_cash_moved' })
  }
})

test('reads every recorded activity row: rewards have no market, redemptions have a market', {
  skip,
}, () => {
  const kinds = new Map<string, number>()
  for (const name of ['activity', 'em-activity', 'em-activity_all']) {
    for (const row of recorded(name)) {
      const event = eventOf(row)
      kinds.set(event.kind, (kinds.get(event.kind) ?? 0) + 1)
      assert.equal(event.timeMs, Number(row.timestamp) * 1_000)
      assert.equal(event.token === null, row.outcome_index === 999)
      assert.equal(event.market, row.condition_id)
      assert.equal(event.market === '', event.kind === 'income')
      if (event.kind !== 'buy') assert.equal(event.usd, Math.round(Number(row.usdc_size) * 1e6))
    }
  }
  assert.deepEqual(Object.fromEntries(kinds), { buy: 52, redeem: 17, income: 6 })
})

test('rejects an unreadable activity row with a specific reason and never throws', () => {
  const refused = (row: Wire) => {
    const became = read(row)
    return became.kind === 'rejected' ? became.reason : became.kind
  }
  assert.equal(refused(trade({ price: 1.5 })), 'trade_price')
  assert.equal(refused(trade({ size: 0 })), 'trade_size')
  assert.equal(refused(trade({ side: '' })), 'bad_wallet_trade')
  assert.equal(refused(trade({ token_id: '' })), 'bad_wallet_trade')
  assert.equal(refused(wire('SPLIT', { condition_id: '' })), 'bad_wallet_row')
  assert.equal(refused(wire('REDEEM', { usdc_size: null })), 'bad_wallet_row')
  assert.equal(refused(wire('MERGE', { size: -1 })), 'bad_wallet_row')
  assert.equal(refused(wire('REWARD', { usdc_size: -3 })), 'bad_wallet_row')
  assert.equal(refused(wire('')), 'bad_wallet_row')
  assert.equal(readTimedRow(wire('SPLIT', { timestamp: 12 }), WALLET), null)
  assert.equal(readTimedRow(wire('SPLIT', { proxy_wallet: '0xother' }), WALLET), null)
  assert.equal(readTimedRow([], WALLET), null)
  const random = seededRandom('broken rows')
  const odd = [null, '', 'x', -1, 1e300, Number.NaN, {}, [], true, '0.5', 999]
  for (let round = 0; round < 3_000; round += 1) {
    const names = Object.keys(trade())
    const types = ['TRADE', 'SPLIT', 'CONVERSION', 'REWARD', 'REDEEM']
    const broken = { ...trade(), type: random.pick(types), [random.pick(names)]: random.pick(odd) }
    const positioned = readTimedRow({ ...broken, [random.pick(names)]: random.pick(odd) }, WALLET)
    if (positioned === null) continue
    const became = readActivity(positioned)
    if (became.kind !== 'event') continue
    for (const value of [became.event.size, became.event.usd, became.event.fee]) {
      assert.ok(Number.isSafeInteger(value) && value >= 0, JSON.stringify(positioned))
    }
  }
})

test('orders wallet events by time, transaction and arrival, and merges the rows of one conversion', () => {
  const published = [
    wire('CONVERSION', { condition_id: '0xA', transaction_hash: '0xbb', usdc_size: 20 }),
    wire('SPLIT', { transaction_hash: '0xbb' }),
    wire('CONVERSION', { condition_id: '0xB', transaction_hash: '0xbb', usdc_size: 0 }),
    wire('CONVERSION', { condition_id: '0xC', transaction_hash: '0xbb', usdc_size: 0.000001 }),
    wire('CONVERSION', { condition_id: '0xA', transaction_hash: '0xbb', usdc_size: 1 }),
    wire('CONVERSION', { condition_id: '0xD', transaction_hash: '0xbb', size: 3, usdc_size: 0 }),
    wire('CONVERSION', { condition_id: '0xE', transaction_hash: '0xaa', usdc_size: 0 }),
    trade({ transaction_hash: '0xaa', size: 2 }),
    trade({ transaction_hash: '0xaa', size: 1 }),
    wire('MERGE', { transaction_hash: '0xff', timestamp: PAST_START_S - 1 }),
  ].map((row) => ({ event: eventOf(row), key: null }))
  const events = orderedEvents(published).map(({ event }) => event)
  assert.deepEqual(
    events.map(({ kind, converted, usd, size }) => [kind, converted.join(''), usd, size / 1e6]),
    [
      ['merge', '', 10_000_000, 10],
      ['conversion', '0xE', 0, 10],
      ['buy', '', 1_000_000, 2],
      ['buy', '', 500_000, 1],
      ['conversion', '0xA0xB0xC', 20_000_001, 10],
      ['split', '', 10_000_000, 10],
      ['conversion', '0xA', 1_000_000, 10],
      ['conversion', '0xD', 0, 3],
    ],
  )
  assert.equal(events[4]?.market, '0xA')
})

test('reads a redemption with or without a token, and pads market ids of 62 digits to 64 digits', () => {
  const named = eventOf(wire('REDEEM', { token_id: '77', usdc_size: 0, size: 4 }))
  assert.deepEqual([named.kind, named.token, named.size, named.usd], ['redeem', '77', 4_000_000, 0])
  assert.equal(eventOf(wire('REDEEM', { size: 4, usdc_size: 4 })).token, null)
  const id = `0x01${'AB'.repeat(30)}`
  assert.equal(eventOf(wire('SPLIT', { condition_id: id })).market, `${id.toLowerCase()}00`)
})

test('finds the position of a migration by token, new market or old market, and otherwise rejects the row', () => {
  const id = `0x01${'ab'.repeat(16)}${'0'.repeat(30)}`
  const token = String(BigInt(id) + 1n)
  const old = `0x${'5'.repeat(32)}${'ab'.repeat(16)}`
  for (const more of [
    { token_id: token },
    { token_id: token, condition_id: '' },
    { condition_id: id.slice(0, 64), outcome_index: 1 },
    { condition_id: id, outcome_index: 1, token_id: '123' },
    { condition_id: old, outcome_index: 1, token_id: '123' },
  ]) {
    const event = eventOf(wire('MIGRATION', { usdc_size: 0, ...more }))
    const { kind, market, size, usd } = event
    assert.deepEqual(
      [kind, market, event.token, size, usd],
      ['migration', id, token, 10_000_000, 0],
    )
  }
  const refused = { kind: 'rejected', reason: 'bad_migration' }
  assert.deepEqual(read(wire('MIGRATION')), refused, 'no outcome')
  assert.deepEqual(read(wire('MIGRATION', { condition_id: '' })), refused)
  assert.deepEqual(read(wire('MIGRATION', { token_id: token, size: -1 })), refused)
})

test('reads actions on combos as separate event kinds', () => {
  const combo = '0x03449eec66c044cecb729af4169b45afbf0000000000000000000000000000'
  const of = (row: Parameters<typeof read>[0]) => {
    const { kind, size, usd, fee, token } = eventOf(row)
    return [kind, size, usd, fee, token]
  }
  const bought = { is_combo: true, token_id: '77', size: 100, usdc_size: 25.5, price: 0.25 }
  assert.deepEqual(of(trade(bought)), ['comboBuy', 100_000_000, 25_500_000, 0, '77'])
  const sold = { ...bought, side: 'SELL', condition_id: combo, is_combo: undefined }
  assert.deepEqual(of(trade(sold)), ['comboSell', 100_000_000, 25_500_000, 0, '77'])
  const won = { condition_id: combo, token_id: '77', size: 3, usdc_size: 3 }
  assert.deepEqual(of(wire('REDEEM', won)), ['comboRedeem', 3_000_000, 3_000_000, 0, '77'])
  assert.deepEqual(of(wire('SPLIT', won)), ['comboOther', 0, 0, 0, '77'])
  assert.deepEqual(of(wire('REDEEM', { ...won, usdc_size: null })), ['comboOther', 0, 0, 0, '77'])
  assert.equal(eventOf(wire('MAKER_REBATE', { ...won, is_combo: true })).kind, 'income')
})
