import { annualisedOf, edgeOf, type Opportunity } from '../../engine/opportunity.ts'
import { DAY_MS, MICROS, type TimeMs } from '../../engine/units.ts'
import type { OpportunityFilter, OpportunityOrder } from './views.ts'

export const ORDERS: Readonly<
  Record<OpportunityOrder, (one: Opportunity, nowMs: TimeMs) => number>
> = {
  profit: ({ profit }) => profit,
  edge: edgeOf,
  annualised: (one, nowMs) => annualisedOf(one, nowMs) ?? Number.NEGATIVE_INFINITY,
  opened_at: ({ openedAtMs }) => openedAtMs,
}

export function passing(filter: OpportunityFilter, nowMs: TimeMs): (one: Opportunity) => boolean {
  const terms = filter.search?.toLowerCase().split(/\s+/).filter(Boolean) ?? []
  const category = filter.category?.toLowerCase() ?? null
  const { kind, venue, profitMin, edgeMin, daysMax } = filter
  return (one) => {
    if (kind !== null && one.kind !== kind) return false
    // Compares in the units of the API. Micros could exclude an opportunity whose returned value equals the limit.
    if (one.profit / MICROS < profitMin || edgeOf(one) < edgeMin) return false
    if (category !== null && one.category?.toLowerCase() !== category) return false
    if (venue !== null && !one.legs.some(({ market }) => market.venue === venue)) return false
    if (daysMax !== null) {
      if (one.closesAtMs === null || one.closesAtMs > nowMs + daysMax * DAY_MS) return false
    }
    const question = one.question.toLowerCase()
    return terms.every((term) => question.includes(term))
  }
}
