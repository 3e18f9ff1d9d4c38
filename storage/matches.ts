import type { MarketNumber } from '../engine/market/market.ts'
import { timeMs } from '../engine/units.ts'
import type {
  MatchTable,
  OverrideKey,
  OverrideTable,
  StoredMatch,
  StoredOverride,
} from './contract/matches.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Schemas, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { nativeKey, numberKey } from './records/keys.ts'
import type { FieldReader } from './records/records.ts'
import { TABLES } from './tables.ts'

const MATCH_SCHEMA = 1
/** Override of a pair, and override of families (format 7): the same fields. */
const OVERRIDE_SCHEMA = { pair: 1, family: 2 }
/** A write that takes longer rejects. */
const TIMEOUT_MS = 5_000

export class StoredMatches implements MatchTable {
  readonly #matches: Table

  constructor(environment: Environment) {
    this.#matches = environment.table(TABLES.matches)
  }

  *all(): Iterable<StoredMatch> {
    for (const row of chunkedRows(this.#matches)) {
      const match = this.#matches.decode(row, matchSchemas(row.key))
      if (match !== null) yield match
    }
  }

  put(match: StoredMatch): void {
    const { b, matchedAtMs, score, relation, inverted, outcomeMap } = match
    const { vetoes, reasons, explanation } = match
    const key = numberKey(match.a)
    const scoreFields = [score, relation, orientationOf(inverted), outcomeMap ?? []]
    const fields = [b, matchedAtMs, ...scoreFields, vetoes, reasons, explanation]
    this.#matches.putIfChanged(key, this.#matches.encode(key, MATCH_SCHEMA, fields))
  }

  remove(a: MarketNumber): void {
    this.#matches.remove(numberKey(a))
  }
}

function matchSchemas(key: Buffer): Schemas<StoredMatch> {
  return {
    1: (fields) => {
      const a = key.readUInt32BE(0)
      const [b, matchedAtMs] = [fields.number(), timeMs(fields.number())]
      const [score, relation] = [fields.number(), fields.text()]
      const inverted = invertedOf(fields.number())
      const [first, second] = fields.numbers()
      const outcomeMap: [number, number] | null =
        first === undefined || second === undefined ? null : [first, second]
      const [vetoes, reasons, explanation] = [fields.texts(), fields.texts(), fields.text()]
      const pairScore = { score, relation, inverted, outcomeMap, vetoes, reasons, explanation }
      return { a, b, matchedAtMs, ...pairScore }
    },
  }
}

const orientationOf = (inverted: boolean | null): number => (inverted === null ? 2 : +inverted)
const invertedOf = (orientation: number): boolean | null =>
  orientation > 1 ? null : orientation === 1

export class StoredOverrides implements OverrideTable {
  readonly #environment: Environment
  readonly #overrides: Table

  constructor(environment: Environment) {
    this.#environment = environment
    this.#overrides = environment.table(TABLES.matchOverrides)
  }

  *all(): Iterable<StoredOverride> {
    for (const row of chunkedRows(this.#overrides)) {
      const override = this.#overrides.decode(row, OVERRIDE_DECODERS)
      if (override !== null) yield override
    }
  }

  put(override: StoredOverride): Promise<void> {
    const key = keyOf(override)
    const { on, a, b, decision, atMs } = override
    const fields = [a, b, decision === 'confirmed', atMs]
    this.#overrides.put(key, this.#overrides.encode(key, OVERRIDE_SCHEMA[on], fields))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }

  remove(of: OverrideKey): Promise<void> {
    this.#overrides.remove(keyOf(of))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }
}

const OVERRIDE_DECODERS: Schemas<StoredOverride> = {
  1: (fields) => overrideOf('pair', fields),
  2: (fields) => overrideOf('family', fields),
}

function overrideOf(on: StoredOverride['on'], fields: FieldReader): StoredOverride {
  const [a, b, isConfirmed] = [fields.text(), fields.text(), fields.boolean()]
  return {
    on,
    a,
    b,
    decision: isConfirmed ? 'confirmed' : 'rejected',
    atMs: timeMs(fields.number()),
  }
}

/** No market id begins with `family`. */
const keyOf = ({ on, a, b }: OverrideKey): Buffer =>
  nativeKey('a', on === 'family' ? `family ${a} ${b}` : `${a} ${b}`)
