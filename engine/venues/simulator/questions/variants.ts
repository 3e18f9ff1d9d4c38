// The one constructor of variants: fills in what most have in common and picks the style.
// Not for: what is asked (questions/). Upholds SIMCAL4.

import { DAY_MS, HOUR_MS } from '../../../units.ts'
import type { SimPairKind } from '../model.ts'
import { kalshiEvent } from './kalshi-style.ts'
import { polymarketEvent } from './polymarket-style.ts'
import type { Asked, Variant, View } from './question.ts'
import type { Schedule } from './schedule.ts'

/** A variant with the same number of markets at both venues, each a question of its own. */
export function variantOf(plan: {
  key: string
  schedule: Schedule
  /** How long a cycle is listed before it closes, about; two days more than a few hours. */
  lifeMs: number
  count: number
  traps: readonly SimPairKind[]
  otherDateMs?: number
  interest: number
  ask: (view: View) => Asked
}): Variant {
  const { count } = plan
  return {
    key: plan.key,
    schedule: plan.schedule,
    copies: copiesFor(plan.schedule.periodMs, plan.lifeMs),
    counts: { a: count, b: count },
    questions: { a: count, b: count, shared: count },
    traps: plan.traps,
    otherDateMs: plan.otherDateMs ?? plan.schedule.periodMs,
    interest: plan.interest,
    ask(view) {
      const asked = plan.ask(view)
      return [view.venue === 'a' ? polymarketEvent(asked) : kalshiEvent(asked)]
    },
  }
}

/** Copies so that a cycle lives about `lifeMs`: each stays two days and up to an hour after its close. */
export function copiesFor(periodMs: number, lifeMs: number): number {
  return Math.max(1, Math.round((lifeMs + 2 * DAY_MS + HOUR_MS) / periodMs))
}
