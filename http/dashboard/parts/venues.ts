// Names of the venues, from /health. They never change while the server runs, so each tab requests them once.

import { request } from '../api.ts'
import { capital } from '../format.ts'
import type { Health } from '../records.ts'
import { Signal } from '../signal.ts'
import { useRequest } from './requests.ts'

/** `a` is the venue with wallet data. */
export interface Venues {
  readonly a: string
  readonly b: string
}

let cached: Venues | null = null

/** Protocol by configured name. Components that show display names subscribe to this signal. */
export const protocols = new Signal<ReadonlyMap<string, string>>(new Map())

/** Origin of the data; null until /health has answered. */
export const dataSource = new Signal<Health['data'] | null>(null)

/** Display name, such as `Polymarket`. Returns the configured name until the protocols have loaded. */
export function venueText(name: string | null | undefined): string {
  const protocol = protocols.value.get(name ?? '')
  return protocol === undefined ? (name ?? '') : capital(protocol)
}

/** Display name, followed by a different configured name: `Polymarket (venue_a)`. */
export function fullVenueText(name: string | null | undefined): string {
  const text = venueText(name)
  return text.toLowerCase() === (name ?? '').toLowerCase() ? text : `${text} (${name})`
}

export async function fetchVenues(signal: AbortSignal): Promise<Venues> {
  if (cached !== null) return cached
  const { exchanges, protocols: spoken, data } = await request<Health>('/health', { signal })
  protocols.set(new Map(Object.entries(spoken)))
  dataSource.set(data)
  const [a, b] = Object.keys(exchanges)
  if (a === undefined || b === undefined) throw new Error('/health lists fewer than two venues')
  cached = { a, b }
  return cached
}

export function useVenues(): readonly string[] {
  const { answer } = useRequest(fetchVenues, [])
  return answer === null ? [] : [answer.a, answer.b]
}
