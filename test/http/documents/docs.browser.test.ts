import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { allProblems } from '../../support/browser/accessibility.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'

let dashboard: FakeDashboard
let address: string
before(async () => {
  dashboard = await openFakeDashboard()
  address = `${dashboard.server.origin}/docs`
})
after(() => dashboard.close())

/** One entry of each kind. Together they have all parts of an entry. */
const ONE_OF_EACH = [
  'getMarketOrderbook',
  'createWebhook',
  'deleteKey',
  'stream-connect',
  'stream-subscribe',
  'stream-tellOrderbook',
  'stream-errorMessage',
  'onTradeCreated',
  'record-Fees',
]

/** Opens an entry by its URL, as a link does. */
async function unfold(page: Page, id: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(id)}`)
  await page.locator(`details[open] > [id="${id}"]`).waitFor()
}

test('passes the accessibility check in light and dark mode on wide and narrow screens, and fits the screen', async () => {
  for (const width of [1_280, 390]) {
    const tab = await dashboard.chromium.open(address, { width, token: 'ann-token' })
    const { page } = tab
    await page.getByText('You are logged in as ann@example.com').waitFor()
    for (const id of ONE_OF_EACH) await unfold(page, id)
    // Opens the examples of error responses too.
    await page.evaluate(
      'for (const inner of document.querySelectorAll("details[open] details")) inner.open = true',
    )
    // Removes closed entries to shorten the accessibility check.
    await page.evaluate(
      'for (const entry of document.querySelectorAll("details:not([open])")) entry.remove()',
    )
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await allProblems(page), [], `${width} ${colorScheme}`)
    }
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.equal(excess, 0, `${width}: the page is wider than its screen`)
    await tab.close()
  }
})

test('sends example requests as the logged-in user or with an entered key, and links to the dashboard', async () => {
  const tab = await dashboard.chromium.open(address, { token: 'ann-token', scheme: 'dark' })
  const { page } = tab
  await page.getByText('You are logged in as ann@example.com').waitFor()
  await unfold(page, 'getAccount')
  const operation = page.locator('[id="getAccount"]')
  const shell = operation.locator('[data-line]')
  await shell.getByText('auth/me').waitFor()
  assert.match(await shell.innerText(), /^curl '\S+\/v1\/auth\/me' -H "X-API-Key: \$KEY"$/)
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.locator('[data-answer]').getByText('ann@example.com').waitFor()
  await page.getByRole('button', { name: 'Make a key' }).click()
  await page.getByText('The new key is filled in').waitFor()
  const key = await page.locator('#credential').inputValue()
  assert.match(key, /^pmk_/)
  await operation.locator('[data-line]').getByText(key).waitFor()
  await page.locator('#credential').fill('')
  await page.getByRole('link', { name: 'Back to the dashboard' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  await tab.close()
  const stranger = await dashboard.chromium.open(`${address}#getAccount`)
  const locked = stranger.page.locator('[id="getAccount"]')
  await stranger.page.getByText('paste a key of yours').waitFor()
  await locked.getByRole('button', { name: 'Send' }).click()
  await locked.locator('[data-answer]').getByText('401').waitFor()
  await stranger.page.locator('#credential').fill('ann-key')
  await locked.getByRole('button', { name: 'Send' }).click()
  await locked.locator('[data-answer]').getByText('ann@example.com').waitFor()
  await stranger.close()
})

test('focuses the search when `/` is pressed, filters entries by the search, and runs a stream command', async () => {
  const tab = await dashboard.chromium.open(address, { token: 'ann-token' })
  const { page } = tab
  await page.getByText('You are logged in as ann@example.com').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('orderbook history')
  await page.locator('#found').getByText('1 found').waitFor()
  await page.locator('[data-entry="getMarkets"]').waitFor({ state: 'hidden' })
  await page.locator('[data-of="getMarketOrderbookHistory"] a').focus()
  await page.keyboard.press('Enter')
  await page.locator('details[open] > [id="getMarketOrderbookHistory"]').waitFor()
  await page.locator('#search').fill('')
  await unfold(page, 'stream-connect')
  await page.locator('#stream-command').fill('{"action":"ping","id":"tried"}')
  await page.getByRole('button', { name: 'Connect and send' }).click()
  await page.locator('form[data-stream] [data-answer]').getByText('"pong"').waitFor()
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await page.locator('form[data-stream] [data-answer]').getByText('closed:').waitFor()
  await tab.close()
})
