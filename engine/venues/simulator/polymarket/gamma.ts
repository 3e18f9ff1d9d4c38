// Venue a's Gamma API (engine/venues/polymarket/README.md, Gamma): markets and events in lists, by id and by slug,
// tags, sports, teams, search, profiles, status. Also the simulator's /sim/state.

import type { Clock } from '../../../clock.ts'
import { formatTime } from '../../../units.ts'
import type { SimEvent, SimMarket, SimWallets, World } from '../model.ts'
import { json, plainText, type RestAnswer, type RestRequest, type RestServer } from '../rest.ts'
import { originOf } from '../world/migrated-market.ts'
import { tagId, tagRow, tagSlug } from './events.ts'
import { eventFilter, eventOrder, isFilterError, marketFilter, marketOrder } from './filters.ts'
import { keysetPage, offsetPage, RowsByNumber } from './pages.ts'
import { gammaEvent, gammaMarket } from './render.ts'
import { search, sports, sportsMarketTypes, teams } from './search.ts'

interface GammaParts {
  readonly world: World
  readonly wallets: SimWallets
  readonly clock: Clock
  /** Answers /sim/state. */
  readonly state: (query: URLSearchParams) => unknown
}

export function addGammaRoutes(server: RestServer, parts: GammaParts): void {
  const { world, clock } = parts
  server.get('/sim/state', (request) => json(parts.state(request.query)))
  server.get('/status', () => plainText('OK'))
  server.get('/readyz', () => plainText('OK'))
  addListRoutes(server, parts)
  addMarketRoutes(server, parts)
  addEventRoutes(server, parts)
  addTagRoutes(server, world)
  server.get('/sports', () => json(sports(world)))
  server.get('/sports/market-types', () => json(sportsMarketTypes(world)))
  server.get('/teams', (request) => teams(world, request.query))
  server.get('/public-profile', (request) => publicProfile(parts.wallets, request.query))
  server.get('/public-search', (request) => search(world, clock, request.query))
}

const MARKET_ROWS_MAX = 100
const EVENT_ROWS_MAX = 100
const EVENT_KEYSET_ROWS_MAX = 500
const ROWS_DEFAULT = 20

/** The listed markets, and migration targets if they are requested by id. */
function rowsOf(world: World, listed: RowsByNumber<SimMarket>, query: URLSearchParams) {
  const requested = query.getAll('condition_ids').map((id) => world.market('a', id))
  const migrated = requested.flatMap((market) =>
    market !== null && originOf(market) ? [market] : [],
  )
  if (migrated.length === 0) return listed
  const all = () => [...world.markets('a'), ...migrated]
  return new RowsByNumber<SimMarket>(all, (market) => market.listing.number)
}

function addListRoutes(server: RestServer, parts: GammaParts): void {
  const { world, clock } = parts
  const markets = new RowsByNumber<SimMarket>(
    () => world.markets('a'),
    (market) => market.listing.number,
  )
  const events = new RowsByNumber<SimEvent>(
    () => world.events('a'),
    (event) => event.number,
  )
  const renderMarket = (request: RestRequest) => (market: SimMarket) =>
    gammaMarket(market, {
      nowMs: clock.nowMs(),
      hasEvent: true,
      hasTags: request.query.get('include_tag') === 'true',
    })
  const renderEvent = (event: SimEvent) => gammaEvent(event, clock.nowMs())
  const list = (path: string, answer: (request: RestRequest, isKeyset: boolean) => RestAnswer) => {
    server.get(path, (request) => answer(request, false))
    server.get(`${path}/keyset`, (request) => answer(request, true))
  }
  list('/markets', ({ query, ...request }, isKeyset) => {
    const filter = marketFilter({ world, query, isKeyset })
    if (isFilterError(filter)) return refusal(filter.reason)
    const order = marketOrder(query)
    if (isFilterError(order)) return refusal(order.reason)
    const render = renderMarket({ ...request, query })
    const limits = { limitDefault: ROWS_DEFAULT, limitMax: MARKET_ROWS_MAX }
    const page = { rows: rowsOf(world, markets, query), filter, order, query, ...limits }
    return isKeyset
      ? keysetPage({ ...page, key: 'markets', render })
      : offsetPage({ ...page, render })
  })
  list('/events', ({ query }, isKeyset) => {
    const filter = eventFilter({ nowMs: clock.nowMs(), query, isKeyset })
    if (isFilterError(filter)) return refusal(filter.reason)
    const order = eventOrder(query)
    if (isFilterError(order)) return refusal(order.reason)
    const limitMax = isKeyset ? EVENT_KEYSET_ROWS_MAX : EVENT_ROWS_MAX
    const page = { rows: events, filter, order, query, limitDefault: ROWS_DEFAULT, limitMax }
    return isKeyset
      ? keysetPage({ ...page, key: 'events', render: renderEvent })
      : offsetPage({ ...page, render: renderEvent })
  })
}

function addMarketRoutes(server: RestServer, parts: GammaParts): void {
  const { world, clock } = parts
  const one = (market: SimMarket | undefined, query: URLSearchParams): RestAnswer => {
    if (market === undefined) return notFound()
    const hasTags = query.get('include_tag') === 'true'
    return json(gammaMarket(market, { nowMs: clock.nowMs(), hasEvent: true, hasTags }))
  }
  const byId = (id: string | undefined) =>
    world.markets('a').find((market) => String(market.listing.number) === id)
  server.get('/markets/{id}', ({ params, query }) => {
    if (!/^\d+$/.test(params.id ?? '')) return refusal('id is invalid')
    return one(byId(params.id), query)
  })
  server.get('/markets/slug/{slug}', ({ params, query }) =>
    one(
      world.markets('a').find((market) => market.listing.slug === params.slug),
      query,
    ),
  )
  server.get('/markets/{id}/tags', ({ params }) => {
    const market = byId(params.id)
    return market === undefined ? notFound() : json(market.event.tags.map((tag) => tagRow(tag)))
  })
}

function addEventRoutes(server: RestServer, parts: GammaParts): void {
  const { world, clock } = parts
  const one = (event: SimEvent | null | undefined): RestAnswer =>
    event === null || event === undefined ? notFound() : json(gammaEvent(event, clock.nowMs()))
  const byId = (id: string | undefined) =>
    world.events('a').find((event) => String(event.number) === id)
  server.get('/events/{id}', ({ params }) => {
    if (!/^\d+$/.test(params.id ?? '')) return refusal('id is invalid')
    return one(byId(params.id))
  })
  server.get('/events/slug/{slug}', ({ params }) => one(world.event('a', params.slug ?? '')))
  server.get('/events/{id}/tags', ({ params }) => {
    const event = byId(params.id)
    return event === undefined ? notFound() : json(event.tags.map((tag) => tagRow(tag)))
  })
}

function addTagRoutes(server: RestServer, world: World): void {
  const labels = (): readonly string[] => {
    const found = new Set<string>()
    for (const event of world.events('a')) for (const tag of event.tags) found.add(tag)
    return [...found].sort((one, other) => tagId(one) - tagId(other))
  }
  const one = (label: string | undefined): RestAnswer =>
    label === undefined ? notFound() : json(tagRow(label))
  server.get('/tags', ({ query }) => {
    const limit = Math.min(MARKET_ROWS_MAX, countOf(query, 'limit', MARKET_ROWS_MAX))
    const offset = countOf(query, 'offset', 0)
    const rows = labels().slice(offset, offset + limit)
    return json(rows.map((tag) => tagRow(tag)))
  })
  server.get('/tags/{id}', ({ params }) =>
    one(labels().find((label) => String(tagId(label)) === params.id)),
  )
  server.get('/tags/slug/{slug}', ({ params }) =>
    one(labels().find((label) => tagSlug(label) === params.slug)),
  )
}

function countOf(query: URLSearchParams, key: string, fallback: number): number {
  const value = Number(query.get(key) ?? fallback)
  return Number.isSafeInteger(value) && value >= 0 ? value : fallback
}

function notFound(): RestAnswer {
  return json({ type: 'not found error', error: 'id not found' }, 404)
}

function refusal(reason: string): RestAnswer {
  return json({ type: 'validation error', error: reason }, 422)
}

/**
 * `/public-profile` of a wallet's or its owner's address. Both return the wallet's profile. 400 for an invalid address,
 * 404 for one that never traded.
 */
function publicProfile(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const address = query.get('address') ?? ''
  if (!/^0x[0-9a-f]{40}$/i.test(address)) {
    return json({ type: 'validation error', error: 'invalid address' }, 400)
  }
  const ledger = wallets.wallet(address)
  if (ledger === null) return json({ type: 'not found error', error: 'profile not found' }, 404)
  const { wallet, firstMs, eoa } = ledger
  return json({
    createdAt: formatTime(firstMs),
    proxyWallet: wallet.address,
    profileImage: '',
    displayUsernamePublic: wallet.name !== '',
    bio: '',
    pseudonym: wallet.pseudonym,
    name: wallet.name,
    users: [{ id: String(Number.parseInt(eoa.slice(2, 9), 16)), creator: false, mod: false }],
    xUsername: '',
    verifiedBadge: false,
  })
}
