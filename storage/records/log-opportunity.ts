// An opportunity with its results so far, as fields of a log item.

import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import {
  OPPORTUNITY_KINDS,
  type Opportunity,
  type OpportunityLeg,
  type OpportunityPeak,
} from '../../engine/opportunity.ts'
import { priceMicros, type SizeMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import { FieldReader } from './records.ts'

/** Throws if the market is unknown. */
export type MarketLookup = (number: MarketNumber) => MarketRef

export const reachFields = ({ profit, edge, ageMs }: OpportunityPeak) => [profit, edge, ageMs]

export function readReach([
  profit = Number.NaN,
  edge = Number.NaN,
  ageMs = Number.NaN,
]: readonly number[]): OpportunityPeak {
  return { profit: usdMicros(profit), edge, ageMs }
}

export function opportunityFields(one: Opportunity): readonly unknown[] {
  const { id, kind, matchScore, contracts, cost, fees, payout, profit } = one
  const legs = one.legs.map((leg) => {
    const { question, outcome, isFirst, bookSeq, bookAgeMs } = leg
    return [leg.market.number, question, outcome, isFirst, bookSeq, bookAgeMs, leg.cost, leg.fee]
  })
  const steps = one.steps.map((step) => [step.contracts, ...step.prices])
  const times = [one.openedAtMs, one.updatedAtMs, one.closesAtMs]
  const sums = [contracts, cost, fees, payout, profit]
  return [
    id,
    kind,
    matchScore,
    legs,
    ...sums,
    steps,
    ...times,
    one.question,
    one.category,
    one.explanation,
    one.minContracts,
    one.payoutNote,
  ]
}

export function readOpportunity(fields: FieldReader, marketOf: MarketLookup): Opportunity {
  const [id, kind] = [fields.text(), fields.choice(OPPORTUNITY_KINDS)]
  const matchScore = fields.numberOrNull()
  const legs = fields.lists().map((leg) => readLeg(new FieldReader(leg), marketOf))
  const contracts: SizeMicros = sizeMicros(fields.number())
  const [cost, fees] = [usdMicros(fields.number()), usdMicros(fields.number())]
  const [payout, profit] = [usdMicros(fields.number()), usdMicros(fields.number())]
  const steps = fields.lists().map((step) => {
    const [size = Number.NaN, ...prices] = new FieldReader([step]).numbers()
    return { contracts: sizeMicros(size), prices: prices.map(priceMicros) }
  })
  const rest = {
    openedAtMs: timeMs(fields.number()),
    updatedAtMs: timeMs(fields.number()),
    closesAtMs: fields.orNull(timeMs),
    question: fields.text(),
    category: fields.textOrNull(),
    explanation: fields.text(),
  }
  // An engine of the previous version writes neither of the last two.
  const isOlder = fields.isAtEnd()
  return {
    ...{ id, kind, matchScore, legs, contracts, cost, fees, payout, profit, steps, ...rest },
    minContracts: isOlder ? contracts : sizeMicros(fields.number()),
    payoutNote: isOlder ? null : fields.textOrNull(),
  }
}

function readLeg(fields: FieldReader, marketOf: MarketLookup): OpportunityLeg {
  return {
    market: marketOf(fields.number()),
    question: fields.text(),
    outcome: fields.text(),
    isFirst: fields.boolean(),
    bookSeq: fields.number(),
    bookAgeMs: fields.number(),
    cost: usdMicros(fields.number()),
    fee: usdMicros(fields.number()),
  }
}
