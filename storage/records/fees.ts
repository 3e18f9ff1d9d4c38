import {
  boolean,
  choice,
  type Field,
  list,
  mapped,
  number,
  orNull,
  record,
  type Single,
  single,
  text,
  time,
} from '../../engine/codec.ts'
import {
  FEE_KINDS,
  type FeeCurve,
  type FeeModel,
  type FeeRounding,
  feeCurve,
  type MarketFees,
  sharedFees,
} from '../../engine/market/fees.ts'

const numbers = list(number)

/** Decodes to null (unknown fees) if a parameter is out of range. */
export const curve: Single<FeeCurve | null> = single(
  (value, context) => {
    if (value === null) return null
    const [rate = Number.NaN, exponent = Number.NaN, multiplier = Number.NaN] = numbers.decode(
      value,
      context,
    )
    return feeCurve(rate, exponent, multiplier)
  },
  (value) => (value === null ? null : [value.rateMicros, value.exponent, value.multiplierMicros]),
)

type StoredRounding = Omit<FeeRounding, 'direction'> & {
  readonly direction: FeeRounding['direction'] | null
}

const NO_ROUNDING: StoredRounding = { direction: null, fillStepMicros: 0, orderStepMicros: null }

const rounding = mapped<StoredRounding, FeeRounding | null>(
  record<StoredRounding>({
    direction: orNull(choice(['up', 'unknown'])),
    fillStepMicros: number,
    orderStepMicros: orNull(number),
  }),
  (value) => value ?? NO_ROUNDING,
  ({ direction, ...steps }) => (direction === null ? null : { ...steps, direction }),
)

const model = record<FeeModel>({
  kind: choice(FEE_KINDS),
  taker: curve,
  maker: curve,
  rounding,
  rebateMicros: orNull(number),
  source: orNull(text),
  sinceMs: orNull(time),
})

const next: Field<FeeModel | null> = {
  put: (to, value) => {
    boolean.put(to, value !== null)
    if (value !== null) model.put(to, value)
  },
  take: (from) => (boolean.take(from) ? model.take(from) : null),
}

/** Markets with equal fees share one object. */
export const fees = mapped<MarketFees, MarketFees>(
  record<MarketFees>({ waivedUntilMs: orNull(time), now: model, next }),
  (value) => value,
  sharedFees,
)
