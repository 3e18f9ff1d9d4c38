// The world's own truth as JSON, for tests that compare what a client rebuilt with what really was;
// served at GET /sim/state on the Gamma port. No venue has such a thing. Prices and sizes are micros. Upholds SIMSTATE1 to 5.
//   ?view=summary                        markets by venue and status, trade counts, pairs and traps
//   ?view=books&venue=a|b                touched open markets: {nativeId: {bids, asks, tick}}
//   ?view=trades&venue=a|b&from_index=N  rows from the run's N-th trade on, at most 10,000
//   ?view=pairs                          every question listed on both venues
//   ?action=pause | resume               stops and restarts the flow; answers the summary

import type { Level } from '../../events.ts'
import { VENUE_KEYS, type VenueKey } from '../../ids.ts'
import type { SimTrade } from './model.ts'
import type { SimulatedWorld } from './world.ts'

const TRADES_MAX = 10_000

/** Answers one query; a query that cannot be answered gets `{ error }` saying what is accepted. */
export function worldState(world: SimulatedWorld, query: URLSearchParams): unknown {
  const action = query.get('action')
  if (action === 'pause') world.pause()
  else if (action === 'resume') world.resume()
  else if (action !== null) return { error: 'action accepts pause, resume' }
  const view = query.get('view') ?? 'summary'
  if (view === 'summary') return summary(world)
  if (view === 'pairs') return pairs(world)
  const venue = VENUE_KEYS.find((key) => key === query.get('venue'))
  if (venue === undefined) return { error: 'venue accepts a, b' }
  if (view === 'books') return books(world, venue)
  if (view === 'trades') return trades(world, venue, Number(query.get('from_index') ?? 0))
  return { error: 'view accepts summary, books, trades, pairs' }
}

function summary(world: SimulatedWorld): unknown {
  const pairKinds: Record<string, number> = {}
  for (const { listing } of world.markets('a')) {
    if (listing.pair !== null) {
      pairKinds[listing.pair.kind] = (pairKinds[listing.pair.kind] ?? 0) + 1
    }
  }
  return {
    seed: world.seed,
    started_ms: world.startedMs,
    now_ms: world.nowMs(),
    is_paused: world.isPaused,
    venues: { a: venueSummary(world, 'a'), b: venueSummary(world, 'b') },
    pairs: pairKinds,
  }
}

function venueSummary(world: SimulatedWorld, venue: VenueKey): unknown {
  const statuses: Record<string, number> = {}
  for (const { status } of world.markets(venue)) statuses[status] = (statuses[status] ?? 0) + 1
  return {
    events: world.events(venue).length,
    markets: world.markets(venue).length,
    statuses,
    trades: world.forgottenTradeCount(venue) + world.trades(venue).length,
  }
}

function books(world: SimulatedWorld, venue: VenueKey): unknown {
  const books: Record<string, unknown> = {}
  for (const market of world.touchedMarkets(venue)) {
    const { bids, asks } = market.book
    books[market.listing.nativeId] = {
      bids: bids.map(levelRow),
      asks: asks.map(levelRow),
      tick: market.tickMicros,
    }
  }
  return { venue, now_ms: world.nowMs(), books }
}

function levelRow({ price, size }: Level): readonly [number, number] {
  return [price, size]
}

function trades(world: SimulatedWorld, venue: VenueKey, fromIndex: number): unknown {
  const forgotten = world.forgottenTradeCount(venue)
  const kept = world.trades(venue)
  if (!Number.isInteger(fromIndex) || fromIndex < 0) {
    return { error: 'from_index accepts integers from 0' }
  }
  const first = Math.max(fromIndex, forgotten)
  const rows = kept.slice(first - forgotten, first - forgotten + TRADES_MAX)
  return {
    venue,
    from_index: first,
    next_index: first + rows.length,
    total: forgotten + kept.length,
    trades: rows.map(tradeRow),
  }
}

function tradeRow(trade: SimTrade): unknown {
  const { listing } = trade.market
  return {
    id: trade.id,
    tx_hash: trade.txHash,
    native_id: listing.nativeId,
    token: listing.tokens[trade.outcomeIndex],
    outcome_index: trade.outcomeIndex,
    side: trade.side,
    price_micros: trade.price,
    size_micros: trade.size,
    at_ms: trade.atMs,
    taker: trade.taker.address,
    makers: trade.makers.map(({ wallet, size }) => ({
      address: wallet.address,
      size_micros: size,
    })),
  }
}

function pairs(world: SimulatedWorld): unknown {
  const pairs: unknown[] = []
  for (const { listing } of world.markets('a')) {
    if (listing.pair === null) continue
    pairs.push({
      a: listing.nativeId,
      b: listing.pair.otherNativeId,
      kind: listing.pair.kind,
      question_key: listing.questionKey,
      question: listing.question,
    })
  }
  return { pairs }
}
