import type { FunctionComponent } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { after, monotonicMs, nowMs, setTitle } from './browser.ts'
import { capital, durationText, zoneText } from './format.ts'
import { html } from './html.ts'
import { PAGES, type PageName } from './page-names.ts'
import { LogInOrSignUpPage } from './pages/log-in-or-sign-up.ts'
import { useTick } from './parts/figures.ts'
import { typed, useAction } from './parts/forms.ts'
import { Empty, Failure, onReconnect, Waiting } from './parts/states.ts'
import { dataSource, protocols, useVenues, venueText } from './parts/venues.ts'
import { currentRoute, hrefOf, type PageProps, type PageRoute } from './route.ts'
import { logOut, refreshSession, type SessionState, session } from './session.ts'
import { Signal, useSignal } from './signal.ts'
import { feeds, POLL_MS, type StreamState, streamState } from './stream.ts'
import { chooseTheme, currentTheme, THEMES } from './theme.ts'

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
  useSignal(protocols)
  useVenues()
  const main = useRef<HTMLElement>(null)
  const isIn = who.kind === 'in'
  const leaving = useAction()
  const isFirst = useRef(true)
  useEffect(() => {
    setTitle(titleOf(where))
    // The first page does not move the focus, so that the skip link stays the first Tab stop.
    if (!isFirst.current) {
      // Later pages move the focus to their content, so that screen readers announce it.
      scrollTo(0, 0)
      main.current?.focus({ preventScroll: true })
    }
    isFirst.current = who.kind === 'asking'
  }, [where.page, where.subject, who.kind])
  const isOpen = isIn || where.page === 'status'
  return html`
    <a class="skip" href="#main" onClick=${skipTo(main)}>Skip to the page</a>
    <div class="head"><header class="top">
      <a class="name" href=${hrefOf('opportunities')}>Twinbook</a>
      <${Navigation} where=${where} isIn=${isIn} />
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
    <${DataSourceBadge} />
    ${isIn ? html`<${Failure} error=${leaving.error} />` : null}
    ${isIn ? html`<${ConnectionLine} />` : null}</div>
    <main ref=${main} tabindex="-1" id="main" data-page=${isOpen ? where.page : 'welcome'}>
      ${isOpen ? shown(where) : closed(who)}
    </main>
    <footer>
      <a href="docs">API</a> <a href="docs#stream">Stream</a>
      <span>Time zone: ${zoneText(nowMs())}</span>
      <${ThemeField} />
      <span>Charts by <a href="https://www.tradingview.com/" rel="noopener noreferrer">TradingView</a></span>
    </footer>
  `
}

function ThemeField() {
  const theme = useSignal(currentTheme)
  const choose = (event: Event) => {
    const chosen = THEMES.find((one) => one === typed(event))
    if (chosen !== undefined) chooseTheme(chosen)
  }
  return html`<label class="theme">Theme <select value=${theme} onChange=${choose}>
    ${THEMES.map((one) => html`<option key=${one} value=${one} selected=${one === theme}>${capital(one)}</option>`)}
  </select></label>`
}

interface NavigationProps {
  readonly where: PageRoute
  readonly isIn: boolean
}

/** Phones show the links after a press of the menu's button. A link, Escape and the button close the menu. */
function Navigation({ where, isIn }: NavigationProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => setOpen(false), [where.page, where.subject])
  const closeOnEscape = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isOpen) return
    setOpen(false)
    button.current?.focus()
  }
  return html`<nav aria-label="Pages" data-open=${isOpen} onKeyDown=${closeOnEscape}>
    <button
      ref=${button} type="button" class="quiet menu" aria-expanded=${isOpen} aria-controls="pages"
      onClick=${() => setOpen(!isOpen)}
    >Menu</button>
    <div id="pages" class="pages" onClick=${() => setOpen(false)}>
      ${LINKS.filter(([name]) => isIn || name === 'status').map(
        ([name, text]) => html`<a
          href=${hrefOf(name)}
          aria-current=${currentOf(name, where)}
        >${text}</a>`,
      )}
    </div>
  </nav>`
}

const DATA_SOURCE_TEXTS = {
  simulated: [
    'Simulated data',
    html`Markets, prices, trades and wallets are invented. Restart the service with <code>VENUES=live</code> and another
      <code>DATA_DIR</code> for the data of both venues.`,
  ],
  replay: [
    'Replayed data',
    html`The service replays a recording. Restart it with <code>VENUES=live</code> for current data.`,
  ],
} as const

function DataSourceBadge() {
  const data = useSignal(dataSource)
  if (data === null || data === 'live') return null
  const [name, text] = DATA_SOURCE_TEXTS[data]
  return html`<details class="data-source" data-source=${data}>
    <summary><span class="tag wait">${name}</span></summary>
    <p>${text}</p>
  </details>`
}

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
  // The key changes with the subject, so that the previous subject's state is dropped.
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

/** Shows a page's error inside the layout, so that the navigation stays usable. */
function Guarded({ page, route: where }: GuardedProps) {
  const [error, retry] = useErrorBoundary()
  if (error !== undefined)
    return html`<h1>${titleOf(where)}</h1><${Failure} error=${error} retry=${retry} />`
  return html`<${page} route=${where} />`
}

function currentOf(name: PageName, { page }: PageRoute): 'page' | 'true' | null {
  if (name === page) return 'page'
  if (name === 'opportunities' && page === 'past') return 'true'
  return name === 'markets' && (page === 'market' || page === 'event') ? 'true' : null
}

const OTHER_TITLES: ReadonlyMap<PageRoute['page'], string> = new Map([
  ['market', 'Market'],
  ['event', 'Event'],
  ['past', 'Past opportunities'],
])

function titleOf({ page }: PageRoute): string {
  const name = OTHER_TITLES.get(page) ?? LINKS.find(([link]) => link === page)?.[1]
  return name === undefined ? 'Twinbook' : `${name} – Twinbook`
}

const skipTo = (target: { readonly current: HTMLElement | null }) => (event: Event) => {
  event.preventDefault()
  target.current?.focus()
}

// The other pages load soon after the first page. An upgrade of the server therefore cannot mix module versions in a
// tab.

type Page = FunctionComponent<PageProps>
type LoadedPage =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'failed'; readonly error: unknown }

const LOADERS: Readonly<Record<PageName, () => Promise<Page>>> = {
  opportunities: async () => (await import('./pages/opportunities.ts')).OpportunitiesPage,
  past: async () => (await import('./pages/past.ts')).PastPage,
  markets: async () => (await import('./pages/markets.ts')).MarketsPage,
  market: async () => (await import('./pages/market.ts')).MarketPage,
  event: async () => (await import('./pages/event.ts')).EventPage,
  matches: async () => (await import('./pages/matches.ts')).MatchesPage,
  sports: async () => (await import('./pages/sports.ts')).SportsPage,
  whales: async () => (await import('./pages/whales.ts')).WhalesPage,
  wallet: async () => (await import('./pages/wallet.ts')).WalletPage,
  status: async () => (await import('./pages/status.ts')).StatusPage,
  account: async () => (await import('./pages/account.ts')).AccountPage,
  webhooks: async () => (await import('./pages/webhooks.ts')).WebhooksPage,
}

/** Delay before the other pages load, so that they do not delay the first page. */
const OTHERS_MS = 2_000

const loadedPages = new Signal<ReadonlyMap<PageName, LoadedPage>>(new Map())
const loading = new Set<PageName>()

export async function loadPage(name: PageName): Promise<void> {
  if (loading.has(name) || loadedPages.value.get(name)?.kind === 'page') return
  loading.add(name)
  const loaded = await LOADERS[name]().then(
    (page): LoadedPage => ({ kind: 'page', page }),
    (error: unknown): LoadedPage => ({ kind: 'failed', error: loadError(error) }),
  )
  loading.delete(name)
  loadedPages.set(new Map([...loadedPages.value, [name, loaded]]))
}

/** Browsers report a failed import by a TypeError that names the file. */
function loadError(error: unknown): unknown {
  if (!(error instanceof TypeError && /import/i.test(error.message))) return error
  return new ApiError(
    0,
    'This page could not be loaded. Twinbook loads it when the connection is back.',
  )
}

/** Also loads pages again that failed, once the connection is back. */
export function loadOthersLater(): void {
  const load = async () => {
    for (const name of PAGES) await loadPage(name)
  }
  after(OTHERS_MS, load)
  onReconnect(load)
}

function ConnectionLine() {
  const state = useSignal(streamState)
  const venues = useSignal(feeds)
  const troubled = [...venues].filter(([, feed]) => feed.state !== 'live')
  const text = statusText(state)
  return html`<div class="connection" role="status" aria-live="polite" data-state=${state.state}>
    ${text === null ? null : html`<p class=${`line ${state.state}`}>${text} <${Countdown} untilMs=${state.retryAtMs} /></p>`}
    ${troubled.map(
      ([name, feed]) => html`<p class="line stale" key=${name}>
        ${feed.state === 'down' ? `${venueText(name)} cannot be reached` : `No new data from ${venueText(name)}`}: its data may be outdated.
      </p>`,
    )}
  </div>`
}

function Countdown({ untilMs }: { readonly untilMs: number | null }) {
  useTick(untilMs === null ? null : 500)
  if (untilMs === null) return null
  const seconds = Math.ceil(Math.max(0, untilMs - monotonicMs()) / 1_000)
  return html`<span aria-hidden="true">Next try in ${durationText(seconds * 1_000)}.</span>`
}

/** Text by the stream's close reason. Reasons without an entry have no text. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^no ticket/, 'the server does not answer'],
  [/status 429|in use|connection limit/, 'all connections of this account may be in use'],
  [/^silent/, 'the server stopped answering'],
  [/shutting down|going away|status 503/, 'the server is restarting'],
  [/status 40[13]|revoked|session/, 'the session has ended'],
]

function whyOf(reason: string): string {
  const text = REASONS.find(([pattern]) => pattern.test(reason))?.[1]
  return text === undefined ? '' : ` (${text})`
}

/** Null if there is no problem to show. */
function statusText({ state, reason, isLost }: StreamState): string | null {
  const why = whyOf(reason)
  switch (state) {
    case 'off':
    case 'resting':
    case 'live':
      return null
    case 'offline':
      return 'This browser is offline: the data is not live.'
    case 'late':
      return 'No messages from the server for some seconds: the data may be outdated.'
    case 'polling':
      return `No live stream${why}: the data is polled every ${durationText(POLL_MS)}.`
    case 'connecting':
      // The first connection is usually immediate. A line that appears and disappears would move the page.
      return isLost ? 'Connection lost: reconnecting…' : null
    case 'catching_up':
      return isLost ? 'Reconnected: loading missed messages…' : null
    case 'waiting':
      return `Connection lost${why}: the data is not live.`
    case 'closed':
      return `The stream was closed permanently${why}: reload the page or log in again.`
  }
}
