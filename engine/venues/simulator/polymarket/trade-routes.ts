// Venue a's `/v2/trades` (engine/venues/polymarket/README.md, Data API v2). Rows are newest first. A transaction has
// one row for its taker, and rows for makers if requested.

import type { SimMarket, SimTrade, World } from '../model.ts'
import type { WalletLedgers } from '../world/wallet-ledgers.ts'
import {
  csv,
  type DataV2,
  flag,
  type Page,
  type PageQuery,
  positive,
  QueryError,
  snakeRow,
} from './envelope.ts'
import { matchRow, participantCount, type TradeRow, tradeRow } from './trade-rows.ts'

/** Seconds for which caches may store a page. */
export const TRADES_AGE_S = 300
const LISTED_MAX = 20
/** Lists omit smaller trades. */
const DUST = 0.01
/** Contracts of the exchange, which the venue does not list as wallets. */
export const CONTRACTS: ReadonlySet<string> = new Set([
  '0x006f54f7f9a22e0000cc2ab60031000000ae9fef',
  '0xe3333700ca9d93003f00f0f71f8515005f6c00aa',
])

interface Parts {
  readonly world: World
  readonly wallets: WalletLedgers
}

interface Wanted {
  readonly isTakerOnly: boolean
  /** Null: trades of all markets. */
  readonly markets: readonly SimMarket[] | null
  readonly user: string | null
  /** Unix seconds, both inclusive. Used only for trades of a user. */
  readonly startS: number
  readonly endS: number
}

export function addTrades(data: DataV2, parts: Parts): void {
  data.pages('trades', '/v2/trades', (pageQuery) => trades(parts, pageQuery), {
    maxAgeS: TRADES_AGE_S,
  })
}

// The cursor contains the last transaction and the number of its returned rows. New trades therefore do not shift
// pages.
function trades(parts: Parts, { query, limit, at }: PageQuery): Page {
  const wanted = wantedOf(parts.world, query)
  const rows: unknown[] = []
  let isBehind = at === null
  let last = { ts: 0, tx: '', sq: 0 }
  for (const match of matches(parts, wanted)) {
    const [first] = match
    if (first === undefined) continue
    if (!isBehind && first.atMs > Number(at?.ts)) continue
    const isHeld = !isBehind && first.atMs === at?.ts
    if (isHeld && first.txHash !== at?.tx) continue
    isBehind = true
    const shown = rowsOf(match, wanted).filter(({ size }) => size >= DUST)
    const from = isHeld ? Number(at?.sq) : 0
    for (const [position, row] of shown.slice(from).entries()) {
      if (rows.length === limit) return { rows, next: last }
      rows.push({ ...snakeRow({ ...row }), profile_image_optimized: '' })
      last = { ts: first.atMs, tx: first.txHash, sq: from + position + 1 }
    }
  }
  return { rows, next: null }
}

function wantedOf(world: World, query: URLSearchParams): Wanted {
  const user = userOf(query)
  const startS = positive(query, 'start')
  const endS = positive(query, 'end')
  return {
    isTakerOnly: flag(query, 'taker_only') ?? true,
    markets: requestedMarkets(world, query),
    user,
    startS: user === null ? 0 : (startS ?? 0),
    endS: user === null ? Number.MAX_SAFE_INTEGER : (endS ?? Number.MAX_SAFE_INTEGER),
  }
}

function userOf(query: URLSearchParams): string | null {
  const text = query.get('user')?.toLowerCase() ?? null
  if (text === null || text === '') return null
  if (!/^0x[0-9a-f]{40}$/.test(text) || CONTRACTS.has(text)) throw new QueryError('invalid user')
  return text
}

/** The markets of `condition` or `event_id`. Unknown ones are omitted. Null: the request has no such filter. */
export function requestedMarkets(
  world: World,
  query: URLSearchParams,
): readonly SimMarket[] | null {
  const ids = new Set(csv(query, 'condition'))
  const eventIds = new Set(csv(query, 'event_id'))
  if (ids.size > LISTED_MAX) throw new QueryError('invalid condition: at most 20')
  if (eventIds.size > LISTED_MAX) throw new QueryError('invalid event_id: at most 20')
  if (ids.size > 0 && eventIds.size > 0) throw new QueryError('invalid event_id beside condition')
  if (eventIds.size > 0) {
    return world.markets('a').filter((market) => eventIds.has(String(market.event.number)))
  }
  if (ids.size === 0) return null
  return [...ids].flatMap((id) => marketOfCondition(world, id) ?? [])
}

/** The Data API finds a market by a condition id with 64 hex digits, not with 62. */
function marketOfCondition(world: World, id: string): SimMarket | null {
  if (!/^0x[0-9a-f]+$/i.test(id)) throw new QueryError(`invalid condition id: ${id}`)
  const text = id.toLowerCase()
  if (text.length !== 66) return null
  return world.market('a', text) ?? world.market('a', text.replace(/00$/, ''))
}

/** Transactions, newest first. The fills of a transaction are in order of occurrence. */
function* matches({ world, wallets }: Parts, wanted: Wanted): Generator<readonly SimTrade[]> {
  if (wanted.user !== null) {
    yield* matchesOf(wallets, wanted, wanted.user)
    return
  }
  let match: SimTrade[] = []
  for (const trade of newestFirst(world, wanted.markets)) {
    if (match.length > 0 && !isSameMatch(match[0], trade)) {
      yield match.reverse()
      match = []
    }
    match.push(trade)
  }
  if (match.length > 0) yield match.reverse()
}

export function isSameMatch(one: SimTrade | undefined, other: SimTrade): boolean {
  return one?.txHash === other.txHash && one.market === other.market
}

function* matchesOf(
  wallets: WalletLedgers,
  wanted: Wanted,
  user: string,
): Generator<readonly SimTrade[]> {
  const ledger = wallets.wallet(user)
  // The venue finds no trades by the address of an owner.
  if (ledger === null || ledger.wallet.address.toLowerCase() !== user) return
  const markets = wanted.markets === null ? null : new Set(wanted.markets)
  for (let position = ledger.events.length - 1; position >= 0; position -= 1) {
    const fill = ledger.events[position]?.fill ?? null
    if (fill === null || (wanted.isTakerOnly && fill.participant > 0)) continue
    if (markets !== null && !markets.has(fill.trade.market)) continue
    const second = Math.floor(fill.trade.atMs / 1000)
    if (second < wanted.startS) return
    if (second <= wanted.endS) yield [fill.trade]
  }
}

function rowsOf(match: readonly SimTrade[], wanted: Wanted): readonly TradeRow[] {
  const { user, isTakerOnly } = wanted
  if (user === null && isTakerOnly) return [matchRow(match)]
  const rows: TradeRow[] = user === null ? [matchRow(match)] : []
  for (const trade of match) {
    for (let at = user === null ? 1 : 0; at < participantCount(trade); at += 1) {
      const row = tradeRow(trade, at)
      const isWanted = user === null || row.proxyWallet.toLowerCase() === user
      if (isWanted && !(isTakerOnly && at > 0)) rows.push(row)
    }
  }
  return rows
}

function* newestFirst(world: World, markets: readonly SimMarket[] | null): Generator<SimTrade> {
  const lists = markets === null ? [world.trades('a')] : markets.map((market) => market.trades)
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
    yield newestTrade
  }
}
