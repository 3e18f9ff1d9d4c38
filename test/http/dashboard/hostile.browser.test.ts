import assert from 'node:assert/strict'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { fakeAddress, randomWallet } from '../../support/fakes/wallets.ts'
import { pairScore } from '../../support/reference/word-scorer.ts'
import { level, NOON } from '../../support/worlds/builders.ts'
import { opportunity } from '../../support/worlds/opportunities.ts'

let dashboard: FakeDashboard
let market: FakeMarket

/** A browser that executes this markup sets `window.smuggled` to the field's name. */
const markup = (field: string) =>
  `<img src=x onerror="window.smuggled='${field}'"><script>window.smuggled='${field}'</script>"'&lt;${field}`

before(async () => {
  dashboard = await openFakeDashboard()
  const { engine } = dashboard.server
  const texts = {
    description: markup('description'),
    category: markup('category'),
    tags: [markup('tag')],
    eventSlug: markup('slug'),
    image: 'javascript:window.smuggled=1',
    url: 'javascript:window.smuggled=1',
  }
  const outcomes = ['yes', 'no'].map((name) => ({
    label: markup(name),
    id: outcomeId(`h-${name}`),
  }))
  market = engine.add('hostile', { ...texts, question: markup('question'), outcomes })
  const matchedMarket = engine.add('twin', {
    ...texts,
    venue: 'b',
    question: markup('twin'),
    outcomes,
  })
  for (const each of [market, matchedMarket]) {
    each.replace([level(0.4, 100)], [level(0.5, 50)])
    each.trade({})
  }
  const checked = pairScore(97, {
    explanation: markup('explanation'),
    reasons: [markup('reason')],
  })
  engine.matches.put(market, matchedMarket, checked, NOON)
  engine.arbitrage.open = [
    opportunity([market.ref, matchedMarket.ref], {
      ...{ id: 'k3f9c2-1', question: markup('question'), category: markup('category') },
      explanation: markup('explanation'),
    }),
  ]
  engine.sports.put(
    { sport: 'nfl', date: '2026-11-20', game: markup('game') },
    market,
    matchedMarket,
  )
  engine.whaleRows.put(
    { number: market.ref.number, venue: 'a', nativeId: nativeMarketId('hostile') },
    {
      ...{ nativeId: 't1', timeMs: NOON, receivedAtMs: timeMs(NOON + 5), side: 'buy' as const },
      ...{ price: priceMicros(500_000), size: sizeMicros(40_000_000_000), outcomeIndex: 0 },
      ...{
        usd: usdMicros(20_000_000_000),
        maker: null,
        taker: null,
        txHash: markup('hash'),
        isBlock: false,
      },
      ...{ outcome: markup('yes'), question: markup('question'), slug: markup('slug') },
      ...{ eventSlug: null, category: markup('category'), wallet: fakeAddress('a1'), fills: 2 },
      ...{ run: null, offset: null, seq: null },
    },
  )
  const requested = { proxy: fakeAddress('a1'), eventCount: 30, nowMs: NOON }
  const profile = { handle: markup('handle') }
  engine.wallets.known.push(randomWallet(requested, [market], profile))
})
after(() => dashboard.close())

test('shows markup in venue texts as plain text on every page', async (t) => {
  const id = encodeURIComponent(market.ref.id)
  const pages: readonly (readonly [page: string, field: string])[] = [
    ['#/opportunities', 'question'],
    ['#/opportunities?open=k3f9c2-1', 'explanation'],
    ['#/markets', 'question'],
    [`#/market/${id}`, 'question'],
    [`#/market/${id}`, 'description'],
    [`#/market/${id}`, 'no'],
    ['#/matches', 'explanation'],
    ['#/sports?sport=nfl&date=2026-11-20', 'question'],
    ['#/whales', 'question'],
    [`#/wallet/${fakeAddress('a1')}`, 'handle'],
    [`#/market/${encodeURIComponent(markup('subject'))}`, 'subject'],
    [`#/wallet/${encodeURIComponent(markup('subject'))}`, ''],
    [`#/markets?q=${encodeURIComponent(markup('query'))}`, ''],
  ]
  for (const [address, field] of pages) {
    const page = await dashboard.open(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    if (field !== '') {
      await page
        .getByText(`<img src=x onerror="window.smuggled='${field}'">`)
        .first()
        .waitFor()
        .catch(async () =>
          assert.fail(`${address} shows no ${field}: ${await page.innerText('main')}`),
        )
    }
    const found = await page.evaluate(() => ({
      smuggled: Reflect.get(window, 'smuggled') ?? null,
      images: document.querySelectorAll('img, main script').length,
      links: [...document.querySelectorAll<HTMLElement>('[href], [src]')]
        .map((one) => one.getAttribute('href') ?? one.getAttribute('src') ?? '')
        .filter((link) => /^\s*(?:javascript|vbscript|data:text)/i.test(link)),
    }))
    assert.deepEqual(found, { smuggled: null, images: 0, links: [] }, address)
    t.diagnostic(address.slice(0, 60))
    await page.context().close()
  }
})
