// The venues' configured names, as /health has them: asked once a tab, since they are those of the server's start; and what
// people call them.

import { request } from '../../api.ts'
import { capital } from '../../format.ts'
import type { Health } from '../../records.ts'
import { Signal } from '../../signal.ts'
import { useRequest } from '../request-state.ts'

/** The first venue, whose wallets are known, then the second. */
export interface Venues {
  readonly a: string
  readonly b: string
}

let cached: Venues | null = null

/** By configured name, whose protocol a venue speaks; what shows names is drawn again when they are there. */
export const protocols = new Signal<ReadonlyMap<string, string>>(new Map())

/** What people call a venue: `Polymarket`, for a configured name; that name itself until more is known. */
export function venueText(name: string | null | undefined): string {
  const protocol = protocols.value.get(name ?? '')
  return protocol === undefined ? (name ?? '') : capital(protocol)
}

/** With the name that the interface has for it, where that is another: `Polymarket (venue_a)`. */
export function fullVenueText(name: string | null | undefined): string {
  const text = venueText(name)
  return text.toLowerCase() === (name ?? '').toLowerCase() ? text : `${text} (${name})`
}

/** Rejects with ApiError. */
export async function fetchVenues(signal: AbortSignal): Promise<Venues> {
  if (cached !== null) return cached
  const { exchanges, protocols: spoken } = await request<Health>('/health', { signal })
  protocols.set(new Map(Object.entries(spoken)))
  const [a, b] = Object.keys(exchanges)
  if (a === undefined || b === undefined) throw new Error('the server names no two venues')
  cached = { a, b }
  return cached
}

/** Venue a's name, then venue b's; empty until they are known. */
export function useVenues(): readonly string[] {
  const result = useRequest(fetchVenues, [])
  return result.kind === 'answered' ? [result.answer.a, result.answer.b] : []
}
