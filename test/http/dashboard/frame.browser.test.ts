import assert from 'node:assert/strict'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'

let dashboard: FakeDashboard
before(async () => {
  dashboard = await openFakeDashboard()
  dashboard.server.engine.add('framed')
})
after(() => dashboard.close())

test('stores the session in an HttpOnly cookie and nowhere else, and logs all tabs in and out together', async () => {
  const page = await dashboard.open('#/account', { token: null })
  const context = page.context()
  const held = (of = page) =>
    of.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie, location.href])
  const addresses: string[] = []
  context.on('request', (request) => addresses.push(request.url()))
  await page.getByLabel('Email').fill('ann@example.com')
  await page.getByLabel('Password', { exact: true }).fill('long enough')
  const other = await context.newPage()
  await other.goto(page.url())
  await other.getByRole('tab', { name: 'Log in' }).waitFor()
  await page.locator('form').getByRole('button', { name: 'Log in' }).click()
  for (const one of [page, other]) await one.getByRole('button', { name: 'Log out' }).waitFor()
  const [cookie] = await context.cookies()
  assert.deepEqual(
    [cookie?.value, cookie?.httpOnly, cookie?.sameSite, cookie?.secure],
    ['ann-token', true, 'Strict', false],
  )
  const third = await context.newPage()
  await third.goto(`${dashboard.server.origin}/dashboard#/status`)
  await third.locator('[data-figure=Stream]', { hasText: 'live' }).waitFor()
  for (const one of [page, other, third]) {
    const [session, local, cookies, href] = await held(one)
    assert.deepEqual([session, local, cookies], [0, 0, ''])
    assert.doesNotMatch(String(href), /token/)
  }
  assert.ok(addresses.length > 0 && addresses.every((url) => !url.includes('ann-token')))
  await page.getByRole('button', { name: 'Log out' }).click()
  for (const one of [page, other, third]) {
    await one.getByRole('button', { name: 'Log out' }).waitFor({ state: 'detached' })
  }
  assert.deepEqual(await context.cookies(), [])
})

test('renders once per animation frame when a signal changes a thousand times', async () => {
  const page = await dashboard.open('#/status')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const renderedValues = await page.evaluate(async () => {
    const addressOf = (name: string) =>
      [...document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]')].find((link) =>
        new RegExp(`/dashboard/${name}-[0-9a-f]{12}\\.js$`).test(link.href),
      )?.href ?? ''
    const { Signal, useSignal } = await import(addressOf('signal'))
    const { html } = await import(addressOf('html'))
    const { render } = await import(addressOf('preact'))
    const picture = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    const value = new Signal(0)
    const drawn: number[] = []
    const Part = () => {
      const now = useSignal(value)
      drawn.push(now)
      return html`<i>${now}</i>`
    }
    const container = document.createElement('div')
    document.body.append(container)
    render(html`<${Part} />`, container)
    // Changes the value after the render and before the subscription.
    value.set(1)
    for (let picture = 0; picture < 3; picture += 1) await nextTwo()
    for (let round = 1; round <= 3; round += 1) {
      for (let count = 0; count < 1_000; count += 1) value.set(round * 1_000 + count)
      await nextTwo()
    }
    render(null, container)
    await nextTwo()
    value.set(9)
    await nextTwo()
    return drawn
    async function nextTwo() {
      await picture()
      await picture()
    }
  })
  assert.deepEqual(renderedValues, [0, 1, 1_999, 2_999, 3_999])
})

test('shows a notice for stale venue feeds and for refused connections, and in no other state', async () => {
  const { engine } = dashboard.server
  const page = await dashboard.open('#/status')
  const line = page.locator('.connection')
  await page.locator('.connection[data-state=live]').waitFor({ state: 'attached' })
  await page.waitForFunction(
    () => document.querySelector('.connection')?.textContent?.trim() === '',
  )
  const notify = (state: 'live' | 'stale' | 'down') =>
    engine.publisher.publish({
      ...{ kind: 'status', venue: 'b', platform: 'venue_b', state, lagMs: 9, delayMs: 1 },
      completeToMs: null,
      tradesSource: null,
      reason: null,
      staleBooks: 0,
    })
  notify('stale')
  await line.getByText('No new data from Kalshi').waitFor()
  notify('down')
  await line.getByText('Kalshi cannot be reached').waitFor()
  notify('live')
  await line.locator('.line').waitFor({ state: 'detached' })
  // Browsers hide why a connection was refused, so the page sends a REST request to find out.
  engine.accounts.make('full', { requestsPerMinute: 1_000, socketsMax: 0 })
  const other = await dashboard.open('#/status', {
    token: 'full-token',
    expected: [/WebSocket connection to/],
  })
  await other.getByText('all connections of this account may be in use').waitFor()
})

test('opens the page of the URL after links, back, forward and unknown paths', async () => {
  const page = await dashboard.open('#/status')
  const current = () => page.locator('nav [aria-current=page]').innerText()
  await page.getByRole('link', { name: 'Matches' }).click()
  await page.waitForURL(/#\/matches$/)
  await page.waitForFunction(() => document.title === 'Matches – Twinbook')
  assert.equal(await current(), 'Matches')
  await page.goBack()
  await page.locator('nav [aria-current=page]:text("Status")').waitFor()
  await page.goForward()
  await page.locator('nav [aria-current=page]:text("Matches")').waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/nothing/here`)
  await page.getByRole('heading', { name: 'No such page' }).waitFor()
  assert.equal(await page.locator('nav [aria-current]').count(), 0)
  await page.goto(`${dashboard.server.origin}/dashboard#`)
  await page.locator('nav [aria-current=page]:text("Opportunities")').waitFor()
})

test('applies the chosen theme before any module runs, in all tabs, and follows the system again', async () => {
  const page = await dashboard.open('#/status')
  const paper = (of = page) =>
    of.evaluate(() => getComputedStyle(document.body).getPropertyValue('background-color'))
  const isPaper = (of: typeof page, color: string) =>
    of.waitForFunction(
      (wanted) => getComputedStyle(document.body).backgroundColor === wanted,
      color,
    )
  const light = await paper()
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await paper()
  assert.notEqual(dark, light)
  await page.emulateMedia({ colorScheme: 'light' })
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByLabel('Theme').waitFor()
  await page.getByLabel('Theme').selectOption('dark')
  for (const one of [page, other]) await isPaper(one, dark)
  assert.equal(await other.getByLabel('Theme').inputValue(), 'dark')
  // Without its modules, the page shows only what the server sent and the first script set.
  const third = await page.context().newPage()
  await third.route(/\/dashboard\/main-/, () => undefined)
  await third.goto(page.url(), { waitUntil: 'commit' })
  await third.getByText('Loading…').waitFor()
  assert.equal(await paper(third), dark)
  await page.emulateMedia({ media: 'print' })
  await isPaper(page, 'rgb(255, 255, 255)')
  assert.equal(await page.getByRole('navigation').isVisible(), false)
  await page.emulateMedia({ media: 'screen' })
  await page.getByLabel('Theme').selectOption('system')
  for (const one of [page, other]) await isPaper(one, light)
  assert.equal(await page.evaluate(() => localStorage.length), 0)
})

/** Milliseconds until the first text and until the largest content. */
async function paintMs(): Promise<readonly [text: number, page: number]> {
  const page = await dashboard.open('#/status')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const paints = await page.evaluate(async () => {
    const [first] = performance.getEntriesByName('first-contentful-paint')
    const largest = await new Promise<number>((done) => {
      const observer = new PerformanceObserver((list) =>
        done(list.getEntries().at(-1)?.startTime ?? Number.NaN),
      )
      observer.observe({ type: 'largest-contentful-paint', buffered: true })
    })
    return [first?.startTime ?? Number.NaN, largest] as const
  })
  await page.context().close()
  return paints
}

test('renders the first view within a second in the median of five page loads', async (t) => {
  const middle = (values: readonly number[]) =>
    [...values].sort((one, other) => one - other)[2] ?? Number.NaN
  let medianMs = Number.NaN
  // Background load can only increase times, so a single median below the limit suffices.
  for (let tries = 0; tries < 3 && !(medianMs < 1_000); tries += 1) {
    const paints = []
    for (let round = 0; round < 5; round += 1) paints.push(await paintMs())
    medianMs = middle(paints.map(([, page]) => page))
    const textMs = middle(paints.map(([text]) => text))
    t.diagnostic(`first text after ${textMs.toFixed(0)} ms, page after ${medianMs.toFixed(0)} ms`)
  }
  // A short run does not check the time, because other tests use the machine.
  const isLong = process.env.TEST_LONG === '1'
  assert.ok(isLong ? medianMs < 1_000 : medianMs > 0, `${medianMs} ms`)
})

/** Directives of the Content-Security-Policy that must block the injected content. */
const REFUSING = ['connect-src', 'img-src', 'require-trusted-types-for', 'style-src-attr']

test('blocks injected scripts, resources and markup by the content security policy', async () => {
  const page = await dashboard.open('#/status', {
    expected: [/refused by the policy/, /Content Security Policy|Trusted(?:HTML|Script| Type)/],
  })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const refused = await page.evaluate(async (directives) => {
    const refusals: string[] = []
    addEventListener('securitypolicyviolation', (event) => refusals.push(event.effectiveDirective))
    const script = document.createElement('script')
    let markup = 'taken'
    try {
      script.text = 'window.smuggled = 1'
      document.body.append(script)
    } catch {
      refusals.push('script text')
    }
    try {
      document.body.insertAdjacentHTML('beforeend', '<b>smuggled</b>')
    } catch {
      markup = 'refused'
    }
    const image = new Image()
    image.src = 'https://elsewhere.invalid/pixel.png'
    await fetch('https://elsewhere.invalid/').catch(() => undefined)
    const line = document.createElement('p')
    line.setAttribute('style', 'color: red')
    document.body.append(line)
    // The browser reports each violation in a separate task.
    while (!directives.every((directive) => refusals.includes(directive))) {
      await new Promise((done) => setTimeout(done, 10))
    }
    return {
      markup,
      ran: Reflect.get(window, 'smuggled') ?? null,
    }
  }, REFUSING)
  assert.deepEqual(refused, { markup: 'refused', ran: null })
})

test('supports the keyboard with a skip link and visible focus, and scrolls each new page to its top', async () => {
  const page = await dashboard.open('#/status')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const focused = () =>
    page.evaluate(() => {
      const at = document.activeElement
      return at === null ? '' : `${at.localName} ${at.id || (at.textContent ?? '').trim()}`
    })
  await page.keyboard.press('Tab')
  assert.equal(await focused(), 'a Skip to the page')
  const skip = await page.locator('.skip').boundingBox()
  assert.ok(skip !== null && skip.y >= 0, 'visible while it has the focus')
  await page.keyboard.press('Enter')
  assert.equal(await focused(), 'main main')
  assert.match(page.url(), /#\/status$/)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  assert.equal(await focused(), 'a Account')
  const outline = await page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body)
    return `${outlineStyle} ${outlineWidth}`
  })
  assert.equal(outline, 'solid 2px')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#\/account$/)
  await page.waitForFunction(() => document.activeElement?.id === 'main')
})

test('fits the page header on one line on a tablet and on a phone, which shows the pages as a menu', async () => {
  const page = await dashboard.open('#/account', { width: 768, height: 844 })
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  /** Number of lines of the header, and parts of the header outside of the window. */
  const lines = () =>
    page.evaluate(() => {
      const parts = [...document.querySelectorAll('.top :is(.name, nav a, button)')]
        .map((part) => ({ text: part.textContent, box: part.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0)
      const isOut = ({ left, right }: DOMRect) => left < 0 || right > innerWidth
      return {
        count: new Set(parts.map(({ box }) => Math.round(box.bottom))).size,
        out: parts.filter(({ box }) => isOut(box)).map(({ text }) => text),
        parts: parts.length,
      }
    })
  assert.deepEqual(await lines(), { count: 1, out: [], parts: 11 })
  await page.setViewportSize({ width: 390, height: 844 })
  assert.deepEqual(await lines(), { count: 1, out: [], parts: 3 })
  const menu = page.getByRole('button', { name: 'Menu' })
  const matches = page.getByRole('link', { name: 'Matches' })
  await menu.click()
  assert.equal(await menu.getAttribute('aria-expanded'), 'true')
  await matches.focus()
  await page.keyboard.press('Escape')
  await matches.waitFor({ state: 'hidden' })
  assert.equal(await menu.evaluate((button) => button === document.activeElement), true)
  await page.keyboard.press('Enter')
  await matches.click()
  await page.getByRole('heading', { level: 1, name: 'Matches' }).waitFor()
  await matches.waitFor({ state: 'hidden' })
})

test('shows an error inside the layout when a page fails to load, and loads the page on retry', async () => {
  const page = await dashboard.open('#/status', { expected: [/ERR_FAILED/] })
  await page.route(/\/dashboard\/pages-matches-/, (request) => request.abort())
  // For two seconds after a reload, the tab has not loaded modules of other pages.
  await page.reload()
  await page.getByRole('link', { name: 'Matches' }).click()
  await page.getByText('This page could not be loaded.').waitFor()
  assert.equal(await page.locator('nav [aria-current=page]').innerText(), 'Matches')
  await page.unroute(/\/dashboard\/pages-matches-/)
  // The page may load itself meanwhile, which removes the button, so the click does not wait.
  await page.getByRole('button', { name: 'Try again' }).dispatchEvent('click')
  await page.getByText('This page could not be loaded.').waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1, name: 'Matches' }).waitFor()
  await page.getByRole('link', { name: 'Status' }).click()
  await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor()
})

test('loads a page that failed to load when the browser is online again', async () => {
  const expected = [/ERR_INTERNET_DISCONNECTED/, /ERR_FAILED/]
  const page = await dashboard.open('#/status', { expected })
  // Two seconds after a reload, the tab loads the modules of other pages.
  await page.route(/\/dashboard\/pages-matches-/, (request) => request.abort())
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Matches' }).click()
  await page.getByText('No connection.').waitFor()
  await page.getByText('Twinbook loads it when the connection is back.').waitFor()
  await page.unroute(/\/dashboard\/pages-matches-/)
  await page.context().setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Matches' }).waitFor()
  await page.getByText('No connection.').waitFor({ state: 'detached' })
})

test('shows the layout and the navigation when a page throws', async () => {
  const page = await dashboard.open('#/matches')
  await page.getByRole('heading', { level: 1, name: 'Matches' }).waitFor()
  await page.route('**/health', (request) => request.fulfill({ json: { status: null } }))
  await page.getByRole('link', { name: 'Status' }).click()
  await page.getByText('This page failed.').waitFor()
  await page.getByRole('link', { name: 'Account' }).click()
  await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
})

test('explains Twinbook and shows the state of both venues to a logged-out visitor', async () => {
  const page = await dashboard.open('', { token: null })
  const figure = (name: string) => page.locator(`.welcome [data-figure="${name}"] dd`)
  const { body } = await dashboard.server.get('/health')
  const { exchanges } = body
  assert.ok(typeof exchanges === 'object' && exchanges !== null)
  const names = { venue_a: 'Polymarket (venue_a)', venue_b: 'Kalshi (venue_b)' }
  for (const [venue, isLive] of Object.entries(exchanges)) {
    const name = Object.entries(names).find(([id]) => id === venue)?.[1] ?? venue
    await figure(name)
      .getByText(isLive ? 'Live' : 'Connecting', { exact: true })
      .waitFor()
  }
  // The illustration contains no prices.
  const picture = page.getByRole('img', { name: /^A drawing: the order books of one question/ })
  assert.doesNotMatch((await picture.textContent()) ?? '', /\d/)
  await page
    .getByRole('button', { name: 'Sign up' })
    .or(page.getByRole('tab', { name: 'Sign up' }))
    .first()
    .waitFor()
})

test('shows permanently that the data is simulated, with the way to live data, and links no venue', async (t) => {
  const { engine } = dashboard.server
  engine.data = 'simulated'
  t.after(() => {
    engine.data = 'live'
  })
  const market = engine.add('invented')
  market.summary = { ...market.summary, url: 'https://example.com/invented' }
  const page = await dashboard.open('#/markets', { token: null })
  const badge = page.locator('[data-source=simulated]')
  await badge.getByText('Simulated data').waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/status`)
  await badge.getByText('Simulated data').click()
  await badge.getByText('VENUES=live').waitFor()
  const own = await dashboard.open(`#/market/${encodeURIComponent(market.ref.id)}`)
  await own.locator('.market-title').getByText('Polymarket').waitFor()
  await own.locator('[data-source=simulated]').waitFor()
  assert.equal(await own.locator('main a[target=_blank]').count(), 0)
})

test('keeps the browser’s spell checker away from email and password fields', async () => {
  const page = await dashboard.open('#/account', { token: null })
  for (const entry of ['Log in', 'Sign up']) {
    await page.getByRole('tab', { name: entry }).click()
    for (const label of ['Email', 'Password']) {
      const field = page.getByLabel(label, { exact: true })
      assert.equal(await field.getAttribute('spellcheck'), 'false', label)
    }
  }
  const own = await dashboard.open('#/account')
  await own.getByRole('button', { name: 'Delete account' }).click()
  for (const label of ['Current password', 'New password', 'Your password'])
    assert.equal(await own.getByLabel(label).getAttribute('spellcheck'), 'false', label)
})
