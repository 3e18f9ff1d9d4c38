import assert from 'node:assert/strict'
import type { Page, Route } from 'playwright-core'
import { publishLifecycle } from '../../../actors/market/updates.ts'
import { EngineError } from '../../../engine/errors.ts'
import { nativeEventId, outcomeId } from '../../../engine/ids.ts'
import { FEES_UNKNOWN, feeCurve, MODEL_UNKNOWN } from '../../../engine/market/fees.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { Orderbook, TradePage } from '../../../http/dashboard/records.ts'
import { allProblems } from '../../support/browser/accessibility.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { until } from '../../support/fakes/receivers.ts'
import { openApiServer } from '../../support/rigs/api-server.ts'
import { ask, bid, level } from '../../support/worlds/builders.ts'

let dashboard: FakeDashboard
before(async () => {
  dashboard = await openFakeDashboard()
})
after(() => dashboard.close())

/** Later tests see the market too, so names must be unique. */
function add(name: string, set: Parameters<FakeDashboard['server']['engine']['add']>[1] = {}) {
  return dashboard.server.engine.add(name, { question: `Will ${name} happen?`, ...set })
}

const BIDS = [level(0.42, 100), level(0.41, 50.5), level(0.35, 1_000)]
const ASKS = [level(0.44, 30), level(0.4525, 70)]

const pageOf = ({ ref }: FakeMarket) => `#/market/${encodeURIComponent(ref.id)}`

interface ShownBook {
  readonly seq: string | null
  readonly bids: readonly (readonly string[])[]
  readonly asks: readonly (readonly string[])[]
}

const shownBook = (page: Page): Promise<ShownBook> =>
  page.evaluate(() => {
    const rows = (side: string) =>
      [...document.querySelectorAll(`.ladder [data-side=${side}] tr:not(.blank)`)].map((row) =>
        [...row.querySelectorAll('td')].slice(0, 2).map((cell) => cell.textContent?.trim() ?? ''),
      )
    const seq = document.querySelector('.book')?.getAttribute('data-seq') ?? null
    return { seq, bids: rows('bid'), asks: rows('ask').reverse() }
  })

const waitForSeq = (page: Page, seq: number | null) =>
  page.waitForFunction(
    (wanted) => document.querySelector('.book')?.getAttribute('data-seq') === wanted,
    String(seq),
  )

/** The book's 45.25 cents and 50.5 contracts require two decimals. */
const written = ({ price, size }: { readonly price: number; readonly size: number }) => [
  `${(price * 100).toFixed(2)}¢`,
  size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
]

const inDollars = ({ price, size }: { readonly price: number; readonly size: number }) => ({
  price: price / 1e6,
  size: size / 1e6,
})

async function newestTrades({ ref }: FakeMarket): Promise<readonly string[]> {
  const { text } = await dashboard.server.get(`/v1/markets/${ref.id}/trades?limit=200`)
  const { trades }: TradePage = JSON.parse(text)
  return trades.map(({ id }) => id)
}

async function restBook({ ref }: FakeMarket): Promise<Orderbook> {
  const { text } = await dashboard.server.get(`/v1/markets/${ref.id}/orderbook?depth=10`)
  const book: Orderbook = JSON.parse(text)
  return book
}

/** Collects the paths of API requests that the page sends from now on. */
function apiRequestsOf(page: Page): readonly string[] {
  const requested: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/v1/')) requested.push(pathname)
  })
  return requested
}

async function assertBookIsRest(page: Page, market: FakeMarket): Promise<void> {
  const rest = await restBook(market)
  await waitForSeq(page, rest.seq)
  const shown = await shownBook(page)
  assert.deepEqual(shown.bids, rest.bids.map(written))
  assert.deepEqual(shown.asks, rest.asks.map(written))
}

test('opens a market page from a search, and shows the same book as REST with the same seq', async () => {
  const market = add('rain', { category: 'Weather' })
  add('snow')
  market.replace(BIDS, ASKS)
  const page = await dashboard.open('#/markets')
  await page.getByRole('searchbox', { name: 'Search' }).fill('rain')
  await page.waitForFunction(() => document.querySelectorAll('.markets tbody tr').length === 1)
  assert.match(page.url(), /#\/markets\?q=rain$/)
  await page.getByRole('link', { name: 'Will rain happen?' }).click()
  await page.getByRole('heading', { level: 1, name: 'Will rain happen?' }).waitFor()
  await page.waitForSelector('.book[data-state=live]')
  await assertBookIsRest(page, market)
  for (let round = 1; round <= 5; round += 1) {
    for (let step = 0; step < 20; step += 1) {
      const size = (step * 7 + round) % 5
      market.change(bid(0.2 + step / 100, size * 10), ask(0.6 + step / 100, size))
    }
    await assertBookIsRest(page, market)
  }
})

test('updates prices in the market list from the stream without another REST request', async () => {
  const [one, other] = [add('moved-price'), add('still-price')]
  one.reprice(300_000)
  const page = await dashboard.open('#/markets?q=price')
  const price = (market: FakeMarket) =>
    page.locator(`tr[data-market="${market.ref.id}"] .outcome .price`)
  await price(one).first().getByText('30¢').waitFor()
  assert.deepEqual(await price(one).allTextContents(), ['30¢', '70¢'])
  const requested = apiRequestsOf(page)
  one.reprice(315_000)
  await price(one).first().getByText('31.5¢').waitFor()
  assert.deepEqual(await price(one).allTextContents(), ['31.5¢', '68.5¢'])
  assert.deepEqual(await price(other).allTextContents(), ['50¢', '50¢'])
  assert.deepEqual(requested, [])
})

test('shows a trade that buys the second outcome with the price and value of the second outcome', async () => {
  const market = add('nationals', {
    outcomes: [
      { id: outcomeId('mets'), label: 'Mets' },
      { id: outcomeId('nationals'), label: 'Nationals' },
    ],
  })
  const [price, usd] = [bid(0.81, 1).price, usdMicros(1_900_000)]
  market.trade({ price, side: 'sell', outcomeIndex: 1, usd })
  const page = await dashboard.open(pageOf(market))
  const cells = async () => {
    await page.locator('.tape tbody tr').nth(1).waitFor()
    const rows = await page.locator('.tape tbody tr').all()
    return Promise.all(rows.map(async (row) => (await row.locator('td').allInnerTexts()).slice(1)))
  }
  await page.locator('.tape tbody tr').first().waitFor()
  market.trade({ price, side: 'buy', outcomeIndex: 0, usd: usdMicros(8_100_000) })
  assert.deepEqual(await cells(), [
    ['Bought Mets', '81¢', '10', '$8.10'],
    ['Bought Nationals', '19¢', '10', '$1.90'],
  ])
})

test('adds a new trade to the list of trades and to the last candle', async () => {
  const market = add('trade')
  market.replace(BIDS, ASKS)
  for (let number = 0; number < 3; number += 1) market.trade()
  const page = await dashboard.open(pageOf(market))
  await page.waitForSelector('.candles[data-phase=shown] .legend')
  await page.waitForFunction(() => document.querySelectorAll('.tape tbody tr').length === 3)
  await page.waitForSelector('.candles canvas')
  const requested = apiRequestsOf(page)
  const row = market.trade({ price: bid(0.77, 1).price, side: 'sell' })
  await page.waitForSelector(`.tape tbody tr:first-child:has-text("77¢")`)
  const first = await page.locator('.tape tbody tr').first().locator('td').allTextContents()
  assert.deepEqual(first.slice(1, 4), ['Sold Yes', '77¢', '10'])
  await page.waitForFunction(
    () => document.querySelector('.legend')?.textContent?.includes('Close 77¢') === true,
  )
  assert.equal(await page.locator('.tape tbody tr').count(), 4)
  assert.deepEqual(requested, [], 'the update comes from the stream')
  assert.equal(market.stored.at(-1), row)
})

test('loads candles of a selected interval from REST, and updates the last candle from the stream', async () => {
  const market = add('candles')
  const hourAgo = timeMs(dashboard.server.engine.clock.nowMs() - 3_600_000)
  market.trade({ timeMs: hourAgo })
  market.trade()
  const page = await dashboard.open(pageOf(market))
  await page.waitForSelector('.candles[data-phase=shown] .legend')
  for (const [range, interval] of [
    ['1H', '1m'],
    ['1M', '4h'],
    ['1W', '1h'],
  ] as const) {
    await page.getByRole('button', { name: range, exact: true }).click()
    await page.waitForSelector(`.candles[data-interval="${interval}"][data-phase=shown]`)
    const path = `/v1/markets/${market.ref.id}/candles?interval=${interval}`
    const { body } = await dashboard.server.get(path)
    const candles = Array.isArray(body.candles) ? body.candles : []
    await page.waitForSelector(`.legend[data-at="${candles.at(-1)?.timestamp_ms}"]`)
  }
  market.trade({ price: bid(0.11, 1).price })
  await page.waitForFunction(
    () => document.querySelector('.legend')?.textContent?.includes('Close 11¢') === true,
  )
})

test('lists watched markets with live prices on the first page of every tab, and stores the chart’s range in the URL', async () => {
  const market = add('heron')
  const gone = add('crane')
  market.reprice(300_000)
  const page = await dashboard.open(pageOf(gone))
  await page.getByRole('button', { name: 'Watch', exact: false }).click()
  await page.getByRole('button', { name: 'Watched' }).waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard${pageOf(market)}`)
  await page.getByRole('button', { name: '☆ Watch' }).click()
  await page.getByRole('button', { name: '★ Watched' }).waitFor()
  await page.getByRole('button', { name: '1W' }).click()
  await page.getByRole('button', { name: 'Line' }).click()
  await page.waitForURL(/range=1W/)
  await page.waitForURL(/chart=Line/)
  await page.reload()
  await page.locator('.candles[data-range="1W"]').waitFor()
  await page.locator('[aria-pressed=true]', { hasText: 'Line' }).waitFor()
  await page.locator('[aria-pressed=true]', { hasText: 'Watched' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${dashboard.server.origin}/dashboard`)
  const row = (of = page, { ref } = market) => of.locator(`[data-watched="${ref.id}"]`)
  await row(other).waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/opportunities`)
  await row().waitFor()
  market.reprice(370_000)
  await row().getByText('37¢').waitFor()
  const shown = await page
    .locator('[data-watched]')
    .evaluateAll((rows) => rows.map((one) => one.getAttribute('data-watched')))
  assert.deepEqual(shown, [market.ref.id, gone.ref.id], 'the newest first')
  await row(page, gone).getByRole('button', { name: 'Remove' }).click()
  for (const one of [page, other]) await row(one, gone).waitFor({ state: 'detached' })
  await row().getByRole('button', { name: 'Remove' }).click()
  for (const one of [page, other]) {
    await one.getByRole('heading', { name: 'Watchlist' }).waitFor({ state: 'detached' })
  }
})

test('draws the venue’s price history, or explains that the history is unavailable', async () => {
  const market = add('remembered')
  const { engine } = dashboard.server
  const nowMs = engine.clock.nowMs()
  const own = engine.pastPrices
  const point = (hours: number) => ({
    timeMs: timeMs(nowMs - hours * 3_600_000),
    price: bid(0.3 + hours / 100, 1).price,
  })
  const steps: number[] = []
  engine.pastPrices = {
    ...own,
    async range({ ref }, { stepMs }) {
      if (ref.id === market.ref.id) steps.push(stepMs)
      return [20, 10, 2].map(point)
    },
  }
  const page = await dashboard.open(pageOf(market), { expected: [/status of 503/] })
  await page.waitForSelector('.candles[data-range="1D"][data-bars="3"] .legend')
  // Bars of the venue's history have no volume.
  assert.match(await page.locator('.legend').innerText(), /Volume\s+–/)
  assert.match(await page.locator('.legend').innerText(), /Close\s+32¢/)
  await page.getByRole('button', { name: 'Line' }).click()
  await page.waitForSelector('.candles [role=img][aria-label="Price, 1D"]')
  await page.getByRole('button', { name: '1W', exact: true }).click()
  await page.waitForSelector('.candles[data-range="1W"][data-bars="3"]')
  // The previous bars stay visible until the new bars arrive, so `data-bars` does not show the second request.
  await until(() => steps.length > 1, 'the second range is requested')
  assert.deepEqual(steps, [300_000, 3_600_000])
  engine.pastPrices = {
    ...own,
    range: () => Promise.reject(new EngineError('UNAVAILABLE', 'the venue does not answer')),
  }
  market.trade()
  await page.getByRole('button', { name: '1M', exact: true }).click()
  await page.getByText('The venue’s price history is unavailable').waitFor()
  await page.waitForSelector('.candles[data-range="1M"][data-bars="1"]')
  engine.pastPrices = own
})

test('formats prices with the decimals of the tick size, and labels no price below zero', async () => {
  const market = add('tenths', { tickMicros: priceMicros(1_000) })
  market.replace([level(0.01, 100)], [level(0.03, 30)])
  market.reprice(20_000)
  // The second trade has the average price of two levels, which is between two ticks.
  for (const price of [10_000, 402_500]) market.trade({ price: priceMicros(price), side: 'sell' })
  const page = await dashboard.open('#/markets?q=tenths')
  await page.locator('.outcome .price').first().getByText('2.0¢').waitFor()
  await page.addInitScript(() => {
    const written = new Set<string>()
    Object.assign(window, { written })
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, ...position) {
      written.add(text)
      return fillText.call(this, text, ...position)
    }
  })
  await page.goto(`${dashboard.server.origin}/dashboard${pageOf(market)}`)
  await page.reload()
  await page.locator('.candles[data-phase=shown] .legend').waitFor()
  await page.locator('.tape tbody tr').nth(1).waitFor()
  assert.deepEqual(await page.locator('.tape td.price').allTextContents(), ['40.25¢', '1.0¢'])
  const { bids, asks } = await shownBook(page)
  assert.deepEqual([bids[0]?.[0], asks[0]?.[0]], ['1.0¢', '3.0¢'])
  await page.waitForFunction(() => {
    const written: unknown = Reflect.get(window, 'written')
    return written instanceof Set && written.has('20¢')
  })
  const marks = await page.evaluate(() => {
    const written: unknown = Reflect.get(window, 'written')
    return written instanceof Set
      ? [...written].map(String).filter((text) => text.includes('¢'))
      : []
  })
  assert.deepEqual(
    marks.filter((text) => !/^(100|\d{1,2}(\.\d+)?)¢$/.test(text)),
    [],
  )
})

test('shows a market as settled and without live updates when the market settles while its page loads', async () => {
  const market = add('dusk', { tickMicros: priceMicros(1_000) })
  market.replace([level(0.41, 100)], [level(0.43, 30)])
  const page = await dashboard.open('#/markets')
  await page.getByRole('heading', { level: 1, name: 'Markets' }).waitFor()
  // The page subscribes after this response, so it receives no message about the settlement.
  await page.route(
    /\/v1\/markets\/[^/?]+$/,
    async (route) => {
      const response = await route.fetch()
      const price = priceMicros(1_000_000)
      market.summary = { ...market.summary, status: 'resolved', settlementPrice: price }
      market.now = { ...market.now, price, source: 'settlement', bid: null, ask: null }
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await page.evaluate((hash) => {
    location.hash = hash
  }, pageOf(market))
  await page.locator('[data-end=resolved]', { hasText: 'Settled: Yes' }).waitFor()
  assert.deepEqual(await page.locator('.outcomes-large .price').allTextContents(), ['100¢', '0¢'])
  assert.equal(await page.locator('[data-feed], .book').count(), 0)
})

test('marks a book as stale until the book arrives from the venue', async () => {
  const market = add('stale')
  const page = await dashboard.open(pageOf(market))
  await page.waitForSelector('.book[data-state=stale]')
  await page.getByText('Stale: the book may be out of date').waitFor()
  market.replace(BIDS, ASKS)
  await page.waitForSelector('.book[data-state=live]')
  await assertBookIsRest(page, market)
})

test('shows the last known book when the connection is lost, and marks the book as not live', async () => {
  const apiServer = await openApiServer()
  const market = apiServer.engine.add('lost')
  market.replace(BIDS, ASKS)
  const url = `${apiServer.origin}/dashboard${pageOf(market)}`
  const expected = [/ERR_CONNECTION_REFUSED/]
  const tab = await dashboard.chromium.open(url, { token: 'ann-token', expected })
  const { page } = tab
  try {
    await page.waitForSelector('.book[data-state=live]')
  } finally {
    await apiServer.stop()
  }
  await page.waitForSelector('.book[data-state=offline]')
  await page.getByText('Not connected: the last known book').waitFor()
  const { bids, asks } = await shownBook(page)
  assert.deepEqual(
    [bids, asks],
    [BIDS.map(inDollars).map(written), ASKS.map(inDollars).map(written)],
  )
})

test('renders all trades of the trade list when the user scrolls', async () => {
  const market = add('busy')
  for (let number = 0; number < 250; number += 1) market.trade()
  const page = await dashboard.open(pageOf(market))
  const rows = page.locator('.tape tbody tr')
  await rows.first().waitFor()
  assert.ok((await rows.count()) < 60)
  await page.getByRole('region', { name: 'Trades, newest first' }).focus()
  await page.keyboard.press('End')
  await page.waitForFunction(() => document.querySelectorAll('.tape tbody tr').length === 200)
  assert.equal(await rows.last().getAttribute('data-trade'), (await newestTrades(market)).at(199))
})

test('shows the prices of the matched market for the same outcome, and the live gap', async () => {
  const market = add('win')
  const matchedMarket = add('lose', { venue: 'b', question: 'Will they lose?' })
  const checked = { score: 93, relation: 'identical', inverted: true, outcomeMap: [1, 0] } as const
  const rest = { vetoes: [], reasons: [], explanation: 'Losing is not winning.' }
  dashboard.server.engine.matches.put(market, matchedMarket, { ...checked, ...rest })
  market.replace([level(0.4, 10)], [level(0.42, 10)])
  matchedMarket.replace([level(0.5, 10)], [level(0.55, 10)])
  const figure = (page: Page, name: string) =>
    page.locator(`.twin [data-figure=${name}]`).locator('td').allTextContents()
  for (const [from, to] of [
    [market, matchedMarket],
    [matchedMarket, market],
  ] as const) {
    const page = await dashboard.open(pageOf(from))
    await page.getByRole('link', { name: to.summary.question }).waitFor()
    await page.waitForSelector('.twin-prices[data-live=true]')
    const [bids, asks] = [await figure(page, 'bid'), await figure(page, 'ask')]
    const expected =
      from === market
        ? [
            ['40¢', '45¢'],
            ['42¢', '50¢'],
          ]
        : [
            ['50¢', '58¢'],
            ['55¢', '60¢'],
          ]
    assert.deepEqual([bids, asks], expected)
    const text = (name: string) => page.locator(`.twin [data-figure=${name}]`).textContent()
    assert.equal(await text('gap'), from === market ? '+6.5¢' : '+6.5¢')
    assert.equal(await text('crossed'), '+3¢')
    await page.context().close()
  }
  const page = await dashboard.open(pageOf(market))
  matchedMarket.change(bid(0.5, 0), bid(0.53, 5))
  await page.waitForFunction(
    () => document.querySelector('.twin [data-figure=ask]')?.textContent?.includes('47¢') === true,
  )
})

test('draws the prices of both venues in one chart without cut labels, and updates gap and fees from the stream', async () => {
  const { engine } = dashboard.server
  const now = { ...MODEL_UNKNOWN, kind: 'quadratic', taker: feeCurve(70_000, 1) } as const
  const fees = { ...FEES_UNKNOWN, now }
  const market = add('up', { fees })
  const matchedMarket = add('down', { venue: 'b', question: 'Will it go down?', fees })
  const score = { score: 93, relation: 'identical', inverted: true, outcomeMap: [1, 0] } as const
  const rest = { vetoes: [], reasons: [], explanation: 'Down is not up.' }
  engine.matches.put(market, matchedMarket, { ...score, ...rest })
  const nowMs = engine.clock.nowMs()
  for (let hours = 20; hours > 0; hours -= 1) {
    const [own, other] = [0.4 + hours / 100, 0.58 - hours / 100]
    const at = (minutes: number) => timeMs(nowMs - hours * 3_600_000 + minutes * 60_000)
    market.trade({ price: bid(own, 1).price, timeMs: at(0) })
    matchedMarket.trade({ price: bid(other, 1).price, timeMs: at(20) })
  }
  for (const width of [390, 1_280]) {
    const page = await dashboard.open('#/markets', { width })
    await page.addInitScript(collectCutLabels)
    await page.goto(`${dashboard.server.origin}/dashboard${pageOf(market)}`)
    await page.reload()
    const chart = page.locator('.pair-chart')
    await page.waitForSelector('.pair-chart[data-phase=shown][data-points="40"] .legend')
    assert.equal(await chart.getByRole('heading').innerText(), '“Yes” at both venues')
    assert.equal(await chart.locator('.legend').getAttribute('data-gap'), '0.02')
    // 0.07 × 0.41 × 0.59 + 0.07 × 0.43 × 0.57
    const shownFees = Number(await chart.locator('.legend').getAttribute('data-fees'))
    assert.ok(Math.abs(shownFees - 0.034_09) < 1e-9, `${shownFees}`)
    assert.equal(await chart.locator('.legend .up').count(), 0)
    for (const range of ['1H', '1W', '1M', 'All', '1D']) {
      await chart.getByRole('button', { name: range, exact: true }).click()
      await page.waitForSelector(`.pair-chart[data-phase=shown] [aria-label$=", ${range}"]`)
    }
    const cut: unknown = await page.evaluate(() => Reflect.get(window, 'cutLabels'))
    assert.deepEqual(cut, [], `${width}`)
    assert.deepEqual(await allProblems(page), [], `${width}`)
    await page.context().close()
  }
  const page = await dashboard.open(pageOf(matchedMarket), { expected: [/ERR_FAILED/] })
  const legend = page.locator('.pair-chart .legend')
  await page.locator('.pair-chart .legend[data-gap="0.02"]').waitFor()
  market.trade({ price: bid(0.3, 1).price })
  await page.locator('.pair-chart .legend[data-gap="0.13"]').waitFor()
  assert.equal(await legend.locator('.up').count(), 0, 'the other price is old')
  assert.equal(await legend.locator('time').count(), 2)
  matchedMarket.trade({ price: bid(0.57, 1).price })
  await legend.locator('.up').waitFor()
  assert.equal(await legend.locator('.up').innerText(), '+13¢')
  await page.route('**/candles?*interval=1h*', (route) => route.abort())
  await page.locator('.pair-chart').getByRole('button', { name: '1W', exact: true }).click()
  await page.locator('.pair-chart[data-phase=failed][data-points="0"]').waitFor()
})

/** Runs in the page. Collects texts that a canvas draws beyond its edges. */
function collectCutLabels(): void {
  const cutLabels: string[] = []
  Object.assign(window, { cutLabels })
  const { prototype } = CanvasRenderingContext2D
  const draw = prototype.fillText
  prototype.fillText = function (text, x, y, ...rest) {
    const { a: scale, e: shift } = this.getTransform()
    const width = this.measureText(text).width * scale
    const at = x * scale + shift
    const share = this.textAlign === 'center' ? 0.5 : /right|end/.test(this.textAlign) ? 1 : 0
    const [from, to] = [at - width * share, at + width * (1 - share)]
    if (text !== '' && (from < -1 || to > this.canvas.width + 1))
      cutLabels.push(`${text}: ${from} to ${to} of ${this.canvas.width}`)
    return draw.call(this, text, x, y, ...rest)
  }
}

test('shows the comparison with the other venue before the trades on a phone, in the order of the document', async () => {
  const market = add('phone')
  const matchedMarket = add('handset', { venue: 'b' })
  const checked = { score: 90, relation: 'identical', inverted: false, outcomeMap: [0, 1] } as const
  const rest = { vetoes: [], reasons: [], explanation: 'The same.' }
  dashboard.server.engine.matches.put(market, matchedMarket, { ...checked, ...rest })
  for (const one of [market, matchedMarket]) one.replace(BIDS, ASKS)
  const page = await dashboard.open(pageOf(market), { width: 390, height: 844 })
  for (const panel of ['.book', '.twin', '.tape']) await page.waitForSelector(panel)
  for (const width of [390, 800]) {
    await page.setViewportSize({ width, height: 844 })
    const panels = await page.evaluate(() =>
      [...document.querySelectorAll('.market-grid > .stack > *')].map((panel) => ({
        name: ['book', 'twin', 'tape'].find((name) => panel.classList.contains(name)),
        top: panel.getBoundingClientRect().top,
      })),
    )
    const tops = panels.map(({ top }) => top)
    assert.deepEqual(
      tops,
      [...tops].sort((one, other) => one - other),
    )
    assert.deepEqual(
      panels.map(({ name }) => name).filter((name) => name !== undefined),
      ['book', 'twin', 'tape'],
    )
  }
})

test('leaves a matched market on the page after both markets ended, and states how each settled', async () => {
  const { engine } = dashboard.server
  const market = add('victory')
  const matchedMarket = add('defeat', { venue: 'b', question: 'Will defeat be avoided?' })
  const score = { score: 93, relation: 'identical', inverted: false, outcomeMap: [0, 1] } as const
  const rest = { vetoes: [], reasons: [], explanation: 'Victory avoids defeat.' }
  engine.matches.put(market, matchedMarket, { ...score, ...rest })
  const end = (one: FakeMarket, status: 'closed' | 'resolved', settlementPrice = 0) => {
    one.summary = {
      ...{ ...one.summary, status, settlementPrice: priceMicros(settlementPrice) },
    }
    one.now = { ...one.now, price: priceMicros(settlementPrice), source: 'settlement' }
    engine.matches.onListed(one)
    publishLifecycleOf(one, status)
  }
  end(matchedMarket, 'closed')
  const page = await dashboard.open(pageOf(market))
  const panel = page.locator('.twin')
  const result = (one: FakeMarket) => panel.locator(`[data-market="${one.ref.id}"]`)
  await result(market).getByText('Still trading').waitFor()
  await result(matchedMarket).getByText('This market does not trade now.').waitFor()
  end(market, 'resolved', 1_000_000)
  await result(market).getByText('Settled: Yes').waitFor()
  end(matchedMarket, 'resolved')
  await result(matchedMarket).getByText('Settled: No').waitFor()
  await panel.getByText('Different results').waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/matches`)
  await page.getByLabel('State').selectOption('resolved')
  const card = page.locator('.match', { hasText: 'Will defeat be avoided?' })
  await card.getByText('Different results').waitFor()
  assert.match(page.url(), /state=resolved/)
})

function publishLifecycleOf(market: FakeMarket, event: 'closed' | 'resolved'): void {
  const { publisher, clock } = dashboard.server.engine
  const nowMs = clock.nowMs()
  const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
  publishLifecycle(publisher, market.ref, times, {
    ...{ event, facts: market.summary, matchedMarket: null },
  })
}

test('shows for a matched market with a different question the difference first, and no prices', async () => {
  const market = add('rain in Boston')
  const similar = add('rain in Chicago', { venue: 'b' })
  const pair = { score: 30, relation: 'different', inverted: false, outcomeMap: [0, 1] } as const
  const rest = { vetoes: [], reasons: [], explanation: 'Boston is not Chicago.' }
  dashboard.server.engine.matches.put(market, similar, { ...pair, ...rest })
  market.replace([level(0.1, 10)], [level(0.12, 10)])
  similar.replace([level(0.9, 10)], [level(0.92, 10)])
  const page = await dashboard.open(pageOf(market))
  await page.getByRole('heading', { name: 'Similar question at Kalshi' }).waitFor()
  const panel = page.locator('.twin')
  await panel.getByRole('link', { name: similar.summary.question }).waitFor()
  assert.match(await panel.innerText(), /^Similar question at .*\s+Boston is not Chicago\./)
  await page.waitForSelector('.book[data-state=live]')
  assert.doesNotMatch(await panel.innerText(), /¢/)
  assert.equal(await panel.locator('.up, .down, [data-figure]').count(), 0)
})

test('shows volumes in the venue’s unit, and the scheduled close of a market that is still open', async () => {
  const closeAtMs = timeMs(dashboard.server.engine.clock.nowMs() - 86_400_000)
  const dollars = add('volume in dollars')
  const contracts = add('volume in contracts', { venue: 'b', closeAtMs })
  for (const market of [dollars, contracts])
    Object.assign(market, { volume24h: usdMicros(12_300_000_000) })
  const page = await dashboard.open('#/markets?q=volume')
  const cell = (market: FakeMarket) => page.locator(`tr[data-market="${market.ref.id}"] .volume`)
  await cell(dollars).getByText('$12.3K', { exact: true }).waitFor()
  await cell(contracts).getByText('12.3K contracts', { exact: true }).waitFor()
  await page.getByRole('link', { name: contracts.summary.question }).click()
  await page.locator('.market-facts').getByText('Scheduled close').waitFor()
  await page.locator('.market-facts').getByText('12.3K contracts').first().waitFor()
  await page.locator('.market-title').getByText('open', { exact: true }).waitFor()
  assert.equal(await page.locator('.market-facts').getByText('Closed', { exact: true }).count(), 0)
})

test('states on the market page that a market has no match', async () => {
  const market = add('alone')
  const page = await dashboard.open(pageOf(market))
  await page.getByText('No matching market at Kalshi.').waitFor()
})

test('shows an error with a link to the list for an unknown market', async () => {
  const page = await dashboard.open('#/market/venue_a_%3Cb%3Enothing')
  await page.getByRole('heading', { name: 'No such market' }).waitFor()
  await page.getByText('venue_a_<b>nothing').waitFor()
  await page.getByRole('link', { name: 'Search the markets' }).click()
  await page.getByRole('heading', { level: 1, name: 'Markets' }).waitFor()
})

test('states that a search has no result, and retries a failed search', async () => {
  add('something')
  const page = await dashboard.open('#/markets?q=zebra', { expected: [/ERR_FAILED/] })
  await page.getByText('No open market contains “zebra”.').waitFor()
  await page.route('**/v1/markets**', (route) => route.abort())
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('The server does not answer.').waitFor()
  await page.unroute('**/v1/markets**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'Will something happen?' }).waitFor()
})

test('shows the waiting time after the server refused a search by rate limit, then repeats the search', async () => {
  add('patience')
  const page = await dashboard.open('#/markets?q=zebra')
  await page.getByText('No open market contains “zebra”.').waitFor()
  await page.route('**/v1/markets/search**', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'Retry-After': '1' },
      json: { detail: 'at most 60 requests a minute' },
    }),
  )
  await page.getByRole('searchbox', { name: 'Search' }).fill('patience')
  await page.getByText('At most 60 requests a minute. Again in 1 s.').waitFor()
  await page.unroute('**/v1/markets/search**')
  await page.getByRole('link', { name: 'Will patience happen?' }).waitFor()
})

test('stores filters in the URL, and lists each market once across pages', async () => {
  for (let number = 0; number < 60; number += 1) {
    const volume24h = usdMicros((100 - number) * 1_000_000)
    add(`many-${number}`, { volume24h, category: number < 55 ? 'Storms' : 'Politics' })
  }
  add('elsewhere', { venue: 'b', category: 'Storms' })
  const page = await dashboard.open('#/markets?venue=venue_a&category=Storms')
  const links = page.locator('.markets tbody th a')
  await links.first().waitFor()
  assert.equal(await links.count(), 50)
  await page.getByRole('button', { name: 'More markets' }).click()
  await page.waitForFunction(() => document.querySelectorAll('.markets tbody tr').length === 55)
  const names = await links.allTextContents()
  assert.equal(new Set(names).size, 55)
  assert.equal(await page.getByRole('button', { name: 'More markets' }).count(), 0)
  await page.getByLabel('Venue').selectOption('venue_b')
  await page.getByRole('link', { name: 'Will elsewhere happen?' }).waitFor()
  assert.equal(await links.count(), 1)
  assert.match(page.url(), /#\/markets\?venue=venue_b&category=Storms$/)
  await page.reload()
  await page.getByRole('link', { name: 'Will elsewhere happen?' }).waitFor()
  assert.equal(await page.getByLabel('Venue').inputValue(), 'venue_b')
})

test('searches after a pause in typing, and ignores responses to earlier queries', async () => {
  for (const name of ['otter', 'badger']) add(name, { category: 'Animals' })
  const page = await dashboard.open('#/markets?category=Animals')
  const box = page.getByRole('searchbox', { name: 'Search' })
  const link = (name: string) => page.getByRole('link', { name: `Will ${name} happen?` })
  const searches: string[] = []
  let releaseHeld: () => void = () => undefined
  let held = new Promise<void>((done) => {
    releaseHeld = done
  })
  const answers: Promise<void>[] = []
  const answer = async (route: Route) => {
    const { origin, pathname, searchParams: query } = new URL(route.request().url())
    const isPage = query.get('cursor') !== null
    if (query.get('search') !== null)
      searches.push(`${query.get('search')}${isPage ? ' more' : ''}`)
    query.delete('cursor')
    const response = await route.fetch({ url: `${origin}${pathname}?${query}` })
    if (isPage || query.get('search') === 'otter') await held
    // `fulfill` fails if the page has aborted the request.
    const json = { ...(await response.json()), cursor: 'next' }
    await route.fulfill({ response, json }).catch(() => undefined)
  }
  await page.route('**/v1/markets**', (route) => void answers.push(answer(route)))
  await link('otter').waitFor()
  // On a busy machine, real time between two keys may exceed the pause.
  await page.clock.install()
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 60_000))
  for (const key of 'otter') {
    await box.press(key)
    await page.clock.runFor(100)
  }
  assert.deepEqual(searches, [])
  await page.clock.resume()
  await page.locator('.markets[aria-busy=true] .aging').waitFor()
  assert.ok(await link('badger').isVisible(), 'the previous rows are shown while a list loads')
  await box.fill('badger')
  await page.waitForFunction(() => document.querySelectorAll('.markets tbody tr').length === 1)
  releaseHeld()
  held = new Promise<void>((done) => {
    releaseHeld = done
  })
  await page.getByRole('button', { name: 'More markets' }).click()
  await page.getByLabel('Status').selectOption('')
  await page.locator('.markets[aria-busy=false]').waitFor()
  releaseHeld()
  await Promise.all(answers)
  await page.evaluate(() => new Promise(requestAnimationFrame))
  assert.deepEqual(searches, ['otter', 'badger', 'badger more', 'badger'])
  assert.equal(await page.locator('.markets tbody tr').count(), 1)
  assert.ok(await link('badger').isVisible())
  for (let pages = 1; pages < 8; pages += 1) {
    await page.getByRole('button', { name: 'More markets' }).click()
    await page.locator(`.markets tbody:nth-of-type(${pages + 1})`).waitFor()
  }
  await page.getByText('No more are shown at once.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'More markets' }).count(), 0)
})

test('lists open markets by volume, and stores search, sorting and grouping in the URL', async () => {
  const usd = (thousands: number) => usdMicros(thousands * 1_000_000_000)
  const nowMs = dashboard.server.engine.clock.nowMs()
  const days = (count: number) => timeMs(nowMs + count * 86_400_000)
  const of = { category: 'Regattas', eventSlug: 'event-race' }
  for (const name of ['race', 'other']) {
    dashboard.server.engine.addEvent(name, { category: 'Regattas' })
  }
  add('quiet', { ...of, volume24h: usd(1), closeAtMs: days(1) })
  add('busy', { ...of, volume24h: usd(9), closeAtMs: days(3) })
  add('lively', {
    category: 'Regattas',
    eventSlug: 'event-other',
    volume24h: usd(5),
    closeAtMs: days(2),
  })
  add('over', { ...of, status: 'closed', volume24h: usd(20) })
  const page = await dashboard.open('#/markets')
  const shown = (...names: readonly string[]) =>
    page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('.markets tr[data-market] th a')]
          .map((link) => link.textContent)
          .join() === wanted,
      names.map((name) => `Will ${name} happen?`).join(),
    )
  await page.locator('.markets tbody tr').first().waitFor()
  assert.equal(await page.getByLabel('Status').inputValue(), 'open')
  await page.getByLabel('Category').fill('Regattas')
  await page.getByLabel('Category').press('Enter')
  await shown('busy', 'lively', 'quiet')
  const column = page.locator('.markets th', { hasText: 'Volume 24 h' })
  assert.equal(await column.getAttribute('aria-sort'), 'descending')
  await page.getByRole('button', { name: 'Closes' }).click()
  await shown('quiet', 'lively', 'busy')
  await page.getByLabel('Status').selectOption('')
  assert.match(page.url(), /status=any.*sort=close_time&way=up$/)
  await page.getByLabel('Group by event').check()
  await shown('over', 'busy', 'quiet', 'lively')
  const heads = await page.locator('.markets tr.event').allInnerTexts()
  assert.match(heads.join(), /3 markets, \$30.0K in 24 h.*1 market, \$5.0K in 24 h/s)
  await page.reload()
  await shown('over', 'busy', 'quiet', 'lively')
  await page.locator('h1').click()
  await page.keyboard.press('/')
  await page.keyboard.type('quiet/')
  await page.waitForURL(/q=quiet%2F/)
  assert.equal(await page.getByRole('searchbox').inputValue(), 'quiet/')
  // The `/` key selects the field's text, which typing replaces.
  await page.locator('h1').click()
  await page.keyboard.press('/')
  await page.keyboard.type('busy')
  await page.waitForURL(/q=busy(&|$)/)
})

test('shows an event with the prices of both venues, their sums and links, and groups matched events together', async () => {
  const { engine } = dashboard.server
  const events = (['a', 'b'] as const).map((venue) => {
    const nativeId = nativeEventId(`cup-${venue}`)
    engine.addEvent(`cup-${venue}`, {
      venue,
      nativeId,
      slug: `cup-${venue}`,
      category: 'Cups',
      title: `Cup winner at ${venue}`,
    })
    return { venue, event: nativeId, eventSlug: `cup-${venue}`, category: 'Cups' } as const
  })
  const [atA, atB] = events
  assert.ok(atA !== undefined && atB !== undefined)
  const pairs = ['north', 'south'].map(
    (name) => [add(`${name} cup`, atA), add(`${name} trophy`, atB)] as const,
  )
  const alone = add('nobody trophy', atB)
  for (const [index, [a, b]] of pairs.entries()) {
    engine.matches.put(a, b)
    for (const [market, low] of [
      [a, 0.3],
      [b, 0.35],
    ] as const) {
      const [bidLevel, askLevel] = [level(low + index / 10, 10), level(low + 0.02 + index / 10, 10)]
      market.now = { ...market.now, bid: bidLevel.price, ask: askLevel.price }
    }
    a.reprice(310_000 + index * 100_000)
    b.reprice(360_000 + index * 100_000)
  }
  alone.reprice(50_000)
  const page = await dashboard.open('#/markets?group=event&category=Cups', {
    expected: [/ERR_FAILED/],
  })
  const group = page.locator('.markets tr.event', { hasText: 'Cup winner' })
  await group.first().waitFor()
  assert.equal(await group.count(), 1)
  assert.match(await group.innerText(), /Polymarket: 2 markets.*Kalshi: 3 markets/)
  await group.getByRole('link').click()
  await page.locator('.event-page').waitFor()
  const rows = page.locator('.event-outcomes tbody tr[data-outcome]')
  await rows.nth(2).waitFor()
  assert.equal(await rows.count(), 3)
  const cells = async (name: string) => rows.filter({ hasText: name }).locator('td').allInnerTexts()
  for (const page of [
    ['north', '31¢', '36¢', '+5¢'],
    ['south', '41¢', '46¢', '+5¢'],
    ['nobody', '–', '5¢', '–'],
  ] as const) {
    assert.deepEqual((await cells(page[0])).slice(0, 3), page.slice(1))
  }
  assert.equal(await page.locator('[data-sum=a]').innerText(), '72¢')
  assert.equal(await page.locator('[data-sum=b]').innerText(), '87¢')
  pairs[0]?.[0].reprice(330_000)
  await page.locator('[data-sum=a]').getByText('74¢').waitFor()
  for (const width of [390, 768, 1_280]) {
    await page.setViewportSize({ width, height: 800 })
    const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(overhang <= 0, `${overhang} pixels wider than ${width}`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await allProblems(page), [], `${width} ${colorScheme}`)
    }
  }
  await page.route('**/v1/matching-markets*', (route) => route.abort())
  await page.reload()
  await page.getByText('Only one venue is shown.').waitFor()
  assert.equal(await page.locator('[data-sum=a]').innerText(), '74¢')
  assert.equal(await page.locator('[data-sum=b]').innerText(), '–')
  await page.unroute('**/v1/matching-markets*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await rows.nth(2).waitFor()
  await page.locator('[data-venue-event] a').click()
  await page.getByRole('heading', { level: 1, name: /^Cup winner at/ }).waitFor()
  await page.locator('[data-outcome] a').first().click()
  const siblings = page.locator('.siblings')
  await siblings.getByRole('link', { name: /^All \d outcomes of the event$/ }).waitFor()
  assert.ok((await siblings.locator('li').count()) >= 1)
  for (const market of [...pairs.flat(), alone]) market.reprice(550_000)
  await siblings.getByText('55¢').first().waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/event/no-such`)
  await page.getByRole('heading', { name: 'No such event' }).waitFor()
})
