import { type Static, Type } from '@sinclair/typebox'
import type { NoOpportunity, OpportunityFilter } from '../../actors/arbitrage/views.ts'
import type { EngineView } from '../../actors/views.ts'
import { CONTRACT_STEP } from '../../engine/arbitrage/order-rule.ts'
import { EngineError } from '../../engine/errors.ts'
import { OPPORTUNITY_KINDS } from '../../engine/opportunity.ts'
import { MICROS, sizeMicros } from '../../engine/units.ts'
import { answerPage, pageRefusals } from '../pages/lists.ts'
import { answerTimePage, DATA_START, timeParameters } from '../pages/time-range.ts'
import { confirmBooks, coverBooks } from '../records/books.ts'
import {
  OpportunitySchema,
  opportunityRecord,
  PastOpportunitySchema,
  pastRecord,
} from '../records/opportunities.ts'
import { ListCursors } from '../request/cursor.ts'
import { findMarket, outcomeIndexOf } from '../request/find-market.ts'
import { type Answer, json } from '../request/reply.ts'
import { bodyRoute, demandOwner, type Route, type RouteParts, route } from '../request/route.ts'
import { choice, nullable, pageFields, parameters } from '../schemas.ts'

const ORDERS = ['profit', 'edge', 'annualised', 'opened_at'] as const
const REASONS: readonly NoOpportunity[] = [
  'stale_book',
  'fee_unknown',
  'not_open',
  'no_depth',
  'not_identical',
  'no_profit',
  'below_minimum',
]
/** Maximum legs of an event basket. */
const LEGS_MAX = 64
const CONTRACTS_MAX = 1_000_000
const ROWS_PER_TICK = 128

const ListSchema = Type.Object({
  opportunities: Type.Array(OpportunitySchema),
  ...pageFields,
  total: Type.Integer({ minimum: 0 }),
  as_of_ms: Type.Integer(),
})
export const HistorySchema = Type.Object({
  opportunities: Type.Array(PastOpportunitySchema),
  ...pageFields,
})
const OfMarketSchema = Type.Object({
  opportunities: Type.Array(OpportunitySchema),
  as_of_ms: Type.Integer(),
})
export const QuoteSchema = Type.Object({
  possible: Type.Boolean(),
  reason: nullable(
    choice(REASONS, {
      description:
        'why not; null when possible. stale_book: a book may be out of date. fee_unknown: a venue states no fee. not_open: a market does not trade. no_depth: a book offers less than was asked for. not_identical: nothing says which of the legs wins. no_profit: less than a cent is left after fees. below_minimum: a venue accepts no order of these contracts: they are fewer than min_contracts, or parts of a contract where the market trades whole ones',
    }),
  ),
  min_contracts: nullable(
    Type.Number({
      minimum: 0,
      description:
        'the least contracts of each leg that both venues accept at the present offers; null unless known, as of below_minimum',
    }),
  ),
  opportunity: nullable(OpportunitySchema),
  as_of_ms: Type.Integer(),
})
const QuoteBody = Type.Object(
  {
    legs: Type.Array(
      Type.Object(
        {
          market_id: Type.String({ maxLength: 256 }),
          outcome: Type.Optional(
            Type.String({ maxLength: 256, description: 'a label, yes or no; yes unless given' }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 2, maxItems: LEGS_MAX },
    ),
    contracts: Type.Optional(
      Type.Number({
        minimum: CONTRACT_STEP / MICROS,
        maximum: CONTRACTS_MAX,
        description: 'whole hundredths; unless given, as many as earn',
      }),
    ),
  },
  { additionalProperties: false },
)
const group = 'Cross-Platform' as const
const NOT_IN_IT =
  'Not in it: the time until your orders arrive, venues that settle one question differently, capital tied up until the close, moving money between venues.'

interface ArbitrageRouteParts extends RouteParts {
  readonly engine: Pick<EngineView, 'arbitrage' | 'bookAgeMsMax' | 'confirmBook' | 'coverage'>
}

export function arbitrageRoutes(parts: ArbitrageRouteParts): readonly Route[] {
  return [listRoute(parts), historyRoute(parts), ...oneRoutes(parts), quoteRoute(parts)]
}

function listRoute({ catalog, clock, engine: { arbitrage } }: ArbitrageRouteParts): Route {
  const { names } = catalog
  const cursors = new ListCursors()
  const List = Type.Object({
    min_profit_usd: Type.Number({ minimum: 0, default: 0 }),
    min_edge: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
    kind: Type.Optional(choice(OPPORTUNITY_KINDS)),
    category: parameters.text(),
    search: parameters.search(),
    platform: Type.Optional(choice(names.platforms)),
    max_days: Type.Optional(Type.Number({ minimum: 0, maximum: 36_500 })),
    sort_by: choice(ORDERS, { default: 'profit' }),
    limit: parameters.limit(200, 50),
    offset: parameters.offset(),
    cursor: parameters.cursor(),
  })
  return route(
    'GET /v1/arbitrage',
    {
      group,
      summary: 'What pays now: baskets of outcomes that earn after depth and fees',
      description: `Buying Yes on one venue and No on the other, or every outcome of an event of which exactly one wins, level by level, as long as the next contract earns. ${NOT_IN_IT}`,
      answer: ListSchema,
      refusals: { 400: pageRefusals[400] },
      query: List,
    },
    (_, query) => {
      const { sort_by: sortBy, limit } = query
      const filter: OpportunityFilter = {
        profitMin: query.min_profit_usd,
        edgeMin: query.min_edge,
        kind: query.kind ?? null,
        category: query.category ?? null,
        search: query.search ?? null,
        venue: query.platform === undefined ? null : names.venue(query.platform),
        daysMax: query.max_days ?? null,
      }
      return answerPage({
        ...{ cursors, query: query, binding: () => `${sortBy} ${JSON.stringify(filter)}` },
        read: (position) => arbitrage.list({ filter, sortBy, limit, ...position }),
        answer: ({ opportunities, total }, cursor) => {
          const nowMs = clock.nowMs()
          const rows = opportunities.map((one) =>
            opportunityRecord(one, nowMs, { hasLevels: false }),
          )
          const rest = { cursor, has_more: cursor !== null, total, as_of_ms: nowMs }
          return json({ opportunities: rows, ...rest })
        },
      })
    },
  )
}

function historyRoute({ catalog, clock, engine: { arbitrage } }: ArbitrageRouteParts): Route {
  return route(
    'GET /v1/arbitrage/history',
    {
      group,
      summary: 'Opportunities that have ended, after half a second or more',
      answer: HistorySchema,
      headers: DATA_START,
      refusals: { 400: 'start after end, or a foreign cursor' },
      query: Type.Object({ ...timeParameters, limit: parameters.limit(200, 50) }),
    },
    ({ signal }, query) =>
      answerTimePage({
        ...{ query, clock, listName: 'opportunities', accepts: null, rowsPerTick: ROWS_PER_TICK },
        read: (slice) => arbitrage.past(slice),
        positionOf: ({ past, ordinal }) => ({ timeMs: past.closedAtMs, ordinal }),
        signal: signal(),
        write: ({ past }) => JSON.stringify(pastRecord(past, catalog.names)),
        startMs: () => arbitrage.oldestPastMs() ?? catalog.recordsSinceMs,
      }),
  )
}

function oneRoutes({
  catalog,
  clock,
  engine: { arbitrage },
}: ArbitrageRouteParts): readonly Route[] {
  return [
    route(
      'GET /v1/arbitrage/{opportunity_id}',
      {
        group,
        summary: 'An open opportunity with the levels that it takes',
        answer: OpportunitySchema,
        refusals: {
          404: 'no open opportunity has this id; /v1/arbitrage/history has ended ones',
        },
      },
      ({ path }) => {
        const found = arbitrage.find(path('opportunity_id'))
        if (found === null) {
          throw new EngineError('NOT_FOUND', 'no open opportunity has this id')
        }
        return json(opportunityRecord(found, clock.nowMs(), { hasLevels: true }))
      },
    ),
    route(
      'GET /v1/markets/{market_id}/arbitrage',
      {
        group,
        summary: 'The open opportunities of a market',
        answer: OfMarketSchema,
        refusals: { 404: 'no such market' },
      },
      ({ path }) => {
        const { ref } = findMarket(catalog, path('market_id'))
        const nowMs = clock.nowMs()
        const opportunities = arbitrage
          .ofMarket(ref.number)
          .map((one) => opportunityRecord(one, nowMs, { hasLevels: true }))
        return json({ opportunities, as_of_ms: nowMs })
      },
    ),
  ]
}

function quoteRoute(parts: ArbitrageRouteParts): Route {
  return bodyRoute(
    'POST /v1/arbitrage/quote',
    {
      group,
      summary: 'What buying these outcomes together would cost and earn now',
      description: `Exactly so many contracts of each leg where \`contracts\` says so, at a loss as well; else as many as earn. \`reason\` says why not, and \`min_contracts\` what both venues accept at least. ${NOT_IN_IT}`,
      answer: QuoteSchema,
      refusals: { 400: 'an unknown outcome, or no whole hundredths', 404: 'no such market' },
      body: { schema: QuoteBody, className: 'Quote' },
    },
    (facts, body) => quote(parts, body, demandOwner(facts)),
  )
}

async function quote(
  { catalog, clock, engine }: ArbitrageRouteParts,
  { legs, contracts }: Static<typeof QuoteBody>,
  owner: string,
): Promise<Answer> {
  const requested = legs.map(({ market_id, outcome }) => {
    const market = findMarket(catalog, market_id)
    return { market, outcome: outcomeIndexOf(market, outcome) }
  })
  const markets = requested.map(({ market }) => market)
  await coverBooks(engine, markets, owner)
  await confirmBooks(engine, markets, clock.nowMs())
  const quoted = engine.arbitrage.quote(requested, contractsOf(contracts))
  const nowMs = clock.nowMs()
  return quoted.isPossible
    ? json({
        possible: true,
        reason: null,
        min_contracts: quoted.opportunity.minContracts / MICROS,
        opportunity: opportunityRecord(quoted.opportunity, nowMs, { hasLevels: true }),
        as_of_ms: nowMs,
      })
    : json({
        possible: false,
        reason: quoted.reason,
        min_contracts: quoted.reason === 'below_minimum' ? quoted.minContracts / MICROS : null,
        opportunity: null,
        as_of_ms: nowMs,
      })
}

function contractsOf(contracts: number | undefined) {
  if (contracts === undefined) return null
  const micros = Math.round(contracts * MICROS)
  if (micros % CONTRACT_STEP === 0 && micros / MICROS === contracts) return sizeMicros(micros)
  throw new EngineError('BAD_REQUEST', 'contracts are whole hundredths, as 12.34')
}
