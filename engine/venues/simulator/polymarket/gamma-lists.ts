// Gamma's lists of markets and events (engine/venues/polymarket/README.md, Gamma). They have two kinds of paging:
// `limit` and `offset`, or `after_cursor` and `next_cursor`. The last page has no cursor. Unknown parameters are
// ignored.

import { toNumber } from '../../../units.ts'
import type { SimEvent, SimMarket, World } from '../model.ts'
import { json, Refusal, type RestServer } from '../rest.ts'
import { eventUpdatedMs, isEventClosed, lastCloseMs, sumOf } from './events.ts'
import { gammaId, isActive, isOver, liquidityUsd } from './market-facts.ts'
import { gammaEvent, gammaMarket } from './render.ts'

interface List<Row> {
  readonly key: 'markets' | 'events'
  readonly rows: (query: URLSearchParams) => readonly Row[]
  readonly number: (row: Row) => number
  readonly byNumber: (rows: readonly Row[]) => readonly Row[]
  readonly flags: Readonly<Record<string, (row: Row) => boolean>>
  /** Parameters that list ids. A row matches if it has one of the ids. */
  readonly ids: Readonly<Record<string, (row: Row) => readonly string[]>>
  /** Sort values, by name in lower case without underscores. */
  readonly orders: Readonly<Record<string, (row: Row) => number>>
  readonly isInKeyset: (row: Row) => boolean
  readonly keysetRowsMax: number
  readonly render: (row: Row, query: URLSearchParams) => unknown
}

const OFFSET_ROWS_MAX = 100
const ROWS_DEFAULT = 20

export function addGammaLists(server: RestServer, world: World): void {
  addList<SimMarket>(server, {
    key: 'markets',
    // Lists omit the targets of migrations, which are found only by their ids. Gamma omits the last two digits of an id
    // of protocol v2.
    rows: (query) => {
      const ids = valuesOf(query, 'condition_ids')
      const tokens = valuesOf(query, 'clob_token_ids')
      if (ids.length + tokens.length === 0) return world.markets('a')
      const found = [
        ...ids.flatMap((id) => [world.market('a', id), world.market('a', `${id}00`)]),
        ...tokens.map((token) => world.marketOfToken(token)?.market ?? null),
      ]
      return [...new Set(found)].filter((market) => market !== null)
    },
    number: ({ listing }) => listing.number,
    flags: { closed: isOver, active: isActive },
    ids: {
      condition_ids: (market) => [gammaId(market)],
      clob_token_ids: ({ listing }) => listing.tokens,
    },
    orders: { liquiditynum: liquidityUsd, volume24hr: ({ volume24h }) => volume24h },
    isInKeyset: isActive,
    keysetRowsMax: 100,
    render: (market, query) => {
      const hasTags = query.get('include_tag') === 'true'
      return gammaMarket(market, { nowMs: world.nowMs(), hasEvent: true, hasTags })
    },
  })
  addList<SimEvent>(server, {
    key: 'events',
    rows: () => world.events('a'),
    number: ({ number }) => number,
    flags: { closed: isEventClosed, active: ({ markets }) => markets.some(isActive) },
    ids: {},
    orders: {
      volume: (event) => sumOf(event, ({ volumeTotal }) => toNumber(volumeTotal)),
      volume24hr: (event) => sumOf(event, ({ volume24h }) => toNumber(volume24h)),
      liquidity: (event) => sumOf(event, liquidityUsd),
      startdate: ({ createdMs }) => createdMs,
      updatedat: eventUpdatedMs,
      closedtime: lastCloseMs,
    },
    isInKeyset: () => true,
    keysetRowsMax: 500,
    render: (event) => gammaEvent(event, world.nowMs()),
  })
}

function addList<Row>(server: RestServer, definition: Omit<List<Row>, 'byNumber'>): void {
  // Sorting a large world for each page is slow. The world returns the same array until its events change.
  const sorted = new WeakMap<readonly Row[], readonly Row[]>()
  const list: List<Row> = {
    ...definition,
    byNumber(rows) {
      const byNumber =
        sorted.get(rows) ?? rows.toSorted((one, other) => list.number(one) - list.number(other))
      sorted.set(rows, byNumber)
      return byNumber
    },
  }
  server.get(`/${list.key}`, ({ query }) => {
    const limit = limitOf(query, OFFSET_ROWS_MAX)
    const offset = Number(query.get('offset') ?? '0')
    if (!Number.isSafeInteger(offset) || offset < 0) {
      throw invalid('offset must be a non-negative integer')
    }
    const { entries } = selected(list, query, () => true)
    return json(entries.slice(offset, offset + limit).map(({ row }) => list.render(row, query)))
  })
  server.get(`/${list.key}/keyset`, ({ query }) => {
    if (query.has('offset')) throw invalid('offset is not supported, use after_cursor')
    const limit = limitOf(query, list.keysetRowsMax)
    const after = cursorIn(query)
    const { entries, compare } = selected(list, query, list.isInKeyset)
    const rest = after === null ? entries : entries.filter((entry) => compare(entry, after) > 0)
    const page = rest.slice(0, limit)
    const body = { [list.key]: page.map(({ row }) => list.render(row, query)) }
    const last = page.at(-1)
    if (last === undefined || rest.length <= limit) return json(body)
    const cursor = Buffer.from(`${last.value}:${last.number}`).toString('base64url')
    return json({ ...body, next_cursor: cursor })
  })
}

function valuesOf(query: URLSearchParams, key: string): readonly string[] {
  return query.getAll(key).flatMap((text) => text.split(','))
}

/** Sort key of a row. Rows with equal values are sorted by number. */
interface Position {
  readonly value: number
  readonly number: number
}

function selected<Row>(
  list: List<Row>,
  query: URLSearchParams,
  isListed: (row: Row) => boolean,
): {
  readonly entries: readonly (Position & { readonly row: Row })[]
  readonly compare: (one: Position, other: Position) => number
} {
  const tests = [isListed]
  for (const [key, flag] of Object.entries(list.flags)) {
    const text = query.get(key) ?? ''
    if (text === '') continue
    if (text !== 'true' && text !== 'false') throw invalid(`${key} must be true or false`)
    tests.push((row) => flag(row) === (text === 'true'))
  }
  for (const [key, idsOf] of Object.entries(list.ids)) {
    const wanted = new Set(valuesOf(query, key))
    if (wanted.size > 0) tests.push((row) => idsOf(row).some((id) => wanted.has(id)))
  }
  const order = (query.get('order') ?? '').toLowerCase().replaceAll('_', '')
  const orderValue = order === '' ? () => 0 : list.orders[order]
  if (orderValue === undefined) throw invalid('order fields are not valid')
  const sign = query.get('ascending') === 'true' ? 1 : -1
  const compare = (one: Position, other: Position): number =>
    sign * (one.value - other.value) || one.number - other.number
  const entries = list
    .byNumber(list.rows(query))
    .filter((row) => tests.every((test) => test(row)))
    .map((row) => ({ row, value: orderValue(row), number: list.number(row) }))
  if (order !== '') entries.sort(compare)
  return { entries, compare }
}

/** A limit above the maximum is reduced to the maximum without an error. */
function limitOf(query: URLSearchParams, limitMax: number): number {
  const limit = Number(query.get('limit') || ROWS_DEFAULT)
  if (Number.isSafeInteger(limit) && limit >= 0) return Math.min(limit, limitMax)
  throw invalid('limit must be a non-negative integer')
}

function cursorIn(query: URLSearchParams): Position | null {
  const text = query.get('after_cursor') ?? ''
  if (text === '') return null
  const match = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?):(\d+)$/.exec(
    Buffer.from(text, 'base64url').toString(),
  )
  if (match === null) throw invalid('invalid cursor')
  return { value: Number(match[1]), number: Number(match[2]) }
}

export function invalid(reason: string): Refusal {
  return new Refusal(json({ type: 'validation error', error: reason }, 422))
}
