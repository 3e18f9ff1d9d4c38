// The world's actual state as JSON, so that tests can compare a client's state with it. The Gamma port serves it at
// GET /sim/state, which no real venue has. Prices and sizes are in micros.
// ?view=summary: markets by venue and status, trade counts, pairs and traps (in a large world only of markets that were
// read)
// ?view=books&venue=a|b: open markets whose book was created: {nativeId: {bids, asks, tick}}
// ?view=trades&venue=a|b&from_index=N: trades from the run's N-th on, at most 10,000 rows
// ?view=pairs: every question listed on both venues (in a large world only those that were read)
// ?view=gaps: the planned gaps that opened: kind, markets, opening and closing times
// ?view=wallets: every wallet that has traded: addresses and number of events
// ?view=wallet&address=A&from_index=N: one wallet: cash, balances, at most 10,000 events from its N-th on
// ?action=pause | resume: stops and restarts the order flow; returns the summary
// ?action=burst&messages=N: N additional venue messages within the next second, at most 1,000,000

import type { Level } from '../../events.ts'
import { SIM_VENUES, type SimTrade, type SimVenue, type SimWalletEvent } from './model.ts'
import { participation, shownPrice } from './world/fill-money.ts'
import type { SimGap } from './world/gaps.ts'
import type { WalletAccount } from './world/wallet-account.ts'
import { isNamed } from './world/wallet-events.ts'
import type { WalletLedgers } from './world/wallet-ledgers.ts'
import type { SimulatedWorld } from './world/world.ts'

const ROWS_MAX = 10_000
const BURST_MAX = 1_000_000
const BURST_MS = 1_000

/** An invalid query gets `{ error }` with the accepted values. */
export function worldState(parts: Parts, query: URLSearchParams): unknown {
  const { world } = parts
  const action = query.get('action')
  if (action === 'pause') world.pause()
  else if (action === 'resume') world.resume()
  else if (action === 'burst') {
    const messages = Number(query.get('messages'))
    if (!Number.isInteger(messages) || messages < 1 || messages > BURST_MAX) {
      return { error: `messages accepts integers from 1 to ${BURST_MAX}` }
    }
    world.burst(messages, BURST_MS)
  } else if (action !== null) return { error: 'action accepts pause, resume, burst' }
  const view = VIEWS[query.get('view') ?? 'summary']
  return view?.(parts, query) ?? { error: `view accepts ${Object.keys(VIEWS).join(', ')}` }
}

interface Parts {
  readonly world: SimulatedWorld
  readonly wallets: WalletLedgers
}

const VIEWS: Readonly<Record<string, (parts: Parts, query: URLSearchParams) => unknown>> = {
  summary: ({ world }) => summary(world),
  books: ({ world }, query) => ofVenue(query, (venue) => books(world, venue)),
  trades: ({ world }, query) => ofVenue(query, (venue) => trades(world, venue, query)),
  pairs: ({ world }) => pairs(world),
  gaps: ({ world }) => ({ now_ms: world.nowMs(), gaps: world.gaps.map(gapRow) }),
  wallets: ({ wallets }) => ({ wallets: wallets.all().map(walletSummary) }),
  wallet: ({ wallets }, query) => {
    const ledger = wallets.wallet(query.get('address') ?? '')
    if (ledger === null) return { error: 'address accepts one of view=wallets' }
    return wallet(ledger, query)
  },
}

function ofVenue(query: URLSearchParams, view: (venue: SimVenue) => unknown): unknown {
  const venue = SIM_VENUES.find((key) => key === query.get('venue'))
  return venue === undefined ? { error: 'venue accepts a, b' } : view(venue)
}

/** `dropped`: number of rows that are missing at the start of `rows`. The page begins at `from_index`. */
function page<Row>(rows: readonly Row[], dropped: number, query: URLSearchParams) {
  const fromIndex = Number(query.get('from_index') ?? 0)
  if (!Number.isInteger(fromIndex) || fromIndex < 0) return null
  const first = Math.max(fromIndex, dropped)
  const found = rows.slice(first - dropped, first - dropped + ROWS_MAX)
  return { rows: found, position: { from_index: first, next_index: first + found.length } }
}

const BAD_INDEX = { error: 'from_index accepts integers from 0' }

function summary(world: SimulatedWorld): unknown {
  const pairKinds: Record<string, number> = {}
  for (const { listing } of world.plannedMarkets('a')) {
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

function venueSummary(world: SimulatedWorld, venue: SimVenue): unknown {
  const statuses: Record<string, number> = {}
  for (const { status } of world.markets(venue)) statuses[status] = (statuses[status] ?? 0) + 1
  return {
    events: world.events(venue).length,
    markets: world.markets(venue).length,
    statuses,
    trades: world.droppedTradeCount(venue) + world.trades(venue).length,
  }
}

function books(world: SimulatedWorld, venue: SimVenue): unknown {
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

function trades(world: SimulatedWorld, venue: SimVenue, query: URLSearchParams): unknown {
  const dropped = world.droppedTradeCount(venue)
  const retained = world.trades(venue)
  const found = page(retained, dropped, query)
  if (found === null) return BAD_INDEX
  const total = dropped + retained.length
  return { venue, ...found.position, total, trades: found.rows.map(tradeRow) }
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
  for (const { listing } of world.plannedMarkets('a')) {
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

const gapRow = ({ kind, markets, question, opensMs, closesMs }: SimGap): unknown => {
  return { kind, markets, question, opens_ms: opensMs, closes_ms: closesMs }
}

function walletSummary(ledger: WalletAccount): Readonly<Record<string, unknown>> {
  return {
    address: ledger.wallet.address,
    eoa: ledger.eoa,
    events: ledger.droppedEventCount + ledger.events.length,
    forgotten_events: ledger.droppedEventCount,
  }
}

function wallet(ledger: WalletAccount, query: URLSearchParams): unknown {
  const found = page(ledger.events, ledger.droppedEventCount, query)
  if (found === null) return BAD_INDEX
  const balances: unknown[] = []
  for (const { market, positions } of ledger.holdings.values()) {
    for (const index of [0, 1] as const) {
      const amount = positions[index].amount
      if (amount === 0) continue
      const { nativeId, tokens } = market.listing
      balances.push({ native_id: nativeId, token: tokens[index], amount_micros: amount })
    }
  }
  return {
    ...walletSummary(ledger),
    name: ledger.wallet.name,
    pseudonym: ledger.wallet.pseudonym,
    first_ms: ledger.firstMs,
    cash_micros: ledger.cash,
    fees_micros: ledger.fees,
    income_micros: ledger.income,
    balances,
    ...found.position,
    rows: found.rows.map(walletEventRow),
  }
}

function walletEventRow(event: SimWalletEvent): unknown {
  const { fill, market } = event
  const of =
    fill === null
      ? redeemedToken(event)
      : {
          token: fill.trade.market.listing.tokens[fill.trade.outcomeIndex],
          side: participation(fill.trade, fill.participant).isBuy ? 'buy' : 'sell',
          role: fill.participant === 0 ? 'taker' : 'maker',
          price_shown: shownPrice(fill.trade),
        }
  return {
    kind: event.kind,
    at_ms: event.atMs,
    tx_hash: event.txHash,
    native_id: market?.listing.nativeId ?? null,
    ...of,
    size_micros: event.size,
    usd_micros: event.usd,
    fee_micros: event.fee,
  }
}

function redeemedToken(event: SimWalletEvent): { readonly token?: string } {
  const { market, outcomeIndex } = event
  if (market === null || outcomeIndex === null || !isNamed(event)) return {}
  return { token: market.listing.tokens[outcomeIndex] }
}
