// Venue a's Data API v1 about wallets (engine/venues/polymarket/README.md, Data API): activity, positions,
// closed positions, value, holders, markets traded. Only the proxy address names a wallet here; a page that
// is not full is the last one. Not for: the leaderboard (leaderboard.ts), v2 (wallet-v2.ts). Upholds
// SIMWALLET8 to SIMWALLET11.

import { toNumber } from '../../../units.ts'
import type { SimMarket, SimWalletEvent, SimWalletLedger, SimWallets, World } from '../model.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import {
  amount,
  answering,
  bounded,
  csv,
  flag,
  marketFilter,
  marketsOf,
  QueryError,
  user,
  word,
} from './data-query.ts'
import {
  activityRow,
  closedPositionRow,
  holderRow,
  type Position,
  positionFigures,
  positionRow,
  positionsOf,
  rounded,
  sideOf,
  usdcMicros,
} from './wallet-rows.ts'

/** Adds the routes to a listener, at the root and under `/v1`. */
export function addWalletRoutes(
  server: RestServer,
  parts: { readonly world: World; readonly wallets: SimWallets },
): void {
  const { world, wallets } = parts
  const answers: Readonly<Record<string, (query: URLSearchParams) => RestAnswer>> = {
    activity: (query) => activity(wallets, query),
    positions: (query) => positions(wallets, query),
    'closed-positions': (query) => closedPositions(wallets, query),
    value: (query) => value(wallets, query),
    traded: (query) => traded(wallets, query),
    holders: (query) => holders({ world, wallets, query }),
  }
  for (const [name, answer] of Object.entries(answers)) {
    for (const root of ['', '/v1']) {
      server.get(`${root}/${name}`, ({ query }) => answering(() => answer(query)))
    }
  }
}

/** All that any version of the venue knows; asking for others is refused. */
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

const LIMIT = { fallback: 100, max: 500 }
const OFFSET = { fallback: 0, max: 10_000 }
const CLOSED_ROWS_DEFAULT = 10
/** Larger limits are cut to this without a word. */
const CLOSED_ROWS_MAX = 50
const CLOSED_OFFSET = { fallback: 0, max: 100_000 }
const ANY = { fallback: 0, max: Number.MAX_SAFE_INTEGER }
const TITLE_LENGTH_MAX = 100
const DIRECTIONS = ['ASC', 'DESC'] as const

/** The ledger of a proxy address; owners' addresses find nothing here, as live. */
export function proxyLedger(wallets: SimWallets, address: string): SimWalletLedger | null {
  const ledger = wallets.wallet(address)
  return ledger?.wallet.address.toLowerCase() === address ? ledger : null
}

function activity(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const ledger = proxyLedger(wallets, user(query))
  const limit = bounded(query, 'limit', LIMIT)
  const offset = bounded(query, 'offset', OFFSET)
  const isWanted = eventFilter(query)
  const sortBy = word(query, 'sortBy', ['TIMESTAMP', 'TOKENS', 'CASH'], 'TIMESTAMP')
  const isAscending = word(query, 'sortDirection', DIRECTIONS, 'DESC') === 'ASC'
  const found = (ledger?.events ?? []).filter(isWanted)
  if (!isAscending) found.reverse()
  const sign = isAscending ? 1 : -1
  if (sortBy === 'TOKENS') found.sort((one, other) => sign * (one.size - other.size))
  if (sortBy === 'CASH') found.sort((one, other) => sign * (usdcMicros(one) - usdcMicros(other)))
  if (ledger === null) return json([])
  return json(found.slice(offset, offset + limit).map((event) => activityRow(ledger, event)))
}

/** Which events are asked for: `type`, `side`, `market` or `eventId`, `start` and `end` in seconds. */
export function eventFilter(query: URLSearchParams): (event: SimWalletEvent) => boolean {
  const types = new Set(csv(query, 'type').map((type) => type.toUpperCase()))
  for (const type of types) {
    if (!ACTIVITY_TYPES.some((known) => known === type)) throw new QueryError('invalid type')
  }
  const side = word(query, 'side', ['BUY', 'SELL'], null)
  const startMs = bounded(query, 'start', ANY) * 1_000
  const endMs = bounded(query, 'end', { ...ANY, fallback: 1e12 }) * 1_000 + 999
  const isMarketWanted = marketFilter(query)
  return (event) =>
    event.atMs >= startMs &&
    event.atMs <= endMs &&
    (types.size === 0 || types.has(event.kind)) &&
    (side === null || sideOf(event) === side) &&
    isMarketWanted(event.market)
}

const POSITION_ORDERS: Readonly<Record<string, (at: Position) => number | string>> = {
  CURRENT: (at) => positionFigures(at).current,
  INITIAL: (at) => positionFigures(at).initial,
  TOKENS: (at) => positionFigures(at).size,
  CASHPNL: (at) => positionFigures(at).unrealized,
  PERCENTPNL: (at) => positionFigures(at).percent,
  TITLE: (at) => at.holding.market.listing.question,
  RESOLVING: (at) => at.holding.market.listing.closeMs,
  PRICE: (at) => positionFigures(at).price,
  AVGPRICE: (at) => positionFigures(at).averagePrice,
}

function positions(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const ledger = proxyLedger(wallets, user(query))
  const limit = bounded(query, 'limit', LIMIT)
  const offset = bounded(query, 'offset', OFFSET)
  const sizeMin = amount(query, 'sizeThreshold', 1)
  const isRedeemable = flag(query, 'redeemable')
  const isMergeable = flag(query, 'mergeable')
  const isWanted = positionFilter(query)
  const sorted = sortedPositions(query, POSITION_ORDERS, 'TOKENS')
  const open = [...positionsOf(ledger)].filter(({ holding, outcomeIndex }) => {
    const held = holding.positions[outcomeIndex].amount
    return held > 0 && toNumber(held) >= sizeMin && isWanted(holding.market)
  })
  const rows = sorted(open)
    .map(positionRow)
    .filter((row) => isRedeemable === null || row.redeemable === isRedeemable)
    .filter((row) => isMergeable === null || row.mergeable === isMergeable)
  return json(rows.slice(offset, offset + limit))
}

const CLOSED_ORDERS: Readonly<Record<string, (at: Position) => number | string>> = {
  REALIZEDPNL: (at) => positionFigures(at).realized,
  TITLE: (at) => at.holding.market.listing.question,
  PRICE: (at) => positionFigures(at).price,
  AVGPRICE: (at) => positionFigures(at).averagePrice,
  TIMESTAMP: (at) => at.holding.positions[at.outcomeIndex].lastMs,
}

function closedPositions(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const ledger = proxyLedger(wallets, user(query))
  const asked = bounded(query, 'limit', { ...ANY, fallback: CLOSED_ROWS_DEFAULT })
  const limit = Math.min(asked, CLOSED_ROWS_MAX)
  const offset = bounded(query, 'offset', CLOSED_OFFSET)
  const isWanted = positionFilter(query)
  const sorted = sortedPositions(query, CLOSED_ORDERS, 'REALIZEDPNL')
  const closed = [...positionsOf(ledger)].filter(
    ({ holding, outcomeIndex }) =>
      holding.positions[outcomeIndex].amount === 0 && isWanted(holding.market),
  )
  return json(
    sorted(closed)
      .slice(offset, offset + limit)
      .map(closedPositionRow),
  )
}

function positionFilter(query: URLSearchParams): (market: SimMarket) => boolean {
  const title = (query.get('title') ?? '').toLowerCase()
  if (title.length > TITLE_LENGTH_MAX) throw new QueryError('invalid title')
  const isWanted = marketFilter(query)
  return (market) => isWanted(market) && market.listing.question.toLowerCase().includes(title)
}

/** Sorts by the order asked for; equal ones by token, so that pages are stable. */
function sortedPositions(
  query: URLSearchParams,
  orders: Readonly<Record<string, (at: Position) => number | string>>,
  fallback: string,
): (rows: readonly Position[]) => readonly Position[] {
  const key = word(query, 'sortBy', Object.keys(orders), fallback)
  const sign = word(query, 'sortDirection', DIRECTIONS, 'DESC') === 'ASC' ? 1 : -1
  const order = orders[key]
  if (order === undefined) throw new QueryError('invalid sortBy')
  return (rows) =>
    rows
      .map((at) => ({ at, value: order(at), token: tokenOf(at) }))
      .sort(
        (one, other) => sign * compare(one.value, other.value) || compare(one.token, other.token),
      )
      .map(({ at }) => at)
}

function value(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const address = user(query)
  const isWanted = marketFilter(query)
  let total = 0
  for (const at of positionsOf(proxyLedger(wallets, address))) {
    if (isWanted(at.holding.market)) total += positionFigures(at).current
  }
  return json([{ user: address, value: rounded(total, 4) }])
}

function traded(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const address = user(query)
  const markets = new Set<SimMarket>()
  for (const { fill } of proxyLedger(wallets, address)?.events ?? []) {
    if (fill !== null) markets.add(fill.trade.market)
  }
  return json({ user: address, traded: markets.size })
}

function holders(asked: {
  readonly world: World
  readonly wallets: SimWallets
  readonly query: URLSearchParams
}): RestAnswer {
  const { world, wallets, query } = asked
  if (csv(query, 'market').length === 0) {
    throw new QueryError("required query param 'market' not provided")
  }
  const limit = bounded(query, 'limit', LIMIT)
  const balanceMin = amount(query, 'minBalance', 1)
  const groups = (marketsOf(world, query) ?? []).flatMap((market) =>
    ([0, 1] as const).map((outcomeIndex) => {
      const rows = wallets
        .holders(market)
        .map((holding) => holderRow({ holding, outcomeIndex }))
        .filter((row) => row.amount > 0 && row.amount >= balanceMin)
        .sort(
          (one, other) => other.amount - one.amount || compare(one.proxyWallet, other.proxyWallet),
        )
      return { token: market.listing.tokens[outcomeIndex], holders: rows.slice(0, limit) }
    }),
  )
  return json(groups.filter((group) => group.holders.length > 0))
}

function tokenOf({ holding, outcomeIndex }: Position): string {
  return holding.market.listing.tokens[outcomeIndex]
}

function compare<Value extends number | string>(one: Value, other: Value): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
