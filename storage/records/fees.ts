// A market's fees as record fields: the current model, announced changes, the waiver.

import {
  FEE_KINDS,
  type FeeCurve,
  type FeeModel,
  type FeeRounding,
  feeCurve,
  type MarketFees,
  sharedFees,
} from '../../engine/market/fees.ts'
import { timeMs } from '../../engine/units.ts'
import type { FieldReader } from './records.ts'

const DIRECTIONS: readonly FeeRounding['direction'][] = ['up', 'unknown']

export function feeFields({ now, next, waivedUntilMs }: MarketFees): readonly unknown[] {
  return [
    waivedUntilMs,
    ...modelFields(now),
    next !== null,
    ...(next === null ? [] : modelFields(next)),
  ]
}

/** Reads what `feeFields` wrote; markets with equal fees share one object. */
export function readFees(fields: FieldReader): MarketFees {
  const waivedUntilMs = fields.orNull(timeMs)
  const now = readModel(fields)
  const next = fields.boolean() ? readModel(fields) : null
  return sharedFees({ now, next, waivedUntilMs })
}

function modelFields(model: FeeModel): readonly unknown[] {
  const { kind, taker, maker, rounding, rebateMicros, source, sinceMs } = model
  return [
    kind,
    curveFields(taker),
    curveFields(maker),
    rounding?.direction ?? null,
    rounding?.fillStepMicros ?? 0,
    rounding?.orderStepMicros ?? null,
    rebateMicros,
    source,
    sinceMs,
  ]
}

function readModel(fields: FieldReader): FeeModel {
  const kind = fields.choice(FEE_KINDS)
  const taker = readCurve(fields)
  const maker = readCurve(fields)
  const direction = fields.choiceOrNull(DIRECTIONS)
  const fillStepMicros = fields.number()
  const orderStepMicros = fields.numberOrNull()
  return {
    kind,
    taker,
    maker,
    rounding: direction === null ? null : { fillStepMicros, direction, orderStepMicros },
    rebateMicros: fields.numberOrNull(),
    source: fields.textOrNull(),
    sinceMs: fields.orNull(timeMs),
  }
}

export function curveFields(curve: FeeCurve | null): readonly number[] | null {
  return curve === null ? null : [curve.rateMicros, curve.exponent, curve.multiplierMicros]
}

/** Null (unknown) for numbers outside the range of any curve. */
export function readCurve(fields: FieldReader): FeeCurve | null {
  const numbers = fields.numbersOrNull()
  if (numbers === null) return null
  const [rate = Number.NaN, exponent = Number.NaN, multiplier = Number.NaN] = numbers
  return feeCurve(rate, exponent, multiplier)
}
