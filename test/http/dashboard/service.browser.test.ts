import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { allProblems } from '../../support/browser/accessibility.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import {
  openRealDashboard,
  pagesWithContent,
  type RealDashboard,
} from '../../support/browser/dashboard.ts'

let dashboard: RealDashboard
before(async () => {
  dashboard = await openRealDashboard()
})
after(() => dashboard.close())

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash
  }, address)
  const name = address === '#/nowhere' ? 'unknown' : (/\w+/.exec(address)?.[0] ?? '')
  await settled(page, name)
}

async function settled(page: Page, name: string): Promise<void> {
  await page.locator(`main[data-page="${name}"] h1`).waitFor()
  await page.waitForFunction(() => document.querySelector('.state.waiting') === null)
}

/** Number of pixels by which the page is wider than the window. */
const overhang = (page: Page) =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth))

test('passes axe-core on every page in light and dark mode, and fits phone, tablet and desktop', async (t) => {
  const token = await dashboard.signUp('reader@example.com')
  const page = await dashboard.open('#/markets', { token })
  const found: string[] = []
  const check = async (name: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const problems = await allProblems(page)
      found.push(...problems.map((problem) => `${name} ${colorScheme}: ${problem}`))
    }
    for (const width of [390, 768, 1_280]) {
      await page.setViewportSize({ width, height: 844 })
      const pixels = await overhang(page)
      if (pixels > 0) found.push(`${name} is ${pixels} pixels wider than a window of ${width}`)
    }
  }
  for (const address of await pagesWithContent(dashboard)) {
    await visit(page, address)
    const headings = await page.locator('h1').count()
    if (headings !== 1) found.push(`${address} has ${headings} headings of the first order`)
    await check(address)
    t.diagnostic(`${address}: ${found.length} problems so far`)
  }
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor({ state: 'detached' })
  await settled(page, 'welcome')
  await check('logged out')
  assert.deepEqual(found, [])
  // The check must find this fault.
  await page.evaluate(() => {
    const button = document.createElement('button')
    document.querySelector('main')?.append(button)
  })
  assert.match((await allProblems(page)).join(), /critical \| button-name/)
})

/** Layout and drawing are complete after two frames. */
const drawn = () =>
  new Promise<void>((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
  })

/** Overlapping or clipped cells of visible tables, and tables wider than their container. */
const unreadable = (page: Page) =>
  page.evaluate(() => {
    const nameOf = (cell: Element) => `${cell.className} "${cell.textContent?.trim().slice(0, 30)}"`
    const isVisible = (element: Element) => {
      const { width, height } = element.getBoundingClientRect()
      return width > 1 && height > 1 && getComputedStyle(element).clipPath === 'none'
    }
    const rectOf = (box: DOMRect) =>
      [box.left, box.top, box.right, box.bottom].map(Math.round).join(' ')
    /** The three widest elements beyond the right edge of `cut`, with position and right edge of each. */
    const widest = (cut: Element) => {
      const { right } = cut.getBoundingClientRect()
      const edgeOf = (part: Element) => {
        const range = document.createRange()
        range.selectNodeContents(part)
        const own = part.getBoundingClientRect()
        return Math.max(
          own.right,
          own.left + part.scrollWidth,
          ...[...range.getClientRects()].map((box) => box.right),
        )
      }
      const parts = [...cut.querySelectorAll('*')].filter((part) => edgeOf(part) > right + 1)
      const least = parts.filter(
        (part) => !parts.some((other) => other !== part && part.contains(other)),
      )
      least.sort((one, other) => edgeOf(other) - edgeOf(one))
      return least
        .slice(0, 3)
        .map(
          (part) =>
            `${part.tagName} ${nameOf(part)} at ${rectOf(part.getBoundingClientRect())}, to ${Math.round(edgeOf(part))}`,
        )
    }
    const faults = [...document.querySelectorAll('.scroll-x')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(
        (cut) =>
          `cut: ${cut.scrollWidth} in ${cut.clientWidth} at ${rectOf(cut.getBoundingClientRect())}: ${widest(cut).join('; ')}`,
      )
    for (const row of document.querySelectorAll('tbody tr')) {
      const cells = [...row.children].filter(isVisible)
      for (const [index, cell] of cells.entries()) {
        if (cell.scrollWidth > cell.clientWidth + 1) faults.push(`clipped: ${nameOf(cell)}`)
        const one = cell.getBoundingClientRect()
        for (const next of cells.slice(index + 1)) {
          const other = next.getBoundingClientRect()
          const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left)
          const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
          if (wide > 1 && high > 1) faults.push(`overlap: ${nameOf(cell)}, ${nameOf(next)}`)
        }
      }
    }
    const links = [...document.querySelectorAll('nav a')].filter((link) => {
      const { left, right } = link.getBoundingClientRect()
      return left < 0 || right > innerWidth
    })
    const lists = innerWidth < 704 ? [] : [...document.querySelectorAll('table.list')]
    const cards = lists.filter((list) => getComputedStyle(list).display !== 'table')
    return [
      ...faults,
      ...links.map((link) => `link out of sight: ${link.textContent}`),
      ...cards.map((list) => `no table: ${nameOf(list)}`),
    ]
  })

/** Shows every price as changed, which adds an arrow. */
const lightPrices = (page: Page) =>
  page.evaluate(() => {
    for (const price of document.querySelectorAll('.price')) price.classList.add('flash', 'rose')
  })

test('renders every page on phone and tablet without overlap, truncated text or wrapped times', async () => {
  const token = await dashboard.signUp('phone@example.com')
  const page = await dashboard.open('#/markets', { token, width: 390, height: 844 })
  const found: string[] = []
  for (const address of await pagesWithContent(dashboard)) {
    await visit(page, address)
    for (const width of [320, 390, 768]) {
      await page.setViewportSize({ width, height: 844 })
      await lightPrices(page)
      await page.evaluate(drawn)
      const faults = [
        ...(await unreadable(page)),
        ...((await overhang(page)) > 0 ? ['overhang'] : []),
        ...(await page.evaluate(uneven)),
      ]
      found.push(...faults.map((fault) => `${address} ${width}: ${fault}`))
    }
  }
  assert.deepEqual(found, [])
  // The checks must find these faults.
  await visit(page, '#/status')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.evaluate(() => {
    const table = document.querySelector<HTMLElement>('.scroll-x')
    const cell = table?.querySelector<HTMLElement>('tbody td:last-child')
    if (cell) cell.style.margin = '-40px 0 0 -90px'
    if (table) table.style.width = '60px'
  })
  assert.match(
    (await unreadable(page)).join(),
    /cut: \d+ in 60 at .*: T\w+ .* at [\d -]+, to \d+.*overlap: /,
  )
})

/** Runs in the page. Returns times on more than one line, and gaps of games that are not aligned. */
function uneven(): readonly string[] {
  const times = [...document.querySelectorAll('main td time')].filter(
    (time) => new Set([...time.getClientRects()].map(({ top }) => top)).size > 1,
  )
  const gaps = [...document.querySelectorAll('.game-list td.gap')].map(
    (gap) => gap.getBoundingClientRect().left,
  )
  const isUneven = new Set(gaps).size > 1
  return [...times.map((time) => `broken: ${time.textContent}`), ...(isUneven ? ['uneven'] : [])]
}

const LIST = 'main'

test('shows a notice while the server is down, and shows live values after the server returns', async () => {
  const token = await dashboard.signUp('stays@example.com')
  const page = await dashboard.open('#/markets', {
    token,
    expected: [
      /ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH)|WebSocket connection to/,
    ],
  })
  const line = page.locator('.connection')
  const state = (wanted: string) =>
    page.locator(`.connection[data-state="${wanted}"]`).waitFor({ state: 'attached' })
  // A feed may be stale for a moment on a busy machine.
  const lineDisappears = () =>
    page.waitForFunction(() => document.querySelector('.connection')?.textContent?.trim() === '')
  await state('live')
  await lineDisappears()
  await changes('before')
  const [scope, address] = [await page.evaluate(() => performance.timeOrigin), page.url()]

  await dashboard.stop('SIGKILL')
  await line.getByText(/Connection lost.*not live/).waitFor()

  await page.getByRole('searchbox', { name: 'Search' }).fill('zebra')
  await page.getByText('The server does not answer.').waitFor()

  await dashboard.start()
  await state('live')
  // The page retries the failed request.
  await page.getByText('No open market contains “zebra”.').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await lineDisappears()
  await changes('after')
  // The page has not been reloaded and still has its session.
  assert.equal(await page.evaluate(() => performance.timeOrigin), scope)
  assert.equal(page.url().split('#')[1], address.split('#')[1])
  await page.getByRole('button', { name: 'Log out' }).waitFor()

  async function changes(when: string) {
    const text = await page.locator(LIST).innerText()
    await page
      .waitForFunction(
        ([selector = '', before = '']) =>
          (document.querySelector<HTMLElement>(selector)?.innerText ?? before) !== before,
        [LIST, text],
      )
      .catch(() => assert.fail(`no live update arrived ${when} the restart: ${text.slice(0, 500)}`))
  }
})

test('requests a new log-in when the account of the session was deleted', async () => {
  const page = await dashboard.open('#/markets', {
    token: 'not.a.token',
    expected: [/WebSocket connection to/],
  })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Your session has ended').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Log out' }).count(), 0)
})
