// Parameters of the Data API v1 (engine/venues/polymarket/README.md, Data API): lists joined by commas, whole
// numbers with bounds, words of a fixed set, markets by condition id or by event. Not for: what an endpoint
// does with them.
// Upholds SIMPM17 and SIMWALLET10.

import type { SimMarket, World } from '../model.ts'
import { json, type RestAnswer } from '../rest.ts'

/** A parameter that cannot be read; the text is what the venue says. */
export class QueryError extends Error {}

/** Runs a handler; what it cannot read of the query becomes a 400 in the venue's words. */
export function answering(handler: () => RestAnswer): RestAnswer {
  try {
    return handler()
  } catch (error) {
    if (error instanceof QueryError) return json({ error: error.message }, 400)
    throw error
  }
}

/** The items of a list, given once or several times. */
export function csv(query: URLSearchParams, key: string): readonly string[] {
  const text = query.getAll(key).join(',')
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

/** A whole number ≥ 0; null when it is none. */
export function integer(query: URLSearchParams, key: string, fallback: number): number | null {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** A whole number within 0..max. Throws QueryError otherwise. */
export function bounded(
  query: URLSearchParams,
  key: string,
  bounds: { readonly fallback: number; readonly max: number },
): number {
  const value = integer(query, key, bounds.fallback)
  if (value === null || value > bounds.max) throw new QueryError(`invalid ${key}`)
  return value
}

/** A number ≥ 0, whole or not. Throws QueryError otherwise. */
export function amount(query: URLSearchParams, key: string, fallback: number): number {
  const value = Number(query.get(key) ?? fallback)
  if (!(value >= 0) || !Number.isFinite(value)) throw new QueryError(`invalid ${key}`)
  return value
}

/** A whole number above 0; null when absent or 0. Throws QueryError otherwise. */
export function positive(query: URLSearchParams, key: string): number | null {
  const value = bounded(query, key, { fallback: 0, max: Number.MAX_SAFE_INTEGER })
  return value === 0 ? null : value
}

/** One of the words, in any case; `fallback` when absent. Throws QueryError otherwise. */
export function word<const Word extends string, Fallback extends Word | null>(
  query: URLSearchParams,
  key: string,
  words: readonly Word[],
  fallback: Fallback,
): Word | Fallback {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const upper = text.toUpperCase()
  const found = words.find((each) => each === upper)
  if (found === undefined) throw new QueryError(`invalid ${key}`)
  return found
}

/** `true` or `false`; null when absent. Throws QueryError otherwise. */
export function flag(query: URLSearchParams, key: string): boolean | null {
  const found = word(query, key, ['TRUE', 'FALSE'], null)
  return found === null ? null : found === 'TRUE'
}

/** The address asked about, lower case. Throws QueryError when it is missing or none. */
export function user(query: URLSearchParams): string {
  const text = query.get('user') ?? ''
  if (text === '') throw new QueryError("required query param 'user' not provided")
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new QueryError('invalid user')
  return text.toLowerCase()
}

/** The markets named by `market` or `eventId`, unknown ones left out; null: not limited to any. */
export function marketsOf(world: World, query: URLSearchParams): readonly SimMarket[] | null {
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

/** Whether a market is among those asked for. Throws QueryError when both ways of asking are used. */
export function marketFilter(query: URLSearchParams): (market: SimMarket | null) => boolean {
  const ids = new Set(csv(query, 'market'))
  const eventIds = new Set(csv(query, 'eventId'))
  if (ids.size > 0 && eventIds.size > 0) {
    throw new QueryError('market and eventId are mutually exclusive')
  }
  if (ids.size > 0) return (market) => market !== null && ids.has(market.listing.nativeId)
  if (eventIds.size === 0) return () => true
  return (market) => market !== null && eventIds.has(String(market.event.number))
}
