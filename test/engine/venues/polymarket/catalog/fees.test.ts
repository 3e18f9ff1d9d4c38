// What Gamma states of fees: schedules, none, contradictions, and the venue's own table of categories.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { isRecord } from '../../../../../engine/json-record.ts'
import { CURVE_ZERO, FEES_UNKNOWN, feeCurve, feeOf } from '../../../../../engine/market/fees.ts'
import {
  microsFromDecimal,
  PRICE_HALF,
  priceMicros,
  sizeMicros,
} from '../../../../../engine/units.ts'
import { readFees } from '../../../../../engine/venues/polymarket/catalog/fees.ts'
import { RECORDED, rowsOfFile } from '../../../../support/worlds/recordings.ts'

const SCHEDULE = { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 }
const stated = (feeSchedule: unknown, more: object = {}) =>
  readFees({ feesEnabled: true, feeType: 'crypto_fees_v2', feeSchedule, ...more }).now

test('[POLYFEE1] a schedule is the takers’ curve, and makers pay nothing where it is theirs alone', () => {
  const crypto = stated(SCHEDULE)
  assert.deepEqual(crypto, {
    kind: 'quadratic',
    taker: feeCurve(70_000, 1),
    maker: CURVE_ZERO,
    rounding: { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null },
    rebateMicros: 200_000,
    source: 'gamma.feeSchedule',
    sinceMs: null,
  })
  const fill = { price: priceMicros(360_000), size: sizeMicros(108_000_000) }
  assert.equal(feeOf(crypto, 'taker', fill), 1_741_830)
  assert.equal(feeOf(crypto, 'maker', fill), 0)
  assert.equal(stated({ ...SCHEDULE, rate: 0.25, exponent: 2 }).taker?.exponent, 2)
  assert.equal(stated({ ...SCHEDULE, rate: '0.05' }).taker?.rateMicros, 50_000)
  for (const takerOnly of [false, undefined, 'no']) {
    assert.equal(stated({ ...SCHEDULE, takerOnly }).maker, null, String(takerOnly))
  }
  assert.equal(stated({ ...SCHEDULE, rebateRate: undefined }).rebateMicros, null)
  assert.deepEqual(stated({ ...SCHEDULE, more: 1 }), crypto, 'other keys change nothing')
})

test('[POLYFEE1] none is what the row says to be none', () => {
  for (const [row, source] of [
    [{ feesEnabled: false, feeType: null }, 'gamma.feesEnabled'],
    [{ feesEnabled: false, feeType: null, feeSchedule: null }, 'gamma.feesEnabled'],
    [{ feesEnabled: true, feeType: 'zero_fees' }, 'gamma.feeType'],
    [{ feesEnabled: true, feeSchedule: { ...SCHEDULE, rate: 0 } }, 'gamma.feeSchedule'],
    [{ feesEnabled: false, feeSchedule: { ...SCHEDULE, rate: 0 } }, 'gamma.feeSchedule'],
  ] as const) {
    const { now } = readFees(row)
    assert.equal(now.kind, 'none', JSON.stringify(row))
    assert.equal(now.source, source)
    assert.equal(feeOf(now, 'taker', { price: PRICE_HALF, size: sizeMicros(1) }), 0)
  }
})

test('[POLYFEE1] what cannot be read, or contradicts itself, is unknown with its source', () => {
  for (const row of [
    { feesEnabled: true },
    { feesEnabled: true, feeType: 'moon_fees_v9' },
    { feeType: 'crypto_fees_v2' },
    { feesEnabled: false, feeSchedule: SCHEDULE },
    { feesEnabled: true, feeSchedule: 'none' },
    { feesEnabled: true, feeSchedule: {} },
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, rate: null } },
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, rate: -0.01 } },
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, rate: 1000 } },
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, rate: '7%' } },
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, exponent: 0.5 } },
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, exponent: undefined } },
  ]) {
    const { now } = readFees(row)
    const what = JSON.stringify(row)
    assert.equal(now.kind, 'unknown', what)
    assert.notEqual(now.source, null, what)
    assert.equal(now.taker, null, what)
    assert.equal(now.maker, null, what)
  }
})

test('[POLYFEE1] a row without a statement, legacy fields or not, has none', () => {
  assert.equal(readFees({}), FEES_UNKNOWN)
  assert.equal(
    readFees({ makerBaseFee: 1000, takerBaseFee: 1000, feeSchedule: null }),
    FEES_UNKNOWN,
  )
})

const PARAMETERS = `${RECORDED}/fixtures/polymarket-protocol-v2/fee-reward-parameters.json`

/** Dollars of 100 contracts at one half, by the documents of 24 August 2026. */
const OF_A_HUNDRED: Readonly<Record<string, number>> = {
  ...{ crypto: 1.75, sports: 1.25, finance: 1, politics: 1, mentions: 1, tech: 1 },
  ...{ economics: 1.25, culture: 1.25, weather: 1.25, other: 1.25, geopolitics: 0 },
}

test('[POLYFEE2] every documented category costs what the venue’s documents say', (t) => {
  const fill = { price: PRICE_HALF, size: sizeMicros(100_000_000) }
  const rates = { ...recordedRates(), ...INVENTED_RATES }
  for (const [category, rate] of Object.entries(rates)) {
    const model = stated({ ...SCHEDULE, rate })
    const dollars = OF_A_HUNDRED[category]
    assert.ok(dollars !== undefined, `the documents have a category ${category}`)
    assert.equal(feeOf(model, 'taker', fill), dollars * 1_000_000, category)
  }
  if (!existsSync(PARAMETERS)) t.diagnostic(`RECORDED DATA ABSENT: ${PARAMETERS} (set SHARED_DATA)`)
})

const INVENTED_RATES = { crypto: '0.07', sports: 0.05, politics: '0.04', geopolitics: 0 }

/** The recorded table of rates; empty where it is absent. */
function recordedRates(): Readonly<Record<string, unknown>> {
  if (!existsSync(PARAMETERS)) return {}
  const [file] = rowsOfFile(PARAMETERS)
  const examples = isRecord(file) && Array.isArray(file.examples) ? file.examples : []
  const payload = isRecord(examples[0]) ? examples[0].payload : null
  const rates = isRecord(payload) ? payload.taker_fee_rate_by_category : null
  assert.ok(isRecord(payload) && isRecord(rates))
  assert.equal(payload.rounding_decimal_places, 5)
  assert.equal(microsFromDecimal(String(payload.minimum_charged_fee)), 10)
  assert.equal(payload.maker_fee_rate, '0')
  return rates
}
