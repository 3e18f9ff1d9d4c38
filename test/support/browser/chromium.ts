// A real browser for tests of the dashboard: Debian's chromium without a screen, driven through playwright-core. Each
// tab notes what goes wrong in its page: errors of the console, exceptions, anything that the page's policy refused;
// a tab with such a note fails the test that closes it.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import {
  type BrowserContext,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'

/** How a tab is opened. */
export interface TabOptions {
  /** Pixels of the window; 1280 by 800 unless given. */
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
  /** Of the session in the browser's cookie; null or left out: no user is logged in. */
  readonly token?: string | null
  /** Notes that this test provokes. */
  readonly expected?: readonly RegExp[]
  /**
   * The server is a real process: what it sheds on a busy machine, or has not ready in time (503), is an answer to the
   * page as well.
   */
  readonly isShedding?: boolean
  readonly timezone?: string
  readonly locale?: string
}

/** A tab of its own profile, as of a visitor who comes for the first time. */
export interface Tab {
  readonly page: Page
  /** What went wrong so far, but for what was expected. */
  readonly problems: readonly string[]
  /** Chromium's own protocol, for what playwright does not show. */
  protocol(): Promise<CDPSession>
  /** Closes it; throws when something went wrong in it. */
  close(): Promise<void>
}

/** One browser for a test file. */
export interface Chromium {
  /** A tab at an address. */
  open(url: string, options?: TabOptions): Promise<Tab>
  /** Closes all of it; throws when something went wrong in a tab that is still open. */
  close(): Promise<void>
}

/** What is not there by then never comes: longer than any wait on a busy machine. */
const WAIT_MS = 300_000
/** A refused request is an answer to the page, and Chromium says so in the console as well. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/
const SHED = /^Failed to load resource: the server responded with a status of 503/

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** What to install; null where there is a browser. */
export function missingBrowser(): string | null {
  if (existsSync(executablePath)) return null
  return `no browser at ${executablePath}: install Debian's chromium, or set CHROMIUM_PATH`
}

/** Starts the browser. Throws with what to install when there is none. */
export async function openChromium(): Promise<Chromium> {
  const missing = missingBrowser()
  if (missing !== null) throw new Error(missing)
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--enable-precise-memory-info'],
  })
  const tabs = new Set<Tab>()
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
    protocol: () => context.newCDPSession(page),
    async close() {
      onClosed()
      await context.close()
      assert.deepEqual(problems, [], 'what went wrong in the tab')
    },
  }
}

/** A tab is left open by a test that failed: what stood in it then tells why. */
async function whatItShows(page: Page): Promise<string> {
  const text = await page.evaluate('document.body.innerText').catch(String)
  return `left open at ${page.url()}:\n${String(text).slice(0, 2_000)}`
}

/** Waits until it has the focus, which comes a moment after what is drawn. */
export const focusOn = (one: Locator): Promise<void> =>
  one.and(one.page().locator(':focus')).waitFor()

/** As the server of this address sets it (http/request/dashboard-request.ts). */
export function sessionCookie(url: string, token: string) {
  const { origin, port } = new URL(url)
  const stored = { url: origin, httpOnly: true, sameSite: 'Strict' } as const
  return { ...stored, name: `twinbook${port}`, value: token }
}

// What follows runs in the page, before anything of it: as texts, since the types here are those of Node.

/** A test's own functions that run in the page were made by tsx, which calls this for their names. */
const NAMES_OF_FUNCTIONS = 'globalThis.__name ??= (named) => named'

const TELL_REFUSALS = `
addEventListener('securitypolicyviolation', (event) => {
  console.error('refused by the policy: ' + [event.effectiveDirective, event.blockedURI, event.sample].join(' '))
})`
