import assert from 'node:assert/strict'
import { sizeMicros } from '../../../engine/units.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import { bid, level } from '../../support/worlds/builders.ts'

let dashboard: FakeDashboard
before(async () => {
  dashboard = await openFakeDashboard({ opensLocalAccount: true })
  const { engine } = dashboard.server
  engine.accounts.make('one', { requestsPerMinute: 100_000, socketsMax: 1 })
  engine.accounts.make('none', { requestsPerMinute: 100_000, socketsMax: 0 })
  engine.accounts.make('local', { tier: 'enterprise', requestsPerMinute: 100_000, socketsMax: 50 })
})
after(() => dashboard.close())

let count = 0
function openMarket() {
  count += 1
  const market = dashboard.server.engine.add(`streamed${count}`)
  market.replace([level(0.42, 100)], [level(0.44, 30)])
  return market
}
const socketsOf = (name: string): number =>
  [...dashboard.server.engine.accounts.accounts.values()].find(({ caller }) =>
    caller.email.startsWith(name),
  )?.socketCount ?? -1

test('shares one stream between three tabs, and continues the stream when one tab closes', async () => {
  const markets = [openMarket(), openMarket(), openMarket()]
  const [first, ...others] = markets
  assert.ok(first !== undefined)
  const page = await dashboard.open(`#/market/${first.ref.id}`, { token: 'one-token' })
  const context = page.context()
  const pages = [page]
  for (const market of others) {
    const another = await context.newPage()
    await another.goto(`${dashboard.server.origin}/dashboard#/market/${market.ref.id}`)
    pages.push(another)
  }
  for (const page of pages) await page.locator('.book[data-state=live]').waitFor()
  assert.equal(socketsOf('one'), 1)
  await pages.shift()?.close()
  for (const [index, page] of pages.entries()) {
    const market = others[index]
    assert.ok(market !== undefined)
    market.change(bid(0.43, 7 + index))
    await page
      .locator('.ladder [data-side=bid] tr:not(.blank) td')
      .filter({ hasText: '43' })
      .first()
      .waitFor()
    await page.locator('.book[data-state=live]').waitFor()
  }
  assert.equal(socketsOf('one'), 1)
  await context.close()
  while (socketsOf('one') > 0) await new Promise((resolve) => setImmediate(resolve))
})

const WORKERS: Readonly<Record<string, string>> = {
  'no shared workers': 'delete globalThis.SharedWorker',
  'failing shared worker': `globalThis.SharedWorker = class extends EventTarget {
    port = new MessageChannel().port1
    constructor() {
      super()
      setTimeout(() => this.dispatchEvent(new Event('error')))
    }
  }`,
}

test('opens a separate stream per tab when shared workers fail, and reconnects after the back/forward cache', async () => {
  for (const [browser, script] of Object.entries(WORKERS)) {
    const market = openMarket()
    const page = await dashboard.open('#/status', { token: 'one-token' })
    await page.addInitScript({ content: script })
    await page.goto(`${dashboard.server.origin}/dashboard#/market/${market.ref.id}`)
    await page.reload()
    await page.locator('.book[data-state=live]').waitFor()
    assert.equal(socketsOf('one'), 1, browser)
    await page.context().close()
    while (socketsOf('one') > 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const market = openMarket()
  const page = await dashboard.open(`#/market/${market.ref.id}`, { token: 'one-token' })
  await page.locator('.book[data-state=live]').waitFor()
  await page.evaluate(() => dispatchEvent(new Event('pagehide')))
  while (socketsOf('one') > 0) await new Promise((resolve) => setImmediate(resolve))
  market.change(bid(0.43, 6))
  await page.evaluate(() => dispatchEvent(new Event('pageshow')))
  const best = page.locator('.ladder [data-side=bid] tr:not(.blank) td').first()
  await best.filter({ hasText: '43' }).waitFor()
  await page.locator('.book[data-state=live]').waitFor()
})

test('shows no error when the server closes an idle connection, and reconnects on the next market page', async () => {
  const market = openMarket()
  const page = await dashboard.open(`#/market/${market.ref.id}`, { token: 'one-token' })
  await page.addInitScript({ content: WORKERS['no shared workers'] ?? '' })
  const ends: (() => Promise<void>)[] = []
  await page.routeWebSocket(/\/v1\/ws\?/, (socket) => {
    socket.connectToServer()
    ends.push(() => socket.close({ code: 4_001, reason: 'no subscription for 60 s' }))
  })
  await page.clock.install()
  await page.reload()
  const live = page.locator('.book[data-state=live]')
  await live.waitFor()
  await page.evaluate(() => location.assign('#/account'))
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  await ends[0]?.()
  await page.locator('.connection[data-state=resting]').waitFor({ state: 'attached' })
  await page.clock.runFor(61_000)
  assert.equal(await page.locator('.connection').innerText(), '')
  assert.equal(ends.length, 1, 'no subscription, no new connection')
  await page.goBack()
  await live.waitFor()
  assert.equal(ends.length, 2)
})

test('marks a book as not live when the browser is offline or a heartbeat is missing', async () => {
  const market = openMarket()
  for (let count = 0; count < 3; count += 1) market.trade()
  const page = await dashboard.open(`#/market/${market.ref.id}`, {
    expected: [/ERR_INTERNET_DISCONNECTED/],
  })
  await page.clock.install()
  await page.reload()
  const state = (name: string) => page.locator(`.book[data-state=${name}]`).waitFor()
  await page.clock.runFor(3_000)
  await state('live')
  await page.context().setOffline(true)
  await page.clock.runFor(100)
  await state('offline')
  await page.getByText('This browser is offline').waitFor()
  await page.locator('.tape').getByText('Not connected: the last known trades').waitFor()
  // The failed reload must keep the shown trades and candles.
  const failing = page.waitForEvent('requestfailed', (request) => request.url().includes('/trades'))
  await page.clock.runFor(21_000)
  await failing
  await page.locator('.candles[data-phase=failed]').waitFor()
  assert.equal(await page.locator('.tape tbody tr').count(), 3)
  assert.equal(await page.locator('.candles .legend').count(), 1)
  await page.context().setOffline(false)
  await page.clock.runFor(100)
  await state('live')
  await page.locator('.tape [data-old]').waitFor({ state: 'detached' })
  // Advances the tab's clock, so that the heartbeat is late.
  await page.clock.runFor(7_500)
  await state('late')
  await page.getByText('No messages from the server').waitFor()
  market.change(bid(0.43, 5))
  for (let tries = 0; tries < 100; tries += 1) {
    await page.clock.runFor(50)
    if ((await page.locator('.book[data-state=live]').count()) > 0) break
  }
  await state('live')
})

test('polls books, prices and lists, and shows a notice, when no stream is available', async () => {
  const market = openMarket()
  const page = await dashboard.open(`#/market/${market.ref.id}`, {
    token: 'none-token',
    expected: [/WebSocket connection to/],
  })
  await page.getByText('No live stream (all connections of this account may be in use)').waitFor()
  await page.locator('.book[data-state=polled]').waitFor()
  market.change(bid(0.43, 9))
  const best = page.locator('.ladder [data-side=bid] tr:not(.blank) td').first()
  await best.filter({ hasText: '43' }).waitFor()
  market.trade({ size: sizeMicros(777_000_000) })
  await page.locator('.tape').getByText('777').first().waitFor()
})

test('logs in to the local account with one button, and logs out', async () => {
  const page = await dashboard.open('', { token: null })
  await page.getByRole('button', { name: 'Open the dashboard' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  await page.getByRole('link', { name: 'Account' }).click()
  await page.getByText('local@example.com').waitFor()
  assert.equal(await page.getByLabel('Current password').count(), 0)
  await page.reload()
  await page.getByText('local@example.com').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('button', { name: 'Open the dashboard' }).waitFor()
})
