import type { VenueFacts, VenueTable } from '../../engine/venue-table.ts'
import type { Route, RouteGroup } from '../request/route.ts'
import { constants } from './constants.ts'

/** Version of the REST and stream interface. It changes only if paths or messages change. */
export const INTERFACE_VERSION = '1.0.0'

export function groupName(group: RouteGroup, names: VenueTable): string {
  const venue = nativeVenue(group, names)
  return venue === null ? group : `${venue.name} native`
}

export function groupMeaning(group: RouteGroup, names: VenueTable): string {
  return constants.groups[group]

    .replace('{wallets}', names.walletVenue?.name ?? 'no venue')
    .replace(/\{[a-z]\}/, nativeVenue(group, names)?.name ?? '')
}

/** Null for groups other than native routes. */
function nativeVenue(group: RouteGroup, names: VenueTable): VenueFacts | null {
  const letter = /^Venue ([A-Z]) Native$/.exec(group)?.[1]?.toLowerCase()
  return names.all.find(({ key }) => key === letter) ?? null
}

const VERBS = { GET: 'get', POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

/**
 * Verb and nouns of the path, such as `getMarketOrderbookHistory`. A noun before a parameter is singular. Venue letters
 * replace configured names, so that ids do not depend on the configuration.
 */
export function operationId({ method, pattern }: Route, names: VenueTable): string {
  const override = constants.operations[`${method} ${pattern}`]
  if (override !== undefined) return override
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== 'v1')
  const nouns = segments.flatMap((segment, position) => {
    if (segment.startsWith('{')) return []
    const venue = names.venue(segment)
    if (venue !== null) return [`Venue${venue.toUpperCase()}`]
    const next = segments[position + 1]
    const isOne = next?.startsWith('{') === true || (method === 'POST' && next === undefined)
    return [pascalCase(isOne ? singular(segment) : segment)]
  })
  return VERBS[method] + nouns.join('')
}

function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/([^s])s$/, '$1')
}

function pascalCase(text: string): string {
  return text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) =>
    first.toUpperCase(),
  )
}

export function shapeName(operation: string, part: 'Answer' | 'Body'): string {
  return `${operation.slice(0, 1).toUpperCase()}${operation.slice(1)}${part}`
}
