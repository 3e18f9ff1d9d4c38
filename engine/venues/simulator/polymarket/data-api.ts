// Venue a's Data API v1, the part for markets (engine/venues/polymarket/README.md, Data API): `/trades`,
// `/oi`, `/live-volume`, health. Rows appear at once. Not for: wallets' positions and activity
// (wallet-routes.ts), v2 (wallet-v2.ts).
// Upholds SIMPM16 to SIMPM19.

import { toNumber } from '../../../units.ts'
import type { SimMarket, SimTrade, SimWallets, World } from '../model.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import { integer, marketsOf } from './data-query.ts'
import { participantCount, type TradeRow, tradeRow } from './trade-rows.ts'

/** Adds the Data API's routes to a listener, at the root and under `/v1`. */
export function addDataRoutes(
  server: RestServer,
  parts: { readonly world: World; readonly wallets: SimWallets },
): void {
  const { world } = parts
  server.get('/', () => json({ data: 'OK' }))
  for (const root of ['', '/v1']) {
    server.get(`${root}/trades`, (request) => trades(parts, request.query))
    server.get(`${root}/oi`, (request) => openInterest(world, request.query))
    server.get(`${root}/live-volume`, (request) => liveVolume(world, request.query))
  }
}

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 10_000
/** The documentation says 10,000; the server refuses from here on. */
const OFFSET_END = 3_000

interface TradesQuery {
  readonly limit: number
  readonly offset: number
  readonly isTakerOnly: boolean
  readonly filterType: 'CASH' | 'TOKENS' | null
  readonly filterAmount: number
  /** Null: all markets. */
  readonly markets: readonly SimMarket[] | null
  readonly user: string | null
  readonly side: string | null
  /** Seconds, both inclusive. */
  readonly startS: number
  readonly endS: number
}

// Newest first; equal times in reverse order of happening, so that pages are stable.
function trades(
  { world, wallets }: { readonly world: World; readonly wallets: SimWallets },
  query: URLSearchParams,
): RestAnswer {
  const wanted = parseTrades(world, query)
  if (typeof wanted === 'string') return json({ error: wanted }, 400)
  const rows: Record<string, unknown>[] = []
  let skipped = 0
  const parts =
    wanted.user === null
      ? participations(world, wanted)
      : participationsOf(wallets, { ...wanted, user: wanted.user })
  for (const { trade, participant } of parts) {
    if (rows.length >= wanted.limit) break
    const row = tradeRow(trade, participant)
    if (!passes(row, wanted)) continue
    if (skipped < wanted.offset) skipped += 1
    else rows.push({ ...row, profileImageOptimized: '' })
  }
  return json(rows)
}

interface Participation {
  readonly trade: SimTrade
  readonly participant: number
}

/** The taker of each trade wanted, or all its participants. */
function* participations(world: World, wanted: TradesQuery): Generator<Participation> {
  for (const trade of newestFirst(world, wanted)) {
    const count = wanted.isTakerOnly ? 1 : participantCount(trade)
    for (let participant = 0; participant < count; participant += 1) yield { trade, participant }
  }
}

/** One wallet's trades from its own ledger: what a hundred thousand others did does not matter. */
function* participationsOf(
  wallets: SimWallets,
  wanted: TradesQuery & { readonly user: string },
): Generator<Participation> {
  const ledger = wallets.wallet(wanted.user)
  // The owner's address finds nothing here, as live.
  if (ledger === null || ledger.wallet.address.toLowerCase() !== wanted.user) return
  const markets = wanted.markets === null ? null : new Set(wanted.markets)
  for (let position = ledger.events.length - 1; position >= 0; position -= 1) {
    const fill = ledger.events[position]?.fill ?? null
    if (fill === null || (wanted.isTakerOnly && fill.participant > 0)) continue
    if (markets !== null && !markets.has(fill.trade.market)) continue
    const second = Math.floor(fill.trade.atMs / 1000)
    if (second < wanted.startS) return
    if (second <= wanted.endS) yield fill
  }
}

function parseTrades(world: World, query: URLSearchParams): TradesQuery | string {
  const limit = integer(query, 'limit', LIMIT_DEFAULT)
  const offset = integer(query, 'offset', 0)
  const startS = integer(query, 'start', 0)
  const endS = integer(query, 'end', Number.MAX_SAFE_INTEGER)
  if (limit === null || limit > LIMIT_MAX) return 'invalid limit'
  if (offset === null) return 'invalid offset'
  if (offset >= OFFSET_END) return `max historical activity offset of ${OFFSET_END} exceeded`
  if (startS === null || endS === null) return 'invalid start or end'
  const side = query.get('side')?.toUpperCase() ?? null
  if (side !== null && side !== 'BUY' && side !== 'SELL') return 'invalid side'
  const filterType = query.get('filterType')?.toUpperCase() ?? null
  const filterAmount = Number(query.get('filterAmount') ?? '0')
  if ((filterType === null) !== (query.get('filterAmount') === null)) {
    return 'filterType and filterAmount must be given together'
  }
  if (filterType !== null && filterType !== 'CASH' && filterType !== 'TOKENS') {
    return 'invalid filterType'
  }
  if (!(filterAmount >= 0)) return 'invalid filterAmount'
  if (query.get('market') !== null && query.get('eventId') !== null) {
    return 'market and eventId are mutually exclusive'
  }
  const isTakerOnly = query.get('takerOnly') !== 'false'
  const markets = marketsOf(world, query)
  const user = query.get('user')?.toLowerCase() ?? null
  return { limit, offset, isTakerOnly, filterType, filterAmount, markets, user, side, startS, endS }
}

function* newestFirst(world: World, wanted: TradesQuery): Generator<SimTrade> {
  const lists =
    wanted.markets === null ? [world.trades('a')] : wanted.markets.map((market) => market.trades)
  const tails = lists.map((list) => ({ list, position: list.length - 1 }))
  for (;;) {
    let newest: (typeof tails)[number] | null = null
    let newestTrade: SimTrade | null = null
    for (const tail of tails) {
      const trade = tail.list[tail.position]
      if (trade === undefined || (newestTrade !== null && trade.atMs <= newestTrade.atMs)) continue
      newest = tail
      newestTrade = trade
    }
    if (newest === null || newestTrade === null) return
    newest.position -= 1
    const second = Math.floor(newestTrade.atMs / 1000)
    if (second < wanted.startS) return
    if (second <= wanted.endS) yield newestTrade
  }
}

function passes(row: TradeRow, wanted: TradesQuery): boolean {
  if (wanted.side !== null && row.side !== wanted.side) return false
  if (wanted.filterType === null) return true
  const amount = wanted.filterType === 'CASH' ? row.price * row.size : row.size
  return amount >= wanted.filterAmount
}

// One contract outstanding is one dollar locked.
function openInterest(world: World, query: URLSearchParams): RestAnswer {
  if (query.get('market') !== null) {
    const rows = (marketsOf(world, query) ?? []).map((market) => ({
      market: market.listing.nativeId,
      value: toNumber(market.openInterest),
    }))
    return json(rows)
  }
  let total = 0
  for (const market of world.markets('a')) total += toNumber(market.openInterest)
  return json([{ market: 'GLOBAL', value: total }])
}

function liveVolume(world: World, query: URLSearchParams): RestAnswer {
  const id = query.get('id')
  if (id === null) return json({ error: "required query param 'id' not provided" }, 400)
  const rows = world
    .markets('a')
    .filter((market) => String(market.event.number) === id)
    .map((market) => ({ market: market.listing.nativeId, value: toNumber(market.volumeTotal) }))
  return json([{ total: rows.reduce((sum, row) => sum + row.value, 0), markets: rows }])
}
