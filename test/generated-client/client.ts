// A client that knows only the types generated from the OpenAPI document. openapi.test.ts compiles a copy of this file
// and runs it.

import type { paths } from './specification.d.ts'

type GetPath = { [P in keyof paths]: paths[P] extends { get: unknown } ? P : never }[keyof paths]
type Operation<P extends GetPath> = paths[P] extends { get: infer O } ? O : never
type Parameters<P extends GetPath, Place extends 'path' | 'query'> =
  Operation<P> extends { parameters: infer All }
    ? Place extends keyof All
      ? NonNullable<All[Place]>
      : Record<string, never>
    : never
type Success<P extends GetPath> =
  Operation<P> extends {
    responses: { 200: { content: { 'application/json': infer Body } } }
  }
    ? Body
    : never

export interface Access {
  readonly origin: string
  readonly key: string
}

/** Throws when the status is not 200. */
export async function get<P extends GetPath>(
  { origin, key }: Access,
  path: P,
  given: { path?: Parameters<P, 'path'>; query?: Parameters<P, 'query'> } = {},
): Promise<Success<P>> {
  const values: Record<string, unknown> = { ...given.path }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    return encodeURIComponent(String(values[name]))
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...given.query })) {
    for (const one of [value].flat()) query.append(name, String(one))
  }
  const response = await fetch(`${origin}${filled}?${query}`, { headers: { 'X-API-Key': key } })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  const body: Success<P> = await response.json()
  return body
}

export async function callTen(access: Access): Promise<readonly string[]> {
  const id = { market_id: 'venue_a_a0' }
  const health = await get(access, '/health')
  const { markets } = await get(access, '/v1/markets', {
    query: { platform: 'venue_a', sort_by: 'volume', limit: 2, tags: ['Politics'] },
  })
  const search = await get(access, '/v1/markets/search', { query: { search: 'happen' } })
  const market = await get(access, '/v1/markets/{market_id}', { path: id })
  const price = await get(access, '/v1/markets/{market_id}/price', { path: id })
  const book = await get(access, '/v1/markets/{market_id}/orderbook', {
    path: id,
    query: { depth: 1, consolidated: false },
  })
  const { trades } = await get(access, '/v1/markets/{market_id}/trades', {
    path: id,
    query: { limit: 5, order: 'asc', side: 'buy' },
  })
  const events = await get(access, '/v1/events', { query: { status: 'open' } })
  const native = await get(access, '/v1/venue_a/markets', { query: { limit: 1 } })
  const { user } = await get(access, '/v1/auth/me')
  const closeTime: number | null = market.close_time
  const side: 'buy' | 'sell' | undefined = trades[0]?.side
  const status: 'open' | 'closed' | 'resolved' = market.status
  const tier: 'free' | 'pro' | 'enterprise' = user.tier
  return [
    health.status,
    `${markets.length} markets`,
    `${search.markets.length} found`,
    `${market.id} ${status} ${closeTime}`,
    `${price.price} ${price.source}`,
    `${book.bids.length} bids`,
    `${trades.length} trades ${side}`,
    `${events.events.length} events`,
    native.data[0]?.conditionId ?? 'none',
    tier,
  ]
}
