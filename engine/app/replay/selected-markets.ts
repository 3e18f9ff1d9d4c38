import type { ReplaySelection } from '../../../actors/views.ts'

interface Rule {
  /** Null: all. */
  readonly platforms: ReadonlySet<string> | null
  readonly markets: ReadonlySet<string> | null
}

const setOf = (values: readonly string[] | null) => (values === null ? null : new Set(values))

/** The markets of one channel that a replay selects. */
export class SelectedMarkets {
  readonly #rules: readonly Rule[]

  constructor(selections: readonly Omit<ReplaySelection, 'channel'>[]) {
    this.#rules = selections.map(({ platforms, markets }) => {
      return { platforms: setOf(platforms), markets: setOf(markets) }
    })
  }

  has({ id, platform }: { readonly id: string; readonly platform: string }): boolean {
    return this.#rules.some(
      ({ platforms, markets }) =>
        (platforms === null || platforms.has(platform)) && (markets === null || markets.has(id)),
    )
  }

  /** Whether a market of the venue may be selected. */
  touches(platform: string): boolean {
    return this.#rules.some(({ platforms }) => platforms === null || platforms.has(platform))
  }
}
