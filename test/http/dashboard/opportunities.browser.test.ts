import assert from 'node:assert/strict'
import { Value } from '@sinclair/typebox/value'
import type { Locator, Page } from 'playwright-core'
import { asksOf, buyBasket } from '../../../engine/arbitrage/basket.ts'
import { ANY_ORDER } from '../../../engine/arbitrage/order-rule.ts'
import type { ArbitrageUpdate } from '../../../engine/events.ts'
import { type FeeModel, feeCurve, MODEL_UNKNOWN } from '../../../engine/market/fees.ts'
import type { Opportunity } from '../../../engine/opportunity.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { durationText, usdText } from '../../../http/dashboard/format.ts'
import type { Opportunity as Found } from '../../../http/dashboard/records.ts'
import { HistorySchema as Past } from '../../../http/routes/arbitrage.ts'
import { allProblems } from '../../support/browser/accessibility.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { focusOn } from '../../support/browser/chromium.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { pairScore } from '../../support/reference/word-scorer.ts'
import { ask, level, NOON } from '../../support/worlds/builders.ts'
import {
  opportunity,
  pastOpportunity,
  publishedOpportunity,
} from '../../support/worlds/opportunities.ts'

const RAIN = 'Will it rain in the city on the last day of the year?'
const SNOW = 'Will it snow?'
const EVENT = 'Who wins the cup?'
/** Best ask in cents for each of the event's three outcomes. */
const CENTS = [30, 31, 32] as const
const FEES: FeeModel = {
  ...MODEL_UNKNOWN,
  ...{ kind: 'quadratic', taker: feeCurve(70_000, 1), source: 'example' },
  rounding: { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 },
}

let dashboard: FakeDashboard
let rain: readonly [FakeMarket, FakeMarket]
let snow: Opportunity
let cup: Opportunity
before(async () => {
  dashboard = await openFakeDashboard()
  const { engine } = dashboard.server
  const pair = (name: string, question: string) => {
    const set = { question, description: `${name}: by the station at the airport.` }
    const [a, b] = [engine.add(`a-${name}`, set), engine.add(`b-${name}`, { ...set, venue: 'b' })]
    a.replace([level(0.5, 100)], [level(0.55, 60), level(0.56, 40.29), level(0.7, 500)])
    // A bid for Yes at 0.63 is an ask for No at 0.37.
    b.replace([level(0.63, 80), level(0.62, 500)], [level(0.66, 10)])
    return [a, b] as const
  }
  rain = pair('rain', RAIN)
  const explained = { vetoes: ['other_date'], explanation: 'The same place and day.' } as const
  engine.matches.put(...rain, pairScore(96, explained), NOON)
  const snowy = pair('snow', SNOW)
  engine.matches.put(...snowy, pairScore(88), NOON)
  snow = bought(snowy, {
    id: 'k3f9c2-2',
    question: SNOW,
    matchScore: 88,
    profit: usdMicros(900_000),
  })
  const [one, two, three] = ['x', 'y', 'z'].map((name) => engine.add(name, { question: EVENT }))
  assert.ok(one !== undefined && two !== undefined && three !== undefined)
  const [leg] = snow.legs
  assert.ok(leg !== undefined)
  const legs = [one, two, three].map(({ ref }) => ({ ...leg, market: ref, outcome: 'Yes' }))
  cup = {
    ...{ ...snow, id: 'k3f9c2-3', kind: 'single_venue', matchScore: null, question: EVENT, legs },
    ...{ profit: usdMicros(40_000_000), openedAtMs: timeMs(NOON - 60_000), closesAtMs: null },
    explanation: 'Exactly one of the 3 outcomes wins.',
    steps: snow.steps.map((step) => ({
      ...step,
      prices: CENTS.map((cents) => priceMicros(cents * 10_000)),
    })),
  }
  for (const found of [bought(rain), snow, cup]) publish('opened', found)
})
after(() => dashboard.close())

/** Buys Yes on the first venue and No on the second at the current books. */
function bought(
  pair: readonly [FakeMarket, FakeMarket],
  set: Partial<Opportunity> = {},
  contracts: number | null = null,
) {
  const [a, b] = pair
  const asks = [asksOf(a.book(), 'first'), asksOf(b.book(), 'second')]
  const legs = asks.map((each) => ({ asks: each, fees: FEES, order: ANY_ORDER }))
  const wanted = contracts === null ? null : sizeMicros(contracts * 1_000_000)
  const basket = buyBasket({ legs, winners: 1, contracts: wanted })
  assert.ok(typeof basket !== 'string', String(basket))
  const found = opportunity([a.ref, b.ref], { question: RAIN })
  const sum = (of: 'cost' | 'fee') =>
    usdMicros(basket.legs.reduce((total, leg) => total + leg[of], 0))
  const { steps, payout, profit } = basket
  return {
    ...{
      ...found,
      contracts: basket.contracts,
      steps,
      payout,
      profit,
      cost: sum('cost'),
      fees: sum('fee'),
    },
    legs: found.legs.map((leg, index) => ({ ...leg, ...basket.legs[index] })),
    ...set,
  }
}

/** Also adds, changes or removes the open opportunity. */
function publish(event: ArbitrageUpdate['event'], found: Opportunity): void {
  const { arbitrage, publisher } = dashboard.server.engine
  const others = arbitrage.open.filter(({ id }) => id !== found.id)
  arbitrage.open = event === 'closed' ? others : [...others, found]
  const update = publishedOpportunity(found, {
    event,
    reason: event === 'closed' ? 'prices' : null,
  })
  publisher.publish({ ...update, ...publisher.stamp('arbitrage', update.market.number) })
}

/** Waits until the table has exactly these rows in this order. */
async function rowsAre(page: Page, ids: readonly string[]): Promise<void> {
  await page.waitForFunction((wanted) => {
    const rows = [...document.querySelectorAll('tr[data-row]')]
    return rows.map((row) => row.getAttribute('data-row')).join() === wanted
  }, ids.join())
}

const rowOf = (page: Page, id: string): Locator => page.locator(`tr[data-row="${id}"]`)
const [RAINS, SNOWS, CUPS] = ['k3f9c2-1', 'k3f9c2-2', 'k3f9c2-3']

async function fromRest(id: string): Promise<Found> {
  const { text } = await dashboard.server.get(`/v1/arbitrage/${id}`)
  return JSON.parse(text)
}

test('loads opportunities from REST, and updates the table when an opportunity opens, changes or ends', async () => {
  const page = await dashboard.open('')
  await page.locator('main[data-page=opportunities]').waitFor()
  await rowsAre(page, [CUPS, RAINS, SNOWS])
  const { profit_usd: profit, return: share, cost_usd: cost } = await fromRest(RAINS)
  const row = rowOf(page, RAINS)
  await row
    .locator('[data-label=Return]')
    .getByText(`${(share * 100).toFixed(1)} %`)
    .waitFor()
  await row.locator('[data-label=Cost]').getByText(usdText(cost)).waitFor()
  await row.locator(`[data-profit="${profit}"]`).waitFor()
  // The gap of 0.08 is 1 - 0.55 - 0.37.
  await row.locator('[data-gap="0.08"]').waitFor()
  for (const text of ['Yes at Polymarket 55¢', 'No at Kalshi 37¢', '96.0']) {
    await row.getByText(text).waitFor()
  }
  await rowOf(page, CUPS)
    .getByText(/^3 outcomes at Polymarket 93¢/)
    .waitFor()
  publish('changed', { ...cup, legs: cup.legs.map((leg) => ({ ...leg, isFirst: false })) })
  await rowOf(page, CUPS).getByText('No of 3 outcomes at Polymarket').waitFor()
  publish('changed', cup)
  const fourth = { ...snow, id: 'k3f9c2-4', profit: usdMicros(2_000_000) }
  publish('opened', fourth)
  await rowsAre(page, [CUPS, RAINS, 'k3f9c2-4', SNOWS])
  publish('changed', { ...fourth, profit: usdMicros(50_000_000) })
  await rowsAre(page, ['k3f9c2-4', CUPS, RAINS, SNOWS])
  await rowOf(page, 'k3f9c2-4').getByText('$50.00').waitFor()
  publish('closed', fourth)
  await rowsAre(page, [CUPS, RAINS, SNOWS])
})

test('sorts opportunities by column, filters by profit and kind, and stores sorting and filters in the URL', async () => {
  const page = await dashboard.open('#/opportunities')
  const sortBy = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await rowsAre(page, [CUPS, RAINS, SNOWS])
  await sortBy('Score')
  await rowsAre(page, [RAINS, SNOWS, CUPS])
  await sortBy('Score')
  await rowsAre(page, [SNOWS, RAINS, CUPS])
  await page.reload()
  await rowsAre(page, [SNOWS, RAINS, CUPS])
  assert.equal(await page.locator('th[aria-sort=ascending]').textContent(), 'Score↑')
  const profit = page.getByLabel('Minimum profit (USD)')
  await profit.fill('1')
  await profit.press('Enter')
  await rowsAre(page, [RAINS, CUPS])
  await page.getByLabel('Kind').selectOption('single_venue')
  await rowsAre(page, [CUPS])
  await profit.fill('1000')
  await profit.press('Enter')
  await page.getByText('No opportunity passes these filters').waitFor()
})

test('leaves the order of rows unchanged while the pointer or the focus is in the table', async () => {
  const page = await dashboard.open('#/opportunities')
  await rowsAre(page, [CUPS, RAINS, SNOWS])
  const opener = page.getByRole('button', { name: SNOW })
  await opener.focus()
  await page.getByText('rows stay where they are').waitFor()
  publish('changed', { ...snow, profit: usdMicros(90_000_000) })
  await rowOf(page, SNOWS).getByText('$90.00').waitFor()
  await rowsAre(page, [CUPS, RAINS, SNOWS])
  await focusOn(opener)
  await page.getByLabel('Kind').focus()
  await rowsAre(page, [SNOWS, CUPS, RAINS])
  await rowOf(page, CUPS).hover()
  await page.getByText('rows stay where they are').waitFor()
  publish('changed', snow)
  await rowOf(page, SNOWS).getByText('$0.90').waitFor()
  await rowsAre(page, [SNOWS, CUPS, RAINS])
  await page.getByRole('heading', { level: 1 }).hover()
  await rowsAre(page, [CUPS, RAINS, SNOWS])
})

test('leaves the user’s filter input unchanged while the table updates', async () => {
  const page = await dashboard.open('#/opportunities')
  await rowsAre(page, [CUPS, RAINS, SNOWS])
  const profit = page.getByLabel('Minimum profit (USD)')
  await profit.fill('30')
  publish('changed', { ...snow, profit: usdMicros(980_000) })
  await rowOf(page, SNOWS).getByText('$0.98').waitFor()
  assert.equal(await profit.inputValue(), '30')
  await profit.press('Enter')
  await rowsAre(page, [CUPS])
  assert.match(page.url(), /profit=30/)
})

/** Waits until a leg's book has `count` marked levels. Returns price in cents and contracts of each. */
async function marksOf(page: Page, market: FakeMarket, count: number) {
  const leg = page.locator(`[data-leg="${market.ref.id}"]`)
  await leg
    .locator('[data-taken]')
    .nth(count - 1)
    .waitFor()
  const rows = await leg.locator('tr:has([data-taken])').all()
  const marks: [cents: number, taken: number][] = []
  for (const row of rows) {
    const cents = Number.parseFloat(await row.locator('td').first().innerText())
    marks.push([cents, Number(await row.locator('[data-taken]').getAttribute('data-taken'))])
  }
  return marks.sort(([one], [other]) => one - other)
}

/** Levels that the opportunity takes from a leg's book, in cents and contracts. */
function takenOf({ levels = [] }: Found, leg: number) {
  const taken = new Map<number, number>()
  for (const { prices, contracts } of levels) {
    const cents = Number(((prices[leg] ?? 0) * 100).toFixed(2))
    taken.set(cents, Number(((taken.get(cents) ?? 0) + contracts).toFixed(2)))
  }
  return [...taken].sort(([one], [other]) => one - other)
}

test('expands a row by keyboard, and shows both books, the marked levels and each fee', async () => {
  const page = await dashboard.open('#/opportunities')
  const opener = page.getByRole('button', { name: RAIN })
  await opener.focus()
  await opener.press('Enter')
  await page.locator(`[data-opportunity="${RAINS}"]`).waitFor()
  assert.equal(await opener.getAttribute('aria-expanded'), 'true')
  await focusOn(opener)
  const found = await fromRest(RAINS)
  assert.deepEqual(takenOf(found, 0), [
    [55, 60],
    [56, 40.29],
  ])
  for (const [index, market] of rain.entries()) {
    assert.deepEqual(await marksOf(page, market, 2), takenOf(found, index))
    const fee = page.locator(`[data-fee-of="${market.ref.id}"] .fee`)
    assert.equal(await fee.innerText(), `$${found.legs[index]?.fee_usd.toFixed(2)}`)
  }
  rain[0].change(ask(0.54, 25))
  publish('changed', bought(rain))
  const changed = await fromRest(RAINS)
  assert.deepEqual(takenOf(changed, 0).length, 3)
  await page.locator(`tr[data-row="${RAINS}"] [data-gap="0.09"]`).waitFor()
  for (const [index, market] of rain.entries()) {
    assert.deepEqual(await marksOf(page, market, index === 0 ? 3 : 2), takenOf(changed, index))
  }
  rain[0].change(ask(0.54, 0))
  publish('changed', bought(rain))
  await page.locator(`tr[data-row="${RAINS}"] [data-gap="0.08"]`).waitFor()
  await opener.press('Enter')
  await page.locator(`[data-opportunity="${RAINS}"]`).waitFor({ state: 'detached' })
})

test('quotes the user’s own size in an expanded row, and states why a size cannot be quoted', async () => {
  const { arbitrage } = dashboard.server.engine
  const page = await dashboard.open(`#/opportunities?open=${RAINS}`)
  const field = page.getByLabel('Your size (contracts)')
  const enter = async (text: string) => {
    await field.fill(text)
    await field.press('Enter')
  }
  await marksOf(page, rain[0], 2)
  arbitrage.quoted = { isPossible: true, opportunity: bought(rain, { id: 'quote' }, 70) }
  await enter('70')
  await page.locator('[data-quote=possible]').waitFor()
  await page.getByText('Cost of 70 contracts of each outcome.').waitFor()
  assert.equal(await page.locator('[data-other-size]').count(), 0)
  await page.waitForFunction(() => document.querySelectorAll('[data-taken="10"]').length === 1)
  assert.deepEqual(await marksOf(page, rain[0], 2), [
    [55, 60],
    [56, 10],
  ])
  arbitrage.quoted = {
    isPossible: false,
    reason: 'below_minimum',
    minContracts: sizeMicros(5_000_000),
  }
  await enter('2')
  await page.locator('[data-quote=below_minimum]').waitFor()
  await page.getByText('At least 5 contracts are accepted.').waitFor()
  await page.locator('[data-other-size]', { hasText: 'not for your size' }).waitFor()
  await enter('')
  await page.getByText(/^Empty: the most profitable size/).waitFor()
  await page.locator('.pair-chart').waitFor()
})

test('lists past opportunities with their duration, best profit and reason, newest first', async () => {
  const { arbitrage } = dashboard.server.engine
  for (const afterMs of [60_000, 90_000]) arbitrage.table.put(pastOpportunity(afterMs))
  const page = await dashboard.open('#/opportunities')
  await page.getByRole('link', { name: 'Past opportunities' }).click()
  const rows = page.locator('tr[data-past]')
  await rows.nth(1).waitFor()
  const { body } = await dashboard.server.get('/v1/arbitrage/history')
  const { opportunities } = Value.Decode(Past, body)
  const [first] = opportunities
  assert.ok(first !== undefined)
  assert.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-past'))),
    opportunities.map(({ id }) => id),
  )
  const lastedMs = first.closed_at_ms - first.opened.at_ms
  const text = await rows.first().innerText()
  for (const part of [durationText(lastedMs), usdText(first.best.profit_usd), 'Yes at Polymarket'])
    assert.ok(text.includes(part), `${part} in ${text}`)
  for (const width of [390, 768, 1_280]) {
    await page.setViewportSize({ width, height: 800 })
    const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(overhang <= 0, `${overhang} pixels wider than ${width}`)
    assert.deepEqual(await allProblems(page), [], `${width}`)
  }
})

test('shows warnings and rules in an expanded row, and the reason when the opportunity ends', async () => {
  const page = await dashboard.open(`#/opportunities?open=${RAINS}`)
  const rules = page.locator('.rules-apart')
  for (const text of ['Warning: other date', 'The same place and day.', '96.0']) {
    await rules.getByText(text).waitFor()
  }
  for (const venue of ['Polymarket', 'Kalshi']) {
    await rules.getByRole('heading', { name: `${venue}: ${RAIN}` }).waitFor()
  }
  assert.equal(await rules.getByText('rain: by the station at the airport.').count(), 2)
  const found = bought(rain)
  publish('closed', found)
  await page.getByText('It has ended: the prices or fees leave nothing').waitFor()
  await page.waitForFunction(() => document.querySelector('[data-taken]') === null)
  await page.getByRole('button', { name: RAIN }).click()
  await rowsAre(page, [CUPS, SNOWS])
  publish('opened', found)
  await rowOf(page, RAINS).waitFor()
  await page.getByRole('button', { name: EVENT }).click()
  await page.getByText('Exactly one of the 3 outcomes wins.').waitFor()
})

test('expands a row on a click outside of links and buttons, and collapses the row on the next click', async () => {
  const page = await dashboard.open('#/opportunities')
  const detail = page.locator(`[data-opportunity="${RAINS}"]`)
  const opener = page.getByRole('button', { name: RAIN })
  await rowOf(page, RAINS).locator('[data-label=Return]').click()
  await detail.waitFor()
  assert.equal(await opener.getAttribute('aria-expanded'), 'true')
  await rowOf(page, RAINS).locator('[data-label=Return]').click()
  await detail.waitFor({ state: 'detached' })
  // A click on the row's button toggles the row only once.
  await opener.click()
  await detail.waitFor()
})

test('leaves an invalid minimum profit in its field, and shows the accepted values', async () => {
  const page = await dashboard.open('#/opportunities?profit=-5')
  const field = page.getByLabel('Minimum profit (USD)')
  const hint = page.getByText('Enter a number, 0 or more.')
  await hint.waitFor()
  assert.equal(await field.inputValue(), '-5')
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  await rowsAre(page, [CUPS, RAINS, SNOWS])
  await field.fill('39')
  await field.press('Enter')
  await hint.waitFor({ state: 'detached' })
  await rowsAre(page, [CUPS])
  await field.fill('-1')
  await field.press('Enter')
  await hint.waitFor()
  assert.match(page.url(), /profit=39/)
  await rowsAre(page, [CUPS])
})

test('opens an opportunity by its URL even if the list does not contain it, and reports when the opportunity has ended', async () => {
  const page = await dashboard.open(`#/opportunities?open=${RAINS}&profit=39`)
  const none = { opportunities: [], cursor: null, has_more: false, total: 0, as_of_ms: NOON }
  await page.route('**/v1/arbitrage?*', (route) => route.fulfill({ json: none }))
  await page.reload()
  await rowsAre(page, [RAINS])
  await page.locator(`[data-opportunity="${RAINS}"]`).waitFor()
  await page.goto(`${dashboard.server.origin}/dashboard#/opportunities?open=k3f9c2-99`)
  await page.reload()
  await page.getByText('The opportunity of this address has ended.').waitFor()
})

test('passes axe-core with an expanded row in light and dark mode, and fits phone and tablet', async () => {
  for (const width of [1_280, 768, 390]) {
    const page = await dashboard.open(`#/opportunities?open=${RAINS}`, { width })
    await page.locator('.rules-apart').waitFor()
    await marksOf(page, rain[1], 2)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await allProblems(page), [], `${width} ${colorScheme}`)
    }
    const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(overhang <= 0, `${overhang} pixels wider than ${width}`)
    const table = await page
      .locator('.scroll-x:has(.opportunities)')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    assert.ok(table <= 1, `the table is ${table} pixels wider than its box at ${width}`)
    await page.context().close()
  }
})
