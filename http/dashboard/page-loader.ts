// Loads pages on demand, so that the first view waits for one page only. The others load later, so that a tab
// has all modules of its version before the server is upgraded.

import type { FunctionComponent } from 'preact'
import { after } from './browser.ts'
import { PAGES, type PageName, type PageProps } from './route.ts'
import { Signal } from './signal.ts'

type Page = FunctionComponent<PageProps>
/** A page, or the error of its loading. */
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

/** Delay after the first page, which has requests of its own. */
const OTHERS_MS = 2_000

/** Loaded and failed pages. */
export const loadedPages = new Signal<ReadonlyMap<PageName, Loaded>>(new Map())
const loading = new Set<PageName>()

/** Loads a page, unless it is loaded or loading. A failed page is loaded again. */
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

/** Loads the other pages one by one after a delay. */
export function loadOthersLater(): void {
  after(OTHERS_MS, async () => {
    for (const name of PAGES) await loadPage(name)
  })
}
