// The states of the US under code and name, and districts of Congress ("TX-18", "AK-AL").
// Not for: countries (countries.ts). Upholds MATCHTEXT3.

import { tableIn } from './phrases.ts'

const { states } = tableIn<{ readonly states: Readonly<Record<string, string>> }>(
  new URL('./states.json', import.meta.url),
)
const DISTRICT = /\b([a-z]{2})-(\d{1,2}|al)\b/g

/** Every folded name with its code. */
export function stateNames(): Iterable<readonly [string, string]> {
  return Object.entries(states).map(([code, name]) => [name.toLowerCase(), code])
}

/** A folded text with districts written out: "tx-18" becomes "texas district18"; at large is the state. */
export function spellDistricts(folded: string): string {
  if (!folded.includes('-')) return folded
  return folded.replace(DISTRICT, (whole, code: string, number: string) => {
    const name = states[code]?.toLowerCase()
    if (name === undefined) return whole
    return number === 'al' ? name : `${name} district${Number(number)}`
  })
}
