// Where in the dashboard the tab is: the part of the address behind `#`, so that the page works behind any path of a
// proxy and the browser's own back and forward buttons do.

import { addressHash, onTabEvent } from './browser.ts'
import { Signal } from './signal.ts'

/** The pages, the first one first, as they stand in the address: `#/markets?q=fed`, `#/market/venue_a_0x…`. */
export const PAGES = [
  'opportunities',
  'markets',
  'market',
  'matches',
  'sports',
  'whales',
  'wallet',
  'status',
  'account',
  'webhooks',
] as const
export type PageName = (typeof PAGES)[number]

export interface PageRoute {
  readonly page: PageName | 'unknown'
  /** What follows the page: a market's id, a wallet's address. */
  readonly subject: string | null
  readonly query: URLSearchParams
}

/** What every page is given. */
export interface PageProps {
  readonly route: PageRoute
}

export const currentRoute = new Signal<PageRoute>(parseRoute(''))

/** Follows the tab's address from now on. */
export function followAddress(): void {
  const read = () => currentRoute.set(parseRoute(addressHash()))
  onTabEvent('hashchange', read)
  read()
}

/** Where an address leads; none leads to the first page. */
export function parseRoute(hash: string): PageRoute {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const [first = '', ...rest] = path.split('/')
  const page = first === '' ? PAGES[0] : (PAGES.find((name) => name === first) ?? 'unknown')
  return {
    page,
    subject: rest.length === 0 ? null : decoded(rest.join('/')),
    query: new URLSearchParams(search),
  }
}

/** The address of a page, for links. */
export function hrefOf(
  page: PageName,
  subject: string | null = null,
  query: Readonly<Record<string, string | null>> = {},
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== '') search.set(name, value)
  }
  const tail = search.size === 0 ? '' : `?${search}`
  return `#/${page}${subject === null ? '' : `/${encodeURIComponent(subject)}`}${tail}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
