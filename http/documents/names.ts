// Names in the OpenAPI document: operation ids, groups and schemas.

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
 * Operation id for generated clients: verb and nouns of the path, with the noun before a parameter in the singular
 * (`getMarketOrderbookHistory`). Venue letters replace venue names, so that ids do not depend on the configuration.
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
