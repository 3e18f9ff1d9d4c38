// Operator overrides that confirm or reject pairs of markets or of families. They are stored by the venues' own ids, so
// that they stay valid when a market is removed and listed again.

import { EngineError } from '../../engine/errors.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { PairOverride } from '../../engine/matching/match-task.ts'
import { type FamilyOverride, patternFault } from '../../engine/matching/veto/families.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { OverrideKey, StoredOverride } from '../../storage/contract/matches.ts'
import type { OverrideTable } from '../../storage/contract/storage.ts'
import type { MarketView } from '../views.ts'
import type { OverrideResult } from './override-results.ts'

const OVERRIDES_MAX = 100_000
const FAMILIES_MAX = 1_000

const VENUES = ['a', 'b'] as const
const NO_PAIR = 'a pair has one market of each venue'

interface Named {
  readonly venue: VenueKey
  readonly native: string
}

export interface OverrideListener {
  applyOverride(override: PairOverride): Promise<OverrideResult>
  applyFamilyOverrides(): void
}

export class MatchOverrides {
  readonly #table: OverrideTable
  readonly #find: (venue: 'a' | 'b', nativeId: string) => MarketView | null
  readonly #nowMs: () => TimeMs
  readonly #overrides = new Map<string, StoredOverride>()
  readonly #byMarket = new Map<string, Set<string>>()
  #listener: OverrideListener | null = null
  /** Overrides are stored one after another, so that each is validated against the previous ones. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: {
    readonly table: OverrideTable
    readonly find: (venue: 'a' | 'b', nativeId: string) => MarketView | null
    readonly nowMs: () => TimeMs
  }) {
    this.#table = parts.table
    this.#find = parts.find
    this.#nowMs = parts.nowMs
    for (const override of parts.table.all()) this.#index(override)
  }

  setListener(listener: OverrideListener): void {
    this.#listener = listener
  }

  all(): readonly StoredOverride[] {
    return [...this.#overrides.values()]
  }

  families(): readonly FamilyOverride[] {
    return this.all().flatMap(({ on, a, b, decision }) =>
      on === 'family' ? [{ a, b, word: decision, why: `${b} with ${a}, ${decision} by hand` }] : [],
    )
  }

  overridesOn(market: MarketView): readonly PairOverride[] {
    const { nativeId, venue } = market.ref
    const overrides: PairOverride[] = []
    for (const key of this.#byMarket.get(`${venue}${nativeId}`) ?? []) {
      const override = this.#overrides.get(key)
      if (override === undefined) continue
      const a = venue === 'a' ? market : this.#find('a', override.a)
      const b = venue === 'b' ? market : this.#find('b', override.b)
      if (a === null || b === null) continue
      overrides.push({ a: a.ref.number, b: b.ref.number, decision: override.decision })
    }
    return overrides
  }

  /**
   * `decision` null removes the override. Resolves when the change is on disk and applied, or to `unsaid` if there was
   * no override to remove. Throws EngineError BAD_REQUEST if both markets are of one venue, if one of them is confirmed
   * with a third market, or if there are too many overrides.
   */
  async set(
    one: MarketView,
    other: MarketView,
    decision: PairOverride['decision'],
  ): Promise<OverrideResult | 'unsaid'> {
    if (one.ref.venue === other.ref.venue) {
      throw new EngineError('BAD_REQUEST', NO_PAIR)
    }
    const [a, b] = one.ref.venue === 'a' ? [one, other] : [other, one]
    const of = { on: 'pair', a: a.ref.nativeId, b: b.ref.nativeId } as const
    if (!(await this.#enqueue(of, decision)) && decision === null) return 'unsaid'
    const result = this.#listener?.applyOverride({ a: a.ref.number, b: b.ref.number, decision })
    return result ?? 'later'
  }

  /**
   * `a` and `b` are the patterns of the two venues. `decision` null removes the override. Resolves when the change is
   * on disk, with whether an override existed. Throws EngineError BAD_REQUEST for an invalid pattern or too many
   * overrides.
   */
  async setFamily(a: string, b: string, decision: PairOverride['decision']): Promise<boolean> {
    for (const pattern of [a, b]) {
      const fault = patternFault(pattern)
      if (fault !== null) throw new EngineError('BAD_REQUEST', `${pattern.slice(0, 256)}: ${fault}`)
    }
    const of = { on: 'family', a: a.toLowerCase(), b: b.toLowerCase() } as const
    const existed = await this.#enqueue(of, decision)
    if (existed || decision !== null) this.#listener?.applyFamilyOverrides()
    return existed
  }

  /** The markets need not exist. Resolves to whether there was an override. */
  async clear(markets: readonly (Named | null)[]): Promise<boolean> {
    const [a, b] = VENUES.map((venue) => markets.find((market) => market?.venue === venue))
    if (a == null || b == null) throw new EngineError('BAD_REQUEST', NO_PAIR)
    return this.#enqueue({ on: 'pair', a: a.native, b: b.native }, null)
  }

  #enqueue(of: OverrideKey, decision: PairOverride['decision']): Promise<boolean> {
    const result = this.#last.then(async () => {
      const existed = this.#overrides.has(keyOf(of))
      if (existed || decision !== null) await this.#record(of, decision)
      return existed
    })
    this.#last = result.catch(() => undefined)
    return result
  }

  async #record(of: OverrideKey, decision: PairOverride['decision']): Promise<void> {
    if (decision === null) return this.#remove(of)
    if (of.on === 'pair' && decision === 'confirmed') await this.#refuseSecond(of)
    const max = of.on === 'pair' ? OVERRIDES_MAX : FAMILIES_MAX
    const count = of.on === 'pair' ? this.#overrides.size : this.families().length
    if (count >= max && !this.#overrides.has(keyOf(of))) {
      throw new EngineError('BAD_REQUEST', `at most ${max} overrides of this kind are stored`)
    }
    const override = { ...of, decision, atMs: this.#nowMs() }
    await this.#table.put(override)
    this.#index(override)
  }

  async #remove(of: OverrideKey): Promise<void> {
    await this.#table.remove(of)
    this.#clear(of)
  }

  /**
   * Throws if a market of the pair is confirmed with a third market, because the operator may have mistyped an id.
   * Removes the older override if one of its markets no longer exists.
   */
  async #refuseSecond(pair: OverrideKey): Promise<void> {
    for (const key of marketsOf(pair).flatMap((market) => [
      ...(this.#byMarket.get(market) ?? []),
    ])) {
      const existing = this.#overrides.get(key)
      if (existing?.decision !== 'confirmed' || key === keyOf(pair)) continue
      const [a, b] = [this.#find('a', existing.a), this.#find('b', existing.b)]
      if (a === null || b === null) {
        await this.#remove(existing)
        continue
      }
      const ids = `${a.ref.id} ${b.ref.id}`
      throw new EngineError(
        'BAD_REQUEST',
        `${ids} are confirmed as a pair, and a market has one partner. First run: npm run match -- forget ${ids}`,
      )
    }
  }

  #index(override: StoredOverride): void {
    const key = keyOf(override)
    this.#overrides.set(key, override)
    for (const market of marketsOf(override)) {
      const keys = this.#byMarket.get(market)
      if (keys === undefined) this.#byMarket.set(market, new Set([key]))
      else keys.add(key)
    }
  }

  #clear(pair: OverrideKey): void {
    const key = keyOf(pair)
    this.#overrides.delete(key)
    for (const market of marketsOf(pair)) {
      const keys = this.#byMarket.get(market)
      keys?.delete(key)
      if (keys?.size === 0) this.#byMarket.delete(market)
    }
  }
}

/** The format of `match.list`. Both sides are valid command arguments. */
export function rowOf({ on, a, b, decision, atMs }: StoredOverride, names: VenueTable) {
  const sign = on === 'family' ? ':' : '_'
  const [one, other] = [a, b].map(
    (name, at) => `${names.platform(VENUES[at] ?? 'a')}${sign}${name}`,
  )
  return { one, other, word: decision, atMs }
}

const keyOf = ({ on, a, b }: OverrideKey): string => `${on} ${a} ${b}`
const marketsOf = ({ on, a, b }: OverrideKey): readonly string[] =>
  on === 'family' ? [] : [`a${a}`, `b${b}`]
