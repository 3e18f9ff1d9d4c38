// Venue a's Gamma API (engine/venues/polymarket/README.md, Gamma), and the simulator's own path /sim/state.

import { formatTime, toNumber } from '../../../units.ts'
import type { SimEvent, SimMarket, World } from '../model.ts'
import { json, plainText, Refusal, type RestAnswer, type RestServer } from '../rest.ts'
import { LazyEvent } from '../world/lazy-event.ts'
import type { WalletLedgers } from '../world/wallet-ledgers.ts'
import { isEventClosed, sportRow, sumOf, tagId, tagRow, tagSlug, teamRow } from './events.ts'
import { addGammaLists, invalid } from './gamma-lists.ts'
import { gammaEvent, gammaMarket } from './render.ts'

const ROWS_MAX = 100
/** About 0.3 s of planning. Their plans fit the cache. */
const LAZY_EVENTS_MAX = 500
const SEARCH_ROWS_DEFAULT = 10
const SEARCH_ROWS_MAX = 50

export function addGammaRoutes(
  server: RestServer,
  parts: {
    readonly world: World
    readonly wallets: WalletLedgers
    readonly state: (query: URLSearchParams) => unknown
  },
): void {
  const { world } = parts
  server.get('/sim/state', ({ query }) => json(parts.state(query)))
  server.get('/status', () => plainText('OK'))
  addGammaLists(server, world)
  addSingleRows(server, world)
  server.get('/tags', ({ query }) => json(slice(labelsOf(world), query).map(tagRow)))
  server.get('/tags/slug/{slug}', ({ params }) => {
    return json(tagRow(found(labelsOf(world).find((label) => tagSlug(label) === params.slug))))
  })
  server.get('/sports', () => json(sports(world)))
  server.get('/sports/market-types', () => {
    const markets = readableEvents(world).flatMap((event) => event.markets)
    const types = markets.map(({ listing }) => listing.sportsMarketType)
    return json({ marketTypes: [...new Set(types)].filter((type) => type !== null).sort() })
  })
  server.get('/teams', ({ query }) => {
    const leagues = query.getAll('league')
    const rows = world.teams().filter(({ league }) => !leagues.length || leagues.includes(league))
    return json(slice(rows, query).map(({ league, team }) => teamRow(league, team)))
  })
  server.get('/public-profile', ({ query }) => publicProfile(parts.wallets, query))
  server.get('/public-search', ({ query }) => search(world, query))
}

function addSingleRows(server: RestServer, world: World): void {
  const marketRow = (market: SimMarket, query: URLSearchParams) => {
    const hasTags = query.get('include_tag') === 'true'
    return gammaMarket(market, { nowMs: world.nowMs(), hasEvent: true, hasTags })
  }
  const eventRow = (event: SimEvent) => gammaEvent(event, world.nowMs())
  const marketOf = (id: string | undefined) =>
    found(world.markets('a').find(({ listing }) => String(listing.number) === numeric(id)))
  const eventOf = (id: string | undefined) =>
    found(world.events('a').find(({ number }) => String(number) === numeric(id)))
  server.get('/markets/{id}', ({ params, query }) => json(marketRow(marketOf(params.id), query)))
  server.get('/markets/{id}/tags', ({ params }) => json(marketOf(params.id).event.tags.map(tagRow)))
  server.get('/markets/slug/{slug}', ({ params, query }) => {
    const market = world.markets('a').find(({ listing }) => listing.slug === params.slug)
    return json(marketRow(found(market), query))
  })
  server.get('/events/{id}', ({ params }) => json(eventRow(eventOf(params.id))))
  server.get('/events/{id}/tags', ({ params }) => json(eventOf(params.id).tags.map(tagRow)))
  server.get('/events/slug/{slug}', ({ params }) => {
    return json(eventRow(found(world.event('a', params.slug ?? ''))))
  })
}

function numeric(id = ''): string {
  if (!/^\d+$/.test(id)) throw invalid('id is invalid')
  return id
}

function found<Row>(row: Row | null | undefined): Row {
  if (row !== null && row !== undefined) return row
  throw new Refusal(json({ type: 'not found error', error: 'id not found' }, 404))
}

/** Events whose texts lists read: all of a small world, the newest of a large one, where reading a text plans its event. */
function readableEvents(world: World): readonly SimEvent[] {
  const events = world.events('a')
  return events[0] instanceof LazyEvent ? events.slice(-LAZY_EVENTS_MAX) : events
}

function labelsOf(world: World): readonly string[] {
  const labels = new Set(readableEvents(world).flatMap(({ tags }) => tags))
  return [...labels].sort((one, other) => tagId(one) - tagId(other))
}

function sports(world: World): readonly unknown[] {
  const series = new Map<string, string>()
  for (const event of readableEvents(world)) {
    if (event.game !== null) series.set(event.game.league, event.series)
  }
  const leagues = new Set([...world.teams().map(({ league }) => league), ...series.keys()])
  return [...leagues].sort().map((league) => sportRow(league, series.get(league) ?? null))
}

/** Events that contain every word of the query, by volume. Pages 0 and 1 are both the first page. */
function search(world: World, query: URLSearchParams): RestAnswer {
  const terms = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  if (terms.length === 0) throw invalid('q is required')
  const status = query.get('events_status')
  const rows = readableEvents(world)
    .filter((event) => {
      if (status === 'active' ? isEventClosed(event) : status === 'closed' && !isEventClosed(event))
        return false
      const questions = event.markets.map(({ listing }) => listing.question)
      const text = [event.title, event.nativeId, ...event.tags, ...questions].join('\n')
      return terms.every((term) => text.toLowerCase().includes(term))
    })
    .map((event) => ({ event, volume: sumOf(event, ({ volumeTotal }) => toNumber(volumeTotal)) }))
    .sort((one, other) => other.volume - one.volume || one.event.number - other.event.number)
  const limit = Math.min(SEARCH_ROWS_MAX, countOf(query, 'limit_per_type', SEARCH_ROWS_DEFAULT))
  const start = Math.max(0, countOf(query, 'page', 1) - 1) * limit
  const page = rows.slice(start, start + limit)
  const pagination = { hasMore: start + limit < rows.length, totalResults: rows.length }
  return json({ events: page.map(({ event }) => gammaEvent(event, world.nowMs())), pagination })
}

function slice<Row>(rows: readonly Row[], query: URLSearchParams): readonly Row[] {
  const offset = countOf(query, 'offset', 0)
  return rows.slice(offset, offset + Math.min(ROWS_MAX, countOf(query, 'limit', ROWS_MAX)))
}

function countOf(query: URLSearchParams, key: string, fallback: number): number {
  const value = Number(query.get(key) ?? fallback)
  return Number.isSafeInteger(value) && value >= 0 ? value : fallback
}

/** Accepts the wallet's or its owner's address. 404 if the wallet never traded. */
function publicProfile(wallets: WalletLedgers, query: URLSearchParams): RestAnswer {
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
