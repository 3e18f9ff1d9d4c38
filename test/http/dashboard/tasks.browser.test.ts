// Each task takes at most three clicks from the first page, including clicks into fields.

import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { openRealDashboard, type RealDashboard } from '../../support/browser/dashboard.ts'
import { Receiver } from '../../support/fakes/receivers.ts'

const CLICKS_MAX = 3

let dashboard: RealDashboard
before(async () => {
  dashboard = await openRealDashboard({ SIM_MARKETS: '100', SIM_RATE: '150' })
})
after(() => dashboard.close())

/** Logs in with a new account of this name. null: logged out. */
async function openFirst(name: string | null) {
  const token = name === null ? null : await dashboard.signUp(`${name}@example.com`)
  const page = await dashboard.open('', { token })
  await page.evaluate(() => {
    document.documentElement.dataset.clicks = '0'
    const count = ({ isTrusted, detail }: MouseEvent) => {
      const { dataset } = document.documentElement
      if (isTrusted && detail > 0) dataset.clicks = String(Number(dataset.clicks) + 1)
    }
    addEventListener('click', count, true)
  })
  return {
    page,
    clicks: async () => Number(await page.locator('html').getAttribute('data-clicks')),
  }
}

const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()

async function type(field: Locator, text: string): Promise<void> {
  await field.click()
  await field.fill(text)
}

function assertClicks(clicks: number): void {
  assert.ok(clicks > 0 && clicks <= CLICKS_MAX, `${clicks} clicks`)
}

test('creates an API key and an example request that works', async () => {
  const tab = await openFirst(null)
  const { page } = tab
  await page.getByRole('button', { name: 'Open the dashboard' }).click()
  await goTo(page, 'Account')
  await page.getByRole('button', { name: 'Create key' }).click()
  const command = await page.locator('[data-once=command]').innerText()
  const [, key = '', address = ''] = /^curl -H 'X-API-Key: (\S+)' '(\S+)'$/.exec(command) ?? []
  assert.equal(await page.locator('[data-once=key]').innerText(), key)
  assertClicks(await tab.clicks())
  const answer = await fetch(address, { headers: { 'X-API-Key': key } })
  const { markets }: { markets: readonly object[] } = JSON.parse(await answer.text())
  assert.equal(markets.length, 3)
})

test('sorts matches by price gap, and opens the books of the first match', async () => {
  const tab = await openFirst('gap')
  const { page } = tab
  await goTo(page, 'Matches')
  const first = page.locator('.match').first()
  await first.waitFor()
  const answered = page.waitForResponse((response) => response.url().includes('sort_by=price_gap'))
  await page.getByLabel('Sort by').click()
  await page.getByLabel('Sort by').selectOption('price_gap')
  const { matches }: { matches: readonly MatchRecord[] } = JSON.parse(await (await answered).text())
  const gaps = matches.map(({ price_gap: gap }) => Math.abs(gap ?? 0))
  assert.deepEqual(
    gaps,
    gaps.toSorted((one, other) => other - one),
  )
  const id = matches[0]?.venue_a.id ?? ''
  await first.locator(`a[href$="${encodeURIComponent(id)}"]`).click()
  await page.locator(`[data-market="${id}"] .book[data-state=live]`).waitFor()
  await page.locator('.twin-prices').waitFor()
  assertClicks(await tab.clicks())
})

interface MatchRecord {
  readonly price_gap: number | null
  readonly venue_a: { readonly id: string }
}

test('opens a game’s live book', async () => {
  const tab = await openFirst('game')
  const { page } = tab
  await goTo(page, 'Sports')
  const quoted = 'tbody tr:has(:is(.bid, .ask):has-text("¢")) a'
  await page.locator('.game, .state.empty').first().waitFor()
  // A running game may end before its book opens, so a game that has not started is preferred.
  const coming = page.locator(`.game:has-text("Starts ") ${quoted}`).first()
  if ((await coming.count()) > 0) await coming.click()
  else {
    const later = '[aria-pressed=true] ~ [data-count]:not([data-count="0"])'
    await page.locator(`.days ${later}`).first().click()
    await coming
      .or(page.locator(`.game ${quoted}`))
      .first()
      .click()
  }
  await page.locator('.book[data-state=live]').waitFor()
  // One side of the book may be empty near the end of a game.
  await page.locator('.ladder [data-side] tr:not(.blank)').first().waitFor()
  assertClicks(await tab.clicks())
})

test('creates a webhook, and shows the delivery of a signed whale trade alert on the same page', async (t) => {
  const receiver = await Receiver.open({
    onRequest: (socket) =>
      socket.end('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
  })
  t.after(() => receiver.close())
  const tab = await openFirst('whale')
  const { page } = tab
  await goTo(page, 'Webhooks')
  await type(page.getByLabel('Endpoint URL'), receiver.url)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await page.locator('[data-once=secret]').innerText()
  await page.locator('tr[data-status=delivered]', { hasText: 'whale.alert' }).first().waitFor()
  assertClicks(await tab.clicks())
  const [head = '', body = ''] = (receiver.requests[0] ?? '').split('\r\n\r\n', 2)
  const lines = head.split('\r\n').slice(1)
  const headers = Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2)))
  assert.ok(new Webhook(secret).verify(body, headers))
})

test('opens the profit page of a wallet', async () => {
  const tab = await openFirst('wallet')
  const { page } = tab
  await goTo(page, 'Whales')
  await page.locator('tr[data-whale] .wallet a').first().click()
  await page.locator('.wallet-pnl [data-figure=Net]').getByText('$').waitFor()
  assertClicks(await tab.clicks())
})
