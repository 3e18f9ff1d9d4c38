// Resolves a command's target to markets: ids in any case, event slugs (expanded once), a venue, or all.

import type { CatalogView } from '../../../actors/views.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import type { Target } from '../command.ts'
import type { Subscribed } from './subscriptions.ts'

export interface Resolved extends Subscribed {
  readonly rejected: readonly Readonly<Record<string, string>>[]
}

/** Distinct markets in request order. Unknown names are rejected individually. */
export function resolve(
  catalog: CatalogView,
  target: Target,
): Resolved | { readonly refused: string } {
  if (target.kind === 'all') return { key: '*', refs: [], rejected: [] }
  if (target.kind === 'venue') {
    const key = catalog.names.venue(target.platform)
    return key === null
      ? { refused: `platform is ${catalog.names.platforms.join(' or ')}` }
      : { key, refs: [], rejected: [] }
  }
  const refs = new Map<number, MarketRef>()
  const rejected: Record<string, string>[] = []
  for (const id of target.marketIds) {
    const view = catalog.find(id)
    if (view === null) rejected.push({ market_id: id, code: 'UNKNOWN_MARKET' })
    else refs.set(view.ref.number, view.ref)
  }
  for (const slug of target.eventSlugs) {
    // On every venue that has the event: a slug is the venue's own event id.
    const found = catalog.names.keys.flatMap((venue) => catalog.marketsOfEvent(venue, slug))
    if (found.length === 0) rejected.push({ event_slug: slug, code: 'UNKNOWN_MARKET' })
    for (const { ref } of found) refs.set(ref.number, ref)
  }
  return { key: null, refs: [...refs.values()], rejected }
}
