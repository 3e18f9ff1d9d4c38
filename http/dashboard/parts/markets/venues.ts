// The venues' names for a part of the page that can begin without them.

import { useAsked } from '../asked.ts'
import { askVenues } from '../views/venues.ts'

/** Venue a's name, then venue b's; empty until they are known. */
export function useVenues(): readonly string[] {
  const asked = useAsked(askVenues, [])
  return asked.kind === 'answered' ? [asked.answer.a, asked.answer.b] : []
}
