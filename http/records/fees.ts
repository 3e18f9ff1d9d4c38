// Trading fees in a market's record: rates in dollars per contract, steps in dollars, times in seconds.

import { type FeeCurve, type FeeModel, feesAt, type MarketFees } from '../../engine/market/fees.ts'
import { MICROS, toSeconds } from '../../engine/units.ts'

/** The fees at `nowMs`, as an object for JSON (FeesSchema). */
export function feesRecord(fees: MarketFees, nowMs: number) {
  const now = feesAt(fees, nowMs)
  const { next, waivedUntilMs } = fees
  return {
    ...modelRecord(now),
    waived_until: waivedUntilMs === null ? null : toSeconds(waivedUntilMs),
    next: next === null || next === now ? null : modelRecord(next),
  }
}

function modelRecord(model: FeeModel) {
  const { kind, taker, maker, rounding, rebateMicros, source, sinceMs } = model
  return {
    model: kind,
    taker: curveRecord(taker),
    maker: curveRecord(maker),
    rounding:
      rounding === null
        ? null
        : {
            direction: rounding.direction,
            fill_step: rounding.fillStepMicros / MICROS,
            order_step: inMillionths(rounding.orderStepMicros),
          },
    rebate_rate: inMillionths(rebateMicros),
    source,
    since: sinceMs === null ? null : toSeconds(sinceMs),
  }
}

function curveRecord(curve: FeeCurve | null) {
  if (curve === null) return null
  return {
    rate: curve.rateMicros / MICROS,
    exponent: curve.exponent,
    multiplier: curve.multiplierMicros / MICROS,
  }
}

function inMillionths(value: number | null): number | null {
  return value === null ? null : value / MICROS
}
