// The frame around every page: its name, where one can go, how the connection is, and who is logged in; then the page
// that the address names. Whoever is not logged in sees what this is and the forms of the account.
// Not for: what is on a page (pages/). Upholds DASH6, DASH7.

import type { FunctionComponent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from './html.ts'
import { AccountPage } from './pages/account.ts'
import { MarketPage } from './pages/market.ts'
import { MarketsPage } from './pages/markets.ts'
import { MatchesPage } from './pages/matches.ts'
import type { PageProps } from './pages/page-props.ts'
import { SportsPage } from './pages/sports.ts'
import { StatusPage } from './pages/status.ts'
import { WalletPage } from './pages/wallet.ts'
import { WebhooksPage } from './pages/webhooks.ts'
import { WelcomePage } from './pages/welcome.ts'
import { WhalesPage } from './pages/whales.ts'
import { ConnectionLine } from './parts/connection-line.ts'
import { Empty } from './parts/states.ts'
import { hrefOf, type PageName, type Place, place } from './route.ts'
import { logOut, session } from './session.ts'
import { useSignal } from './signal.ts'

const PAGES: Readonly<Record<PageName, FunctionComponent<PageProps>>> = {
  markets: MarketsPage,
  market: MarketPage,
  matches: MatchesPage,
  sports: SportsPage,
  whales: WhalesPage,
  wallet: WalletPage,
  status: StatusPage,
  account: AccountPage,
  webhooks: WebhooksPage,
}

const LINKS: readonly (readonly [page: PageName, name: string])[] = [
  ['markets', 'Markets'],
  ['matches', 'Matches'],
  ['sports', 'Sports'],
  ['whales', 'Whales'],
  ['wallet', 'Wallets'],
  ['status', 'Status'],
  ['webhooks', 'Webhooks'],
  ['account', 'Account'],
]

export function App() {
  const where = useSignal(place)
  const who = useSignal(session)
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    // A new page is read from its beginning, by eye and by screen reader.
    scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [where.page, where.subject])
  const isIn = who.kind === 'in'
  // The status of the service is for everybody.
  const isOpen = isIn || where.page === 'status'
  const page = where.page === 'unknown' ? null : PAGES[where.page]
  return html`
    <a class="skip" href="#main" onClick=${skipTo(main)}>Skip to the page</a>
    <header class="top">
      <a class="name" href=${hrefOf('markets')}>Twinbook</a>
      <nav aria-label="Pages">
        ${LINKS.map(
          ([name, text]) => html`<a
            href=${hrefOf(name)}
            aria-current=${name === where.page ? 'page' : null}
          >${text}</a>`,
        )}
      </nav>
      ${isIn ? html`<button type="button" class="quiet" onClick=${logOut}>Log out</button>` : null}
    </header>
    ${isIn ? html`<${ConnectionLine} />` : null}
    <main ref=${main} tabindex="-1" id="main">
      ${isOpen ? shown(page, where) : html`<${WelcomePage} ending=${who.kind === 'out' ? who.ending : 'never'} />`}
    </main>
    <footer>
      <a href="docs">API</a> <a href="asyncapi.json">Stream</a>
      <span>Charts by <a href="https://www.tradingview.com/" rel="noopener noreferrer">TradingView</a></span>
    </footer>
  `
}

function shown(page: FunctionComponent<PageProps> | null, where: Place) {
  if (page === null) return html`<h1>No such page</h1><${Empty}>Choose one above.<//>`
  // A page of another subject is another page: nothing of the last one is left in it.
  return html`<${page} key=${`${where.page}/${where.subject}`} place=${where} />`
}

const skipTo = (target: { readonly current: HTMLElement | null }) => (event: Event) => {
  event.preventDefault()
  target.current?.focus()
}
