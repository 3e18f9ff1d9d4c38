// The interactive page in a real browser: in the viewer's colors, with a way back, and with the session of the dashboard.
// Not for: which files it has (docs-page.test.ts).

import assert from 'node:assert/strict'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'

let dashboard: FakeDashboard
before(async () => {
  dashboard = await openFakeDashboard()
})
after(() => dashboard.close())

test('[DOCS4] the page is in the colors that the viewer asks for, tries requests as the user of the dashboard, and leads back to it', async () => {
  const { chromium, face } = dashboard
  const address = `${face.origin}/docs`
  const tab = await chromium.open(address, { token: 'ann-token', scheme: 'dark' })
  const { page } = tab
  const operation = page.locator('[id^=operations-Auth-getAccount]').first()
  await operation.waitFor()
  await page.locator('html.dark-mode').waitFor()
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('html:not(.dark-mode)').waitFor()
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table').getByText('ann@example.com').first().waitFor()
  const line = await operation.locator('.curl-command').innerText()
  assert.match(line, /auth\/me/)
  assert.doesNotMatch(line, /X-Dashboard|ann-token/)
  await page.getByRole('link', { name: 'Back to the dashboard' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  await tab.close()
  const stranger = await chromium.open(address)
  const locked = stranger.page.locator('[id^=operations-Auth-getAccount]').first()
  await locked.locator('.opblock-summary-control').click()
  await locked.getByRole('button', { name: 'Try it out' }).click()
  await locked.getByRole('button', { name: 'Execute' }).click()
  await locked.locator('.live-responses-table').getByText('401').first().waitFor()
  await stranger.close()
})
