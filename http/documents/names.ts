// Names in the OpenAPI document: operation ids, groups, and descriptions of common parameters.

import type { VenueFacts, VenueTable } from '../../engine/venue-table.ts'
import type { Route, RouteGroup } from '../request/route.ts'

/** Version of the REST and stream interface. It changes only with paths and messages. */
export const INTERFACE_VERSION = '1.0.0'

/** Description of each route group. `{a}` stands for the name of the venue with that letter. */
const GROUP_MEANINGS: Readonly<Record<RouteGroup, string>> = {
  Markets: 'Markets of both venues in one form: as lists, by text, one by one.',
  'Market Data': 'Prices, books, trades and candles of a market, now and in the past.',
  Events: 'Markets under the real-world event that they are about.',
  'Cross-Platform': 'The same question on both venues.',
  Sports: 'Games of a sport and date, with the markets of both venues.',
  Wallets: 'Profiles, trades, positions and profits of wallets of {wallets}.',
  'Venue A Native': "Markets and trades of {a} in that venue's own fields.",
  'Venue B Native': "Markets and trades of {b} in that venue's own fields.",
  Whales: 'Large trades over all markets.',
  Webhooks: 'Subscriptions to events by HTTP POST.',
  WebSocket: 'The realtime stream.',
  Auth: 'Accounts, login tokens and API keys.',
  System: 'How the service is, what it holds, and this document.',
}

/** Display name of a group. */
export function groupName(group: RouteGroup, names: VenueTable): string {
  const venue = nativeVenue(group, names)
  return venue === null ? group : `${venue.name} native`
}

/** Description of a group. */
export function groupMeaning(group: RouteGroup, names: VenueTable): string {
  return GROUP_MEANINGS[group]
    .replace('{wallets}', names.walletVenue?.name ?? 'no venue')
    .replace(/\{[a-z]\}/, nativeVenue(group, names)?.name ?? '')
}

/** The venue of a native route group; null for other groups. */
function nativeVenue(group: RouteGroup, names: VenueTable): VenueFacts | null {
  const letter = /^Venue ([A-Z]) Native$/.exec(group)?.[1]?.toLowerCase()
  return names.all.find(({ key }) => key === letter) ?? null
}

/** Overrides of `operationId` where the rule gives an awkward name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'POST /v1/auth/signup': 'signUp',
  'POST /v1/auth/login': 'logIn',
  'GET /v1/auth/me': 'getAccount',
  'GET /v1/auth/session': 'getDashboardSession',
  'POST /v1/auth/session': 'openDashboardSession',
  'GET /v1/markets/search': 'searchMarkets',
  'POST /v1/webhooks/{webhook_id}/test': 'testWebhook',
  'POST /v1/webhooks/{webhook_id}/rotate-secret': 'rotateWebhookSecret',
  'POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry': 'retryWebhookDelivery',
  'GET /v1/arbitrage/{opportunity_id}': 'getOpportunity',
  'POST /v1/arbitrage/quote': 'quoteArbitrage',
  'GET /v1/ws': 'openStream',
  'POST /v1/ws/ticket': 'createStreamTicket',
  'GET /openapi.json': 'getSpecification',
  'GET /dashboard/{asset}': 'getDashboardAsset',
  'GET /docs': 'getDocumentation',
  'GET /docs/{asset}': 'getDocumentationAsset',
}

const VERBS = { GET: 'get', POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

/**
 * Operation id for generated clients: verb and nouns of the path, with the noun before a parameter in the
 * singular (`getMarketOrderbookHistory`).
 * Venue letters replace venue names, so that ids do not depend on the venues.
 */
export function operationId({ method, pattern }: Route, names: VenueTable): string {
  const override = OPERATIONS[`${method} ${pattern}`]
  if (override !== undefined) return override
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== 'v1')
  const nouns = segments.flatMap((segment, position) => {
    if (segment.startsWith('{')) return []
    const venue = names.venue(segment)
    if (venue !== null) return [`Venue${venue.toUpperCase()}`]
    const next = segments[position + 1]
    const isOne = next?.startsWith('{') === true || (method === 'POST' && next === undefined)
    return [pascalCase(isOne ? singular(segment) : segment)]
  })
  return VERBS[method] + nouns.join('')
}

function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/([^s])s$/, '$1')
}

function pascalCase(text: string): string {
  return text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) =>
    first.toUpperCase(),
  )
}

/** Name of a schema that belongs to a single operation. */
export function shapeName(operation: string, part: 'Answer' | 'Body'): string {
  return `${operation.slice(0, 1).toUpperCase()}${operation.slice(1)}${part}`
}

/** Descriptions of parameters for all routes. A schema's own description takes precedence. */
export const PARAMETER_MEANINGS: Readonly<Record<string, string>> = {
  address: "Proxy or owner's address, `0x` and 40 hex digits in any case.",
  asset: 'File name.',
  at_time: 'Unix seconds; the newest price at or before. Not in the future.',
  category: 'Only this category.',
  condition_id: "The venue's id of a market, `0x` and 64 hex digits.",
  confidence: 'Only matches of this confidence.',
  consolidated: 'Add the levels of the same market on the other venue, when it is known.',
  cursor: 'Where the next page begins: the `cursor` of the previous answer.',
  date: 'Date in US Eastern time, YYYY-MM-DD; today unless given.',
  delivery_id: 'Id of the delivery, `dlv_` and its number.',
  depth: 'Levels a side; all unless given.',
  end_time: 'Unix seconds, inclusive.',
  end_ts: 'Created at or before, Unix seconds.',
  everywhere: 'All tokens of the account, not this one alone.',
  file: 'File name.',
  event_slug: 'Only markets of this event.',
  event_ticker: "The venue's id of an event.",
  gap_fill: 'Fill spans without trades with flat bars of no volume.',
  history:
    'Fill spans without trades with bars of the prices that the venue remembers, of no volume.',
  include_markets: 'Give the markets of each event.',
  granularity: 'Length of a step: UTC days, ISO weeks, months, or each moment by itself.',
  interval: 'Length of a bar.',
  key_id: 'Id of the API key.',
  kind: '`cross_venue`: one question on two venues. `single_venue`: the outcomes of one event of which exactly one wins.',
  limit: 'Rows of a page, at most.',
  market_id: 'Unified market id: venue name, underscore, native id.',
  market_ids: 'Unified market ids.',
  market_slug: 'Slug of the market.',
  max_days: 'Only what closes within so many days.',
  min_balance: 'Only positions of at least so many shares.',
  min_count: 'Only trades of at least so many contracts.',
  min_edge: 'Least profit of one contract of each leg, in dollars.',
  min_gap:
    'Least distance between the midpoints of both venues, either way, in dollars; above 0 a match whose distance is not known is none.',
  min_profit_usd: 'Least profit, in dollars.',
  min_score: 'Only matches of at least this score, 0 to 100.',
  min_usd: 'Only trades of at least so many US dollars.',
  min_total_volume:
    'Least volume since the market opened, in the unit of the venue (`volume_unit`).',
  min_volume: 'Least volume of the last 24 hours, in the unit of the venue (`volume_unit`).',
  offset: 'Rows to leave out; instead of `cursor`.',
  opportunity_id: 'Id of an open opportunity.',
  order: 'Direction: `desc` newest or largest first.',
  outcome: "Whose side to quote: an outcome's label, or `yes` or `no`; the first unless given.",
  platform: 'Only this venue.',
  relation: 'Only matches of this relation.',
  search: 'Words to find, without regard to case.',
  series_ticker: "The venue's id of a series of events.",
  side: 'Only trades in which the taker did this, in terms of the first outcome.',
  slug: 'The readable name in addresses, as `slug` of a record.',
  sort_by: 'What to sort by.',
  sport: 'Which sport; `cfb` and `cbb` are college football and basketball, `pga` is golf.',
  start_time: 'Unix seconds, inclusive.',
  start_ts: 'Created at or after, Unix seconds.',
  status: 'Only this status.',
  tags: 'Only rows with one of these tags.',
  taker_side: 'Only trades in which the taker did this with the outcome traded.',
  ticker: "The venue's id of a market.",
  token_id: "The venue's id of an outcome, decimal digits.",
  type: 'Only activities of these types; all unless given.',
  wallet: 'Only trades of this wallet.',
  webhook_id: 'Id of the webhook.',
  window: 'How far back from now.',
}
