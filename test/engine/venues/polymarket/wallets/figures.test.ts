import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NativeMarketId, outcomeId } from '../../../../../engine/ids.ts'
import { CURVE_ZERO } from '../../../../../engine/market/fees.ts'
import { PRICE_ONE, timeMs } from '../../../../../engine/units.ts'
import {
  readActivity,
  readTimedRow,
} from '../../../../../engine/venues/polymarket/wallets/activity-rows.ts'
import type { WalletMarket } from '../../../../../engine/wallet.ts'
import { PnlState } from '../../../../../engine/wallets/pnl-state.ts'
import { netRealized } from '../../../../../engine/wallets/wallet-figures.ts'
import { positionOf } from '../../../../support/reference/wallet-figures.ts'

const WALLET = `0x${'d1'.repeat(20)}`
const MARKET = `0x${'d2'.repeat(32)}`
const COMBO = `0x${'d3'.repeat(31)}00`
const SECOND = 1_785_700_000
const [YES, NO, BET] = ['1075', '1076', '1478']

type Row = Readonly<Record<string, unknown>>

let count = 0
function row(type: string, set: Row): Row {
  count += 1
  return {
    ...{ proxy_wallet: WALLET, timestamp: SECOND + count, condition_id: MARKET, type },
    ...{ transaction_hash: `0x${count.toString(16).padStart(64, 'a')}`, price: 0, side: '' },
    ...{ token_id: '', outcome_index: 999, title: 'Springfield?', slug: '', outcome: '' },
    ...set,
  }
}

function market(id: NativeMarketId): WalletMarket {
  return {
    ...{ nativeId: id, question: null, slug: null, eventSlug: null, labels: ['Yes', 'No'] },
    ...{ tokens: [outcomeId(YES), outcomeId(NO)], payout: PRICE_ONE, group: null },
    ...{ resolvedAtMs: timeMs(SECOND * 1_000), takerFee: CURVE_ZERO },
  }
}

function tallyOf(rows: readonly Row[]): PnlState {
  const counts = PnlState.empty()
  for (const wire of rows) {
    const positioned = readTimedRow(wire, WALLET)
    const read = positioned === null ? null : readActivity(positioned)
    assert.ok(read?.kind === 'event', JSON.stringify(read))
    counts.apply(read.event, market)
  }
  return counts
}

const dollars = (micros: number | null): number | null => (micros === null ? null : micros / 1e6)

test('counts a market as lost for a wallet when the wallet’s gain is smaller than its fees', () => {
  const traded = { token_id: YES, size: 22.84 }
  const counts = tallyOf([
    row('TRADE', { ...traded, side: 'BUY', price: 0.52, usdc_size: 12.16184 }),
    row('TRADE', { ...traded, side: 'SELL', price: 0.53, usdc_size: 11.82073 }),
    row('TAKER_REBATE', { condition_id: '', size: 0.1, usdc_size: 0.1 }),
  ])
  const totals = counts.totals()
  assert.deepEqual(
    [totals.realized, totals.fees, totals.income, netRealized(totals)].map(dollars),
    [0.2284, 0.56951, 0.1, -0.24111],
  )
  assert.deepEqual([totals.wins, totals.losses], [0, 1])
})

test('excludes combos from all other figures of a wallet, and reports the realised profit of combos separately', () => {
  const bet = { condition_id: COMBO, token_id: BET, is_combo: true, size: 79_375.723165 }
  const bought = row('TRADE', { ...bet, side: 'BUY', price: 0.25, usdc_size: 19_843.93 })
  const open = tallyOf([bought]).totals()
  assert.deepEqual([open.comboEvents, open.comboRealized, open.trades], [1, null, 0])
  const counts = tallyOf([bought, row('REDEEM', { ...bet, usdc_size: 79_375.723165 })])
  const { comboEvents, comboRealized, realized, volume, markets } = counts.totals()
  assert.deepEqual([comboEvents, dollars(comboRealized)], [2, 59_531.793165])
  assert.deepEqual([realized, volume, markets, counts.positionCount], [0, 0, 0, 0])
})

test('redeems as many contracts as the dollars of a redemption without a token pay for, one outcome per row', () => {
  const bought = (token: string, size: number, price: number) =>
    row('TRADE', {
      ...{ token_id: token, side: 'BUY', price, size, usdc_size: price * size },
    })
  const counts = tallyOf([
    bought(YES, 100, 0.4),
    bought(NO, 30, 0.5),
    row('REDEEM', { size: 25, usdc_size: 25 }),
    row('REDEEM', { size: 0, usdc_size: 0 }),
  ])
  const of = (token: string) => {
    const { balance, cost, realized } = positionOf(counts, token)
    return [balance, cost, realized].map(dollars)
  }
  assert.deepEqual(of(YES), [75, 30, 15])
  assert.deepEqual(of(NO), [0, 0, -15])
})
