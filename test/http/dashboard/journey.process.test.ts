// The only browser test of `npm test`. `npm run test:long` runs the .browser.test.ts files.

import assert from 'node:assert/strict'
import type { Orderbook } from '../../../http/dashboard/records.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import { bid, level } from '../../support/worlds/builders.ts'

let dashboard: FakeDashboard
before(async () => {
  dashboard = await openFakeDashboard()
})
after(() => dashboard.close())

test('opens a market page from a search and shows its live book', async () => {
  const { server } = dashboard
  const market = server.engine.add('rain', { question: 'Will rain happen?' })
  server.engine.add('snow', { question: 'Will snow happen?' })
  market.replace([level(0.42, 100)], [level(0.44, 30)])
  const page = await dashboard.open('#/markets')
  await page.getByRole('searchbox', { name: 'Search' }).fill('rain')
  await page.waitForFunction(() => document.querySelectorAll('.markets tbody tr').length === 1)
  await page.getByRole('link', { name: 'Will rain happen?' }).click()
  await page.getByRole('heading', { level: 1, name: 'Will rain happen?' }).waitFor()
  await page.waitForSelector('.book[data-state=live]')
  for (const size of [7, 0, 12]) {
    market.change(bid(0.43, size))
    const { text } = await server.get(`/v1/markets/${market.ref.id}/orderbook?depth=10`)
    const { seq, bids }: Orderbook = JSON.parse(text)
    await page.waitForFunction(
      (wanted) => document.querySelector('.book')?.getAttribute('data-seq') === wanted,
      String(seq),
    )
    const best = page.locator('.ladder [data-side=bid] tr:not(.blank) td').first()
    const cents = Number.parseFloat((await best.textContent()) ?? '')
    assert.equal(cents, Math.round(100 * (bids[0]?.price ?? 0)))
  }
})
