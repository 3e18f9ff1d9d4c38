// Pictures of every page of the dashboard, at two widths, in light and dark, of a real process over simulated venues:
// `npm run screenshots [FOLDER]`. The account is made through the page, as a visitor would. The one for the README goes
// to http/dashboard/screenshot.png. Not for: judging them; that takes eyes.

import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { openRealDashboard, pagesToSee, type RealDashboard } from './support/rigs/dashboard.ts'

const WIDTHS = [1_280, 390] as const
const HEIGHTS = { 1280: 900, 390: 844 } as const
const README_PICTURE = 'http/dashboard/screenshot.png'
const README_BYTES_MAX = 300_000
const PASSWORD = 'correct horse battery staple'
/** A page's own beginning is what is looked at. */
const HEIGHT_MAX = 1_600
/** The simulated world trades so long before the first picture: matches and wallets have something to show. */
const SETTLE_MS = 30_000
/** Between two pages. */
const PAGE_MS = 3_000
/** And so long before the one for the README: its candles are of a minute each. */
const README_MS = 720_000

const { positionals } = parseArgs({ allowPositionals: true })
const [folder = 'screenshots'] = positionals
mkdirSync(folder, { recursive: true })
say(`starting; pictures go to ${folder}/`)
const dashboard = await openRealDashboard({ SIM_MARKETS: '150', SIM_RATE: '400' })
try {
  await takeAll(dashboard)
} finally {
  await dashboard.close()
}

async function takeAll(service: RealDashboard): Promise<void> {
  const startMs = performance.now()
  const tab = await service.open('#/markets')
  const { page } = tab
  for (const width of WIDTHS) await take(page, 'welcome', width)
  await signUpThroughPage(page)
  await page.waitForTimeout(SETTLE_MS)
  const pages = await pagesToSee(service)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHTS[width] })
    for (const address of pages) {
      await visit(page, address)
      const name = /^#\/wallet\/./.test(address) ? 'wallet-one' : (/\w+/.exec(address)?.[0] ?? '')
      await take(page, name, width)
      // The free account asks sixty times a minute, as a reader would.
      await page.waitForTimeout(PAGE_MS)
    }
  }
  await page.waitForTimeout(Math.max(0, README_MS - (performance.now() - startMs)))
  await forReadme(page, pages.find((address) => address.startsWith('#/market/')) ?? '')
  for (const problem of tab.problems) say(problem)
  await tab.close()
}

async function signUpThroughPage(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Sign up' }).click()
  await page.getByLabel('E-mail').fill('you@example.com')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.locator('form button[type=submit]').click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
  await page.waitForTimeout(2_500)
  await page.waitForFunction('document.querySelector(".state.waiting") === null')
}

/** In both schemes. */
async function take(page: Page, name: string, width: (typeof WIDTHS)[number]): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHTS[width] })
  // Nothing is pointed at.
  await page.mouse.move(0, 0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // Charts take their colours at the next picture.
    await page.waitForTimeout(300)
    const path = join(folder, `${name}-${width}-${colorScheme}.png`)
    const height: number = await page.evaluate('document.documentElement.scrollHeight')
    const clip = { x: 0, y: 0, width, height: Math.min(height, HEIGHT_MAX) }
    await page.screenshot({ path, fullPage: true, clip })
  }
  say(`${name}, ${width} wide`)
}

async function forReadme(page: Page, market: string): Promise<void> {
  await page.setViewportSize({ width: 1_280, height: 1_240 })
  await page.emulateMedia({ colorScheme: 'light' })
  await visit(page, market)
  await page.getByRole('button', { name: '1m', exact: true }).click()
  await page.mouse.move(0, 0)
  await page.locator('.twin-prices').waitFor()
  // The twin is the last panel beside the chart: the picture ends below it.
  const end: number = await page.evaluate(
    'document.querySelector(".twin").getBoundingClientRect().bottom + scrollY',
  )
  await page.setViewportSize({ width: 1_280, height: Math.ceil(end) + 16 })
  await page.waitForTimeout(1_500)
  await page.screenshot({ path: README_PICTURE })
  const { size } = statSync(README_PICTURE)
  say(`${README_PICTURE}: ${Math.round(size / 1_000)} kB`)
  if (size > README_BYTES_MAX)
    throw new Error(`${README_PICTURE} is larger than ${README_BYTES_MAX}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
