// Opportunity records for REST, the stream and webhooks, with dollars, contracts and times in the units of the API.

import { readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import {
  annualisedOf,
  averagePrice,
  CLOSE_REASONS,
  edgeOf,
  OPPORTUNITY_KINDS,
  type Opportunity,
  type OpportunityState,
  type PastOpportunity,
  returnOf,
} from '../../engine/opportunity.ts'
import { MICROS, type TimeMs, toSeconds } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { choice, EXAMPLE_IDS, nullable } from '../schemas.ts'

const text = () => Type.String()
const nonNegativeInteger = () => Type.Integer({ minimum: 0 })
const dollars = (meaning: string) => Type.Number({ description: `${meaning}, US dollars` })

const LegSchema = Type.Object({
  market_id: text(),
  platform: text(),
  question: text(),
  outcome: text(),
  is_first_outcome: Type.Boolean({
    description:
      'whether it is the outcome for which the market is quoted; else its book is read from the other side',
  }),
  side: Type.Literal('buy'),
  contracts: Type.Number({ minimum: 0 }),
  best_price: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'price of the first contract, US dollars, 0 to 1',
  }),
  avg_price: Type.Number({ minimum: 0, maximum: 1 }),
  cost_usd: dollars('price × contracts over the levels taken, before the fee'),
  fee_usd: dollars('the most that the venue takes for one order of these fills'),
  book_seq: nonNegativeInteger(),
  book_age_ms: Type.Integer({
    minimum: 0,
    description:
      'milliseconds since this book was last confirmed by a change, a snapshot or a comparison with the venue',
  }),
})

const StepSchema = Type.Object({
  contracts: Type.Number({ minimum: 0 }),
  prices: Type.Array(Type.Number(), {
    description: 'US dollars, one a leg, in the order of the legs',
  }),
  profit_usd: dollars('what these contracts earn before fees'),
})

/** An open opportunity or a quote. */
export const OpportunitySchema = Type.Object({
  id: text(),
  kind: choice(OPPORTUNITY_KINDS),
  match_score: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  legs: Type.Array(LegSchema, { minItems: 2 }),
  contracts: Type.Number({
    minimum: 0,
    description:
      'contracts of every leg, whole hundredths: of the amounts that every venue accepts, the one that earns most',
  }),
  min_contracts: Type.Number({
    minimum: 0,
    description: 'the least contracts of every leg that every venue accepts at these offers',
  }),
  cost_usd: dollars('cost of all legs, before fees'),
  fees_usd: dollars('fees of all legs'),
  payout_usd: dollars('what the legs that win pay, whichever they are'),
  profit_usd: dollars('payout less cost and fees'),
  edge: dollars('profit of one contract of each leg'),
  return: Type.Number({ description: 'profit / (cost + fees)' }),
  annualised: nullable(
    Type.Number({
      description:
        'the return of a year if the money is tied up until the last market closes, without compounding; null when a close is not known',
    }),
  ),
  opened_at_ms: nonNegativeInteger(),
  updated_at_ms: nonNegativeInteger(),
  closes_at: nullable(
    Type.Integer({
      description: 'when the last of the markets closes, Unix seconds; null: one is not known',
    }),
  ),
  question: Type.String({
    description: 'question of the first leg; within one venue, the event’s title',
  }),
  category: nullable(text()),
  explanation: text(),
  payout_note: nullable(
    Type.String({
      description:
        'where a venue may pay an outcome other than 0 or 1, so that payout_usd is not certain; null when no listing says so',
    }),
  ),
  levels: Type.Optional(Type.Array(StepSchema)),
})

const StateSchema = Type.Object({
  at_ms: nonNegativeInteger(),
  contracts: Type.Number({ minimum: 0 }),
  profit_usd: Type.Number(),
})

export const PastOpportunitySchema = Type.Object({
  id: text(),
  kind: choice(OPPORTUNITY_KINDS),
  match_score: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  legs: Type.Array(Type.Object({ market_id: text(), platform: text(), outcome: text() })),
  question: text(),
  category: nullable(text()),
  closes_at: nullable(Type.Integer()),
  opened: StateSchema,
  best: StateSchema,
  last: StateSchema,
  closed_at_ms: nonNegativeInteger(),
  close_reason: choice(CLOSE_REASONS),
})

/** `annualised` is computed at `nowMs`. */
export function opportunityRecord(
  one: Opportunity,
  nowMs: TimeMs,
  { hasLevels }: { readonly hasLevels: boolean },
): Static<typeof OpportunitySchema> {
  const { id, kind, question, category, explanation, closesAtMs } = one
  return {
    id,
    kind,
    match_score: one.matchScore,
    legs: one.legs.map((leg, index) => ({
      market_id: leg.market.id,
      platform: leg.market.platform,
      question: leg.question,
      outcome: leg.outcome,
      is_first_outcome: leg.isFirst,
      side: 'buy',
      contracts: one.contracts / MICROS,
      best_price: (one.steps[0]?.prices[index] ?? averagePrice(leg, one.contracts)) / MICROS,
      avg_price: averagePrice(leg, one.contracts) / MICROS,
      cost_usd: leg.cost / MICROS,
      fee_usd: leg.fee / MICROS,
      book_seq: leg.bookSeq,
      book_age_ms: leg.bookAgeMs,
    })),
    contracts: one.contracts / MICROS,
    min_contracts: one.minContracts / MICROS,
    cost_usd: one.cost / MICROS,
    fees_usd: one.fees / MICROS,
    payout_usd: one.payout / MICROS,
    profit_usd: one.profit / MICROS,
    edge: edgeOf(one),
    return: returnOf(one),
    annualised: annualisedOf(one, nowMs),
    opened_at_ms: one.openedAtMs,
    updated_at_ms: one.updatedAtMs,
    closes_at: closesAtMs === null ? null : toSeconds(closesAtMs),
    question,
    category,
    explanation,
    payout_note: one.payoutNote,
    ...(hasLevels ? { levels: stepRecords(one) } : {}),
  }
}

function stepRecords({ steps, contracts, payout }: Opportunity) {
  const ofOne = contracts === 0 ? 0 : payout / contracts
  return steps.map((step) => {
    const price = step.prices.reduce((sum, each) => sum + each, 0)
    return {
      contracts: step.contracts / MICROS,
      prices: step.prices.map((each) => each / MICROS),
      profit_usd: Math.round((ofOne - price / MICROS) * step.contracts) / MICROS,
    }
  })
}

export function pastRecord(
  past: PastOpportunity,
  names: VenueTable,
): Static<typeof PastOpportunitySchema> {
  const { id, kind, question, category, closesAtMs } = past
  return {
    id,
    kind,
    match_score: past.matchScore,
    legs: past.legs.map(({ venue, market, outcome }) => ({
      market_id: names.marketId(venue, market),
      platform: names.platform(venue),
      outcome,
    })),
    question,
    category,
    closes_at: closesAtMs === null ? null : toSeconds(closesAtMs),
    opened: stateRecord(past.opened),
    best: stateRecord(past.best),
    last: stateRecord(past.last),
    closed_at_ms: past.closedAtMs,
    close_reason: past.reason,
  }
}

const stateRecord = ({ atMs, contracts, profit }: OpportunityState) => ({
  at_ms: atMs,
  contracts: contracts / MICROS,
  profit_usd: profit / MICROS,
})

export const EXAMPLE_OPPORTUNITY: Static<typeof OpportunitySchema> = JSON.parse(
  readFileSync(new URL('example-opportunity.json', import.meta.url), 'utf8').replace(
    '{condition}',
    EXAMPLE_IDS.condition,
  ),
)
