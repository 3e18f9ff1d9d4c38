// Records of markets written as text, against the same record built as an object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeMs, usdMicros } from '../../engine/units.ts'
import { MarketRecords } from '../../http/market-records.ts'
import { NOON } from '../support/builders.ts'
import { FakeEngine } from '../support/fake-engine.ts'
import { ManualClock } from '../support/manual-clock.ts'

test('[MARKETS10] a record is whole JSON, whatever its texts contain, and its numbers are the present ones', () => {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const market = engine.add('odd "name"\\', {
    question: 'Will “it” rain?\u2028\n',
    volume24h: usdMicros(1_250_000),
    volumeTotal: null,
    openInterest: null,
    createdAtMs: null,
    closeAtMs: timeMs(NOON + 5_999),
    tags: ['a"b', ''],
  })
  const records = new MarketRecords()
  for (const price of [415_000, 1, 1_000_000]) {
    market.reprice(price)
    market.volume24h = usdMicros(price * 3)
    const { summary } = market
    const volume = (price * 3) / 1_000_000
    assert.deepEqual(JSON.parse(records.text(market, clock.nowMs())), {
      id: market.ref.id,
      slug: summary.slug,
      question: summary.question,
      description: market.details().description,
      status: summary.status,
      outcomes: [
        { label: 'Yes', price: price / 1e6, price_cents: Math.floor((price + 5_000) / 10_000) },
        {
          label: 'No',
          price: (1e6 - price) / 1e6,
          price_cents: Math.floor((1e6 - price + 5_000) / 10_000),
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
        },
      ],
      volume_24h: volume,
      volume_total: null,
      open_interest: null,
      created_at: null,
      close_time: NOON / 1000 + 5,
      tags: summary.tags,
      category: summary.category,
      event_slug: summary.eventSlug,
      image: summary.image,
    })
  }
})

test('[MARKETS10] the description is read once a minute at most, and at once when the listing changes', () => {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const market = engine.add('Rain')
  let reads = 0
  let summary = market.summary
  const view = {
    ref: market.ref,
    get summary() {
      return summary
    },
    volume24h: market.volume24h,
    volumeTotal: market.volumeTotal,
    price: () => market.price(),
    priceAt: () => null,
    book: () => market.book(),
    trades: () => ({ rows: [], hasMore: false }),
    seq: () => 0,
    details: () => {
      reads += 1
      return { description: `reading ${reads}`, native: {} }
    },
  }
  const records = new MarketRecords()
  const described = () => JSON.parse(records.text(view, clock.nowMs())).description
  assert.equal(described(), 'reading 1')
  clock.advance(59_000)
  assert.equal(described(), 'reading 1')
  clock.advance(1_000)
  assert.equal(described(), 'reading 2')
  summary = { ...summary, question: 'Other?' }
  assert.equal(described(), 'reading 3')
})
