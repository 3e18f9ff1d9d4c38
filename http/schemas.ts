// Schemas shared by routes: records and parameters. Tests validate every answer against them.

import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { KEY_SCOPES } from '../engine/accounts/account.ts'
import { DATA_SOURCES } from '../engine/data-source.ts'
import { STALE_REASONS, TRADES_SOURCES } from '../engine/events.ts'
import { EXPONENT_MAX, FEE_KINDS } from '../engine/market/fees.ts'
import { MARKET_STATUSES, RESOLUTION_STATUSES } from '../engine/market/market.ts'
import { type VenueFacts, type VenueTable, VOLUME_UNITS } from '../engine/venue-table.ts'

/** The year 2100 in Unix seconds. Larger values are probably milliseconds and are rejected. */
export const SECONDS_MAX = 4_102_444_800
export const SEARCH_CHARACTERS_MAX = 200
/** Example ids of venue A in the venue's own form. */
const CONDITION = '0x4b2c6b5ac7e3ca2ab0d9b1e4cf3a1d8f6c1cf5b0d0f6b58a4d3a0c8e6f1b2d97'
const TOKEN = '71321045679252212594626385532706912750332728571942532289631379312455583992563'
const WALLET = '0x6af75d4e4aaf700450efbac3708cce1665810ff1'
const HASH = '0x8d1f0f3a5c8ee2d1b7f2ce8a53d1c0b90bd1a2c60f5f1f8f3a1fe9b4be07d2c3'
export const EXAMPLE_IDS = {
  condition: CONDITION,
  token: TOKEN,
  wallet: WALLET,
  transaction: HASH,
  trade: `${HASH}-${TOKEN}-${WALLET}-buy-120000000-430000-0`,
} as const
/** Larger than any catalogue, and small enough to add without overflow. */
const OFFSET_MAX = 10_000_000

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

export const pageFields = { cursor: nullable(Type.String()), has_more: Type.Boolean() }

/** A schema with a description and an example for the documents. */
export const field = <S extends TSchema>(schema: S, description: string, example: unknown): S => ({
  ...schema,
  description,
  examples: [example],
})

export const choice = <V extends string>(
  values: readonly V[],
  options: Record<string, unknown> = {},
) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  )

export const side = () => choice(['buy', 'sell'] as const)

/** An object with one field per venue, keyed by venue name. */
export const byPlatform = <S extends TSchema>(
  { all }: VenueTable,
  of: (venue: VenueFacts) => S,
): TObject<Record<string, S>> =>
  Type.Object(Object.fromEntries(all.map((venue) => [venue.name, of(venue)])))

/** Replaces `venue_a` and `venue_b` in an example by the configured venue names. */
export function withVenueNames(example: unknown, { all }: VenueTable) {
  const text = JSON.stringify(example).replace(
    /\bvenue_([a-z])(?![a-z])/g,
    (placeholder, letter) => all.find(({ key }) => key === letter)?.name ?? placeholder,
  )
  return JSON.parse(text)
}

/** With more than two venues, a pair has any two of them. */
export const pairFields = (table: VenueTable, of: (venue: VenueFacts) => TSchema) =>
  byPlatform(table, (venue) => (table.all.length > 2 ? Type.Optional(of(venue)) : of(venue)))
    .properties

/** Each call returns a new schema. A route may add aliases to those of validation/query.ts. */
export const parameters = {
  limit: (maximum: number, fallback: number) =>
    Type.Integer({ minimum: 1, maximum, default: fallback }),
  offset: () => Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0 }),
  cursor: () => Type.Optional(Type.String({ maxLength: 512 })),
  seconds: () => Type.Optional(Type.Integer({ minimum: 0, maximum: SECONDS_MAX })),
  text: () => Type.Optional(Type.String({ maxLength: 256 })),
  /** Exactly one id. Several ids are rejected, even under a plural alias. */
  id: (...aliases: string[]) =>
    Type.Optional(Type.String({ maxLength: 256, isSingle: true, aliases })),
  list: (...aliases: string[]) =>
    Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100, aliases })),
  volume: () => Type.Optional(Type.Number({ minimum: 0 })),
  search: (...aliases: string[]) =>
    Type.Optional(Type.String({ maxLength: SEARCH_CHARACTERS_MAX, aliases })),
  /** A wallet address in upper or lower case. */
  address: () => Type.Optional(Type.String({ pattern: '^0[xX][0-9a-fA-F]{40}$' })),
  order: () => choice(['desc', 'asc'] as const, { default: 'desc' }),
  side: () => Type.Optional(side()),
  status: () => Type.Optional(choice(MARKET_STATUSES)),
  flag: (fallback: boolean) => Type.Boolean({ default: fallback }),
}

export const VolumeUnitSchema = choice(VOLUME_UNITS, {
  description:
    "What volumes count, in the venue's own way. `usd_traded`: US dollars paid. `usd_notional`: contracts traded, of which each pays one dollar at most.",
})

export const AsOfSchema = nullable(
  Type.Integer({
    description:
      "Unix milliseconds: the venue's newest figures of the market (total volume, open interest, last price) are of then. Trades since then are added to volumes and last price. Null: not known.",
  }),
)

export const DayAsOfSchema = nullable(
  Type.Integer({
    description:
      "Unix milliseconds: the venue's own 24-hour figures are of then; trades since are added. Null: not known.",
  }),
)

export const FeeCurveSchema = Type.Object(
  {
    rate: Type.Number({ minimum: 0, description: 'Dollars. 0: this side pays nothing.' }),
    exponent: Type.Integer({ minimum: 0, maximum: EXPONENT_MAX }),
    multiplier: Type.Number({ minimum: 0 }),
  },
  {
    description:
      'Dollars of fee before rounding: multiplier × rate × contracts × (price × (1 − price))^exponent.',
  },
)

export const FeeRoundingSchema = Type.Object({
  direction: choice(['up', 'unknown'] as const, {
    description:
      'Which way the venue rounds the fee of a fill. Where it is unknown, up is the bound.',
  }),
  fill_step: Type.Number({ description: 'Dollars: the fee of a fill is a multiple of it.' }),
  order_step: nullable(
    Type.Number({
      description:
        'Dollars: the cash of an order moves in multiples of it, at the cost of the trader. The fee of an order is the sum of its fills’, raised to a multiple of it where price × contracts is one, else at most the sum and one step. Null: no such rule.',
    }),
  ),
})

const FEE_MODEL = {
  model: choice(FEE_KINDS, {
    description:
      '`quadratic`: by the curves. `flat`: the venue names a fee and not its formula. `none`: the venue says that there is none. `unknown`: it says nothing that can be read; never to be taken for none.',
  }),
  taker: nullable(FeeCurveSchema),
  maker: nullable(FeeCurveSchema),
  rounding: nullable(FeeRoundingSchema),
  rebate_rate: nullable(
    Type.Number({
      description: 'Share of takers’ fees that a programme of the venue gives to makers.',
    }),
  ),
  source: nullable(Type.String({ description: 'Which statement of the venue says it.' })),
  since: nullable(Type.Integer({ description: 'Unix seconds; null: the venue does not say.' })),
}

export const FeeModelSchema = Type.Object(FEE_MODEL)

export const FeesSchema = Type.Object(
  {
    ...FEE_MODEL,
    waived_until: nullable(
      Type.Integer({
        description: 'Unix seconds. Until then the venue waives fees; it does not say which.',
      }),
    ),
    next: nullable(FeeModelSchema),
  },
  {
    description:
      'What trading the market costs, as its venue states it. A side that is null is unknown. `next` is an announced change, from its `since` on.',
  },
)

export const resolutionStatus = () =>
  nullable(
    choice(RESOLUTION_STATUSES, {
      description:
        'What the venue states of the result, apart from trading: a market may be open while a result is proposed or disputed. none: there is no result. proposed: there is one that may still be contested (Kalshi: determined or amended). disputed: it is contested. resolved: it is final. null: the venue does not state it.',
    }),
  )

/** Payout of a resolved market's first outcome. */
export const settlementPrice = () =>
  nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'What one contract of the first outcome pays, in dollars, once the market is resolved: 1 or 0, or between where the venue settles so. null: not resolved, or the venue does not state it yet.',
    }),
  )

export const PriceSchema = Type.Object({
  market_id: Type.String(),
  price: Type.Number({ minimum: 0, maximum: 1 }),
  at_time: Type.Integer(),
  timestamp_ms: Type.Integer(),
  platform: Type.String(),
  source: Type.String(),
  outcome: Type.String(),
})

export const LevelSchema = Type.Object({
  price: Type.Number(),
  size: Type.Number(),
  platform: Type.String(),
})

/** `stale` and `stale_reason` of a book, or of a price that comes from a book. */
export const staleFields = () => ({
  stale: Type.Boolean(),
  stale_reason: nullable(choice(STALE_REASONS)),
})

export const OrderbookSchema = Type.Object({
  market_id: Type.String(),
  outcome: Type.String(),
  bids: Type.Array(LevelSchema),
  asks: Type.Array(LevelSchema),
  spread: nullable(Type.Number()),
  mid_price: nullable(Type.Number()),
  timestamp_ms: Type.Integer(),
  seq: nullable(Type.Integer()),
  epoch: Type.String(),
  ...staleFields(),
  age_ms: nullable(Type.Integer()),
})

export const TradeSchema = Type.Object({
  id: Type.String(),
  market_id: Type.String(),
  platform: Type.String(),
  price: Type.Number({ minimum: 0, maximum: 1 }),
  size: Type.Number(),
  side: side(),
  outcome: Type.String(),
  size_usd: Type.Number(),
  timestamp_ms: Type.Integer(),
  native_trade_id: Type.String(),
  maker: nullable(Type.String()),
  taker: nullable(Type.String()),
  tx_hash: nullable(Type.String()),
  /** The trade was made outside the book. Candles, last prices and price histories exclude it. */
  is_block_trade: Type.Boolean(),
  taker_outcome: Type.String(),
  taker_side: side(),
  taker_price: Type.Number({ minimum: 0, maximum: 1 }),
})

export const TradesSchema = Type.Object({
  market_id: Type.String(),
  trades: Type.Array(TradeSchema),
  ...pageFields,
})

/**
 * A trade from the view of one wallet. `side` is the wallet's side. `maker` or `taker` names the wallet if its role is
 * known. If the market is unknown, price and side are those of the traded token.
 */
export const WalletTradeSchema = Type.Object({
  ...TradeSchema.properties,
  outcome: nullable(Type.String()),
  taker_outcome: nullable(Type.String()),
  taker_side: nullable(side()),
  token_id: Type.String(),
  condition_id: Type.String(),
  question: nullable(Type.String()),
  slug: nullable(Type.String()),
  role: nullable(choice(['taker', 'maker'] as const)),
})

/**
 * A position in one token. `initial_value` is the cost of the tokens that the wallet still holds. Unknown fields are
 * null.
 */
export const WalletPositionSchema = Type.Object({
  market_id: Type.String(),
  condition_id: Type.String(),
  token_id: Type.String(),
  question: nullable(Type.String()),
  slug: nullable(Type.String()),
  event_slug: nullable(Type.String()),
  outcome: nullable(Type.String()),
  balance: Type.Number({ minimum: 0 }),
  avg_entry_price: nullable(Type.Number()),
  current_price: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  initial_value: Type.Number(),
  current_value: Type.Number(),
  realized_pnl: Type.Number(),
  unrealized_pnl: Type.Number(),
  total_pnl: Type.Number(),
  percent_pnl: nullable(Type.Number()),
  redeemable: Type.Boolean(),
  mergeable: Type.Boolean(),
  neg_risk: nullable(Type.Boolean()),
  status: choice(['open', 'closed'] as const),
  opened_at: Type.Integer(),
  updated_at: Type.Integer(),
  cost_basis_known: Type.Boolean(),
})

export const WalletActivitySchema = Type.Object({
  id: Type.String(),
  type: choice(['SPLIT', 'MERGE', 'REDEEM', 'CONVERSION', 'MIGRATION'] as const),
  market_id: Type.String(),
  condition_id: Type.String(),
  question: nullable(Type.String()),
  slug: nullable(Type.String()),
  size: Type.Number({ minimum: 0 }),
  usd_value: Type.Number(),
  tx_hash: nullable(Type.String()),
  timestamp_ms: Type.Integer(),
})

/** `spread` and `mid_price` are null if a side is empty. Depths are those of the complete book. */
export const BookSnapshotSchema = Type.Object({
  market_id: Type.String(),
  outcome: Type.String(),
  bids: Type.Array(LevelSchema, { maxItems: 20 }),
  asks: Type.Array(LevelSchema, { maxItems: 20 }),
  spread: nullable(Type.Number()),
  mid_price: nullable(Type.Number()),
  timestamp_ms: Type.Integer(),
  bid_depth: Type.Number({ minimum: 0 }),
  ask_depth: Type.Number({ minimum: 0 }),
})

export const BookHistorySchema = Type.Object({
  market_id: Type.String(),
  snapshots: Type.Array(BookSnapshotSchema),
  ...pageFields,
})

const candlePrice = () => Type.Number({ minimum: 0, maximum: 1 })

/** `volume` is in US dollars. `closed` is true once the end of the candle has passed. */
export const CandleSchema = Type.Object({
  timestamp_ms: Type.Integer(),
  end_period_ts: Type.Integer(),
  open: candlePrice(),
  high: candlePrice(),
  low: candlePrice(),
  close: candlePrice(),
  volume: Type.Number({ minimum: 0 }),
  trades_count: Type.Integer({ minimum: 0 }),
  vwap: candlePrice(),
  closed: Type.Boolean(),
})

export const CandlesSchema = Type.Object({
  market_id: Type.String(),
  interval: choice(['1m', '5m', '15m', '1h', '4h', '1d'] as const),
  candles: Type.Array(CandleSchema),
  ...pageFields,
})

/** `exchanges` has one boolean per venue, keyed by the configured name. */
const DriftSchema = Type.Object({
  kind: Type.String({ description: 'what was looked at, such as `market.version`' }),
  name: Type.String({ description: 'what was found there, in the venue\u2019s own word, cut' }),
  weight: choice(['loss', 'notice'] as const),
  first: Type.Integer({ description: 'seconds' }),
  last: Type.Integer({ description: 'seconds' }),
  count: Type.Integer({ minimum: 1 }),
  sample: Type.String({ description: 'the beginning of what the venue sent first, cut' }),
})

const Count = () => Type.Integer({ minimum: 0 })
const silentMs = () => Type.Integer({ minimum: 0, description: 'milliseconds since its last word' })

export const HealthSchema = Type.Object({
  status: choice(['ok', 'degraded'] as const),
  version: Type.String(),
  data: choice(DATA_SOURCES),
  database: Type.Boolean(),
  cache: Type.Boolean(),
  exchanges: Type.Record(Type.String(), Type.Boolean(), {
    description: 'by venue, whether data comes from it as it should; an open socket is not enough',
  }),
  feeds: Type.Record(
    Type.String(),
    Type.Object({
      state: choice(['live', 'stale', 'down'] as const),
      reason: nullable(choice(STALE_REASONS, { description: 'why it is not live; null: it is' })),
      stale_books: Type.Integer({ description: 'books that became stale and are not live again' }),
    }),
    { description: 'by venue, how its feed stands' },
  ),
  protocols: Type.Record(Type.String(), Type.String(), {
    description: 'by venue, whose protocol it speaks, whatever it is called here',
  }),
  delay_ms: Type.Integer({
    description: 'the longest that anything waited within us during the last two seconds',
  }),
  uptime_s: Type.Integer(),
  trades_source: Type.Record(Type.String(), choice(TRADES_SOURCES), {
    description:
      'of a venue with two sources of trades, the present one. `last_trade_price`: its stream of trades has ended; trades are of watched markets, without a wallet until a later reading completes them',
  }),
  drift: Type.Record(Type.String(), Type.Array(DriftSchema), {
    description:
      'by venue, what it sends or answers that the code does not know, in order of first sight, at most some 100 entries; empty is well',
  }),
  cluster: Type.Optional(
    Type.Object(
      {
        role: choice(['engine', 'gateway'] as const),
        name: Type.String(),
        log: choice(['up', 'down'] as const, { description: 'whether NATS can be reached' }),
        lag_batches: Type.Integer({
          description: 'of the log, not read yet; of an engine: not safe in the log yet',
        }),
        lag_ms: Type.Integer({ description: 'from the engine to here, of the newest update' }),
        is_heard: Type.Boolean({
          description: 'whether the engine was heard of late; of an engine: whether it leads',
        }),
        lease: nullable(
          Type.Object(
            {
              holder: Type.String({ description: 'the name of the engine that leads' }),
              term: nullable(Type.Integer({ description: 'rises with each engine that leads' })),
              silent_ms: silentMs(),
            },
            { description: 'null: none was heard of yet' },
          ),
        ),
        members: Type.Array(
          Type.Object({
            role: choice(['engine', 'standby', 'gateway'] as const),
            name: Type.String(),
            lag_batches: Count(),
            lag_ms: Count(),
            silent_ms: silentMs(),
          }),
          { description: 'every process of the cluster that was heard within five seconds' },
        ),
      },
      { description: 'only of a process that is part of a cluster' },
    ),
  ),
})

export const UserSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  tier: choice(['free', 'pro', 'enterprise'] as const),
  created_at: Type.Integer(),
})

export const SessionSchema = Type.Object({
  user: UserSchema,
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer(),
})

export const TicketSchema = Type.Object({
  ticket: Type.String(),
  expires_in: Type.Integer({ description: 'seconds' }),
})

export const MeSchema = Type.Object({
  user: UserSchema,
  limits: Type.Object({
    requests_per_minute: Type.Integer(),
    websocket_connections: Type.Integer(),
  }),
})

export const DashboardSessionSchema = Type.Object({
  user: nullable(
    Type.Object({
      ...UserSchema.properties,
      has_password: Type.Boolean({ description: 'false of the local account alone' }),
    }),
  ),
  has_ended: Type.Boolean({ description: 'the cookie names a session that is over' }),
  local_account: Type.Boolean({
    description: 'the local account is opened without a password for a page on this machine',
  }),
})

export const WatchlistSchema = Type.Object({
  market_ids: Type.Array(Type.String(), { description: 'oldest first' }),
  total: Type.Integer({ minimum: 0 }),
})

export const KeySchema = Type.Object({
  id: Type.String(),
  label: Type.String(),
  scopes: Type.Array(choice(KEY_SCOPES), { minItems: 1 }),
  prefix: Type.String(),
  created_at: Type.Integer(),
  last_used_at: nullable(Type.Integer()),
})

export const KeysSchema = Type.Object({ keys: Type.Array(KeySchema), total: Type.Integer() })

export const CreatedKeySchema = Type.Intersect([KeySchema, Type.Object({ key: Type.String() })])

export const DetailSchema = Type.Object({ detail: Type.String() })

export const ProblemsSchema = Type.Object({
  detail: Type.Array(
    Type.Object({
      type: Type.String(),
      loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
      msg: Type.String(),
      input: Type.Unknown(),
      ctx: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    { minItems: 1 },
  ),
})
