// The venues' configured names, as /health has them: asked once a tab, since they are those of the server's start.
// Not for: how the venues are (http/dashboard/parts/status/feed-table.ts).

import { request } from '../../api.ts'
import type { Health } from '../../records.ts'
import { useAsked } from '../asked.ts'

/** The first venue, whose wallets are known, then the second. */
export interface Venues {
  readonly a: string
  readonly b: string
}

let known: Venues | null = null

/** Rejects with ApiError. */
export async function askVenues(signal: AbortSignal): Promise<Venues> {
  if (known !== null) return known
  const { exchanges } = await request<Health>('/health', { signal, token: null })
  const [a, b] = Object.keys(exchanges)
  if (a === undefined || b === undefined) throw new Error('the server names no two venues')
  known = { a, b }
  return known
}

/** Venue a's name, then venue b's; empty until they are known. */
export function useVenues(): readonly string[] {
  const asked = useAsked(askVenues, [])
  return asked.kind === 'answered' ? [asked.answer.a, asked.answer.b] : []
}
