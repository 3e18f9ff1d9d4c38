import {
  boolean,
  choice,
  type Field,
  fieldsOf,
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
  FEES_UNKNOWN,
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

const stored = mapped<MarketFees, MarketFees>(
  record<MarketFees>({ waivedUntilMs: orNull(time), now: model, next }),
  (value) => value,
  sharedFees,
)

/** Number of MessagePack values of fees without announced fees. The last one states whether announced fees follow. */
const VALUES = fieldsOf(stored, FEES_UNKNOWN).length
const NEXT_VALUES = fieldsOf(model, FEES_UNKNOWN.now).length
/** Maximum number of decoded fees that are retained. */
const DECODED_MAX = 1_024
const decoded = new Map<string, MarketFees>()

/** Markets with equal fees share one object, which is decoded once. */
export const fees: Field<MarketFees> = {
  put: stored.put,
  take: (from) => {
    const most = from.peek(VALUES + NEXT_VALUES)
    const values = most[VALUES - 1] === true ? most : most.slice(0, VALUES)
    const key = JSON.stringify(values)
    const known = decoded.get(key)
    if (known !== undefined) {
      from.skip(values.length)
      return known
    }
    const taken = stored.take(from)
    if (decoded.size >= DECODED_MAX) decoded.clear()
    decoded.set(key, taken)
    return taken
  },
}
