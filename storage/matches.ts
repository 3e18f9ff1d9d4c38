import type { MarketNumber } from '../engine/market/market.ts'
import type { OverrideKey, StoredMatch, StoredOverride } from './contract/matches.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { nativeKey, numberKey } from './records/keys.ts'
import { matchCodec, overrideCodec } from './records/matches.ts'
import { TABLES } from './tables.ts'

export class StoredMatches {
  readonly #matches: RecordTable<StoredMatch>

  constructor(environment: Environment) {
    this.#matches = new RecordTable(environment.table(TABLES.matches), matchCodec)
  }

  all(): Iterable<StoredMatch> {
    return this.#matches.all()
  }

  /** Replaces the match of the same venue a market. */
  put(match: StoredMatch): void {
    this.#matches.putIfChanged(numberKey(match.a), match)
  }

  remove(a: MarketNumber): void {
    this.#matches.rows.remove(numberKey(a))
  }
}

/** Changes resolve when they are durable. They reject if writing fails or takes more than 5 s. */
export class StoredOverrides {
  readonly #environment: Environment
  readonly #overrides: RecordTable<StoredOverride>

  constructor(environment: Environment) {
    this.#environment = environment
    this.#overrides = new RecordTable(environment.table(TABLES.matchOverrides), overrideCodec)
  }

  all(): Iterable<StoredOverride> {
    return this.#overrides.all()
  }

  /** Replaces the override of the same pair or families. */
  put(override: StoredOverride): Promise<void> {
    this.#overrides.put(keyOf(override), override)
    return this.#environment.durable()
  }

  remove(of: OverrideKey): Promise<void> {
    this.#overrides.rows.remove(keyOf(of))
    return this.#environment.durable()
  }
}

/** Keys of pairs and of families never collide, because no market id begins with `family`. */
const keyOf = ({ on, a, b }: OverrideKey): Buffer =>
  nativeKey('a', on === 'family' ? `family ${a} ${b}` : `${a} ${b}`)
