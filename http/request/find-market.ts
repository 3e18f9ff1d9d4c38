// Looking markets up: what every route of one market begins with, and what routes of several share.

import type { CatalogView, MarketView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'

/** The market of a unified id; throws MARKET_NOT_FOUND. */
export function findMarket(catalog: CatalogView, id: string): MarketView {
  const view = catalog.find(id)
  if (view === null) throw new EngineError('MARKET_NOT_FOUND', 'no such market')
  return view
}

/** A market that was looked up, as a list of markets. */
export function listOf(view: MarketView | null): readonly MarketView[] {
  return view === null ? [] : [view]
}

/** Which outcome `outcome=` means: a label, or yes/no for the first two. Throws BAD_REQUEST. */
export function outcomeIndexOf(view: MarketView, wanted: string | undefined): number {
  if (wanted === undefined) return 0
  const lower = wanted.trim().toLowerCase()
  const labels = view.summary.outcomes.map(({ label }) => label)
  const index = labels.findIndex((label) => label.toLowerCase() === lower)
  const found = index >= 0 ? index : ['yes', 'no'].indexOf(lower)
  if (found === 0 || found === 1) return found
  throw new EngineError('BAD_REQUEST', `the outcomes of this market are ${labels.join(' and ')}`)
}
