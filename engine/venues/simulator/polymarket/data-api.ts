// Venue a's Data API v1, the part for markets (wire.md A7): `/trades`, `/oi`, `/live-volume`, health.
// Rows appear at once. Not for: wallets' positions and activity, and v2.
// Upholds SIMPM16 to SIMPM19.

import { toNumber } from '../../../units.ts'
import type { SimMarket, SimTrade, World } from '../model.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import { participantCount, type TradeRow, tradeRow } from './trade-rows.ts'

/** Adds the Data API's routes to a listener, at the root and under `/v1`. */
export function addDataRoutes(server: RestServer, world: World): void {
  server.get('/', () => json({ data: 'OK' }))
  for (const root of ['', '/v1']) {
    server.get(`${root}/trades`, (request) => trades(world, request.query))
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
function trades(world: World, query: URLSearchParams): RestAnswer {
  const wanted = parseTrades(world, query)
  if (typeof wanted === 'string') return json({ error: wanted }, 400)
  const rows: Record<string, unknown>[] = []
  let skipped = 0
  for (const trade of newestFirst(world, wanted)) {
    if (rows.length >= wanted.limit) break
    const count = wanted.isTakerOnly ? 1 : participantCount(trade)
    for (let participant = 0; participant < count; participant += 1) {
      const row = tradeRow(trade, participant)
      if (!passes(row, wanted)) continue
      if (skipped < wanted.offset) skipped += 1
      else if (rows.length < wanted.limit) rows.push({ ...row, profileImageOptimized: '' })
    }
  }
  return json(rows)
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

function marketsOf(world: World, query: URLSearchParams): readonly SimMarket[] | null {
  const eventIds = new Set(csv(query, 'eventId'))
  if (eventIds.size > 0) {
    return world.markets('a').filter((market) => eventIds.has(String(market.event.number)))
  }
  if (query.get('market') === null) return null
  const found = new Set<SimMarket>()
  for (const id of csv(query, 'market')) {
    const market = world.market('a', id)
    if (market !== null) found.add(market)
  }
  return [...found]
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
  if (wanted.user !== null && row.proxyWallet.toLowerCase() !== wanted.user) return false
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

function csv(query: URLSearchParams, key: string): readonly string[] {
  const text = query.getAll(key).join(',')
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

function integer(query: URLSearchParams, key: string, fallback: number): number | null {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : null
}
