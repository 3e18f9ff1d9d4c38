// Headless browser for dashboard tests: Debian's chromium, controlled by playwright-core. Each tab records console
// errors, exceptions and requests blocked by the page's policy. Closing a tab with recorded problems fails the test.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'

/** Options of a new tab. */
export interface TabOptions {
  /** Width of the window in pixels; default: 1280 by 800. */
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
  /** The session token in the browser's cookie; null or omitted: no user is logged in. */
  readonly token?: string | null
  /** Problems that this test provokes. */
  readonly expected?: readonly RegExp[]
  /**
   * The server is a real process. On a busy machine it may reject a request or not be ready in time (503), which is
   * not a problem then.
   */
  readonly isShedding?: boolean
  readonly timezone?: string
  readonly locale?: string
}

/** A tab with its own profile, like a new visitor's. */
export interface Tab {
  readonly page: Page
  /** Problems so far, except expected ones. */
  readonly problems: readonly string[]
  /** Closes the tab; throws if it has problems. */
  close(): Promise<void>
}

/** One browser for a test file. */
export interface Chromium {
  /** Opens a tab at an address. */
  open(url: string, options?: TabOptions): Promise<Tab>
  /** Closes the browser; throws if an open tab has problems. */
  close(): Promise<void>
}

/** Tabs that no test has closed. */
const tabs = new Set<Tab>()

/** Closes all tabs; throws if one has problems. */
export async function closeTabs(): Promise<void> {
  for (const tab of tabs) await tab.close()
}

/** Longer than any wait on a busy machine. */
const WAIT_MS = 300_000
/** A rejected request is a valid response to the page, but Chromium also logs it to the console. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/
const SHED = /^Failed to load resource: the server responded with a status of 503/

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** Installation advice; null if there is a browser. */
export function missingBrowser(): string | null {
  if (existsSync(executablePath)) return null
  return `no browser at ${executablePath}: install Debian's chromium, or set CHROMIUM_PATH`
}

/** Starts the browser. Without one it throws with installation advice. */
export async function openChromium(): Promise<Chromium> {
  const missing = missingBrowser()
  if (missing !== null) throw new Error(missing)
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--enable-precise-memory-info'],
  })
  return {
    async open(url, options = {}) {
      const context = await browser.newContext({
        viewport: { width: options.width ?? 1_280, height: options.height ?? 800 },
        colorScheme: options.scheme ?? 'light',
        timezoneId: options.timezone ?? 'Europe/Berlin',
        locale: options.locale ?? 'en-US',
        reducedMotion: 'reduce',
      })
      const { token = null } = options
      if (token !== null) await context.addCookies([sessionCookie(url, token)])
      const tab = await tabOf(context, options, () => tabs.delete(tab))
      tabs.add(tab)
      await tab.page.goto(url)
      return tab
    },
    async close() {
      const problems = [...tabs].flatMap((tab) => tab.problems)
      for (const { page } of tabs) console.error(await whatItShows(page))
      await browser.close()
      assert.deepEqual(problems, [], 'what went wrong in tabs')
    },
  }
}

async function tabOf(
  context: BrowserContext,
  { expected = [], isShedding = false }: TabOptions,
  onClosed: () => void,
): Promise<Tab> {
  context.setDefaultTimeout(WAIT_MS)
  await context.addInitScript({ content: NAMES_OF_FUNCTIONS })
  await context.addInitScript({ content: TELL_REFUSALS })
  const page = await context.newPage()
  const problems: string[] = []
  const note = (problem: string) => {
    if (!expected.some((pattern) => pattern.test(problem))) problems.push(problem)
  }
  page.on('console', (message) => {
    const isTrouble = message.type() === 'error' || message.type() === 'warning'
    const { url } = message.location()
    const isRefused = REFUSED.test(message.text()) || (isShedding && SHED.test(message.text()))
    if (isTrouble && !(isRefused && url.includes('/v1/'))) {
      note(`${message.type()}: ${message.text()} ${url}`)
    }
  })
  page.on('pageerror', (error) => note(`exception: ${error.stack ?? error.message}`))
  return {
    page,
    problems,
    async close() {
      onClosed()
      await context.close()
      assert.deepEqual(problems, [], 'what went wrong in the tab')
    },
  }
}

/** The content of a tab left open by a failed test, for its error message. */
async function whatItShows(page: Page): Promise<string> {
  const text = await page.evaluate('document.body.innerText').catch(String)
  return `left open at ${page.url()}:\n${String(text).slice(0, 2_000)}`
}

/** Waits until the element has the focus, which may arrive after it is drawn. */
export const focusOn = (one: Locator): Promise<void> =>
  one.and(one.page().locator(':focus')).waitFor()

/** The cookie as the server of this address sets it (http/request/auth.ts). */
export function sessionCookie(url: string, token: string) {
  const { origin, port } = new URL(url)
  const stored = { url: origin, httpOnly: true, sameSite: 'Strict' } as const
  return { ...stored, name: `twinbook${port}`, value: token }
}

// The following runs in the page before its own scripts. It is text, since the types here are Node's.

/** tsx compiles test functions that run in the page; they call this for their names. */
const NAMES_OF_FUNCTIONS = 'globalThis.__name ??= (named) => named'

const TELL_REFUSALS = `
addEventListener('securitypolicyviolation', (event) => {
  console.error('refused by the policy: ' + [event.effectiveDirective, event.blockedURI, event.sample].join(' '))
})`
