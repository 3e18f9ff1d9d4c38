// `npm run screenshots [FOLDER]`: pictures of every dashboard page. The README's picture is
// http/dashboard/screenshot.png.

import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { runCommand } from '../engine/app/commands/run-command.ts'
import type { CommandSpec } from '../engine/process/command-line.ts'
import {
  openRealDashboard,
  pagesWithContent,
  type RealDashboard,
} from './support/browser/dashboard.ts'
import { Receiver } from './support/fakes/receivers.ts'

const WIDTHS = [1_280, 768, 390] as const
const HEIGHTS = { 1280: 900, 768: 1_024, 390: 844 } as const
const README_PICTURE = 'http/dashboard/screenshot.png'
const README_BYTES_MAX = 300_000
const PASSWORD = 'correct horse battery staple'
const HEIGHT_MAX = 1_600
const TAKEN =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{"taken":true}'
/** Simulated time before the first picture, so that matches and wallets have content. */
const SETTLE_MS = 30_000

const COMMAND: CommandSpec = {
  name: 'npm run screenshots',
  about:
    'Takes pictures of every page of the dashboard, with a real service over simulated venues, and the picture of README.md.',
  usage: ['[FOLDER]'],
  positionals: { FOLDER: 'where the pictures go; screenshots unless given' },
  positionalCounts: [0, 1],
  options: {},
  examples: ['', '/tmp/pictures'],
  notes: [
    `Widths of ${WIDTHS.join(', ')} pixels, light and dark. It needs Chromium and some minutes.`,
    'Exit codes: 0 taken, 1 failed, 2 bad arguments.',
  ],
}

await runCommand(COMMAND, async ({ positionals: [folder = 'screenshots'] }) => {
  mkdirSync(folder, { recursive: true })
  say(`starting; pictures go to ${folder}/`)
  const dashboard = await openRealDashboard({ SIM_MARKETS: '150', SIM_RATE: '400' })
  try {
    await takeAll(dashboard, folder)
  } finally {
    await dashboard.close()
  }
})

async function takeAll(service: RealDashboard, folder: string): Promise<void> {
  const url = `${service.origin}/dashboard#/markets`
  const tab = await service.chromium.open(url, { isShedding: true })
  const { page } = tab
  for (const width of WIDTHS) await take(page, { folder, name: 'welcome', width })
  await signUpThroughPage(page)
  const receiver = await Receiver.open({ onRequest: (socket) => socket.end(TAKEN) })
  const webhook = await makeWebhook(page, receiver.url)
  await makeKey(page)
  await page.waitForTimeout(SETTLE_MS)
  await receiver.close()
  const pages = [...(await pagesWithContent(service)), webhook]
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHTS[width] })
    const taken = new Set<string>()
    for (const address of pages) {
      await visit(page, address)
      const [, base = '', one] = /^#\/(\w+)(\/.)?/.exec(address) ?? []
      const alone = one === undefined || base === 'market' ? base : `${base}-one`
      const name = taken.has(alone) ? `${alone}-settled` : alone
      taken.add(name)
      const opener = page.locator('tr[data-delivery] button.inline').first()
      if (name === 'webhooks-one') await opener.click()
      await take(page, { folder, name, width })
      if (name === 'opportunities') await takeOpportunity(page, { folder, width })
    }
  }
  await forReadme(page, pages.find((address) => address.startsWith('#/market/')) ?? '')
  await takeDocs(page, folder)
  for (const problem of tab.problems) say(problem)
  await tab.close()
}

async function takeDocs(page: Page, folder: string): Promise<void> {
  await page.goto(new URL('docs', page.url()).href)
  for (const width of WIDTHS) await take(page, { folder, name: 'docs', width })
}

async function signUpThroughPage(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Sign up' }).click()
  await page.getByLabel('Email').fill('you@example.com')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.locator('form button[type=submit]').click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}

async function makeWebhook(page: Page, url: string): Promise<string> {
  await visit(page, '#/webhooks')
  await page.getByLabel('Endpoint URL').fill(url)
  await page.getByRole('button', { name: 'Create and send a test' }).click()
  const link = page.getByRole('link', { name: 'Open the webhook' })
  return (await link.getAttribute('href')) ?? ''
}

/** The key list then has a row. */
async function makeKey(page: Page): Promise<void> {
  await visit(page, '#/account')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.locator('.once').waitFor()
}

async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
  await page.waitForTimeout(2_500)
  await page.locator('.state.waiting').first().waitFor({ state: 'detached' })
}

async function takeOpportunity(
  page: Page,
  picture: { folder: string; width: (typeof WIDTHS)[number] },
): Promise<void> {
  await page.locator('tr[data-row] button.inline').first().click()
  await page.locator('.leg-books [data-seq]').first().waitFor()
  await take(page, { ...picture, name: 'opportunities-one' })
}

async function take(
  page: Page,
  { folder, name, width }: { folder: string; name: string; width: (typeof WIDTHS)[number] },
): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHTS[width] })
  // The pointer must not highlight an element.
  await page.mouse.move(0, 0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // Charts change their colours with the next frame.
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
  await page
    .getByRole('group', { name: 'Time range', exact: true })
    .getByRole('button', { name: '1H', exact: true })
    .click()
  await page.mouse.move(0, 0)
  await page.locator('.twin-prices').waitFor()
  // The picture ends below the matched market, the last panel beside the chart.
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
