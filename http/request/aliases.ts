// Query parameter names with the same meaning, so that users of related services need not rename theirs. One table
// serves all routes. A route that has one name of a group accepts all names of it. A parameter's schema may add
// `aliases`.

import type { TSchema } from '@sinclair/typebox'
import type { HandleForm } from '../../engine/ids.ts'
import type { VenueTable } from '../../engine/venue-table.ts'

/**
 * If a route has several names of a group, each is a separate parameter. The other names of the group mean the one that
 * comes first here.
 */
const GROUPS: readonly (readonly string[])[] = [
  ['condition_id', 'condition_ids'],
  ['cursor', 'pagination_key'],
  ['end_time', 'end_ts', 'end', 'to', 'max_ts', 'created_before'],
  ['event_slug', 'event_slugs'],
  ['event_ticker', 'event_tickers', 'kalshi_event_ticker'],
  ['interval', 'resolution', 'period_interval'],
  ['market_ids', 'market_id', 'ids'],
  ['market_slug', 'market_slugs', 'slug', 'slugs', 'polymarket_market_slug'],
  ['min_score', 'min_similarity', 'min_match_score'],
  ['min_usd', 'min_size_usd', 'min_amount'],
  ['min_volume', 'min_volume_24h', 'min_total_volume'],
  ['search', 'keyword', 'q'],
  ['series_ticker', 'series_tickers'],
  ['start_time', 'start_ts', 'start', 'from', 'min_ts', 'created_after'],
  ['tags', 'tag'],
  ['ticker', 'tickers', 'market_ticker', 'market_tickers'],
  ['token_id', 'token_ids', 'clob_token_ids'],
  ['wallet', 'user'],
]

const GROUP_OF: ReadonlyMap<string, readonly string[]> = new Map(
  GROUPS.flatMap((group) => group.map((name) => [name, group] as const)),
)

/** The same parameters with all their `aliases`. The name of a parameter is never an alias of another. */
export function withAliases(
  properties: Readonly<Record<string, TSchema>>,
): Readonly<Record<string, TSchema>> {
  const entries = Object.entries(properties).map(([name, schema]): readonly [string, TSchema] => {
    const own: readonly string[] = schema.aliases ?? []
    const group = GROUP_OF.get(name) ?? []
    const isFirst = group.find((one) => properties[one] !== undefined) === name
    const all = new Set([...(isFirst ? group : []), ...own])
    const aliases = [...all].filter((alias) => properties[alias] === undefined)
    return [name, aliases.length === 0 ? schema : { ...schema, aliases }]
  })
  return Object.fromEntries(entries)
}

/** Parameter names of a slug or event ticker that include the venue's name, such as `venue_a_slug`. */
export function venueAliases(names: VenueTable, form: HandleForm): string[] {
  const ending = form === 'slug' ? 'slug' : 'event_ticker'
  const venues = names.all.filter(({ handles }) => handles === form)
  return venues.flatMap(({ name }) => [`${name}_${ending}`, `${name}_${ending}s`])
}
