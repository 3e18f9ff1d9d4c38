// Routing by URL hash, which works behind any path prefix and with the browser history.

import { addressHash, onTabEvent } from './browser.ts'
import { PAGES, type PageName } from './page-names.ts'
import { Signal } from './signal.ts'

export interface PageRoute {
  readonly page: PageName | 'unknown'
  /** The path after the page name, such as a market id or a wallet address. */
  readonly subject: string | null
  readonly query: URLSearchParams
}

export interface PageProps {
  readonly route: PageRoute
}

export const currentRoute = new Signal<PageRoute>(parseRoute(''))

export function followAddress(): void {
  const read = () => currentRoute.set(parseRoute(addressHash()))
  onTabEvent('hashchange', read)
  read()
}

/** An empty hash gives the default page. */
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
