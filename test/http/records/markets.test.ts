import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CURVE_ZERO, type FeeModel } from '../../../engine/market/fees.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { MarketRecords } from '../../../http/records/markets.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { NOON } from '../../support/worlds/builders.ts'

const UNKNOWN = {
  model: 'unknown',
  taker: null,
  maker: null,
  rounding: null,
  rebate_rate: null,
  source: null,
  since: null,
  waived_until: null,
  next: null,
}

test('returns current and announced fees of a market, and null for unknown fees', () => {
  const clock = new ManualClock(NOON)
  const engine = new FakeEngine(clock)
  const now: FeeModel = {
    kind: 'quadratic',
    taker: { rateMicros: 70_000, exponent: 1, multiplierMicros: 500_000 },
    maker: CURVE_ZERO,
    rounding: { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 },
    rebateMicros: 200_000,
    source: 'series',
    sinceMs: timeMs(NOON - 1_999),
  }
  const next: FeeModel = { ...now, kind: 'flat', maker: null, sinceMs: timeMs(NOON + 30_000) }
  const fees = { now, next, waivedUntilMs: timeMs(NOON + 90_000) }
  const market = engine.add('Rain', { fees })
  const records = new MarketRecords(engine.matches)
  const shown = () => JSON.parse(String(records.bytes(market, clock.nowMs()))).fees
  const seconds = NOON / 1000
  const written = {
    model: 'quadratic',
    taker: { rate: 0.07, exponent: 1, multiplier: 0.5 },
    maker: { rate: 0, exponent: 1, multiplier: 1 },
    rounding: { direction: 'up', fill_step: 0.0001, order_step: 0.01 },
    rebate_rate: 0.2,
    source: 'series',
    since: seconds - 2,
  }
  const announced = { ...written, model: 'flat', maker: null, since: seconds + 30 }
  assert.deepEqual(shown(), { ...written, waived_until: seconds + 90, next: announced })
  clock.advance(29_999)
  assert.equal(shown().model, 'quadratic')
  clock.advance(1)
  assert.deepEqual(shown(), { ...announced, waived_until: seconds + 90, next: null })
})

test('writes a market as valid JSON with current numbers, whatever text the market contains', () => {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const market = engine.add('odd "name"\\', {
    question: 'Will “it” rain?\u2028\n',
    volume24h: usdMicros(1_250_000),
    volumeTotal: null,
    openInterest: null,
    figuresAtMs: NOON,
    dayFiguresAtMs: timeMs(NOON - 60_000),
    createdAtMs: null,
    closeAtMs: timeMs(NOON + 5_999),
    tags: ['a"b', ''],
  })
  const records = new MarketRecords(engine.matches)
  for (const price of [415_000, 1, 1_000_000]) {
    market.reprice(price)
    market.volume24h = usdMicros(price * 3)
    const { summary } = market
    const volume = (price * 3) / 1_000_000
    assert.deepEqual(JSON.parse(String(records.bytes(market, clock.nowMs()))), {
      id: market.ref.id,
      slug: summary.slug,
      question: summary.question,
      description: market.details().description,
      status: summary.status,
      resolution_status: 'none',
      settlement_price: null,
      outcomes: [
        { label: 'Yes', price: price / 1e6, price_cents: Math.floor((price + 5_000) / 10_000) },
        {
          label: 'No',
          price: (1e6 - price) / 1e6,
          price_cents: 100 - Math.floor((price + 5_000) / 10_000),
        },
      ],
      platforms: [
        {
          platform: 'venue_a',
          native_id: market.ref.nativeId,
          url: summary.url,
          best_bid: market.now.bid === null ? null : market.now.bid / 1e6,
          best_ask: market.now.ask === null ? null : market.now.ask / 1e6,
          volume_24h: volume,
          volume_unit: 'usd_traded',
          as_of_ms: NOON,
        },
      ],
      volume_24h: volume,
      volume_total: null,
      volume_unit: 'usd_traded',
      open_interest: null,
      as_of_ms: NOON,
      volume_24h_as_of_ms: NOON - 60_000,
      created_at: null,
      close_time: NOON / 1000 + 5,
      tags: summary.tags,
      category: summary.category,
      event_slug: summary.eventSlug,
      image: summary.image,
      price_step: 0.01,
      fees: UNKNOWN,
    })
  }
})

test('reads the description of a market at most once a minute, or immediately after the listing changes', () => {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const market = engine.add('Rain')
  let reads = 0
  market.details = () => {
    reads += 1
    return { description: `reading ${reads}`, native: {} }
  }
  const records = new MarketRecords(engine.matches)
  const described = () => JSON.parse(String(records.bytes(market, clock.nowMs()))).description
  assert.equal(described(), 'reading 1')
  clock.advance(59_000)
  assert.equal(described(), 'reading 1')
  clock.advance(1_000)
  assert.equal(described(), 'reading 2')
  market.summary = { ...market.summary, question: 'Other?' }
  assert.equal(described(), 'reading 3')
})

test('returns a matched market as the second platform with live figures until the match ends', () => {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const ours = engine.add('Rain', { volume24h: usdMicros(3_000_000) })
  const theirs = engine.add('RAIN-26', { venue: 'b', url: 'https://example.com/"rain"' })
  const records = new MarketRecords(engine.matches)
  const read = (market: typeof ours) => JSON.parse(String(records.bytes(market, clock.nowMs())))
  const alone = read(ours)
  assert.equal(alone.platforms.length, 1)
  engine.matches.put(ours, theirs)
  for (const volume of [0, 7_000_000]) {
    theirs.volume24h = usdMicros(volume)
    theirs.now = { ...theirs.now, bid: priceMicros(410_000 + volume / 1e3), ask: null }
    const { platforms, ...rest } = read(ours)
    assert.deepEqual(platforms, [
      ...alone.platforms,
      {
        platform: 'venue_b',
        native_id: 'RAIN-26',
        url: 'https://example.com/"rain"',
        best_bid: (410_000 + volume / 1e3) / 1e6,
        best_ask: null,
        volume_24h: volume / 1e6,
        volume_unit: 'usd_notional',
        as_of_ms: null,
      },
    ])
    assert.deepEqual(
      { ...rest, platforms: alone.platforms },
      alone,
      'all other fields are unchanged',
    )
    assert.deepEqual(read(theirs).platforms[1], alone.platforms[0])
  }
  engine.matches.remove(theirs.ref)
  assert.deepEqual(read(ours), alone)
})
