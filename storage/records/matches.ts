import {
  boolean,
  type Field,
  list,
  mapped,
  number,
  record,
  type Single,
  single,
  stated,
  text,
  texts,
  time,
} from '../../engine/codec.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { StoredMatch, StoredOverride } from '../contract/matches.ts'
import { listed } from './records.ts'

const numbers = list(number)

/** A list with fewer than two numbers decodes to null. */
const outcomeMap = single<StoredMatch['outcomeMap']>((value, context) => {
  if (value === null) return null
  const [first, second] = numbers.decode(value, context)
  return first === undefined || second === undefined ? null : [first, second]
})

/** Fields of a matched pair. The table and the log store `a` and `inverted` differently. */
export const matchOf = (a: Field<MarketNumber>, inverted: Single<boolean | null>) =>
  record<StoredMatch>({
    a,
    b: number,
    matchedAtMs: time,
    score: number,
    relation: text,
    inverted,
    outcomeMap,
    vetoes: texts,
    reasons: texts,
    explanation: text,
  })

const orientation = single<boolean | null>(
  (value, context) => {
    const code = number.decode(value, context)
    return code > 1 ? null : code === 1
  },
  (inverted) => (inverted === null ? 2 : +inverted),
)

export const matchCodec = listed(
  1,
  matchOf(
    stated(({ key }) => key.readUInt32BE(0)),
    orientation,
  ),
)

/** Schema 1 is the override of a pair. Schema 2 is the override of two families. */
export const overrideCodec = listed<StoredOverride>(
  2,
  record<StoredOverride>({
    on: stated(({ schema }) => (schema === 1 ? 'pair' : 'family')),
    a: text,
    b: text,
    decision: mapped<boolean, StoredOverride['decision']>(
      boolean,
      (decision) => decision === 'confirmed',
      (isConfirmed) => (isConfirmed ? 'confirmed' : 'rejected'),
    ),
    atMs: time,
  }),
  { schemaOf: ({ on }) => (on === 'pair' ? 1 : 2) },
)
