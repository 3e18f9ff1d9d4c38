// Closing a tab fails the test if the tab recorded console errors, exceptions or blocked requests.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'

export interface TabOptions {
  /** Pixels; default: 1280 by 800. */
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
  /** Session token for the browser's cookie. null or undefined: logged out. */
  readonly token?: string | null
  /** Problems that the test causes on purpose. */
  readonly expected?: readonly RegExp[]
  /** If true, a 503 of a busy server is not a problem. */
  readonly isShedding?: boolean
  readonly timezone?: string
  readonly locale?: string
}

export interface Tab {
  readonly page: Page
  /** Recorded problems, except expected problems. */
  readonly problems: readonly string[]
  /** Throws if the tab has problems. */
  close(): Promise<void>
}

export interface Chromium {
  open(url: string, options?: TabOptions): Promise<Tab>
  /** Throws if an open tab has problems. */
  close(): Promise<void>
}

const tabs = new Set<Tab>()

/** After a passed test, throws if a tab has problems. After a failed test, prints the content of each tab. */
export async function closeTabs(hasPassed: boolean): Promise<void> {
  const open = [...tabs]
  for (const tab of open) {
    if (!hasPassed) console.error(await contentOf(tab.page))
    tabs.delete(tab)
    await tab.page.context().close()
  }
  const problems = open.flatMap((tab) => tab.problems)
  if (hasPassed) assert.deepEqual(problems, [], 'problems of the open tabs')
}

/** Exceeds any wait on a busy machine. */
const WAIT_MS = 300_000
/** Chromium logs each 4xx response to the console, even if the page expects it. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/
const SHED = /^Failed to load resource: the server responded with a status of 503/

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** Returns installation advice, or null if the browser is installed. */
export function missingBrowser(): string | null {
  if (existsSync(executablePath)) return null
  return `no browser at ${executablePath}: install Debian's chromium, or set CHROMIUM_PATH`
}

/** Throws with installation advice if the browser is missing. */
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
      await closeTabs(true).finally(() => browser.close())
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
  await context.addInitScript({ content: LOG_VIOLATIONS })
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

async function contentOf(page: Page): Promise<string> {
  const text = await page.evaluate('document.body.innerText').catch(String)
  return `left open at ${page.url()}:\n${String(text).slice(0, 2_000)}`
}

/** An element may get the focus later than it is drawn. */
export const focusOn = (one: Locator): Promise<void> =>
  one.and(one.page().locator(':focus')).waitFor()

/** Returns the cookie of the session as http/request/auth.ts sets it. */
export function sessionCookie(url: string, token: string) {
  const { origin, port } = new URL(url)
  const stored = { url: origin, httpOnly: true, sameSite: 'Strict' } as const
  return { ...stored, name: `twinbook${port}`, value: token }
}

// These scripts run in the page before its own scripts. They are text, because the types here are those of Node.

/** tsx inserts calls of `__name` into test functions that run in the page. */
const NAMES_OF_FUNCTIONS = 'globalThis.__name ??= (named) => named'

const LOG_VIOLATIONS = `
addEventListener('securitypolicyviolation', (event) => {
  console.error('refused by the policy: ' + [event.effectiveDirective, event.blockedURI, event.sample].join(' '))
})`
