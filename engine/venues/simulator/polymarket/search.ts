// Gamma's `/public-search`, `/sports`, `/sports/market-types` and `/teams` (engine/venues/polymarket/README.md, Gamma).
// In a search every word of the query must occur in an event's texts.

import type { Clock } from '../../../clock.ts'
import { toNumber } from '../../../units.ts'
import type { SimEvent, World } from '../model.ts'
import { json, type RestAnswer } from '../rest.ts'
import { isEventClosed, sportRow, sumOf, tagRow, tagSlug, teamRow } from './events.ts'
import { gammaEvent } from './render.ts'

const TEAM_ROWS_MAX = 100
const SEARCH_ROWS_DEFAULT = 10
const SEARCH_ROWS_MAX = 50

/** `/public-search`: events by volume. Page 0 and page 1 are both the first. */
export function search(world: World, clock: Clock, query: URLSearchParams): RestAnswer {
  const terms = queryWords(query.get('q') ?? '')
  if (terms.length === 0) return json({ type: 'validation error', error: 'q is required' }, 422)
  const status = query.get('events_status')
  const tags = query.getAll('events_tag').map(tagSlug)
  const found = world.events('a').filter((event) => {
    if (status === 'active' && isEventClosed(event)) return false
    if (status === 'closed' && !isEventClosed(event)) return false
    if (tags.length > 0 && !event.tags.some((tag) => tags.includes(tagSlug(tag)))) return false
    const text = textOf(event)
    return terms.every((term) => text.includes(term))
  })
  const keyed = found.map((event) => ({
    event,
    volume: sumOf(event, (market) => toNumber(market.volumeTotal)),
  }))
  keyed.sort((one, other) => other.volume - one.volume || one.event.number - other.event.number)
  const limit = Math.min(SEARCH_ROWS_MAX, countOf(query, 'limit_per_type', SEARCH_ROWS_DEFAULT))
  const start = Math.max(0, countOf(query, 'page', 1) - 1) * limit
  const page = keyed.slice(start, start + limit)
  const events = page.map(({ event }) => gammaEvent(event, clock.nowMs()))
  const pagination = { hasMore: start + limit < keyed.length, totalResults: keyed.length }
  if (query.get('search_tags') !== 'true') return json({ events, pagination })
  const labels = new Set(world.events('a').flatMap((event) => event.tags))
  const matching = [...labels].filter((label) =>
    terms.every((term) => tagSlug(label).includes(term)),
  )
  return json({ events, tags: matching.slice(0, limit).map((label) => tagRow(label)), pagination })
}

/** `/sports`: one row per league. */
export function sports(world: World): readonly Record<string, unknown>[] {
  const series = new Map<string, string>()
  for (const event of world.events('a')) {
    if (event.game !== null) series.set(event.game.league, event.series)
  }
  const leagues = new Set([...world.teams().map(({ league }) => league), ...series.keys()])
  return [...leagues].sort().map((league) => sportRow(league, series.get(league) ?? null))
}

/** `/sports/market-types`. */
export function sportsMarketTypes(world: World): { readonly marketTypes: readonly string[] } {
  const found = new Set<string>()
  for (const market of world.markets('a')) {
    if (market.listing.sportsMarketType !== null) found.add(market.listing.sportsMarketType)
  }
  return { marketTypes: [...found].sort() }
}

/** `/teams` with `league`, `name`, `abbreviation`, `limit` and `offset`. */
export function teams(world: World, query: URLSearchParams): RestAnswer {
  const wanted = (key: string) => new Set(query.getAll(key).map((text) => text.toLowerCase()))
  const [leagues, names, codes] = [wanted('league'), wanted('name'), wanted('abbreviation')]
  const passes = (set: ReadonlySet<string>, value: string) => {
    return set.size === 0 || set.has(value.toLowerCase())
  }
  const rows = world.teams().filter(({ league, team }) => {
    if (!passes(leagues, league) || !passes(names, team.name)) return false
    return passes(codes, team.polymarketCode)
  })
  const limit = Math.min(TEAM_ROWS_MAX, countOf(query, 'limit', TEAM_ROWS_MAX))
  const offset = countOf(query, 'offset', 0)
  return json(rows.slice(offset, offset + limit).map(({ league, team }) => teamRow(league, team)))
}

function textOf(event: SimEvent): string {
  const questions = event.markets.map((market) => market.listing.question)
  return [event.title, event.nativeId, ...event.tags, ...questions].join('\n').toLowerCase()
}

function queryWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '')
}

function countOf(query: URLSearchParams, key: string, fallback: number): number {
  const value = Number(query.get(key) ?? fallback)
  return Number.isSafeInteger(value) && value >= 0 ? value : fallback
}
