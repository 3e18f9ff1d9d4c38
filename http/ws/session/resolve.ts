// Resolves a command's target to markets: ids in any case, event slugs (expanded once), a venue, or all.

import type { CatalogView } from '../../../actors/views.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import type { Target } from '../command.ts'
import type { WideKey } from '../fan-out/channel-variants.ts'

export type Resolved =
  | { readonly kind: 'wide'; readonly key: WideKey }
  | {
      readonly kind: 'markets'
      readonly refs: readonly MarketRef[]
      readonly rejected: readonly Readonly<Record<string, string>>[]
    }

/** Distinct markets in request order. Unknown names are rejected individually. */
export function resolve(
  catalog: CatalogView,
  target: Target,
): Resolved | { readonly kind: 'refused'; readonly message: string } {
  if (target.kind === 'all') return { kind: 'wide', key: '*' }
  if (target.kind === 'venue') {
    const key = catalog.names.venue(target.platform)
    return key === null
      ? { kind: 'refused', message: `platform is ${catalog.names.platforms.join(' or ')}` }
      : { kind: 'wide', key }
  }
  const refs = new Map<number, MarketRef>()
  const rejected: Record<string, string>[] = []
  for (const id of target.marketIds) {
    const view = catalog.find(id)
    if (view === null) rejected.push({ market_id: id, code: 'UNKNOWN_MARKET' })
    else refs.set(view.ref.number, view.ref)
  }
  for (const slug of target.eventSlugs) {
    const found = marketsOfEvent(catalog, slug)
    if (found.length === 0) rejected.push({ event_slug: slug, code: 'UNKNOWN_MARKET' })
    for (const ref of found) refs.set(ref.number, ref)
  }
  return { kind: 'markets', refs: [...refs.values()], rejected }
}

/** Markets of the event on every venue that has it: a slug is the venue's own event id. */
function marketsOfEvent(catalog: CatalogView, slug: string): readonly MarketRef[] {
  const { keys } = catalog.names
  return keys.flatMap((venue) => catalog.marketsOfEvent(venue, slug)).map(({ ref }) => ref)
}
