import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { VenueEvent } from '../../../../../engine/events.ts'
import { FetchError } from '../../../../../engine/fetch.ts'
import { outcomeId } from '../../../../../engine/ids.ts'
import { isRecord } from '../../../../../engine/json-record.ts'
import { CURVE_ZERO, FEES_UNKNOWN, feeCurve, feeOf } from '../../../../../engine/market/fees.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import {
  microsFromDecimal,
  PRICE_HALF,
  priceMicros,
  sizeMicros,
} from '../../../../../engine/units.ts'
import { SuspectAnswers } from '../../../../../engine/venues/answer-checks.ts'
import {
  PolymarketFees,
  readClobFees,
  readFees,
  readNewMarketFees,
} from '../../../../../engine/venues/polymarket/catalog/fees.ts'
import { readMarket } from '../../../../../engine/venues/polymarket/catalog/listing.ts'
import { conditionId } from '../../../../../engine/venues/polymarket/condition-id.ts'
import { openPolymarket } from '../../../../../engine/venues/polymarket/polymarket.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { noonClock } from '../../../../support/fakes/noon-clock.ts'
import { PolymarketStub } from '../../../../support/fakes/polymarket-stub.ts'
import { quietDrift } from '../../../../support/fakes/quiet-drift.ts'
import { watchBooks } from '../../../../support/fakes/watch-books.ts'
import { RECORDED, rowsOfFile } from '../../../../support/worlds/recordings.ts'

const SCHEDULE = { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 }
const stated = (feeSchedule: unknown, more: object = {}) =>
  readFees({ feesEnabled: true, feeType: 'crypto_fees_v2', feeSchedule, ...more }).now

test('reads a fee schedule as the taker’s curve, and as free for makers if the schedule is taker-only', () => {
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
  assert.deepEqual(stated({ ...SCHEDULE, more: 1 }), crypto, 'other keys have no effect')
})

test('reads a row that states no fees as free of fees', () => {
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

test('treats unreadable or contradictory fees as unknown, and reports the source of the fees', () => {
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
    { feesEnabled: true, feeSchedule: { ...SCHEDULE, rate: 0.6 } },
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

test('returns unknown fees for a row without the fee fields of the current format', () => {
  assert.equal(readFees({}), FEES_UNKNOWN)
  assert.equal(
    readFees({ makerBaseFee: 1000, takerBaseFee: 1000, feeSchedule: null }),
    FEES_UNKNOWN,
  )
})

const PARAMETERS = `${RECORDED}/fixtures/polymarket-protocol-v2/fee-reward-parameters.json`

/** Fees in dollars of 100 contracts at 0.50, from the venue's documents of 24 August 2026. */
const OF_A_HUNDRED: Readonly<Record<string, number>> = {
  ...{ crypto: 1.75, sports: 1.25, finance: 1, politics: 1, mentions: 1, tech: 1 },
  ...{ economics: 1.25, culture: 1.25, weather: 1.25, other: 1.25, geopolitics: 0 },
}

test('computes the fees of every category that the venue’s documentation states', (t) => {
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

/** Fee rates by category from a recording. Empty if the recording is absent. */
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

const TEXTS = { rate: '0.07', exponent: '1', taker_only: true, rebate_rate: '0.2' }

test('reads equal fees from a `new_market` message, the CLOB API and the Gamma API', () => {
  const { source: _, ...gamma } = stated(SCHEDULE)
  const announced = (fee_schedule: unknown, fees_enabled: unknown = true) =>
    readNewMarketFees({ fees_enabled, fee_schedule }).now
  assert.deepEqual(announced(TEXTS), { ...gamma, source: 'socket.new_market' })
  const clob = (fd: unknown) => readClobFees({ mbf: 1000, tbf: 1000, fd }).now
  const curve = { ...gamma, rebateMicros: null, source: 'clob.fd' }
  assert.deepEqual(clob({ r: 0.07, e: 1, to: true }), curve)
  assert.deepEqual(clob({ r: 0.07, e: 1, to: false }), { ...curve, maker: null })
  for (const none of [announced(null, false), announced({ ...TEXTS, rate: '0' })]) {
    assert.equal(none.kind, 'none')
  }
  assert.equal(clob({ r: 0, e: 1, to: true }).kind, 'none')
  for (const unreadable of [announced('x'), announced(TEXTS, false), clob([]), clob({ r: '7%' })]) {
    assert.equal(unreadable.kind, 'unknown')
    assert.notEqual(unreadable.source, null)
  }
  for (const unsubscribed of [announced(null), announced(undefined, undefined), clob(null)]) {
    assert.equal(unsubscribed.source, null, 'a message without fees has no source')
  }
})

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const ID = conditionId(`0x01${'7'.repeat(60)}`)

/** The test sets the CLOB's responses. Gamma's rows have no fees. */
function openFees() {
  const clock = new ManualClock()
  const world = { answer: (): unknown => ({ c: ID, fd: { r: 0.05, e: 1, to: true } }) }
  const requested: string[] = []
  const seen: string[] = []
  const reasons: string[] = []
  const drift = quietDrift()
  const fees = new PolymarketFees({
    clob: {
      getJson: async (path) => {
        requested.push(path)
        return world.answer()
      },
    },
    clock,
    counters: {
      drift,
      trouble: (reason) => reasons.push(reason),
      suspectAnswers: new SuspectAnswers({ metrics: new Metrics(), log: silentLog, venue: 'a' }),
    },
    emit: ({ market }) => seen.push(market),
  })
  const pass = async (ms: number) => {
    for (let atMs = 0; atMs < ms; atMs += 500) {
      await tick()
      clock.advance(500)
    }
    await tick()
  }
  const rateOf = (more: object = {}, row: object = {}) => {
    const market = readMarket({ ...ROW, ...row })
    assert.ok(typeof market !== 'string')
    return fees.completed({ ...market, ...more }).fees.now.taker?.rateMicros ?? null
  }
  return { fees, clock, world, requested, seen, reasons, pass, rateOf, drift }
}

const ROW = {
  ...{ conditionId: ID, question: 'Q?', slug: 'q', active: true, closed: false, version: 'v2' },
  ...{ outcomes: '["Yes", "No"]', positionIds: ['1', '2'], feesEnabled: true },
}

test('requests fees from the CLOB API once an hour while the market is open if the Gamma API lacks them', async () => {
  const { fees, requested, seen, pass, rateOf } = openFees()
  fees.start()
  assert.equal(rateOf({}, { feeSchedule: SCHEDULE }), 70_000)
  assert.equal(rateOf({ status: 'closed' }), null)
  await pass(2_000)
  assert.deepEqual(requested, [], 'not requested: fees in Gamma, and closed markets')
  for (let sync = 0; sync < 3; sync += 1) assert.equal(rateOf(), null)
  await pass(2_000)
  assert.deepEqual(requested, [`/clob-markets/${ID}`])
  assert.deepEqual(seen, [ID], 'the market is read again')
  assert.equal(rateOf(), 50_000)
  assert.equal(
    rateOf({}, { feeSchedule: SCHEDULE }),
    70_000,
    'Gamma takes precedence over the CLOB',
  )
  await pass(3_600_000)
  assert.equal(rateOf(), 50_000)
  await pass(1_000)
  assert.equal(requested.length, 2)
  assert.deepEqual(seen, [ID], 'equal fees cause no further event')
  await fees.stop()
})

test('takes the minimum order from the CLOB API when the Gamma API does not state it', async () => {
  const { fees, world, pass, rateOf } = openFees()
  fees.start()
  const minOf = (row: object) => {
    const market = readMarket({ ...ROW, ...row })
    assert.ok(typeof market !== 'string')
    return fees.completed(market).orderSizeMin
  }
  world.answer = () => ({ c: ID, mos: 15, fd: { r: 0.05, e: 1, to: true } })
  rateOf()
  await pass(2_000)
  assert.equal(minOf({}), 15_000_000)
  assert.equal(minOf({ orderMinSize: 5 }), 5_000_000)
  await fees.stop()
})

test('treats an unreadable fee schedule of the Gamma API as unknown, and records unreadable schedules of other sources', async () => {
  const { fees, requested, world, pass, rateOf, drift } = openFees()
  fees.start()
  fees.note(ID, readNewMarketFees({ fees_enabled: true, fee_schedule: TEXTS }))
  for (const rate of [4, '7%', null]) {
    assert.equal(rateOf({}, { feeSchedule: { ...SCHEDULE, rate } }), null)
  }
  await pass(3_600_000)
  assert.deepEqual(requested, [])
  world.answer = () => ({ c: ID, fd: { r: 4, e: 1, to: true } })
  assert.equal(rateOf(), 70_000)
  await pass(2_000)
  assert.equal(rateOf(), null, 'the CLOB states a rate of 4')
  assert.deepEqual(
    drift.entries().map(({ kind, name }) => `${kind}=${name}`),
    ['fees.unreadable=clob.fd'],
  )
  await fees.stop()
})

test('uses the fees of a `new_market` message without requesting fees from the CLOB API', async () => {
  const { fees, world, requested, reasons, pass, rateOf } = openFees()
  fees.start()
  fees.note(ID, readNewMarketFees({ fees_enabled: true, fee_schedule: TEXTS }))
  fees.note(ID, FEES_UNKNOWN)
  assert.equal(rateOf(), 70_000)
  await pass(3_600_000)
  assert.deepEqual(requested, [])
  const removed = new FetchError('status', 'status 404', { status: 404 })
  for (const answer of [
    () => assert.fail('down'),
    () => ({ c: '0xother', fd: { r: 1, e: 1 } }),
    () => 'text',
    () => {
      throw removed
    },
  ]) {
    world.answer = answer
    assert.equal(rateOf(), 70_000)
    await pass(31_000)
  }
  assert.equal(requested.length, 4)
  assert.deepEqual(reasons, ['fees_not_read'])
  assert.equal(rateOf(), 70_000)
  await fees.stop()
})

test('queues fee requests for 1,000 markets and sends two requests per second', async () => {
  const { fees, requested, world, pass, rateOf } = openFees()
  for (let number = 0; number < 1_100; number += 1) {
    rateOf({ nativeId: conditionId(`0x${String(number).padStart(64, '0')}`) })
  }
  world.answer = () => ({ c: requested.at(-1)?.slice('/clob-markets/'.length), fd: null })
  fees.start()
  await pass(600_000)
  assert.equal(requested.length, 1_000)
  await fees.stop()
})

test('includes the fees of a `new_market` message in the listing of the new market', async (t) => {
  const stub = new PolymarketStub()
  const hosts = await stub.start()
  let seen = false
  const parts = { clock: noonClock, random: seededRandom(1), log: silentLog }
  const emit = (event: VenueEvent) => {
    seen ||= event.kind === 'marketSeen'
    stub.poke()
  }
  const { catalog, feed } = openPolymarket({ ...parts, metrics: new Metrics(), emit }, hosts)
  t.after(async () => {
    await feed.stop()
    await stub.stop()
  })
  stub.rest = ({ path }) => (path === '/markets/keyset' ? { markets: [ROW] } : [])
  stub.onText = ({ path, socket }, text) => {
    if (path !== '/ws/market' || !text.includes('"type":"market"')) return
    const message = { event_type: 'new_market', market: ID, timestamp: '1795000000500' }
    socket.send(JSON.stringify({ ...message, fees_enabled: true, fee_schedule: TEXTS }))
  }
  feed.start()
  const outcomes = [outcomeId('11'), outcomeId('12')]
  const status = 'open'
  watchBooks(feed, [
    { nativeId: conditionId('0x1'), outcomes, status, openAtMs: null, closeAtMs: null },
  ])
  await stub.until(() => seen)
  const page = await catalog.fetchMarkets([ID], new AbortController().signal)
  const [market] = page.markets
  assert.deepEqual(
    [market?.fees.now.source, market?.fees.now.taker?.rateMicros],
    ['socket.new_market', 70_000],
  )
})
