// What a market of venue a costs, from the fields in which Gamma states it (README.md, Fees). A statement that cannot
// be read, or that contradicts itself, is unknown with its source. Not for: `/fee-rate`, `mbf`, `tbf`, `makerBaseFee` and
// `takerBaseFee`, which are left over from another formula and never read. Upholds POLYFEE1, POLYFEE2.

import { microsOf } from '../../../json-fields.ts'
import { isRecord } from '../../../json-record.ts'
import {
  CURVE_ZERO,
  FEES_UNKNOWN,
  type FeeModel,
  type FeeRounding,
  feeCurve,
  type MarketFees,
  MODEL_UNKNOWN,
  sharedFees,
} from '../../../market/fees.ts'
import { MICROS } from '../../../units.ts'
import type { Json } from '../messages.ts'

/** Five decimals; whether up or down is not known. */
const ROUNDING: FeeRounding = { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null }
/** The one type of fees that means none while fees are enabled. */
const FREE_TYPE = 'zero_fees'

/** The fees that a Gamma row states. */
export function readFees({ feesEnabled, feeType, feeSchedule }: Json): MarketFees {
  if (feeSchedule !== null && feeSchedule !== undefined) {
    return feesOf(ofSchedule(feeSchedule, feesEnabled), 'gamma.feeSchedule')
  }
  if (feeType === FREE_TYPE) return feesOf(NO_FEES, 'gamma.feeType')
  if (feesEnabled === false) return feesOf(NO_FEES, 'gamma.feesEnabled')
  if (feesEnabled === true) return feesOf(MODEL_UNKNOWN, 'gamma.feesEnabled')
  return typeof feeType === 'string' ? feesOf(MODEL_UNKNOWN, 'gamma.feeType') : FEES_UNKNOWN
}

const NO_FEES: FeeModel = {
  ...MODEL_UNKNOWN,
  kind: 'none',
  taker: CURVE_ZERO,
  maker: CURVE_ZERO,
  rounding: ROUNDING,
}

function feesOf(model: FeeModel, source: string): MarketFees {
  return sharedFees({ now: { ...model, source }, next: null, waivedUntilMs: null })
}

function ofSchedule(schedule: unknown, feesEnabled: unknown): FeeModel {
  if (!isRecord(schedule)) return MODEL_UNKNOWN
  const exponentMicros = microsOf(schedule, 'exponent')
  const taker = feeCurve(
    microsOf(schedule, 'rate') ?? Number.NaN,
    (exponentMicros ?? Number.NaN) / MICROS,
  )
  if (taker === null) return MODEL_UNKNOWN
  if (taker.rateMicros === 0) return NO_FEES
  if (feesEnabled === false) return MODEL_UNKNOWN
  return {
    ...MODEL_UNKNOWN,
    kind: 'quadratic',
    taker,
    // What makers would pay otherwise is told nowhere.
    maker: schedule.takerOnly === true ? CURVE_ZERO : null,
    rounding: ROUNDING,
    rebateMicros: microsOf(schedule, 'rebateRate'),
  }
}
