// Venue a's Data API v2 about wallets (engine/venues/polymarket/README.md, Data API v2): `/v2/activity` and
// `/v2/positions`, snake_case, in pages by cursor; errors with a code and a trace id. Not for: the other
// paths of v2, which are 404.
// Upholds SIMWALLET13.

import { hash32 } from '../../../random.ts'
import { MICROS, toSeconds } from '../../../units.ts'
import type { SimWallets, World } from '../model.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import { hexWord } from '../world/mix.ts'
import { amount, bounded, csv, flag, QueryError, user, word } from './data-query.ts'
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

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000
/** Contracts below which an open position is not shown. */
const DUST = 0.1
const DIRECTIONS = ['ASC', 'DESC'] as const

interface Parts {
  readonly world: World
  readonly wallets: SimWallets
}

interface Page {
  readonly rows: readonly unknown[]
  readonly limit: number
  /** Where the next page begins; null on the last. */
  readonly next: string | null
}

/** Adds both routes to a listener. */
export function addWalletRoutesV2(server: RestServer, parts: Parts): void {
  let requestCount = 0
  const answer =
    (page: (query: URLSearchParams) => Page) => (request: { query: URLSearchParams }) => {
      requestCount += 1
      const traceId = hexWord(hash32('trace', requestCount)) + hexWord(requestCount)
      return pageAnswer(() => page(snakeQuery(request.query)), traceId)
    }
  server.get(
    '/v2/activity',
    answer((query) => activity(parts.wallets, query)),
  )
  server.get(
    '/v2/positions',
    answer((query) => positions(parts, query)),
  )
}

function pageAnswer(page: () => Page, traceId: string): RestAnswer {
  const headers = { 'x-trace-id': traceId }
  try {
    const { rows, limit, next } = page()
    const pagination = { limit, offset: 0, has_more: next !== null, next_cursor: next }
    return { ...json({ data: rows, pagination }), headers }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    const parameter = /(?:invalid |param ')(\w+)/.exec(error.message)?.[1]
    const named = parameter === undefined ? {} : { parameter }
    const body = { error: error.message, code: 'invalid_request', retryable: false, ...named }
    return { ...json({ ...body, trace_id: traceId }, 400), headers }
  }
}

/** Both spellings are understood: `sortBy` is read as `sort_by`. */
function snakeQuery(query: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams()
  for (const [key, value] of query) read.append(snake(key), value)
  if (read.has('offset')) throw new QueryError('invalid offset')
  return read
}

function limitOf(query: URLSearchParams): number {
  const limit = bounded(query, 'limit', { fallback: LIMIT_DEFAULT, max: LIMIT_MAX })
  if (limit === 0) throw new QueryError('invalid limit')
  return limit
}

// The cursor is the number of the last row in the wallet's life, which no later row moves.
function activity(wallets: SimWallets, query: URLSearchParams): Page {
  const ledger = proxyLedger(wallets, user(query))
  const limit = limitOf(query)
  word(query, 'sort_by', ['TIMESTAMP'], 'TIMESTAMP')
  const isAscending = word(query, 'sort_direction', DIRECTIONS, 'DESC') === 'ASC'
  const after = cursorOf(query, /^a:(\d+)$/)
  const afterNumber = after === null ? null : Number(after[1])
  const isWanted = eventFilter(withMarkets(query))
  const forgotten = ledger?.forgottenEventCount ?? 0
  const found = (ledger?.events ?? [])
    .map((event, index) => ({ event, number: forgotten + index }))
    .filter(({ event }) => isWanted(event))
  if (!isAscending) found.reverse()
  const rest =
    afterNumber === null
      ? found
      : found.filter(({ number }) => (isAscending ? number > afterNumber : number < afterNumber))
  const rows = rest.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows: ledger === null ? [] : rows.map(({ event }) => snakeRow(activityRow(ledger, event))),
    limit,
    next: last !== undefined && rest.length > limit ? cursorText(`a:${last.number}`) : null,
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
function positions({ world, wallets }: Parts, query: URLSearchParams): Page {
  const conditions = csv(query, 'condition')
  const ledgers = query.has('user') || conditions.length === 0 ? [user(query)] : null
  const limit = limitOf(query)
  const status = word(query, 'status', STATUSES, 'OPEN')
  const order = ORDERS[word(query, 'sort_by', Object.keys(ORDERS), 'CURRENT_VALUE')]
  const sign = word(query, 'sort_direction', DIRECTIONS, 'DESC') === 'ASC' ? 1 : -1
  const sizeMin = amount(query, 'size_threshold', DUST)
  const isRisky = flag(query, 'negative_risk')
  const after = cursorOf(query, /^p:([^:]+):([^:]+)$/)
  const all: Position[] = []
  for (const address of ledgers ?? []) all.push(...positionsOf(proxyLedger(wallets, address)))
  if (ledgers === null) for (const id of conditions) all.push(...heldIn({ world, wallets }, id))
  const keyed = all
    .filter(({ holding: { market } }) => {
      if (isRisky !== null && market.event.isMutuallyExclusive !== isRisky) return false
      return conditions.length === 0 || conditions.includes(market.listing.nativeId)
    })
    .filter((at) => hasStatus(at, status, sizeMin))
    .map((at) => ({ at, value: order?.(at) ?? 0, key: keyOf(at) }))
    .sort((one, other) => sign * (one.value - other.value) || (one.key < other.key ? -1 : 1))
  const rest = keyed.filter(({ value, key }) => {
    if (after === null) return true
    const ahead = sign * (value - Number(after[1]))
    return ahead > 0 || (ahead === 0 && key > (after[2] ?? ''))
  })
  const rows = rest.slice(0, limit)
  const last = rows.at(-1)
  const hasMore = last !== undefined && rest.length > limit
  return {
    rows: rows.map(({ at }) => positionRowV2(at)),
    limit,
    next: hasMore ? cursorText(`p:${last.value}:${last.key}`) : null,
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
    name: ledger.wallet.name,
    profile_image: '',
    verified: false,
  }
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

/** v1's keys as v2 spells them; what was an asset is a token id. */
function snakeRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [snake(key), value]))
}

function snake(key: string): string {
  if (key === 'asset') return 'token_id'
  if (key === 'oppositeAsset') return 'opposite_token_id'
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function cursorText(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function cursorOf(query: URLSearchParams, form: RegExp): RegExpExecArray | null {
  const text = query.get('cursor') ?? ''
  if (text === '') return null
  const match = form.exec(Buffer.from(text, 'base64url').toString())
  if (match === null) throw new QueryError('invalid cursor')
  return match
}
