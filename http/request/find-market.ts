// Market lookup shared by routes.

import type { CatalogView, MarketView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'

/** The market of a unified id. Throws MARKET_NOT_FOUND. */
export function findMarket(catalog: CatalogView, id: string): MarketView {
  const view = catalog.find(id)
  if (view === null) throw new EngineError('MARKET_NOT_FOUND', 'no such market')
  return view
}

/** The result of a market lookup as a list of zero or one markets. */
export function listOf(view: MarketView | null): readonly MarketView[] {
  return view === null ? [] : [view]
}

/** Index of the outcome that `outcome=` names: a label, or yes/no for the first two. Throws BAD_REQUEST. */
export function outcomeIndexOf(view: MarketView, wanted: string | undefined): number {
  if (wanted === undefined) return 0
  const lower = wanted.trim().toLowerCase()
  const labels = view.summary.outcomes.map(({ label }) => label)
  const index = labels.findIndex((label) => label.toLowerCase() === lower)
  const found = index >= 0 ? index : ['yes', 'no'].indexOf(lower)
  if (found === 0 || found === 1) return found
  throw new EngineError('BAD_REQUEST', `the outcomes of this market are ${labels.join(' and ')}`)
}
