// Filters and orders of Gamma's two list families (engine/venues/polymarket/README.md, Gamma). Unknown parameters are
// ignored, as live. Malformed known parameters are refused.

import { parseTime, type TimeMs, toNumber } from '../../../units.ts'
import type { SimEvent, SimMarket, World } from '../model.ts'
import {
  eventUpdatedMs,
  isEventClosed,
  isLive,
  lastCloseMs,
  seriesId,
  sumOf,
  tagId,
  tagSlug,
} from './events.ts'
import {
  competitiveness,
  endMs,
  eventEndMs,
  gameId,
  gammaId,
  hexId,
  isActive,
  isOver,
  lastFirstPrice,
  liquidityUsd,
  oracleStatus,
} from './market-facts.ts'
import type { RowOrder } from './pages.ts'

/** A parameter that the venue refuses with 422. */
interface FilterError {
  readonly kind: 'filterError'
  readonly reason: string
}

export function isFilterError(value: unknown): value is FilterError {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'filterError'
  )
}

type Test<Row> = (row: Row) => boolean

/** The predicate of a markets list. A keyset list contains active markets only. */
export function marketFilter(request: {
  readonly world: World
  readonly query: URLSearchParams
  readonly isKeyset: boolean
}): Test<SimMarket> | FilterError {
  const { query, world } = request
  const tests = new Tests<SimMarket>(query)
  tests.oneOf('id', (market) => String(market.listing.number))
  tests.oneOf('slug', (market) => market.listing.slug)
  tests.oneOf('condition_ids', gammaId)
  tests.oneOf('question_ids', (market) => hexId('question', market.listing.nativeId))
  tests.oneOf('sports_market_types', (market) => market.listing.sportsMarketType ?? '')
  tests.oneOf('game_id', (market) =>
    market.event.game === null ? '' : String(gameId(market.event)),
  )
  tests.oneOf('uma_resolution_status', (market) => umaStatus(market, world.nowMs()))
  const tokens = repeated(query, 'clob_token_ids')
  if (tokens.some((token) => !/^\d+$/.test(token))) return error('invalid clob token ids')
  if (tokens.length > 0) {
    const found = new Set(tokens.map((token) => world.marketOfToken(token)?.market ?? null))
    tests.add((market) => found.has(market))
  }
  tests.flag('closed', isOver)
  if (request.isKeyset) tests.add(isActive)
  else tests.flag('active', isActive)
  if (!request.isKeyset) tests.flag('archived', () => false)
  for (const key of ['cyom', 'rfq_enabled']) tests.flag(key, () => false)
  addTagTests(tests, query, (market) => market.event)
  tests.range('liquidity_num', liquidityUsd)
  tests.range('volume_num', (market) => toNumber(market.volumeTotal))
  tests.times('start_date', (market) => market.listing.openMs)
  tests.times('end_date', endMs)
  return tests.all()
}

export function eventFilter(request: {
  readonly nowMs: TimeMs
  readonly query: URLSearchParams
  readonly isKeyset: boolean
}): Test<SimEvent> | FilterError {
  const { query, nowMs } = request
  const tests = new Tests<SimEvent>(query)
  tests.oneOf('id', (event) => String(event.number))
  tests.oneOf('slug', (event) => event.nativeId)
  tests.oneOf('series_id', (event) => String(seriesId(event.series)))
  tests.oneOf('game_id', (event) => (event.game === null ? '' : String(gameId(event))))
  tests.oneOf('event_date', (event) => event.game?.date ?? '')
  tests.flag('closed', isEventClosed)
  if (!request.isKeyset) tests.flag('active', (event) => event.markets.some(isActive))
  tests.flag('archived', () => false)
  tests.flag('live', (event) => isLive(event, nowMs))
  tests.flag('ended', (event) => event.game !== null && isEventClosed(event))
  for (const key of ['featured', 'cyom']) tests.flag(key, () => false)
  addTagTests(tests, query, (event) => event)
  tests.range('liquidity', (event) => sumOf(event, liquidityUsd))
  tests.range('volume', eventVolume)
  tests.times('start_date', (event) => event.createdMs)
  tests.times('end_date', eventEndMs)
  tests.times('start_time', eventEndMs)
  const title = query.get('title_search')?.toLowerCase() ?? ''
  if (title !== '') tests.add((event) => event.title.toLowerCase().includes(title))
  return tests.all()
}

/** The order of a markets list. Null: by number. */
export function marketOrder(query: URLSearchParams): RowOrder<SimMarket> | FilterError | null {
  return orderOf(query, MARKET_ORDERS)
}

/** The order of an events list. Null: by number. */
export function eventOrder(query: URLSearchParams): RowOrder<SimEvent> | FilterError | null {
  return orderOf(query, EVENT_ORDERS)
}

const eventVolume = (event: SimEvent): number =>
  sumOf(event, (market) => toNumber(market.volumeTotal))

// Keys in the venue's spelling, compared without case and underscores.
const MARKET_ORDERS: Readonly<Record<string, (market: SimMarket) => number>> = {
  id: (market) => market.listing.number,
  volume: (market) => market.volumeTotal,
  volumenum: (market) => market.volumeTotal,
  volume24hr: (market) => market.volume24h,
  liquidity: liquidityUsd,
  liquiditynum: liquidityUsd,
  competitive: competitiveness,
  startdate: (market) => market.listing.openMs,
  enddate: endMs,
  createdat: (market) => market.listing.createdMs,
  updatedat: (market) => market.updatedMs,
  closedtime: (market) => market.listing.closeMs,
  lasttradeprice: (market) => lastFirstPrice(market) ?? 0,
}
const EVENT_ORDERS: Readonly<Record<string, (event: SimEvent) => number>> = {
  id: (event) => event.number,
  volume: eventVolume,
  volume24hr: (event) => sumOf(event, (market) => toNumber(market.volume24h)),
  liquidity: (event) => sumOf(event, liquidityUsd),
  competitive: (event) => Math.max(0, ...event.markets.map(competitiveness)),
  startdate: (event) => event.createdMs,
  starttime: eventEndMs,
  enddate: eventEndMs,
  createdat: (event) => event.createdMs,
  creationdate: (event) => event.createdMs,
  updatedat: eventUpdatedMs,
  closedtime: lastCloseMs,
}

function orderOf<Row>(
  query: URLSearchParams,
  orders: Readonly<Record<string, (row: Row) => number>>,
): RowOrder<Row> | FilterError | null {
  const wanted = (query.get('order') ?? '').split(',', 1)[0] ?? ''
  if (wanted === '') return null
  const key = wanted.toLowerCase().replaceAll('_', '')
  const value = Object.hasOwn(orders, key) ? orders[key] : undefined
  if (value === undefined) return error('order fields are not valid')
  return { value, isAscending: query.get('ascending') === 'true' }
}

function addTagTests<Row>(
  tests: Tests<Row>,
  query: URLSearchParams,
  event: (row: Row) => SimEvent,
): void {
  const ids = repeated(query, 'tag_id')
  const slugs = repeated(query, 'tag_slug')
  const excluded = repeated(query, 'exclude_tag_id')
  const has = (row: Row, id: string) => event(row).tags.some((tag) => String(tagId(tag)) === id)
  if (ids.length > 0) {
    const isAll = query.get('tag_match') === 'all'
    tests.add((row) => (isAll ? ids.every((id) => has(row, id)) : ids.some((id) => has(row, id))))
  }
  if (slugs.length > 0) {
    tests.add((row) => event(row).tags.some((tag) => slugs.includes(tagSlug(tag))))
  }
  if (excluded.length > 0) tests.add((row) => !excluded.some((id) => has(row, id)))
}

/** Collects the tests of a query. The first malformed value causes a refusal. */
class Tests<Row> {
  readonly #query: URLSearchParams
  readonly #tests: Test<Row>[] = []
  #error: FilterError | null = null

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  add(test: Test<Row>): void {
    this.#tests.push(test)
  }

  oneOf(key: string, value: (row: Row) => string): void {
    const wanted = new Set(repeated(this.#query, key))
    if (wanted.size > 0) this.add((row) => wanted.has(value(row)))
  }

  flag(key: string, value: Test<Row>): void {
    const text = this.#query.get(key)
    if (text === null || text === '') return
    if (text !== 'true' && text !== 'false') this.#error = error(`${key} must be true or false`)
    else this.add((row) => value(row) === (text === 'true'))
  }

  /** `<key>_min` and `<key>_max`. */
  range(key: string, value: (row: Row) => number): void {
    this.#bounds(key, value, Number)
  }

  times(key: string, value: (row: Row) => TimeMs): void {
    this.#bounds(key, value, (text) => parseTime(text) ?? Number.NaN)
  }

  all(): Test<Row> | FilterError {
    if (this.#error !== null) return this.#error
    const tests = this.#tests
    return (row) => tests.every((test) => test(row))
  }

  #bounds(key: string, value: (row: Row) => number, parse: (text: string) => number): void {
    for (const end of ['min', 'max'] as const) {
      const text = this.#query.get(`${key}_${end}`)
      if (text === null || text === '') continue
      const bound = parse(text)
      if (Number.isNaN(bound)) this.#error = error(`${key}_${end} is invalid`)
      else if (end === 'min') this.add((row) => value(row) >= bound)
      else this.add((row) => value(row) <= bound)
    }
  }
}

function umaStatus(market: SimMarket, nowMs: TimeMs): string {
  if (market.status === 'resolved') return 'resolved'
  return market.status === 'determined' ? 'proposed' : (oracleStatus(market, nowMs) ?? '')
}

// Repeated keys, or one key with comma-separated values.
function repeated(query: URLSearchParams, key: string): readonly string[] {
  return query
    .getAll(key)
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '')
}

function error(reason: string): FilterError {
  return { kind: 'filterError', reason }
}
