// What happens to the markets of a part of the exchange that halts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExchangeHalts } from '../../../../../engine/venues/kalshi/catalog/halts.ts'
import { StatusTimers } from '../../../../../engine/venues/kalshi/catalog/status-timers.ts'
import { MarketTerms } from '../../../../../engine/venues/kalshi/market-terms.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

test('closes open markets of a halted exchange part and reads them again when it resumes', () => {
  const clock = new ManualClock()
  const published: string[] = []
  const emit = (event: { kind: string; market?: string; status?: string }) =>
    published.push(`${event.market} ${event.status ?? event.kind}`)
  const timers = new StatusTimers({ clock, emit })
  const terms = new MarketTerms()
  const halts = new ExchangeHalts({ clock, terms, timers, emit })
  for (const [ticker, shard, status] of [
    ['A', 2, 'open'],
    ['B', 2, 'closed'],
    ['C', 0, 'open'],
  ] as const) {
    terms.note(ticker, { tradingEndsAtMs: null, grid: null, shard })
    timers.set(ticker, { status, openAtMs: null, closeAtMs: null })
  }
  halts.note(2, false)
  halts.note(2, false)
  assert.deepEqual(published, ['A closed'])
  halts.note(2, true)
  clock.advance(10_000)
  assert.deepEqual(published.slice(1).sort(), ['A marketSeen', 'B marketSeen'])
  timers.stop()
})
