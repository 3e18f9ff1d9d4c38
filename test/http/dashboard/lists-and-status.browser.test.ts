import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Whale } from '../../../engine/events.ts'
import { outcomeId } from '../../../engine/ids.ts'
import { priceMicros, type TimeMs, timeMs, usdMicros } from '../../../engine/units.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { sessionCookie } from '../../support/browser/chromium.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { quietDrift } from '../../support/fakes/quiet-drift.ts'
import { readCsv } from '../../support/reference/csv-reader.ts'
import { pairScore } from '../../support/reference/word-scorer.ts'
import { beforeAgain } from '../../support/rigs/full-service.ts'
import { NOON } from '../../support/worlds/builders.ts'

const PAIRS = 25
const MARKUP = 'Will <img src=x onerror="alert(1)"> win?'
const DAY = '2026-11-20'

let dashboard: FakeDashboard
const pairs: (readonly [FakeMarket, FakeMarket])[] = []
let alone: FakeMarket
before(async () => {
  dashboard = await openFakeDashboard()
  const { engine } = dashboard.server
  for (let index = 0; index < PAIRS; index += 1) {
    const question = index === 0 ? MARKUP : `Does A${index} happen?`
    const a = engine.add(`a${index}`, { question })
    const b = engine.add(`b${index}`, { venue: 'b', question: `B${index} asked?` })
    quote(a, 0.4, 0.42)
    quote(b, 0.5, 0.54)
    pairs.push([a, b])
    const isInverted = index === 1
    const score = 99 - index * 2
    engine.matches.put(
      ...[
        a,
        b,
        pairScore(score, { inverted: isInverted, vetoes: score < 80 ? ['other_date'] : [] }),
      ],
      NOON,
    )
  }
  const [first, second] = pairs
  assert.ok(first !== undefined && second !== undefined)
  alone = engine.add('alone', { venue: 'b', question: 'Is it alone?' })
  engine.sports.put({ sport: 'nba', date: DAY, game: `nba-x-y-${DAY}` }, ...first, second[0], alone)
  engine.sports.put({ sport: 'nhl', date: DAY, game: `nhl-x-y-${DAY}` }, alone)
})
after(() => dashboard.close())

/** Publishes the best prices. `bid` and `ask` are in dollars. */
function quote(market: FakeMarket, bid: number, ask: number): void {
  const micros = (dollars: number) => priceMicros(Math.round(dollars * 1_000_000))
  market.now = { ...market.now, bid: micros(bid), ask: micros(ask) }
  market.reprice(Math.round((bid + ask) * 500_000))
}

/** Each element's text is on one line. */
const texts = async (page: Page, selector: string): Promise<readonly string[]> =>
  (await page.locator(selector).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())

const pairAt = (index: number): readonly [FakeMarket, FakeMarket] => {
  const pair = pairs[index]
  assert.ok(pair !== undefined)
  return pair
}

test('lists matches in the order of the REST response with questions, explanations and warnings', async () => {
  const page = await dashboard.open('#/matches?relation=any')
  await page.locator('.match').first().waitFor()
  const { body } = await dashboard.server.get('/v1/matching-markets?limit=20')
  assert.ok(Array.isArray(body.matches))
  const expected = body.matches.flatMap((match) => [match.venue_a.question, match.venue_b.question])
  assert.deepEqual(await texts(page, '.match [data-market] a'), expected)
  assert.equal(expected[0], MARKUP)
  assert.equal(await page.locator('.match img').count(), 0)
  const card = page.locator('.match').nth(12)
  await card.getByText('They share 75 % of their words.').waitFor()
  await card.getByText('Warning: other date').waitFor()
  await card.getByText('medium confidence').waitFor()
  await card.getByText('Overlapping questions').waitFor()
  assert.deepEqual(await card.locator('.num, .up, .down, [data-gap]').count(), 0, 'no prices')
  assert.doesNotMatch(await card.innerText(), /¢/)
  await page.locator('.match').nth(1).getByText('Inverted: Yes here is No there').waitFor()
})

test('lists matches with the same question, adds similar questions when the user selects them, and names the selection', async () => {
  const page = await dashboard.open('#/matches')
  await page.getByText('10 of 10 pairs', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Matches: same question on both venues' }).waitFor()
  assert.equal(await page.getByLabel('Minimum score').inputValue(), '80')
  await page.getByLabel('Sort by').selectOption('price_gap')
  await page.locator('.match').first().waitFor()
  assert.match(page.url(), /sort=price_gap/)
  await page.getByLabel('Questions').selectOption('overlap')
  await page.getByText('15 of 15 pairs', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Matches: overlapping questions' }).waitFor()
  assert.deepEqual(await texts(page, 'select:has(option[value=score]) option'), ['Score'])
  assert.equal(await page.locator('[data-gap]').count(), 0)
})

test('updates the price gap between the venues when a live price changes', async () => {
  const page = await dashboard.open('#/matches')
  const gap = (index: number, value: number) =>
    page.locator('.match').nth(index).locator(`[data-gap="${value}"]`).waitFor()
  const { body } = await dashboard.server.get('/v1/matching-markets?limit=2')
  assert.ok(Array.isArray(body.matches))
  assert.deepEqual(
    body.matches.map(({ price_gap }) => price_gap),
    [0.11, 0.07],
  )
  await gap(0, 0.11)
  await gap(1, 0.07)
  quote(pairAt(0)[1], 0.6, 0.7)
  await gap(0, 0.24)
  quote(pairAt(1)[1], 0.6, 0.7)
  await gap(1, -0.06)
  await page.locator('.match').nth(1).getByText('−6¢').waitFor()
  for (const index of [0, 1]) quote(pairAt(index)[1], 0.5, 0.54)
  await gap(0, 0.11)
})

test('filters matches by text, confidence and score, and loads more matches on a click', async () => {
  const page = await dashboard.open('#/matches?relation=any&score=60')
  const shown = (text: string) => page.getByText(text, { exact: true }).waitFor()
  await shown('20 of 20 pairs')
  assert.equal(await page.getByLabel('Minimum score').inputValue(), '60')
  await page.getByLabel('Minimum score').fill('0')
  await page.getByLabel('Minimum score').press('Enter')
  await shown('20 of 25 pairs')
  await page.getByRole('button', { name: 'Show more' }).click()
  await shown('25 of 25 pairs')
  assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0)
  assert.equal(new Set(await texts(page, '.match [data-market] a')).size, 50)
  await page.getByLabel('Confidence').selectOption('high')
  await shown('10 of 10 pairs')
  assert.match(page.url(), /confidence=high/)
  await page.reload()
  await shown('10 of 10 pairs')
  await page.getByLabel('Search').fill('nowhere')
  await page.getByLabel('Search').press('Enter')
  await page.getByText('No pair passes these filters').waitFor()
})

test('saves all rows of the current filter as CSV, also rows that the page does not show yet', async () => {
  const saved = async (page: Page, name: string) => {
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: `Save as CSV: ${name}` }).click()
    const file = await download
    assert.match(file.suggestedFilename(), /^twinbook-[a-z-]+-\d{4}-\d\d-\d\d\.csv$/)
    return readCsv(readFileSync(await file.path(), 'utf8'))
  }
  const page = await dashboard.open('#/matches?relation=any&score=0')
  await page.getByText('20 of 25 pairs', { exact: true }).waitFor()
  const rows = await saved(page, 'matches')
  await page.getByText('Saved 25 rows.').waitFor()
  const { body } = await dashboard.server.get('/v1/matching-markets?min_score=0&limit=200')
  assert.ok(Array.isArray(body.matches))
  assert.deepEqual(
    rows.map((row) => [row['venue_a.id'], row['venue_a.question'], Number(row.score)]),
    body.matches.map(({ venue_a: a, score }) => [a.id, a.question, score]),
  )
  await page.getByLabel('Confidence').selectOption('high')
  await page.getByText('10 of 10 pairs', { exact: true }).waitFor()
  assert.equal((await saved(page, 'matches')).length, 10)
  for (const [address, name, column] of [
    ['#/markets?q=happen', 'markets', 'question'],
    [`#/sports?sport=nba&date=${DAY}`, 'games', 'game'],
    ['#/status', 'feeds', 'venue'],
  ] as const) {
    await page.goto(`${dashboard.server.origin}/dashboard${address}`)
    const list = await saved(page, name)
    assert.ok(list.length > 0 && list.every((row) => row[column] !== null), name)
  }
})

test('explains why a list is empty, and fills the list when data arrives', async () => {
  const page = await dashboard.open('#/status')
  await page.clock.install()
  let isEmpty = true
  await page.route('**/v1/matching-markets*', (route) =>
    isEmpty
      ? route.fulfill({ json: { matches: [], total: 0, has_more: false, cursor: null } })
      : route.continue(),
  )
  await page.getByRole('link', { name: 'Matches' }).click()
  await page.getByText('No pairs yet: the catalogues are being loaded and compared.').waitFor()
  const requestedAgain = page.waitForResponse('**/v1/matching-markets*')
  await page.clock.fastForward(5_000)
  await requestedAgain
  isEmpty = false
  await page.clock.fastForward(5_000)
  await page.getByText('10 of 10 pairs', { exact: true }).waitFor()
  assert.equal(await page.locator('.state.empty').count(), 0)
})

test('shows an error and a retry button when a list fails, and leaves loaded rows when the next page fails', async () => {
  const page = await dashboard.open('#/status')
  let isRefusing = true
  await page.route('**/v1/matching-markets*', (route) =>
    isRefusing
      ? route.fulfill({
          ...{ status: 429, headers: { 'Retry-After': '7' } },
          ...{ contentType: 'application/json', body: '{"detail":"too many requests"}' },
        })
      : route.continue(),
  )
  await page.getByRole('link', { name: 'Matches' }).click()
  await page.getByText('Too many requests for this account.').waitFor()
  await page.getByText('Again in 7 s.').waitFor()
  isRefusing = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('10 of 10 pairs', { exact: true }).waitFor()
  await page.getByLabel('Questions').selectOption('any')
  await page.getByText('20 of 25 pairs', { exact: true }).waitFor()
  isRefusing = true
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('Too many requests for this account.').waitFor()
  assert.equal(await page.locator('.match').count(), 20)
  isRefusing = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('25 of 25 pairs', { exact: true }).waitFor()
  assert.equal(await page.locator('.pairs.aging').count(), 0)
  isRefusing = true
  await page.getByLabel('Confidence').selectOption('high')
  await page.getByText('Too many requests for this account.').waitFor()
  assert.equal(await page.locator('.pairs.aging .match').count(), 25, 'pairs of the old filter')
})

const HEADS_OF_BOTH = 'Market,Polymarket bid,ask,Kalshi bid,ask,Gap'

test('shows games with the markets of both venues side by side, and games that only one venue lists', async () => {
  const page = await dashboard.open(`#/sports?sport=nba&date=${DAY}`)
  const game = page.locator(`[data-game="nba-x-y-${DAY}"]`)
  await game.waitFor()
  const [[a, b], [other, matchedMarket]] = [pairAt(0), pairAt(1)]
  const row = (market: FakeMarket) => game.locator(`tr[data-market="${market.ref.id}"]`)
  await row(a).getByText(b.summary.question).waitFor()
  await row(a).locator('[data-gap="0.11"]').waitFor()
  quote(b, 0.44, 0.45)
  await row(a).locator('[data-gap="0.035"]').waitFor()
  quote(b, 0.5, 0.54)
  // The matched market appears next to its match, not among the game's markets.
  await row(other).getByText(matchedMarket.summary.question).waitFor()
  await row(alone).getByText('not listed').waitFor()
  assert.equal(await game.locator('tbody tr').count(), 3)
  await page.getByText(/^1 game on \w/).waitFor()
  const days = page.getByRole('group', { name: 'Days with their games' }).getByRole('button')
  await page.locator('.days [data-count="1"][aria-pressed=true]').waitFor()
  assert.equal(await days.count(), 7)
  assert.equal(await page.locator('.days [data-count="0"]').count(), 6)
  await page.getByRole('option', { name: 'NBA (1)' }).waitFor({ state: 'attached' })
  await page.getByRole('option', { name: 'NFL', exact: true }).waitFor({ state: 'attached' })
  // A venue that does not list the game has no columns.
  assert.equal((await texts(page, '.game-list thead th')).join(), HEADS_OF_BOTH)
  await page.getByLabel('Sport').selectOption('nhl')
  await page.getByText('not listed at Polymarket').waitFor()
  assert.equal((await texts(page, '.game-list thead th')).join(), 'Market,Kalshi bid,ask')
  assert.equal((await texts(page, '.game-list tbody td.num')).length, 2)
})

test('shows a question of one venue beside its prices without overlap in a window of 320 pixels', async () => {
  const page = await dashboard.open(`#/sports?sport=nhl&date=${DAY}`, { width: 320 })
  const row = page.locator('.game-list tbody tr')
  await row.waitFor()
  const edges = await row.evaluate((one) =>
    [...one.children].map((cell) => cell.getBoundingClientRect()),
  )
  for (const [index, { right }] of edges.slice(0, -1).entries())
    assert.ok(right <= (edges[index + 1]?.left ?? 0) + 1, `cell ${index} ends at ${right}`)
})

test('shows a game’s markets side by side with their decimals, and the winner after settlement', async () => {
  const { engine } = dashboard.server
  const day = '2026-11-18'
  const eventSlug = `mlb-cin-tex-${day}`
  const labels = (names: readonly string[]) =>
    names.map((label) => ({ id: outcomeId(`${label} of ${day}`), label }))
  const both = engine.add('both', {
    ...{ question: 'Reds vs. Rangers', eventSlug, tickMicros: priceMicros(1_000) },
    outcomes: labels(['Reds', 'Rangers']),
  })
  const of = (name: string) =>
    engine.add(`one-${name}`, {
      ...{
        venue: 'b',
        question: `Cincinnati at Texas: ${name}`,
        eventSlug: 'kxmlbgame-26nov18cintex',
      },
    })
  const [reds, rangers] = [of('Cincinnati'), of('Texas')]
  for (const market of [both, reds, rangers]) quote(market, 0.4, 0.42)
  engine.matches.put(both, reds, pairScore(97), NOON)
  const at = { sport: 'mlb', date: day, game: eventSlug, startMs: Date.UTC(2026, 10, 19, 0, 20) }
  engine.sports.put(at, both, reds, rangers)
  const page = await dashboard.open(`#/sports?sport=mlb&date=${day}`)
  const row = (name: string) => page.locator(`tr[data-side="${name}"]`)
  /** A row appears before its live prices, so this waits for the numbers of a side. */
  const shows = (name: string, figures: readonly string[]) =>
    page.waitForFunction(
      ([selector, wanted]) =>
        [...document.querySelectorAll<HTMLElement>(String(selector))]
          .map(({ innerText }) => innerText.trim())
          .join() === wanted,
      [`tr[data-side="${name}"] td.num`, figures.join()],
    )
  await shows('Reds', ['40.0¢', '42.0¢', '40¢', '42¢', '0¢'])
  await page.getByText(/Started .*\(Nov 18, 19:20 US Eastern\)/).waitFor()
  const end = (market: FakeMarket, price: number) => {
    engine.matches.remove(market.ref)
    const settlementPrice = priceMicros(price)
    market.summary = { ...market.summary, status: 'resolved', settlementPrice }
    market.now = {
      ...market.now,
      price: settlementPrice,
      source: 'settlement',
      bid: null,
      ask: null,
    }
  }
  for (const [market, price] of [
    [both, 0],
    [reds, 0],
    [rangers, 1_000_000],
  ] as const)
    end(market, price)
  // If the page subscribes after this message, it reloads the games instead.
  publishResolved(both)
  await page.locator('[data-winner]', { hasText: 'Rangers won' }).waitFor()
  await shows('Reds', ['lost', 'lost', '–'])
  await shows('Rangers', ['won', 'won', '–'])
  await row('Rangers').getByRole('link', { name: 'Cincinnati at Texas: Texas' }).click()
  await page.locator('[data-end=resolved]', { hasText: 'Settled: Yes' }).waitFor()
  assert.equal(await page.locator('.book').count(), 0, 'an ended market has no book')
  await page.locator('.twin').getByText('Settled: Rangers').waitFor()
  await page.locator('.twin').getByRole('link', { name: 'Reds vs. Rangers' }).click()
  await page.locator('[data-end=resolved]', { hasText: 'Settled: Rangers' }).waitFor()
  await page.locator('.twin').getByRole('link', { name: 'All games of the day' }).click()
  await row('Reds').waitFor()
})

function publishResolved(market: FakeMarket): void {
  const { publisher } = dashboard.server.engine
  const { ref, summary } = market
  const { slug, question, status, eventSlug, outcomes, closeAtMs, fees, resolutionStatus } = summary
  const named = { slug, question, status, eventSlug, outcomes, closeAtMs }
  publisher.publish({
    ...{ kind: 'lifecycle', market: ref, event: 'resolved', matchedMarket: null },
    ...publisher.stamp('lifecycle', ref.number),
    ...{ venueTimeMs: NOON, receivedAtMs: NOON },
    facts: { ...named, fees, resolutionStatus, settlementPrice: null },
  })
}

test('loads games of a selected sport or day, and shows a message for a day without games or an invalid day', async () => {
  const page = await dashboard.open(`#/sports?sport=nba&date=${DAY}`)
  await page.getByText(/^1 game on \w/).waitFor()
  await page.getByRole('button', { name: 'Next day' }).click()
  await page.getByText('Neither venue lists NBA games on 2026-11-21').waitFor()
  await page.getByRole('button', { name: 'Previous day' }).click()
  await page.getByText(/^1 game on \w/).waitFor()
  await page.getByLabel('Sport').selectOption('tennis')
  await page.getByText(`Neither venue lists Tennis games on ${DAY}`).waitFor()
  assert.match(page.url(), /sport=tennis/)
  await page.getByRole('button', { name: 'Today' }).click()
  const today = await page.evaluate(() =>
    new Date().toLocaleDateString('sv', { timeZone: 'America/New_York' }),
  )
  await page.getByText(`Neither venue lists Tennis games on ${today}`).waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/sports?date=2026-02-30`)
  await page.getByText('no calendar has this date').waitFor()
})

/** Stores a large trade. Publishes the trade if `isPublished`. */
function whale(market: FakeMarket, set: Partial<Whale>, isPublished: boolean): Whale {
  const trade = market.trade({ usd: usdMicros(6_000_000_000) }, false)
  const { question, slug, eventSlug } = market.summary
  const named = { question, slug, eventSlug, outcome: 'Yes', category: null }
  const row: Whale = { ...trade, ...named, wallet: null, fills: 1, ...set }
  const { publisher, whaleRows } = dashboard.server.engine
  const { number, venue, nativeId } = market.ref
  const times = { venueTimeMs: row.timeMs, receivedAtMs: row.timeMs }
  const stamp = isPublished ? publisher.stamp('whales', number) : null
  const stored = { run: null, offset: null, seq: null, receivedAtMs: row.timeMs }
  whaleRows.put({ number, venue, nativeId }, { ...row, ...stored })
  if (stamp !== null)
    publisher.publish({ kind: 'whale', market: market.ref, ...stamp, ...times, whale: row })
  return row
}

test('lists whale trades from REST, adds new whale trades on top, and links to market and wallet', async () => {
  const wallet = `0x${'a1'.repeat(20)}`
  const at = (second: number): TimeMs => timeMs(NOON + second * 1_000)
  const [[a], [, b]] = [pairAt(2), pairAt(3)]
  const usd = usdMicros(8_000_000_000)
  whale(a, { nativeId: 'old-a', timeMs: at(1), wallet, usd }, false)
  whale(b, { nativeId: 'old-b', timeMs: at(2), side: 'sell' }, false)
  whale(b, { nativeId: 'small', timeMs: at(3), usd: usdMicros(2_000_000_000) }, false)
  const page = await dashboard.open('#/whales')
  const ids = () =>
    page
      .locator('tr[data-whale]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-whale')))
  const rowOf = (id: string) => page.locator(`tr[data-whale="${id}"]`)
  await rowOf('old-a').waitFor()
  const { body } = await dashboard.server.get('/v1/whales')
  assert.ok(Array.isArray(body.trades))
  assert.deepEqual(
    await ids(),
    body.trades.map(({ id }) => id),
  )
  assert.deepEqual(await ids(), ['old-b', 'old-a'])
  await rowOf('old-a').getByText('$8,000.00').waitFor()
  assert.equal(
    await rowOf('old-a').getByRole('link').nth(1).getAttribute('href'),
    `#/wallet/${wallet}`,
  )
  whale(a, { nativeId: 'new-a', timeMs: at(9), wallet }, true)
  await rowOf('new-a').waitFor()
  assert.deepEqual(await ids(), ['new-a', 'old-b', 'old-a'])
  await rowOf('new-a').getByRole('link', { name: a.summary.question }).click()
  await page.waitForURL((url) => url.hash === `#/market/${encodeURIComponent(a.ref.id)}`)
})

test('filters whale trades from REST and from the stream by dollars, venue and side', async () => {
  const [[a], [, b]] = [pairAt(2), pairAt(3)]
  const page = await dashboard.open('#/whales?usd=9000&venue=venue_b&side=sell')
  await page.getByText('No trade of $9,000.00 or more yet').waitFor()
  const usd = usdMicros(9_000_000_000)
  const timed = (second: number) => ({ usd, timeMs: timeMs(NOON + second * 1_000) })
  whale(a, { ...timed(20), nativeId: 'of-a', side: 'sell' }, true)
  whale(b, { ...timed(21), nativeId: 'bought', side: 'buy' }, true)
  whale(
    b,
    { ...timed(22), nativeId: 'too-small', side: 'sell', usd: usdMicros(8_999_000_000) },
    true,
  )
  whale(b, { ...timed(23), nativeId: 'wanted', side: 'sell' }, true)
  await page.locator('tr[data-whale="wanted"]').waitFor()
  assert.equal(await page.locator('tr[data-whale]').count(), 1)
  await page.getByLabel('Side').selectOption('buy')
  await page.locator('tr[data-whale="bought"]').waitFor()
  assert.equal(await page.locator('tr[data-whale]').count(), 1)
  await page.getByLabel('Venue').selectOption('venue_a')
  await page.getByText('No trade of $9,000.00 or more yet').waitFor()
  await page.getByLabel('Minimum value (USD)').fill('1000')
  await page.getByLabel('Minimum value (USD)').press('Enter')
  await page.getByText('Smaller ones appear when you reload').waitFor()
})

test('lists whale trades from REST when no stream is available', async () => {
  const page = await dashboard.open('#/status', { token: null })
  // Playwright can intercept WebSockets of a tab but not of a shared worker.
  await page.addInitScript({ content: 'delete globalThis.SharedWorker' })
  await page.routeWebSocket('**/v1/ws*', (socket) => socket.close())
  await page.context().addCookies([sessionCookie(dashboard.server.origin, 'ann-token')])
  await page.goto(`${dashboard.server.origin}/dashboard#/whales`)
  await page.reload()
  await page.getByText('No live stream').waitFor()
  await page.locator('tr[data-whale="old-a"]').waitFor()
})

test('shows the service status from REST, and venue feed failures from the stream', async () => {
  const page = await dashboard.open('#/status')
  const figure = (name: string) => page.locator(`[data-figure="${name}"] dd`)
  await figure('Markets').waitFor()
  const { body } = await dashboard.server.get('/v1/stats')
  const { markets, matches } = body
  assert.ok(isRecord(markets) && isRecord(matches))
  assert.equal(await figure('Markets').innerText(), String(markets.total))
  assert.equal(
    await figure('Matches (high confidence)').innerText(),
    `${matches.total} (${matches.high_confidence})`,
  )
  assert.equal(await figure('Version').innerText(), '0.0.0-test')
  assert.equal(await figure('Database size').innerText(), '4.1 kB')
  const feed = page.locator('tr[data-venue="venue_b"]')
  await feed.getByText('live', { exact: true }).waitFor()
  await page.locator('[data-figure=Stream]', { hasText: 'live' }).waitFor()
  dashboard.server.engine.publisher.publish({
    ...{ kind: 'status', venue: 'b', platform: 'venue_b', state: 'stale', lagMs: 900, delayMs: 1 },
    completeToMs: null,
    tradesSource: null,
    reason: null,
    staleBooks: 0,
  })
  await feed.getByText('stale', { exact: true }).waitFor()
  await feed.getByText('900 ms').waitFor()
})

test('lists unrecognized venue data as plain text on the status page', async () => {
  const { engine } = dashboard.server
  const page = await dashboard.open('#/status')
  await page.getByText('Everything both venues send is recognized').waitFor()
  const drift = quietDrift()
  drift.note('gamma.version', '<b>v3</b>', '<img src=x onerror="window.smuggled=1">')
  const before = [...engine.venueViews]
  engine.venueViews = before.map((view) => ({ ...view, drift: drift.entries() }))
  await page.reload()
  const row = page.locator('tr[data-drift]').first()
  await row.getByText('gamma.version=<b>v3</b>').waitFor()
  await row.getByText('<img src=x').waitFor()
  assert.equal(await page.evaluate(() => 'smuggled' in window), false)
  engine.venueViews = before
})

test('shows the leader and the lag of each process of a cluster', async () => {
  const { engine } = dashboard.server
  const one = {
    role: 'engine',
    name: 'one',
    term: 3,
    lagBatches: 0,
    lagMs: 0,
    lastSeenAgoMs: 100,
  } as const
  const two = { ...one, role: 'standby', name: '<b>two</b>', term: null, lagBatches: 7 } as const
  engine.cluster = () => ({
    ...{ role: 'engine', name: 'one', link: 'up', lagBatches: 0, lagMs: 0, isConnected: true },
    ...{ leader: one, members: [one, two] },
  })
  const page = await dashboard.open('#/status')
  await page.locator('[data-lease]').getByText('one leads, term 3').waitFor()
  assert.deepEqual((await texts(page, 'tr[data-member] > :nth-child(-n+3)')).slice(0, 6), [
    ...['Engine', 'one (answers here)', '0', 'Standby', '<b>two</b>', '7'],
  ])
  delete engine.cluster
})

test('shows the number of open streams if the server reports the number', async () => {
  const page = await dashboard.open('#/status')
  const { sessions } = dashboard.server.server.hub
  // The streams of earlier tabs may still be closing, so the number may change between polls.
  const figure = page.locator('[data-figure="Open streams"] dd')
  do await beforeAgain()
  while (sessions.size === 0 || (await figure.textContent()) !== String(sessions.size))
})

test('counts the messages of the browser tab’s stream', async () => {
  const page = await dashboard.open('#/status')
  await page.locator('[data-figure=Stream]', { hasText: 'live' }).waitFor()
  // The rate returns to zero after some seconds, so this wait begins before the messages.
  const rate = page.locator('[data-figure="Messages a second"] dd', { hasText: /^[1-9]/ }).waitFor()
  for (let count = 0; count < 40; count += 1) pairAt(4)[0].trade()
  await page.locator('[data-figure="Messages so far"] dd', { hasText: '40' }).waitFor()
  await rate
})

test('shows the service status to a logged-out visitor without requests that need a token', async () => {
  const page = await dashboard.open('#/status', { token: null })
  const requested: string[] = []
  page.on('request', (request) => requested.push(new URL(request.url()).pathname))
  await page.reload()
  await page.locator('tr[data-venue="venue_a"]').getByText('live').waitFor()
  await page.getByText('Not connected: log in first').waitFor()
  await page.getByText('Log in to see what the database holds.').waitFor()
  assert.deepEqual(
    requested.filter((path) => path.startsWith('/v1/')),
    ['/v1/auth/session'],
  )
})

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
