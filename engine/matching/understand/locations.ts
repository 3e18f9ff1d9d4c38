// Countries and US states by code and name. Includes FIFA, IOC and ISO codes, which differ and are all in use,
// adjectives ("Norwegian election") and congressional districts ("TX-18").

import type { HandleForm } from '../../ids.ts'
import { tableIn } from './phrases.ts'

/** By codes, separated by `+`: names and adjectives, separated by `/`. The first code is the identity. */
const { countries } = tableIn<{ readonly countries: Readonly<Record<string, string>> }>(
  new URL('./countries.json', import.meta.url),
)

const byCode = new Map<string, string>()
const byName = new Map<string, string>()
for (const [key, names] of Object.entries(countries)) {
  const codes = key.split('+')
  const [identity = ''] = codes
  for (const code of codes) if (!byCode.has(code)) byCode.set(code, identity)
  for (const name of names.split('/')) byName.set(name.toLowerCase(), identity)
}
/** Adds adjectives derived from the name, such as "Malawian". Names in the table take precedence. */
for (const [name, identity] of [...byName]) {
  if (name.length < 5 || name.includes(' ')) continue
  const bare = name.replace(/(?:ia|es|[aeoy])$/, '')
  for (const ending of ['n', 'an', 'ian', 'ese', 'i', 'ois']) {
    for (const stem of [name, bare]) {
      if (!byName.has(stem + ending)) byName.set(stem + ending, identity)
    }
  }
}

/** Country codes in slugs that mean another country than in FIFA, IOC and ISO. */
const SLUG_CODES: Readonly<Record<string, string>> = { kor: 'cuw', kr: 'kor' }

/** Identity of a country by any of its codes in lower case, as in slugs or tickers. Null if there is none. */
export function countryOfCode(code: string, handles: HandleForm | null = null): string | null {
  const own = handles === 'slug' ? SLUG_CODES[code] : undefined
  return own ?? byCode.get(code) ?? null
}

/** Identity of a country by a folded name or adjective. Null if there is none. */
export function countryOfName(name: string): string | null {
  return byName.get(name) ?? null
}

const { states } = tableIn<{ readonly states: Readonly<Record<string, string>> }>(
  new URL('./states.json', import.meta.url),
)
const DISTRICT = /\b([a-z]{2})-(\d{1,2}|al)\b/g

/** All folded names and adjectives of countries and all names of states, each with its lexicon identity. */
export const LOCATIONS: readonly (readonly [name: string, identity: string])[] = [
  ...[...byName].map(([name, country]) => [name, `country:${country}`] as const),
  ...Object.entries(states).map(([code, name]) => [name.toLowerCase(), `state:${code}`] as const),
]

/** Writes out districts in a folded text: "tx-18" becomes "texas district18". An at-large district becomes the state. */
export function spellDistricts(folded: string): string {
  if (!folded.includes('-')) return folded
  return folded.replace(DISTRICT, (matched, code: string, number: string) => {
    const name = states[code]?.toLowerCase()
    if (name === undefined) return matched
    return number === 'al' ? name : `${name} district${Number(number)}`
  })
}
