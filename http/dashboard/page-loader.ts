// The pages, each loaded when it is first shown, so that the first picture waits for one of them alone; the others
// follow while nothing is asked for, so that a tab has all of its version before the server is replaced by another's.

import type { FunctionComponent } from 'preact'
import { after } from './browser.ts'
import { PAGES, type PageName, type PageProps } from './route.ts'
import { Signal } from './signal.ts'

type Page = FunctionComponent<PageProps>
/** A page, or why it could not be loaded. */
type Loaded =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'failed'; readonly error: unknown }

const LOADERS: Readonly<Record<PageName, () => Promise<Page>>> = {
  opportunities: async () => (await import('./pages/opportunities.ts')).OpportunitiesPage,
  markets: async () => (await import('./pages/markets.ts')).MarketsPage,
  market: async () => (await import('./pages/market.ts')).MarketPage,
  matches: async () => (await import('./pages/matches.ts')).MatchesPage,
  sports: async () => (await import('./pages/sports.ts')).SportsPage,
  whales: async () => (await import('./pages/whales.ts')).WhalesPage,
  wallet: async () => (await import('./pages/wallet.ts')).WalletPage,
  status: async () => (await import('./pages/status.ts')).StatusPage,
  account: async () => (await import('./pages/account.ts')).AccountPage,
  webhooks: async () => (await import('./pages/webhooks.ts')).WebhooksPage,
}

/** After the first page, which has requests of its own to make. */
const OTHERS_MS = 2_000

/** What has been loaded, or was tried. */
export const loadedPages = new Signal<ReadonlyMap<PageName, Loaded>>(new Map())
const loading = new Set<PageName>()

/** Loads a page unless it is there or on its way; one that failed is tried again. */
export async function loadPage(name: PageName): Promise<void> {
  if (loading.has(name) || loadedPages.value.get(name)?.kind === 'page') return
  loading.add(name)
  const loaded = await LOADERS[name]().then(
    (page): Loaded => ({ kind: 'page', page }),
    (error: unknown): Loaded => ({ kind: 'failed', error }),
  )
  loading.delete(name)
  loadedPages.set(new Map([...loadedPages.value, [name, loaded]]))
}

/** Loads the others one by one, a while after the first. */
export function loadOthersLater(): void {
  after(OTHERS_MS, async () => {
    for (const name of PAGES) await loadPage(name)
  })
}
