import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { timeMs } from '../../../engine/units.ts'
import { signedUsdText, usdText } from '../../../http/dashboard/format.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import { type FakeWallet, fakeAddress, randomWallet } from '../../support/fakes/wallets.ts'
import { NOON } from '../../support/worlds/builders.ts'

const ANN = fakeAddress('a1')
const NEW = fakeAddress('b2')

let dashboard: FakeDashboard
let ann: FakeWallet
before(async () => {
  dashboard = await openFakeDashboard()
})
after(() => dashboard.close())

/** Tabs use this language too, so that both format numbers alike. */
const LOCALE = Intl.NumberFormat().resolvedOptions().locale

const openAt = (page: string) => dashboard.open(page, { locale: LOCALE })

type Row = Readonly<Record<string, string | number | null>>

async function rowsOf(path: string, name: string): Promise<readonly Row[]> {
  const { body } = await dashboard.server.get(path)
  const rows = body[name]
  assert.ok(Array.isArray(rows))
  return rows
}

async function waitForCount(page: Page, selector: string, count: number): Promise<void> {
  await page
    .locator(selector)
    .nth(count - 1)
    .waitFor()
  assert.equal(await page.locator(selector).count(), count)
}

const attributes = (page: Page, selector: string, name: string) =>
  page.locator(selector).evaluateAll((rows, of) => rows.map((row) => row.getAttribute(of)), name)

test('shows the wallet ranking if the URL has no address, or explains that the ranking is empty', async () => {
  const page = await openAt('#/wallet')
  await page.getByText('No wallets yet').waitFor()
  await page.getByRole('heading', { name: 'Wallets looked up here' }).waitFor()
  const { engine } = dashboard.server
  const markets = ['Rain', 'Snow', 'Wind'].map((name) => engine.add(name))
  const profile = { eoa: fakeAddress('e0'), handle: 'ann<b>', pseudonym: 'Calm-Fox', image: null }
  ann = randomWallet({ proxy: ANN, eventCount: 200, nowMs: NOON }, markets, profile)
  const other = randomWallet({ proxy: fakeAddress('c3'), eventCount: 60, nowMs: NOON }, markets)
  engine.wallets.known.push(ann, other)
  await page.reload()
  const shown = async (order: string) => {
    const ranked = await rowsOf(`/v1/wallets?sort_by=${order}`, 'wallets')
    const hrefs = ranked.map(({ address }) => `#/wallet/${address}`)
    await page.locator(`tbody tr:nth-child(1) a[href="${hrefs[0]}"]`).waitFor()
    assert.deepEqual(await attributes(page, 'tbody a', 'href'), hrefs)
  }
  await shown('realized_pnl')
  await page.getByLabel('By').selectOption('volume')
  await page.waitForURL(/by=volume/)
  await shown('volume')
  await page.getByRole('link', { name: 'ann<b>' }).click()
  await page.getByRole('heading', { name: 'ann<b>' }).waitFor()
})

test('shows a wallet’s profits from REST, and a profit curve of the chosen granularity', async () => {
  const page = await openAt(`#/wallet/${ANN}`)
  const card = page.locator('.wallet-pnl')
  await card.getByRole('heading', { name: 'Realized profit to date' }).waitFor()
  const { body: counted } = await dashboard.server.get(`/v1/wallets/${ANN}/pnl`)
  const closed = Number(counted.win_count) + Number(counted.loss_count)
  await card
    .locator('[data-figure="Closed markets won"]')
    .getByText(`${counted.win_count} of ${closed} (`)
    .waitFor()
  for (const [step, label] of [
    ['all', 'All'],
    ['day', 'Daily'],
    ['month', 'Monthly'],
  ]) {
    await card.getByRole('button', { name: label ?? '', exact: true }).click()
    const { body } = await dashboard.server.get(`/v1/wallets/${ANN}/pnl?granularity=${step}`)
    assert.ok(Array.isArray(body.pnl_over_time))
    const seconds = new Set(body.pnl_over_time.map(({ timestamp }) => timestamp))
    assert.ok(seconds.size > 0)
    // The chart briefly has no canvas while it is redrawn.
    await page.waitForFunction((selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect()
      return box !== undefined && box.width > 200 && box.height > 100
    }, `.wallet-pnl .canvas[data-points="${seconds.size}"] canvas`)
    for (const [name, value] of [
      ['Net', body.net_pnl],
      ['Before fees and income', body.total_pnl],
      ['Realized', body.realized_pnl],
      ['Unrealized', body.unrealized_pnl],
    ] as const) {
      const figure = await card.locator(`[data-figure="${name}"] dd`).innerText()
      assert.equal(figure, signedUsdText(Number(value)))
    }
  }
})

test('lists a wallet’s open and closed positions from REST, sorted by the chosen column', async () => {
  const page = await openAt(`#/wallet/${ANN}`)
  const rows = '.wallet-positions tr[data-token]'
  const shown = async (query: string) => {
    const expected = await rowsOf(
      `/v1/wallets/${ANN}/positions?min_balance=0&${query}`,
      'positions',
    )
    await page.locator(`tbody tr:nth-child(1)[data-token="${expected[0]?.token_id}"]`).waitFor()
    await waitForCount(page, rows, expected.length)
    assert.deepEqual(
      await attributes(page, rows, 'data-token'),
      expected.map(({ token_id }) => token_id),
    )
    return expected
  }
  const [first] = await shown('')
  const open = await page.locator(rows).count()
  await page.locator('.wallet-positions').getByText(`${open} open, worth`).waitFor()
  const text = await page.locator(rows).first().innerText()
  assert.ok(text.includes(usdText(Number(first?.current_value))), text)
  assert.ok(text.includes(signedUsdText(Number(first?.total_pnl))), text)
  await page.getByRole('button', { name: 'Contracts' }).click()
  await page.locator('th[aria-sort=descending]', { hasText: 'Contracts' }).waitFor()
  await shown('sort_by=balance&order=desc')
  await page.getByRole('button', { name: 'Contracts' }).click()
  await page.locator('th[aria-sort=ascending]', { hasText: 'Contracts' }).waitFor()
  await shown('sort_by=balance&order=asc')
  await page.getByLabel('Show', { exact: true }).selectOption('all')
  await shown('sort_by=balance&order=asc&status=all')
  await page.getByLabel('Show', { exact: true }).selectOption('closed')
  await shown('sort_by=balance&order=asc&status=closed')
})

test('limits a wallet’s positions and trades to a market that is chosen by search, and stores the view in the URL', async () => {
  const page = await openAt(`#/wallet/${ANN}`)
  await page.getByRole('heading', { name: 'Profit and loss' }).waitFor()
  const sections = await page
    .locator('main section')
    .evaluateAll((all) => all.map((one) => one.className))
  assert.ok(
    sections.findIndex((name) => name.includes('wallet-pnl')) <
      sections.findIndex((name) => name.includes('wallet-profile')),
    'the net profit comes first',
  )
  await page.getByLabel('Show', { exact: true }).selectOption('all')
  await page.locator('.wallet-pnl').getByRole('button', { name: 'Monthly' }).click()
  await page.getByLabel('Only one market').fill('Snow')
  const option = page.getByRole('option', { name: 'Snow' })
  await option.waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Positions and trades of').waitFor()
  const id = new URLSearchParams(page.url().split('?')[1]).get('market') ?? ''
  const expected = await rowsOf(
    `/v1/wallets/${ANN}/trades?limit=50&market_id=${encodeURIComponent(id)}`,
    'trades',
  )
  assert.ok(expected.length > 0)
  const check = async () => {
    await waitForCount(page, '.wallet-trades tr[data-trade]', expected.length)
    assert.deepEqual(
      await attributes(page, '.wallet-trades tr[data-trade]', 'data-trade'),
      expected.map(({ id }) => id),
    )
    await page.locator('.wallet-pnl[data-step=month]').waitFor()
    assert.equal(await page.getByLabel('Show', { exact: true }).inputValue(), 'all')
  }
  await check()
  await page.reload()
  await check()
  await page.locator('strong', { hasText: 'Snow' }).waitFor()
  await page.getByRole('button', { name: 'Show all markets' }).click()
  await page.waitForURL((url) => !url.href.includes('market='))
})

test('shows a wallet’s profile and trades from REST, and loads more trades on a click', async () => {
  const page = await openAt(`#/wallet/${ANN}`)
  const { body } = await dashboard.server.get(`/v1/wallets/${ANN}`)
  const profile = page.locator('.wallet-profile')
  await profile.getByText(ANN).waitFor()
  await profile.getByText('Calm-Fox').waitFor()
  const { metrics } = body
  assert.ok(typeof metrics === 'object' && metrics !== null && 'total_volume' in metrics)
  const volume = profile.locator('[data-figure=Volume] dd')
  assert.equal(await volume.innerText(), usdText(Number(metrics.total_volume)))
  const trades = await rowsOf(`/v1/wallets/${ANN}/trades?limit=500`, 'trades')
  const rows = '.wallet-trades tr[data-trade]'
  await waitForCount(page, rows, 50)
  await page.locator('.wallet-trades').getByRole('button', { name: 'Show more' }).click()
  await page.locator(rows).nth(99).waitFor()
  assert.deepEqual(
    await attributes(page, rows, 'data-trade'),
    trades.slice(0, 100).map(({ id }) => id),
  )
})

test('shows a notice while the wallet’s data is incomplete', async () => {
  ann.isComplete = false
  const page = await openAt(`#/wallet/${ANN}`)
  await page.getByText('The data of this wallet is incomplete.').waitFor()
  const notice = await page.locator('.state.incomplete').innerText()
  assert.match(notice, /Sums may be wrong\. [A-Z].*\./)
  assert.doesNotMatch(notice, /\w_\w/, 'no codes of reasons')
  ann.isComplete = true
  ann.asOfMs = timeMs(NOON + 60_000)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('The data of this wallet is incomplete.').waitFor({ state: 'detached' })
  await page.locator('.wallet-profile').waitFor()
})

test('shows a specific message for an invalid address, an unknown wallet and a market id', async () => {
  const page = await openAt('#/wallet')
  const field = page.getByLabel('Address of a wallet')
  await field.fill('0x12')
  await field.press('Enter')
  await page.getByText('This is not a wallet address').waitFor()
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.match(page.url(), /#\/wallet$/)
  await field.fill(` ${NEW} `)
  await page.getByRole('button', { name: 'Show wallet' }).click()
  await page.getByText('No trades of this wallet.').waitFor()
  assert.match(page.url(), new RegExp(`#/wallet/${NEW}$`))
  const at = (subject: string) =>
    page.goto(`${dashboard.server.origin}/dashboard#/wallet/${subject}`)
  await at('0xnothing')
  await page.getByText('Not an address.').waitFor()
  dashboard.server.engine.add('TICKER', { venue: 'b' })
  await at('venue_b_TICKER')
  await page.getByText('this is an id of venue_b').waitFor()
  assert.equal(await page.locator('.card').count(), 0)
})
