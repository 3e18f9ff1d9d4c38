// The frame of all pages: title, navigation, connection state and logout. Visitors without a session see the
// login page.

import type { FunctionComponent } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useRef } from 'preact/hooks'
import { nowMs, setTitle } from './browser.ts'
import { zoneText } from './format.ts'
import { html } from './html.ts'
import { loadedPages, loadPage } from './page-loader.ts'
import { LogInOrSignUpPage } from './pages/log-in-or-sign-up.ts'
import { ConnectionLine } from './parts/connection-line.ts'
import { useAction } from './parts/forms/action.ts'
import { protocols, useVenues } from './parts/lists/venues.ts'
import { Empty, Failure, Waiting } from './parts/states.ts'
import { currentRoute, hrefOf, type PageName, type PageProps, type PageRoute } from './route.ts'
import { logOut, refreshSession, type SessionState, session } from './session.ts'
import { useSignal } from './signal.ts'

const LINKS: readonly (readonly [page: PageName, name: string])[] = [
  ['opportunities', 'Opportunities'],
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
  const where = useSignal(currentRoute)
  const who = useSignal(session)
  // Rerenders when the venues' display names change.
  useSignal(protocols)
  useVenues()
  const main = useRef<HTMLElement>(null)
  const isIn = who.kind === 'in'
  const leaving = useAction()
  const isFirst = useRef(true)
  useEffect(() => {
    setTitle(titleOf(where))
    // The first page starts at the top, where the skip link is.
    if (!isFirst.current) {
      // Later pages scroll to the top and move the focus to the content, for screen readers.
      scrollTo(0, 0)
      main.current?.focus({ preventScroll: true })
    }
    isFirst.current = who.kind === 'asking'
  }, [where.page, where.subject, who.kind])
  // The status page needs no session.
  const isOpen = isIn || where.page === 'status'
  return html`
    <a class="skip" href="#main" onClick=${skipTo(main)}>Skip to the page</a>
    <div class="head"><header class="top">
      <a class="name" href=${hrefOf('opportunities')}>Twinbook</a>
      <nav aria-label="Pages">
        ${LINKS.filter(([name]) => isIn || name === 'status').map(
          ([name, text]) => html`<a
            href=${hrefOf(name)}
            aria-current=${currentOf(name, where)}
          >${text}</a>`,
        )}
      </nav>
      ${
        isIn
          ? html`<button
            type="button" class="quiet" aria-disabled=${leaving.isRunning} onClick=${() => leaving.run(() => logOut())}
          >Log out</button>`
          : isOpen
            ? html`<a class="button" href=${hrefOf('opportunities')}>Log in</a>`
            : null
      }
    </header>
    ${isIn && leaving.error !== null ? html`<${Failure} error=${leaving.error} />` : null}
    ${isIn ? html`<${ConnectionLine} />` : null}</div>
    <main ref=${main} tabindex="-1" id="main" data-page=${isOpen ? where.page : 'welcome'}>
      ${isOpen ? shown(where) : closed(who)}
    </main>
    <footer>
      <a href="docs">API</a> <a href="docs#stream">Stream</a>
      <span>Time zone: ${zoneText(nowMs())}</span>
      <span>Charts by <a href="https://www.tradingview.com/" rel="noopener noreferrer">TradingView</a></span>
    </footer>
  `
}

/** Content while the visitor is not logged in or the session is not yet known. */
function closed(who: SessionState) {
  if (who.kind === 'out')
    return html`<${LogInOrSignUpPage} ending=${who.ending} isLocalOffered=${who.isLocalOffered} />`
  const error = who.kind === 'asking' ? who.error : null
  return error === null
    ? html`<${Waiting} what="your session" />`
    : html`<h1>Twinbook</h1><${Failure} error=${error} retry=${refreshSession} />`
}

function shown(where: PageRoute) {
  if (where.page === 'unknown') return html`<h1>No such page</h1><${Empty}>Choose one above.<//>`
  // The key discards the state of the previous page when the subject changes.
  return html`<${Loaded} key=${`${where.page}/${where.subject}`} name=${where.page} route=${where} />`
}

interface LoadedProps extends PageProps {
  readonly name: PageName
}

function Loaded({ name, route: where }: LoadedProps) {
  const loaded = useSignal(loadedPages).get(name) ?? null
  useLayoutEffect(() => void loadPage(name), [name])
  if (loaded === null) return html`<${Waiting} what="the page" />`
  if (loaded.kind === 'page') return html`<${Guarded} page=${loaded.page} route=${where} />`
  return html`<h1>${titleOf(where)}</h1><${Failure} error=${loaded.error} retry=${() => loadPage(name)} />
    <p>If the server was replaced by a newer one meanwhile, reload the page.</p>`
}

interface GuardedProps extends PageProps {
  readonly page: FunctionComponent<PageProps>
}

/** Catches a page's errors, so that the frame and navigation keep working. */
function Guarded({ page, route: where }: GuardedProps) {
  const [error, retry] = useErrorBoundary()
  if (error !== undefined)
    return html`<h1>${titleOf(where)}</h1><${Failure} error=${error} retry=${retry} />`
  return html`<${page} route=${where} />`
}

/** A single market counts as part of `markets`. */
function currentOf(name: PageName, { page }: PageRoute): 'page' | 'true' | null {
  if (name === page) return 'page'
  return name === 'markets' && page === 'market' ? 'true' : null
}

function titleOf({ page }: PageRoute): string {
  const name = page === 'market' ? 'Market' : LINKS.find(([link]) => link === page)?.[1]
  return name === undefined ? 'Twinbook' : `${name} – Twinbook`
}

const skipTo = (target: { readonly current: HTMLElement | null }) => (event: Event) => {
  event.preventDefault()
  target.current?.focus()
}
