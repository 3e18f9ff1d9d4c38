// The tables of matches and of operators' verdicts on pairs.

import type { MarketNumber } from '../engine/market/market.ts'
import { timeMs } from '../engine/units.ts'
import type {
  MatchTable,
  StoredMatch,
  StoredVerdict,
  VerdictKey,
  VerdictTable,
} from './contract/matches.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Schemas, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { nativeKey, numberKey } from './records/keys.ts'
import type { FieldReader } from './records/records.ts'
import { TABLES } from './tables.ts'

const MATCH_SCHEMA = 1
/** Of a verdict on a pair, and of one on families (format 7): the same fields. */
const VERDICT_SCHEMA = { pair: 1, family: 2 }
/** How long the disk may take before the caller is refused. */
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
    const judged = [score, relation, orientationOf(inverted), outcomeMap ?? []]
    const fields = [b, matchedAtMs, ...judged, vetoes, reasons, explanation]
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
      const judged = { score, relation, inverted, outcomeMap, vetoes, reasons, explanation }
      return { a, b, matchedAtMs, ...judged }
    },
  }
}

const orientationOf = (inverted: boolean | null): number => (inverted === null ? 2 : +inverted)
const invertedOf = (orientation: number): boolean | null =>
  orientation > 1 ? null : orientation === 1

export class StoredVerdicts implements VerdictTable {
  readonly #environment: Environment
  readonly #verdicts: Table

  constructor(environment: Environment) {
    this.#environment = environment
    this.#verdicts = environment.table(TABLES.matchVerdicts)
  }

  *all(): Iterable<StoredVerdict> {
    for (const row of chunkedRows(this.#verdicts)) {
      const verdict = this.#verdicts.decode(row, VERDICT_SCHEMAS)
      if (verdict !== null) yield verdict
    }
  }

  put(verdict: StoredVerdict): Promise<void> {
    const key = keyOf(verdict)
    const { on, a, b, word, atMs } = verdict
    const fields = [a, b, word === 'confirmed', atMs]
    this.#verdicts.put(key, this.#verdicts.encode(key, VERDICT_SCHEMA[on], fields))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }

  remove(of: VerdictKey): Promise<void> {
    this.#verdicts.remove(keyOf(of))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }
}

const VERDICT_SCHEMAS: Schemas<StoredVerdict> = {
  1: (fields) => verdictOf('pair', fields),
  2: (fields) => verdictOf('family', fields),
}

function verdictOf(on: StoredVerdict['on'], fields: FieldReader): StoredVerdict {
  const [a, b, isConfirmed] = [fields.text(), fields.text(), fields.boolean()]
  return { on, a, b, word: isConfirmed ? 'confirmed' : 'rejected', atMs: timeMs(fields.number()) }
}

/** No id of a market begins with the word. */
const keyOf = ({ on, a, b }: VerdictKey): Buffer =>
  nativeKey('a', on === 'family' ? `family ${a} ${b}` : `${a} ${b}`)
