// Venue a's Data API v2 about wallets (engine/venues/polymarket/README.md, Data API v2): `/v2/activity`, `/v2/positions`,
// `/v2/value` and `/v2/user-stats`. Not for: the other paths of v2, or pages, cursors and errors (envelope.ts).
// Upholds SIMWALLET13.

import { MICROS, type TimeMs, toSeconds } from '../../../units.ts'
import type { SimWallets, World } from '../model.ts'
import { csv, flag, QueryError, user, word } from './data-query.ts'
import { type AskedPage, type DataV2, type Page, snakeRow } from './envelope.ts'
import { CONTRACTS, marketsAsked } from './trades-v2.ts'
import { eventFilter, proxyLedger } from './wallet-routes.ts'
import {
  activityRow,
  endDate,
  isRedeemable,
  type Position,
  positionFigures,
  positionRow,
  positionsOf,
  rounded,
} from './wallet-rows.ts'

/** Contracts below which an open position is not shown. */
const DUST = 0.1
const DIRECTIONS = ['ASC', 'DESC'] as const

interface Parts {
  readonly world: World
  readonly wallets: SimWallets
}

/** Seconds that the venue's edge keeps an answer. */
const ACTIVITY_AGE_S = 15
const POSITIONS_AGE_S = 5

/** What is no amount counts as none given. */
function leastOf(query: URLSearchParams): number {
  const text = query.get('filter_amount') ?? ''
  const least = text === '' ? Number.NaN : Number(text)
  return least >= 0 ? least : DUST
}

/** Throws QueryError for no address, and for the venue's own contracts. */
function walletAsked(query: URLSearchParams): string {
  const address = user(query)
  if (CONTRACTS.has(address)) throw new QueryError('invalid user: a contract of the protocol')
  return address
}

/** Adds the paths. */
export function addWalletRoutesV2(data: DataV2, parts: Parts): void {
  const ofActivity = (asked: AskedPage) => activity(parts.wallets, asked)
  data.pages('activity', '/v2/activity', ofActivity, { maxAgeS: ACTIVITY_AGE_S })
  const ofPositions = (asked: AskedPage) => positions(parts, asked)
  data.pages('positions', '/v2/positions', ofPositions, { maxAgeS: POSITIONS_AGE_S })
  data.value('/v2/value', (query) => value(parts, query), { maxAgeS: null })
  data.value('/v2/user-stats', (query) => userStats(parts.wallets, query), { maxAgeS: null })
}

/** `{proxy_wallet, value}`: what open positions are worth, those of some markets alone where they are named. */
function value({ world, wallets }: Parts, query: URLSearchParams): unknown {
  const address = walletAsked(query)
  const markets = marketsAsked(world, query)
  let total = 0
  for (const at of positionsOf(proxyLedger(wallets, address))) {
    if (markets === null || markets.includes(at.holding.market))
      total += positionFigures(at).current
  }
  return { proxy_wallet: address, value: rounded(total, 4) }
}

/** Null for a wallet that was never seen; `trades` counts markets. */
function userStats(wallets: SimWallets, query: URLSearchParams): unknown {
  const ledger = proxyLedger(wallets, walletAsked(query))
  if (ledger === null) return null
  const markets = new Set(ledger.events.flatMap(({ fill }) => fill?.trade.market ?? []))
  const realized = [...positionsOf(ledger)].map((at) => positionFigures(at).realized)
  return {
    proxy_wallet: ledger.wallet.address,
    trades: markets.size,
    biggest_win: rounded(Math.max(0, ...realized), 6),
    views: 0,
    join_date: toSeconds(ledger.firstMs),
    all_time_pnl: null,
  }
}

// The cursor is the number of the last row in the wallet's life, which no later row moves.
function activity(wallets: SimWallets, { query, limit, at: after, asOfMs }: AskedPage): Page {
  const ledger = proxyLedger(wallets, walletAsked(query))
  word(query, 'sort_by', ['TIMESTAMP'], 'TIMESTAMP')
  const isAscending = word(query, 'sort_direction', DIRECTIONS, 'DESC') === 'ASC'
  const afterNumber = after === null ? null : Number(after.sq)
  const isWanted = eventFilter(withMarkets(query))
  const forgotten = ledger?.forgottenEventCount ?? 0
  const found = (ledger?.events ?? [])
    .map((event, index) => ({ event, number: forgotten + index }))
    .filter(({ event }) => event.atMs <= asOfMs && isWanted(event))
  if (!isAscending) found.reverse()
  const rest =
    afterNumber === null
      ? found
      : found.filter(({ number }) => (isAscending ? number > afterNumber : number < afterNumber))
  const rows = rest.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows: ledger === null ? [] : rows.map(({ event }) => snakeRow(activityRow(ledger, event))),
    next: last !== undefined && rest.length > limit ? { sq: last.number } : null,
  }
}

const STATUSES = ['OPEN', 'REDEEMABLE', 'REDEEMABLE_LOST', 'MERGEABLE', 'CLOSED'] as const

const ORDERS: Readonly<Record<string, (at: Position) => number>> = {
  CURRENT_VALUE: (at) => positionFigures(at).current,
  PRICE: (at) => positionFigures(at).price,
  TOKENS: (at) => positionFigures(at).size,
  UNREALIZED_PNL: (at) => positionFigures(at).unrealized,
  REALIZED_PNL: (at) => positionFigures(at).realized,
  TOTAL_PNL: (at) => positionFigures(at).realized + positionFigures(at).unrealized,
  TIMESTAMP: (at) => at.holding.positions[at.outcomeIndex].lastMs,
}

// The cursor is the sort value and token of the last row: a value that moves meanwhile may move its row.
function positions({ world, wallets }: Parts, { query, limit, at: after }: AskedPage): Page {
  const conditions = csv(query, 'condition')
  const ledgers = query.has('user') || conditions.length === 0 ? [walletAsked(query)] : null
  const status = word(query, 'status', STATUSES, 'OPEN')
  const order = ORDERS[word(query, 'sort_by', Object.keys(ORDERS), 'CURRENT_VALUE')]
  const sign = word(query, 'sort_direction', DIRECTIONS, 'DESC') === 'ASC' ? 1 : -1
  const isCash = word(query, 'filter_type', ['CASH', 'TOKENS'], 'TOKENS') === 'CASH'
  const least = leastOf(query)
  const isRisky = flag(query, 'negative_risk')
  const all: Position[] = []
  for (const address of ledgers ?? []) all.push(...positionsOf(proxyLedger(wallets, address)))
  if (ledgers === null) for (const id of conditions) all.push(...heldIn({ world, wallets }, id))
  const keyed = all
    .filter(({ holding: { market } }) => {
      if (isRisky !== null && market.event.isMutuallyExclusive !== isRisky) return false
      return conditions.length === 0 || conditions.includes(market.listing.nativeId)
    })
    .filter((at) => hasStatus(at, status, isCash ? DUST : least))
    .filter((at) => !isCash || positionFigures(at).current >= least)
    .map((at) => ({ at, value: order?.(at) ?? 0, key: keyOf(at) }))
    .sort((one, other) => sign * (one.value - other.value) || (one.key < other.key ? -1 : 1))
  const rest = keyed.filter(({ value, key }) => {
    if (after === null) return true
    const ahead = sign * (value - Number(after.v))
    return ahead > 0 || (ahead === 0 && key > String(after.k))
  })
  const rows = rest.slice(0, limit)
  const last = rows.at(-1)
  const hasMore = last !== undefined && rest.length > limit
  return {
    rows: rows.map(({ at }) => positionRowV2(at)),
    next: hasMore ? { v: last.value, k: last.key } : null,
  }
}

function heldIn({ world, wallets }: Parts, conditionId: string): readonly Position[] {
  const market = world.market('a', conditionId)
  if (market === null) return []
  return wallets
    .holders(market)
    .flatMap((holding) =>
      ([0, 1] as const)
        .filter((outcomeIndex) => holding.positions[outcomeIndex].bought > 0)
        .map((outcomeIndex) => ({ holding, outcomeIndex })),
    )
}

function keyOf({ holding, outcomeIndex }: Position): string {
  return `${holding.market.listing.tokens[outcomeIndex]} ${holding.ledger.wallet.address}`
}

/** Asking for OPEN also gives what can be redeemed. */
function hasStatus(at: Position, status: (typeof STATUSES)[number], sizeMin: number): boolean {
  const { size, price } = positionFigures(at)
  if (status === 'CLOSED') return size === 0
  if (size === 0 || size < sizeMin) return false
  const { market, positions } = at.holding
  if (status === 'OPEN') return true
  if (status === 'MERGEABLE') return positions[0].amount > 0 && positions[1].amount > 0
  return isRedeemable(market) && price > 0 === (status === 'REDEEMABLE')
}

function positionRowV2(at: Position): Record<string, unknown> {
  const figures = positionFigures(at)
  const position = at.holding.positions[at.outcomeIndex]
  const { market, ledger } = at.holding
  const v1 = snakeRow(positionRow(at))
  const share = position.bought === 0 ? 0 : position.amount / position.bought
  const fees = (position.fees / MICROS) * share
  return {
    proxy_wallet: ledger.wallet.address,
    token_id: v1.token_id,
    condition_id: v1.condition_id,
    current_size: figures.size,
    avg_price: rounded(figures.averagePrice, 6),
    entry_cost_usdc: rounded(figures.initial, 6),
    entry_fees_usdc: rounded(fees, 6),
    total_cost_usdc: rounded(rounded(figures.initial, 6) + rounded(fees, 6), 6),
    current_price: figures.price,
    current_value: rounded(figures.current, 6),
    total_size: figures.bought,
    realized_pnl: rounded(figures.realized, 6),
    unrealized_pnl: rounded(figures.unrealized, 6),
    total_pnl: rounded(rounded(figures.realized, 6) + rounded(figures.unrealized, 6), 6),
    percent_pnl: rounded(figures.percent, 6),
    percent_realized_pnl: rounded(figures.percentRealized, 6),
    status: figures.size === 0 ? 'CLOSED' : isRedeemable(market) ? 'REDEEMABLE' : 'OPEN',
    redeemable: figures.size > 0 && isRedeemable(market),
    mergeable: v1.mergeable,
    negative_risk: market.event.isMutuallyExclusive,
    archived: false,
    title: v1.title,
    slug: v1.slug,
    icon: v1.icon,
    event_id: v1.event_id,
    event_slug: v1.event_slug,
    outcome: v1.outcome,
    outcome_index: at.outcomeIndex,
    opposite_outcome: v1.opposite_outcome,
    opposite_token_id: v1.opposite_token_id,
    end_date: endDate(market),
    last_event_at: toSeconds(position.lastMs),
    first_entry_at: toSeconds(firstMs(at)),
    name: ledger.wallet.name,
    profile_image: '',
    verified: false,
  }
}

/** Of the events that are kept. */
function firstMs({ holding }: Position): TimeMs {
  const first = holding.ledger.events.find(({ market }) => market === holding.market)
  return first?.atMs ?? holding.ledger.firstMs
}

/** v1's `market` and `eventId` under v2's names. */
function withMarkets(query: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams(query)
  for (const [name, v1] of [
    ['condition', 'market'],
    ['event_id', 'eventId'],
  ] as const) {
    const ids = csv(query, name)
    if (ids.length > 0) read.set(v1, ids.join(','))
  }
  return read
}
