// The other names that a query parameter answers to, so that users of related services need not rename theirs: one
// table for all routes. Wherever a name of the table stands, its aliases hold; a route may add its own (`aliases` of a
// parameter's schema). Upholds ALIAS1.

import type { TSchema } from '@sinclair/typebox'

const ALIASES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    cursor: ['pagination_key'],
    end_time: ['end_ts', 'to', 'max_ts', 'created_before'],
    event_ticker: ['kalshi_event_ticker'],
    interval: ['resolution', 'period_interval'],
    market_ids: ['market_id', 'ids'],
    market_slug: ['slug', 'polymarket_market_slug'],
    min_score: ['min_similarity'],
    min_usd: ['min_size_usd', 'min_amount'],
    min_volume: ['min_volume_24h'],
    search: ['keyword', 'q'],
    slug: ['market_slug'],
    start_time: ['start_ts', 'from', 'min_ts', 'created_after'],
    tags: ['tag'],
    ticker: ['market_ticker', 'tickers'],
    token_id: ['token_ids', 'clob_token_ids'],
    wallet: ['user'],
  }),
)

/** The same parameters with all names that each has in `aliases`; the name of one of them is no alias of another. */
export function withAliases(
  properties: Readonly<Record<string, TSchema>>,
): Readonly<Record<string, TSchema>> {
  const entries = Object.entries(properties).map(([name, schema]): readonly [string, TSchema] => {
    const own: readonly string[] = schema.aliases ?? []
    const all = new Set([...(ALIASES.get(name) ?? []), ...own])
    const aliases = [...all].filter((alias) => properties[alias] === undefined)
    return [name, aliases.length === 0 ? schema : { ...schema, aliases }]
  })
  return Object.fromEntries(entries)
}
