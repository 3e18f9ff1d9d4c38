// Examples of parameters and answers, put together from what each field holds: a table of fields by name, as the meanings of
// parameters are (names.ts), and the schemas, which say how fields make a record. A field that means something else in one
// record or operation has a row of its own (`Health.status`). Not for: bodies that a route gives itself (bodyExamples), nor
// the messages of the stream (ws/messages.ts). Upholds OPENAPI7.

import { bodyBytesMax } from '../../engine/limits.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { EXAMPLE_OPPORTUNITY } from '../records/opportunities.ts'
import { type Components, isObject, type Json, type JsonObject } from './schemas-of.ts'

const GAME = 'KXNFLGAME-25NOV02DENHOU'
const CONDITION = '0x4b2c6b5ac7e3ca2ab0d9b1e4cf3a1d8f6c1cf5b0d0f6b58a4d3a0c8e6f1b2d97'
const TOKEN = '71321045679252212594626385532706912750332728571942532289631379312455583992563'
const WALLET = '0x6af75d4e4aaf700450efbac3708cce1665810ff1'
const OWNER = '0x91430cad2d3975766499717fa0d66a78d814e5c5'
const HASH = '0x8d1f0f3a5c8ee2d1b7f2ce8a53d1c0b90bd1a2c60f5f1f8f3a1fe9b4be07d2c3'

/** By name, or by record and name, or by the field around it and name; `{a}` and `{b}` are the names of the venues. */
const FIELDS: Readonly<Record<string, Json>> = {
  // Names and ids
  id: '{b}_KXNFLGAME-25NOV02DENHOU-DEN',
  market_id: '{b}_KXNFLGAME-25NOV02DENHOU-DEN',
  market_ids: ['{b}_KXNFLGAME-25NOV02DENHOU-DEN'],
  native_id: `${GAME}-DEN`,
  platform: '{b}',
  slug: 'nfl-den-hou-2025-11-02-den',
  market_slug: 'nfl-den-hou-2025-11-02',
  question: 'Will Denver beat Houston?',
  title: 'Denver at Houston',
  description: 'If Denver wins, the market resolves to Yes.',
  label: 'Yes',
  outcome: 'Yes',
  category: 'Sports',
  categories: ['Sports'],
  tags: ['Sports', 'NFL'],
  event_slug: 'nfl-den-hou-2025-11-02',
  event_slugs: ['nfl-den-hou-2025-11-02'],
  event_ticker: GAME,
  series_ticker: 'KXNFLGAME',
  ticker: `${GAME}-DEN`,
  market_tickers: [`${GAME}-DEN`, `${GAME}-HOU`],
  condition_id: CONDITION,
  token_id: TOKEN,
  token_ids: [TOKEN],
  url: 'https://example.com/markets/nfl-den-hou',
  image: 'https://example.com/images/nfl.png',
  search: 'denver',
  sport: 'nfl',
  date: '2025-11-02',
  address: WALLET,
  wallet: WALLET,
  wallets: [WALLET],
  proxy: WALLET,
  eoa: OWNER,
  maker: OWNER,
  taker: WALLET,
  handle: 'mountain-bets',
  pseudonym: 'Quiet-Mountain',
  tx_hash: HASH,
  native_trade_id: 'b1d2c3e4-5f60-4718-8293-a4b5c6d7e8f9',
  trade_id: 'b1d2c3e4-5f60-4718-8293-a4b5c6d7e8f9',
  cursor: '1762106400000',
  epoch: 'k3f9c2',
  source: 'midpoint',
  version: '0.1.0',
  asset: 'docs-3f9c2a1b7d40.css',
  file: 'connect.js',
  v: '3f9c2a1b7d40',
  // Prices, sizes and dollars
  price: 0.43,
  price_cents: 43,
  previous_price: 0.41,
  settlement_price: 1,
  change: 0.02,
  best_bid: 0.42,
  best_ask: 0.44,
  spread: 0.02,
  mid_price: 0.43,
  size: 120,
  size_usd: 51.6,
  usd_value: 120,
  volume: 18_250.75,
  volume_24h: 184_212.5,
  volume_total: 1_932_480.25,
  total_volume: 1_932_480.25,
  total_volume_24h: 184_212.5,
  open_interest: 96_410,
  bid_depth: 5_210,
  ask_depth: 4_870,
  open: 0.41,
  high: 0.44,
  low: 0.4,
  close: 0.43,
  vwap: 0.424,
  trades_count: 37,
  rate: 0.07,
  exponent: 1,
  multiplier: 1,
  fill_step: 0.0001,
  order_step: 0.01,
  rebate_rate: null,
  waived_until: null,
  next: null,
  // Times
  timestamp_ms: 1_762_106_400_000,
  as_of_ms: 1_762_106_400_000,
  at_time: 1_762_106_400,
  start_time: 1_762_102_800,
  end_time: 1_762_106_400,
  start_ts: 1_759_276_800,
  end_ts: 1_762_106_400,
  end_period_ts: 1_762_110_000,
  created_at: 1_759_276_800,
  updated_at: 1_762_106_400,
  opened_at: 1_761_998_400,
  opened_at_ms: 1_762_106_398_500,
  closed_at_ms: 1_762_106_400_000,
  at_ms: 1_762_106_398_500,
  at: 1_762_106_400,
  matched_at: 1_761_998_400,
  close_time: 1_762_117_200,
  closes_at: 1_762_117_200,
  since: null,
  first_trade_at: 1_735_689_600,
  last_trade_at: 1_762_106_390,
  first_trade_ms: 1_735_689_600_000,
  last_trade_ms: 1_762_106_399_120,
  last_used_at: 1_762_106_380,
  as_of: 1_762_106_395,
  age_ms: 140,
  lag_ms: 48,
  delay_ms: 3,
  seq: 1_841,
  // Lists
  total: 1,
  has_more: true,
  'Trades.has_more': true,
  limit: 20,
  offset: 0,
  missing: [],
  market_count: 2,
  total_events: 1,
  depth: 10,
  fills: 3,
  rank: 1,
  'wallets.trades': 1_962,
  // Filters
  min_volume: 10_000,
  min_usd: 5_000,
  min_count: 100,
  min_balance: 1,
  min_score: 80,
  min_gap: 0.02,
  min_edge: 0.01,
  min_profit_usd: 5,
  min_change: 0.05,
  min_age_ms: 1_000,
  max_days: 30,
  // Matches and opportunities
  score: 96.4,
  match_score: 96.4,
  high_confidence: 1_204,
  outcome_map: { Yes: 'Yes', No: 'No' },
  explanation: 'Both ask whether Denver wins the game of 2 November 2025 in Houston.',
  vetoes: [],
  price_gap: 0.02,
  inverted: false,
  edge: 0.031,
  return: 0.0324,
  profit_usd: 12.4,
  contracts: 400,
  opportunity_id: 'k3f9c2-17',
  // Wallets
  metrics: {
    total_volume: 812_400.5,
    total_trades: 1_962,
    total_markets: 214,
    win_count: 121,
    loss_count: 88,
    win_rate: 0.578947,
    realized_pnl: 41_210.75,
    unrealized_pnl: 2_180.4,
    total_pnl: 43_391.15,
    merges: 12,
    splits: 31,
    redemptions: 96,
    conversions: 4,
  },
  one_day: { realized_pnl: 310.5, volume: 4_120, trades: 14 },
  seven_day: { realized_pnl: 1_480.25, volume: 22_900.5, trades: 71 },
  thirty_day: { realized_pnl: 5_120, volume: 88_300, trades: 260 },
  all_time: { realized_pnl: 41_210.75, volume: 812_400.5, trades: 1_962 },
  is_whale: true,
  realized_pnl: 310.5,
  unrealized_pnl: 24,
  total_pnl: 334.5,
  pnl_to_date: 41_210.75,
  percent_pnl: 18.6,
  win_count: 121,
  loss_count: 88,
  win_rate: 0.578947,
  total_trades: 1_962,
  balance: 1_200,
  avg_entry_price: 0.41,
  current_price: 0.43,
  initial_value: 492,
  current_value: 516,
  open_positions: 9,
  total_value: 4_182.5,
  total_initial_value: 3_960,
  // Accounts, keys and webhooks
  email: 'ann@example.com',
  password: 'correct horse battery',
  current_password: 'correct horse battery',
  new_password: 'staple battery horse',
  access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMWIyYyJ9.c2lnbmF0dXJl',
  expires_in: 86_400,
  ticket: 'tk_1b2c3d4e5f60718293a4b5c6',
  key: 'tbk_1b2c3d4e5f60718293a4b5c6d7e8f901',
  key_id: 'key_1b2c3d4e',
  prefix: 'tbk_1b2c',
  scopes: ['read'],
  requests_per_minute: 60,
  websocket_connections: 2,
  webhook_id: 'wh_1b2c3d4e',
  delivery_id: 'dlv_184',
  event_id: 'evt_5f3c9a1d',
  event_type: 'whale.alert',
  event_types: ['whale.alert'],
  secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  previous_secret_until: null,
  disabled_reason: null,
  failing_since: null,
  attempts: 1,
  next_attempt_at: null,
  duration_ms: 84,
  error: null,
  created: 184,
  delivered: 182,
  pending: 0,
  exhausted: 1,
  dropped: 1,
  // Records in which a name means something else, or holds another kind of value
  'User.id': 'usr_1b2c3d4e',
  'user.id': 'usr_1b2c3d4e',
  'Key.id': 'key_1b2c3d4e',
  'Key.label': 'research',
  'CreateKeyBody.label': 'research',
  'Webhook.id': 'wh_1b2c3d4e',
  'Webhook.url': 'https://example.com/hooks/markets',
  'Webhook.description': 'large trades',
  'Webhook.filters': null,
  'QuoteArbitrageBody.legs': [
    { market_id: `{a}_${CONDITION}`, outcome: 'Yes' },
    { market_id: `{b}_${GAME}-DEN`, outcome: 'No' },
  ],
  'QuoteArbitrageAnswer.possible': true,
  'QuoteArbitrageAnswer.reason': null,
  'WebhookFilters.market_ids': null,
  'WebhookFilters.platform': null,
  'WebhookFilters.wallets': null,
  'WebhookFilters.min_usd': 5_000,
  'WebhookFilters.min_change': null,
  'WebhookFilters.min_profit_usd': null,
  'WebhookFilters.min_edge': null,
  'WebhookFilters.min_age_ms': null,
  'WebhookFilters.side': null,
  'WebhookFilters.event_slugs': null,
  'WebhookFilters.categories': null,
  'Delivery.id': 'dlv_184',
  'Attempt.status': 204,
  'Delivery.status': 'delivered',
  'Ticket.expires_in': 60,
  'Trade.market_id': `{b}_${GAME}-DEN`,
  'Trade.platform': '{b}',
  'Trade.maker': null,
  'Trade.taker': null,
  'Trade.tx_hash': null,
  'Trade.id': 'b1d2c3e4-5f60-4718-8293-a4b5c6d7e8f9',
  'WalletTrade.id': `${HASH}-0`,
  'WalletTrade.native_trade_id': `${HASH}-0`,
  'WalletActivity.id': `${HASH}-1`,
  'trades.id': `${HASH}-0`,
  'trades.native_trade_id': `${HASH}-0`,
  'trades.market_id': `{a}_${CONDITION}`,
  'trades.platform': '{a}',
  'trades.size': 20_000,
  'trades.size_usd': 8_600,
  'WalletTrade.market_id': `{a}_${CONDITION}`,
  'WalletTrade.platform': '{a}',
  'WalletPosition.market_id': `{a}_${CONDITION}`,
  'WalletActivity.market_id': `{a}_${CONDITION}`,
  '{a}.id': `{a}_${CONDITION}`,
  '{a}.platforms': [
    {
      platform: '{a}',
      native_id: CONDITION,
      url: null,
      best_bid: 0.44,
      best_ask: 0.46,
      volume_24h: 96_120,
    },
  ],
  'opportunities.id': 'k3f9c2-17',
  'opportunities.legs': [
    { market_id: `{a}_${CONDITION}`, platform: '{a}', outcome: 'Yes' },
    { market_id: `{b}_${GAME}-DEN`, platform: '{b}', outcome: 'No' },
  ],
  'GetWalletAnswer.image': null,
  'wallets.image': null,
  'Delivery.created_at': 1_762_106_399,
  'GetWhalesAnswer.min_usd': 5_000,
  'Event.slug': 'nfl-den-hou-2025-11-02',
  'Event.platforms': ['{b}'],
  'Market.outcomes': [
    { label: 'Yes', price: 0.43, price_cents: 43 },
    { label: 'No', price: 0.57, price_cents: 57 },
  ],
  'Fees.source': 'series.fee_type',
  'Fees.model': 'quadratic',
  'Fees.maker': { rate: 0, exponent: 1, multiplier: 1 },
  'Orderbook.bids': [
    { price: 0.42, size: 310, platform: '{b}' },
    { price: 0.41, size: 1_250, platform: '{b}' },
  ],
  'Orderbook.asks': [
    { price: 0.44, size: 280, platform: '{b}' },
    { price: 0.45, size: 900, platform: '{b}' },
  ],
  'BookSnapshot.bids': [{ price: 0.42, size: 310, platform: '{b}' }],
  'BookSnapshot.asks': [{ price: 0.44, size: 280, platform: '{b}' }],
  'Health.database': true,
  'Health.cache': true,
  'Health.drift': { '{a}': [], '{b}': [] },
  'Health.exchanges': { '{a}': true, '{b}': true },
  'Health.protocols': { '{a}': 'polymarket', '{b}': 'kalshi' },
  'Health.trades_source': { '{a}': 'activity' },
  'Health.uptime_s': 86_400,
  'markets.total': 48_210,
  'markets.open': 31_904,
  'markets.closed': 2_116,
  'markets.resolved': 14_190,
  'markets.{a}': 29_402,
  'markets.{b}': 18_808,
  'matches.total': 1_710,
  'coverage.stale': false,
  'GetStatsAnswer.events': 6_204,
  'GetStatsAnswer.trades': 4_812_250,
  'GetStatsAnswer.wallets': 120,
  'GetStatsAnswer.orderbook_snapshots': 310_400,
  database_bytes: 2_147_483_648,
  'GetWalletPnlAnswer.method': 'average_cost',
  granularity: 'day',
  interval: '1h',
  'pnl_over_time.timestamp': 1_762_041_600,
  'DashboardSession.has_ended': false,
  'DashboardSession.local_account': false,
  has_password: true,
  stale: false,
  is_block_trade: false,
  // In the venues' own words
  'VenueAMarket.id': '524117',
  'VenueAMarket.question': 'Broncos vs. Texans: will the Broncos win?',
  conditionId: CONDITION,
  outcomes: '["Yes", "No"]',
  outcomePrices: '["0.43", "0.57"]',
  clobTokenIds: `["${TOKEN}"]`,
  positionIds: [TOKEN],
  'VenueAMarket.volume': '184212.5',
  liquidity: '10080.4',
  createdAt: '2025-10-01T00:00:00Z',
  updatedAt: '2025-11-02T18:00:00Z',
  startDate: '2025-10-01T00:00:00Z',
  endDate: '2025-11-02T21:00:00Z',
  'VenueAMarket.version': 'v1',
  'VenueAMarket.active': true,
  'VenueATrade.id': `${HASH}-0`,
  'VenueATrade.timestamp': 1_762_106_400,
  outcome_index: 0,
  'VenueBMarket.title': 'Will Denver beat Houston?',
  'VenueBMarket.status': 'active',
  market_type: 'binary',
  created_time: '2025-10-01T00:00:00Z',
  open_time: '2025-10-01T00:00:00Z',
  'VenueBMarket.close_time': '2025-11-02T21:00:00Z',
  expiration_time: '2025-11-16T21:00:00Z',
  response_price_units: 'usd_cent',
  tick_size: '0.01',
  notional_value_dollars: '1.0000',
  last_price_dollars: '0.4300',
  previous_price_dollars: '0.4100',
  yes_bid_dollars: '0.4200',
  yes_ask_dollars: '0.4400',
  no_bid_dollars: '0.5600',
  no_ask_dollars: '0.5800',
  yes_price: 43,
  yes_price_dollars: '0.4300',
  no_price: 57,
  no_price_dollars: '0.5700',
  count: 120,
  count_fp: '120.00',
  volume_fp: '1932480.25',
  volume_24h_fp: '184212.50',
  open_interest_fp: '96410.00',
  liquidity_dollars: '10080.4000',
}

/** Records whose parts hang together. */
const RECORDS: Readonly<Record<string, Json>> = {
  Opportunity: JSON.parse(JSON.stringify(EXAMPLE_OPPORTUNITY).replace(/venue_([ab])/g, '{$1}')),
  GetSpecificationAnswer: { openapi: '3.1.0', info: { title: 'Twinbook', version: '1.0.0' } },
  GetAsyncapiJsonAnswer: {
    asyncapi: '3.0.0',
    info: { title: 'Twinbook stream', version: '1.0.0' },
  },
}

/** Keys of records that have one for each game. */
const GAME_KEY = 'nfl-den-hou-2025-11-02'

/** Bodies that are no JSON, by type and, where that is not enough, by operation. */
const TEXTS: Readonly<Record<string, string>> = {
  getMetrics: '# TYPE http_requests_total counter\nhttp_requests_total{status="200"} 184\n',
  'text/plain': 'See dashboard\n',
  'text/html': '<!DOCTYPE html>\n<html lang="en">…</html>\n',
  'text/javascript': "export { connect } from './client.js?v=3f9c2a1b7d40'\n",
  'text/*': ':root { color-scheme: light dark }\n',
}

/** What a refusal says, by status: one answer of many. */
const REFUSALS: Readonly<Record<number, Json>> = {
  400: { detail: 'start_time is after end_time' },
  401: { detail: 'missing or invalid API key' },
  403: { detail: 'this key lacks the scope `webhooks`' },
  404: { detail: 'no such market' },
  405: { detail: 'this path takes GET, HEAD, OPTIONS' },
  413: { detail: `a body may have ${bodyBytesMax} bytes` },
  422: {
    detail: [
      {
        type: 'less_than_equal',
        loc: ['query', 'limit'],
        msg: 'Input should be less than or equal to 200',
        input: '500',
        ctx: { le: 200 },
      },
    ],
  },
  426: { detail: 'a WebSocket handshake is a GET' },
  429: { detail: 'at most 60 requests a minute' },
  500: { detail: 'internal error' },
  503: { detail: 'too busy for this now, try again soon' },
}

/** The refusals as shared parts of the document, by status. */
export const refusalExamples = (): JsonObject =>
  Object.fromEntries(
    Object.entries(REFUSALS).map(([status, value]) => [`Refusal${status}`, { value }]),
  )

/** An answer of this status, as a reference to the shared part. */
export const refusalExample = (status: number): JsonObject => ({
  refusal: { $ref: `#/components/examples/Refusal${status}` },
})

/** A record that contains itself ends somewhere. */
const DEPTH_MAX = 32

/** Makes examples for one document out of its components. */
export class Examples {
  readonly #names: VenueTable
  readonly #components: Components

  constructor(names: VenueTable, components: Components) {
    this.#names = names
    this.#components = components
  }

  /** Of a parameter of an operation; undefined: nothing is known, and OPENAPI7 says so. */
  parameter(operation: string, name: string, schema: JsonObject): Json | undefined {
    return this.#of(schema, name, [operation], 0)
  }

  /** Of a body in JSON. */
  body(owner: string, schema: JsonObject): Json | undefined {
    const whole = RECORDS[owner]
    return whole === undefined ? this.#of(schema, '', [owner], 0) : this.#named(whole)
  }

  /** Of a body that is no JSON. */
  text(operation: string, contentType: string): string | undefined {
    return TEXTS[operation] ?? TEXTS[contentType]
  }

  #of(
    schema: JsonObject,
    name: string,
    owners: readonly string[],
    depth: number,
  ): Json | undefined {
    if (depth > DEPTH_MAX) return undefined
    for (const key of [...owners.map((owner) => `${owner}.${name}`), name]) {
      const value = FIELDS[this.#lettered(key)]
      if (value !== undefined && fits(value, this.#resolved(schema))) return this.#named(value)
    }
    const deeper = (part: JsonObject, of: string, more: readonly string[]) =>
      this.#of(part, of, more, depth + 1)
    if (typeof schema.$ref === 'string') {
      const shape = nameOf(schema.$ref)
      const whole = RECORDS[shape]
      if (whole !== undefined) return this.#named(whole)
      return deeper(this.#resolved(schema), '', name === '' ? [shape] : [shape, name])
    }
    if (schema.const !== undefined) return schema.const
    if (schema.default !== undefined) return schema.default
    if (Array.isArray(schema.enum)) return schema.enum[0]
    for (const keyword of ['anyOf', 'allOf']) {
      const parts = schema[keyword]
      if (!Array.isArray(parts)) continue
      const made = parts.filter(isObject).map((part) => deeper(part, name, owners))
      if (keyword === 'anyOf') return made[0]
      return Object.assign({}, ...made.filter(isObject), this.#fields(schema, name, owners, depth))
    }
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (type === 'boolean') return true
    if (type === 'array' && isObject(schema.items)) {
      const item = deeper(schema.items, name, owners)
      return item === undefined ? undefined : [item]
    }
    if (isObject(schema.additionalProperties)) {
      const value = deeper(schema.additionalProperties, name, owners)
      return value === undefined ? undefined : { [GAME_KEY]: value }
    }
    return type === 'object' ? this.#fields(schema, name, owners, depth) : undefined
  }

  #fields(
    { properties }: JsonObject,
    name: string,
    owners: readonly string[],
    depth: number,
  ): JsonObject {
    if (!isObject(properties)) return {}
    const around = name === '' ? owners : [name, ...owners]
    const made = Object.entries(properties).flatMap(([field, schema]) => {
      const value = isObject(schema) ? this.#of(schema, field, around, depth + 1) : undefined
      return value === undefined ? [] : [[field, value] as const]
    })
    return Object.fromEntries(made)
  }

  #resolved(schema: JsonObject): JsonObject {
    if (typeof schema.$ref !== 'string') return schema
    return this.#components.shape(nameOf(schema.$ref)) ?? schema
  }

  /** With the names of the venues in it. */
  #named(value: Json): Json {
    const text = JSON.stringify(value).replace(/\{([a-z])\}/g, (_, letter) => this.#venue(letter))
    return JSON.parse(text)
  }

  /** A key as the table has it: by letters. */
  #lettered(key: string): string {
    const letters = key.split('.').map((part) => {
      const venue = this.#names.venue(part)
      return venue === null ? part : `{${venue}}`
    })
    return letters.join('.')
  }

  #venue(letter: string): string {
    const { all, first } = this.#names
    return (all.find(({ key }) => key === letter) ?? first).name
  }
}

/** Whether a row of the table is of the kind that a schema wants, which other schemas of the name may not. */
function fits(value: Json, schema: JsonObject): boolean {
  if (schema.const !== undefined) return value === schema.const
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  if (Array.isArray(schema.anyOf)) {
    return schema.anyOf.some((part) => isObject(part) && fits(value, part))
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (value === null) return types.includes('null')
  if (Array.isArray(value)) {
    if (!types.includes('array') || !isObject(schema.items)) return false
    const { items } = schema
    return value.every((item) => items.$ref !== undefined || fits(item, items))
  }
  if (typeof value === 'number' && !types.includes('number')) {
    return types.includes('integer') && Number.isInteger(value)
  }
  return types.includes(typeof value)
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
