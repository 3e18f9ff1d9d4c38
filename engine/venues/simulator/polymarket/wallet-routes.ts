// Wallet paths of venue a's Data API v2 (engine/venues/polymarket/README.md, Data API v2). They find wallets only by
// proxy address.

import { toSeconds } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket, SimWalletEvent, World } from '../model.ts'
import type { WalletAccount } from '../world/wallet-account.ts'
import type { WalletLedgers } from '../world/wallet-ledgers.ts'
import {
  csv,
  type DataV2,
  enumParam,
  type Page,
  type PageQuery,
  pinnedParam,
  positive,
  QueryError,
  user,
} from './envelope.ts'
import { CONTRACTS, requestedMarkets } from './trade-routes.ts'
import {
  activityRow,
  comboRows,
  type Position,
  positionFigures,
  positionRow,
  positionsOf,
  rounded,
} from './wallet-rows.ts'

/** Lists omit open positions with fewer contracts. */
const DUST = 0.1
const DIRECTIONS = ['ASC', 'DESC'] as const

interface Parts {
  readonly world: World
  readonly wallets: WalletLedgers
  readonly faults: Pick<Faults, 'strikes'>
}

const ACTIVITY_AGE_S = 15
const POSITIONS_AGE_S = 5

/** The minimum amount that a list shows. An invalid parameter is ignored. */
function leastOf(query: URLSearchParams): number {
  const text = query.get('filter_amount') ?? ''
  const least = text === '' ? Number.NaN : Number(text)
  return least >= 0 ? least : DUST
}

/** Throws QueryError for an invalid address and for the venue's own contracts. */
function requestedWallet(query: URLSearchParams): string {
  const address = user(query)
  if (CONTRACTS.has(address)) throw new QueryError('invalid user: a contract of the protocol')
  return address
}

export function addWalletRoutes(data: DataV2, parts: Parts): void {
  const ofActivity = (pageQuery: PageQuery) => activity(parts, pageQuery)
  data.pages('activity', '/v2/activity', ofActivity, { maxAgeS: ACTIVITY_AGE_S })
  const ofPositions = (pageQuery: PageQuery) => positions(parts, pageQuery)
  data.pages('positions', '/v2/positions', ofPositions, { maxAgeS: POSITIONS_AGE_S })
  data.value('/v2/value', (query) => value(parts, query), { maxAgeS: null })
  data.value('/v2/user-stats', (query) => userStats(parts.wallets, query), { maxAgeS: null })
}

/** Null for an owner's address, because the venue does not find wallets by it. */
function proxyLedger(wallets: WalletLedgers, address: string): WalletAccount | null {
  const ledger = wallets.wallet(address)
  return ledger?.wallet.address.toLowerCase() === address ? ledger : null
}

function value({ world, wallets }: Parts, query: URLSearchParams): unknown {
  const address = requestedWallet(query)
  const markets = requestedMarkets(world, query)
  let total = 0
  for (const at of positionsOf(proxyLedger(wallets, address))) {
    if (markets === null || markets.includes(at.holding.market))
      total += positionFigures(at).current
  }
  return { proxy_wallet: address, value: rounded(total, 4) }
}

/** Null for an unknown wallet. At the venue `trades` is the number of traded markets. */
function userStats(wallets: WalletLedgers, query: URLSearchParams): unknown {
  const ledger = proxyLedger(wallets, requestedWallet(query))
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

// The cursor is the number of the last row in the wallet's history, so new rows do not shift pages.
function activity({ world, wallets, faults }: Parts, { query, limit, at: after }: PageQuery): Page {
  const ledger = proxyLedger(wallets, requestedWallet(query))
  enumParam(query, 'sort_by', ['TIMESTAMP'], 'TIMESTAMP')
  const isAscending = enumParam(query, 'sort_direction', DIRECTIONS, 'DESC') === 'ASC'
  const afterNumber = after === null ? null : Number(after.sq)
  const isWanted = eventFilter(world, query)
  const dropped = ledger?.droppedEventCount ?? 0
  const hasCombos = !query.has('type') && faults.strikes('combos')
  const found: { readonly number: number; readonly row: () => unknown }[] = []
  for (const [index, event] of ledger?.events.entries() ?? []) {
    if (ledger === null || !isWanted(event)) continue
    const number = dropped + index
    found.push({ number, row: () => activityRow(ledger, event) })
    const rows = hasCombos && event.fill !== null ? comboRows(ledger, event) : []
    for (const [position, row] of rows.entries()) {
      found.push({ number: number + (position + 1) / 4, row: () => row })
    }
  }
  if (!isAscending) found.reverse()
  const rest =
    afterNumber === null
      ? found
      : found.filter(({ number }) => (isAscending ? number > afterNumber : number < afterNumber))
  const rows = rest.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows: rows.map(({ row }) => row()),
    next: last !== undefined && rest.length > limit ? { sq: last.number } : null,
  }
}

/** Activity types of all API versions. Other types are refused. */
const ACTIVITY_TYPES = [
  'TRADE',
  'SPLIT',
  'MERGE',
  'REDEEM',
  'REWARD',
  'CONVERSION',
  'MAKER_REBATE',
  'REFERRAL_REWARD',
  'YIELD',
  'MIGRATION',
  'DEPOSIT',
  'WITHDRAWAL',
  'TAKER_REBATE',
  'TIP',
] as const

function eventFilter(world: World, query: URLSearchParams): (event: SimWalletEvent) => boolean {
  const types = new Set(csv(query, 'type').map((type) => type.toUpperCase()))
  for (const type of types) {
    if (!ACTIVITY_TYPES.some((accepted) => accepted === type)) throw new QueryError('invalid type')
  }
  const startMs = (positive(query, 'start') ?? 0) * 1_000
  const endMs = (positive(query, 'end') ?? Number.POSITIVE_INFINITY) * 1_000 + 999
  const requested = requestedMarkets(world, query)
  const markets = requested === null ? null : new Set(requested)
  return (event) =>
    event.atMs >= startMs &&
    event.atMs <= endMs &&
    (types.size === 0 || types.has(event.kind)) &&
    (markets === null || (event.market !== null && markets.has(event.market)))
}

const STATUSES = ['OPEN', 'CLOSED'] as const

const ORDERS = {
  CURRENT_VALUE: (at: Position) => positionFigures(at).current,
  REALIZED_PNL: (at: Position) => positionFigures(at).realized,
  TIMESTAMP: (at: Position) => at.holding.positions[at.outcomeIndex].lastMs,
}
const ORDER_NAMES = ['CURRENT_VALUE', 'REALIZED_PNL', 'TIMESTAMP'] as const

// The cursor is the sort value and the token of the last row. A row whose value changes may move to another page.
function positions({ world, wallets }: Parts, pageQuery: PageQuery): Page {
  const { query, limit, at: after } = pageQuery
  const ids = csv(query, 'condition')
  if (!query.has('user') && ids.length > 1) {
    throw new QueryError('invalid condition: exactly one without a user')
  }
  const owner = query.has('user') || ids.length === 0 ? requestedWallet(query) : null
  const markets = requestedMarkets(world, query)
  const status = pinnedParam(pageQuery, 'status', STATUSES, 'OPEN')
  const byName = status === 'CLOSED' ? 'REALIZED_PNL' : 'CURRENT_VALUE'
  const sortBy = pinnedParam(pageQuery, 'sort_by', ORDER_NAMES, byName)
  const direction = pinnedParam(pageQuery, 'sort_direction', DIRECTIONS, 'DESC')
  const sign = direction === 'ASC' ? 1 : -1
  // Closed positions can be sorted only by realized profit or time.
  const order = ORDERS[status === 'CLOSED' && sortBy !== 'TIMESTAMP' ? 'REALIZED_PNL' : sortBy]
  const least = leastOf(query)
  const all =
    owner === null
      ? (markets ?? []).flatMap((market) => heldIn(wallets, market))
      : [...positionsOf(proxyLedger(wallets, owner))]
  const keyed = all
    .filter(({ holding: { market } }) => markets === null || markets.includes(market))
    .filter((at) => {
      const { size } = positionFigures(at)
      return status === 'CLOSED' ? size === 0 : size > 0 && size >= least
    })
    .map((at) => ({ at, value: order(at), key: keyOf(at) }))
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
    rows: rows.map(({ at }) => positionRow(at)),
    next: hasMore
      ? { v: last.value, k: last.key, status, sort_by: sortBy, sort_direction: direction }
      : null,
  }
}

function heldIn(wallets: WalletLedgers, market: SimMarket): readonly Position[] {
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
