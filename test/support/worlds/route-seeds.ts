// Values for routes that their schemas cannot express, such as existing ids. A conformance test fails and lists the
// routes that need values here.

import { EngineError, type ErrorCode } from '../../../engine/errors.ts'
import type { AccountId } from '../../../engine/ids.ts'
import { readClientFiles } from '../../../http/assets/client-files.ts'
import { readDashboard } from '../../../http/assets/dashboard-files.ts'
import { readPageFiles } from '../../../http/documents/docs-page.ts'
import type { Route } from '../../../http/request/route.ts'
import { EVENT_TYPES } from '../../../http/webhooks/types/event-types.ts'
import type { FakeEngine } from '../fakes/engine.ts'
import { fakeAddress, randomWallet } from '../fakes/wallets.ts'
import { ACCOUNT } from '../rigs/documented-server.ts'

/** The account whose credential a request has. */
export type Credential = 'own' | 'key' | 'reader' | 'token' | 'none' | 'wrong' | 'poor' | 'free'

/** Omitted parts are those of a valid request. */
export interface RequestSpec {
  readonly method?: string
  /** Values of path parameters before encoding. */
  readonly path?: Readonly<Record<string, string>>
  /** The complete query before encoding. */
  readonly query?: readonly (readonly [name: string, value: string])[]
  /** The query as sent. Replaces `query`. */
  readonly rawQuery?: string
  readonly credential?: Credential
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: Buffer | string
}

interface Seed {
  /** Returns valid path parameters for one request. */
  readonly path?: (engine: FakeEngine) => Promise<Readonly<Record<string, string>>>
  /** Valid values of query parameters, if the samples by name are not sufficient. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: () => Readonly<Record<string, unknown>>
  /** One request for each status. */
  readonly reach?: Readonly<Record<number, RequestSpec>>
  /** Statuses that only requests from another address get. Tests call the handler directly for them. */
  readonly reachFrom?: Readonly<Record<number, string>>
  /** This method fails with UNAVAILABLE, and the request then gets 503. */
  readonly unavailable?: {
    readonly owner: (engine: FakeEngine) => object
    readonly method: string
    readonly ask?: RequestSpec
  }
  /** This method fails with this code, as it does with another configuration. */
  readonly fails?: {
    readonly owner: (engine: FakeEngine) => object
    readonly method: string
    readonly code: 'NOT_FOUND' | 'FORBIDDEN'
  }
}

/** Keyed by the parameter's name. */
export const SAMPLES: Readonly<Record<string, string>> = {
  address: `0x${'a1'.repeat(20)}`,
  at_time: '1795175999',
  condition_id: 'a0',
  cursor: '1795175940000',
  date: '2026-11-20',
  delivery_id: 'dlv_1',
  depth: '2',
  end_time: '1795176000',
  end_ts: '1795176000',
  event_slug: 'event-a0',
  file: '12.parquet',
  from: '1795100000000',
  limit: '3',
  market_id: 'venue_a_a0',
  market_ids: 'venue_a_a0,venue_b_b0,venue_a_none',
  min_edge: '0.01',
  min_gap: '0.01',
  offset: '0',
  opportunity_id: 'k3f9c2-1',
  outcome: 'yes',
  search: 'happen',
  start_time: '1795100000',
  start_ts: '1795100000',
  table: 'trades',
  ticker: 'b0',
  to: '1795176000000',
  token_id: '7131',
  venue: 'venue_a',
  wallet: `0x${'A1'.repeat(20)}`,
  webhook_id: 'wh_1',
}

const HANDSHAKE = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
] as const
/** A dashboard page on the same machine sends this header. */
const OF_PAGE = [['X-Dashboard', '1']] as const
const SEARCH: RequestSpec = { query: [['search', 'happen']] }
const searching = { owner: (engine: FakeEngine) => engine.catalog, method: 'search', ask: SEARCH }
const market = (engine: FakeEngine): object => engine.catalog.find('venue_a_a0') ?? engine
const whales = (method: 'history' | 'historyOfMarket') => ({
  owner: (engine: FakeEngine) => engine.whaleLog,
  method,
})
const venueTrades = { owner: (engine: FakeEngine) => engine.catalog, method: 'venueTrades' }

const accountsOf = (method: keyof FakeEngine['accounts']) => ({
  owner: (engine: FakeEngine) => engine.accounts,
  method,
})

const noWebhook = { 404: { path: { webhook_id: 'wh_none' } } }

let signUps = 0

/** Creates a webhook of the requesting account, with a delivery. */
async function ownWebhook(engine: FakeEngine): Promise<Readonly<Record<string, string>>> {
  const account = ownAccount(engine)
  const existing = engine.webhooks.list(account)[0]
  const { webhook } =
    existing === undefined ? await makeWebhook(engine, account) : { webhook: existing }
  const { number } = engine.webhooks.deliver(webhook.id)
  return { webhook_id: webhook.id, delivery_id: `dlv_${number}` }
}

function makeWebhook(engine: FakeEngine, account: AccountId) {
  const filters = {
    ...{
      marketIds: null,
      venue: null,
      wallets: null,
      takerWallets: null,
      minUsd: null,
      minChange: null,
    },
    ...{ minProfit: null, minEdge: null, minAgeMs: null },
    ...{ side: null, takerSide: null, eventSlugs: null, categories: null },
  }
  const format = 'standard' as const
  const request = { url: 'https://example.com/', format, eventTypes: EVENT_TYPES, filters }
  return engine.webhooks.create(account, { ...request, description: null, secret: null })
}

function ownAccount(engine: FakeEngine): AccountId {
  const [account] = [...engine.accounts.accounts.values()].filter(
    ({ caller }) => caller.email === `${ACCOUNT}@example.com`,
  )
  if (account === undefined) throw new Error('the account is gone')
  return account.caller.accountId
}

/** The wallet at the sample address. It has more rows than a page contains. */
async function knownWallet(engine: FakeEngine): Promise<Readonly<Record<string, string>>> {
  const { wallets, catalog, clock } = engine
  const requested = { proxy: fakeAddress('a1'), eventCount: 400, nowMs: clock.nowMs() }
  const markets = [...catalog.markets('a')]
  if (wallets.count === 0) {
    wallets.known.push(randomWallet(requested, markets, { eoa: fakeAddress('e0'), handle: 'ann' }))
  }
  return { address: requested.proxy }
}

/** Requests a page that is not cached, so that its actor is called. */
const UNASKED: RequestSpec = { query: [['start_time', '1234567']] }

/** The begin of a period that the tier `free` may not read. */
const EARLY = [['from', '1795000000000']] as const

const wallet: Seed = {
  path: knownWallet,
  unavailable: { owner: (engine) => engine.wallets, method: 'open' },
}

/** Keyed by method and pattern. */
const SEEDS: Readonly<Record<string, Seed>> = {
  'GET /metrics': { reachFrom: { 404: '192.0.2.1' } },
  'GET /docs/{asset}': {
    path: async () => ({ asset: [...readPageFiles().files.keys()].at(-1) ?? '' }),
  },
  'GET /dashboard/{asset}': {
    path: async () => ({ asset: [...readDashboard().files.keys()].at(-1) ?? '' }),
  },
  'GET /client/{file}': {
    path: async () => ({ file: 'connect.js' }),
    query: { v: readClientFiles().get('connect.js')?.hash ?? '' },
  },
  'GET /v1/markets': { unavailable: searching, reach: { 400: turned('start_ts', 'end_ts') } },
  'GET /v1/markets/search': { unavailable: searching },
  'GET /v1/venue_a/markets': { unavailable: searching, query: { market_slug: 'slug-a0' } },
  'GET /v1/venue_b/markets': { unavailable: searching, query: { event_ticker: 'event-b0' } },
  'GET /v1/venue_a/trades': { unavailable: venueTrades },
  'GET /v1/replay': {
    reach: { 403: { credential: 'free', query: [...EARLY, ['to', '1795176000000']] } },
    unavailable: { owner: ({ replays }) => replays ?? {}, method: 'reserve' },
  },
  'GET /v1/export': {
    unavailable: { owner: ({ exports }) => exports ?? {}, method: 'list' },
    fails: { owner: ({ exports }) => exports ?? {}, method: 'list', code: 'NOT_FOUND' },
  },
  'GET /v1/export/{venue}/{table}/{date}/{file}': {
    reach: {
      403: { credential: 'free', path: { date: '2026-11-10' } },
      404: { path: { file: '00.parquet' } },
      409: { path: { file: '13.parquet' } },
    },
    unavailable: { owner: ({ exports }) => exports ?? {}, method: 'open' },
  },
  'GET /v1/venue_b/trades': { unavailable: venueTrades },
  'GET /v1/whales': { unavailable: { ...whales('history'), ask: { query: [] } } },
  'GET /v1/whales/trades': { unavailable: { ...whales('history'), ask: { query: [] } } },
  'GET /v1/markets/{market_id}/whales': { unavailable: whales('historyOfMarket') },
  'GET /v1/wallets/{address}': {
    ...wallet,
    reach: { 404: { path: { address: `0x${'00'.repeat(20)}` } } },
  },
  'GET /v1/wallets/{address}/trades': wallet,
  'GET /v1/wallets/{address}/positions': { ...wallet, query: { min_balance: '0' } },
  'GET /v1/wallets/{address}/pnl': wallet,
  'GET /v1/wallets/{address}/activity': { ...wallet, query: { type: 'SPLIT' } },
  'GET /v1/arbitrage/{opportunity_id}': {
    reach: { 404: { path: { opportunity_id: 'k3f9c2-2' } } },
  },
  'POST /v1/arbitrage/quote': {
    body: () => ({
      legs: [{ market_id: 'venue_a_a0' }, { market_id: 'venue_b_b0', outcome: 'no' }],
      contracts: 10,
    }),
    reach: {
      400: {
        body: '{"legs":[{"market_id":"venue_a_a0","outcome":"perhaps"},{"market_id":"venue_b_b0"}]}',
      },
      404: { body: '{"legs":[{"market_id":"venue_a_none"},{"market_id":"venue_b_b0"}]}' },
    },
  },
  'GET /v1/events/{slug}': { path: async () => ({ slug: 'event-a0' }) },
  'GET /v1/matching-markets/sports/{sport}': { path: async () => ({ sport: 'nfl' }) },
  'GET /v1/sports/{sport}': { path: async () => ({ sport: 'nfl' }) },
  'GET /v1/markets/{market_id}/price': {
    unavailable: {
      owner: (engine) => engine.pastPrices,
      method: 'at',
      ask: { query: [['at_time', '1700000000']] },
    },
  },
  'GET /v1/markets/{market_id}/trades': {
    query: { slug: 'slug-a0' },
    reach: { 400: turned('start_time', 'end_time') },
    unavailable: { owner: market, method: 'trades', ask: UNASKED },
  },
  'GET /v1/markets/{market_id}/candles': {
    unavailable: { owner: market, method: 'bars', ask: UNASKED },
  },
  'GET /v1/markets/{market_id}/orderbook/history': {
    unavailable: { owner: market, method: 'snapshots' },
  },
  'GET /v1/ws': {
    reach: { 101: { headers: HANDSHAKE }, 401: { credential: 'none', headers: HANDSHAKE } },
  },
  'POST /v1/auth/signup': {
    body: () => ({ email: `new${++signUps}@example.com`, password: 'a long password' }),
    reach: {
      400: { body: `{"email":"${ACCOUNT}@example.com","password":"a long password"}` },
      429: { body: '{"email":"hasty@example.com","password":"a long password"}' },
    },
    unavailable: accountsOf('signUp'),
    fails: { ...accountsOf('signUp'), code: 'FORBIDDEN' },
  },
  'POST /v1/auth/login': {
    body: () => ({ email: `${ACCOUNT}@example.com`, password: 'a long password' }),
    reach: {
      401: { body: `{"email":"${ACCOUNT}@example.com","password":"wrong"}` },
      429: { body: '{"email":"hasty@example.com","password":"wrong"}' },
    },
    unavailable: accountsOf('logIn'),
  },
  'POST /v1/auth/session': {
    reach: { 429: { headers: OF_PAGE } },
    unavailable: { ...accountsOf('openLocalSession'), ask: { headers: OF_PAGE } },
  },
  'POST /v1/auth/logout': { unavailable: accountsOf('logOut') },
  'POST /v1/auth/password': {
    body: () => ({ current_password: 'a long password', new_password: 'another password' }),
    unavailable: accountsOf('changePassword'),
  },
  'DELETE /v1/auth/me': {
    body: () => ({ password: 'a long password' }),
    unavailable: accountsOf('deleteAccount'),
  },
  'POST /v1/webhooks': {
    body: () => ({
      url: 'https://example.com/hooks',
      event_types: ['whale', 'price.changed'],
      filters: { market_ids: ['venue_a_a0'], min_change: 0.02 },
      secret: `whsec_${'a1b2'.repeat(8)}`,
      description: 'a bot',
    }),
  },
  'GET /v1/webhooks/preview': { query: { format: 'slack', event_type: 'whale.alert' } },
  'GET /v1/webhooks/{webhook_id}': { path: ownWebhook, reach: noWebhook },
  'PATCH /v1/webhooks/{webhook_id}': {
    path: ownWebhook,
    body: () => ({ active: false }),
    reach: noWebhook,
  },
  'DELETE /v1/webhooks/{webhook_id}': { path: ownWebhook, reach: noWebhook },
  'POST /v1/webhooks/{webhook_id}/rotate-secret': {
    path: ownWebhook,
    body: () => ({}),
    reach: noWebhook,
  },
  'POST /v1/webhooks/{webhook_id}/test': { path: ownWebhook, reach: noWebhook },
  'GET /v1/webhooks/{webhook_id}/deliveries': {
    path: ownWebhook,
    query: { cursor: '3' },
    reach: noWebhook,
  },
  'GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}': { path: ownWebhook, reach: noWebhook },
  'POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry': { path: ownWebhook },
  'POST /v1/watchlist': {
    body: () => ({ market_id: 'venue_a_a0' }),
    reach: { 404: { body: '{"market_id":"venue_a_none"}' } },
  },
  'DELETE /v1/watchlist/{market_id}': {
    path: async (engine) => {
      await engine.accounts.watchMarket(ownAccount(engine), 'venue_a_a0')
      return { market_id: 'venue_a_a0' }
    },
    reach: { 404: { path: { market_id: 'venue_a_none' } } },
  },
  'POST /v1/keys': { body: () => ({ label: 'bot', scopes: ['read', 'webhooks'] }) },
  'DELETE /v1/keys/{key_id}': {
    path: async (engine) => {
      const { view } = await engine.accounts.createKey(ownAccount(engine), 'to be revoked')
      return { key_id: view.id }
    },
  },
}

function turned(start: string, end: string): RequestSpec {
  return {
    query: [
      ['search', 'happen'],
      [start, '1795176000'],
      [end, '1795100000'],
    ],
  }
}

export function seedOf({ method, pattern }: Route): Seed {
  return SEEDS[`${method} ${pattern}`] ?? {}
}

/** Makes a method fail. Returns a function that restores it. */
export function withRefusal(
  owner: object,
  method: string,
  code: ErrorCode = 'UNAVAILABLE',
): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, method)
  const value = () => {
    throw new EngineError(code, 'the test has made this method fail')
  }
  Object.defineProperty(owner, method, { configurable: true, value })
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, method)
    else Object.defineProperty(owner, method, own)
  }
}
